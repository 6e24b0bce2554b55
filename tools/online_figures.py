"""What the online network is worth on people it has not seen: next to Maia, calibrated or not.

    python tools/online_figures.py maia --data ONLINE --maia MAIA
    python tools/online_figures.py calibration --data ONLINE [--sides 3000]

maia          log-probability and first choices by rating and speed, with standard errors by person
calibration   by pool: how often the first choice is played and how often that was said; the temperature that fits best
"""

from __future__ import annotations

import argparse
import bz2
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from pool_curves import pools_of_games, with_queens
from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import human
from skilloscope.chess.pgn.facts import POOLS
from skilloscope.core.columns import Array, Ints
from skilloscope.models.joint import HumanChoices, log_sums

Columns = dict[str, npt.NDArray[Any]]
REPORTED, AFTER, OF_A_SIDE, OF_A_PERSON = 5, 10, 4, 3


@dataclass(frozen=True, eq=False)
class Online:
    """The games with their moves."""

    games: Columns
    moves: npt.NDArray[np.uint16]
    plies: Ints
    pool: Ints

    @classmethod
    def read(cls, folder: Path) -> Online:
        """Return the games of a folder."""
        games = dict(np.load(folder / "games.npz"))
        coded = np.frombuffer(bz2.decompress((folder / "moves.u16.bz2").read_bytes()), dtype="<u2")
        promotion = np.array([0, 2, 3, 4], dtype=np.uint16)[coded >> 12]
        return cls(games, coded & 4095 | promotion << 12, games["plies"].astype(np.int64), pools_of_games(games))

    def choices(self, game: Ints, ply: Ints, pool: str) -> tuple[HumanChoices, Ints]:
        """Return what people may play at plies of games, and what was played."""
        own, at = np.unique(game, return_inverse=True)
        size, starts = self.plies[own], np.cumsum(self.plies) - self.plies
        offsets = np.concatenate([[0], np.cumsum(size)])
        where = np.arange(offsets[-1]) + np.repeat(starts[own] - offsets[:-1], size)
        moves = with_queens(self.moves[where], offsets)
        rows = offsets[at.reshape(-1)] + ply
        found = human(pool).choices(Boards.from_moves(moves, offsets)[rows])
        return found, found.index_of(moves[rows])

    def of_side(self, name: str, game: Ints, side: Ints) -> Ints:
        """Return the person or the rating (`elo`) of sides."""
        white, black = ("white", "black") if name == "person" else ("white_elo", "black_elo")
        return np.where(side == 0, self.games[white][game], self.games[black][game]).astype(np.int64)


def maia(online: Online, folder: Path) -> Iterator[str]:
    """Print the comparison."""
    held = dict(np.load(folder / "maia.npz"))
    game, ply = held["game"].astype(np.int64), held["ply"].astype(np.int64)
    person = online.of_side("person", game, ply % 2)
    logs, first = np.zeros(len(game)), np.zeros(len(game))
    for pool in np.unique(online.pool[game]).tolist():
        own = np.flatnonzero(online.pool[game] == pool)
        choices, played = online.choices(game[own], ply[own], POOLS[pool])
        said = choices.own_log_probabilities(held["rating"][own].astype(float))
        logs[own] = said[choices.offsets[:-1] + played]
        first[own] = logs[own] >= np.maximum.reduceat(said, choices.offsets[:-1])
    groups = {f"{net} to {net + 99}": held["net"] == net for net in range(1100, 2000, 100)}
    groups |= {"blitz": held["speed"] == 1, "rapid": held["speed"] == 2, "all": held["net"] > 0}
    yield "| rated | positions | nats | Maia | difference | first choice | Maia | difference |"
    for name, own in groups.items():
        of = np.unique(person[own], return_inverse=True)[1]

        def apart(values: Array, of: Ints = of) -> tuple[float, float]:
            return values.mean(), np.sqrt((np.bincount(of, values - values.mean()) ** 2).sum()) / len(values)

        nats, error = apart((logs - held["logp"])[own])
        share, share_error = apart(100 * (first - held["top1"])[own])
        yield (
            f"| {name} | {own.sum():,} | {logs[own].mean():.3f} | {held['logp'][own].mean():.3f} "
            f"| {nats:+.3f} ± {error:.3f} | {100 * first[own].mean():.1f} % | {100 * held['top1'][own].mean():.1f} % "
            f"| {share:+.1f} ± {share_error:.1f} |"
        )


def calibration(online: Online, sides: int) -> Iterator[str]:
    """Print how often first choices are played and how often that was said."""
    person = np.stack([online.games["white"], online.games["black"]], axis=1)
    yield "| pool | positions | nats | first choice played | said | inverse temperature |"
    for number, pool in enumerate(POOLS[1:], start=1):
        rng = np.random.default_rng(number)
        own = np.argwhere((person % 12 == REPORTED) & ((online.pool == number) & (online.plies >= 2 * AFTER))[:, None])
        own = own[rng.permutation(len(own))]
        order = np.argsort(person[own[:, 0], own[:, 1]], kind="stable")
        who = person[own[:, 0], own[:, 1]][order]
        own = own[np.sort(order[np.arange(len(who)) - np.searchsorted(who, who) < OF_A_PERSON])][:sides]
        game, side = np.repeat(own, OF_A_SIDE, axis=0).T
        ply = AFTER + (rng.random(len(game)) * (online.plies[game] - AFTER)).astype(np.int64)
        ply -= (ply % 2 != side) & (ply > AFTER)
        keep = ply % 2 == side
        game, ply, side = game[keep], ply[keep], side[keep]
        choices, played = online.choices(game, ply, pool)
        elo = np.clip(online.of_side("elo", game, side).astype(float), *choices.elo_range)
        logs = choices.own_log_probabilities(elo)
        starts, chosen = choices.offsets[:-1], choices.offsets[:-1] + played
        top = np.maximum.reduceat(logs, starts)

        def cost(sharper: float, logs: Array = logs, chosen: Ints = chosen, choices: HumanChoices = choices) -> float:
            return -float((sharper * logs[chosen] - log_sums(sharper * logs, choices.offsets)).mean())

        best = minimize_scalar(cost, bounds=(0.5, 1.5), method="bounded").x
        yield (
            f"| {pool} | {len(game):,} | {logs[chosen].mean():.3f} | {100 * (logs[chosen] >= top).mean():.1f} % "
            f"| {100 * np.exp(top).mean():.1f} % | {best:.2f} |"
        )


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("maia", "calibration"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--maia", type=Path)
    parser.add_argument("--sides", type=int, default=3000, help="of each pool at most")
    asked = parser.parse_args()
    online = Online.read(asked.data)
    tables = {
        "maia": lambda: maia(online, asked.maia),
        "calibration": lambda: calibration(online, asked.sides),
    }
    for line in tables[asked.what]():
        print(line, flush=True)


if __name__ == "__main__":
    main()
