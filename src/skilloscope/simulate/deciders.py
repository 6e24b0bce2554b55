"""Simulated deciders: the reference agent and the curves of RH11 choosing on given spreads, and whole careers.

The truth is known here, so every estimator is tested here first: coverage of its intervals, bias of its rules. Lists
can be cut as an engine cuts them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, ragged_take
from skilloscope.decision import UNLISTED, Decisions
from skilloscope.evidence.scales import Scale
from skilloscope.models.agent import scaled_losses
from skilloscope.models.curves import CurveModel
from skilloscope.models.kernels.curves import probability_columns


def made_up_spreads(
    n: int, alternatives: int = 10, *, rng: np.random.Generator, name: str = "simulated", gap: float = 0.15
) -> Decisions:
    """Return decisions like chess: losses are running sums of gamma gaps, one position in five being sharp."""
    sharp = rng.choice([1.0, 3.0], size=(n, 1), p=[0.8, 0.2])
    gaps = rng.gamma(0.6, gap / 0.6, size=(n, alternatives - 1)) * sharp
    losses = np.concatenate([np.zeros((n, 1)), np.cumsum(gaps, axis=1)], axis=1)
    counts = np.full(n, alternatives)
    return Decisions(
        (name,),
        np.zeros(n, dtype=np.int32),
        -losses.ravel(),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.zeros(n, dtype=np.int32),
        counts.astype(np.int32),
    )


def simulate_choices(spreads: Decisions, c: float | Array, *, k: float = 0.1, rng: np.random.Generator) -> Decisions:
    """Return the same spreads with choices drawn by (2) among the listed alternatives; one c, or one per decision.

    >>> rng = np.random.default_rng(1)
    >>> simulated = simulate_choices(made_up_spreads(1000, rng=rng), 50.0, rng=rng)
    >>> float((simulated.chosen_loss() < 0.02).mean()) > 0.95
    True
    """
    competence = np.repeat(np.broadcast_to(c, len(spreads)), spreads.counts)
    # The largest of log p + Gumbel noise is a draw from p: no probabilities need to be summed.
    keys = -competence * scaled_losses(spreads.losses(), k=k) + rng.gumbel(size=len(spreads.values))
    starts = spreads.offsets[:-1]
    best = np.repeat(np.maximum.reduceat(keys, starts), spreads.counts)
    chosen = np.flatnonzero(keys == best) - starts
    # The agent knows nothing of what was not listed: the list is all there was.
    return replace(
        spreads, chosen=chosen.astype(np.int32), n_legal=spreads.counts.astype(np.int32), unlisted_value=None
    )


def simulated_deciders(
    c: npt.ArrayLike, n: int, *, alternatives: int = 10, k: float = 0.1, rng: np.random.Generator
) -> Decisions:
    """Return a batch of deciders, one for each c, with n decisions each on made-up spreads.

    >>> batch = simulated_deciders([0.5, 1.5], 3, rng=np.random.default_rng(0))
    >>> batch.names()
    ['decider 0', 'decider 1']
    """
    competences = np.atleast_1d(np.asarray(c, dtype=float))
    spreads = made_up_spreads(n * len(competences), alternatives, rng=rng)
    return replace(
        simulate_choices(spreads, np.repeat(competences, n), k=k, rng=rng),
        deciders=tuple(f"decider {i}" for i in range(len(competences))),
        decider=np.repeat(np.arange(len(competences), dtype=np.int32), n),
    )


def cut_lists(decisions: Decisions, n: int = 10, *, rng: np.random.Generator) -> Decisions:
    """Return the decisions with only the n best alternatives listed, as an engine's multi-PV does.

    A choice beyond the list becomes unlisted. One unlisted alternative is valued for the rule `sampled`: the chosen
    one where it is unlisted, otherwise one drawn at random.
    """
    counts = np.minimum(decisions.counts, n)
    offsets, flat = ragged_take(decisions.offsets, np.arange(len(decisions)), counts)
    beyond = decisions.counts - counts
    drawn = counts + np.floor(rng.random(len(decisions)) * beyond).astype(np.int64)
    outside = decisions.chosen >= counts
    at = decisions.offsets[:-1] + np.where(outside, decisions.chosen, np.minimum(drawn, decisions.counts - 1))
    return replace(
        decisions,
        values=decisions.values[flat],
        offsets=offsets,
        chosen=np.where(outside, UNLISTED, decisions.chosen).astype(np.int32),
        unlisted_value=np.where(beyond > 0, decisions.judged[at], np.nan),
    )


def simulate_curve_choices(
    spreads: Decisions, s: npt.ArrayLike, c: npt.ArrayLike, *, model: CurveModel | None = None, rng: np.random.Generator
) -> Decisions:
    """Return the spreads with choices drawn among the listed alternatives; one s and c, or one a decision.

    >>> rng = np.random.default_rng(1)
    >>> simulated = simulate_curve_choices(made_up_spreads(1000, rng=rng), 0.001, 1.0, rng=rng)
    >>> float((simulated.chosen_loss() < 0.02).mean()) > 0.99
    True
    """
    model = replace(model or CurveModel(), rule="full", bucket=None)
    # The decider knows nothing of what was not listed: the list is all there was.
    whole = replace(
        spreads, n_legal=spreads.counts.astype(np.int32), chosen=np.zeros(len(spreads), np.int32), unlisted_value=None
    )
    columns, _ = model.columns(whole)
    sensitivity = np.broadcast_to(np.asarray(s, dtype=float), len(spreads))[columns.row]
    competence = np.broadcast_to(np.asarray(c, dtype=float), len(spreads))[columns.row]
    p, _ = probability_columns(columns, model.mapping, model.curve, np.log(sensitivity), competence)
    chosen = np.zeros(len(spreads), dtype=np.int32)
    ends = np.cumsum(p)
    before = np.concatenate([[0.0], ends])[columns.offsets]
    drawn = before[:-1] + rng.random(len(columns)) * np.diff(before)
    place = np.searchsorted(ends, drawn, side="right")
    chosen[columns.row] = np.clip(place - columns.offsets[:-1], 0, np.diff(columns.offsets) - 1)
    return replace(whole, chosen=chosen)


def simulate_elo_choices(
    spreads: Decisions, elo: npt.ArrayLike, scale: Scale, *, rng: np.random.Generator
) -> Decisions:
    """Return the spreads with choices by players of this Elo (one, or one a decision) along a scale of the curves."""
    at = scale.parameters(elo)
    return simulate_curve_choices(spreads, at["s"], at["c"], model=CurveModel.from_about(scale.model), rng=rng)


_GAME = (10, 40)  # decisions of one player in a game


@dataclass(frozen=True, eq=False)
class Career:
    """A simulated player: decisions with the columns `year` and `game`, and the true competence of each year."""

    decisions: Decisions
    truth: Mapping[int, float]
    drift: float


def simulate_career(
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
