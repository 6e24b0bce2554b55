"""Predicting results, how good the predictions are, and the period length that predicts best.

A prediction for a game uses only what was known before its period [GLI99 (16)]. Period lengths are compared on the same
games at the same distance: every game from what was known before the longest of the periods, in which it lies, began.

The link goes from strengths to expected scores. (16) has one fixed slope, and its strengths know nothing of careers.
`linked` learns both: a logistic regression on what is known of both players, whose weights are a random walk, updated
with each month of games (an extended Kalman filter). It starts at (16) with small prior deviations, so that few games
change little. Not in the paper.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit, xlogy

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, Tally
from skilloscope.models.paired_comparison import Q, davidson, discrepancy, g, win_probability
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import VarianceFit, fit_variances
from skilloscope.results.periods import Calendar, PeriodGames
from skilloscope.results.table import Results


@dataclass(frozen=True)
class CalibrationBin:
    """Games of similar predicted probability: mean prediction and mean score, with its standard error."""

    from_: float
    to: float
    games: int
    predicted: float
    observed: float
    standard_error: float


@dataclass(frozen=True)
class Evaluation:
    """How well games were predicted: discrepancy (15) and squared error per game, and the calibration curve."""

    games: int
    log_loss: float
    brier: float
    calibration: Sequence[CalibrationBin]  # the bins that hold games


def evaluate(probability: npt.ArrayLike, score: npt.ArrayLike, *, bins: int = 10) -> Evaluation:
    """Return how well probabilities of a win of player_1 predicted the scores; a draw counts as half.

    >>> evaluate([0.5, 0.5], [1.0, 0.0]).brier
    0.25
    """
    p, s = np.asarray(probability, dtype=float), np.asarray(score, dtype=float)
    if not len(p) or p.shape != s.shape:
        raise InputError("an evaluation needs one probability for each score, and at least one")
    which = np.minimum((p * bins).astype(np.int64), bins - 1)
    counts = np.bincount(which, minlength=bins)
    held = np.flatnonzero(counts)
    edges, games = np.linspace(0, 1, bins + 1), counts[held]
    predicted, observed, squared = (np.bincount(which, x, bins)[held] for x in (p, s, (s - p) ** 2))
    columns = (edges[held], edges[held + 1], games, predicted / games, observed / games, np.sqrt(squared) / games)
    curve = [CalibrationBin(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    return Evaluation(len(p), float(np.mean(discrepancy(p, s))), float(np.mean((s - p) ** 2)), curve)


def forecast(games: PeriodGames, state: State, *, entry: Mapping[str, float] | None = None) -> tuple[Array, State]:
    """Return for each game the probability by (16) from all periods before its own, and the state after the games."""
    history = History.played(games, state, entry)
    return predicted(history, games), history.state


def predicted(history: History, games: PeriodGames) -> Array:
    """Return for each game the probability by (16) from the periods before its own, out of a history that holds it."""
    one, two = ((history.prior_mean[rows], history.prior_variance[rows]) for rows in history.rows_of(games))
    return win_probability(*one, *two, advantage=history.state.advantage)


@dataclass(frozen=True, eq=False)
class Link:
    """What makes an expected score of strengths and careers; `draws`: log κ's level, and slope in strength."""

    weights: Array
    draws: Array | None  # None before the first draw
    years: float  # the length of a period


TERMS = (
    *("advantage", "gap", "gap × level", "gap × uncertainty", "gap × |gap|", "games", "new × level", "pause", "career"),
    *("log career", "uncertainty", "uncertainty × level", "rise in a year", "its gain", "rise × level", "rise", "last"),
)
"""What the link depends on; beyond the first five each is a difference between the players. The last are published."""
_START = np.where(np.array(TERMS) == "gap", 1.0, 0.0)
_PRIOR, _STEP = np.where(_START > 0, 0.1, 0.05), np.where(_START > 0, 0.03, 0.015)  # a step is the deviation of a year
_DRAWS_START, _DRAWS_PRIOR, _DRAWS_STEP = np.array([0.0, 0.0]), np.array([2.0, 0.3]), np.array([0.1, 0.05])
Slopes = Callable[[slice, Array], tuple[Array, Array]]


