"""`skilloscope analyse`: search every position of games once, and keep the answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.options import EngineOptions, Json, command

if TYPE_CHECKING:
    from skilloscope.sources.judge import Judged, Work


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope analyse games.pgn --depth 10 --multipv 10 --out decisions.parquet")(
        command(analyse)
    )


def analyse(
    games: Annotated[list[Path], typer.Argument(help="PGN files.", metavar="GAMES…")],
    out: Annotated[
        Path | None, typer.Option(help="Write the decisions: .parquet, .jsonl or .csv.", metavar="FILE")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many positions there are, how many are known, and the time.")
    ] = False,
    budget: Annotated[
        float | None, typer.Option(help="Analyse a sample of the games that takes so long.", metavar="MINUTES")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample and of the measurement.")] = 1,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the engine's answers: .parquet, .jsonl or .jsonl.gz.", metavar="FILE"),
    ] = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Analyse games: the engine values every alternative of every position, all depths kept, nothing searched twice."""
    from skilloscope.cli.console import run

    plan = {"dry_run": dry_run, "budget": budget, "seed": seed}
    raise typer.Exit(run(lambda: _analyse(games, out, export, engine, plan, as_json)))


def _analyse(
    paths: list[Path],
    out_file: Path | None,
    export: Path | None,
    engine: EngineOptions,
    plan: dict[str, Any],
    as_json: bool,
) -> int:
    from dataclasses import replace

    from skilloscope.chess.analysis.files import check_export
    from skilloscope.cli.work import working
    from skilloscope.decision.text import check_format, write_decisions
    from skilloscope.sources.judge import judge

    if out_file:
        check_format(out_file)
    if export:
        check_export(export)
    with working(engine) as work:
        work = replace(work, export=export)
        if plan["dry_run"]:
            return _dry_run(paths, work, plan, as_json)
        sample: dict[str, Any] = {}
        if plan["budget"] is None:
            judged = judge(paths, work)
        else:
            judged, sample = _judge_sample(paths, work, plan)
    if out_file:
        write_decisions(judged.decisions, out_file)
    return _report(judged, sample, as_json)


def _report(judged: Judged, sample: dict[str, Any], as_json: bool) -> int:
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.reports.words import engine_line, skipped_line

    batch = judged.decisions
    report_faults(batch.tally)
    about = batch.about.get("settings", {})
    if as_json:
        report = {"schema": 1, "engine": dict(about), "positions": judged.as_dict()}
        chosen = {"sample": sample} if sample else {}
        print_json({**report, **chosen, "decisions": len(batch), "skipped": batch.tally.as_dict()})
    else:
        out().print(f"{judged}; {engine_line(about)}", highlight=False)
        out().print(skipped_line(len(batch), batch.tally.as_dict()), highlight=False)
    return exit_code(batch.tally)


def _dry_run(paths: list[Path], work: Work, options: dict[str, Any], as_json: bool) -> int:
    """Say what the analysis would cost; with a budget also which part of it would be done."""
    from skilloscope.chess.pgn.games import read_games
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.reports.words import plan_lines
    from skilloscope.sources.plan import plan, sample_games

    games = read_games(list(paths))
    planned = plan(games, work, seed=options["seed"])
    report = {"schema": 1, "engine": dict(planned.settings), "plan": planned.as_dict()}
    if options["budget"] is not None:
        report["sample"] = sample_games(games, planned, options["budget"], seed=options["seed"]).as_dict()
    report_faults(games.tally)
    if as_json:
        print_json({**report, "skipped": games.tally.as_dict()})
    else:
        for line in plan_lines(report):
            out().print(line, highlight=False)
    return exit_code(games.tally)


def _judge_sample(paths: list[Path], work: Work, options: dict[str, Any]) -> tuple[Judged, dict[str, Any]]:
    """Analyse the games that fit the budget, and say on stderr which part of all that is."""
    from skilloscope.chess.pgn.games import read_games
    from skilloscope.cli.console import err
    from skilloscope.reports.words import sample_line
    from skilloscope.sources.judge import judge_games
    from skilloscope.sources.plan import NOT_SAMPLED, plan, sample_games

    games = read_games(list(paths))
    sample = sample_games(games, plan(games, work, seed=options["seed"]), options["budget"], seed=options["seed"])
    err().print(sample_line(sample.as_dict()))
    return judge_games(games.select(sample.rows, reason=NOT_SAMPLED), work), sample.as_dict()
