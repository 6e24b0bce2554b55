"""`skilloscope doctor`: what is installed, which engine, which store, which settings and where each came from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from skilloscope.cli.options import Json, command

_PACKAGES = (
    "numpy", "scipy", "numba", "pyarrow", "chess", "onnxruntime", "matplotlib", "pandas", "polars", "distributed",
    "weasyprint", "fastapi",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope doctor --warm")(command(doctor))


def doctor(
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile the kernels now, so that the first run is fast.")
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Do what is missing where no password is needed; say the rest.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show what is installed, the engine, the store, every effective setting with its source, and what is missing."""
    from skilloscope.cli.console import report_notes, show_report
    from skilloscope.cli.doctor_fixes import fixed, missing_parts
    from skilloscope.reports.sheet import Sheet

    report = _report()
    parts = missing_parts(report)
    if fix and parts:
        report_notes(fixed(parts))
        report = _report()
        parts = missing_parts(report)
    report["missing"] = [part.as_dict() for part in parts]
    if warm:
        report["warmed_seconds"] = _warm()
    show_report(report, Sheet("", ("", ""), _rows(report), left=2, headed=False), as_json=as_json)
    return 0


def _report() -> dict[str, Any]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from skilloscope.__about__ import __version__
    from skilloscope.core.configuration import effective_settings

    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    settings = effective_settings()
    return {
        "schema": 1,
        "skilloscope": __version__,
        "python": platform.python_version(),
        "packages": {name: installed(name) for name in _PACKAGES},
        "engine": _engine(settings["engine"].value),
        "human": _human(),
        "store": _store(settings["store"].value),
        "settings": {name: {"value": s.value, "source": s.source} for name, s in settings.items()},
    }


def _engine(name: str | None) -> dict[str, Any]:
    from skilloscope.chess.engine.engine import Engine, find_engine
    from skilloscope.core.errors import EngineError

    try:
        path = find_engine(name)
        with Engine(path) as engine:
            return {"path": str(path), **engine.identity}
    except EngineError as error:
        return {"path": None, "problem": str(error), "hint": error.hint}


def _human() -> dict[str, Any]:
    """Return which human model is there and how fast it is here, or what it lacks."""
    from skilloscope.chess.human.model import human, positions_per_second
    from skilloscope.core.errors import MissingExtraError

    try:
        speed = positions_per_second(human())
    except MissingExtraError as error:
        return {"model": None, "problem": str(error), "hint": error.hint}
    network = human().network
    card = {name: network.card.get(name) for name in ("model", "date", "parameters")}
    return {**card, "sha256": network.sha256, "positions_per_cpu_second": speed}


def _store(folder: str) -> dict[str, Any]:
    from skilloscope.core.configuration import store_file
    from skilloscope.core.errors import StoreError
    from skilloscope.store import Store

    path = store_file(folder)
    if not path.exists():
        return {"path": str(path), "exists": False}
    try:
        with Store(path, read_only=True) as store:
            return {"exists": True, **store.statistics()}
    except StoreError as error:
        return {"path": str(path), "exists": True, "problem": str(error), "hint": error.hint}


def _warm() -> float:
    import time

    import numpy as np

    from skilloscope.chess.openings import openings_of
    from skilloscope.chess.pgn.results import read_pgn_results
    from skilloscope.chess.positions import positions
    from skilloscope.core.compiled import PlainWork
    from skilloscope.inference import evidence
    from skilloscope.ratings.periods.periods import Periods
    from skilloscope.simulate.agents import made_up_spreads
    from skilloscope.sources.shipped import demo_file, demo_games

    start = time.perf_counter()
    PlainWork.over = True
    games = demo_games()
    positions(games)
    openings_of(games)
    evidence(made_up_spreads(10, rng=np.random.default_rng(0)))
    Periods().fit(read_pgn_results(demo_file("famous.pgn")))
    return time.perf_counter() - start


def _rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    engine, store = report["engine"], report["store"]
    rows = [("skilloscope", report["skilloscope"]), ("python", report["python"])]
    rows += [(name, version or "not installed") for name, version in report["packages"].items()]
    if engine["path"]:
        rows.append(("engine", f"{engine['engine']} at {engine['path']}"))
    else:
        rows.append(("engine", f"{engine['problem']}; {engine['hint']}"))
    rows.append(("human model", _human_words(report["human"])))
    if "problem" in store:
        rows.append(("store", f"{store['problem']}; {store['hint']}"))
    else:
        rows.append(
            (
                "store",
                f"{store['path']} ({store['rows']:,} analyses)" if store["exists"] else f"{store['path']} (none yet)",
            )
        )
    rows += [(f"missing: {one['name']}", f"{one['purpose']}: {one['command']}") for one in report["missing"]]
    rows += [(f"setting {name}", f"{s['value']} ({s['source']})") for name, s in report["settings"].items()]
    if "warmed_seconds" in report:
        rows.append(("kernels", f"compiled in {report['warmed_seconds']:.1f} s"))
    return rows


def _human_words(human: dict[str, Any]) -> str:
    if "problem" in human:
        return f"{human['problem']}; {human['hint']}"
    speed = f"{human['positions_per_cpu_second']:,.0f} positions per CPU-second"
    return f"{human['model']} of {human['date']}, {human['sha256'][:12]}, {speed}"
