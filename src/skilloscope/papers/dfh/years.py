"""Choices made on one span of years and judged on a later one: the agent's k, the range of c, the filter of positions.

In: decisions of dated games near mileposts, of every position whatever its value. Out: each option with its score on
both spans, which option the first span chose, and what the later span says of it beside the papers' own.

k and range are scored by prediction: the second half of each player-game, given its first half under the uniform prior
on the range. Both see the same decisions under every option. Filters keep different positions, so no likelihood
compares them; they are scored by what the player-games say of Elo: the gain of a line c = a + b·Elo over one c for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numpy.polynomial import chebyshev
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import spearmanr

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.inference import evidence
from skilloscope.models.agent import Agent
from skilloscope.ratings.mileposts import MILEPOST
from skilloscope.studies.composites.composites import Composites, composites

Array = npt.NDArray[np.float64]

_POINTS = 1201
_ORIGIN = 2100.0
_WIDE = 12.0
_STEPS = np.array([[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]])


@dataclass(frozen=True)
class Option:
    """The agent's k, the upper end of the range of c, and how far from equal a position's best value may be."""

    k: float = 0.1
    high: float = 4.0
    max_abs_value: float = 3.0

    def __str__(self) -> str:
        return f"k = {self.k:g}, c in [0, {self.high:g}], |best value| ≤ {self.max_abs_value:g}"


PAPERS = Option()
"""k as the papers have it; range and filter are ours, for they state none."""


@dataclass(frozen=True)
class Score:
    """One option on both spans: its score, and how far it is above the default's with a standard error over games."""

    of: str
    """`k`, `range` or `filter`: what was varied."""
    option: Option
    early: float
    early_gain: tuple[float, float]
    late_gain: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Choices:
    """The options with their scores, the option that the early span chose, and the composites of the late span."""

    early: tuple[int, int]
    late: tuple[int, int]
    decisions: tuple[int, int]
    games: tuple[int, int]
    scores: Sequence[Score]
    chosen: Option
    judged: Sequence[tuple[Option, Composites]]
    """The late span's composite players under the chosen option and under the papers'."""


def predictive(decisions: Decisions, option: Option) -> tuple[Array, Array]:
    """log ∫ p(second half|c)·p(c|first half) dc of each player-game, and how many decisions its second half has."""
    own = _filtered(decisions, option)
    _, codes = own.groups(["game", "mover"])
    half = _second_half(codes)
    context = own.context.select([]).append_column("game", pa.array(codes)).append_column("half", pa.array(half))
    table = evidence(replace(own, context=context), Agent(k=option.k), by=["game", "half"], span=(0.0, option.high))
    at = np.linspace(0.0, option.high, _POINTS)
    logs = {label: table.grid.interpolate(curve, at) for label, curve in zip(table.labels, table.curves, strict=True)}
    counts = dict(zip(table.labels, table.decisions.tolist(), strict=True))
    games = [game for game, second in table.labels if second and counts.get((game, False))]
    games = [game for game in games if counts[game, True]]
    score = [logsumexp(logs[game, False] + logs[game, True]) - logsumexp(logs[game, False]) for game in games]
    found, sizes = np.zeros(int(codes.max()) + 1), np.zeros(int(codes.max()) + 1)
    found[games], sizes[games] = score, [counts[game, True] for game in games]
    return found, sizes


def elo_gain(decisions: Decisions, option: Option) -> Array:
    """ℓ(a + b·Elo) − ℓ(one c) of each player-game: what it says of Elo, in nats, at the likeliest line and c.

    No prior enters, so the curves are kept on a range that is wide enough for any k.
    """
    own = _filtered(decisions, option)
    table = evidence(own, Agent(k=option.k), by=["game", "mover"], span=(0.0, _WIDE))
    _, codes = own.groups(["game", "mover"])
    first = np.unique(codes, return_index=True)[1]
    x = (own.column("elo").to_numpy()[first].astype(float) - _ORIGIN) / 400
    coefficients = table.grid.coefficients(table.curves.T)

    def along(line: Array) -> Array:
        at = np.clip(line[0] + line[1] * x, 0.0, _WIDE)
        return np.asarray(chebyshev.chebval(2 * at / _WIDE - 1, coefficients, tensor=False))

    points = np.linspace(0.0, _WIDE, _POINTS)
    one = np.array([points[int(np.argmax(table.grid.interpolate(table.curves.sum(axis=0), points)))], 0.0])
    fit = minimize(
        lambda line: -along(line).sum(), one, method="Nelder-Mead", options={"initial_simplex": one + _STEPS}
    )
    return along(fit.x) - along(one)


