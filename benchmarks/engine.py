"""What the engine's driver costs: against a bare pipe that reads only `bestmove`, and with two engines side by side.

Engine CPU only, from the system's own accounts: other jobs on the machine make everything late, but not these.
Everything that is compared alternates within one run; the best of several runs counts.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import skilloscope
from benchmarks.measure import Figure
from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.engine.engine import Engine, find_engine
from skilloscope.chess.engine.lines import pack_lines
from skilloscope.chess.engine.pool import EnginePool
from skilloscope.chess.engine.runner import Runner, SearchRunner
from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.core.errors import EngineError
from skilloscope.store import Store, StoredAnalysis

POSITIONS = 60
RUNS = 3
DEMO = Path(skilloscope.__file__).parent / "data" / "demo" / "analyses.jsonl.gz"


def figures() -> Iterator[Figure]:
    try:
        path = find_engine()
    except EngineError:
        return
    rows = read_export(DEMO).rows
    fens = [row.fen for row in rows[:: len(rows) // POSITIONS]][:POSITIONS]
    for settings, times in ((DFH13, 1), (Settings(depth=6, multipv=10), 5)):
        ratio = max(_against_bare_pipe(path, settings, fens * times) for _ in range(RUNS))
        name = f"positions per engine-CPU-second against a bare pipe, depth {settings.depth}"
        yield Figure(name, ratio, "of it", at_least=0.95)
    if Path("/proc/self/schedstat").exists():
        yield from _side_by_side(path, fens)


class BarePipe:
    """The least that can drive an engine: send, and read until `bestmove`."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 20)
        options = f"setoption name Hash value {settings.hash_mb}\nsetoption name MultiPV value {settings.multipv}\n"
        self.limit = settings.limit
        self.ask("uci\n" + options + "isready\n", b"readyok")

    def ask(self, text: str, word: bytes) -> None:
        """Send the text and wait for a line that begins with the word."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()
        while not self.process.stdout.readline().startswith(word):
            pass

    def search(self, fen: str) -> None:
        """Search one position from nothing."""
        self.ask(f"ucinewgame\nisready\nposition fen {fen}\ngo {self.limit}\n", b"bestmove")

    def close(self) -> None:
        """End the engine."""
        self.process.communicate(b"quit\n")


def _against_bare_pipe(path: Path, settings: Settings, fens: Sequence[str]) -> float:
    """Return the CPU seconds of a bare pipe's engine, as a share of those of ours for the same positions."""
    bare, ours = BarePipe(path, settings), Engine(path, settings)
    for fen in fens:
        bare.search(fen)
        ours.analyse(fen)
    return _cpu_of_ending(bare.close) / _cpu_of_ending(ours.close)


def _cpu_of_ending(close: Callable[[], None]) -> float:
    """Return the CPU seconds that a child process, and those it started, had used when it ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _side_by_side(path: Path, fens: list[str]) -> Iterator[Figure]:
    """Two workers that store what they find: how busy their engines are, and what a position costs them."""
    busiest, dearest = 0.0, float("inf")
    for _ in range(RUNS):
        with Runner(path, DFH13) as one, EnginePool(path, DFH13, 2) as two:
            for runner in (one, two):
                list(runner.search(fens[:4]))  # starts every engine
            _, alone, _ = _measured(one, fens)
            wall, together, idlest = _measured(two, fens)
        busiest = max(busiest, idlest / wall)
        dearest = min(dearest, together / alone)
    yield Figure("two workers: wall time that the idler engine is busy", busiest, "of it", at_least=0.95)
    yield Figure("two workers: engine CPU per position against one", dearest, "times", at_most=1.05)
    yield Figure("two bare pipes: engine CPU per position against one", _bare_side_by_side(path, fens), "times")


def _measured(runner: SearchRunner, fens: Sequence[str]) -> tuple[float, float, float]:
    """Search and store; return wall seconds until nothing was left to begin, CPU in all, busy seconds of the idlest."""
    engines = [_engine_below(r._engine._process.pid) for r in getattr(runner, "_runners", [runner])]
    before = [_schedule(pid) for pid in engines]
    begin = time.perf_counter()
    ended: list[tuple[float, list[float]]] = []

    def feed() -> Iterator[str]:
        yield from fens
        ended.append((time.perf_counter() - begin, [_schedule(pid)[1] for pid in engines]))

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.sqlite") as store:
        for outcome in runner.search(feed()):
            assert outcome.answer is not None
            row = StoredAnalysis(outcome.problem, outcome.answer.n_legal, pack_lines(outcome.answer.lines))
            store.put_many(runner.key, [row])
    cpu = sum(_schedule(pid)[0] - start[0] for pid, start in zip(engines, before, strict=True))
    wall, busy = ended[0]
    return wall, cpu, min(at - start[1] for at, start in zip(busy, before, strict=True))


def _bare_side_by_side(path: Path, fens: Sequence[str]) -> float:
    """Return the same ratio for bare pipes: what the machine itself makes of two engines at a time."""
    from threading import Thread

    def cpu(pipes: list[BarePipe], each: Sequence[str]) -> float:
        before = sum(_schedule(pipe.process.pid)[0] for pipe in pipes)
        threads = [Thread(target=lambda pipe=pipe: [pipe.search(fen) for fen in each]) for pipe in pipes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (sum(_schedule(pipe.process.pid)[0] for pipe in pipes) - before) / len(pipes)

    pipes = [BarePipe(path, DFH13), BarePipe(path, DFH13)]
    best = min(cpu(pipes, fens[::2]) / cpu(pipes[:1], fens[::2]) for _ in range(RUNS))
    for pipe in pipes:
        pipe.close()
    return best


def _engine_below(guard: int) -> int:
    return int(Path(f"/proc/{guard}/task/{guard}/children").read_text().split()[0])


def _schedule(pid: int) -> tuple[float, float]:
    """Return the seconds that a process has run, and those that it has run or waited for a core to run on."""
    fields = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    ran, waited = (sum(int(row[place]) for row in fields) / 1e9 for place in (0, 1))
    return ran, ran + waited
