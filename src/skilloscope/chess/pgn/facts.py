"""Facts of chess that need no engine: the phase of a position, speed, pool and opening of a game.

The phase depends on what is left on the board: the value of all pieces but kings and pawns, both sides together, which
is 62 at the start with queen 9, rook 5, bishop and knight 3. More than 52 is a full board (at most three minor pieces
gone), 26 or less is an endgame (two rooks and a minor piece each, or less), the rest is middlegame. The move number
plays no part.

The opening of a game is the last of its positions that has a name. Positions are named, not move orders, so that
transpositions are found. The table is Lichess's chess-openings (public domain, CC0); tools/make_openings.py makes the
file that ships, with the key of each line's last position.
"""

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.boards import Boards
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Ints
from skilloscope.core.errors import OptionError, Tally

PHASES = ("full board", "middlegame", "endgame")

CLOCKS = {"under 10 s": 0.0, "10 to 30 s": 10.0, "30 s to 1 min": 30.0, "1 to 5 min": 60.0, "5 to 15 min": 300.0,
          "15 min or more": 900.0}  # fmt: skip
"""Classes of the time that is left, by the seconds from which they begin."""
SPENT = {"under 2 s": 0.0, "2 to 5 s": 2.0, "5 to 10 s": 5.0, "10 to 30 s": 10.0, "30 s to 2 min": 30.0,
         "2 to 10 min": 120.0, "10 min or more": 600.0}  # fmt: skip
"""Classes of the time that a move took."""

FIDE = "fide"  # the pool of games over the board, and of those whose pool is not recognised
_SERVER_POOLS = {"bullet": 180, "blitz": 480, "rapid": 1500, "classical": 1 << 30}  # seconds for 40 moves, below
_YOUNG = 2014  # the last of the years in which Lichess was small: its ratings were on another scale
POOLS = (
    FIDE,
    *(f"lichess-{speed}" for speed in _SERVER_POOLS),
    *(f"chesscom-{speed}" for speed in list(_SERVER_POOLS)[:3]),
    *(f"lichess-{speed}-2013" for speed in _SERVER_POOLS),
)
"""Pools of ratings that ship with an axis of their own; those of 2013 are Lichess until 2014."""
_PLATFORMS = {"lichess.org": "lichess", "chess.com": "chesscom"}
_VARIANTS = {
    "chess960", "antichess", "atomic", "crazyhouse", "horde", "king", "racing", "three-check", "bughouse", "position",
}  # fmt: skip

PIECE_VALUES = {"q": 9, "r": 5, "b": 3, "n": 3}
_MIDDLEGAME, _ENDGAME = 52, 26  # at most
_CLASSICAL_SECONDS = 3600  # FIDE: an hour or more for sixty moves, increments included
_SPEEDS = {"classical": _CLASSICAL_SECONDS, "rapid": 601, "blitz": 180}
_DAILY = re.compile(r"\d++/\d{5,9}+")  # 86400 seconds, a day, and more
_STAGE = re.compile(r"(?:\d++/)?(\d{1,9}+)(?:\+(\d{1,9}+))?")
_MOST_PLIES = 40  # the longest line of the table has fewer
_AT_ONCE = 4096  # games
Keys = npt.NDArray[np.uint64]


def time_classes(seconds: npt.NDArray[np.floating[Any]], classes: Mapping[str, float]) -> list[str | None]:
    """Return the class of each time; None where it is not known. Less than nothing counts as nothing.

    >>> time_classes(np.array([12.0, np.nan, 900.0]), CLOCKS)
    ['10 to 30 s', None, '15 min or more']
    """
    names = list(classes)
    place = np.searchsorted(list(classes.values()), np.maximum(np.nan_to_num(seconds), 0.0), side="right") - 1
    return [None if np.isnan(t) else names[at] for t, at in zip(seconds, place.tolist(), strict=True)]


def piece_value(fen: str) -> int:
    """Return the value of all pieces but kings and pawns in a position, both sides together.

    >>> piece_value("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    62
    """
    board = fen.split(" ", 1)[0].lower()
    return sum(value * board.count(piece) for piece, value in PIECE_VALUES.items())


def phases_of(fens: Sequence[str | None]) -> npt.NDArray[np.object_]:
    """Return the phase of each position, None where the position is not known.

    >>> phases_of(["8/5k2/8/8/8/2R5/4K3/8 w - - 0 60", None]).tolist()
    ['endgame', None]
    """
    found = np.empty(len(fens), dtype=object)
    for row, fen in enumerate(fens):
        if fen:
            found[row] = phase_of(piece_value(fen))
    return found


