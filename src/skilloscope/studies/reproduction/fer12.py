"""FER12: the gains of Figure 1 from its printed evaluations, through the same reader as any annotated game."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skilloscope.studies.reproduction.harness import Budget, Entry, Row, paper_table, printed
from skilloscope.studies.shipped import game_of_the_century

__all__ = ["FER12_ENTRIES"]


def _gains(_: Budget) -> Sequence[Row]:
    from skilloscope.chess.annotations import losses_from_comments

    losses = losses_from_comments(game_of_the_century())
    assert losses.context is not None
    gains = dict(zip(losses.context.column("ply").to_pylist(), losses.gain.tolist(), strict=True))
    return [
        Row(_label(line), printed(line["gain"]), gains.get(int(line["ply"]))) for line in paper_table("FER12_figure_1")
    ]


def _averages(budget: Budget) -> Sequence[Row]:
    """The mean gains of section 3; Byrne's first gain stands on an evaluation that the figure does not print."""
    rows = list(zip(paper_table("FER12_figure_1"), _gains(budget), strict=True))

    def mean(player: str) -> tuple[float, float]:
        own = [row for line, row in rows if line["player"] == player]
        known = [row.ours for row in own if row.ours is not None]
        return float(np.mean(known)), (len(own) - len(known)) * 0.86 / max(len(known), 1)

    byrne, slack = mean("Byrne")
    return [
        Row("Fischer, mean gain (printed: approximately 0.10)", printed("0.10"), mean("Fischer")[0], 0.005),
        Row("Byrne, mean gain (40 of 41 moves)", printed("-0.86"), byrne, slack),
    ]


def _label(line: dict[str, str]) -> str:
    number = int(line["ply"]) // 2 + 1
    return f"{number}{'.' if int(line['ply']) % 2 == 0 else '...'} {line['move']}"


FER12_ENTRIES = (
    Entry(
        "FER12.figure1",
        "Figure 1: the gain of every move from the printed evaluations",
        _gains,
        "The evaluation of the starting position is not printed, so the first gain cannot be computed: –.",
    ),
    Entry(
        "FER12.averages",
        "Section 3: mean gain per move of both players",
        _averages,
        "Byrne's first move is left out (no evaluation before it); the tolerance holds what it can do to the mean.",
    ),
)
