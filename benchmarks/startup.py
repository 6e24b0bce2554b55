"""How long the command takes to start, against `import numpy` in the same run; in CPU-seconds, however busy it is."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure

LIMIT = 2.5
IMPORT_LIMIT = 0.1


def figures() -> Iterator[Figure]:
    command = str(Path(sys.executable).with_name("skilloscope"))
    numpy, package, started = startup_seconds(command)
    yield Figure("python -c 'import numpy'", numpy, "CPU-s")
    yield Figure("python -c 'import skilloscope'", package, "CPU-s", at_most=IMPORT_LIMIT)
    yield Figure("skilloscope --help", started, "CPU-s")
    yield Figure("skilloscope --help against import numpy", started / numpy, "times", at_most=LIMIT)


def startup_seconds(command: str, repeats: int = 7) -> tuple[float, float, float]:
    """Return the fastest of several runs in turn: `import numpy`, `import skilloscope`, and the command's --help."""
    best = [float("inf")] * 3
    imports = [[sys.executable, "-c", f"import {name}"] for name in ("numpy", "skilloscope")]
    for _ in range(repeats):
        for place, line in enumerate((*imports, [command, "--help"])):
            start = cpu_seconds_of_children()
            subprocess.run(line, check=True, capture_output=True)
            best[place] = min(best[place], cpu_seconds_of_children() - start)
    return best[0], best[1], best[2]


def cpu_seconds_of_children() -> float:
    """Return what all processes that this one has started and seen end have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
