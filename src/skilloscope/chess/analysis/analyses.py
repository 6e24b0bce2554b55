"""Analyses: positions with the engine's answer to each, what shallower question a search answers, and decisions.

An engine that deepens step by step passes through the answer of every shallower depth, unless it looks at its limit
on the way. So each engine is tried, on at least 200 positions (tools/prove_depths.py), and only what was tried is in
PROVEN. Everything but the depth must be equal, the number of lines too.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.engine.lines import LINE, AnalysedPosition, LineArray
from skilloscope.chess.engine.settings import SearchKey, problem_text
from skilloscope.chess.moves import MATE_CAP, moves_uci, value_pawns
from skilloscope.chess.pgn.facts import game_facts
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.positions import Positions
from skilloscope.core.columns import Array, Bools, Ints, encode, ragged_take
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision.decisions import LABELS, UNLISTED, Decisions
from skilloscope.store import Store

NO_ANSWER = -1  # the row of a position without an answer
PROVEN: Mapping[str, Mapping[int, int]] = {"Stockfish 15.1": {1: 16, 10: 12, 50: 10, 500: 8}}
"""The engines, and for each number of lines the deepest search that was tried: 200 positions, no line different."""


@dataclass(frozen=True, eq=False, repr=False)
class Analyses:
    """Positions, their answers, and where the answers come from.

    The answer of position i is `lines[offsets[row[i]]:offsets[row[i] + 1]]`: all depths, best first in each.
    """

    positions: Positions
    settings: SearchKey  # the key of the answers: engine, net, limit and everything else that changes them
    row: Ints
    lines: LineArray
    offsets: Ints
    searched: int = 0
    cached: int = 0
    imported: int = 0
    failed: int = 0  # these four count different positions, each once; the tally counts every occurrence
    tally: Tally = field(default_factory=Tally)
    notes: tuple[str, ...] = ()  # what a reader of the numbers must know about the answers
    given_up: Bools | None = None  # which positions the engine failed on; None where it failed on none

    @classmethod
    def from_answers(
        cls, positions: Positions, settings: SearchKey, answers: Mapping[str, LineArray], **columns: Any
    ) -> "Analyses":
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
    def about(self) -> dict[str, list[str]]:
        """The notes, for the batches of decisions that are made of the answers."""
        return {"notes": list(self.notes)} if self.notes else {}

    @property
    def identity(self) -> SearchKey:
        """The engine's name and net."""
        return {"engine": self.settings["engine"], "net": self.settings["net"]}

    @property
    def answered(self) -> Bools:
        """Whether each position has an answer."""
        return np.not_equal(self.row, NO_ANSWER)

    @property
    def row_of_line(self) -> Ints:
        """The answer that each line belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def last_depths(self) -> Ints:
        """The deepest depth of each answer: that of the judgement."""
        last = np.zeros(len(self.offsets) - 1, dtype=np.int64)
        np.maximum.at(last, self.row_of_line, self.lines["depth"].astype(np.int64))
        return last

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"<Analyses: {int(self.answered.sum()):,} of {len(self):,} positions by {self.settings['engine']}>"

    def of_games(self, rows: Ints) -> "Analyses":
        """Return the analyses of the games of some rows, in ascending order, as if these were the only games."""
        first, last = np.searchsorted(self.positions.game, [rows[0], rows[-1] + 1])  # positions come game by game
        own = first + np.flatnonzero(np.isin(self.positions.game[first:last], rows))
        some = self.select(own)
        game = np.searchsorted(rows, some.positions.game).astype(np.int32)
        return replace(some, positions=replace(some.positions, game=game))

    def select(self, own: Ints) -> "Analyses":
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


def deeper_keys(key: SearchKey, known: Iterable[SearchKey]) -> list[SearchKey]:
    """Return those of the known keys that differ from this one by a greater depth alone, the least deep first.

    >>> from skilloscope.chess.engine.settings import Settings
    >>> key = Settings(depth=6).key({"engine": "Stockfish 15.1"})
    >>> [deep["depth"] for deep in deeper_keys(key, [key | {"depth": 10}, key | {"depth": 8}, key | {"depth": 4}])]
    [8, 10]
    >>> deeper_keys(key, [key | {"depth": 8, "multipv": 20}]), deeper_keys({**key, "engine": "Other"}, [key])
    ([], [])
    """
    depth = key.get("depth")
    found = [deep for deep in known if depth and shallower_key(deep, depth) == key]
    return sorted(found, key=lambda deep: deep["depth"] or 0)


def shallower_key(key: SearchKey, depth: int) -> SearchKey | None:
    """Return the key of a shallower question that answers under this key answer too; None where none was proven."""
    tried = PROVEN.get(str(key.get("engine")), {}).get(key.get("multipv") or 0, 0)
    deep = key.get("depth")
    if key.get("options") or key.get("nodes") is not None or not deep:
        return None
    return {**key, "depth": depth} if depth < deep <= tried else None


def stored_keys(store: Store) -> list[SearchKey]:
    """Return the keys under which a store of chess analyses holds answers."""
    return cast(list[SearchKey], store.all_settings())


def shallower_lines(lines: LineArray, key: SearchKey, n_legal: int) -> LineArray | None:
    """Return the answer under the key that a deeper search holds; None where it does not."""
    depth, multipv = key.get("depth"), key.get("multipv")
    return None if depth is None or multipv is None else cut_lines(lines, depth, min(multipv, n_legal))


def cut_lines(lines: LineArray, depth: int, wanted: int) -> LineArray | None:
    """Return the lines down to a depth; None where the search did not reach it with a complete list."""
    if np.count_nonzero(lines["depth"] == depth) != wanted:
        return None
    cut: LineArray = lines[lines["depth"] <= depth]
    return cut


CONTEXT = (
    "game", "ply", "mover", "elo", "opponent", "opponent_elo", "date", "year", "event", "site", "time_control",
    "result", "fen", "clock", "move", "round", "termination", "time_class", "eco", "opening",
)  # fmt: skip
"""The context columns of decisions in chess; every one may be null."""


def decisions(
    analyses: Analyses,
    *,
    max_abs_value: float = 3.0,
    mate_cap: float = MATE_CAP,
    all_depths: bool = True,
    named_moves: bool = False,
) -> Decisions:
    """Return the decisions of all analysed positions whose best value is within ± `max_abs_value` pawns.

    A value at a shallower depth is NaN where the move was not on that depth's list. Searches by nodes end at
    different depths and have no depth axis. With `named_moves` the context column `alternatives` names every listed
    move, so that the lists of two engines can be compared.
    """
    if not isinstance(analyses, Analyses):
        raise InputError(f"{type(analyses).__name__} is not Analyses", hint="decisions(analyse(games)) gives decisions")
    answers = _Answers(analyses, mate_cap)
    player = movers(analyses.positions)
    known = pc.is_valid(player).to_numpy(zero_copy_only=False)
    best = np.abs(answers.best)
    made = answers.answered & (analyses.positions.played != 0)  # not the position after the last move
    several = analyses.positions.n_legal > 1
    keep = made & several & known & (best <= max_abs_value)
    tally = Tally()
    tally.count("forced", int(np.sum(made & ~several)))
    tally.count("unknown player", int(np.sum(made & several & ~known)))
    tally.count(decided_reason(max_abs_value), int(np.sum(made & several & known & ~keep)))
    index = np.flatnonzero(keep)
    depths = answers.depths() if all_depths else ()
    values, moves, counts = answers.table(index, depths)
    context = context_of(analyses.positions).take(pa.array(index))
    if named_moves:
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        named = pa.LargeListArray.from_arrays(pa.array(offsets), moves_uci(moves))
        context = context.append_column(LABELS, named)
    chosen = chosen_places(moves, counts, analyses.positions.played[index])
    tally = analyses.games.tally + analyses.positions.tally + analyses.tally + tally
    return Decisions.from_columns(
        encode(player.take(pa.array(index)).to_pylist()),
        values,
        counts,
        chosen,
        analyses.positions.n_legal[index],
        depths=depths,
        context=context,
        tally=tally,
        about={
            "domain": "chess",
            "settings": dict(analyses.settings),
            "mate_cap": mate_cap,
            "max_abs_value": max_abs_value,
            "skip_moves": analyses.positions.skip_moves,
            **analyses.about,
        },
    )


def decided_reason(max_abs_value: float) -> str:
    """Return the name under which decided positions are counted."""
    return f"decided (best value beyond ±{max_abs_value:g} pawns)"


class _Answers:
    """The answers as columns: for each row its last depth, best first, and a way from a move to its line."""

    def __init__(self, analyses: Analyses, mate_cap: float) -> None:
        self.analyses = analyses
        lines = analyses.lines
        self.row_of_line, self.last = analyses.row_of_line, analyses.last_depths
        self.value = value_pawns(lines["mate"], lines["score"], mate_cap)
        self.judged = np.flatnonzero(lines["depth"] == self.last[self.row_of_line])
        self.answered = analyses.answered
        best_of_row = np.full(len(analyses.offsets) - 1, -np.inf)
        np.maximum.at(best_of_row, self.row_of_line[self.judged], self.value[self.judged])
        self.best = np.full(len(analyses), np.nan)
        self.best[self.answered] = best_of_row[analyses.row[self.answered]]

    def depths(self) -> tuple[int, ...]:
        if self.analyses.settings.get("depth") is None or not len(self.analyses.lines):
            return ()
        return tuple(int(depth) for depth in np.unique(self.analyses.lines["depth"]))

    def table(
        self, index: Ints, depths: tuple[int, ...]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint16], Ints]:
        """Return values (by depth, if asked for), moves and counts of the alternatives of these positions."""
        counts = np.bincount(self.row_of_line[self.judged], minlength=len(self.last))
        offsets, flat = ragged_take(np.concatenate([[0], np.cumsum(counts)]), self.analyses.row[index])
        values = self.by_depth(depths) if depths else self.value[self.judged]
        moves = self.analyses.lines["move"][self.judged]
        return values[flat].astype(np.float32), moves[flat], np.diff(offsets)

    def by_depth(self, depths: tuple[int, ...]) -> Array:
        """Return values by depth, NaN where not listed; an early end, with a mate in hand, holds for deeper ones."""
        lines = self.analyses.lines
        key = self.row_of_line * 65536 + lines["move"]
        known = key[self.judged]
        order = np.argsort(known, kind="stable")
        found = np.searchsorted(known, key, sorter=order)
        place = order[np.minimum(found, len(order) - 1)]
        hit = known[place] == key
        table = np.full((len(self.judged), len(depths)), np.nan)
        table[place[hit], np.searchsorted(depths, lines["depth"][hit])] = self.value[hit]
        early = np.array(depths) > self.last[self.row_of_line[self.judged]][:, None]
        return np.where(early, self.value[self.judged][:, None], table)


def movers(positions: Positions) -> pa.Array:
    """Return the name of the player to move in each position, null where it is unknown."""
    return positions.games.by_mover(positions.game, positions.mover)["player"]


def chosen_places(moves: npt.NDArray[np.uint16], counts: Ints, played: npt.NDArray[np.uint16]) -> Ints:
    """Return the place of each played move in its list, or UNLISTED."""
    chosen = np.full(len(counts), UNLISTED, dtype=np.int64)
    decision = np.repeat(np.arange(len(counts)), counts)
    hits = np.flatnonzero(moves == played[decision])
    starts = np.cumsum(counts) - counts
    chosen[decision[hits]] = hits - starts[decision[hits]]
    return chosen


def context_of(positions: Positions) -> pa.Table:
    """Return the context columns of decisions in these positions."""
    clock, games = positions.clock.astype(np.float32), pa.array(positions.game)
    columns = {
        **positions.games.by_mover(positions.game, positions.mover),
        "ply": pa.array(positions.ply),
        "fen": positions.fen,
        "clock": pa.array(clock, mask=np.isnan(clock)),
        "move": moves_uci(positions.played),
        **{name: pa.array(of, type=pa.string()).take(games) for name, of in game_facts(positions.games).items()},
    }
    return pa.table({name: columns[name] for name in CONTEXT})
