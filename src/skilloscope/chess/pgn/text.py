"""The readable PGN reader: lines of text cut into games, each game played through python-chess, its faults named.

The compiled reader gives the same for most games; what it leaves comes here. Every word is either understood or named
in a fault, and what comes before it is kept. Reading takes time in proportion to the length of the text: no pattern
tries one piece of it twice.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypedDict

import chess
import numpy as np
import pyarrow as pa

from skilloscope.chess.moves import make_move, move_code, position_fen
from skilloscope.core.errors import Tally
from skilloscope.core.files import DAMAGE, MOST_LINE

NO_MATE = int(np.iinfo(np.int16).min)  # the entry of a column of mates where no mate is given; 0 is one: [%eval #0]
_TAG = re.compile(r'\[\s*(\w+)\s+"(.*)"\s*\]')
_ONE_TAG = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_OPENS = re.compile(r"[{;]")
_TOKEN = re.compile(r"\{[^}]*\}?|;[^\n]*|\$\d+|[()]|[^\s{}();$]+")
_NUMBER = re.compile(r"^(?:\d+$|\d*(?:\.+|…))")
_RESULTS = {"1-0": "1-0", "0-1": "0-1", "1/2-1/2": "1/2-1/2", "½-½": "1/2-1/2", "1/2": "1/2-1/2", "*": "*"}
_GLYPH = re.compile(r"N|D|=|\+/?-|-/?\+|\+/?=|=/?\+|[±∓⩲⩱∞□]|e\.p\.|ep")
_NULL_MOVES = {"--", "Z0", "0000", "@@@@"}
_MAYBE_CUT = re.compile(r"[a-hx1-8]*[18]|O-O|0-0")
_CLOCK = re.compile(r"\[%clk\s++(\d++):(\d++):(\d++(?:\.\d*+)?+)\s*+\]")
_EVAL = re.compile(r"\[%eval\s++(?:#([+-]?\d++)|([+-]?(?:\d++(?:\.\d*+)?+|\.\d++)))(?:,\d++)?+\s*+\]")
_MOST_DIGITS = 9  # of a number in a comment; as many seconds are thirty years
UNKNOWN_TEXT = frozenset({"", "?", "-"})
UNKNOWN_NAMES = UNKNOWN_TEXT | {"NN", "N.N.", "N. N."}  # nomen nescio: not one player of many games
_STANDARD = {"", "standard", "normal", "chess", "from position", "fromposition", "classical", "?"}
_CHESS960 = {"chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random", "freestyle", "freestyle chess"}
_TAG_RESULTS = {"1-0", "0-1", "1/2-1/2"}
_MOST_MOVES = 10_000  # no game lasts longer, and a FEN may say any number


class PlainWork:
    """How much work plain code does in this process before its compiled twin, its equal to the bit, is fetched.

    What counts is the work so far and not the clock, so that a run is always the same. Many small pieces count as one
    large one, and once compiled code was fetched there is no way back.
    """

    over = False  # whether compiled code is to do everything from now on, in all places

    def __init__(self, amount: int) -> None:
        self._left = amount

    def covers(self, work: int) -> bool:
        """Return whether plain code is to do so much more work."""
        self._left = 0 if PlainWork.over or work >= self._left else self._left - work
        return self._left > 0


class GameHeader(TypedDict, total=False):
    """A row of HEADERS, still without the id of its game."""

    file: str
    index: int
    white: str | None
    black: str | None
    white_elo: int | None
    black_elo: int | None
    date: str | None
    year: int | None
    event: str | None
    site: str | None
    round: str | None
    result: str
    eco: str | None
    time_control: str | None
    termination: str | None
    start_fen: str | None
    start_eval: float | None
    start_mate: int | None


_NUMBERS = {"index": pa.int32(), "white_elo": pa.int32(), "black_elo": pa.int32(), "year": pa.int32()}
_NUMBERS |= {"start_eval": pa.float64(), "start_mate": pa.int16()}
HEADERS = pa.schema([(name, _NUMBERS.get(name, pa.string())) for name in ("game", *GameHeader.__annotations__)])
"""The columns of a game's header; whatever is unknown is null, and so is `start_fen` of the usual position.

`start_eval` (pawns) and `start_mate` (moves) are the evaluation in a comment before the first move, white's view."""


