"""The work of `skilloscope results simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def simulated(
    sizes: dict[str, Any], period: str, start: str, seed: int, path: Path, truth: Path | None, as_json: bool
) -> int:
    """Simulate a population and write its results, and its true strengths if wanted."""
    import numpy as np

    from skilloscope.cli.console import err, print_json
    from skilloscope.results.writing import check_table_format, results_to_arrow, write_table
    from skilloscope.simulate.populations import Population, simulate_results, truth_table

    for file in filter(None, (path, truth)):
        check_table_format(file)
    population = Population(**sizes)
    made = simulate_results(population, rng=np.random.default_rng(seed), period=period, start=start)
    write_table(results_to_arrow(made.results), path)
    if truth:
        write_table(truth_table(population, made), truth)
    if as_json:
        print_json({"schema": 1, **sizes, "period": period, "seed": seed})
    else:
        counts = f"{sizes['games']:,} games of {sizes['players']:,} players in {sizes['periods']:,} periods of {period}"
        err().print(f"{counts} (σ0 = {sizes['sigma0']:g}, ν = {sizes['nu']:g}, seed {seed}) written to {path}")
    return 0
