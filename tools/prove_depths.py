"""Try whether an engine's deeper search holds the answers of shallower ones, to the bit: what depths.py needs.

tools/prove_depths.py --depth 10 --shallower 4 6 8 --multipv 10 --positions 200
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from skilloscope.chess.analysis.depths import differing_depths
from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.sources.shipped import analyses_file


def demo_positions(count: int) -> list[str]:
    """Return so many positions of the games that ship, evenly spread over them."""
    fens = [row.fen for row in read_export(analyses_file()).rows]
    return [fens[at] for at in np.linspace(0, len(fens) - 1, count).astype(int)]


def main() -> int:
    """Compare, print one line, and end with 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine")
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--shallower", type=int, nargs="+", default=[4, 6, 8])
    parser.add_argument("--multipv", type=int, default=10)
    parser.add_argument("--positions", type=int, default=200)
    given = parser.parse_args()
    start = time.perf_counter()
    settings = Settings(depth=given.depth, multipv=given.multipv)
    fens = demo_positions(given.positions)
    differing = differing_depths(find_engine(given.engine), settings, given.shallower, fens)
    what = f"depths {given.shallower} out of {given.depth}, {given.multipv} lines"
    print(f"{what}: {len(differing)} of {len(fens) * len(given.shallower)} answers differ"
          f" ({time.perf_counter() - start:.0f} s)")  # fmt: skip
    for fen, depth in differing[:10]:
        print(f"depth {depth}: {fen}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
