"""Have an engine judge the moves of people of data/people, drawn at random; resumable.

    .venv/bin/python tools/search_people.py STORE [--minutes 120] [--workers 2]

Four games each of people who were not drawn `evenly` before (tools/events_searched.json). The order is fixed: whatever
the run has finished when it is stopped is complete for the people at the front of that order, a fair sample of all.
Import measurements/events_random_depth10_sf151.parquet into the store first: it holds the first 233 of them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import axis_data
from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.engine.settings import DFH13
from skilloscope.chess.pgn.positions import positions

SEED = 28
FEW_GAMES = 4
TOGETHER = 5  # people searched in one call


def main() -> None:
    """Search until the people or the minutes run out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    begun = time.monotonic()
    games = games_in_order()
    for start in range(0, len(games), TOGETHER):
        left = 60 * asked.minutes - (time.monotonic() - begun)
        if left < 1:
            break
        known = axis_data.people_of_events(np.concatenate(games[start : start + TOGETHER]))
        names = {name for pair in known.sides for name in pair if name}
        batch = positions(known.games, player=names)
        analyse(batch, settings=DFH13, store=asked.store, workers=asked.workers, deadline_seconds=left)
        print(f"{start + len(names)} people, {len(batch)} positions, {time.monotonic() - begun:.0f} s", flush=True)


def games_in_order() -> list[npt.NDArray[np.int64]]:
    """Return the player-games of each person, in the order in which people are searched."""
    table = np.load(axis_data.SHARED / "people" / "games.npz")
    known = table["person"][axis_data.searched_rows("evenly")]
    left = np.setdiff1d(table["person"], known)
    order = np.random.default_rng(SEED).permutation(left).tolist()
    return [np.flatnonzero(table["person"] == person)[:FEW_GAMES] for person in order]


if __name__ == "__main__":
    main()
