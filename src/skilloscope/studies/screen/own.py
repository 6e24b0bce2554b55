"""Agreement with an engine beyond the player's own strength: the question apart from "stronger than rated".

In: one player's moves with all legal ones, the rating, and the baseline. Out: the strength the moves show, and a normal
score of how engine-like they are for people of just that strength.

    x_E(m) = log(1 + λ·(Q(m)/P_E(m) − 1)) − β·∂ log P_E(m)/∂E,   T(E) = Σ x_E(m played) − E[Σ x_E]

λ and Q are those of `statistics`. β makes T and the slope of the log-likelihood uncorrelated under P_E (an efficient
score): who is stronger or weaker than E has the same mean T. So neither an under-rated player nor one in form stands
out, only a mixture of people's moves and an engine's that nobody of any strength plays. Positions in which people and
engine choose alike add nothing. T is read at the mean of the posterior of E (prior: people of that rating; likelihood:
these moves, divided by φ), between neighbouring values of E on a grid that ends where people end.
"""

from dataclasses import dataclass

import numpy as np

from skilloscope.core.columns import Array, Ints
from skilloscope.models.joint import elo_basis, log_alternatives
from skilloscope.studies.screen.baseline import Baseline
from skilloscope.studies.screen.moves import ScreenedMoves
from skilloscope.studies.screen.saddlepoint import Cumulants, Draws, ScoreTable
from skilloscope.studies.screen.statistics import ENGINE, engine_share, index_values

STRENGTHS: Array = np.arange(1000.0, 2801.0, 150.0)
"""The strengths of people; nobody is taken to be stronger, or an engine would pass for a very strong person."""


_LIKELY = 0.1  # share from which a move is one that an engine plays


@dataclass(frozen=True, eq=False)
class OwnStrength:
    """One player's moves at each of STRENGTHS: a column for each, a row for each legal move."""

    offsets: Ints
    logs: Array  # log P
    values: Array  # x about its mean
    unit: Array  # Σ √variance, for each strength
    prior: Array
    dispersion: float
    table: ScoreTable
    """A row for each strength."""

    @classmethod
    def of(cls, moves: ScreenedMoves, baseline: Baseline) -> "OwnStrength | None":
        """Prepare the moves of one player; None without an engine."""
        choices, weights, elo = moves.choices, baseline.weights, float(moves.elo.mean())
        if choices is None or weights is None:
            return None
        n, owner, spread = len(choices), choices.owner, baseline.spreads[ENGINE]

        logs = np.stack(
            [log_alternatives(choices, weights, np.full(n, at), elo_basis(np.full(n, at))) for at in STRENGTHS], axis=1
        )
        slopes = np.gradient(logs, STRENGTHS, axis=1)
        values = np.empty_like(logs)
        for column in range(len(STRENGTHS)):
            p = np.exp(logs[:, column])
            x, slope = index_values(choices, p), slopes[:, column]
            x, slope = (one - np.add.reduceat(p * one, choices.offsets[:-1])[owner] for one in (x, slope))
            values[:, column] = x - (p * x * slope).sum() / (p * slope**2).sum() * slope
        # Each strength is a group of all moves.
        size, cells = len(STRENGTHS), len(owner)
        starts = (choices.offsets[:-1] + np.arange(size)[:, None] * cells).ravel()
        draws = Draws(np.append(starts, size * cells), np.exp(logs).T.ravel(), values.T.ravel())
        group = np.repeat(np.arange(size), n)
        unit = np.bincount(group, np.sqrt(draws.variance), size).astype(float)
        cumulants = Cumulants.of(draws, group, size, dispersion=spread.dispersion)
        table = cumulants.table(spread.person_sd * unit, baseline.offset(ENGINE, STRENGTHS) * unit)
        prior = baseline.strength.log_density(elo, STRENGTHS)
        return cls(choices.offsets, logs, values, unit, prior, dispersion=spread.dispersion, table=table)

    def played(self, moves: ScreenedMoves) -> tuple[float, float, Array]:
        """Return the normal score of the moves as they were played, the strength that they show, and what each adds."""
        assert moves.choices is not None
        places = self.offsets[:-1] + moves.choices.chosen
        (z,), (own,) = self.z(places[None])
        return float(z), float(own), self.values[places, np.abs(STRENGTHS - own).argmin()]

    def agreement(self, moves: ScreenedMoves, elo: float) -> Array:
        """Return how much more each move is an engine's than expected at a strength; 0 where it would not play it."""
        assert moves.choices is not None
        places = self.offsets[:-1] + moves.choices.chosen
        p = np.exp(self.logs[:, np.abs(STRENGTHS - elo).argmin()])
        x = index_values(moves.choices, p)
        beyond = x[places] - np.add.reduceat(p * x, self.offsets[:-1])
        return np.where(engine_share(moves.choices)[places] >= _LIKELY, beyond, 0.0)

    def strength(self, places: Ints, weight: Array | float = 1.0) -> Array:
        """Return the strength that moves show, given by their places among all legal ones: a row for each player."""
        curve = (self.logs[places] * np.asarray(weight)[..., None]).sum(axis=1) / self.dispersion + self.prior
        density = np.exp(curve - curve.max(axis=1, keepdims=True))
        return np.asarray(density @ STRENGTHS / density.sum(axis=1))

    def z(self, places: Ints, weight: Array | float = 1.0, style: Array | float = 0.0) -> tuple[Array, Array]:
        """Return the normal scores and the strengths of players who made these moves: a row of places for each.

        `weight` is how often each move counts, `style` what stays with each player, in units.
        """
        sums = (self.values[places] * np.asarray(weight)[..., None]).sum(axis=1)
        sums = sums + np.asarray(style)[..., None] * self.unit
        own = self.strength(places, weight)
        scores = np.stack([self.table.of(row, sums[:, row]) for row in range(len(STRENGTHS))], axis=1)
        shares = np.maximum(1 - np.abs(own[:, None] - STRENGTHS) / (STRENGTHS[1] - STRENGTHS[0]), 0.0)
        return (shares * scores).sum(axis=1), own
