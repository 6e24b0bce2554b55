"""Predicting results, how good the predictions are, and the period length that predicts best.

A prediction for a game uses only what was known before its period [GLI99 (16)]. `evaluate` gives the log-loss, the
Brier score and the calibration.

The total discrepancies of two period lengths do not compare as they are: short periods predict a game from yesterday's
results, long ones from last year's. So all lengths predict the same games at the same distance: every game from what
was known before the longest of the periods, in which it lies, began.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import xlogy

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, Tally
from skilloscope.models.paired_comparison import davidson, discrepancy, win_probability
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
    moments = [(history.prior_mean[rows], history.prior_variance[rows]) for rows in history.rows_of(games)]
    return win_probability(*moments[0], *moments[1], advantage=history.state.advantage)


def win_probabilities(
    state: State,
    player_1: Sequence[str],
    player_2: Sequence[str],
    *,
    at: npt.ArrayLike | None = None,
    entry: Mapping[str, float] | None = None,
    ratings: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> Array:
    """Return the probability by (16) that each of `player_1` beats the one of `player_2`; unknown ones are new players.

    With `at` (one period number, or one for each pair) time passes until then; `entry` has means of new players, and
    `ratings` those published elsewhere of both sides, 0 for none.
    """
    if len(player_1) != len(player_2):
        raise InputError("a pair needs two players: the lists have different lengths")
    (mean_1, variance_1), (mean_2, variance_2) = (
        state.beliefs(names, at, entry=entry, ratings=side)
        for names, side in zip((player_1, player_2), ratings or (None, None), strict=True)
    )
    return win_probability(mean_1, variance_1, mean_2, variance_2, advantage=state.advantage)


def fit_draws(probability: npt.ArrayLike, score: npt.ArrayLike) -> tuple[float, float, Tally]:
    """Return κ of `davidson` by maximum likelihood, its mean log-loss over win, draw and loss, and what was left out.

    Beyond the paper, which has no probability of a draw. Scores other than 1, ½ and 0 say nothing about draws.
    """
    p, s = np.asarray(probability, dtype=float), np.asarray(score, dtype=float)
    tally = Tally()
    usable = np.isin(s, (0.0, 0.5, 1.0))
    tally.count("score that is no win, draw or loss", int(np.sum(~usable)))
    p, s = p[usable], s[usable]
    if not len(p):
        raise InputError("there is no win, draw or loss to fit draws to")
    if not np.any(s == 0.5):
        return 0.0, outcome_log_loss(p, s, 0.0), tally
    found = minimize_scalar(lambda log: outcome_log_loss(p, s, math.exp(log)), bounds=(-20, 8), method="bounded")
    return math.exp(found.x), float(found.fun), tally


def outcome_log_loss(probability: npt.ArrayLike, score: npt.ArrayLike, kappa: float) -> float:
    """−log of what `davidson` gave to the win, draw or loss that came, per game; other scores do not count."""
    p, s = np.asarray(probability, dtype=float), np.asarray(score, dtype=float)
    usable = np.isin(s, (0.0, 0.5, 1.0))
    (win, draw, loss), s = davidson(p[usable], kappa), s[usable]
    return float(-np.mean(xlogy(s == 1, win) + xlogy(s == 0.5, draw) + xlogy(s == 0, loss)))


LENGTHS = ("1D", "1W", "1M", "2M", "3M", "6M", "1Y")


@dataclass(frozen=True)
class LengthFit:
    """How well periods of one length predict.

    Losses of different games cannot be compared: a game whose date is known to the month only has no week.
    """

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
    mean: float = 1500.0,
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
        fits[length] = fit_variances(games, mean=mean, advantage=advantage, drift=drift, entry=entry)
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
    sides = [
        _known_before(history, side, games.first + games.period, limit) for side in (games.player_1, games.player_2)
    ]
    p = win_probability(*sides[0], *sides[1], advantage=fit.advantage)
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
