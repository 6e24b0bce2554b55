"""Ten million decisions of 100,000 groups: evidence from decisions, regrouping from stored evidence, and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure, cpu_seconds, peak_megabytes
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import batch_from_parquet, batch_to_parquet
from skilloscope.evidence import Grid, agent_evidence
from skilloscope.evidence.table import read_evidence, write_evidence

DECISIONS, GROUPS, ALTERNATIVES = 10_000_000, 100_000, 10
PART = 100_000


def figures() -> Iterator[Figure]:
    """Measure in processes of their own: the highest memory is that of these decisions alone."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "decisions.parquet")
        found, again = _child("make", file), _child("read", file)
    yield Figure("evidence of ten million decisions in 100,000 groups", found["from_decisions"], "CPU-seconds")
    yield Figure("regrouping the stored evidence", 1000 * found["regrouping"], "CPU-milliseconds")
    yield Figure("reading it from Parquet before", 1000 * found["reading"], "CPU-milliseconds")
    ratio = found["from_decisions"] / found["regrouping"]
    yield Figure("regrouping stored evidence against evidence from decisions", ratio, "times", at_least=100)
    ratio = found["from_decisions"] / (found["regrouping"] + found["reading"])
    yield Figure("the same with the file read each time", ratio, "times")
    yield Figure("highest memory, ten million decisions made here", found["gigabytes"], "GB", at_most=2)
    yield Figure("highest memory, ten million decisions from Parquet", again["gigabytes"], "GB", at_most=2)


def _child(what: str, file: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.evidence", what, file]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def many_decisions(n: int, groups: int, rng: np.random.Generator) -> Decisions:
    """Return decisions of agents with c = 1.2 in pairs of groups that take turns, as the two sides of games do."""
    values, chosen = np.zeros((n, ALTERNATIVES), dtype=np.float32), np.empty(n, dtype=np.int32)
    for start in range(0, n, PART):
        part = slice(start, min(start + PART, n))
        gaps = rng.gamma(0.6, 0.25, size=(part.stop - start, ALTERNATIVES - 1))
        values[part, 1:] = -np.cumsum(gaps, axis=1)
        keys = -1.2 * np.log1p(-values[part] / 0.1) + rng.gumbel(size=values[part].shape)
        chosen[part] = keys.argmax(axis=1)
    rows = np.arange(n)
    turns = 2 * (rows // (2 * n // groups)) + rows % 2
    return Decisions(
        tuple(f"group {i}" for i in range(groups)),
        turns.astype(np.int32),
        values.reshape(-1),
        np.arange(n + 1, dtype=np.int64) * ALTERNATIVES,
        chosen,
        np.full(n, ALTERNATIVES, dtype=np.int32),
    )


def made(file: str) -> dict[str, float]:
    rng = np.random.default_rng(1)
    batch = many_decisions(DECISIONS, GROUPS, rng)
    agent_evidence(batch.select(slice(0, 1000)), grid=Grid())  # compiled before the clock runs
    start = time.process_time()
    table = agent_evidence(batch, grid=Grid())
    from_decisions = time.process_time() - start
    labels = [f"new {i}" for i in rng.permutation(GROUPS).tolist()]
    stored_at = f"{file}.evidence"
    write_evidence(table, stored_at)
    reading = cpu_seconds(lambda: read_evidence(stored_at))
    stored = read_evidence(stored_at)
    regrouping = cpu_seconds(lambda: stored.regrouped(labels))
    found = {
        "from_decisions": from_decisions,
        "regrouping": regrouping,
        "reading": reading,
        "gigabytes": _gigabytes(),
    }
    batch_to_parquet(batch, file)
    return found


def read_back(file: str) -> dict[str, float]:
    batch = batch_from_parquet(file)
    assert isinstance(batch, Decisions)
    agent_evidence(batch, grid=Grid())
    return {"gigabytes": _gigabytes()}


def _gigabytes() -> float:
    return peak_megabytes() * 2**20 / 1e9


if __name__ == "__main__":
    print(json.dumps({"make": made, "read": read_back}[sys.argv[1]](sys.argv[2])))