@dataclass
class RawGame:
    """A game as text: its tags, its movetext, and the lines of it that are neither."""

    tags: dict[str, str] = field(default_factory=dict)
    movetext: list[str] = field(default_factory=list)
    faults: list[tuple[str, str, str]] = field(default_factory=list)
    """Reason, place and detail of each line that could not be read."""
    cut: int = 0  # the line of words that follow its last moves after a blank line, if there are such

    def __bool__(self) -> bool:
        return bool(self.tags or self.movetext or self.faults)


@dataclass
class MainLine:
    """The moves that were played as far as they can be read; clocks and evaluations are those after each move."""

    moves: list[int] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)
    evals: list[float] = field(default_factory=list)
    mates: list[int] = field(default_factory=list)
    start_fen: str | None = None  # the position that the game starts from; None where it is the usual one
    start_eval: float | None = None
    """The evaluation in a comment before the first move: of the position that the game starts from."""
    start_mate: int | None = None
    result: str | None = None
    fault: tuple[str, str, str] | None = None  # reason, place ("move 17, black") and detail, where reading ended early
    end: int | None = None  # where the text goes on after the result: with another game without tags, if with anything
    comments: list[tuple[int, str]] = field(default_factory=list)
    """The texts of the comments, each with the number of moves before it."""
    odd: list[tuple[str, str, str]] = field(default_factory=list)
    """Reason, place and detail of each comment whose number no clock and no engine has ever shown."""


def split_games(lines: Iterable[str], first_line: int = 1) -> Iterator[RawGame]:
    """Yield the games of a stream, lines numbered from `first_line`.

    As in python-chess, a tag after moves begins a game, and so do words after a blank line that follows moves; a
    repeated tag does, too. A line that begins with % or ; counts as no words.

    >>> [game.tags for game in split_games(['[White "A"]', "", "1. e4 *", '[White "B"]', "1. d4 *"])]
    [{'White': 'A'}, {'White': 'B'}]
    """
    game, inside, size = RawGame(), False, 0
    words = parted = False  # of this game: whether there was a line of them, and then a blank one
    try:
        for number, line in enumerate(lines, start=first_line):
            text = line.strip().lstrip("\ufeff")
            parted = parted or (words and not inside and not line.strip())
            if "\x00" in text:
                game.faults.append(("binary data", f"line {number}", ""))
                continue
            # A comment that is never closed must not swallow the games behind it.
            if text.startswith("[") and (not inside or text.startswith("[Event ")):
                tags = read_tags(text)
                if parted or (tags and (game.movetext or tags.keys() & game.tags.keys())):
                    yield game
                    game, inside, size = RawGame(), False, 0
                    words = parted = False
                game.tags.update(tags)
                if tags:
                    continue
                if not game.movetext:
                    game.faults.append(("unreadable tag", f"line {number}", text[:40]))
                    continue
            if text and not (line.startswith("%") and not inside):
                if parted and not line.startswith(";"):
                    game.cut = number
                    yield game
                    game, size, parted = RawGame(), 0, False
                words = words or inside or not line.startswith(";")
                size += len(text)
                if size <= MOST_LINE:
                    game.movetext.append(text)
                elif size - len(text) <= MOST_LINE:
                    game.faults.append(("game too long", f"line {number}", f"more than {MOST_LINE:,} characters"))
                inside = _comment_open(text, inside)
    except DAMAGE:  # what was read of the last game counts, and then the damage is raised
        if game:
            yield game
        raise
    if game:
        yield game


def main_line(movetext: str, board: chess.Board, *, at: int = 0) -> MainLine:
    """Play the main line from the place `at` of the text, to its result, its end or the first unreadable word.

    >>> line = main_line("1. e4 {[%eval 0.3]} e5 2. Ke3", chess.Board())
    >>> len(line.moves), line.evals[0], line.fault
    (2, 0.3, ('illegal move', 'move 2, white', 'Ke3'))
    """
    start = position_fen(board)
    line, variations = MainLine(start_fen=None if start == chess.STARTING_FEN else start), 0
    end = len(movetext.rstrip())
    for token in _TOKEN.finditer(movetext, at):
        word, last = token.group(), token.end() >= end
        if word[0] == "{":
            if not word.endswith("}"):
                line.fault = ("unclosed comment", _place(board), word[:40])
            elif variations == 0:
                _annotate(line, word, board)
                line.comments.append((len(line.moves), word[1:-1].strip()))
        elif word in "()":
            variations = max(0, variations + (1 if word == "(" else -1))
        elif word[0] == ";" and variations == 0:
            line.comments.append((len(line.moves), word[1:].strip()))
        elif variations or word[0] in ";$" or (_GLYPH.fullmatch(word) and not (last and word == "N")):
            continue  # a last N is not the mark of a novelty but a knight that was cut off
        elif word in _RESULTS:
            line.result, line.end = _RESULTS[word], token.end()
            break
        else:
            san = _NUMBER.sub("", word, count=1).rstrip("+#!?").removesuffix("e.p.") if word != "0000" else word
            line.fault = _play(line, board, san, last) if san else None
            if line.fault:
                break
    return line


