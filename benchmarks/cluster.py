"""A cluster of two real workers: processor time that a thousand games cost there."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks.measure import Figure, NotMeasured
from skilloscope.inputs.bundled import demo_file

FEW, SOME = 2, 6
"""Games whose cost is measured: the difference of two runs is free of what a start costs."""


def figures() -> Iterator[Figure | NotMeasured]:
    try:
        from distributed import LocalCluster
    except ImportError:
        yield NotMeasured("a cluster of two workers", "the extra `cluster` is not installed")
        return
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
    ):
        workers = [psutil.Process(worker.pid) for worker in cluster.workers.values()]
        folder, address = Path(name), cluster.scheduler_address
        command = ["analyse", "--scheduler", address]
        few, some = [_cost(folder, command, games, workers) for games in (FEW, FEW, SOME)][1:]  # the first warms up
        each = [1000 * (b - a) / (SOME - FEW) for a, b in zip(few, some, strict=True)]
        yield Figure("analyse, depth 10 and ten lines: 1,000 games on the workers", each[0], "CPU-seconds")
        yield Figure("analyse, depth 10 and ten lines: 1,000 games beside them", each[1], "CPU-seconds")


def _cost(folder: Path, command: list[str], games: int, workers: list[psutil.Process]) -> tuple[float, float]:
    """Run a command on so many games; return CPU-seconds of the workers with their engines, and of the command."""
    texts = re.split(r"(?=\[Event )", demo_file("simulated.pgn").read_text(encoding="utf-8"))[1:]
    path = folder / "games.pgn"
    path.write_text("\n\n".join(texts[:games]), encoding="utf-8")
    store = tempfile.mkdtemp(dir=folder)
    before = [_spent(workers), _children()]
    subprocess.run(
        [sys.executable, "-m", "skilloscope", "-q", command[0], str(path), *command[1:], "--store", store],
        check=True, capture_output=True,
    )  # fmt: skip
    return _spent(workers) - before[0], _children() - before[1]


def _spent(workers: list[psutil.Process]) -> float:
    """Return CPU-seconds of the workers, of what they have started, and of what of that has ended."""
    alive = [process for worker in workers for process in (worker, *worker.children(recursive=True))]
    times = [process.cpu_times() for process in alive]
    return sum(one.user + one.system + one.children_user + one.children_system for one in times)


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
