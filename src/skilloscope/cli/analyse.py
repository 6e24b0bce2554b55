"""`skilloscope analyse`: search every position of games once, and keep the answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, Json, Options, command

if TYPE_CHECKING:
    from skilloscope.sources.judge import Judged, Work


@dataclass(frozen=True)
class PlanOptions(Options):
    """Whether anything is searched, and how much."""

    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many positions there are, how many are known, and the time.")
    ] = False
    budget: Annotated[
        float | None, typer.Option(help="Analyse a sample of the games that takes so long.", metavar="MINUTES")
    ] = None
    seed: Annotated[int, typer.Option(help="Seed of the sample and of the measurement.")] = 1


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = "Example: skilloscope analyse games.pgn --depth 10 --multipv 10 --out decisions.parquet"
    app.command(epilog=epilog)(command(analyse))


def analyse(
    games: Annotated[list[Path], typer.Argument(help="PGN files.", metavar="GAMES…")],
    out: Annotated[
        Path | None, typer.Option(help="Write the decisions: .parquet, .jsonl or .csv.", metavar="FILE")
    ] = None,
    *,
    planning: PlanOptions,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the engine's answers: .parquet, .jsonl or .jsonl.gz.", metavar="FILE"),
    ] = None,
    player: Annotated[str | None, typer.Option(help="Analyse this player's moves only.", metavar="NAME")] = None,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Analyse games: the engine values every alternative of every position, all depths kept, nothing searched twice."""
    from dataclasses import replace

    from skilloscope.chess.analysis.files import check_export
    from skilloscope.cli.work import working
    from skilloscope.decision.text import check_format, write_decisions

    if out:
        check_format(out)
    if export:
        check_export(export)
    if planning.dry_run:
        with working(engine, "measuring") as work:
            return _dry_run(games, work, planning, player, as_json)
    with working(engine) as work:
        judged = _judge(games, replace(work, export=export), planning, player)
    if out:
        write_decisions(judged.decisions, out)
    return _report(judged, as_json)


def _report(judged: Judged, as_json: bool) -> int:
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.reports.words import engine_line, skipped_line

    batch = judged.decisions
    report_faults(batch.tally)
    about = batch.about.get("settings", {})
    if as_json:
        sample = {"sample": dict(judged.sample)} if judged.sample else {}
        report = {"schema": 1, "engine": dict(about), "positions": judged.as_dict(), **sample}
        print_json({**report, "decisions": len(batch), "skipped": batch.tally.as_dict()})
    else:
        out().print(f"{judged}; {engine_line(about)}", highlight=False)
        out().print(skipped_line(len(batch), batch.tally.as_dict()), highlight=False)
    return exit_code(batch.tally)


def _dry_run(paths: list[Path], work: Work, planning: PlanOptions, player: str | None, as_json: bool) -> int:
    """Say what the analysis would cost; with a budget also which part of it would be done."""
    from skilloscope.chess.duplicates import read_distinct
    from skilloscope.cli.console import err, exit_code, out, print_json, report_faults
    from skilloscope.reports.words import plan_lines, plural
    from skilloscope.sources.judge import found_name, games_of, players
    from skilloscope.sources.plan import MEASURED, plan, sample_games

    err().print("reading the games")
    games = read_distinct(list(paths))
    if player:
        player = found_name(player, players(games))
        games = games.select(games_of(games, [player]))
    err().print(
        f"{plural(len(games), 'game')} read; looking up what is known, then measuring up to {MEASURED} positions"
    )
    planned = plan(games, work, seed=planning.seed, player=player)
    report = {"schema": 1, "engine": dict(planned.settings), "plan": planned.as_dict()}
    if planning.budget is not None:
        report["sample"] = sample_games(games, planned, planning.budget, seed=planning.seed).as_dict()
    report_faults(games.tally)
    if as_json:
        print_json({**report, "skipped": games.tally.as_dict()})
    else:
        for line in plan_lines(report):
            out().print(line, highlight=False)
    return exit_code(games.tally)


def _judge(paths: list[Path], work: Work, planning: PlanOptions, player: str | None) -> Judged:
    """Analyse the games, or those that fit the budget; then say on stderr which part of all that is."""
    from skilloscope.cli.console import err
    from skilloscope.reports.words import sample_line
    from skilloscope.sources.judge import SearchBudget, judge

    budget = None if planning.budget is None else SearchBudget(planning.budget, planning.seed)
    judged = judge(paths, work, player=player, budget=budget)
    if judged.sample:
        err().print(sample_line(judged.sample))
    return judged
