"""Simulated careers: a competence that wanders from year to year, and how well each prior foretells its decisions.

The truth is known here. A prior for periods is judged by two log scores of decisions that it has not seen: those of the
next period, from the past alone; and decisions held out inside the periods, from all that the prior takes into account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from skilloscope.decision import Decisions
from skilloscope.inference import Evidence, EvidenceTable, Grid, evidence
from skilloscope.inference.filter import PERIOD_PRIORS, History, filter_histories
from skilloscope.inference.posterior import Posterior
from skilloscope.models.agent import Agent
from skilloscope.simulate.agents import made_up_spreads, simulate_choices

Array = npt.NDArray[np.float64]

_HELD_OUT = 0.25  # of the decisions of every period
_GAME = (10, 40)  # decisions of one player in a game


@dataclass(frozen=True, eq=False)
class Career:
    """A simulated player: decisions with the columns `year` and `game`, and the true competence of each year."""

    decisions: Decisions
    truth: Mapping[int, float]
    drift: float


def simulated_career(
    rng: np.random.Generator,
    *,
    years: tuple[int, int] = (10, 40),
    games: tuple[int, int] = (1, 40),
    pause: float = 0.15,
    drift: tuple[float, float] = (0.01, 0.1),
    between_games: float = 0.0,
    name: str = "simulated",
) -> Career:
    """Return a career: c begins near 1.2 and makes a random walk, some years have no game, others few or many.

    The sd of a year's change is drawn between the bounds of `drift` (log-uniform), the games of a year likewise;
    `between_games` is the sd of c from game to game, which the agent does not know of.
    """
    length = int(rng.integers(years[0], years[1] + 1))
    step = float(np.exp(rng.uniform(*np.log(drift))))
    walk = rng.normal(1.2, 0.2) + np.concatenate([[0.0], np.cumsum(rng.normal(0.0, step, length - 1))])
    truth = dict(zip(range(1950, 1950 + length), np.clip(walk, 0.2, 3.0).tolist(), strict=True))
    counts = np.exp(rng.uniform(np.log(games[0]), np.log(games[1] + 1), size=length)).astype(np.int64)
    counts[1:][rng.random(length - 1) < pause] = 0
    year = np.repeat(list(truth), counts)
    c = np.array([truth[y] for y in year.tolist()]) + rng.normal(0.0, between_games, len(year))
    moves = rng.integers(_GAME[0], _GAME[1] + 1, len(year))
    spreads = made_up_spreads(int(moves.sum()), rng=rng, name=name)
    chosen = simulate_choices(spreads, np.repeat(np.clip(c, 0.0, None), moves), rng=rng)
    labels = np.array([f"{name}#{i}" for i in range(1, len(year) + 1)])
    context: Any = {"game": np.repeat(labels, moves), "year": np.repeat(year, moves)}
    return Career(replace(chosen, context=context), truth, step)


def career_scores(
    career: Career, *, rng: np.random.Generator, priors: Sequence[str] = PERIOD_PRIORS, dispersion: float = 1.0
) -> dict[str, tuple[float, float]]:
    """Return each prior's log score per decision: of the next period, and of decisions held out inside the periods."""
    batch, grid = career.decisions, Grid()
    whole = _by_year(batch, grid)
    held = rng.random(len(batch)) < _HELD_OUT
    kept, out = _by_year(batch.select(~held), grid), _by_year(batch.select(held), grid)
    found = {}
    for prior in priors:
        (ahead,), _ = filter_histories([_history(whole)], prior, dispersion=dispersion)
        (inside,), _ = filter_histories([_history(kept)], prior, dispersion=dispersion)
        later = whole.decisions[1:].sum()
        pairs = [(p, out[year]) for p, year in zip(inside.posteriors, kept, strict=True) if year in out.labels]
        within = sum(expected_score(posterior, one) for posterior, one in pairs)
        found[prior] = (
            float(ahead.log_scores[1:].sum() / later),
            float(within / sum(one.decisions for _, one in pairs)),
        )
    return found


def score_differences(scores: Sequence[Mapping[str, tuple[float, float]]], *, mass: float = 0.95) -> dict[str, Any]:
    """Return by how much `drift` is better than each other prior: mean over careers with its t interval."""
    report: dict[str, Any] = {}
    for place, kind in enumerate(("next_period", "held_out")):
        for other in (name for name in scores[0] if name != "drift"):
            gains = np.array([one["drift"][place] - one[other][place] for one in scores])
            half = student.ppf(0.5 + mass / 2, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
            mean = float(gains.mean())
            report[f"{kind}, {other}"] = {"mean": mean, "low": mean - float(half), "high": mean + float(half)}
    return report


def expected_score(posterior: Posterior, one: Evidence) -> float:
    """log ∫ p(c)·p(decisions | c) dc under a posterior that is given on its own grid."""
    logs = one.log_likelihood(posterior.at)
    weight = posterior.density / posterior.density.sum()
    return float(np.log((weight * np.exp(logs - logs.max())).sum()) + logs.max())


def _by_year(batch: Decisions, grid: Grid) -> EvidenceTable:
    return evidence(batch, Agent(), grid, by="year")


def _history(table: EvidenceTable) -> History:
    return History(np.array(list(table), dtype=float), [table[year] for year in table])
