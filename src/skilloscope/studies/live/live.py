"""Games in progress: snapshots of a feed in, events and the state of all boards out. No clock, no file, no engine.

In: the text of a feed whenever it has changed, and values of positions as they become known. Out: events, each a line
of `live --json`; `LiveBoards`, all boards as they are now; and, through `wanted`, the position to evaluate next and for
how long.

The state of a board follows from the last text of the feed and the values known so far, so a feed may stall, repeat
itself, correct an earlier move, take moves back or switch games: nothing has to be undone. Values are kept by position,
so that a move which comes back costs nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from skilloscope.chess.moves import MATE_CAP, value_pawns
from skilloscope.core.columns import Array
from skilloscope.core.errors import OptionError
from skilloscope.inputs.gains import FEWEST_AGREED
from skilloscope.inputs.running_elo import EloOfSides
from skilloscope.models.gain import PEAK, Curve, GainHistogram
from skilloscope.ratings.perceived import Running, running_strength
from skilloscope.report.study import Study
from skilloscope.report.table import Column, EloSoFar, ScoreDifference, Table, plural
from skilloscope.studies.game import difference_after, score_between
from skilloscope.studies.live.feed import BoardText, read_boards

SCHEMA = 2
_LIVE_GAINS = ("auto", "peak", "agreed")
_SIDES = ("white", "black")


@dataclass(frozen=True)
class EventTotal:
    """A player's strength over all boards of an event."""

    games: int
    decisions: int
    difference: ScoreDifference

    FIELDS: ClassVar = ("games", "decisions", "*difference")


@dataclass(frozen=True)
class LivePlayer:
    """One player of a board: the difference to the engine by gain, and the Elo by the moves so far."""

    player: str
    side: str
    decisions: int
    mean_gain: float | None
    difference: ScoreDifference
    strength: float | None
    """The difference added to the engine's Elo, where that is known."""
    elo: EloSoFar
    total: EventTotal
    header_elo: int | None = None
    """From which the Elo starts."""
    clock: float | None = None
    """Seconds left, where the feed says."""

    FIELDS: ClassVar = (
        "player", "side", "decisions", "mean_gain", "*difference", "strength", "*elo", "total", "header_elo", "clock",
    )  # fmt: skip

    def lines(self) -> list[str]:
        """Return difference and strength, and the Elo where it is known."""
        strength = "" if self.strength is None else f" = {self.strength:.0f}"
        gain = "–" if self.difference.expected_score is None else f"{self.difference}{strength}"
        return [gain, *([] if self.elo.axis_elo is None else [f"Elo {self.elo}"])]

    @property
    def cell(self) -> str:
        """The same as a cell of several lines, with the total over the event where that is more than this game."""
        total = [f"{plural(self.total.games, 'game')} {self.total.difference}"] if self.total.games > 1 else []
        return "\n".join([*self.lines(), *total])


@dataclass(frozen=True)
class BoardNow:
    """What holds for a board now, whichever of its moves is reported."""

    white_against_black: ScoreDifference | None
    engine_gains: str
    players: Sequence[LivePlayer]

    @property
    def score(self) -> str:
        """White's expected score against Black, by the gains of both so far."""
        found = self.white_against_black
        return "–" if found is None else f"{found.expected_score:.2f}"


@dataclass(frozen=True)
class BoardNames:
    """A board of the feed."""

    board: str
    event: str | None
    round: str | None
    white: str
    black: str


@dataclass(frozen=True)
class LiveBoard:
    """A board as it is now: its last move, its latest known evaluation, and both players' strength so far."""

    names: BoardNames
    result: str
    in_feed: bool
    moves: int
    last: str | None
    white_value_cp: int | None
    value_of_ply: int | None
    now: BoardNow

    FIELDS: ClassVar = (
        "*names", "result", "in_feed", "moves", "last", "white_value_cp", "value_of_ply", "*now",
    )  # fmt: skip

    @property
    def evaluation(self) -> str:
        """The latest known evaluation, with dots where it is not yet that of the last move."""
        if self.white_value_cp is None:
            return "–"
        late = self.value_of_ply is not None and self.value_of_ply < self.moves - 1
        return f"{self.white_value_cp / 100:+.2f}{' …' if late else ''}"