def linked(history: History, games: PeriodGames, years: float) -> tuple[Array, Array, Link]:
    """Return each game's expected score and κ by earlier months' link, and the last link; `years` a period."""
    rows, when = np.stack(history.rows_of(games)), games.first + games.period
    codes = np.stack([history.codes_of(games.players)[side] for side in (games.player_1, games.player_2)])
    moments = history.prior_mean[rows], history.prior_variance[rows]
    terms = _terms(history, codes, when, moments, history.seen[rows], years)
    month, score = np.floor(when * years * 12 + 1e-6), games.score

    def scores(part: slice, logit: Array) -> tuple[Array, Array]:
        p = expit(logit)
        return score[part] - p, p * (1 - p)

    logit, weights = _followed(terms, month, scores, (_START, _PRIOR, _STEP))
    p = expit(logit)

    def draws(part: slice, log: Array) -> tuple[Array, Array]:
        s, (win, draw, loss) = score[part], davidson(p[part], np.exp(log))
        rise = (davidson(p[part], np.exp(log + 1e-4))[1] - draw) / 1e-4
        each = ((win, s == 1, -0.5), (draw, s == 0.5, 1.0), (loss, s == 0, -0.5))
        gradient = sum(np.where(came, share * rise / np.maximum(q, 1e-12), 0.0) for q, came, share in each)
        curvature = rise**2 * sum(share**2 / np.maximum(q, 1e-12) for q, _, share in each)
        return np.asarray(gradient), np.where(np.isin(s, (0.0, 0.5, 1.0)), curvature, 0.0)

    level = _draw_terms(history, moments[0])
    log_kappa, kept = _followed(level, month, draws, (_DRAWS_START, _DRAWS_PRIOR, _DRAWS_STEP))
    first_draw = float(np.min(month[score == 0.5], initial=np.inf))
    kappa = np.where(month > first_draw, np.exp(log_kappa), 0.0)
    return p, kappa, Link(weights, kept if first_draw < np.inf else None, years)


def linked_pairs(
    link: Link, history: History, pairs: tuple[Sequence[str], Sequence[str]], at: int, entry: Mapping[str, float] | None
) -> tuple[Array, Array]:
    """Return the expected score of the first player of each pair in period `at`, and κ; the history holds all games."""
    where = {name: i for i, name in enumerate(history.players)}
    codes = np.array([[where.get(name, -1) for name in side] for side in pairs], dtype=np.int64)
    beliefs = [history.state.beliefs(side, at, entry=entry) for side in pairs]
    moments = np.stack([mean for mean, _ in beliefs]), np.stack([variance for _, variance in beliefs])
    when = np.full(codes.shape[1], at)
    terms = _terms(history, codes, when, moments, None, link.years)
    draws = np.exp(_draw_terms(history, moments[0]) @ link.draws) if link.draws is not None else 0 * when
    return expit(terms @ link.weights), np.asarray(draws, dtype=float)


def _levels(history: History, mean: Array) -> Array:
    published = history.state.published
    return np.asarray(np.clip((mean - (published.origin if published else history.state.mean)) / 400, -3, 3))


def _draw_terms(history: History, mean: Array) -> Array:
    return np.stack([np.ones(mean.shape[1]), _levels(history, mean).mean(axis=0)], axis=1)


