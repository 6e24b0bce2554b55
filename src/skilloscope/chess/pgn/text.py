"""PGN as text: a stream of lines cut into games, and the moves of a game's main line with clocks and evaluations.

In: lines of text. Out: RawGame after RawGame; from each, through python-chess, a MainLine.

python-chess's own reader passes over what it cannot read. Here every word is either understood or named in a fault,
and what stood before it is kept. What meets the text of others takes time in proportion to its length: no pattern tries
one piece of it twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import chess
import numpy as np

from skilloscope.chess.chess960 import make_move, position_fen
from skilloscope.chess.engine.lines import move_code
from skilloscope.core.files import MOST_LINE
from skilloscope.core.inputs.unpacking import DAMAGE

NO_MATE = int(np.iinfo(np.int16).min)
"""The entry of a column of mates where no mate is given; 0 is one: [%eval #0]."""

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
_MOST_TEXT = MOST_LINE


@dataclass
class RawGame:
    """A game as text: its tags, its movetext, and the lines of it that are neither."""

    tags: dict[str, str] = field(default_factory=dict)
    movetext: list[str] = field(default_factory=list)
    faults: list[tuple[str, str, str]] = field(default_factory=list)
    """Reason, place and detail of each line that could not be read."""

    def __bool__(self) -> bool:
        return bool(self.tags or self.movetext or self.faults)


@dataclass
class MainLine:
    """The moves that were played as far as they can be read; clocks and evaluations are those after each move."""

    moves: list[int] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)
    evals: list[float] = field(default_factory=list)
    mates: list[int] = field(default_factory=list)
    start_fen: str | None = None
    """The position that the game starts from; None where it is the usual one."""
    start_eval: float | None = None
    """The evaluation in a comment before the first move: of the position that the game starts from."""
    start_mate: int | None = None
    result: str | None = None
    fault: tuple[str, str, str] | None = None
    """Reason, place ("move 17, black") and detail, where reading ended early."""
    end: int | None = None
    """Where the text goes on after the result: with another game without tags, if with anything."""
    comments: list[tuple[int, str]] = field(default_factory=list)
    """The texts of the comments, each with how many moves stand before it."""
    odd: list[tuple[str, str, str]] = field(default_factory=list)
    """Reason, place and detail of each comment whose number no clock and no engine has ever shown."""


def split_games(lines: Iterable[str], first_line: int = 1) -> Iterator[RawGame]:
    """Yield the games of a stream; a tag after moves begins a new one, and so does a tag given twice.

    Lines are numbered from `first_line` on, for those that cannot be read.

    >>> [game.tags for game in split_games(['[White "A"]', "", "1. e4 *", '[White "B"]', "1. d4 *"])]
    [{'White': 'A'}, {'White': 'B'}]
    """
    game, inside, size = RawGame(), False, 0
    try:
        for number, line in enumerate(lines, start=first_line):
            text = line.strip().lstrip("\ufeff")
            if "\x00" in text:
                game.faults.append(("binary data", f"line {number}", ""))
                continue
            # A comment that is never closed must not swallow the games behind it.
            if text.startswith("[") and (not inside or text.startswith("[Event ")):
                tags = read_tags(text)
                if tags and (game.movetext or tags.keys() & game.tags.keys()):
                    yield game
                    game, inside, size = RawGame(), False, 0
                game.tags.update(tags)
                if tags:
                    continue
                if not game.movetext:
                    game.faults.append(("unreadable tag", f"line {number}", text[:40]))
                    continue
            if text and not (line.startswith("%") and not inside):
                size += len(text)
                if size <= _MOST_TEXT:
                    game.movetext.append(text)
                elif size - len(text) <= _MOST_TEXT:
                    game.faults.append(("game too long", f"line {number}", f"more than {_MOST_TEXT:,} characters"))
                inside = _comment_open(text, inside)
    except DAMAGE:  # what was read of the last game counts, and then the damage is told
        if game:
            yield game
        raise
    if game:
        yield game


def main_line(movetext: str, board: chess.Board, *, at: int = 0) -> MainLine:
    """Play the main line on the board and return it, up to its result, its end or the first word that cannot be read.

    It begins at the place `at` of the text: many games without tags may follow one another.

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
    """Play a move, or return why not."""
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
    """Return whether a comment in braces is open at the end of the line."""
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
