"""Games of online people → what their moves say along the ratings of their pool, by the networks that ship.

    python tools/pool_curves.py --data ONLINE --out FILE.npz [--pools lichess-rapid lichess-blitz]

For each pool: people for fitting (number mod 12 = 7) and for the report (5) with one, five or twenty of their games,
as many as they have. A row is a side of a game: part, pool, person, game,
side, number of the game; the curves of the first OPENING plies and of the rest, free choices only; the number of those;
the rating. Of games with evaluations also a row for each of these choices: the row of the side, the ply, and how likely
the move and how open the choice is among people of REFERENCE_ELO.
"""

from __future__ import annotations

import argparse
import bz2
from pathlib import Path

import numpy as np
import numpy.typing as npt

from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import human
from skilloscope.chess.pgn.facts import FIDE, POOLS
from skilloscope.core.columns import Array, Ints
from skilloscope.evidence.sources.losses import expected_of_people
from skilloscope.studies.calibrate import POOL_ELO

PARTS = (7, 5)  # what people's numbers leave when divided by 12: to fit, to report
GAMES = (1, 5, 20)
LARGE = ("lichess-rapid", "lichess-blitz", "lichess-bullet")
MANY, FEW = {1: 700, 5: 160, 20: 60}, {1: 320, 5: 80, 20: 40}  # people with as many games, and not enough for more
LEAST_PLIES, OPENING, YOUNG = 30, 24, 2014
AT_ONCE = 64  # sides of games


def pools_of_games(games: dict[str, npt.NDArray[np.generic]]) -> Ints:
    """Return the place of each game's pool in POOLS."""
    lichess, speed = games["platform"] == 0, games["speed"].astype(np.int64)
    young = lichess & (games["year"] <= YOUNG) & (games["year"] > 0)
    return np.where(lichess, np.where(young, 8 + speed, 1 + speed), 5 + np.minimum(speed, 2))


def people_of(games: dict[str, npt.NDArray[np.generic]], number: int, share: float, rng: np.random.Generator) -> Ints:
    """Return the rows of one pool: of a share of the people one, five or twenty games, as many as they have."""
    own = np.flatnonzero((pools_of_games(games) == number) & (games["plies"] >= LEAST_PLIES))
    person, side = np.concatenate([games["white"][own], games["black"][own]]), np.repeat([0, 1], len(own))
    found = []
    most = MANY if POOLS[number] in LARGE else FEW
    for part, left in enumerate(PARTS):
        use = np.flatnonzero(person % 12 == left)
        use = use[np.lexsort((rng.random(len(use)), person[use]))]
        who, first, count = np.unique(person[use], return_index=True, return_counts=True)
        for many, more in zip(GAMES, (*GAMES[1:], np.inf), strict=True):
            able = rng.permutation(np.flatnonzero((count >= many) & (count < more)))
            for at in able[: round(share * most[many])]:
                rows = use[first[at] : first[at] + many]
                found += [(part, number, who[at], own[r % len(own)], side[r], j) for j, r in enumerate(rows)]
    return np.array(found, dtype=np.int64).reshape(-1, 6)


def curves_of(
    moves: npt.NDArray[np.uint16], offsets: Ints, sides: Ints, pool: str
) -> tuple[Array, Ints, npt.NDArray[np.float32]]:
    """Return the curves of opening and later moves of a side of each game, how many free choices there are, and those.

    A choice: the place of the side, the ply, the log-probability of the move and the entropy of the choice.
    """
    boards = Boards.from_moves(moves, offsets)
    game = np.repeat(np.arange(len(sides)), np.diff(offsets))
    ply = np.arange(len(moves)) - offsets[game]
    mine = np.flatnonzero(ply % 2 == sides[game])
    choices = human(pool).choices(boards[mine])
    played = choices.index_of(moves[mine])
    rows = np.flatnonzero((np.diff(choices.offsets) > 1) & (played >= 0))
    some, own = choices.take(rows), played[rows]
    logs = some.log_probabilities(np.clip(POOL_ELO, *choices.elo_range))[some.offsets[:-1] + own]
    game, ply = game[mine][rows], ply[mine][rows]
    curves = np.zeros((2 * len(sides), len(POOL_ELO)))
    place = 2 * game + (ply >= OPENING)
    np.add.at(curves, place, logs)
    counts = np.bincount(place, minlength=2 * len(sides)).reshape(-1, 2)
    choice = np.stack([game, ply, *expected_of_people(some, own)], axis=1).astype(np.float32)
    return curves.reshape(-1, 2, len(POOL_ELO)), counts, choice


def main() -> None:
    """Draw people, ask the network, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pools", nargs="+", default=list(POOLS[1:]))
    parser.add_argument("--over-the-board", action="store_true", help="by the network for play over the board")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of people")
    options = parser.parse_args()
    games = dict(np.load(options.data / "games.npz"))
    coded = np.frombuffer(bz2.decompress((options.data / "moves.u16.bz2").read_bytes()), dtype="<u2")
    plies = games["plies"].astype(np.int64)
    starts = np.cumsum(plies) - plies
    promotion = np.array([0, 2, 3, 4])  # as python-chess numbers pieces; a queen is told by the pawn that promotes
    want, curves, counts, choices = [], [], [], []
    for number, pool in enumerate(POOLS):
        if pool not in options.pools:
            continue
        rows = people_of(games, number, options.share, np.random.default_rng(7 + number))
        for part in np.array_split(rows, max(1, len(rows) // AT_ONCE)):
            size = plies[part[:, 3]]
            offsets = np.concatenate([[0], np.cumsum(size)])
            at = np.arange(offsets[-1]) + np.repeat(starts[part[:, 3]] - offsets[:-1], size)
            moves = with_queens((coded[at] & 4095) | promotion[coded[at] >> 12].astype(np.uint16) << 12, offsets)
            found, count, choice = curves_of(moves, offsets, part[:, 4], FIDE if options.over_the_board else pool)
            choice = choice[games["has_eval"][part[choice[:, 0].astype(np.int64), 3]]]
            choice[:, 0] += sum(map(len, curves))
            curves.append(found)
            counts.append(count)
            choices.append(choice)
        want.append(rows)
        print(f"{pool}: {len(rows):,} sides", flush=True)
    every = np.concatenate(want)
    rating = np.stack([games["white_elo"], games["black_elo"]], 1)[every[:, 3], every[:, 4]]
    tables = {"curves": curves, "count": counts, "choices": choices}
    np.savez(options.out, want=every, rating=rating, **{n: np.concatenate(parts) for n, parts in tables.items()})


def with_queens(moves: npt.NDArray[np.uint16], offsets: Ints) -> npt.NDArray[np.uint16]:
    """Return moves with the queen written where a pawn promotes to one: the data leave it out.

    Only the first of a game is certain, for it changes the board after it: the games are replayed until none is left.
    """
    moves = moves.copy()
    game = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    at = np.arange(len(moves))
    flip = np.where((at - offsets[game]) % 2, 56, 0)
    start, end = (moves & 63).astype(np.int64) ^ flip, (moves >> 6 & 63).astype(np.int64) ^ flip
    last = np.flatnonzero((start >= 48) & (start < 56) & (end >= 56))
    while True:
        boards = Boards.from_moves(moves, offsets)
        plain = last[(boards.board[last, start[last]] == 1) & (moves[last] >> 12 == 0)]
        if not len(plain):
            return moves
        moves[plain[np.unique(game[plain], return_index=True)[1]]] |= 5 << 12


if __name__ == "__main__":
    main()
