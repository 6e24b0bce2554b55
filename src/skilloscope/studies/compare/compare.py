"""Two sets of decisions of one decider, before and after: two posteriors, their difference, which is stronger.

In: two batches (a split by date or by a column, or two tables). Out: `Comparisons`, one for each decider in both.
[DFH13 VII.C, figure 8b] shows two densities; what is added is the probability that the second is the greater c, the
interval of the difference, and the caution that such a figure needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.polynomial import chebyshev

from skilloscope.core.checks import check_dispersion
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.inference import Evidence, EvidenceTable, Posterior, Prior, Uniform, evidence
from skilloscope.inference.posterior import difference, probability_greater
from skilloscope.models.agent import Agent

SCHEMA = 1
_CAUTION = (
    "The split must be chosen before the decisions are looked at. A date that was picked because play seemed to change "
    "there finds a change in records of pure chance.",
    "Other things differ between two sets of decisions: opponents, positions, time controls, age and health. The "
    "figure says that the choices differ, not why.",
    "It is a probability of the agent's c under this model and prior. It is evidence, never a verdict on a person.",
)


@dataclass(frozen=True, eq=False)
class ComparedSide:
    """One of the two sets: its label, how much there is of it, and the posterior of c that it gives."""

    label: str
    games: int
    decisions: int
    posterior: Posterior

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return c with sd and interval, as every report sends them."""
        counted = {"label": self.label, "games": self.games, "decisions": self.decisions}
        return {**counted, **self.posterior.c_fields(mass)}


@dataclass(frozen=True, eq=False)
class Comparison:
    """One decider before and after: both sides, the posterior of the difference, and which is probably stronger."""

    decider: str
    first: ComparedSide
    second: ComparedSide
    difference: Posterior
    """Of second minus first."""
    probability: float
    """That the second c is greater than the first."""

    def as_dict(self, mass: float, elo_per_c: float | None = None) -> dict[str, Any]:
        """Return one comparison as every report sends it; in Elo too, where a scale says what c is worth."""
        low, high = self.difference.interval(mass)
        elo = None
        if elo_per_c is not None:
            elo = {
                "difference": elo_per_c * self.difference.mean,
                "low": elo_per_c * low,
                "high": elo_per_c * high,
            }
        return {
            "decider": self.decider,
            "first": self.first.as_dict(mass),
            "second": self.second.as_dict(mass),
            "difference": self.difference.mean,
            "low": low,
            "high": high,
            "second_stronger": self.probability,
            "elo": elo,
        }


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All comparisons that were made, with the dispersion under which the evidence was read, and the caution."""

    comparisons: Sequence[Comparison]
    unpaired: Sequence[str]
    """Deciders with usable decisions in one of the two sets only."""
    dispersion: float
    prior: str
    mass: float
    about: Mapping[str, Any]
    tally: Tally
    elo_per_c: float | None = None
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def caution(self) -> list[str]:
        """What must be said beside the figures."""
        told = list(_CAUTION)
        if self.dispersion == 1.0:
            told.append("Games of one player scatter more than the agent alone would; no dispersion was allowed for.")
        else:
            told.append(
                f"Games scatter more than the agent alone would; all evidence was divided by a dispersion of "
                f"{self.dispersion:.2f}, which widens the posteriors."
            )
        if len(self.comparisons) > 1:
            told.append(
                f"{len(self.comparisons):,} comparisons were made. Where nothing changed, one in forty shows a "
                "probability beyond 97.5 %, and one in forty below 2.5 %."
            )
        return [*told, *self.notes]

    def as_dict(self) -> dict[str, Any]:
        """Return what `compare --json` sends."""
        return {
            "schema": SCHEMA,
            "model": dict(self.about),
            "prior": self.prior,
            "mass": self.mass,
            "dispersion": self.dispersion,
            "comparisons": [found.as_dict(self.mass, self.elo_per_c) for found in self.comparisons],
            "unpaired": list(self.unpaired),
            "caution": self.caution,
            "skipped": self.tally.as_dict(),
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.compare.figures import comparisons_figures

        return comparisons_figures(self)


def compare(
    first: Decisions,
    second: Decisions,
    model: Agent | None = None,
    *,
    labels: tuple[str, str] = ("first", "second"),
    prior: Prior | None = None,
    dispersion: float | None = 1.0,
    mass: float = 0.95,
    elo_per_c: float | None = None,
) -> Comparisons:
    """Compare the decisions of everybody who is in both sets; a single decider in each is one comparison by itself.

    The evidence is divided by the `dispersion`; None fits it to the scatter between games.

    >>> before = Decisions.from_lists(["Ann"] * 8, [[0.0, -0.5]] * 8, [0, 1, 0, 1, 0, 1, 0, 1])
    >>> after = Decisions.from_lists(["Ann"] * 8, [[0.0, -0.5]] * 8, [0, 0, 0, 1, 0, 0, 0, 1])
    >>> found = compare(before, after).comparisons[0]
    >>> round(found.probability, 3), round(found.difference.mean, 2)
    (0.804, 0.44)
    """
    if dispersion is not None:
        check_dispersion(dispersion)
    prior = prior or Uniform(0.0, 4.0)
    together = _together(first, second)
    table = evidence(together, model, by=["part", "decider", "game"], span=(prior.low, prior.high))
    rows = _rows_of_sides(table)
    paired = {name: sides for name, sides in rows.items() if sides[0] and sides[1]}
    if not paired:
        raise InputError("nobody has usable decisions in both sets", hint=f"left out: {table.tally}")
    if dispersion is None:
        dispersion = game_dispersion(table, [side for sides in paired.values() for side in sides])
    found = []
    for name, sides in paired.items():
        first_side, second_side = (
            _side(table, side, label, dispersion, prior) for side, label in zip(sides, labels, strict=True)
        )
        found.append(_comparison(name, first_side, second_side))
    unpaired = [name for name in rows if name not in paired]
    return Comparisons(
        comparisons=found,
        unpaired=unpaired,
        dispersion=dispersion,
        prior=str(prior),
        mass=mass,
        about=table.about,
        tally=table.tally,
        elo_per_c=elo_per_c,
    )


def game_dispersion(table: EvidenceTable, groups: Sequence[Sequence[int]]) -> float:
    """φ = Σ score² / Σ information · G/(G − groups) over the games of groups with a c of their own each; at least 1.

    Under the model alone a game's score has its information as variance. What games scatter beyond that is φ.
    """
    squares, information, games = 0.0, 0.0, 0
    for rows in groups:
        if any(table.labels[row][2] is None for row in rows):
            raise InputError("the scatter between games is not known without a column `game`", hint="give a number")
        score, bend = _slopes(table, rows)
        squares, information, games = squares + float((score**2).sum()), information + bend, games + len(rows)
    if games <= len(groups):
        raise InputError("the scatter between games needs more than one game on a side", hint="give a number")
    if information <= 0:  # every choice was between alternatives of one worth
        return 1.0
    return max(1.0, squares / information * games / (games - len(groups)))


def _slopes(table: EvidenceTable, rows: Sequence[int]) -> tuple[np.ndarray[Any, np.dtype[np.float64]], float]:
    """Return each game's score and the information of all at the c that makes the group likeliest."""
    grid, curves = table.grid, table.curves[list(rows)]
    fine = np.linspace(grid.low, grid.high, 2001)
    best = float(fine[int(np.argmax(grid.interpolate(curves.sum(axis=0), fine)))])
    half = 0.5 * (grid.high - grid.low)
    coefficients, unit = grid.coefficients(curves.T), (best - grid.low) / half - 1.0
    score = chebyshev.chebval(unit, chebyshev.chebder(coefficients)) / half
    bend = -chebyshev.chebval(unit, chebyshev.chebder(coefficients, 2)).sum() / half**2
    return np.asarray(score), float(bend)


