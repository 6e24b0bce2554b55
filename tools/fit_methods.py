"""Fit the scales of the papers' other methods, the curves of RH11 and the gains of FER12, and say how good they are.

    .venv/bin/python tools/fit_methods.py

In: ../shared/data (human, analysed, persons) and measurements/people_depth10_sf151.parquet. Out: curves.json and
gain.json in src/skilloscope/data/scales. The lines are fitted to the analysed games and to the people searched for it;
how far games and people are believed to the people searched, with one, four and ten games each. The people of persons/
are kept for the report that is printed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

import axis_data
from accuracy_axis import show, smoothed
from curve_scale import fit_curve_scale
from effects_fitting import KnownPerson, fit_effects
from fit_axis import FLAT, sized
from line_fitting import fit_gain_line
from skilloscope.chess.analysis.analyses import decisions
from skilloscope.decision import Decisions
from skilloscope.evidence.axis import ELO, Effects, elo_axis
from skilloscope.evidence.scales import Scale
from skilloscope.evidence.sources.curves import curve_evidence, curves_on_elo
from skilloscope.evidence.sources.gain import GainScale

TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "scales"
_VALID = (1000.0, 2750.0)

Curves = Callable[[Decisions], tuple[list[tuple[str, str]], npt.NDArray[np.float64]]]
"""Who and which game, and what it says on ELO."""


def main() -> None:
    """Fit, report, write."""
    people, analysed, persons = (
        decisions(known.analyses).at_depths()
        for known in (axis_data.people(), axis_data.analysed(), axis_data.persons())
        if known.analyses is not None
    )
    both = Decisions.concat([people, analysed])
    curves = with_effects(curve_scale(both), people)
    (TARGET / "curves.json").write_text(curves.to_json(), encoding="utf-8")
    report("curves", lambda batch: on_curves(batch, curves), Effects(**curves.effects), persons)
    gains = gains_of(both, people)
    (TARGET / "gain.json").write_text(gains.to_json(), encoding="utf-8")
    report("gain", lambda batch: on_gains(batch, gains), gains.believed, persons)


def curve_scale(batch: Decisions) -> Scale:
    """Return the line of the curves, with the axis's own population."""
    return replace(
        fit_curve_scale(batch, name="curves"),
        pool="FIDE-rated over-the-board games",
        population=dict(elo_axis().population),
        valid=_VALID,
        provisional=False,
    )


def with_effects(scale: Scale, people: Decisions) -> Scale:
    """Return the scale with how far games and people are believed."""
    known = known_people(people, *on_curves(people, scale), "curves")
    return replace(scale, effects=rounded(fit_effects(sized(known), ["curves"], FLAT)["curves"]))


def gains_of(both: Decisions, people: Decisions) -> GainScale:
    """Return the scale of gains."""
    line = fit_gain_line(both.loss_with_floor(), both.column("elo").to_numpy().astype(float))
    data = f"{len(both):,} decisions of {len(both.deciders):,} people"
    settings = dict(both.about["settings"])
    scale = GainScale(**line, effects=vars(Effects()), settings=settings, data=data, valid=_VALID)
    known = known_people(people, *on_gains(people, scale), "gain")
    return replace(scale, effects=rounded(fit_effects(sized(known), ["gain"], FLAT)["gain"]))


def on_curves(batch: Decisions, scale: Scale) -> tuple[list[tuple[str, str]], npt.NDArray[np.float64]]:
    """Return each person's games with what the curves say of them."""
    table = curve_evidence(batch, scale, by=["decider", "game"])
    used = table.decisions > 0
    return [label for label, use in zip(table.labels, used, strict=True) if use], curves_on_elo(table, scale)[used]


def on_gains(batch: Decisions, scale: GainScale) -> tuple[list[tuple[str, str]], npt.NDArray[np.float64]]:
    """Return each person's games with what the gains say of them."""
    labels, codes = batch.groups(["decider", "game"])
    scores = scale.scores(batch.loss_with_floor())
    return list(labels), np.array([scale.curve(scores[codes == row]) for row in range(len(labels))])


def known_people(
    batch: Decisions,
    labels: list[tuple[str, str]],
    curves: npt.NDArray[np.float64],
    source: str,
    *,
    each_game: bool = False,
) -> list[KnownPerson]:
    """Return everybody with the curves of his games, and his mean rating in them."""
    known, codes = batch.groups(["decider", "game"])
    means = np.bincount(codes, batch.column("elo").to_numpy().astype(float)) / np.bincount(codes)
    elo = {label: float(mean) for label, mean in zip(known, means, strict=True)}
    own: dict[object, list[int]] = {}
    for row, label in enumerate(labels):
        own.setdefault(label if each_game else label[0], []).append(row)
    return [
        KnownPerson(float(np.mean([elo[labels[r]] for r in rows])), {source: curves[rows]}) for rows in own.values()
    ]


def report(name: str, curves: Curves, effects: Effects, batch: Decisions) -> None:
    """Print how good the method is on people it was not fitted to, with one, four and seven games."""
    print(f"\n{name}: {effects}")
    found = curves(batch)
    people = known_people(batch, *found, name)
    own, ships = smoothed([p.elo for p in people]), np.asarray(elo_axis().prior().log_density(ELO))
    samples = {
        1: known_people(batch, *found, name, each_game=True),
        4: [person.with_games(4) for person in people],
        7: [person.with_games(7) for person in people],
    }
    for games, sample in samples.items():
        for said, prior in (("ratings of the set", own), ("prior that ships", ships)):
            show(f"one person, {games} games, {said}", sample, {name: effects}, prior)


def rounded(effects: Effects) -> dict[str, float]:
    """Return the three numbers of a source."""
    return {name: round(getattr(effects, name), 4) for name in ("temper", "game_sd", "person_sd")}


if __name__ == "__main__":
    main()
