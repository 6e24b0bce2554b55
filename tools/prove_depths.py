"""Check that an engine's deeper search holds the answers of shallower ones, to the bit: what PROVEN needs.

tools/prove_depths.py --depth 10 --shallower 4 6 8 --multipv 10 --positions 200
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skilloscope.chess.analysis.analyses import cut_lines
from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.engine.engine import Engine, find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.inputs.bundled import analyses_file


def demo_positions(count: int) -> list[str]:
    """Return so many positions of the games that ship, evenly spread over them."""
    fens = [row.fen for row in read_export(analyses_file()).rows]
    return [fens[at] for at in np.linspace(0, len(fens) - 1, count).astype(int)]


def differing_depths(
    engine: str | os.PathLike[str], settings: Settings, depths: Sequence[int], fens: Sequence[str]
) -> list[tuple[str, int]]:
    """Return where a search to a shallower depth says anything else than the search of the settings, cut there.

    This is the evidence for PROVEN. Each search begins from nothing, in an engine process of its own kind.
    """
    differing = []
    with Engine(engine, settings) as deep:
        answers = [deep.analyse(fen) for fen in fens]
    for depth in depths:
        with Engine(engine, replace(settings, depth=depth)) as shallow:
            for fen, answer in zip(fens, answers, strict=True):
                cut = cut_lines(answer.lines, depth, min(settings.multipv, answer.n_legal))
                if cut is None or not np.array_equal(cut, shallow.analyse(fen).lines):
                    differing.append((fen, depth))
    return differing


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
