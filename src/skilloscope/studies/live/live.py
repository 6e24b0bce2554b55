"""Games while they are played: snapshots of a feed in, events out. No clock, no file, no engine: those are elsewhere.

In: the text of a feed whenever it has changed, and values of positions as they become known. Out: events, each a dict
that `live --json` writes as a line; and, through `wanted`, the position that should be valued next and for how long.

What a board shows follows from the feed's last text and the values known so far, so a feed may stall, repeat itself,
correct an earlier move, take moves back or switch games: nothing has to be undone. Values are kept by position, so
that a move which comes back costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.engine.lines import MATE_CAP, value_pawns
from skilloscope.core.errors import OptionError
from skilloscope.models.gain import PEAK, Curve, GainHistogram
from skilloscope.ratings.gain.perceived import Running, running_strength
from skilloscope.sources.gains import FEWEST_AGREED
from skilloscope.sources.running_elo import UNKNOWN, EloOfSides
from skilloscope.studies.game.game import between_fields, difference_fields, interval_fields
from skilloscope.studies.live.feed import BoardText, read_boards

SCHEMA = 2
Event = dict[str, Any]

_LIVE_GAINS = ("auto", "peak", "agreed")
_SIDES = ("white", "black")
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """A position to value, for how many seconds, and whether somebody waits for it."""

    board: str
    fen: str
    seconds: float
    fresh: bool


@dataclass(frozen=True)
class PositionValue:
    """What a position is worth in pawns, white's view, the depth that said so (0: not an engine), and its choice."""

    value: float
    depth: int = 0
    choice: int = 0
    """The engine's own move, 0 where it is not known."""


@dataclass(frozen=True)
class Live:
    """How games are followed: the time for new moves, whose values count, and the engine's own strength."""

    budget_seconds: float = 0.2
    least_seconds: float = 0.01
    values: str = "auto"
    mate_cap: float = MATE_CAP
    engine_gains: str = "peak"
    """`peak`, `agreed` (from the moves on all boards that are its own choice), or `auto`, agreed when it can."""
    engine_elo: float | None = None
    curve: Curve = "normal"
    mass: float = 0.95

    def __post_init__(self) -> None:
        if self.engine_gains not in _LIVE_GAINS:
            raise OptionError(
                f"no engine gains {self.engine_gains!r} in a game that is being played",
                hint=f"they are {', '.join(_LIVE_GAINS)}",
            )


@dataclass
class _Board:
    """A board of the feed: its text, what has been said of it, and how much engine time it had."""

    text: BoardText
    in_feed: bool = True
    doubted: tuple[int, ...] | None = None
    """Moves of a text that was shorter than what is known; believed when it is seen again."""
    fresh: set[str] = field(default_factory=set)
    """Positions that came after the board was first seen, and are not valued yet."""
    said: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """What was said of each ply."""
    said_result: str = "*"
    seconds: float = 0.0


