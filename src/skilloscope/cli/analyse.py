"""`skilloscope analyse`: search every position of games once, and keep the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skilloscope.cli.work import (
    Depth,
    EngineName,
    HashMb,
    Imports,
    Json,
    MultiPv,
    Nodes,
    Preset,
    Scheduler,
    StoreFolder,
    Workers,
)

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope analyse games.pgn --depth 10 --multipv 10 --out decisions.parquet")(
        analyse
    )


def analyse(
    games: Annotated[list[Path], typer.Argument(help="PGN files.", metavar="GAMES…")],
    out: Annotated[
        Path | None, typer.Option(help="Write the decisions: .parquet, .jsonl or .csv.", metavar="FILE")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the engine's answers: .parquet, .jsonl or .jsonl.gz.", metavar="FILE"),
    ] = None,
    store: StoreFolder = None,
    engine: EngineName = None,
    preset: Preset = None,
    depth: Depth = None,
    nodes: Nodes = None,
    multipv: MultiPv = None,
    hash_mb: HashMb = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Analyse games: the engine values every alternative of every position, all depths kept, nothing searched twice."""
    from skilloscope.cli.console import run

    flags = {
        "store": store,
        "engine": engine,
        "preset": preset,
        "depth": depth,
        "nodes": nodes,
        "multipv": multipv,
        "hash": hash_mb,
        "workers": workers,
        "scheduler": scheduler,
    }
    raise typer.Exit(run(lambda: _analyse(games, out, export, flags, imports, as_json)))


def _analyse(
    paths: list[Path],
    out_file: Path | None,
    export: Path | None,
    flags: dict[str, Any],
    imports: list[Path] | None,
    as_json: bool,
) -> int:
    from dataclasses import replace

    from skilloscope.chess.exchange import check_export
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.cli.work import working
    from skilloscope.decision.text import check_format, write_decisions
    from skilloscope.reports.words import engine_line, skipped_line
    from skilloscope.studies.judging import judge

    if out_file:
        check_format(out_file)
    if export:
        check_export(export)
    with working(flags, imports) as work:
        judged = judge(paths, replace(work, export=export))
    batch = judged.decisions
    report_faults(batch.tally)
    if out_file:
        write_decisions(batch, out_file)
    about = batch.about.get("settings", {})
    if as_json:
        report = {"schema": 1, "engine": dict(about), "positions": judged.as_dict()}
        print_json({**report, "decisions": len(batch), "skipped": batch.tally.as_dict()})
    else:
        out().print(f"{judged}; {engine_line(about)}", highlight=False)
        out().print(skipped_line(len(batch), batch.tally.as_dict()), highlight=False)
    return exit_code(batch.tally)
