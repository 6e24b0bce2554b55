"""The installation: versions, the engine, the human model, the store, every setting with its source, what is missing.

In: nothing but this machine. Out: an `Installation`, which `skilloscope doctor` shows. What is missing has the command
that installs it; `fixed` runs those commands that need no password and change no Python environment.
"""

import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import ClassVar

import numpy as np

from skilloscope.__about__ import __version__
from skilloscope.chess.engine.engine import Engine, find_engine
from skilloscope.chess.human.model import human, positions_per_second
from skilloscope.chess.pgn.facts import POOLS, openings_of
from skilloscope.chess.pgn.positions import positions
from skilloscope.chess.pgn.results import read_pgn_results
from skilloscope.chess.pgn.text import PlainWork
from skilloscope.core.errors import EngineError, MissingExtraError, SkilloscopeError, StoreError
from skilloscope.core.paths import EffectiveSetting, effective_settings, store_file
from skilloscope.evidence import agent_evidence
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.bundled import demo_file, demo_games
from skilloscope.ratings.periods.periods import Periods
from skilloscope.report.study import Study
from skilloscope.report.table import Table
from skilloscope.simulate.deciders import made_up_spreads
from skilloscope.store import Store

PACKAGES = (
    "numpy", "scipy", "numba", "pyarrow", "chess", "onnxruntime", "matplotlib", "pandas", "polars", "distributed",
    "weasyprint", "fastapi",
)  # fmt: skip
EXTRAS = {"pandas": "frames", "polars": "frames", "distributed": "cluster", "weasyprint": "pdf", "fastapi": "web"}
"""Optional packages, by the extra that brings them."""
_SECONDS = 600


@dataclass(frozen=True)
class InstalledPart:
    """A part of the installation: whether it works, what JSON has of it, and a line of text."""

    works: bool
    about: Mapping[str, object]
    line: str

    FIELDS: ClassVar = ("*about",)

    @classmethod
    def failed(cls, error: SkilloscopeError, **about: object) -> "InstalledPart":
        """Return a part that cannot be used."""
        return cls(False, {**about, "problem": str(error), "hint": error.hint}, f"{error}; {error.hint}")


@dataclass(frozen=True)
class PoolError:
    """How far off the ratings of people with so many games are, and how often the 95 % interval holds."""

    games: int
    people: int
    rmse: float
    constant_rmse: float
    covers: float


@dataclass(frozen=True)
class InstalledPool:
    """A pool of ratings: what its axis was fitted to, and how well it predicts the ratings of other people."""

    pool: str
    axis: str
    data: str
    valid: tuple[float, float]
    accuracy: Sequence[PoolError]

    def __str__(self) -> str:
        known = ", ".join(f"{one.rmse:.0f} from {one.games}" for one in self.accuracy)
        worth = f"; RMSE by games {known} (a constant: {self.accuracy[0].constant_rmse:.0f})" if known else ""
        return f"{self.axis}; {self.data}{worth}"


@dataclass(frozen=True)
class Missing:
    """Something that is not installed: what it is for, and how to install it."""

    name: str
    purpose: str
    arguments: tuple[str, ...]
    allowed: bool  # whether `fixed` may run the command: it needs no password and changes no Python environment

    FIELDS: ClassVar = ("name", "purpose", "command", "allowed")

    @property
    def command(self) -> str:
        """The command that installs it."""
        return " ".join(self.arguments)


