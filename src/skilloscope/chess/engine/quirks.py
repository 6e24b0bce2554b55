"""Quirks: what known engines do otherwise than UCI says, each found by running the engine.

In: the name of a program, or the name by which an engine greets. Out: how to start it, and how to ask it.

| engine (Debian) | what it does | so we |
|---|---|---|
| Stockfish 15.1 | exact values, best first; obeys `nodes`; ends with its input | ask it |
| Fairy-Stockfish 11.1 | as Stockfish, but may flag the last line of a finished list as a bound | count it |
| Glaurung 2.2 | no list of depth 1; prints old lines again; `bestmove` need not be its first line | ask it |
| Ethereal 12.00 | exact values, not best first; stops at once at `nodes` | rank them anew |
| Toga II 3.0 | its further lines are bounds; ignores `nodes` | search each child |
| GNU Chess 6.2.7 | has no MultiPV; ignores `nodes` | search each child |

Ethereal ranks as it searches, so a mate in one may come fifth, and below depth 8 be missing from a list of five;
nor are its mates always the shortest.
Toga II and GNU Chess stop at depth 4 where there is one legal move. GNU Chess speaks UCI only when started with `-u`,
and it does not end with its input: without a guard it would run for ever.

Why a flagged line counts: Stockfish 11 compares the last line of the list, after sorting, with the window of the last
search, which may have been another move's. It had been searched to the end before. In a search by nodes, which may
stop anywhere, flagged lines do not count. Toga II flags its last line of a depth only where it is a mate (of 1,533
such lines of 219 real positions none was a bound in centipawns).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ListMethod = Literal["list", "ranked", "children"]
"""How the values of several moves are had: from the engine's list as it is, from its list ranked anew by value, or
from a search of the position after each move."""


@dataclass(frozen=True)
class Quirks:
    """How an engine is asked, and read."""

    method: ListMethod = "list"
    nodes: bool = True
    """Whether it can be held to a number of nodes."""
    flags_values: bool = False
    """Whether it flags lines as bounds that are none."""


_BY_NAME = {
    "Fairy-Stockfish 11": Quirks(flags_values=True),
    "Ethereal 12": Quirks("ranked", nodes=False),
    "Toga II": Quirks("children", nodes=False, flags_values=True),
    "GNU Chess 6": Quirks("children", nodes=False),
}

_ARGUMENTS = {"gnuchess": ["-u"]}


def quirks_of(engine: str) -> Quirks:
    """Return the quirks of the engine that greets by this name; an unknown one is taken to have none.

    >>> quirks_of("Toga II 3.0").method
    'children'
    """
    return next((quirks for start, quirks in _BY_NAME.items() if engine.startswith(start)), Quirks())


def arguments_for(path: Path) -> list[str]:
    """Return the arguments without which the program would not speak UCI.

    >>> arguments_for(Path("/usr/games/gnuchess"))
    ['-u']
    """
    return _ARGUMENTS.get(path.name, [])
