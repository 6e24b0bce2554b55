"""Choices of people: what people of any Elo play, what an engine says of the alternatives, and both in one choice.

A model of people gives four coefficients L of each alternative m once; every Elo E is then free:

    logit(m, E) = Σ_j b_j(E)·L_j(m),   b = (1, x, x² − ½, x³ − x),   x = (E − 2100) / 450

and p(m | E) is a softmax over exactly the alternatives of the decision. The joint choice model adds an engine:

    z(m, E) = v(E)·log p(m | E) − Σ_d w_d(E)·√δ_d(m) − u(E)·[m is not listed],   P(m | E) = softmax of z over all m

p is a model of people's choices, given by coefficients of a basis in E; δ_d is the scaled loss of the alternative after
d plies of thought; v, w_d and u are lines in E. Alternatives that the judge did not list count as the worst listed one,
and share what is left as people do. Without losses the model is p itself; without p it is a choice by losses alone.

People err more in some positions than in others of like losses. Adjustments add

    a·log p(m | E) − b·√δ(m) − c·min(δ(m), 3)

to z, with δ at the last depth. a, b and c are sums: a parabola in Elo with a knee at 1600, and broken lines in the
number of the move, in the material left and in the value before the move. So people play first moves that they know
and hardly ever blunder there, the side that stands worse takes more care, the winning side the shortest way.

Evaluation scaling: a pawn matters less the more decided the game is. [RH11 sect. 5]

In: decisions with values in pawns, the decider's view. Out: the same decisions with scaled values; the loss of an
alternative is then ∫ ℓ(z) dz from its value to the best one. The paper never defines ℓ; ours is ℓ(z) = 1/(1 + a|z|),
with a = 1 the choice of its authors' later work, a = 0 no scaling, or a fitted so that losses are flat.

The integral of ℓ is one increasing function of the value, so scaling a batch is one function of a column, and the order
of the alternatives never changes. The naive difference of logarithms of |z| does: it gives negative losses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import About, Array, Bools, Ints, ragged_take
from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions
from skilloscope.models.kernels.choices import N_BASIS, add_joint_curves

_LARGEST = 50.0
_LEAST = 1e-300


def scaled_value(value: npt.ArrayLike, a: float) -> Array:
    """∫_0^v ℓ(z) dz with ℓ(z) = 1/(1 + a|z|): sign(v)·log(1 + a|v|)/a, and v itself where a = 0. [RH11 sect. 5]"""
    if not (np.isfinite(a) and a >= 0):
        raise OptionError(f"the scaling a is a number that is not negative, got {a}")
    at = np.asarray(value, dtype=float)
    if a == 0:
        return at
    reduced = a * np.abs(at)
    # A product below all normal numbers has lost its digits; the logarithm is then the product itself.
    return np.where(reduced < _LEAST, at, np.sign(at) * np.log1p(reduced) / a)


def scaled_loss(best: npt.ArrayLike, value: npt.ArrayLike, a: float = 1.0) -> Array:
    """δ = ∫ ℓ(z) dz from the value to the best one, the decider's view. [RH11 sect. 5]

    >>> round(float(scaled_loss(0.50, 0.50 - 1.25)), 4)
    0.9651
    """
    return scaled_value(best, a) - scaled_value(value, a)


def scaled_decisions(decisions: Decisions, a: float = 1.0) -> Decisions:
    """Return the decisions with every value scaled, at every depth; what was left out before stays left out.

    Filters come first, and by the best value before the decision, never by the chosen one.
    """
    if a == 0:
        return decisions
    if "scaling" in decisions.about:
        raise InputError(f"the values are scaled already (a = {decisions.about['scaling']:g})")
    values = scaled_value(decisions.values, a)
    beyond = decisions.unlisted_value
    return replace(
        decisions,
        values=values,
        unlisted_value=None if beyond is None else scaled_value(beyond, a),
        about={**decisions.about, "scaling": a},
    )


@dataclass(frozen=True, eq=False)
class Flatness:
    """The mean loss of choices by the evaluation before them: what the figure before and after shows."""

    a: float
    centres: Array
    mean_loss: Array
    sd: Array  # standard error of each mean
    decisions: Ints

    @property
    def ratio(self) -> float:
        """Mean loss where the evaluation is beyond a pawn and a half over that within half a pawn: 1 where flat."""
        size, total = np.abs(self.centres), self.mean_loss * self.decisions
        far, near = size > 1.5, size < 0.5
        return float(total[far].sum() / self.decisions[far].sum() / (total[near].sum() / self.decisions[near].sum()))


def flatness(decisions: Decisions, a: float, *, bins: int = 12, reach: float = 3.0) -> Flatness:
    """Return the mean scaled loss of the listed choices in equal bins of the best value before the decision."""
    listed = decisions.listed
    best = decisions.best.astype(float)[listed]
    loss = scaled_loss(best, best - decisions.chosen_loss()[listed], a)
    edges = np.linspace(-reach, reach, bins + 1)
    place = np.clip(np.digitize(best, edges) - 1, 0, bins - 1)
    n = np.bincount(place, minlength=bins)
    mean = np.bincount(place, loss, bins) / np.maximum(n, 1)
    spread = np.bincount(place, (loss - mean[place]) ** 2, bins) / np.maximum(n - 1, 1)
    return Flatness(a, 0.5 * (edges[1:] + edges[:-1]), mean, np.sqrt(spread / np.maximum(n, 1)), n)


def fit_scaling(decisions: Decisions) -> float:
    """Return the a at which the scaled loss of the listed choices has no slope in |evaluation|.

    The slope falls as a grows. 0 where losses do not grow with |evaluation| in the first place.
    """
    from scipy.optimize import brentq  # slow to load, and scaling is needed everywhere

    listed = decisions.listed
    best = decisions.best.astype(float)[listed]
    value = best - decisions.chosen_loss()[listed]
    if len(best) < 2 or np.ptp(np.abs(best)) == 0:
        raise InputError("a scaling needs decisions with different evaluations", hint="give a itself, 1 for instance")
    centred = np.abs(best) - np.abs(best).mean()

    def slope(a: float) -> float:
        loss = scaled_loss(best, value, a)
        return float(centred @ loss / (loss.mean() or 1.0))

    if slope(0.0) <= 0:
        return 0.0
    if slope(_LARGEST) >= 0:
        raise InputError(
            f"no scaling up to a = {_LARGEST:g} makes the losses flat", hint="give a itself, 1 for instance"
        )
    return float(brentq(slope, 0.0, _LARGEST, xtol=1e-6))


ELO_RANGE = (700.0, 3000.0)
"""Where the cubic in Elo may be evaluated; the ratings of the training data lie between 700 and 2900."""
ONLINE_RANGE = (400.0, 3300.0)  # the same for the ratings of servers


def elo_range(pool: str) -> tuple[float, float]:
    """Return the ratings of a pool that the model knows."""
    return ELO_RANGE if pool == "fide" else ONLINE_RANGE


AXIS_SHARE, AXIS_KNEE, AXIS_WIDTH = 0.35, 1550.0, 80.0
"""The network shrinks ratings below about 1500 towards the middle, where most games are; fitted on held-out players."""


@dataclass(frozen=True, eq=False, repr=False)
class HumanChoices:
    """All alternatives of many decisions, four coefficients each: decision i owns offsets[i]:offsets[i + 1]."""

    offsets: Ints
    moves: npt.NDArray[np.uint16]  # a code for each alternative; in chess from + 64·to + 4096·promotion
    coefficients: npt.NDArray[np.float32]
    elo_range: tuple[float, float] = ELO_RANGE

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<HumanChoices: {len(self):,} positions, {len(self.moves):,} legal moves>"

    @classmethod
    def concat(cls, parts: "Sequence[HumanChoices]") -> "HumanChoices":
        """Return the choices of all parts, one after another."""
        return cls(
            np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part.offsets) for part in parts)])),
            np.concatenate([np.zeros(0, dtype=np.uint16), *(part.moves for part in parts)]),
            np.concatenate([np.zeros((0, N_BASIS), dtype=np.float32), *(part.coefficients for part in parts)]),
            parts[0].elo_range if parts else ELO_RANGE,
        )

    def take(self, rows: Ints) -> "HumanChoices":
        """Return the choices of some decisions, in the order given."""
        offsets, entries = ragged_take(self.offsets, rows)
        return replace(self, offsets=offsets, moves=self.moves[entries], coefficients=self.coefficients[entries])

    def log_probabilities(self, elo: npt.ArrayLike) -> Array:
        """Return log p of every alternative, a column for each Elo."""
        logits = self.coefficients.astype(np.float64) @ elo_basis(elo).T
        return np.asarray(logits - np.repeat(log_sums(logits, self.offsets), np.diff(self.offsets), axis=0))

    def own_log_probabilities(self, elo: Array) -> Array:
        """Return log p of every alternative, each decision at an Elo of its own."""
        counts = np.diff(self.offsets)
        logits = (self.coefficients.astype(np.float64) * np.repeat(elo_basis(elo), counts, axis=0)).sum(axis=1)
        return np.asarray(logits - np.repeat(log_sums(logits, self.offsets), counts)) if len(self) else logits

    def index_of(self, moves: npt.NDArray[np.uint16]) -> Ints:
        """Return the place of one code per decision among its alternatives; −1 where it is not one of them."""
        counts = np.diff(self.offsets)
        hit = self.moves == np.repeat(np.asarray(moves, dtype=np.uint16), counts)
        out = np.full(len(self), -1, dtype=np.int64)
        rows = np.repeat(np.arange(len(self)), counts)[hit]
        out[rows] = np.flatnonzero(hit) - self.offsets[rows]
        return out


def log_sums(z: Array, offsets: Ints) -> Array:
    """Return log Σ exp z over the alternatives of each decision, column by column where there are several."""
    top = np.maximum.reduceat(z, offsets[:-1])
    total = np.add.reduceat(np.exp(z - np.repeat(top, np.diff(offsets), axis=0)), offsets[:-1])
    return np.asarray(top + np.log(total))


def network_elo(elo: npt.ArrayLike) -> Array:
    """E + 0.35·80·log(1 + exp((1550 − E) / 80)): the Elo at which the network plays as people rated E do.

    >>> network_elo([1200, 1600, 2400]).round().tolist()
    [1323.0, 1612.0, 2400.0]
    """
    rated = np.atleast_1d(np.asarray(elo, dtype=np.float64))
    return np.asarray(rated + AXIS_SHARE * AXIS_WIDTH * np.logaddexp(0.0, (AXIS_KNEE - rated) / AXIS_WIDTH))


def elo_basis(elo: npt.ArrayLike) -> Array:
    """b(E) = (1, x, x² − ½, x³ − x) with x = (E − 2100) / 450 and E the network's: a row for each Elo."""
    x = (network_elo(elo) - 2100.0) / 450.0
    return np.stack([np.ones_like(x), x, x * x - 0.5, x * x * x - x], axis=1)


