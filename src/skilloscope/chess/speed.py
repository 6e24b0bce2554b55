"""How fast a game was: PGN's TimeControl, read just far enough to tell classical play from faster games."""

from __future__ import annotations

import re

_CLASSICAL_SECONDS = 3600  # FIDE: an hour or more for sixty moves, increments included
_STAGE = re.compile(r"(?:(\d+)/)?(\d+)(?:\+(\d+))?")


def is_classical(time_control: str | None) -> bool | None:
    """Return whether a time control gives an hour or more for sixty moves; None where it does not say.

    >>> [is_classical(text) for text in ("5400+30", "600+0", "40/7200:1800", "-", None)]
    [True, False, True, None, None]
    """
    stages = [_STAGE.fullmatch(stage) for stage in (time_control or "").split(":")]
    if not stages or None in stages:
        return None
    return sum(int(stage[2]) + 60 * int(stage[3] or 0) for stage in stages if stage) >= _CLASSICAL_SECONDS
