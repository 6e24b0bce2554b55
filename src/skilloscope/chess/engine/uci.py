"""The words of UCI that we read: option lines, and the lines of an answer.

In: bytes and text as an engine prints them. Out: options that check a value, and a LINE array.

An engine prints a list of lines again and again: at every depth, in a long search also in the middle of one, then
with the rest of the list still at the depth before. So the first line of a deeper depth closes all shallower ones;
within a depth the last exact line of each rank counts; bounds are no values and never count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from skilloscope.chess.engine.lines import LINE, LineArray, code_from_uci, last_depth
from skilloscope.chess.engine.settings import OptionValue, Settings, option_text
from skilloscope.core.errors import EngineError

MOST_LINE_BYTES = 1 << 20
"""The most bytes that a line of an engine may have."""

MOST_ANSWER_BYTES = 1 << 26
"""The most bytes that an engine may print before it answers."""

_OPTION = re.compile(r"option name (?P<name>.+?) type (?P<type>check|spin|combo|button|string)\b(?P<rest>.*)")
_WORDS = ("default", "min", "max", "var")
_MOST_DIGITS = 18


@dataclass(frozen=True)
class EngineOption:
    """An option as the engine declares it, which can check a value for it."""

    name: str
    type: str
    default: str
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    def checked(self, value: OptionValue) -> str:
        """Return `NAME value VALUE` for setoption, or raise where the engine would not take it."""
        text = option_text(value)
        if self.type == "button":
            return self.name
        if self.type == "check" and text not in ("true", "false"):
            raise self._refuse(text, "true or false")
        if self.type == "spin" and not self._in_range(text):
            raise self._refuse(text, f"a whole number from {self.low} to {self.high}")
        if self.type == "combo" and text.lower() not in [choice.lower() for choice in self.choices]:
            raise self._refuse(text, "one of " + ", ".join(self.choices))
        return f"{self.name} value {text}"

    def _in_range(self, text: str) -> bool:
        if not _is_whole(text):
            return False
        return (self.low is None or int(text) >= self.low) and (self.high is None or int(text) <= self.high)

    def _refuse(self, text: str, wanted: str) -> EngineError:
        return EngineError(f"the engine's option {self.name} cannot be {text!r}", hint=f"it takes {wanted}")


def parse_option(row: str) -> EngineOption | None:
    """Return the option that a row of the engine's greeting declares, if it does.

    >>> parse_option("option name MultiPV type spin default 1 min 1 max 500").checked(10)
    'MultiPV value 10'
    """
    match = _OPTION.match(row)
    if match is None:
        return None
    rest = _named_values(match["rest"])
    one = dict(rest)
    limits = [int(one[word]) if _is_whole(one.get(word, "")) else None for word in ("min", "max")]
    choices = tuple(value for word, value in rest if word == "var")
    return EngineOption(match["name"], match["type"], one.get("default", ""), limits[0], limits[1], choices)


def _named_values(rest: str) -> list[tuple[str, str]]:
    """Return what follows each of the words default, min, max and var, up to the next of them."""
    found: list[tuple[str, list[str]]] = []
    for word in rest.split(" "):
        if word in _WORDS:
            found.append((word, []))
        elif found:
            found[-1][1].append(word)
    return [(word, " ".join(values).strip()) for word, values in found]


def _is_whole(text: str) -> bool:
    return len(text) <= _MOST_DIGITS and re.fullmatch(r"-?[0-9]+", text) is not None


def check_output(output: bytes | bytearray) -> None:
    """Raise where an engine prints a line, or an answer, of a length that no engine needs: memory has an end."""
    if len(output) > MOST_ANSWER_BYTES:
        raise EngineError(f"the engine printed more than {MOST_ANSWER_BYTES:,} bytes without an answer")
    if len(output) - output.rfind(b"\n") - 1 > MOST_LINE_BYTES:
        raise EngineError(f"the engine printed a line of more than {MOST_LINE_BYTES:,} bytes")


def read_answer(output: bytes, *, flagged: bool = False) -> tuple[LineArray, int]:
    """Return the last exact line of every depth and rank, and the nodes searched; with `flagged` bounds count too.

    >>> lines, nodes = read_answer(b"info depth 1 multipv 1 score cp 31 nodes 20 pv e2e4 e7e5\\nbestmove e2e4\\n")
    >>> lines.tolist(), nodes
    ([(1, 1, 1804, 0, 31)], 20)
    """
    kept: dict[tuple[int, int], tuple[int, int, int, int, int]] = {}
    deepest = nodes = 0
    for row in output.split(b"\n"):
        head, found, variation = row.partition(b" pv ")
        if not found or not head.startswith(b"info ") or head.startswith(b"info string"):
            continue
        try:
            words = head.split()
            depth = int(words[words.index(b"depth") + 1])
            rank = int(words[words.index(b"multipv") + 1]) if b"multipv" in words else 1
            at = words.index(b"score")
            mate = (b"cp", b"mate").index(words[at + 1])
            move = code_from_uci(variation.split(None, 1)[0].decode())
            line = (depth, rank, move, mate, int(words[at + 2]))
            nodes = int(words[words.index(b"nodes") + 1]) if b"nodes" in words else nodes
        except (ValueError, IndexError) as error:  # InputError, of a move that is none, is a ValueError
            raise EngineError(f"the engine printed nonsense: {row[:120].decode('ascii', 'replace')!r}") from error
        if depth < deepest:
            continue
        deepest = depth
        if flagged or (b"lowerbound" not in words and b"upperbound" not in words):
            kept[depth, rank] = line
    return _as_lines(kept), nodes


def checked_answer(lines: LineArray, legal: Set[int], settings: Settings) -> LineArray:
    """Return the answer up to its last complete depth, or raise where it is not one to rely on.

    A search by nodes may end in the middle of a depth, which is then dropped; a search by depth may not.
    """
    wanted = min(settings.multipv, len(legal))
    sizes = Counter(lines["depth"].tolist())
    complete = [depth for depth, size in sizes.items() if size == wanted]
    if not complete:
        raise EngineError(f"the engine listed no depth with all {wanted} moves")
    answer: LineArray = lines[lines["depth"] <= max(complete)]
    judged = last_depth(answer)
    if settings.depth is not None:
        _check_depth(max(sizes), max(complete), judged, settings.depth)
    moves = set(answer["move"].tolist())
    if not moves <= legal:
        raise EngineError("the engine listed a move that is not legal")
    if len(set(judged["move"].tolist())) != wanted or judged["rank"].tolist() != list(range(1, wanted + 1)):
        raise EngineError("the engine listed a move twice, or left a rank out")
    return answer


def _check_depth(deepest: int, complete: int, judged: LineArray, asked: int) -> None:
    """An engine may stop early only where it has found a mate."""
    if complete < deepest:
        raise EngineError(f"the engine's list at its last depth, {deepest}, is not complete")
    if complete < asked and not judged["mate"][0]:
        raise EngineError(f"the engine stopped at depth {complete} of {asked}")


def _as_lines(kept: dict[tuple[int, int], tuple[int, int, int, int, int]]) -> LineArray:
    try:
        return np.array([kept[place] for place in sorted(kept)], dtype=LINE)
    except (OverflowError, ValueError) as error:
        raise EngineError("the engine printed a number out of range") from error
