"""RH11's control: move match and average difference from one line a position, by group. [RH11 sect. 5]

In: losses of games that an engine has valued before and after every move, and whether each move was its first choice.
Out: for each group the share of first choices, and what the other moves lost, over all moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow.compute as pc

from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Losses
from skilloscope.models.scaling import scaled_loss
from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import skipped_line


@dataclass(frozen=True)
class SinglePV:
    """The control of one group."""

    label: Any
    moves: int
    match: float
    """The share of moves that are the engine's first choice."""
    average_difference: float
    """What moves that differ from it lost, on the scaled axis, over all moves."""
    rising: int
    """Moves that differ, after which the evaluation stood higher than before: they count as no loss."""
    tally: Tally = field(default_factory=Tally)

    def as_dict(self) -> dict[str, Any]:
        """Return the row as the command sends it."""
        names = ("moves", "match", "average_difference", "rising")
        return {"group": self.label, **{name: getattr(self, name) for name in names}}


def single_pv(
    losses: Losses, *, by: str = "decider", first_move: int = 9, max_abs_value: float = 3.0, scaling: float = 1.0
) -> list[SinglePV]:
    """Return match and average difference of each group, from move 9 and within ±3 pawns. [RH11 sect. 5]

    A match is the engine's first choice played, whatever the evaluation does afterwards. The cut is by the evaluation
    before the move, so that it does not depend on the move.
    """
    if "first_choice" not in losses.context.column_names:
        raise InputError(
            "these evaluations do not say which move the engine prefers",
            hint="comments do not; have the games searched: --values engine",
        )
    batch = losses
    if "ply" in losses.context.column_names:
        ply = losses.context.column("ply").to_numpy()
        batch = losses.select(ply // 2 + 1 >= first_move, reason=f"before move {first_move}")
    batch = batch.select(np.abs(batch.before) <= max_abs_value, reason=f"decided (beyond ±{max_abs_value:g} pawns)")
    known = pc.is_valid(batch.context.column("first_choice")).to_numpy()
    batch = batch.select(known, reason="first choice unknown")
    return [_row(label, own, scaling, batch.tally) for label, own in batch.group_by(by).items()]


def _row(label: Any, own: Losses, scaling: float, tally: Tally) -> SinglePV:
    differs = ~own.context.column("first_choice").to_numpy().astype(bool)
    loss = np.where(differs, scaled_loss(own.before, own.after, scaling), 0.0)
    return SinglePV(
        label,
        len(own),
        float((~differs).mean()),
        float(np.maximum(loss, 0.0).mean()),
        int((loss < 0).sum()),
        tally,
    )


def control_report(rows: list[SinglePV], *, by: str, scaling: float, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dict that the command sends, the best match first."""
    tally = rows[0].tally if rows else Tally()
    ordered = sorted(rows, key=lambda row: (-row.match, str(row.label)))
    return {
        "schema": 1,
        "by": by,
        "scaling": scaling,
        "engine": dict(settings),
        "groups": [row.as_dict() for row in ordered],
        "skipped": tally.as_dict(),
    }


def control_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of the control."""
    rows = [
        [
            "unknown" if row["group"] is None else str(row["group"]),
            f"{row['moves']:,}",
            f"{100 * row['match']:.1f} %",
            f"{row['average_difference']:.3f}",
            f"{row['rising']:,}",
        ]
        for row in report["groups"]
    ]
    notes = [
        skipped_line(sum(row["moves"] for row in report["groups"]), report["skipped"]),
        "match: the engine's first choice was played; ad: what other moves lost, on the scaled axis, over all moves; "
        "rising: moves after which the evaluation stood higher, counted as no loss",
    ]
    title = f"Single-line control, RH11 section 5 (scaling {report['scaling']:g})"
    return Sheet(title, [report["by"], "moves", "match", "ad", "rising"], rows, notes)
