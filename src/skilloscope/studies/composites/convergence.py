"""Convergence: the posterior of one c as decisions come in, beside the spread between games that no amount removes.

In: decisions of one group, in their order. Out: densities, means and sds at chosen numbers of decisions. The evidence
of the pieces between two checkpoints is made once; the checkpoints are its partial sums. [DFHR09 V.C, Figure 2;
DFH13 VI.B, Figure 3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.inference import Evidence, EvidenceTable, Grid, Posterior, evidence
from skilloscope.models.agent import Agent
from skilloscope.studies.composites.game_evidence import PlayerGames
from skilloscope.studies.composites.spread import Spread, between_spread
from skilloscope.studies.rate.rate import group_name


@dataclass(frozen=True, eq=False)
class Step:
    """The posterior after so many decisions."""

    decisions: int
    c: Posterior

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return the step as reports send it."""
        low, high = self.c.interval(mass)
        return {"decisions": self.decisions, "c": self.c.mean, "sd": self.c.sd, "low": low, "high": high}


@dataclass(frozen=True, eq=False)
class Convergence:
    """One group's posterior at growing numbers of decisions, and the spread between its games."""

    name: str
    """Whose decisions: a group's name, or all."""
    steps: Sequence[Step]
    spread: Spread | None
    mass: float = 0.95

    def as_dict(self) -> dict[str, Any]:
        """Return what `composites --convergence --json` sends."""
        return {
            "group": self.name,
            "steps": [step.as_dict(self.mass) for step in self.steps],
            "between_games": dict(self.spread.as_dict()) if self.spread else None,
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.composites.figures import convergence_figures

        return convergence_figures(self)


def checkpoints(n: int) -> list[int]:
    """Return 10, 30, 100, 300 … as far as they are clearly below n, and n itself.

    >>> checkpoints(450), checkpoints(110)
    ([10, 30, 100, 300, 450], [10, 30, 110])
    """
    found = [m * 10**e for e in range(1, 12) for m in (1, 3) if m * 10**e < 0.8 * n]
    return [*found, n]


def partial_sums(table: EvidenceTable) -> list[Evidence]:
    """Return the evidence of the first row, of the first two, and so on: cumulative sums, nothing read again."""
    curves, counts = np.cumsum(table.curves, axis=0), np.cumsum(table.decisions)
    return [
        Evidence(table.grid, curve, int(n), about=table.about) for curve, n in zip(curves, counts.tolist(), strict=True)
    ]


def convergence(
    decisions: Decisions,
    model: Agent | None = None,
    grid: Grid | None = None,
    *,
    name: str = "all",
    at: Sequence[int] = (),
    spread: Spread | None = None,
    mass: float = 0.95,
) -> Convergence:
    """Return the posterior at the checkpoints (10, 30, 100 … and all, unless given) of decisions in their order.

    >>> batch = Decisions.from_lists(["Ann"] * 40, [[0.0, -0.1]] * 40, [0] * 40)
    >>> [step.decisions for step in convergence(batch).steps]
    [10, 30, 40]
    """
    model = (model or Agent()).prepared(decisions)
    usable = np.zeros(len(decisions), dtype=bool)
    usable[model.choice_sets(decisions).row] = True
    total = int(usable.sum())
    wanted = sorted({int(n) for n in at if 0 < n < total} | {total}) if len(at) else checkpoints(total)
    if not total:
        raise InputError(f"no usable decision in the group {name}")
    piece = np.searchsorted(wanted, np.cumsum(usable) - 1, side="right").clip(max=len(wanted) - 1)
    table = _ordered(evidence(_in_pieces(decisions, piece), model, grid, by="piece"))
    steps = [Step(part.decisions, part.posterior()) for part in partial_sums(table)]
    return Convergence(name, steps, spread, mass)


def group_convergence(
    decisions: Decisions, rows: PlayerGames, label: Any, model: Agent | None = None, *, mass: float = 0.95
) -> Convergence:
    """Return the convergence of one group with the spread between its games, where it has three player-games."""
    labels, codes = decisions.groups(rows.by)
    own = rows.of(label)
    spread = between_spread(own.table, mass=mass) if own.has_games and len(own) >= 3 else None
    batch = decisions.select(codes == labels.index(label))
    return convergence(batch, model, rows.table.grid, name=group_name(label), spread=spread, mass=mass)


def _in_pieces(decisions: Decisions, piece: npt.NDArray[np.int64]) -> Decisions:
    return replace(decisions, context=pa.table({"piece": pa.array(piece)}))


def _ordered(table: EvidenceTable) -> EvidenceTable:
    """Return the pieces in their order; those before the first usable decision have none and come first."""
    order = np.argsort(np.array(table.labels))
    return EvidenceTable(
        table.grid,
        [table.labels[i] for i in order],
        table.curves[order],
        table.decisions[order],
        table.tally,
        table.about,
    )
