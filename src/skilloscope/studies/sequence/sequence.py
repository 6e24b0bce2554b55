"""How probable a sequence of choices is for an agent of given strength, and how unusual among its own sequences.

In: one decider's decisions and a competence c. Out: `ChoiceSequence`, log Π p(aᵢ|c) beside what agents of that c
score on the same problems: mean and variance exactly, the distribution by simulation. [DFHR09 VI] names the first:
"the prior probability that a player of Elo e will make a sequence of moves".

For one set of problems log p = −c·Σ bᵢ + constant, with bᵢ the scaled loss of the choice: a high percentile says that
less was lost than such an agent mostly loses, a low one that more was. It is evidence, never a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from skilloscope.core.checks import check_dispersion
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions
from skilloscope.models.agent import Agent, log_likelihood, scaled_losses
from skilloscope.models.choice_sets import ChoiceSets

SCHEMA = 1
Array = npt.NDArray[np.float64]
_AT_ONCE = 2_000_000  # draws held in memory at one time
_CAUTION = (
    "A percentile says how unusual the choices are for one model of one strength. People of that strength are not that "
    "model: they differ from it and from each other; the dispersed percentile allows for how much games do.",
    "Somebody is always at the top. Among many sequences that were looked at some are far out by chance, and the most "
    "extreme game of a player is no fair sample of that player.",
    "It is evidence about choices, never a verdict on a person.",
)


@dataclass(frozen=True)
class SequencePart:
    """One sequence (a game, or all games together) beside the agent's own sequences on the same problems."""

    label: str
    decisions: int
    log_probability: float
    expected: float
    """The mean of the agent's log-probabilities."""
    sd: float
    percentile: float
    """The share of the agent's sequences that are less probable, ties counted half; from 0 to 1, by simulation."""
    percentile_se: float
    normal: float
    """The same by the normal approximation with the exact mean and variance."""
    dispersed: float
    """The normal one with the variance multiplied by the dispersion between games."""

    @property
    def z(self) -> float:
        """How many of the agent's standard deviations the log-probability lies above its mean."""
        return (self.log_probability - self.expected) / self.sd if self.sd > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the part as `sequence --json` sends it."""
        names = ("label", "decisions", "log_probability", "expected", "sd", "z", "percentile", "percentile_se")
        return {name: getattr(self, name) for name in (*names, "normal", "dispersed")}


@dataclass(frozen=True, eq=False)
class ChoiceSequence:
    """A decider's whole sequence and each game of it, for an agent of competence c, or for people of an Elo."""

    decider: str
    c: float | None
    """The agent's competence; None where people of an Elo stand in its place."""
    elo: float | None
    total: SequencePart
    games: Sequence[SequencePart]
    dispersion: float
    draws: int
    seed: int
    about: Mapping[str, Any]
    tally: Tally
    notes: Sequence[str] = ()

    @property
    def extreme_chance(self) -> float | None:
        """The chance that among so many games the most extreme |z| (dispersed) is at least as large as here."""
        if not self.games:
            return None
        tails = [2 * min(part.dispersed, 1 - part.dispersed) for part in self.games]
        return float(-np.expm1(len(tails) * np.log1p(-min(tails)))) if min(tails) < 1 else 1.0

    @property
    def caution(self) -> list[str]:
        """What must be said beside the figures."""
        return [*_CAUTION, *self.notes]

    def as_dict(self) -> dict[str, Any]:
        """Return what `sequence --json` sends."""
        return {
            "schema": SCHEMA,
            "decider": self.decider,
            "model": dict(self.about),
            "c": self.c,
            "elo": self.elo,
            "dispersion": self.dispersion,
            "draws": self.draws,
            "seed": self.seed,
            "total": self.total.as_dict(),
            "games": [part.as_dict() for part in self.games],
            "extreme_chance": self.extreme_chance,
            "caution": self.caution,
            "skipped": self.tally.as_dict(),
        }


