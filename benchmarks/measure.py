"""How benchmarks measure: CPU seconds, the best of several after a warm-up, beside a fixed numpy yardstick."""

from __future__ import annotations

import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Figure:
    """One measured figure, and the limit it must keep where it has one."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    digits: int = 3
    """How many figures are shown."""

    @property
    def kept(self) -> bool:
        """Whether the figure keeps its limit."""
        high_enough = self.at_least is None or self.value >= self.at_least
        return high_enough and (self.at_most is None or self.value <= self.at_most)

    def __str__(self) -> str:
        limit = f" (at least {self.at_least:g})" if self.at_least is not None else ""
        limit += f" (at most {self.at_most:g})" if self.at_most is not None else ""
        return f"{'ok  ' if self.kept else 'FAIL'} {self.name}: {self.value:,.{self.digits}g} {self.unit}{limit}"


@dataclass(frozen=True)
class NotMeasured:
    """A figure that could not be measured here, and why: neither kept nor missed."""

    name: str
    reason: str
    kept: bool = True

    def __str__(self) -> str:
        return f"–    {self.name}: not measured ({self.reason})"


def cpu_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the CPU seconds of the fastest of several runs, after one that warms up."""
    work()
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return float(best)


def first_seconds(work: Callable[[], object]) -> float:
    """Return the wall seconds of the very first run: compiling, or loading what was compiled."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def yardstick() -> float:
    """Return the CPU seconds of a fixed piece of numpy work, to compare machines by: exp of ten million numbers."""
    numbers = np.linspace(-5, 5, 10_000_000)
    return cpu_seconds(lambda: np.exp(numbers), 3)


def peak_megabytes() -> float:
    """Return the highest resident size of this process since its program began.

    On Linux `ru_maxrss` goes on through exec: in a process that a larger one has started it is the larger one's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
