"""Run every benchmark, print its figures, and fail where one does not keep its limit: `make bench`."""

from __future__ import annotations

import sys

from benchmarks import curves, engine, kernels, nodes, startup
from benchmarks.measure import Figure, yardstick


def main() -> int:
    print(f"yardstick: exp of ten million numbers in numpy, {yardstick():.3f} CPU-seconds")
    failed: list[Figure] = []
    for module in (kernels, curves, nodes, startup, engine):
        print(f"\n{(module.__doc__ or '').splitlines()[0]}")
        for figure in module.figures():
            print(f"  {figure}", flush=True)
            failed += [] if figure.kept else [figure]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
