"""Scores as people write them, and the outcomes that are no game: forfeits, byes, walkovers.

In: a text. Out: the score of the first player in [0, 1], or why there is none. Numbers, results as in PGN (`1-0`,
`1/2-1/2`), words (win, draw, loss) and letters (W, D, L) are read; nothing else is guessed at.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FORFEIT = "forfeit"
BYE = "bye"
WALKOVER = "walkover"
UNFINISHED = "unfinished"
UNKNOWN = "unknown score"
NO_SCORE = "no score"

NO_GAMES = frozenset({FORFEIT, BYE, WALKOVER, UNFINISHED, "blank row"})
"""Rows that are left out because nothing was played."""

_WORDS = {
    "1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5, "½-½": 0.5, "0.5-0.5": 0.5, "1:0": 1.0, "0:1": 0.0, "1/2": 0.5, "½": 0.5,
    "=": 0.5, "w": 1.0, "win": 1.0, "won": 1.0, "d": 0.5, "draw": 0.5, "tie": 0.5, "l": 0.0, "loss": 0.0, "lost": 0.0,
}  # fmt: skip
_NO_GAME = {
    FORFEIT: re.compile(r"[+-]|[+-]/[+-]|[+-]:[+-]|\+--|--\+|[+-] ?- ?[+-]|(1|0|1/2|½|0\.5)(-(1|0))? ?f+|ff|def\.?"
                        r"|default|(win|loss)? ?(by )?forfeit(ed)?|no.show"),
    BYE: re.compile(r"(half.?point.?|full.?point.?|zero.?point.?)?bye|hpb|fpb|zpb|pab|[uhz]"),
    WALKOVER: re.compile(r"w/?o\.?|walk.?over"),
    UNFINISHED: re.compile(r"\*|unfinished|unterminated|in progress|abandoned"),
}  # fmt: skip


def parse_score(text: str) -> tuple[float, str]:
    """Return the score of the first player and no reason; or NaN and why it cannot be used.

    >>> parse_score("1-0"), parse_score("0,5"), parse_score(" ½ "), parse_score("1.0")
    ((1.0, ''), (0.5, ''), (0.5, ''), (1.0, ''))
    >>> parse_score("+/-"), parse_score("W/O"), parse_score("3")
    ((nan, 'forfeit'), (nan, 'walkover'), (nan, 'unknown score'))
    """
    word = " ".join(text.split()).lower()
    if not word:
        return math.nan, NO_SCORE
    if word in _WORDS:
        return _WORDS[word], ""
    for reason, form in _NO_GAME.items():
        if form.fullmatch(word):
            return math.nan, reason
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        return math.nan, UNKNOWN
    return (number, "") if 0.0 <= number <= 1.0 else (math.nan, UNKNOWN)


def is_fault(reason: str) -> bool:
    """Return whether a reason is a fault of the table; a forfeit or a bye is an ordinary row that is no game."""
    return reason in (UNKNOWN, NO_SCORE)


def parse_scores(texts: Sequence[str | None]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Return the scores and the reasons of many texts."""
    read = [(math.nan, NO_SCORE) if text is None else parse_score(text) for text in texts]
    return np.array([score for score, _ in read], dtype=np.float64), [reason for _, reason in read]
