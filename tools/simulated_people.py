"""Are simulated people like people? Simulated games beside real ones of the same Elo.

    cd tools && python simulated_people.py FOLDER [--games 200] [--effort full] [--seed 1]

Lets people of 1200, 1600, 2000 and 2400 play games (`skilloscope simulate games`; FOLDER keeps games and analyses, and
what is there is not played again), and rates them (`skilloscope rate --prior flat`). Real moves are those of people
within 100 points against opponents within 200, as far as Stockfish has judged them: whoever meets far stronger people
stands worse, and blunders otherwise. Real lengths are those of the bands. Match, scaled loss and blunders (a pawn from
an even position) are counted from move 13 on, to the depth of the effort.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import axis_data
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.played import PlayedMoves, played_moves
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.paths import store_file
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.load import EngineJob
from skilloscope.studies.screen.statistics import BLUNDER

ELOS = (1200, 1600, 2000, 2400)
FEW_GAMES = 100
FIGURES = {"match, %": 100, "loss": 1, "blunders, %": 100, "plies": 1}

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A mean with its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: Array, game: npt.NDArray[np.int64]) -> Figure:
        """Return the mean of values; those of one game are not independent."""
        apart = np.bincount(game, values - values.mean())
        return cls(float(values.mean()), float(np.sqrt((apart**2).sum()) / len(values)))


def main() -> None:
    """Play, rate, and print simulated over real."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--effort", default="full", choices=["quick", "full"])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    real = real_figures(given.effort)
    print(f"| Elo | rated | {' | '.join(FIGURES)} | draws, % |\n|---|---|{'---|' * (len(FIGURES) + 1)}")
    for elo in ELOS:
        path = given.folder / f"{elo}.pgn"
        if not path.is_file():
            played(path, elo, given)
        found, draws = simulated_figures(path, given.effort)
        cells = [cell(found[name], real[elo][name], unit) for name, unit in FIGURES.items()]
        print(
            f"| {elo} | {' and '.join(ratings(path, given.effort))} | {' | '.join(cells)} | {100 * draws:.0f} |",
            flush=True,
        )


def cell(own: Figure, other: Figure, unit: float) -> str:
    """Return simulated / real, and the ratio with its standard error."""
    ratio = own.mean / other.mean
    error = ratio * np.hypot(own.error / own.mean, other.error / other.mean)
    return f"{unit * own.mean:.3g} / {unit * other.mean:.3g} ({ratio - 1:+.0%} ± {100 * error:.0f})"


def command(*words: object) -> str:
    """Return what a command of ours writes to stdout."""
    line = [sys.executable, "-m", "skilloscope", *map(str, words)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def played(path: Path, elo: int, given: argparse.Namespace) -> None:
    """Let people of that Elo play."""
    which = ("--games", given.games, "--effort", given.effort, "--seed", given.seed)
    command("simulate", "games", "--elo", elo, *which, "--store", path.parent / "store", "--out", path)


def ratings(path: Path, effort: str) -> list[str]:
    """Return the Elo of both players without a prior."""
    told = command("rate", path, "--store", path.parent / "store", "--effort", effort, "--prior", "flat", "--json")
    players: list[dict[str, Any]] = json.loads(told)["players"]
    return [f"{player['elo']:.0f}" for player in sorted(players, key=lambda player: str(player["player"]))]


def simulated_figures(path: Path, effort: str) -> tuple[dict[str, Figure], float]:
    """Return the figures of simulated games, whose analyses are in the store, and the share of draws."""
    games, settings = read_games([path]), Settings.from_key(elo_axis().effort(effort).settings)
    found = EngineJob(settings, store_file(path.parent / "store")).analyse(positions(games))
    moves = played_moves(games).with_engine(found, settings.depth or 0)
    draws = np.mean([result == "1/2-1/2" for result in games.headers["result"].to_pylist()])
    return figures([moves], [np.ones(len(moves.judged), dtype=bool)], games.counts), float(draws)


def real_figures(effort: str) -> dict[int, dict[str, Figure]]:
    """Return the figures of real people and games of each Elo."""
    depth = int(elo_axis().effort(effort).settings["depth"])
    known = [*(getattr(axis_data, name)() for name in ("analysed", "people", "persons")), *axis_data.band_games()]
    judged = [axis_data.judged(one).at_depth(depth) for one in known]
    return {
        elo: figures(
            [one.moves for one in judged],
            [inside(one, elo) for one in judged],
            lengths(elo),
        )
        for elo in ELOS
    }


def inside(people: axis_data.JudgedPeople, elo: int) -> npt.NDArray[np.bool_]:
    """Return which judged moves were made in games of a band: the mover within 100 points, the opponent within 200."""
    return (np.abs(people.judged_elo - elo) <= 100) & (np.abs(people.judged_opponent_elo - elo) <= 200)


def lengths(elo: int) -> npt.NDArray[np.integer[Any]]:
    """Return the plies of real games of an Elo: those of the bands, and where these are few, those of human/."""
    wide = axis_data.SHARED / "bands_wide" / f"{elo}_pm50.pgn"
    files = [wide] if wide.is_file() else sorted((axis_data.SHARED / "bands").glob(f"{elo}_*.pgn"))
    plies = np.concatenate([read_games(path).counts for path in files])
    if len(plies) >= FEW_GAMES:
        return plies
    table = np.load(axis_data.SHARED / "human" / "games.npz")
    near = [np.abs(table[name].astype(int) - elo) <= 100 for name in ("white_elo", "black_elo")]
    return np.concatenate([plies, table["plies"][near[0] & near[1]]])


def figures(
    batches: list[PlayedMoves], wanted: list[npt.NDArray[np.bool_]], plies: npt.NDArray[np.integer[Any]]
) -> dict[str, Figure]:
    """Return the figures of some judged moves, and of the lengths of games."""
    columns: list[Array] = []
    games: list[npt.NDArray[np.int64]] = []
    for number, (moves, use) in enumerate(zip(batches, wanted, strict=True)):
        assert moves.joint is not None
        assert moves.preferred is not None
        assert moves.judged is not None
        loss = (moves.joint.roots[:, -1].astype(float) ** 2)[moves.joint.offsets[:-1] + moves.joint.chosen]
        columns.append(np.stack([moves.joint.chosen == moves.preferred, loss, loss >= BLUNDER], axis=1)[use])
        games.append(moves.game[moves.judged][use] + 1_000_000 * number)
    values, game = np.concatenate(columns).astype(float), np.unique(np.concatenate(games), return_inverse=True)[1]
    lengths = plies.astype(float)
    found = [*(Figure.of(column, game) for column in values.T), Figure.of(lengths, np.arange(len(lengths)))]
    return dict(zip(FIGURES, found, strict=True))


if __name__ == "__main__":
    main()