def _terms(
    history: History, codes: Ints, when: Ints, moments: tuple[Array, Array], seen: Array | None, years: float
) -> Array:
    """Return the TERMS of each game; rows of `codes` (−1: new), `moments` and `seen` (None: the last) are sides."""
    mean, variance = moments
    level, unsure = _levels(history, mean), np.minimum(variance / 200**2, 4.0)
    x = g(variance.sum(axis=0)) * Q * (mean[0] - mean[1] + history.state.advantage)
    span = int(max(history.period.max(initial=0), when.max(initial=0))) + 2
    keys, key = history.player * span + history.period, codes * span + when
    last = np.searchsorted(keys, key) - 1  # the last row before the period
    first = history.offsets[np.maximum(codes, 0)]
    known = (codes >= 0) & (last >= first)
    last, first = np.where(known, last, 0), np.where(known, first, 0)
    year = np.searchsorted(keys, key - round(1 / years), side="right") - 1  # as it was a year before
    total = np.append(0, np.cumsum(history.games))
    games = np.where(known, total[last + 1] - total[first], 0)
    age = np.where(known, (when - history.period[first]) * years, 0.0) if len(history) else 0.0 * games
    pause = np.where(known, (when - history.period[last]) * years, 0.0) if len(history) else 0.0 * games
    then = history.seen if len(history) else np.zeros(1)
    now = then[last] if seen is None else seen

    def rise(row: Ints, low: float, high: float) -> Array:
        rated = known & (now > 0) & (then[row] > 0)
        return np.where(rated, np.clip(now - then[row], low, high), 0.0)

    gain, whole = rise(np.maximum(year, first), -200, 200) / 100, rise(first, -500, 800) / 400
    sides = (
        np.log1p(games) / 4, level / (1 + games / 5), np.log1p(12 * pause) / 4, np.minimum(age, 10.0) / 10,
        np.log1p(4 * age) / 4, unsure, unsure * level, gain, np.maximum(gain, 0.0), gain * level, whole,
        rise(last, -100, 100) / 100 * np.exp(-age / 4),
    )  # fmt: skip
    slopes = (x, x * level.mean(axis=0), x * unsure.sum(axis=0) / 2, x * np.abs(x) / 2)
    return np.stack([np.ones_like(x), *slopes, *(side[0] - side[1] for side in sides)], axis=1)