def _play(line: MainLine, board: chess.Board, san: str, last: bool) -> tuple[str, str, str] | None:
    if san in _NULL_MOVES:
        return ("null move", _place(board), san)
    try:
        move = board.parse_san(san)
    except chess.IllegalMoveError:
        reason = "cut in a move" if last and _MAYBE_CUT.fullmatch(san) else "illegal move"
        return (reason, _place(board), san[:40])
    except chess.AmbiguousMoveError:
        return ("ambiguous move", _place(board), san[:40])
    except ValueError:
        return ("cut in a move" if last else "unreadable move", _place(board), san[:40])
    make_move(board, move)
    line.moves.append(move_code(move))
    line.clocks.append(np.nan)
    line.evals.append(np.nan)
    line.mates.append(NO_MATE)
    return None


def _annotate(line: MainLine, comment: str, board: chess.Board) -> None:
    clock, value = _CLOCK.search(comment), _EVAL.search(comment)
    for found, what in ((clock, "impossible clock"), (value, "impossible evaluation")):
        if found and max(len(digits) for digits in re.findall(r"\d+", found[0])) > _MOST_DIGITS:
            line.odd.append((what, _place(board), found[0][:40]))
            clock, value = (None, value) if found is clock else (clock, None)
    if not line.moves:
        if value and value[1]:
            line.start_mate = _small(value[1])
        elif value:
            line.start_eval = float(value[2])
        return
    if clock:
        line.clocks[-1] = int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])
    if value and value[1]:
        line.mates[-1] = _small(value[1])
    elif value:
        line.evals[-1] = float(value[2])


def _small(mate: str) -> int:
    """Return the moves to a mate, cut to what the column of mates can hold."""
    return max(NO_MATE + 1, min(int(mate), -NO_MATE - 1))


def _place(board: chess.Board) -> str:
    return f"move {board.fullmove_number}, {'white' if board.turn else 'black'}"


def read_tags(text: str) -> dict[str, str]:
    """Return the tags of a line: one that may hold unescaped quotes, or several side by side."""
    match = _TAG.fullmatch(text)
    if match is None:
        return {}
    pairs = _ONE_TAG.findall(text) if re.search(r'"\s*\]\s*\[', match[2]) else [match.groups()]
    return {name: unescaped(value) for name, value in pairs}


def unescaped(value: str) -> str:
    """Return the value of a tag without the strokes before its quotes and strokes."""
    return re.sub(r'\\(["\\])', r"\1", value) if "\\" in value else value


def _comment_open(text: str, inside: bool) -> bool:
    at = 0
    while True:
        if inside:
            at = text.find("}", at)
            if at < 0:
                return True
            inside = False
        opening = _OPENS.search(text, at)
        if opening is None or opening.group() == ";":
            return False
        inside, at = True, opening.end()


class GameColumns:
    """Columns that grow game by game."""

    def __init__(self) -> None:
        self.rows: list[GameHeader] = []
        self.moves = array("H")
        self.clocks = array("f")
        self.evals = array("f")
        self.mates = array("h")
        self.offsets = array("q", [0])
        self.comments: list[str | None] = []

    def append(self, header: GameHeader, line: MainLine) -> None:
        """Append one game."""
        self.rows.append(header)
        self.moves.extend(line.moves)
        self.clocks.extend(line.clocks)
        self.evals.extend(line.evals)
        self.mates.extend(line.mates)
        self.offsets.append(len(self.moves))
        texts: dict[int, list[str]] = {}
        for at, text in line.comments:
            texts.setdefault(at, []).append(text)
        self.comments.extend(" ".join(texts.get(at, [])) or None for at in range(len(line.moves) + 1))

    def headers(self) -> pa.Table:
        """Return the headers as a table."""
        return pa.Table.from_pylist(self.rows, schema=HEADERS)


