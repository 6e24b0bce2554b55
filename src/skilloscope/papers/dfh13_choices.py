"""The choices that DFH13 leaves open (k, the range of c, the filter), made on games of 2006–2009, judged on 2010–2014.

k and range are scored by prediction: the second half of each player-game, given its first half under the uniform prior
on the range. Both see the same decisions under every option. Filters keep different positions, so they are scored by
what the player-games say of Elo: the gain of a line c = a + b·Elo over one c for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.polynomial import chebyshev
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import spearmanr

from skilloscope.chess.analysis.analyses import decisions
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.evidence import agent_evidence
from skilloscope.models.agent import Agent
from skilloscope.papers import harness
from skilloscope.papers.dfh13 import year_games
from skilloscope.papers.harness import NO_DATA, Budget, Outcome, Row, analysed_decisions, entries, may_sample, printed
from skilloscope.studies.pooled import PooledRequest, PooledStudy, pooled_players

_POINTS = 1201
_LATE = (2010, 2014)  # the years on which every option is judged
_ORIGIN = 2100.0
_WIDE = 12.0
_EVERY = np.inf  # pawns: no position is left out, the filter is one of the choices
_STEPS = np.array([[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]])


@dataclass(frozen=True)
class Option:
    """The agent's k, the upper end of the range of c, and how far from equal a position's best value may be."""

    k: float = 0.1
    high: float = 4.0
    max_abs_value: float = 3.0

    def __str__(self) -> str:
        return f"k = {self.k:g}, c in [0, {self.high:g}], |best value| ≤ {self.max_abs_value:g}"


PAPERS = Option()  # k as the papers have it; range and filter are ours, for they state none


@dataclass(frozen=True)
class Score:
    """One option on both spans: its score, and how far it is above the default's with a standard error over games."""

    of: str  # `k`, `range` or `filter`: what was varied
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
    judged: Sequence[tuple[Option, PooledStudy]]
    """The late span's composite players under the chosen option and under the papers'."""


def predictive(decisions: Decisions, option: Option) -> tuple[Array, Array]:
    """log ∫ p(second half|c)·p(c|first half) dc of each player-game, and how many decisions its second half has."""
    own = _filtered(decisions, option)
    _, codes = own.groups(["game", "mover"])
    sizes = np.bincount(codes)
    rank = np.empty(len(codes), dtype=np.int64)  # in its group, in the order of the batch
    rank[np.argsort(codes, kind="stable")] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    half = 2 * rank >= sizes[codes]
    context = own.context.select([]).append_column("game", pa.array(codes)).append_column("half", pa.array(half))
    halves, span = replace(own, context=context), (0.0, option.high)
    table = agent_evidence(halves, Agent(k=option.k), by=["game", "half"], span=span)
    at = np.linspace(0.0, option.high, _POINTS)
    logs = {label: table.grid.interpolate(curve, at) for label, curve in zip(table.labels, table.curves, strict=True)}
    counts = dict(zip(table.labels, table.decisions.tolist(), strict=True))
    games = [game for game, second in table.labels if second and counts.get((game, False)) and counts[game, True]]
    score = [logsumexp(logs[game, False] + logs[game, True]) - logsumexp(logs[game, False]) for game in games]
    found, second = np.zeros(len(sizes)), np.zeros(len(sizes))
    found[games], second[games] = score, [counts[game, True] for game in games]
    return found, second


def elo_gain(decisions: Decisions, option: Option) -> Array:
    """ℓ(a + b·Elo) − ℓ(one c) of each player-game: what it says of Elo, in nats, at the likeliest line and c.

    No prior enters, so the curves are kept on a range that is wide enough for any k.
    """
    own = _filtered(decisions, option)
    table = agent_evidence(own, Agent(k=option.k), by=["game", "mover"], span=(0.0, _WIDE))
    _, codes = own.groups(["game", "mover"])
    first = np.unique(codes, return_index=True)[1]
    x = (own.column("elo").to_numpy()[first].astype(float) - _ORIGIN) / 400
    coefficients = table.grid.coefficients(table.curves.T)

    def along(line: Array) -> Array:
        at = np.clip(line[0] + line[1] * x, 0.0, _WIDE)
        return np.asarray(chebyshev.chebval(2 * at / _WIDE - 1, coefficients, tensor=False))

    points = np.linspace(0.0, _WIDE, _POINTS)
    one = np.array([points[int(np.argmax(table.grid.interpolate(table.curves.sum(axis=0), points)))], 0.0])
    simplex = {"initial_simplex": one + _STEPS}
    fit = minimize(lambda line: -along(line).sum(), one, method="Nelder-Mead", options=simplex)
    return along(fit.x) - along(one)