def choose(
    decisions: Decisions,
    *,
    early: tuple[int, int] = (2006, 2009),
    late: tuple[int, int] = (2010, 2014),
    ks: Sequence[float] = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6),
    highs: Sequence[float] = (2.0, 4.0, 8.0, 16.0),
    filters: Sequence[float] = (1.0, 2.0, 3.0, 5.0, 39.0),
    tolerance: float = 15.0,
) -> Choices:
    """Choose k, then the range, then the filter on the early years, and judge every option on the late ones.

    Each is varied with those before it as chosen: a larger k goes with larger c, and so with a wider range.
    """
    spans = (_of_years(decisions, early), _of_years(decisions, late))
    chosen, scores = PAPERS, list[Score]()
    for of, field, values in (("k", "k", ks), ("range", "high", highs), ("filter", "max_abs_value", filters)):
        options = [replace(chosen, **{field: value}) for value in values]
        found = _scores(of, options, chosen, spans)
        chosen = max(found, key=lambda score: score.early).option
        scores += found
    judged = [(option, _composites(spans[1], option, tolerance)) for option in dict.fromkeys([chosen, PAPERS])]
    sizes = (len(_filtered(spans[0], PAPERS)), len(_filtered(spans[1], PAPERS)))
    games = (len(spans[0].groups("game")[0]), len(spans[1].groups("game")[0]))
    return Choices(early=early, late=late, decisions=sizes, games=games, scores=scores, chosen=chosen, judged=judged)


def judgement(study: Composites) -> tuple[float | None, float | None]:
    """Return what composites are judged by: the rank correlation of c̄ with Elo, and the line's standard error."""
    c, elo = [group.c.mean for group in study.groups], [float(group.label) for group in study.groups]
    rank = float(spearmanr(c, elo).statistic) if len(c) > 2 else None
    return rank, study.line.residual_sd if study.line else None


def _scores(of: str, options: Sequence[Option], usual: Option, spans: tuple[Decisions, Decisions]) -> list[Score]:
    score_on = _elo_parts if of == "filter" else _predictive_parts
    early, late = (score_on(options, usual, span) for span in spans)
    return [
        Score(of, option, first, first_gain, then_gain)
        for option, (first, first_gain), (_, then_gain) in zip(options, early, late, strict=True)
    ]


_Part = tuple[float, tuple[float, float]]
"""A score, and its gain over the usual option with a standard error."""


def _predictive_parts(options: Sequence[Option], usual: Option, span: Decisions) -> list[_Part]:
    """Return the scores per decision; the gains' errors are over the same player-games."""
    base, _ = predictive(span, usual)
    parts = []
    for option in options:
        score, sizes = predictive(span, option)
        per = max(float(sizes.sum()), 1.0)
        error = float(np.sqrt(len(score)) * (score - base).std()) / per
        parts.append((float(score.sum()) / per, (float((score - base).sum()) / per, error)))
    return parts


def _elo_parts(options: Sequence[Option], usual: Option, span: Decisions) -> list[_Part]:
    """Return the filters' scores per player-game; a filter may leave one without decisions, so errors are unpaired."""
    base = elo_gain(span, usual)
    parts = []
    for option in options:
        gain = elo_gain(span, option)
        error = float(np.sqrt(gain.var() / len(gain) + base.var() / len(base))) if option != usual else 0.0
        parts.append((float(gain.mean()), (float(gain.mean() - base.mean()), error)))
    return parts


def _composites(decisions: Decisions, option: Option, tolerance: float) -> Composites:
    own = _filtered(decisions, option)
    return composites(own, Agent(k=option.k), by=MILEPOST, tolerance=tolerance, span=(0.0, option.high))


def _filtered(decisions: Decisions, option: Option) -> Decisions:
    near = np.abs(decisions.best.astype(float)) <= option.max_abs_value
    return decisions.select(near, reason=f"best value beyond ±{option.max_abs_value:g}")


def _of_years(decisions: Decisions, years: tuple[int, int]) -> Decisions:
    year = np.array([0 if value is None else value for value in decisions.column("year").to_pylist()])
    found = decisions.select((years[0] <= year) & (year <= years[1]))
    if len(found.groups("game")[0]) < 3:
        raise InputError(f"fewer than three games of {years[0]}–{years[1]}", hint="give games of both spans of years")
    return found


def _second_half(codes: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return whether a decision is in the second half of its group, in the order of the batch."""
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(2 * rank >= sizes[codes])
