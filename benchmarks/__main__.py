"""Run every benchmark, print its figures, and fail where one does not keep its limit: `make bench`.

`python -m benchmarks results startup` runs only those that are named.
"""

from __future__ import annotations

import sys

from benchmarks import cluster, curves, engine, evidence, gain, kernels, nodes, pgn, results, startup, web
from benchmarks.measure import Figure, NotMeasured, yardstick


def main(wanted: list[str]) -> int:
    print(f"yardstick: exp of ten million numbers in numpy, {yardstick():.3f} CPU-seconds")
    failed: list[Figure | NotMeasured] = []
    known = (kernels, curves, nodes, evidence, gain, startup, pgn, results, engine, cluster, web)
    for module in [m for m in known if not wanted or m.__name__.split(".")[-1] in wanted]:
        print(f"\n{(module.__doc__ or '').splitlines()[0]}")
        for figure in module.figures():
            print(f"  {figure}", flush=True)
            failed += [] if figure.kept else [figure]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