def choose(
    decisions: Decisions,
    *,
    early: tuple[int, int] = (2006, 2009),
    ks: Sequence[float] = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6),
    highs: Sequence[float] = (2.0, 4.0, 8.0, 16.0),
    filters: Sequence[float] = (1.0, 2.0, 3.0, 5.0, 39.0),
) -> Choices:
    """Choose k, then the range, then the filter on the early years, and judge every option on the late ones."""
    spans = (_of_years(decisions, early), _of_years(decisions, _LATE))
    chosen, scores = PAPERS, list[Score]()
    for of, field, values in (("k", "k", ks), ("range", "high", highs), ("filter", "max_abs_value", filters)):
        options = [replace(chosen, **{field: value}) for value in values]
        score_on = _elo_parts if of == "filter" else _predictive_parts
        both = zip(options, *(score_on(options, chosen, span) for span in spans), strict=True)
        found = [Score(of, option, first, gain, late_gain) for option, (first, gain), (_, late_gain) in both]
        chosen = max(found, key=lambda score: score.early).option
        scores += found
    judged = []
    for option in dict.fromkeys([chosen, PAPERS]):
        request = PooledRequest(tolerance=15.0, span=(0.0, option.high))
        judged.append((option, pooled_players(_filtered(spans[1], option), request, Agent(k=option.k))))
    sizes = (len(_filtered(spans[0], PAPERS)), len(_filtered(spans[1], PAPERS)))
    games = (len(spans[0].groups("game")[0]), len(spans[1].groups("game")[0]))
    return Choices(early=early, late=_LATE, decisions=sizes, games=games, scores=scores, chosen=chosen, judged=judged)


def judgement(study: PooledStudy) -> tuple[float | None, float | None]:
    """Return what composites are judged by: the rank correlation of c̄ with Elo, and the line's standard error."""
    c, elo = [group.c.mean for group in study.groups], [float(group.label) for group in study.groups]
    rank = float(spearmanr(c, elo).statistic) if len(c) > 2 else None
    return rank, study.line.residual_sd if study.line else None


_Part = tuple[float, tuple[float, float]]  # a score, and its gain over the usual option with a standard error


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


def _filtered(decisions: Decisions, option: Option) -> Decisions:
    near = np.abs(decisions.best.astype(float)) <= option.max_abs_value
    return decisions.select(near, reason=f"best value beyond ±{option.max_abs_value:g}")


def _of_years(decisions: Decisions, years: tuple[int, int]) -> Decisions:
    year = np.array([0 if value is None else value for value in decisions.column("year").to_pylist()])
    found = decisions.select((years[0] <= year) & (year <= years[1]))
    if len(found.groups("game")[0]) < 3:
        raise InputError(f"fewer than three games of {years[0]}–{years[1]}", hint="give games of both spans of years")
    return found


def _choices(budget: Budget) -> Outcome:
    batch = analysed_decisions(budget, max_abs_value=_EVERY)
    if batch is None:
        return Outcome([Row("k chosen on 2006–2009", printed("0.1"))], [NO_DATA])
    more, note = _early_sample(budget)
    if more is not None:  # a game that is in both, under different names, counts once
        both = Decisions.concat([replace(batch, about={}), replace(more, about={})])
        _, codes = both.groups(["decider", "opponent", "date", "ply", "fen"])
        batch = both.select(np.sort(np.unique(codes, return_index=True)[1]), reason="decision given twice")
    study = choose(batch)
    counts = [
        f"{years[0]}–{years[1]}: {games:,} games, {n:,} decisions within ±3 pawns"
        for years, games, n in zip((study.early, study.late), study.games, study.decisions, strict=True)
    ]
    return Outcome(_rows(study), [*counts, note])


def _rows(study: Choices) -> Sequence[Row]:
    rows = [
        Row("k chosen on 2006–2009", printed("0.1"), study.chosen.k, alike=False),
        Row("upper end of c chosen on 2006–2009", None, study.chosen.high),
        Row("filter chosen on 2006–2009, pawns", None, study.chosen.max_abs_value),
    ]
    for score in study.scores:
        value = {"k": score.option.k, "range": score.option.high, "filter": score.option.max_abs_value}[score.of]
        unit = "player-game about Elo" if score.of == "filter" else "decision"
        for years, (gain, error) in ((study.early, score.early_gain), (study.late, score.late_gain)):
            rows.append(Row(f"{score.of} {value:g}: nats a {unit}, {years[0]}–{years[1]}", None, gain, sd=error))
    for option, groups in study.judged:
        rank, residual_sd = judgement(groups)
        whose = "as before" if option == PAPERS else "as chosen"
        rows += [
            Row(f"2010–2014 {whose}: rank correlation of c̄ with Elo", None, rank),
            Row(f"2010–2014 {whose}: standard error of the line, Elo", None, residual_sd),
        ]
    return rows


def _early_sample(budget: Budget) -> tuple[Decisions | None, str]:
    """Return decisions of sampled games of the early years, of every position; None where none is known."""
    if not may_sample(budget):
        return None, "more games of 2006–2009 are sampled with engine time (--budget) or analyses (--import FILE)"
    games = year_games(budget, (2006, 2009), "2006-2009")
    if games is None:
        return None, "no files of bands in the data folder"
    try:
        chosen = harness.sampled_games(budget, games, budget.work, name="bands of 2006–2009")
    except InputError as error:
        return None, f"no more games of 2006–2009 were sampled: {error}"
    found = decisions(budget.work.analyse(positions(chosen)), max_abs_value=_EVERY, all_depths=False)
    return found, f"bands of 2006–2009: {len(chosen):,} more games by seed {budget.seed}, {len(found):,} positions"


DFH13_CHOICES = entries({"DFH13.choices": _choices})
