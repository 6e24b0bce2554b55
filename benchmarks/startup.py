"""How long the command takes to start, against `import numpy` in the same run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure

LIMIT = 2.5


def figures() -> Iterator[Figure]:
    command = str(Path(sys.executable).with_name("skilloscope"))
    numpy, started = startup_seconds(command)
    yield Figure("python -c 'import numpy'", numpy, "s")
    yield Figure("skilloscope --help", started, "s")
    yield Figure("skilloscope --help against import numpy", started / numpy, "times", at_most=LIMIT)


def startup_seconds(command: str, repeats: int = 7) -> tuple[float, float]:
    """Return the fastest of several runs of `import numpy` and of the command, alternating."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for place, line in enumerate(([sys.executable, "-c", "import numpy"], [command, "--help"])):
            start = time.perf_counter()
            subprocess.run(line, check=True, capture_output=True)
            best[place] = min(best[place], time.perf_counter() - start)
    return best[0], best[1]