class Follower:
    """The state of all boards; feed it with `snapshot` and `valued`, ask it with `wanted` and `table`."""

    def __init__(self, how: Live | None = None, elo: EloOfSides | None = None) -> None:
        self.how = how or Live()
        self._elo = elo
        self._engine: tuple[str, GainHistogram] | None = None
        """How the engine gains, until something new is known."""
        self.boards: dict[str, _Board] = {}
        self.known: dict[str, PositionValue] = {}
        self.failed: set[str] = set()
        self.faults: dict[str, str] = {}

    def snapshot(self, text: str) -> list[Event]:
        """Take the feed's text as it is now; return what has changed."""
        found = read_boards(text)
        if not found:
            return []  # a file that is being written again, or nothing yet
        events: list[Event] = []
        self._engine = None
        moved = [name for name, board in found.items() if name not in self.boards or self.boards[name].text != board]
        for name in found.keys() - set(moved):
            self.boards[name].doubted = None  # the shorter text has passed
        for name in moved:
            events += self._new(name, found[name]) if name not in self.boards else self._changed(name, found[name])
        for name, own in self.boards.items():
            if own.in_feed != (name in found):
                own.in_feed = name in found
                events.append({"type": "back" if own.in_feed else "left", "board": name})
        return [*events, *self._faults(found), *self._updates(moved)]

    def wanted(self) -> Task | None:
        """Return what should be valued next: new moves first, the boards in turn, each with its share of the budget."""
        waiting = {name: self._missing(own) for name, own in self.boards.items()}
        fresh = {name: [f for f in fens if f in self.boards[name].fresh] for name, fens in waiting.items()}
        urgent = sum(len(fens) for fens in fresh.values())
        pool = fresh if urgent else waiting
        names = [name for name, fens in pool.items() if fens]
        if not names:
            return None
        name = min(names, key=lambda one: self.boards[one].seconds)
        share = self.how.budget_seconds / max(urgent, 1)
        # The last position first: it is on the board now.
        return Task(name, pool[name][-1], max(share, self.how.least_seconds), bool(urgent))

    def valued(
        self, task: Task, *, mate: bool, score: int, depth: int, seconds: float = 0.0, choice: int = 0
    ) -> list[Event]:
        """Take an engine's answer to a task, its raw score in the mover's view; return what has changed."""
        pawns = float(value_pawns(mate, score, self.how.mate_cap))
        self.known[task.fen] = PositionValue(pawns if task.fen.split(" ")[1] == "w" else -pawns, depth, choice)
        self._engine = None
        self._charge(task, seconds)
        return self._updates([name for name, own in self.boards.items() if task.fen in own.text.fens])

    def gave_up(self, task: Task, reason: str, seconds: float = 0.0) -> list[Event]:
        """Take it that a position cannot be valued."""
        self.failed.add(task.fen)
        self._charge(task, seconds)
        return [{"type": "problem", "board": task.board, "problem": reason}]

    def finished(self) -> bool:
        """Return whether every board has a result and nothing is left to value."""
        return bool(self.boards) and self.wanted() is None and all(b.text.result != "*" for b in self.boards.values())

    def table(self) -> list[Event]:
        """Return all boards as they stand."""
        rows = []
        for name, own in self.boards.items():
            values, ply = self._values(own), len(own.text.moves)
            last = next((at for at in range(ply, -1, -1) if values[at] is not None), None)
            known = None if last is None else values[last]
            rows.append(
                {
                    **_names(name, own.text),
                    "result": own.text.result,
                    "in_feed": own.in_feed,
                    "moves": ply,
                    "last": own.text.san[-1] if ply else None,
                    "white_value_cp": None if known is None else round(known.value * 100),
                    "value_of_ply": None if last is None else last - 1,
                    "white_against_black": self._between(own),
                    "engine_gains": self.engine()[0],
                    "players": self._players(own),
                }
            )
        return rows

    def engine(self) -> tuple[str, GainHistogram]:
        """Return the engine's own distribution of gain as it is known now, and how it was found."""
        if self._engine is None:
            measured = self.how.engine_gains != "peak"
            agreed = [gain for own in self.boards.values() for gain in self._agreed(own)] if measured else []
            enough = len(agreed) >= (FEWEST_AGREED if self.how.engine_gains == "auto" else 1)
            self._engine = ("agreed", GainHistogram.from_gains(agreed)) if enough else ("peak", PEAK)
        return self._engine

    def _new(self, name: str, board: BoardText) -> list[Event]:
        self.boards[name] = _Board(board, said_result=board.result)
        moves = len(board.moves)
        return [{"type": "board", **_names(name, board), "moves": moves, "result": board.result}]

    def _changed(self, name: str, board: BoardText) -> list[Event]:
        own = self.boards[name]
        old, new = own.text.moves, board.moves
        same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        events: list[Event] = []
        if same == len(new) < len(old) and board.result == "*" and own.doubted != new:
            own.doubted = new  # half a file, or an old text once more: believed when it stands
            return []
        own.doubted = None
        if same < len(old):
            said = {"type": "corrected", "board": name, "ply": same, "taken_back": len(old) - same}
            events.append({**said, "moves": len(new)})
            own.said = {ply: what for ply, what in own.said.items() if ply < same}
        if len(new) > same:
            # The position before the first new move is needed too, where it is not known yet.
            own.fresh |= {fen for fen in board.fens[same:] if fen not in self.known}
        own.text = board
        if board.result != own.said_result:
            own.said_result = board.result
            events.append({"type": "result", "board": name, "result": board.result})
        return events

    def _faults(self, found: Mapping[str, BoardText]) -> Iterator[Event]:
        """Yield what cannot be read and stands so for the second time: the first may be half a move."""
        now = {name: board.fault for name, board in found.items() if board.fault}
        for name, fault in now.items():
            if self.faults.get(name) == fault:
                yield {"type": "problem", "board": name, "problem": fault}
                now[name] = f"said: {fault}"
            elif self.faults.get(name) == f"said: {fault}":
                now[name] = f"said: {fault}"
        self.faults = now

    def _charge(self, task: Task, seconds: float) -> None:
        own = self.boards[task.board]
        own.seconds += seconds
        for board in self.boards.values():
            board.fresh.discard(task.fen)

    def _by_comments(self, own: _Board) -> bool:
        if self.how.values != "auto":
            return self.how.values == "comments"
        given = sum(value is not None for value in own.text.values[1:])
        return given * 2 > len(own.text.moves)

    def _missing(self, own: _Board) -> list[str]:
        """Return the positions that an engine should value, in the order of play."""
        if self._by_comments(own) or not own.in_feed:
            return []
        fens = own.text.fens[:-1] if own.text.final is not None else own.text.fens
        return [fen for fen in fens if fen not in self.known and fen not in self.failed]

    def _values(self, own: _Board) -> list[PositionValue | None]:
        text = own.text
        if self._by_comments(own):
            cap = self.how.mate_cap
            known = (None if value is None else float(np.clip(value, -cap, cap)) for value in text.values)
            values = [None if value is None else PositionValue(value) for value in known]
        else:
            values = [self.known.get(fen) for fen in text.fens]
        if text.final is not None and values[-1] is None:
            values[-1] = PositionValue(text.final * self.how.mate_cap)
        return values

    def _gains(self, own: _Board) -> list[tuple[list[int], Array]]:
        """Return for White and Black the plies and the gains in pawns, NaN where unknown."""
        values = [np.nan if known is None else known.value for known in self._values(own)]
        gains = np.round(np.diff(values), 9) if len(values) > 1 else np.zeros(0)
        sides = []
        for side in (0, 1):
            plies = [ply for ply in range(len(gains)) if (ply + own.text.first_ply) % 2 == side]
            sides.append((plies, gains[plies] * (1 - 2 * side)))
        return sides

    def _agreed(self, own: _Board) -> list[float]:
        """Return the known gains of the moves that are the engine's own choice."""
        values, text = self._values(own), own.text
        return [
            float(gain)
            for plies, gains in self._gains(own)
            for ply, gain in zip(plies, gains.tolist(), strict=True)
            if np.isfinite(gain) and (before := values[ply]) is not None and before.choice == text.moves[ply]
        ]

    def _sides(self, own: _Board) -> list[tuple[list[int], Running, list[float]]]:
        """Return for White and Black the plies, the running strength, and the gains in pawns."""
        _, engine = self.engine()
        how = self.how
        return [
            (plies, running_strength(gains, engine, curve=how.curve, mass=how.mass), gains.tolist())
            for plies, gains in self._gains(own)
        ]

    def _between(self, own: _Board) -> Event | None:
        """Return White's expected score against Black now, by the gains of both so far."""
        (_, white), (_, black) = self._gains(own)
        return between_fields(white, black, self.how.curve, self.how.mass)

    def total(self, event: str | None, player: str) -> Event:
        """Return a player's strength over all boards of an event, by the gains of all of them."""
        gains = [
            side_gains
            for own in self.boards.values()
            if own.text.event == event
            for name, (_, side_gains) in zip((own.text.white, own.text.black), self._gains(own), strict=True)
            if name == player and np.isfinite(side_gains).any()
        ]
        pooled = np.concatenate(gains) if gains else np.zeros(0)
        running = running_strength(pooled, self.engine()[1], curve=self.how.curve, mass=self.how.mass)
        return {"games": len(gains), "decisions": int(np.isfinite(pooled).sum()), **_last(running)}

    def _players(self, own: _Board) -> list[Event]:
        players, text = [], own.text
        elo = [dict(UNKNOWN)] * 2 if self._elo is None else self._elo_of(own)
        for side, (_, running, gains) in enumerate(self._sides(own)):
            known = [gain for gain in gains if np.isfinite(gain)]
            name = (text.white, text.black)[side]
            last = _last(running)
            players.append(
                {
                    "player": name,
                    "side": _SIDES[side],
                    "decisions": len(known),
                    "mean_gain": float(np.mean(known)) if known else None,
                    **last,
                    "strength": self._strength(last["elo_difference"]),
                    **elo[side],
                    "total": self.total(text.event, name),
                }
            )
        return players

    def _elo_of(self, own: _Board) -> list[Event]:
        assert self._elo is not None
        values = [None if known is None else known.value for known in self._values(own)]
        return self._elo(own.text.moves, own.text.fens, values, own.text.first_ply)

    def _strength(self, d: float | None) -> float | None:
        return None if self.how.engine_elo is None or d is None else self.how.engine_elo + d

    def _now(self, own: _Board) -> Event:
        """Return what holds of a board now, whichever move of it is told."""
        kind = self.engine()[0]
        return {"white_against_black": self._between(own), "engine_gains": kind, "players": self._players(own)}

    def _updates(self, names: Iterable[str]) -> list[Event]:
        """Return a line for each move of these boards of which something new is known: its value, or its gain."""
        events = []
        for name in names:
            own = self.boards[name]
            values, sides, wanted = self._values(own), self._sides(own), set(self._missing(own))
            now: Event = {}
            for side, (plies, running, gains) in enumerate(sides):
                for at, ply in enumerate(plies):
                    after = values[ply + 1]
                    if after is None or (values[ply] is None and own.text.fens[ply] in wanted):
                        continue  # nothing is known yet, or the gain will be as soon as the value before it is
                    gain = round(gains[at] * 100) if np.isfinite(gains[at]) else None
                    what = (own.text.san[ply], round(after.value * 100), gain)
                    if own.said.get(ply) == what:
                        continue
                    own.said[ply] = what
                    now = now or self._now(own)
                    fields = difference_fields(float(running.expected_score[at]), float(running.elo_difference[at]))
                    fields |= interval_fields(running, at)
                    events.append({**_move(name, own.text, ply, side, what, after.depth), **fields})
                    events[-1] |= {"strength": self._strength(fields["elo_difference"]), **now}
        return sorted(events, key=lambda event: (event["board"], event["ply"]))


def _last(running: Running) -> Event:
    """Return a side's expected score, difference and interval after its last move; nothing where no gain is known."""
    if not len(running.moves) or not running.moves[-1]:
        return {**difference_fields(np.nan, np.nan), "low": None, "high": None}
    p, d = float(running.expected_score[-1]), float(running.elo_difference[-1])
    return {**difference_fields(p, d), **interval_fields(running, -1)}


def _names(name: str, board: BoardText) -> Event:
    return {"board": name, "event": board.event, "round": board.round, "white": board.white, "black": board.black}


def _move(name: str, board: BoardText, ply: int, side: int, what: tuple[Any, ...], depth: int) -> Event:
    san, white_value, gain = what
    return {
        "type": "move",
        "board": name,
        "ply": ply,
        "number": (ply + board.first_ply) // 2 + 1,
        "player": (board.white, board.black)[side],
        "side": _SIDES[side],
        "san": san,
        "value_cp": white_value * (1 - 2 * side),
        "white_value_cp": white_value,
        "gain_cp": gain,
        "depth": depth,
    }
