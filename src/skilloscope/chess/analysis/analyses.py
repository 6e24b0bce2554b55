"""Analyses: positions with the engine's answer to each.

In: positions, and answers by position. Out: one table of lines in which every position has its row; positions that
occur twice share one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.engine.lines import LINE, AnalysedPosition, LineArray
from skilloscope.chess.engine.settings import problem_text
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.positions import Positions
from skilloscope.core.errors import Tally

NO_ANSWER = -1
"""The row of a position without an answer."""


@dataclass(frozen=True, eq=False, repr=False)
class Analyses:
    """Positions, their answers, and where the answers come from.

    The answer of position i is `lines[offsets[row[i]]:offsets[row[i] + 1]]`: all depths, best first in each.
    """

    positions: Positions
    settings: Mapping[str, Any]
    """The key of the answers: engine, net, limit and everything else that changes them."""
    row: npt.NDArray[np.int64]
    lines: LineArray
    offsets: npt.NDArray[np.int64]
    searched: int = 0
    cached: int = 0
    imported: int = 0
    failed: int = 0
    """These four count different positions, each once; the tally counts every occurrence."""
    tally: Tally = field(default_factory=Tally)
    about: Mapping[str, Any] = field(default_factory=dict)
    given_up: npt.NDArray[np.bool_] | None = None
    """Which positions the engine failed on; None where it failed on none."""

    @classmethod
    def from_answers(
        cls, positions: Positions, settings: Mapping[str, Any], answers: Mapping[str, LineArray], **columns: Any
    ) -> Analyses:
        """Return analyses from answers by problem; a position whose problem is absent has none."""
        rows = {problem: row for row, problem in enumerate(answers)}
        rule = settings["fen_rule"]
        row = [rows.get(problem_text(fen, rule), NO_ANSWER) for fen in positions.fen.to_pylist()]
        lines = np.concatenate(list(answers.values())) if answers else np.empty(0, dtype=LINE)
        offsets = np.cumsum([0, *(len(answer) for answer in answers.values())], dtype=np.int64)
        return cls(positions, settings, np.array(row, dtype=np.int64), lines, offsets, **columns)

    @property
    def games(self) -> Games:
        """The games that the positions come from."""
        return self.positions.games

    @property
    def identity(self) -> dict[str, Any]:
        """The engine's name and net."""
        return {"engine": self.settings["engine"], "net": self.settings["net"]}

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        """Whether each position has an answer."""
        return np.not_equal(self.row, NO_ANSWER)

    @property
    def row_of_line(self) -> npt.NDArray[np.int64]:
        """The answer that each line belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def last_depths(self) -> npt.NDArray[np.int64]:
        """The deepest depth of each answer: that of the judgement."""
        last = np.zeros(len(self.offsets) - 1, dtype=np.int64)
        np.maximum.at(last, self.row_of_line, self.lines["depth"].astype(np.int64))
        return last

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"<Analyses: {int(self.answered.sum()):,} of {len(self):,} positions by {self.settings['engine']}>"

    def of_games(self, rows: npt.NDArray[np.int64]) -> Analyses:
        """Return the analyses of the games of some rows, in ascending order, as if these were the only games."""
        first, last = np.searchsorted(self.positions.game, [rows[0], rows[-1] + 1])  # positions come game by game
        own = first + np.flatnonzero(np.isin(self.positions.game[first:last], rows))
        some = self.select(own)
        game = np.searchsorted(rows, some.positions.game).astype(np.int32)
        return replace(some, positions=replace(some.positions, game=game))

    def select(self, own: npt.NDArray[np.int64]) -> Analyses:
        """Return the positions of some places with their answers."""
        given_up = None if self.given_up is None else self.given_up[own]
        return replace(self, positions=self.positions.select(own), row=self.row[own], given_up=given_up)

    def answer(self, position: int) -> LineArray:
        """Return the lines of one position; empty where there is no answer."""
        row = self.row[position]
        return self.lines[:0] if row == NO_ANSWER else self.lines[self.offsets[row] : self.offsets[row + 1]]

    def rows(self) -> Iterator[AnalysedPosition]:
        """Yield each different position with its answer, for an export."""
        _, first = np.unique(self.row[self.answered], return_index=True)
        fens, rule = self.positions.fen, self.settings["fen_rule"]
        for at in np.flatnonzero(self.answered)[np.sort(first)]:
            problem = problem_text(fens[int(at)].as_py(), rule)
            yield AnalysedPosition(problem, int(self.positions.n_legal[at]), self.answer(int(at)))
