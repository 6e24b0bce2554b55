"""Figures of a comparison: two densities, and the density of their difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.inference import Posterior
from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.reports.words import plural, probability_text
from skilloscope.studies.compare.compare import Comparison, Comparisons
from skilloscope.studies.compare.elo import EloComparison
from skilloscope.studies.rate.parts import change_fields


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What is drawn of a comparison: both sides by label, words and posterior, the difference, the axes' words."""

    labels: tuple[str, str]
    words: tuple[str, str]
    sides: tuple[Posterior, Posterior]
    difference: Posterior
    probability: float
    axis: str
    short: str


def comparison_figure(study: Comparison, mass: float) -> str:
    """Return both densities of c, and below that of the difference, shaded where the second is stronger. [DFH13 8b]"""
    first, second = study.first, study.second
    return _figure(
        _Drawn(
            (first.label, second.label),
            (plural(first.decisions, "decision"), plural(second.decisions, "decision")),
            (first.posterior, second.posterior),
            study.difference,
            study.probability,
            axis="competence c of the reference agent",
            short="c",
        ),
        mass,
    )


def elo_comparison_figure(study: EloComparison) -> str:
    """Return both densities of Elo, and below that of the difference, shaded where the second is stronger."""
    (first, one), (second, other) = study.first, study.second
    mass = study.parts.mass
    probability = change_fields(study.difference, mass)["probability_above"]
    return _figure(
        _Drawn(
            (first, second),
            (plural(one.played.moves, "move"), plural(other.played.moves, "move")),
            (one.elo, other.elo),
            study.difference,
            probability,
            axis=study.parts.axis.axis,
            short="Elo",
        ),
        mass,
    )


def _figure(drawn: _Drawn, mass: float) -> str:
    with style():
        figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.5, 5.6), gridspec_kw={"height_ratios": [3, 2]})
        for label, words, side, colour in zip(drawn.labels, drawn.words, drawn.sides, COLOURS, strict=False):
            at, density = _thinned(side)
            top.plot(at, density, color=colour, label=f"{label} ({words})")
            top.fill_between(at, density, color=colour, alpha=0.10, linewidth=0)
        _frame(top, drawn.axis, list(drawn.sides))
        top.set_ylabel("posterior density")
        _legend(top)
        _draw_difference(bottom, drawn, mass)
        return svg(figure)


def _draw_difference(axes: Any, drawn: _Drawn, mass: float) -> None:
    at, density = _thinned(drawn.difference)
    axes.plot(at, density, color="#444444", linewidth=1.3)
    first, second = drawn.labels
    stronger = f"{second} stronger: {probability_text(drawn.probability)}"
    weaker = f"{first} stronger: {probability_text(1 - drawn.probability)}"
    for where, colour, label in ((at <= 0, COLOURS[0], weaker), (at >= 0, COLOURS[1], stronger)):
        shade: dict[str, Any] = {"color": colour, "alpha": 0.3, "linewidth": 0, "label": label}
        axes.fill_between(at, density, where=_with_neighbour(where), **shade)
    axes.axvline(0.0, color="#222222", linewidth=1.0)
    low, high = drawn.difference.interval(mass)
    axes.plot([low, high], [0, 0], color="#222222", linewidth=3.5, solid_capstyle="butt", clip_on=False, zorder=5)
    label = f"difference of {drawn.short}, {second} − {first}; bar: {100 * mass:g} % interval"
    _frame(axes, label, [drawn.difference])
    axes.set_ylabel("density")
    _legend(axes)


def _legend(axes: Any) -> None:
    """Put the legend above the axes, where no density is."""
    axes.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 0.98), ncols=2)


def _with_neighbour(where: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the mask with one more point to the right, so that two shades meet without a gap."""
    return np.asarray(where | np.concatenate([[False], where[:-1]]))


def _frame(axes: Any, label: str, posteriors: list[Posterior]) -> None:
    bounds = np.array([posterior.interval(0.999) for posterior in posteriors])
    axes.set_xlim(float(bounds[:, 0].min()), float(bounds[:, 1].max()))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(label)


def _thinned(posterior: Posterior) -> tuple[Any, Any]:
    """Return some three hundred points of a density: they draw the same line."""
    low, high = posterior.interval(0.9999)
    inside = np.flatnonzero((posterior.at >= low) & (posterior.at <= high))
    step = max(1, len(inside) // 300)
    return posterior.at[inside][::step], posterior.density[inside][::step]


def comparisons_figures(study: Comparisons) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    caption = "Both posteriors of c, and that of the difference; the dispersion was {:.2f}."
    return [
        (comparison_figure(found, study.mass), f"{found.decider}: {caption.format(study.dispersion)}")
        for found in study.comparisons
    ]