@dataclass(frozen=True, eq=False)
class LiveBoards(Study):
    """All boards of a feed as they are now."""

    boards: Sequence[LiveBoard]
    note: str = ""

    SCHEMA: ClassVar = SCHEMA
    FIELDS: ClassVar = ("boards",)
    ROWS: ClassVar = "boards"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return every board with its last move, its evaluation, and both players' strength so far."""
        columns: list[Column[LiveBoard]] = [
            Column("board", lambda one: one.names.board, label=True),
            Column("moves", lambda one: str(one.moves)),
            Column("last", lambda one: one.last or "–", label=True),
            Column("evaluation", lambda one: one.evaluation),
            Column("white to score", lambda one: one.now.score),
            Column("white", lambda one: one.now.players[0].cell),
            Column("black", lambda one: one.now.players[1].cell),
            Column("result", lambda one: one.result),
        ]
        title = "so far: Elo difference to the engine by gain; Elo by moves and their losses; 95 % intervals"
        return [Table.of(title, self.boards, columns, notes=[self.note], faded=lambda one: not one.in_feed)]


@dataclass(frozen=True)
class BoardFound:
    """A board that is followed from now on."""

    names: BoardNames
    moves: int
    result: str

    FIELDS: ClassVar = ("*names", "moves", "result")


@dataclass(frozen=True)
class Problem:
    """Something that cannot be read or evaluated."""

    problem: str


@dataclass(frozen=True)
class Correction:
    """Moves that were taken back or replaced, from a ply on."""

    ply: int
    taken_back: int
    moves: int


@dataclass(frozen=True)
class GameOver:
    """The result of a game."""

    result: str


@dataclass(frozen=True)
class MoveValued:
    """A move whose value or gain is known now, and the strength of its player after it."""

    ply: int
    number: int
    player: str
    side: str
    san: str
    value_cp: int
    white_value_cp: int
    gain_cp: int | None
    depth: int
    difference: ScoreDifference
    strength: float | None
    now: BoardNow

    FIELDS: ClassVar = (
        "ply", "number", "player", "side", "san", "value_cp", "white_value_cp", "gain_cp", "depth", "*difference",
        "strength", "*now",
    )  # fmt: skip

    def __str__(self) -> str:
        number = f"{self.number}{'.' if self.side == 'white' else '...'}"
        gain = "–" if self.gain_cp is None else f"{self.gain_cp / 100:+.2f}"
        sides = "; ".join(f"{one.player} {', '.join(one.lines())}" for one in self.now.players)
        value = f"{self.white_value_cp / 100:+.2f} (gain {gain})"
        return f"{number} {self.san} {value}; {sides}; white to score {self.now.score}"


@dataclass(frozen=True)
class Event:
    """Something that has changed, on a board or of the feed: a line of `live --json`."""

    type: str
    """`board`, `move`, `corrected`, `result`, `problem`; `left`, `back`, `stalled` or `resumed` have no details."""
    board: str | None = None
    what: BoardFound | MoveValued | Correction | GameOver | Problem | None = None
    delay_seconds: float | None = None
    """How long after the news of the feed it comes."""

    FIELDS: ClassVar = ("type", "board", "*what", "?delay_seconds")

    def __str__(self) -> str:
        match self.what:
            case BoardFound(moves=moves):
                text = f"followed, {plural(moves, 'move')} so far"
            case Correction(ply=ply, taken_back=moves):
                text = f"corrected from ply {ply} on, {plural(moves, 'move')} taken back"
            case GameOver(result=text) | Problem(problem=text):
                pass
            case what:
                text = self.type if what is None else str(what)
        return f"{self.board or 'feed'}: {text}"


@dataclass(frozen=True)
class Task:
    """A position to evaluate, for how many seconds, and whether it is new."""

    board: str
    fen: str
    seconds: float
    fresh: bool


@dataclass(frozen=True)
class PositionValue:
    """The value of a position in pawns, white's view, its depth (0: not an engine), and the engine's choice."""

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
                f"no engine gains {self.engine_gains!r} for a game in progress", hint=f"use {', '.join(_LIVE_GAINS)}"
            )


@dataclass
class _Board:
    """A board of the feed: its text, what has been reported, and how much engine time it had."""

    text: BoardText
    reported_result: str
    in_feed: bool = True
    doubted: tuple[int, ...] | None = None
    """Moves of a text that was shorter than what is known; accepted when it is seen again."""
    fresh: set[str] = field(default_factory=set)
    """Positions that came after the board was first seen, and are not evaluated yet."""
    reported: dict[int, tuple[str, int, int | None]] = field(default_factory=dict)
    """SAN, value and gain in centipawns, by ply."""
    seconds: float = 0.0


