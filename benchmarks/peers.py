"""The other libraries, in an environment of their own: installed by pinned version, run one by one with a time limit.

Nothing of them is needed to run skilloscope. A library that cannot be installed, or does not finish in time, is named
with its reason, and the figures that need it are not measured; they do not count as kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from scipy.stats import spearmanr

from benchmarks.measure import Figure, NotMeasured
from skilloscope.results.periods import PeriodGames

PINNED = Path(__file__).with_name("peers.txt")
RUNNER = Path(__file__).with_name("peer_runs.py")
CPU_LIMIT = int(os.environ.get("BENCH_PEER_SECONDS", "900"))
RIIX, THROUGH_TIME = "riix", ("trueskillthroughtime", "kickscore")


def compared(
    games: PeriodGames, truth: np.ndarray, periods: int, seconds: float, ours: Mapping[str, Any]
) -> Iterator[Figure | NotMeasured]:
    """Yield the figures of every peer, and ours against them."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "games.npz"
        np.savez(
            data,
            player_1=games.player_1,
            player_2=games.player_2,
            score=games.score,
            period=games.period,
            split=games.n_periods - periods,
        )
        for name, trouble in installed().items():
            outcome = {"trouble": trouble} if trouble else run(name, data)
            if "trouble" in outcome:
                yield NotMeasured(name, outcome["trouble"])
                continue
            outcome["rho"] = float(spearmanr(outcome["strength"], truth).statistic)
            found[name] = outcome
            yield Figure(f"{name}: games", len(games) / outcome["seconds"] / 1e3, "thousand per CPU-second")
            yield Figure(f"{name}: rank correlation with the truth at the end", outcome["rho"], "", digits=4)
            if outcome["log_loss"] is not None:
                yield Figure(f"{name}: log-loss of the held-out periods", outcome["log_loss"], "per game", digits=5)
    yield from _against(found, seconds, ours)


def _against(
    found: Mapping[str, Mapping[str, Any]], seconds: float, ours: Mapping[str, Any]
) -> Iterator[Figure | NotMeasured]:
    """Yield what has a limit: speed against riix, quality against those that look back, log-loss against all."""
    if RIIX in found:
        yield Figure("rating, against riix's Glicko", found[RIIX]["seconds"] / seconds, "times as fast", at_least=50)
    else:
        yield NotMeasured("rating, against riix's Glicko (at least 50 times as fast)", "riix did not run")
    for name in THROUGH_TIME:
        if name not in found:
            yield NotMeasured(f"rank correlation against {name}, in at most 1 % of its time", f"{name} did not run")
            continue
        best = max(ours["rho"].values())
        yield Figure(f"rank correlation, ours minus {name}'s", best - found[name]["rho"], "", at_least=-0.0005)
        share = (seconds + ours["whole"]) / found[name]["seconds"]
        yield Figure(f"time for it, as a share of {name}'s", share, "of it", at_most=0.01)
    losses = {name: one["log_loss"] for name, one in found.items() if one["log_loss"] is not None}
    if losses:
        best_peer = min(losses, key=lambda name: losses[name])
        margin = losses[best_peer] - ours["log_loss"]
        yield Figure(f"held-out log-loss, the best peer's ({best_peer}) minus ours", margin, "per game", at_least=0.0)
    else:
        yield NotMeasured("held-out log-loss against the best peer", "no peer ran")


def installed() -> dict[str, str]:
    """Return every pinned peer, with what went wrong where it could not be installed."""
    pins = [line.strip() for line in PINNED.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if os.environ.get("BENCH_PEERS_PYTHON"):  # an environment that somebody made
        return {_name(pin): "" for pin in pins if not pin.startswith("@")}
    python = _environment()
    trouble: dict[str, str] = {}
    for pin in pins:
        done = _pip(python, pin)
        trouble[_name(pin)] = "" if done.returncode == 0 else f"{pin} cannot be installed from this index"
    return trouble


def run(name: str, data: Path) -> dict[str, Any]:
    """Run one peer on the games; return its CPU seconds, strengths and log-loss, or its trouble."""
    python = os.environ.get("BENCH_PEERS_PYTHON") or str(_environment())
    command = [python, "-W", "ignore", str(RUNNER), name, str(data), str(CPU_LIMIT)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode == -signal.SIGXCPU:
        return {"trouble": f"not done after {CPU_LIMIT} CPU-seconds"}
    if done.returncode:
        return {"trouble": (done.stderr.strip().splitlines() or ["it failed"])[-1][:200]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _environment() -> Path:
    """Return the interpreter of the peers' environment; the folder's name changes with the pins."""
    digest = hashlib.sha256(PINNED.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = Path(platformdirs.user_cache_dir("skilloscope")) / f"bench-peers-{digest}"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
    return python


def _pip(python: Path, pin: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", pin]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _name(pin: str) -> str:
    return pin.split("==")[0].strip()