def read_raw(raw: RawGame, index: int, file: str, columns: GameColumns, tally: Tally) -> int:
    """Read a raw game, and the games without tags that may follow its result; return the number of the last."""
    tags, movetext, faults, at = raw.tags, "\n".join(raw.movetext).rstrip(), raw.faults, 0
    while True:
        board, reason = _start(tags)
        line = MainLine() if board is None else main_line(movetext, board, at=at)
        if not tags and not line.moves:  # words, but no game
            if line.fault and index:
                tally.fault("text outside any game", file, f"after game {index}", line.fault[2])
            for what, place, detail in faults if index else ():
                tally.fault(what, file, f"after game {index}, {place}", detail)
            return index
        index += 1
        for what, place, detail in [*faults, *line.odd]:
            tally.fault(what, file, f"game {index}, {place}", detail)
        if reason.startswith("variant"):
            tally.count(reason)
        elif reason:
            tally.fault(reason, file, f"game {index}", tags.get("FEN", "")[:90])
        elif line.fault:
            tally.fault(line.fault[0], file, f"game {index}, {line.fault[1]}", line.fault[2])
        elif raw.cut and not line.result:
            tally.fault("blank line among the moves", file, f"game {index}, line {raw.cut}", "it ends the game")
        elif not line.moves:
            tally.count("no moves")
        if line.moves:  # those before a fault are kept
            columns.append(header_from_tags(tags, line, file, index), line)
        if line.end is None or line.end >= len(movetext):
            return index
        tags, faults, at = {}, [], line.end


def _start(tags: dict[str, str]) -> tuple[chess.Board | None, str]:
    """Return the board before the first move, or why there is none."""
    variant = tags.get("Variant", "").strip().lower()
    if variant not in _STANDARD | _CHESS960:
        return None, f"variant: {variant}"
    fen = tags.get("FEN", "").strip()
    if not fen:
        return (None, "Chess960 without a starting position") if variant in _CHESS960 else (chess.Board(), "")
    try:
        board = chess.Board(fen, chess960=variant in _CHESS960)
    except ValueError:
        return None, "unreadable FEN"
    board.chess960 = board.chess960 and board.has_chess960_castling_rights()
    possible = board.is_valid() and max(board.fullmove_number, board.halfmove_clock) <= _MOST_MOVES
    return (board, "") if possible else (None, "impossible starting position")


def header_from_tags(tags: dict[str, str], line: MainLine, file: str, index: int) -> GameHeader:
    """Return a game's row of the headers, still without its id."""
    date = day_of(tags.get("Date", "")) or day_of(tags.get("UTCDate", "")) or ""
    return {
        "file": file,
        "index": index,
        "white": clean_text(tags.get("White", ""), UNKNOWN_NAMES),
        "black": clean_text(tags.get("Black", ""), UNKNOWN_NAMES),
        "white_elo": elo_of(tags.get("WhiteElo", "")),
        "black_elo": elo_of(tags.get("BlackElo", "")),
        "date": date or None,
        "year": year_of(date),
        "event": clean_text(tags.get("Event", "")),
        "site": clean_text(tags.get("Site", "")),
        "round": clean_text(tags.get("Round", "")),
        "result": result_of(tags.get("Result", "")) or line.result or "*",
        "eco": clean_text(tags.get("ECO", "")),
        "time_control": clean_text(tags.get("TimeControl", "")),
        "termination": clean_text(tags.get("Termination", "")),
        "start_fen": line.start_fen,
        "start_eval": line.start_eval,
        "start_mate": line.start_mate,
    }


def clean_text(value: str, unknown: frozenset[str] = UNKNOWN_TEXT) -> str | None:
    """Return the text of a tag without superfluous blanks; None where it says that nothing is known."""
    text = " ".join(value.split())
    return None if text in unknown else text


def elo_of(value: str) -> int | None:
    """Return the rating of a tag; None where it has none."""
    match = re.match(r"\s*(\d{3,4})(?!\d)", value)
    return int(match[1]) or None if match else None


def day_of(value: str) -> str | None:
    """Return the date of a tag, as it is written; None where it has no digit."""
    return clean_text(value) if re.search(r"\d", value) else None


def year_of(value: str) -> int | None:
    """Return the year of a date."""
    match = re.match(r"\s*(\d{4})", value)
    return int(match[1]) or None if match else None


def result_of(value: str) -> str | None:
    """Return the result of a tag; None where it has none."""
    result = value.replace("½", "1/2").strip()
    return result if result in _TAG_RESULTS else None
