"""Who played whom in which event: entries, pairs and points, from the headers of games.

In: Games. Out: a Field: a player in an event is an entry; two entries who met are a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import numpy.typing as npt

from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError

Indices = npt.NDArray[np.int64]
EVENTS = ("file", "event", "all")
"""What makes games one event: the file that they stand in, the header's name, or simply all of them."""


@dataclass(frozen=True)
class Entrant:
    """A player in an event: games, points and rating from the headers; a game without a result gives no points."""

    player: str
    event: str
    games: int
    points: float
    elo: float
    """The mean of the ratings in the headers; NaN where there is none."""


@dataclass(frozen=True)
class Pair:
    """Two entries of one event who met: how often, in how many games with a result, and the first one's points."""

    first: int
    second: int
    games: int
    finished: int
    points: float


@dataclass(frozen=True, eq=False)
class Field:
    """Who played whom in which event, from the headers."""

    entries: list[Entrant]
    pairs: list[Pair]
    number: dict[tuple[str, str], int]
    """The entry of a player in an event."""
    event_of_game: list[str]
    left: int
    """Games without two different names."""
    unfinished: int
    """Games without a result: their moves count, they give no points."""

    @classmethod
    def of(cls, games: Games, by: str) -> Field:
        """Read the headers."""
        headers = games.headers
        events = _events(headers["file" if by == "all" else by].to_pylist(), by)
        columns = [headers[name].to_pylist() for name in ("white", "black", "white_elo", "black_elo", "result")]
        points, left = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}, 0
        played: dict[tuple[str, str], list[tuple[float, float]]] = {}
        met: dict[tuple[tuple[str, str], tuple[str, str]], list[float]] = {}
        for event, white, black, white_elo, black_elo, result in zip(events, *columns, strict=True):
            if white is None or black is None or white == black:
                left += 1
                continue
            score = points.get(result, np.nan)
            one, two = (white, event), (black, event)
            played.setdefault(one, []).append((score, np.nan if white_elo is None else white_elo))
            played.setdefault(two, []).append((1 - score, np.nan if black_elo is None else black_elo))
            if (two, one) in met:
                met[two, one].append(1 - score)
            else:
                met.setdefault((one, two), []).append(score)
        entries = [
            Entrant(*key, len(rows), float(np.nansum([s for s, _ in rows])), _mean([e for _, e in rows]))
            for key, rows in played.items()
        ]
        number = {key: at for at, key in enumerate(played)}
        pairs = [_pair(number[a], number[b], scores) for (a, b), scores in met.items()]
        if not pairs:
            raise InputError("no game of two named players", hint="a tournament needs players with names")
        unfinished = sum(pair.games - pair.finished for pair in pairs)
        return cls(entries, pairs, number, events, left, unfinished)


def _pair(first: int, second: int, scores: Sequence[float]) -> Pair:
    known = [score for score in scores if np.isfinite(score)]
    return Pair(first, second, len(scores), len(known), float(sum(known)))


def pair_ends(pairs: Sequence[Pair]) -> tuple[Indices, Indices]:
    """Return the first and the second entry of each pair."""
    return (
        np.array([pair.first for pair in pairs], dtype=np.int64),
        np.array([pair.second for pair in pairs], dtype=np.int64),
    )


def _events(labels: Sequence[str | None], by: str) -> list[str]:
    """Return the event of each game; a file is called by its name without folder and endings, where that is enough."""
    if by != "file":
        return ["" if by == "all" else str(label or "?") for label in labels]
    short = {label: PurePath(label or "?").name.split(".")[0] for label in dict.fromkeys(labels)}
    alone = len(set(short.values())) == len(short)
    return [short[label] if alone else str(label) for label in labels]


def _mean(values: list[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")