def _followed(terms: Array, month: Array, slopes: Slopes, prior: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Return each game's predictor by weights of months before (Newton steps, a random walk), and the last weights."""
    weights, deviation, step = prior
    covariance, out = np.diag(deviation**2), np.empty(len(month))
    edges = np.flatnonzero(np.diff(month, prepend=-np.inf, append=np.inf)) if len(month) else np.zeros(1, dtype=int)
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = slice(start, stop)
        x, before = terms[part], weights
        out[part] = x @ before
        precision = np.linalg.inv(covariance)
        for _ in range(2):
            gradient, curvature = slopes(part, x @ weights)
            hessian = precision + (x * curvature[:, None]).T @ x
            weights = weights + np.linalg.solve(hessian, x.T @ gradient - precision @ (weights - before))
        passed = (month[stop] - month[start]) / 12 if stop < len(month) else 0.0
        covariance = np.asarray(np.linalg.inv(hessian) + np.diag(step**2) * passed, dtype=np.float64)
    return out, weights


def win_probabilities(
    state: State,
    player_1: Sequence[str],
    player_2: Sequence[str],
    *,
    at: npt.ArrayLike | None = None,
    entry: Mapping[str, float] | None = None,
) -> Array:
    """Return (16) for each pair; time passes until `at` (one period or one a pair), `entry` has new players' means."""
    if len(player_1) != len(player_2):
        raise InputError("a pair needs two players: the lists have different lengths")
    one, two = (state.beliefs(names, at, entry=entry) for names in (player_1, player_2))
    return win_probability(*one, *two, advantage=state.advantage)


def fit_draws(probability: npt.ArrayLike, score: npt.ArrayLike) -> tuple[float, float, Tally]:
    """Return κ of `davidson` by maximum likelihood, its mean log-loss, and the scores that are no outcome."""
    p, s = np.asarray(probability, dtype=float), np.asarray(score, dtype=float)
    tally = Tally()
    usable = np.isin(s, (0.0, 0.5, 1.0))
    tally.count("score that is not a win, draw or loss", int(np.sum(~usable)))
    p, s = p[usable], s[usable]
    if not len(p):
        raise InputError("there is not a win, draw or loss to fit draws to")
    if not np.any(s == 0.5):
        return 0.0, outcome_log_loss(p, s, 0.0), tally
    found = minimize_scalar(lambda log: outcome_log_loss(p, s, math.exp(log)), bounds=(-20, 8), method="bounded")
    return math.exp(found.x), float(found.fun), tally


def outcome_log_loss(probability: npt.ArrayLike, score: npt.ArrayLike, kappa: npt.ArrayLike) -> float:
    """−log of what `davidson` gave to the win, draw or loss that came, per game; other scores do not count."""
    p, s = np.asarray(probability, dtype=float), np.asarray(score, dtype=float)
    usable = np.isin(s, (0.0, 0.5, 1.0))
    (win, draw, loss), s = davidson(p[usable], np.broadcast_to(kappa, p.shape)[usable]), s[usable]
    return float(-np.mean(xlogy(s == 1, win) + xlogy(s == 0.5, draw) + xlogy(s == 0, loss)))


LENGTHS = ("1D", "1W", "1M", "2M", "3M", "6M", "1Y")


@dataclass(frozen=True)
class LengthFit:
    """How well periods of one length predict; losses of different games cannot be compared."""

    period: str
    loss: float  # discrepancy per game, at the distance of the longest length
    fit: VarianceFit
    best: bool
    comparable: bool

    FIELDS: ClassVar = ("period", "loss", "fit.games", "fit.games_per_player_and_period", "best", "comparable")


@dataclass(frozen=True)
class PeriodChoice:
    """The fits by length, and the longest length: so far ahead all of them predict."""

    lengths: Sequence[LengthFit]
    horizon: str

    @property
    def best(self) -> str:
        """The length that predicts best."""
        return next(one.period for one in self.lengths if one.best)


def choose_period(
    results: Results,
    lengths: Sequence[str] = LENGTHS,
    *,
    advantage: float | None = 0.0,
    drift: float | None = 0.0,
    entry: Mapping[str, float] | None = None,
) -> PeriodChoice:
    """Fit with each length of period, and return the one that predicts best at the distance of the longest."""
    if not results.has_dates or not lengths:
        raise InputError("lengths of periods are compared where games have dates")
    horizon = max(lengths, key=_days)
    fits, losses = {}, {}
    for length in lengths:
        own = results.for_period(length)
        games = own.by_period(length)
        fits[length] = fit_variances(games, advantage=advantage, drift=drift, entry=entry)
        order = np.argsort(own.numbers(length), kind="stable")
        blocks = own.numbers(horizon)[order]
        losses[length] = _loss(games, blocks, fits[length], (length, horizon), entry)
    most = max(fit.games for fit in fits.values())
    comparable = [length for length in lengths if fits[length].games == most]
    best = min(comparable, key=losses.__getitem__)
    rows = [LengthFit(one, losses[one], fits[one], one == best, one in comparable) for one in lengths]
    return PeriodChoice(rows, horizon)


def _loss(
    games: PeriodGames, blocks: Ints, fit: VarianceFit, lengths: tuple[str, str], entry: Mapping[str, float] | None
) -> float:
    """Return the discrepancy per game, each predicted from the periods before its block began."""
    history = History.played(games, fit.start(), entry)
    length, horizon = (Calendar.from_text(text) for text in lengths)
    known, place = np.unique(blocks, return_inverse=True)
    starts = np.array([horizon.start(block) for block in known], dtype="datetime64[D]")
    limit = length.numbers(starts)[place]
    when = games.first + games.period
    one, two = (_known_before(history, side, when, limit) for side in (games.player_1, games.player_2))
    p = win_probability(*one, *two, advantage=fit.advantage)
    return float(np.mean(discrepancy(p, games.score)))


def _known_before(history: History, player: npt.NDArray[np.int32], when: Ints, limit: Ints) -> tuple[Any, Any]:
    """Return what was known of each player from periods before `limit`, with time passed until `when`."""
    span = int(history.period.max(initial=0)) + 2
    keys = history.player * span + history.period
    row = np.searchsorted(keys, player.astype(np.int64) * span + limit) - 1
    seen = (row >= 0) & (history.player[np.maximum(row, 0)] == player)
    row = np.where(seen, row, history.offsets[player])  # who is new then enters as he did
    nu2 = history.state.nu**2
    mean = np.where(seen, history.filtered_mean[row], history.prior_mean[row])
    gap = np.maximum(when - history.period[row], 0)
    return mean, np.where(seen, history.filtered_variance[row] + nu2 * gap, history.prior_variance[row])


def _days(length: str) -> int:
    calendar = Calendar.from_text(length)
    return calendar.count * {"D": 1, "W": 7, "M": 30, "Y": 365}.get(calendar.unit, 1)
