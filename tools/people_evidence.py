"""What the moves of people of human/ say whom the network has not seen, without an engine; kept in a file.

In: ../shared/data/human. Out: `MoveEvidence`: for player-games the curves of `opening` and `human` on POOL_ELO. The
human model takes minutes for thousands of games, so the curves can be kept in a file and are read from it the next
time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import axis_data
from skilloscope.chess.human.played import move_evidence, played_moves
from skilloscope.studies.calibrate import POOL_ELO, PoolEvidence

INSTANT = ("opening", "human")
_GAMES = 500  # at a time
_EVERY = 5  # POOL_ELO is every fifth of ELO

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PlayerGames:
    """Player-games of human/: who, which game, when, his rating and the opponent's, his score and his colour."""

    player: Whole
    game: Whole
    year: Whole
    elo: Array
    opponent: Array
    score: Array
    black: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.player)

    def take(self, rows: npt.NDArray[Any]) -> PlayerGames:
        """Return some of them."""
        return PlayerGames(**{name: column[rows] for name, column in vars(self).items()})


@dataclass(frozen=True, eq=False)
class MoveEvidence:
    """The curves of player-games by source, a row for each; zero where a game has no such move."""

    games: PlayerGames
    curves: dict[str, Array]

    def of_groups(self, rows: Whole, group: Whole, elo: Array) -> PoolEvidence:
        """Return the games `rows` as those of groups 0, 1, 2 … with their ratings."""
        return PoolEvidence(elo, {n: c[rows] for n, c in self.curves.items()}, dict.fromkeys(self.curves, group))


def held_out_games(low: float, high: float) -> PlayerGames:
    """Return the player-games of people with `low` ≤ hash < `high`, by person and year, whose result is known."""
    table = np.load(axis_data.SHARED / "human" / "games.npz")
    sides = [table["white"], table["black"]]
    elos = [table["white_elo"].astype(float), table["black_elo"].astype(float)]
    score = table["result"] / 2.0
    games = PlayerGames(
        player=np.concatenate(sides).astype(np.int64),
        game=np.tile(np.arange(len(score)), 2),
        year=np.tile(table["year"].astype(np.int64), 2),
        elo=np.concatenate(elos),
        opponent=np.concatenate(elos[::-1]),
        score=np.concatenate([score, 1 - score]),
        black=np.repeat([False, True], len(score)),
    )
    hashed = axis_data.hashed(games.player)
    use = (hashed >= low) & (hashed < high) & (np.tile(table["result"], 2) <= 2)
    some = games.take(np.flatnonzero(use))
    return some.take(np.lexsort((some.game, some.year, some.player)))


def kept_evidence(games: PlayerGames, kept: Path | None = None) -> MoveEvidence:
    """Return the curves of the games' moves, from the file where it holds just these, else computed (and kept)."""
    if kept is not None and kept.is_file():
        found = np.load(kept)
        if np.array_equal(found["game"], games.game) and np.array_equal(found["player"], games.player):
            return MoveEvidence(games, {name: found[name].astype(float) for name in INSTANT})
    parts = list(_parts(games))
    curves = {name: np.concatenate([part[at] for part in parts]) for at, name in enumerate(INSTANT)}
    if kept is not None:
        small = {name: rows.astype(np.float32) for name, rows in curves.items()}
        np.savez(kept, game=games.game, player=games.player, **small)  # type: ignore[arg-type]
    return MoveEvidence(games, curves)


def _parts(games: PlayerGames) -> Iterator[Array]:
    """Yield the curves of a few games at a time: source, game, Elo."""
    for begin in range(0, len(games), _GAMES):
        some = games.take(np.arange(begin, min(begin + _GAMES, len(games))))
        known = axis_data.human_games(some.game, some.player)
        own = known.games.movers == some.black.astype(np.int64)[known.games.game_of_move]
        moves = played_moves(known.games, wanted=own)
        table = move_evidence(moves, moves.game.tolist())
        out = np.zeros((len(INSTANT), len(some), len(POOL_ELO)))
        source = np.array([INSTANT.index(name) for name in table.sources], dtype=np.int64)
        out[source, table.games] = table.curves[:, ::_EVERY]
        print(f"{begin + len(some):,} of {len(games):,} games", flush=True)
        yield out