def outcome_log_probabilities(sets: ChoiceSets, c: float, *, k: float = 0.1) -> tuple[Array, npt.NDArray[np.int64]]:
    """log p(a|c) of every alternative of every set, end to end, with where each set begins. [DFH13 (2) in logs]

    The weighted extra alternative of a rule, where there is one, stands last in its set.
    """
    weighted = sets.extra_weight > 0
    counts = np.diff(sets.offsets) + weighted
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    extra = (offsets[1:] - 1)[weighted]
    logs = np.empty(offsets[-1])
    logs[np.delete(np.arange(len(logs)), extra)] = -c * scaled_losses(sets.losses, k=k)
    logs[extra] = np.log(sets.extra_weight[weighted]) - c * scaled_losses(sets.extra_loss[weighted], k=k)
    best = np.maximum.reduceat(logs, offsets[:-1])
    total = best + np.log(np.add.reduceat(np.exp(logs - np.repeat(best, counts)), offsets[:-1]))
    return logs - np.repeat(total, counts), offsets


def sequence_moments(logs: Array, offsets: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """μᵢ = Σ_a p·log p and σᵢ² = Σ_a p·(log p − μᵢ)² for each decision: the sums over i are the sequence's.

    >>> mean, variance = sequence_moments(np.log([0.5, 0.5, 0.8, 0.2]), np.array([0, 2, 4]))
    >>> mean.round(4), variance.round(4)
    (array([-0.6931, -0.5004]), array([0.    , 0.3075]))
    """
    p = np.exp(logs)
    mean = np.add.reduceat(p * logs, offsets[:-1])
    apart = logs - np.repeat(mean, np.diff(offsets))
    return np.asarray(mean), np.asarray(np.add.reduceat(p * apart**2, offsets[:-1]))


def sequence_probability(
    decisions: Decisions,
    c: float,
    model: Agent | None = None,
    *,
    elo: float | None = None,
    dispersion: float = 1.0,
    draws: int = 10_000,
    seed: int = 1,
) -> ChoiceSequence:
    """Return log Π p(aᵢ|c) of one decider's choices, and its place among the agent's own sequences. [DFHR09 VI]

    >>> batch = Decisions.from_lists(["Ann"] * 3, [[0.0, -0.1], [0.0, -0.9], [0.0, -0.5]], [0, 0, 1])
    >>> total = sequence_probability(batch, 1.0, draws=1000).total
    >>> round(float(np.exp(total.log_probability)), 4), round(total.expected, 3), round(total.percentile, 1)
    (0.0866, -1.351, 0.2)
    """
    batch, name = _one_decider(decisions)
    check_sequence(c, dispersion, draws)
    model = (model or Agent()).prepared(batch)
    if model.rule == "sampled":
        raise OptionError(
            "the rule sampled draws its extra alternative by the choice: its sequences cannot be simulated",
            hint="use the rule listed, bucket or full",
        )
    sets = model.choice_sets(batch)
    if not len(sets):
        raise InputError(f"no usable decision of {name!r}; skipped: {batch.tally + sets.tally}")
    labels, groups = _games(batch, sets)
    logs, offsets = outcome_log_probabilities(sets, c, k=model.k)
    actual = log_likelihood(sets, c, k=model.k)[:, 0]
    total, parts = sequence_parts(
        ChoiceLogs(logs, offsets, actual, groups), labels, dispersion=dispersion, draws=draws, seed=seed
    )
    tally = batch.tally + sets.tally
    return ChoiceSequence(
        decider=name,
        c=float(c),
        elo=elo,
        total=total,
        games=parts,
        dispersion=dispersion,
        draws=draws,
        seed=seed,
        about=model.about(),
        tally=tally,
    )


@dataclass(frozen=True, eq=False)
class ChoiceLogs:
    """Log-probabilities of all alternatives of choices, end to end, of those that were made, and each one's game."""

    logs: Array
    offsets: npt.NDArray[np.int64]
    actual: Array
    groups: npt.NDArray[np.int64]
    """The game of each choice, by its place among the labels."""


def sequence_parts(
    choices: ChoiceLogs, labels: Sequence[Any], *, dispersion: float, draws: int, seed: int
) -> tuple[SequencePart, list[SequencePart]]:
    """Return the whole sequence and each game of it beside what whoever has these probabilities would choose."""
    sums = _Sums(choices, len(labels))
    simulated = sums.simulated(draws, np.random.default_rng(seed))
    parts = [_part(str(label), sums, simulated[:, row], [row], dispersion) for row, label in enumerate(labels) if label]
    return _part("all", sums, simulated.sum(axis=1), range(len(labels)), dispersion), parts


class _Sums:
    """Log-probabilities by game: of the choices made, their exact moments, and draws."""

    def __init__(self, choices: ChoiceLogs, n: int) -> None:
        self.logs, self.offsets = choices.logs, choices.offsets
        self.groups, self.n = choices.groups, n
        mean, variance = sequence_moments(self.logs, self.offsets)
        self.actual = self._by_game(choices.actual)
        self.mean, self.variance = self._by_game(mean), self._by_game(variance)
        self.decisions = np.bincount(self.groups, minlength=n)

    def _by_game(self, column: Array) -> Array:
        return np.asarray(np.bincount(self.groups, weights=column, minlength=self.n), dtype=np.float64)

    def simulated(self, draws: int, rng: np.random.Generator) -> Array:
        """Return the log-probabilities of so many sequences of the agent: rows draws, columns games."""
        sets = len(self.groups)
        # Each set's cumulative probabilities lie between its number and the next: one search finds every draw.
        total = np.cumsum(np.exp(self.logs))
        cumulative = total - np.repeat(np.concatenate([[0.0], total[self.offsets[1:-1] - 1]]), np.diff(self.offsets))
        edges = np.minimum(cumulative, 1.0) + np.repeat(np.arange(sets), np.diff(self.offsets))
        found = np.empty((draws, self.n))
        step = max(1, _AT_ONCE // sets)
        for start in range(0, draws, step):
            n = min(step, draws - start)
            at = np.searchsorted(edges, rng.random((n, sets)) + np.arange(sets), side="right")
            drawn = self.logs[np.minimum(at, self.offsets[1:] - 1)]
            found[start : start + n] = _grouped_sums(drawn, self.groups, self.n)
        return found


def _grouped_sums(columns: Array, groups: npt.NDArray[np.int64], n: int) -> Array:
    """Return the sums over columns of the same group, row by row."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(n))
    return np.asarray(np.add.reduceat(columns[:, order], starts, axis=1))


def _part(label: str, sums: _Sums, simulated: Array, rows: Iterable[int], dispersion: float) -> SequencePart:
    at = list(rows)
    actual, mean = float(sums.actual[at].sum()), float(sums.mean[at].sum())
    sd = float(np.sqrt(sums.variance[at].sum()))
    # Sums of the same terms in another order differ by rounding: such draws are ties.
    apart = 1e-9 * max(1.0, abs(actual))
    percentile = float(np.mean(simulated < actual - apart) + 0.5 * np.mean(np.abs(simulated - actual) <= apart))
    z = (actual - mean) / sd if sd > 0 else 0.0
    return SequencePart(
        label=label,
        decisions=int(sums.decisions[at].sum()),
        log_probability=actual,
        expected=mean,
        sd=sd,
        percentile=percentile,
        percentile_se=_share_error(percentile, len(simulated)),
        normal=float(norm.cdf(z)),
        dispersed=float(norm.cdf(z / np.sqrt(dispersion))),
    )


def _share_error(share: float, n: int) -> float:
    """√(p̃(1 − p̃)/(n + 4)), p̃ = (n·p + 2)/(n + 4) after Agresti and Coull: never 0, as no draws prove a share of 0."""
    p = (n * share + 2) / (n + 4)
    return float(np.sqrt(p * (1 - p) / (n + 4)))


def _one_decider(decisions: Decisions) -> tuple[Decisions, str]:
    names = decisions.names()
    if len(names) != 1:
        raise InputError(f"{len(names)} deciders, and a sequence is of one", hint="select one decider's decisions")
    return decisions.at_depths(), names[0]


def check_sequence(strength: float, dispersion: float, draws: int) -> None:
    """Refuse a strength that is none, or draws that say nothing."""
    if not (np.isfinite(strength) and strength >= 0):
        raise OptionError(f"a competence or an Elo is a number from 0 on, got {strength}")
    check_dispersion(dispersion)
    if draws < 100:
        raise OptionError(f"{draws} draws say nothing of a percentile", hint="give 100 or more")


def _games(batch: Decisions, sets: ChoiceSets) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the games of the sets and each set's game; without a column `game` there is one without a name."""
    if "game" not in batch.context.column_names:
        return [None], np.zeros(len(sets), dtype=np.int64)
    labels, codes = batch.groups("game")
    used, groups = np.unique(codes[sets.row], return_inverse=True)
    return [labels[code] for code in used], groups.astype(np.int64)