class Follower:
    """The state of all boards; feed it with `snapshot` and `valued`, ask it with `wanted` and `state`."""

    def __init__(self, how: Live | None = None, elo: EloOfSides | None = None) -> None:
        self.how = how or Live()
        self._elo = elo
        self._engine: tuple[str, GainHistogram] | None = None
        """How the engine gains, until something new is known."""
        self.boards: dict[str, _Board] = {}
        self.known: dict[str, PositionValue] = {}
        self.failed: set[str] = set()
        self.faults: dict[str, tuple[str, bool]] = {}
        """What cannot be read, by board, and whether it has been reported."""

    def snapshot(self, text: str) -> list[Event]:
        """Take the feed's text as it is now; return what has changed."""
        found = read_boards(text)
        if not found:
            return []  # a file that is being rewritten, or nothing yet
        events: list[Event] = []
        self._engine = None
        moved = [name for name, board in found.items() if name not in self.boards or self.boards[name].text != board]
        for name in found.keys() - set(moved):
            self.boards[name].doubted = None  # the shorter text has passed
        for name in moved:
            if name in self.boards:
                events += self._changed(name, found[name])
            else:
                board = found[name]
                self.boards[name] = _Board(board, board.result)
                events.append(Event("board", name, BoardFound(_names(name, board), len(board.moves), board.result)))
        for name, own in self.boards.items():
            if own.in_feed != (name in found):
                own.in_feed = name in found
                events.append(Event("back" if own.in_feed else "left", name))
        return [*events, *self._faults(found), *self._updates(moved)]

    def wanted(self) -> Task | None:
        """Return what to evaluate next: new moves first, the boards in turn, each with its share of the budget."""
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
        """Take it that a position cannot be evaluated."""
        self.failed.add(task.fen)
        self._charge(task, seconds)
        return [Event("problem", task.board, Problem(reason))]

    def finished(self) -> bool:
        """Return whether every board has a result and nothing is left to evaluate."""
        return bool(self.boards) and self.wanted() is None and all(b.text.result != "*" for b in self.boards.values())

    def state(self, note: str = "") -> LiveBoards:
        """Return all boards as they are now."""
        return LiveBoards([self._board(name, own) for name, own in self.boards.items()], note)

    def values(self, board: str) -> list[float | None]:
        """Return what is known of each position of a board in pawns, White's view; before the first move first."""
        return [None if known is None else known.value for known in self._values(self.boards[board])]

    def engine(self) -> tuple[str, GainHistogram]:
        """Return the engine's own distribution of gain as it is known now, and how it was found."""
        if self._engine is None:
            measured = self.how.engine_gains != "peak"
            agreed = [gain for own in self.boards.values() for gain in self._agreed(own)] if measured else []
            enough = len(agreed) >= (FEWEST_AGREED if self.how.engine_gains == "auto" else 1)
            self._engine = ("agreed", GainHistogram.from_gains(agreed)) if enough else ("peak", PEAK)
        return self._engine

    def _changed(self, name: str, board: BoardText) -> Iterator[Event]:
        own = self.boards[name]
        old, new = own.text.moves, board.moves
        same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        if same == len(new) < len(old) and board.result == "*" and own.doubted != new:
            own.doubted = new  # half a file, or an old text once more: accepted when it is seen again
            return
        own.doubted = None
        if same < len(old):
            yield Event("corrected", name, Correction(same, len(old) - same, len(new)))
            own.reported = {ply: what for ply, what in own.reported.items() if ply < same}
        if len(new) > same:
            # The position before the first new move is needed too, where it is not known yet.
            own.fresh |= {fen for fen in board.fens[same:] if fen not in self.known}
        own.text = board
        if board.result != own.reported_result:
            own.reported_result = board.result
            yield Event("result", name, GameOver(board.result))

    def _faults(self, found: Mapping[str, BoardText]) -> Iterator[Event]:
        """Yield what cannot be read for the second time: the first may be half a move."""
        before, self.faults = self.faults, {}
        for name, board in found.items():
            if board.fault:
                seen, reported = before.get(name, ("", False))
                if seen == board.fault and not reported:
                    yield Event("problem", name, Problem(board.fault))
                self.faults[name] = board.fault, seen == board.fault

    def _charge(self, task: Task, seconds: float) -> None:
        self.boards[task.board].seconds += seconds
        for board in self.boards.values():
            board.fresh.discard(task.fen)

    def _by_comments(self, own: _Board) -> bool:
        if self.how.values != "auto":
            return self.how.values == "comments"
        given = sum(value is not None for value in own.text.values[1:])
        return given * 2 > len(own.text.moves)

    def _missing(self, own: _Board) -> list[str]:
        """Return the positions that an engine should evaluate, in the order of play."""
        if self._by_comments(own) or not own.in_feed:
            return []
        fens = own.text.fens[:-1] if own.text.final is not None else own.text.fens
        return [fen for fen in fens if fen not in self.known and fen not in self.failed]

    def _values(self, own: _Board) -> list[PositionValue | None]:
        text, cap = own.text, self.how.mate_cap
        if self._by_comments(own):
            values = [None if one is None else PositionValue(float(np.clip(one, -cap, cap))) for one in text.values]
        else:
            values = [self.known.get(fen) for fen in text.fens]
        if text.final is not None and values[-1] is None:
            values[-1] = PositionValue(text.final * cap)
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

    def _running(self, gains: Array) -> Running:
        return running_strength(gains, self.engine()[1], curve=self.how.curve, mass=self.how.mass)

    def total(self, event: str | None, player: str) -> EventTotal:
        """Return a player's strength over all boards of an event, by the gains of all of them."""
        gains = [
            side_gains
            for own in self.boards.values()
            if own.text.event == event
            for name, (_, side_gains) in zip((own.text.white, own.text.black), self._gains(own), strict=True)
            if name == player and np.isfinite(side_gains).any()
        ]
        pooled = np.concatenate(gains) if gains else np.zeros(0)
        return EventTotal(len(gains), int(np.isfinite(pooled).sum()), _last(self._running(pooled)))

    def _board(self, name: str, own: _Board) -> LiveBoard:
        values, ply = self._values(own), len(own.text.moves)
        last = next((at for at in range(ply, -1, -1) if values[at] is not None), None)
        known = None if last is None else values[last]
        return LiveBoard(
            names=_names(name, own.text),
            result=own.text.result,
            in_feed=own.in_feed,
            moves=ply,
            last=own.text.san[-1] if ply else None,
            white_value_cp=None if known is None else round(known.value * 100),
            value_of_ply=None if last is None else last - 1,
            now=self._now(own),
        )

    def _now(self, own: _Board) -> BoardNow:
        (_, white), (_, black) = self._gains(own)
        between = score_between(white, black, curve=self.how.curve, mass=self.how.mass)
        elo = [EloSoFar()] * 2
        if self._elo is not None:
            values = [None if known is None else known.value for known in self._values(own)]
            found = self._elo(own.text.moves, own.text.fens, values, own.text.first_ply, own.text.elos)
            elo = [EloSoFar(**fields) for fields in found]
        players = [self._player(own.text, side, gains, elo[side]) for side, gains in enumerate((white, black))]
        return BoardNow(between, self.engine()[0], players)

    def _player(self, text: BoardText, side: int, gains: Array, elo: EloSoFar) -> LivePlayer:
        known, name = gains[np.isfinite(gains)], (text.white, text.black)[side]
        difference = _last(self._running(gains))
        own = [left for ply, left in enumerate(text.clocks, start=text.first_ply) if ply % 2 == side]
        return LivePlayer(
            player=name, side=_SIDES[side], decisions=len(known), mean_gain=float(known.mean()) if len(known) else
            None, difference=difference, strength=self._strength(difference), elo=elo, total=self.total(text.event,
            name), header_elo=text.elos[side], clock=next((left for left in reversed(own) if left is not None), None),
        )  # fmt: skip

    def _strength(self, difference: ScoreDifference) -> float | None:
        known, elo = difference.elo_difference, self.how.engine_elo
        return None if elo is None or known is None else elo + known

    def _updates(self, names: Iterable[str]) -> list[Event]:
        """Return an event for each move of these boards of which something new is known: its value, or its gain."""
        moves = [(name, move) for name in names for move in self._news(self.boards[name])]
        return [Event("move", name, move) for name, move in sorted(moves, key=lambda one: (one[0], one[1].ply))]

    def _news(self, own: _Board) -> Iterator[MoveValued]:
        text, values, wanted, now = own.text, self._values(own), set(self._missing(own)), None
        for side, (plies, gains) in enumerate(self._gains(own)):
            running = self._running(gains)
            for at, ply in enumerate(plies):
                after = values[ply + 1]
                if after is None or (values[ply] is None and text.fens[ply] in wanted):
                    continue  # nothing is known yet, or the gain will be as soon as the value before it is
                value, gain = (
                    round(after.value * 100),
                    round(float(gains[at]) * 100) if np.isfinite(gains[at]) else None,
                )
                if own.reported.get(ply) == (text.san[ply], value, gain):
                    continue
                own.reported[ply] = text.san[ply], value, gain
                now, difference = now or self._now(own), difference_after(running, at)
                yield MoveValued(
                    ply=ply,
                    number=(ply + text.first_ply) // 2 + 1,
                    player=(text.white, text.black)[side],
                    side=_SIDES[side],
                    san=text.san[ply],
                    value_cp=value * (1 - 2 * side),
                    white_value_cp=value,
                    gain_cp=gain,
                    depth=after.depth,
                    difference=difference,
                    strength=self._strength(difference),
                    now=now,
                )


def _last(running: Running) -> ScoreDifference:
    """Return the difference after the last move; empty where no gain is known."""
    return difference_after(running, -1) if len(running.moves) and running.moves[-1] else ScoreDifference()


def _names(name: str, board: BoardText) -> BoardNames:
    return BoardNames(name, board.event, board.round, board.white, board.black)