def checked_elo(elo: float | Sequence[float], within: tuple[float, float] = ELO_RANGE) -> list[float]:
    """Return the Elos as a list; refuse those outside the model's range."""
    levels = [float(level) for level in np.atleast_1d(np.asarray(elo, dtype=np.float64))]
    low, high = within
    for level in levels:
        if not low <= level <= high:
            raise OptionError(f"the human model knows Elo {low:.0f} to {high:.0f}, not {level:g}")
    return levels


ORIGIN, UNIT = 2100.0, 450.0  # weights are lines in x = (Elo − ORIGIN) / UNIT
PARTS = ("human", "root", "loss")  # what adjustments multiply: log p, −√δ and −min(δ, 3)
KNOTS = {
    "move": (3.0, 8.0, 13.0, 20.0, 40.0),
    "pieces": (0.0, 20.0, 40.0, 62.0),
    "value": (-10.0, -6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0, 10.0),
}
"""Where the broken lines are given: number of the move, value of all pieces, the mover's value in pawns."""
CONTEXT = tuple(f"{name} {knot:g}" for name, knots in KNOTS.items() for knot in knots)
BENDS = ("Elo", "Elo^2", "below 1600")
_LOW_ELO = 1600.0
MOST_LOSS = 3.0


def context_columns(context: npt.ArrayLike) -> Array:
    """Return for each decision how much of each broken line every knot of CONTEXT says; outside, the last one.

    >>> [CONTEXT[at] for at in np.flatnonzero(context_columns([[30, 62, -20]])[0])]
    ['move 20', 'move 40', 'pieces 62', 'value -10']
    """
    columns: list[Array] = []
    for at, knots in zip(np.asarray(context, dtype=float).T, KNOTS.values(), strict=True):
        for hat in np.eye(len(knots)):
            columns.append(np.interp(at, knots, hat))
    return np.stack(columns, axis=1)


