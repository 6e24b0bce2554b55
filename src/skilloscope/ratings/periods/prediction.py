"""Foretelling results, and how well it went: probabilities, log-loss, Brier score, calibration, draws.

A prediction for a game uses only what was known before its period [GLI99 (16)].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import xlogy

from skilloscope.core.errors import InputError, Tally
from skilloscope.models.comparison import davidson, discrepancy, win_probability
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.states import State
from skilloscope.results.period_games import PeriodGames

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Games in bins of their predicted probability: what was foretold beside what came, with standard errors."""

    edges: Array
    games: npt.NDArray[np.int64]
    predicted: Array
    observed: Array
    standard_error: Array

    def as_dict(self) -> dict[str, Any]:
        """Return the bins that hold games, as reports send them."""
        return {
            "bins": [
                {
                    "from": float(self.edges[i]),
                    "to": float(self.edges[i + 1]),
                    "games": int(self.games[i]),
                    "predicted": float(self.predicted[i]),
                    "observed": float(self.observed[i]),
                    "standard_error": float(self.standard_error[i]),
                }
                for i in np.flatnonzero(self.games)
            ]
        }


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well games were foretold: discrepancy (15) and squared error per game, and the calibration curve."""

    games: int
    log_loss: float
    brier: float
    calibration: Calibration

    def as_dict(self) -> dict[str, Any]:
        """Return the evaluation as reports send it."""
        head = {"games": self.games, "log_loss": self.log_loss, "brier": self.brier}
        return head | {"calibration": self.calibration.as_dict()["bins"]}


def evaluate(probability: npt.ArrayLike, score: npt.ArrayLike, *, bins: int = 10) -> Evaluation:
    """Return how well probabilities of a win of player_1 foretold the scores; a draw counts as half.

    >>> evaluate([0.5, 0.5], [1.0, 0.0]).brier
    0.25
    """
    p, s = np.asarray(probability, dtype=float), np.asarray(score, dtype=float)
    if not len(p) or p.shape != s.shape:
        raise InputError("an evaluation needs one probability for each score, and at least one")
    edges = np.linspace(0, 1, bins + 1)
    which = np.minimum((p * bins).astype(np.int64), bins - 1)
    games = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        predicted = np.bincount(which, p, bins) / games
        observed = np.bincount(which, s, bins) / games
        error = np.sqrt(np.bincount(which, (s - p) ** 2, bins)) / games
    curve = Calibration(edges, games, predicted, observed, error)
    return Evaluation(len(p), float(np.mean(discrepancy(p, s))), float(np.mean((s - p) ** 2)), curve)


def forecast(games: PeriodGames, state: State, *, entry: Mapping[str, float] | None = None) -> tuple[Array, State]:
    """Return for each game the probability by (16) from all periods before its own, and the state after the games."""
    after, rows = state.play(games, entry=entry, history=True)
    assert rows is not None
    return foretold(History.from_rows(rows, after), games), after


def foretold(history: History, games: PeriodGames) -> Array:
    """Return for each game the probability by (16) from the periods before its own, out of a history that holds it."""
    where = {name: i for i, name in enumerate(history.players)}
    codes = np.array([where[name] for name in games.players], dtype=np.int64)
    span = int(max(history.period.max(initial=0), games.first + games.n_periods)) + 1
    keys = history.player * span + history.period
    rows = [
        np.searchsorted(keys, codes[side] * span + games.first + games.period)
        for side in (games.player_1, games.player_2)
    ]
    moments = [(history.prior_mean[row], history.prior_variance[row]) for row in rows]
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