@dataclass(frozen=True, eq=False)
class Installation(Study):
    """What is installed here, which settings apply, and what is missing."""

    skilloscope: str
    python: str
    packages: Mapping[str, str | None]
    engine: InstalledPart
    human: InstalledPart
    store: InstalledPart
    settings: Mapping[str, EffectiveSetting]
    pools: Sequence[InstalledPool] = ()
    missing: Sequence[Missing] = ()
    warmed_seconds: float | None = None  # how long the kernels took to compile, if they were

    FIELDS: ClassVar = (
        "skilloscope", "python", "packages", "engine", "human", "store", "settings", "pools", "missing",
        "?warmed_seconds",
    )  # fmt: skip

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return one table of everything."""
        rows = [
            ("skilloscope", self.skilloscope),
            ("python", self.python),
            *((name, own or "not installed") for name, own in self.packages.items()),
            ("engine", self.engine.line),
            ("human model", self.human.line),
            ("store", self.store.line),
            *((f"pool {one.pool}", str(one)) for one in self.pools),
            *((f"missing: {one.name}", f"{one.purpose}: {one.command}") for one in self.missing),
            *((f"setting {name}", f"{one.value} ({one.source})") for name, one in self.settings.items()),
        ]
        if self.warmed_seconds is not None:
            rows.append(("kernels", f"compiled in {self.warmed_seconds:.1f} s"))
        return [Table("", ("", ""), rows, labels=(0, 1), headed=False)]


def installation() -> Installation:
    """Return what is installed here."""
    settings = effective_settings()
    known = {one.metadata["Name"].lower(): one.version for one in distributions()}
    packages = {name: known.get(name) for name in PACKAGES}
    engine, model, store = _engine(settings["engine"].value), _human(), _store(settings["store"].value)
    missing = missing_parts(engine.works, model.works, packages, settings["engine"].value)
    pools = [_pool(name) for name in POOLS]
    parts = (packages, engine, model, store, settings, pools, missing)
    return Installation(__version__, platform.python_version(), *parts)


def _pool(name: str) -> InstalledPool:
    axis = elo_axis(name)
    measured, named = axis.effort("instant").measured, (("one_game", 1), ("five_games", 5), ("twenty_games", 20))
    known = [(games, measured[key]) for key, games in named if key in measured]
    wanted = ("people", "rmse", "constant_rmse", "covers")
    accuracy = [PoolError(games, *(own[key] for key in wanted)) for games, own in known]
    return InstalledPool(name, axis.axis, axis.data, axis.valid, accuracy)


def _engine(name: str | None) -> InstalledPart:
    try:
        path = find_engine(name)
        with Engine(path) as engine:
            about = {"path": str(path), **engine.identity}
    except EngineError as error:
        return InstalledPart.failed(error, path=None)
    return InstalledPart(True, about, f"{about['engine']} at {path}")


def _human() -> InstalledPart:
    try:
        speed = positions_per_second(human())
    except MissingExtraError as error:
        return InstalledPart.failed(error, model=None)
    network = human().network
    card = {name: network.card.get(name) for name in ("model", "date", "parameters")}
    line = f"{card['model']} of {card['date']}, {network.sha256[:12]}, {speed:,.0f} positions per CPU-second"
    return InstalledPart(True, {**card, "sha256": network.sha256, "positions_per_cpu_second": speed}, line)


def _store(folder: str) -> InstalledPart:
    path = store_file(folder)
    if not path.exists():
        return InstalledPart(True, {"path": str(path), "exists": False}, f"{path} (none yet)")
    try:
        with Store(path, read_only=True) as store:
            numbers = store.statistics()
    except StoreError as error:
        return InstalledPart.failed(error, path=str(path), exists=True)
    return InstalledPart(True, {"exists": True, **numbers}, f"{path} ({numbers['rows']:,} analyses)")


def missing_parts(
    engine: bool, model: bool, packages: Mapping[str, str | None], named: str | None = None
) -> list[Missing]:
    """Return what is missing, given whether engine and human model work; the settings name the engine `named`."""
    found = []
    if not engine:
        command, allowed = _engine_command(named)
        purpose = "to analyse games; without one the human model is used alone"
        found.append(Missing("engine", purpose, command, allowed))
    if not model:
        pip = ("pip", "install", "onnxruntime")
        found.append(Missing("human model", "for the Elo axis and for what people play", pip, allowed=False))
    for extra in sorted({extra for name, extra in EXTRAS.items() if packages.get(name, "") is None}):
        own = ", ".join(name for name, brought_by in EXTRAS.items() if brought_by == extra)
        found.append(Missing(f"extra {extra}", own, ("pip", "install", f"skilloscope[{extra}]"), allowed=False))
    if _completes() is False:
        install = (shutil.which("skilloscope") or sys.argv[0], "--install-completion")
        found.append(Missing("completion", "commands and options by the Tab key in new shells", install, allowed=True))
    return found


def fixed(parts: Sequence[Missing]) -> list[str]:
    """Run what may be run; return a line for each part: what was done, or what to do."""
    lines = []
    for part in parts:
        if not part.allowed:
            lines.append(f"{part.name}: run `{part.command}`")
            continue
        try:
            ran = subprocess.run(part.arguments, capture_output=True, text=True, timeout=_SECONDS, check=False)
            reason = (ran.stderr.strip().splitlines() or ["no reason given"])[-1] if ran.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
        lines.append(f"{part.name}: `{part.command}` failed ({reason})" if reason else f"{part.name}: installed")
    return lines


def warm_up() -> float:
    """Compile the kernels, so that the first run is fast; return how long that took."""
    start = time.perf_counter()
    PlainWork.over = True
    games = demo_games()
    positions(games)
    openings_of(games)
    agent_evidence(made_up_spreads(10, rng=np.random.default_rng(0)))
    Periods().fit(read_pgn_results(demo_file("famous.pgn")))
    return time.perf_counter() - start


def _completes() -> bool | None:
    """Return whether the shell that runs us completes our commands; None for a shell that cannot."""
    import shellingham  # typer's own way to know

    files = {
        "bash": ".bash_completions/skilloscope.sh",
        "zsh": ".zfunc/_skilloscope",
        "fish": ".config/fish/completions/skilloscope.fish",
    }
    try:
        file = files.get(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        return None
    return None if file is None else Path.home().joinpath(file).exists()


def _engine_command(named: str | None) -> tuple[tuple[str, ...], bool]:
    """Return how to install Stockfish here, and whether that needs no password; a wrong name hides any other engine."""
    if named not in (None, "stockfish"):
        return ("skilloscope", "rate", "--engine", "PATH"), False
    if os.environ.get("STOCKFISH_EXECUTABLE"):
        return ("unset", "STOCKFISH_EXECUTABLE"), False
    if shutil.which("apt-get"):
        install = ("apt-get", "install", "-y", "--no-install-recommends", "stockfish")
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        return (install, True) if root else (("sudo", *install), False)
    if shutil.which("brew"):
        return ("brew", "install", "stockfish"), True
    return ("skilloscope", "rate", "--engine", "PATH"), False