def elo_terms(elo: npt.ArrayLike) -> Array:
    """Return 1, x, x² and what lies below 1600, a row for each Elo."""
    x = (np.asarray(elo, dtype=float) - ORIGIN) / UNIT
    return np.stack([np.ones_like(x), x, x * x, np.maximum((_LOW_ELO - ORIGIN) / UNIT - x, 0.0)], axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class JointChoices:
    """Choices among all alternatives: decision i owns offsets[i]:offsets[i + 1] of the columns."""

    offsets: Ints
    chosen: Ints  # the place of the choice among the decision's own alternatives
    human: npt.NDArray[np.float32]
    """Coefficients of log p, up to a constant a decision: a column for each function of the basis."""
    roots: npt.NDArray[np.float32]  # √δ_d, a column for each depth; of unlisted alternatives the worst listed one's
    listed: Bools
    context: Array | None = None
    """Move number, value of all pieces and value before the move of each decision; only adjustments read it."""

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        return f"<JointChoices: {len(self):,} decisions, {len(self.listed):,} alternatives>"

    @property
    def owner(self) -> Ints:
        """The decision of each alternative."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def select(self, wanted: Bools) -> "JointChoices":
        """Return some of the decisions."""
        offsets, entries = ragged_take(self.offsets, np.flatnonzero(wanted))
        context = None if self.context is None else self.context[wanted]
        return JointChoices(
            offsets, self.chosen[wanted], self.human[entries], self.roots[entries], self.listed[entries], context
        )

    @classmethod
    def concat(cls, parts: "Sequence[JointChoices]") -> "JointChoices":
        """Return the choices of several as one."""
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        known = [part.context for part in parts if part.context is not None]
        return cls(
            np.append(0, np.cumsum(counts)),
            np.concatenate([part.chosen for part in parts]),
            np.concatenate([part.human for part in parts]),
            np.concatenate([part.roots for part in parts]),
            np.concatenate([part.listed for part in parts]),
            np.concatenate(known) if known else None,
        )


@dataclass(frozen=True)
class JointWeights:
    """The lines v, w_d and u, each a pair (value at ORIGIN, slope in x), and the adjustments."""

    depths: tuple[int, ...]
    losses: tuple[tuple[float, float], ...]
    human: tuple[float, float] = (1.0, 0.0)
    unlisted: tuple[float, float] = (0.0, 0.0)
    adjustments: tuple[tuple[float, ...], ...] = ()
    """Of each of PARTS the weights of BENDS and CONTEXT; none where there are none."""

    def __post_init__(self) -> None:
        if len(self.depths) != len(self.losses) or min(self.depths, default=1) < 1 or max(self.depths, default=1) > 99:
            raise InputError(f"{len(self.losses)} weights for the depths {self.depths}")
        if self.adjustments and np.shape(self.adjustments) != (len(PARTS), len(BENDS) + len(CONTEXT)):
            raise InputError(f"adjustments are {len(PARTS)} rows of {len(BENDS) + len(CONTEXT)} numbers")

    def as_dict(self) -> About:
        """Return the weights for JSON."""
        pairs = {"human": list(self.human), "unlisted": list(self.unlisted)}
        adjusted = {"adjustments": [list(row) for row in self.adjustments]} if self.adjustments else {}
        return {"depths": list(self.depths), "losses": [list(pair) for pair in self.losses], **pairs, **adjusted}

    def lines(self, choices: JointChoices) -> tuple[Array, Array]:
        """Return weights of `elo_terms`: of each of PARTS in each decision, and of all of z that is not log p.

        The first say what log p is multiplied by and how far losses are adjusted, the others are of each alternative.
        """
        if choices.roots.shape[1] != len(self.depths):
            raise InputError(f"{choices.roots.shape[1]} depths of losses, the weights are for {len(self.depths)}")
        counts = np.diff(choices.offsets)
        shares, z = np.zeros((len(PARTS), len(counts), 4)), np.zeros((len(choices.listed), 4))
        z[:, :2] = -(choices.roots.astype(float) @ np.array(self.losses).reshape(-1, 2))
        z[:, :2] -= (~choices.listed).astype(float)[:, None] * np.array(self.unlisted)
        if self.adjustments:
            if choices.context is None:
                raise InputError("adjustments need the context of the decisions")
            weights, last = np.array(self.adjustments), choices.roots[:, -1:].astype(float)
            shares[:, :, 0] = weights[:, len(BENDS) :] @ context_columns(choices.context).T
            shares[:, :, 1:] = weights[:, None, : len(BENDS)]
            _, root, loss = np.repeat(shares, counts, axis=1)
            z -= last * root + np.minimum(last**2, MOST_LOSS) * loss
        shares[0, :, :2] += self.human
        return shares, z


def scaled_roots(best: npt.ArrayLike, value: npt.ArrayLike) -> Array:
    """Return √δ with δ = ∫ dz/(1 + |z|) from the value to the best: a pawn matters less the more decided the game is.

    >>> scaled_roots(0.0, [0.0, -1.0]).round(4).tolist()
    [0.0, 0.8326]
    """
    return np.asarray(np.sqrt(np.maximum(scaled_loss(best, value), 0.0)))


def log_choice(choices: JointChoices, weights: JointWeights, elo: npt.ArrayLike, basis: Array) -> Array:
    """Return log P of each choice, its decider's Elo given; `basis` has a row a decision."""
    return np.asarray(log_alternatives(choices, weights, elo, basis)[choices.offsets[:-1] + choices.chosen])


def log_alternatives(choices: JointChoices, weights: JointWeights, elo: npt.ArrayLike, basis: Array) -> Array:
    """Return log P of every alternative, the decider's Elo given; `basis` has a row a decision."""
    owner, terms = choices.owner, np.broadcast_to(elo_terms(elo), (len(choices), 1 + len(BENDS)))
    (human, *_), lines = weights.lines(choices)
    z = (human * terms).sum(axis=1)[owner] * log_people(choices, basis) + (lines * terms[owner]).sum(axis=1)
    return np.asarray(z - log_sums(z, choices.offsets)[owner])


def joint_curves(
    choices: JointChoices, weights: JointWeights, groups: Ints, n_groups: int, elo: Array, basis: Array
) -> Array:
    """Return Σ log P of each group's choices at every Elo (a column, and a row of the basis)."""
    out = np.zeros((n_groups, len(elo)))
    (human, *_), lines = weights.lines(choices)
    columns = (choices.offsets, choices.chosen, choices.human, human, lines, np.asarray(groups))
    add_joint_curves(*columns, elo_terms(elo), np.ascontiguousarray(basis), out)
    return out


def log_people(choices: JointChoices, basis: Array) -> Array:
    """Return log p of every alternative by the model of people's choices alone; `basis` has a row a decision."""
    owner = choices.owner
    people = (choices.human.astype(float) * basis[owner]).sum(axis=1)
    return np.asarray(people - log_sums(people, choices.offsets)[owner])