def _together(first: Decisions, second: Decisions) -> Decisions:
    """Return both sets as one batch with the columns `part` and `game`; one decider in each is one and the same."""
    parts = [batch.at_depths() for batch in (first, second)]
    names = [batch.names() for batch in parts]
    if all(len(known) == 1 for known in names):
        one = names[0][0] if names[0] == names[1] else f"{names[0][0]} and {names[1][0]}"
        parts = [replace(b, deciders=(one,), decider=np.zeros(len(b), dtype=np.int32)) for b in parts]
    batch = Decisions.concat(parts)
    game = batch.context.column("game") if "game" in batch.context.column_names else pa.nulls(len(batch))
    part = np.repeat([0, 1], [len(parts[0]), len(parts[1])])
    return replace(batch, context=pa.table({"part": part, "game": game}))


def _rows_of_sides(table: EvidenceTable) -> dict[str, tuple[list[int], list[int]]]:
    """Return for everybody the rows of evidence (one a game) of the first and of the second set."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for row, (part, name, _) in enumerate(table.labels):
        if table.decisions[row] > 0:
            found.setdefault(name, ([], []))[part].append(row)
    return found


def _side(table: EvidenceTable, rows: Sequence[int], label: str, dispersion: float, prior: Prior) -> ComparedSide:
    total = Evidence(table.grid, table.curves[list(rows)].sum(axis=0), int(table.decisions[list(rows)].sum()))
    games = sum(table.labels[row][2] is not None for row in rows)
    return ComparedSide(label, games, total.decisions, total.tempered(dispersion).posterior(prior))


def _comparison(name: str, first: ComparedSide, second: ComparedSide) -> Comparison:
    change = difference(second.posterior, first.posterior)
    return Comparison(name, first, second, change, probability_greater(second.posterior, first.posterior))
