"""Player-games: the evidence of each player in each game, from which every question of DFH13 VI is answered.

In: decisions. Out: one curve per group, game and side, made in one pass; composites, convergence, the spread between
games and the split by result add these curves up and never read a decision again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.inference import EvidenceTable, Grid, evidence
from skilloscope.models.agent import Agent
from skilloscope.ratings.mileposts import MILEPOST

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlayerGames:
    """One row of evidence for each group, game and side; `result` is the player's score, NaN where it is unknown."""

    by: str
    table: EvidenceTable
    group: Sequence[Any]
    game: Sequence[Any]
    """The game of each row; all None where the decisions do not say."""
    result: Array

    def __len__(self) -> int:
        return len(self.table)

    @property
    def has_games(self) -> bool:
        """Whether the decisions say in which game they were made."""
        return any(game is not None for game in self.game)

    def labels(self) -> list[Any]:
        """Return the groups, in their own order where they have one."""
        distinct = list(dict.fromkeys(self.group))
        known = [label for label in distinct if label is not None]
        with suppress(TypeError):  # labels of several kinds stay as they came
            known = sorted(known)
        return known + ([None] if len(known) < len(distinct) else [])

    def of(self, label: Any) -> PlayerGames:
        """Return the rows of one group that have any usable decision."""
        rows = [i for i, own in enumerate(self.group) if own == label and self.table.decisions[i] > 0]
        if not rows:
            raise InputError(f"no usable decision of a group {label!r}", hint=f"the groups: {self.labels()}")
        table = EvidenceTable(
            self.table.grid,
            [self.table.labels[i] for i in rows],
            self.table.curves[rows],
            self.table.decisions[rows],
            self.table.tally,
            self.table.about,
        )
        return PlayerGames(
            self.by, table, [self.group[i] for i in rows], [self.game[i] for i in rows], self.result[rows]
        )


def player_games(
    decisions: Decisions,
    model: Agent | None = None,
    grid: Grid | None = None,
    *,
    by: str = MILEPOST,
    span: tuple[float, float] = (0.0, 4.0),
) -> PlayerGames:
    """Return the evidence of each group, game and side; decisions without games are one row per group and decider."""
    known = decisions.context.column_names
    side = "mover" if "mover" in known else "decider"
    names = [by, "game", side] if "game" in known else [by, side]
    table = evidence(decisions, model, grid, by=names, span=span)
    _, codes = decisions.groups(names)
    first = np.unique(codes, return_index=True)[1]
    result = np.full(len(table), np.nan)
    if "result" in known and "game" in known and pa.types.is_floating(decisions.column("result").type):
        result = pc.fill_null(decisions.column("result"), np.nan).to_numpy()[first]
    games = [label[1] if "game" in known else None for label in table.labels]
    return PlayerGames(by, table, [label[0] for label in table.labels], games, result)