def phase_of(value: int) -> str:
    """Return the phase of a position by the value of its pieces.

    >>> [phase_of(value) for value in (62, 52, 26)]
    ['full board', 'middlegame', 'endgame']
    """
    return PHASES[0] if value > _MIDDLEGAME else PHASES[1] if value > _ENDGAME else PHASES[2]


def time_class(time_control: str | None) -> str | None:
    """Return the class of PGN's TimeControl by the time it gives for sixty moves; None where it does not say.

    FIDE's bounds: blitz up to ten minutes, rapid less than an hour, then classical; bullet is less than three minutes,
    and a day or more for a move is correspondence.

    >>> [time_class(text) for text in ("60+0", "180+2", "900+10", "5400+30", "1/259200", "-")]
    ['bullet', 'blitz', 'rapid', 'classical', 'correspondence', None]
    """
    seconds = _sixty_moves(time_control)
    if seconds is None:
        return None
    if _DAILY.fullmatch(time_control or ""):
        return "correspondence"
    return next((name for name, least in _SPEEDS.items() if seconds >= least), "bullet")


def is_classical(time_control: str | None) -> bool | None:
    """Return whether PGN's TimeControl gives an hour or more for sixty moves; None where it does not say.

    >>> [is_classical(text) for text in ("5400+30", "600+0", "40/7200:1800", "-", None)]
    [True, False, True, None, None]
    """
    seconds = _sixty_moves(time_control)
    return None if seconds is None else seconds >= _CLASSICAL_SECONDS


def _sixty_moves(time_control: str | None) -> int | None:
    """Return the seconds that a time control gives for sixty moves, increments included."""
    stages = [_STAGE.fullmatch(stage) for stage in (time_control or "").split(":")]
    if not stages or None in stages:
        return None
    return sum(int(stage[1]) + 60 * int(stage[2] or 0) for stage in stages if stage)


def pool_of(
    site: str | None, event: str | None, time_control: str | None, start_fen: str | None = None, date: str | None = None
) -> str | None:
    """Return the pool of a game by its tags; None for an unrated game of a server, a variant or a set-up position.

    Lichess names the speed in Event; otherwise it is the time for forty moves, by the bounds of Lichess.

    >>> pool_of("https://lichess.org/abcdefgh", "Rated Blitz game", "180+0")
    'lichess-blitz'
    >>> pool_of("Chess.com", "Live Chess", "600"), pool_of("Bled SLO", "Candidates", "-")
    ('chesscom-rapid', 'fide')
    """
    place = (site or "").lower()
    platform = next((own for server, own in _PLATFORMS.items() if server in place), None)
    if platform is None or "broadcast" in place:
        return FIDE
    words = re.split(r"[^a-z0-9-]+", (event or "").lower())
    if words[0] in ("casual", "unrated") or start_fen or not _VARIANTS.isdisjoint(words):
        return None
    stage = None if _DAILY.fullmatch(time_control or "") else _STAGE.fullmatch(time_control or "")
    speed = next((word for word in words if word in _SERVER_POOLS and platform == "lichess"), None)
    if speed is None and stage and "correspondence" not in words and "ultrabullet" not in words:
        seconds = int(stage[1]) + 40 * int(stage[2] or 0)
        speed = next(name for name, bound in _SERVER_POOLS.items() if seconds < bound)
    speed = "rapid" if platform == "chesscom" and speed == "classical" else speed
    if speed is None:
        return FIDE
    year = (date or "")[:4]
    young = platform == "lichess" and year.isdigit() and int(year) <= _YOUNG
    return f"{platform}-{speed}-2013" if young else f"{platform}-{speed}"


def checked_pool(pool: str) -> str:
    """Return the name of a pool; refuse one that does not ship."""
    if pool not in POOLS:
        raise OptionError(f"no pool {pool!r}", hint=f"the pools: {', '.join(POOLS)}")
    return pool


AUTO = "auto"  # the pool by the games' tags


