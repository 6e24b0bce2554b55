"""DFHR09 and DFH13 used Toga II: do composites and the line from c to Elo depend on the engine that judges?

    cd tools && ../.venv/bin/python papers_engine.py [--games 5] [--minutes 60] [--store DIR] [--import FILE]

In: ../shared/data/analysed (games near mileposts, Stockfish 15.1 at depth 10 with ten moves listed). So many games of
each milepost in the order of seed 1 are searched again by Toga II, the position after each move, to depth 6: what it
lists itself are bounds. Out: c of every milepost and the line, on the same positions, by Toga II at depth 6, by
Stockfish at depth 6 and at depth 10, next to what the papers print; `skilloscope papers reproduce DFH13.engine` shows
the same from the answers that are kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import axis_data
from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.files import read_analysed
from skilloscope.chess.engine.settings import Settings
from skilloscope.inputs.budget import game_order
from skilloscope.papers.dfh13 import TOGA_DEPTH, TOLERANCE, judged_by
from skilloscope.papers.harness import SHARED_ANALYSES, paper_table
from skilloscope.ratings.mileposts import shared_milepost
from skilloscope.studies.pooled import PooledStudy

SEED = 1


def main() -> None:
    """Search what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=5, help="games of each milepost")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--import", dest="imports", action="append", default=[])
    given = parser.parse_args()
    file = sorted((axis_data.SHARED / "analysed").glob("*.jsonl*"))[0]
    known = first_games(read_analysed(file, SHARED_ANALYSES), given.games)
    toga = analyse(
        known.positions,
        settings=Settings(depth=TOGA_DEPTH, multipv=10),
        engine="toga2",
        store=given.store,
        imports=given.imports,
        deadline_seconds=60 * given.minutes,
    )
    found = {name: composites for name, (_, composites) in judged_by(known, toga).items()}
    print(f"{int(toga.answered.sum()):,} of {len(toga):,} positions; engine {toga.settings}")
    print(table(found))


def first_games(analyses: Analyses, most: int) -> Analyses:
    """Return the first games of each milepost in the seed's order."""
    heads = analyses.games.headers
    white, black = (heads[f"{side}_elo"].to_numpy().astype(float) for side in ("white", "black"))
    posts = [None if np.isnan(post) else int(post) for post in shared_milepost(white, black, TOLERANCE)]
    order = [row for row in game_order(analyses.games, SEED, posts) if posts[row] is not None]
    wanted = [row for post in set(posts) - {None} for row in [one for one in order if posts[one] == post][:most]]
    return analyses.select(np.flatnonzero(np.isin(analyses.positions.game, wanted)))


def table(found: dict[str, PooledStudy]) -> str:
    """Return c of every milepost and the line of each engine, beside print."""
    printed = {row["player"].removeprefix("Elo"): row["c"] for row in paper_table("DFH13_table_III")}
    lines = ["| milepost | printed | " + " | ".join(found) + " |", "|---" * (len(found) + 2) + "|"]
    posts = sorted({group.label for one in found.values() for group in one.groups})
    for post in posts:
        cells = []
        for one in found.values():
            group = next((g for g in one.groups if g.label == post), None)
            cells.append("–" if group is None else f"{group.c.mean:.3f} ± {group.c.sd:.3f} ({group.decisions})")
        lines.append(f"| {post} | {printed.get(str(post), '–')} | " + " | ".join(cells) + " |")
    slopes = [f"{one.line.slope:.0f} ± {one.line.slope_sd:.0f}" if one.line else "–" for one in found.values()]
    levels = [f"{one.line.intercept:.0f}" if one.line else "–" for one in found.values()]
    lines += ["| slope, Elo on c̄ | | " + " | ".join(slopes) + " |", "| intercept | | " + " | ".join(levels) + " |"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
