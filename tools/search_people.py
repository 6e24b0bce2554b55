"""Have an engine judge the moves of people of data/people, people of all ratings and events in turn; resumable.

    .venv/bin/python tools/search_people.py STORE [--people 300] [--whole 100] [--minutes 120] [--workers 2]

The first `--whole` people are searched with all their games, the others with four games each. The order is fixed:
people are drawn from each hundred of ratings in turn, nobody from an event that is already there. Whatever the run
has finished when it is stopped is complete for the people at the front of that order.
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
TOGETHER = 10  # people searched in one call


def main() -> None:
    """Search until the people or the minutes run out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--whole", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    begun = time.monotonic()
    games = games_in_order(asked.people, asked.whole)
    for start in range(0, len(games), TOGETHER):
        left = 60 * asked.minutes - (time.monotonic() - begun)
        if left < 1:
            break
        known = axis_data.people_of_events(np.concatenate(games[start : start + TOGETHER]))
        names = {name for pair in known.sides for name in pair if name}
        batch = positions(known.games, player=names)
        analyse(batch, settings=DFH13, store=asked.store, workers=asked.workers, deadline_seconds=left)
        print(f"{start + len(names)} people, {len(batch)} positions, {time.monotonic() - begun:.0f} s", flush=True)


def games_in_order(people: int, whole: int) -> list[npt.NDArray[np.int64]]:
    """Return the player-games of each person, in the order in which people are searched."""
    table = np.load(axis_data.SHARED / "people" / "games.npz")
    rng = np.random.default_rng(SEED)
    own = np.where(table["side"] == 0, table["white_elo"], table["black_elo"]).astype(np.int64)
    first = np.unique(table["person"], return_index=True)[1]
    band, event = own[first] // 100, table["event"][first]
    waiting = {b: rng.permutation(np.flatnonzero(band == b)).tolist() for b in np.unique(band)}
    order: list[int] = []
    events: set[int] = set()
    while len(order) < people and any(waiting.values()):
        for queue in waiting.values():
            fresh = next((person for person in queue if event[person] not in events), None)
            if fresh is None:
                queue.clear()
                continue
            queue.remove(fresh)
            order.append(fresh)
            events.add(int(event[fresh]))
    rows = [np.flatnonzero(table["person"] == table["person"][first[person]]) for person in order[:people]]
    return [own_rows if at < whole else own_rows[:FEW_GAMES] for at, own_rows in enumerate(rows)]


if __name__ == "__main__":
    main()