def split_pools(games: Games, wanted: str = AUTO) -> list[tuple[str, Games]]:
    """Return the pools of games, the most frequent first; unrated games of servers are left out and counted.

    A pool that was asked for is that of all games unless some are recognised as of it; then the others are left out.
    """
    names = ["site", "event", "time_control", "start_fen", "date"]
    rows = list(zip(*games.headers.select(names).to_pydict().values(), strict=True)) if wanted else []
    known_pools = {row: pool_of(*row) or "" for row in set(rows)}
    pools = np.array([known_pools[row] for row in rows], dtype=object)
    if wanted not in ("", AUTO):
        own = pools == wanted
        return [(wanted, games.select(own, reason="game of another pool") if own.any() else games)]
    counts = Counter(pools[pools != ""].tolist())
    if not counts or (counts.total() == len(games) and len(counts) == 1):
        return [(next(iter(counts), FIDE if wanted else ""), games)]
    kept = games.select(pools != "", reason="unrated game or variant of a server")
    known = pools[pools != ""]
    found = [(pool, kept.select(known == pool)) for pool, _ in counts.most_common()]
    return [found[0], *((pool, replace(own, tally=Tally())) for pool, own in found[1:])]


def openings_of(games: Games) -> tuple[list[str | None], list[str | None]]:
    """Return the code and the name of each game's opening, by its moves.

    >>> import io
    >>> from skilloscope.chess.pgn.games import read_games
    >>> openings_of(read_games(io.StringIO("1. Nf3 d5 2. d4 *")))
    (['D02'], ["Queen's Pawn Game: Zukertort Variation"])
    """
    keys, codes, names = _table()
    row = np.full(len(games), -1, dtype=np.int64)
    usual = np.flatnonzero(games.headers["start_fen"].is_null().to_numpy()) if len(games) else row
    for some in np.split(usual, np.arange(_AT_ONCE, len(usual), _AT_ONCE)):
        few = np.minimum(games.counts[some], _MOST_PLIES)
        first = np.repeat(games.offsets[some] - np.cumsum(few) + few, few)
        found, game = opening_keys(games.moves[first + np.arange(len(first))], np.concatenate([[0], np.cumsum(few)]))
        place = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
        named = keys[place] == found
        row[some[game[named]]] = place[named]  # of several the last remains
    last = row.tolist()
    return [codes[at] if at >= 0 else None for at in last], [names[at] if at >= 0 else None for at in last]


def game_facts(games: Games) -> dict[str, list[str | None]]:
    """Return what is known of each game's opening and speed: its group of codes (B9 for B90 to B99), family and class.

    The code is that of the tag, and where there is none that of the moves; the family is that of the moves.
    """
    codes, names = openings_of(games)
    tags = games.headers["eco"].to_pylist()
    groups = [
        (tag if tag and len(tag) >= 2 else code or "")[:2].upper() or None
        for tag, code in zip(tags, codes, strict=True)
    ]
    speeds = {text: time_class(text) for text in set(games.headers["time_control"].to_pylist())}
    return {
        "eco": groups,
        "opening": opening_families(names),
        "time_class": [speeds[text] for text in games.headers["time_control"].to_pylist()],
    }


def opening_families(names: Sequence[str | None]) -> list[str | None]:
    """Return the family of each opening, the part of its name before the colon.

    >>> opening_families(["Sicilian Defense: Najdorf Variation, English Attack", None])
    ['Sicilian Defense', None]
    """
    return [name.partition(":")[0] if name else None for name in names]


def opening_keys(moves: npt.NDArray[np.uint16], offsets: Ints) -> tuple[Keys, Ints]:
    """Return a number for the position after each move of games from the usual start, and the game it belongs to.

    Pieces, castling and whose move it is go into it.
    """
    counts = np.diff(offsets)
    # A null move ends each game, so that the position before it is noted too.
    ended = np.insert(moves[offsets[0] : offsets[-1]], offsets[1:] - offsets[0], 0)
    boards = Boards.from_moves(ended, np.concatenate([[0], np.cumsum(counts + 1)]))
    after = np.ones(len(ended), dtype=bool)
    after[np.cumsum(counts + 1) - counts - 1] = False
    key = np.uint64(14695981039346656037) ^ (boards.rights[after] | boards.black[after] << 4).astype(np.uint64)
    for rank in boards.board.view("<u8")[after].T:
        key = (key ^ rank) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)  # a product carries upwards only
    return key, np.repeat(np.arange(len(counts)), counts)


@functools.cache
def _table() -> tuple[Keys, list[str], list[str]]:
    """Return the named positions in the order of their keys, with code and name."""
    text = (files("skilloscope") / "data" / "openings.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    keys = np.array([int(row[3], 16) for row in rows], dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    return keys[order], [rows[at][0] for at in order], [rows[at][1] for at in order]
