"""`skilloscope analyse`: search every position of games once, and keep the answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from skilloscope.cli.console import err, exit_code, print_json, report_faults
from skilloscope.cli.console import out as stdout
from skilloscope.cli.options import EngineOptions, Json, Options, argument, option
from skilloscope.cli.request import working
from skilloscope.report.table import engine_line, plan_lines, plural, sample_line, skipped_line

if TYPE_CHECKING:
    from skilloscope.inputs.load import AnalysedDecisions, EngineJob


@dataclass(frozen=True)
class PlanOptions(Options):
    """Whether anything is searched, and how much."""

    dry_run: Annotated[bool, option("Say how many positions there are, how many are known, and the time.")] = False
    budget: Annotated[
        float | None, option("Analyse a sample of the games that takes about this long.", metavar="MINUTES")
    ] = None
    seed: Annotated[int, option("Seed of the sample and of the measurement.")] = 1


def analyse(
    games: Annotated[list[Path], argument("PGN files.", metavar="GAMES…")],
    out: Annotated[Path | None, option("Write the decisions: .parquet, .jsonl or .csv.")] = None,
    *,
    planning: PlanOptions,
    export: Annotated[Path | None, option("Write the engine's answers: .parquet, .jsonl or .jsonl.gz.")] = None,
    player: Annotated[str | None, option("Analyse this player's moves only.", metavar="NAME")] = None,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Analyse games with an engine: each position once, all listed moves and depths kept."""
    from skilloscope.chess.analysis.files import check_export
    from skilloscope.decision.text import check_format, write_decisions
    from skilloscope.inputs.load import EngineBudget, load_decisions

    if out:
        check_format(out)
    if export:
        check_export(export)
    if planning.dry_run:
        with working(engine, "measuring") as work:
            return _dry_run(games, work, planning, player, as_json)
    budget = None if planning.budget is None else EngineBudget(planning.budget, planning.seed)
    with working(engine) as work:
        judged = load_decisions(games, replace(work, export=export), player=player, budget=budget)
    if judged.sample:
        err().print(sample_line(judged.sample))
    if out:
        write_decisions(judged.decisions, out)
    return _report(judged, as_json)


def _report(judged: AnalysedDecisions, as_json: bool) -> int:
    batch = judged.decisions
    report_faults(batch.tally)
    about = batch.about.get("settings", {})
    if as_json:
        sample = {"sample": dict(judged.sample)} if judged.sample else {}
        report = {"schema": 1, "engine": dict(about), "positions": judged.as_dict(), **sample}
        print_json({**report, "decisions": len(batch), "skipped": batch.tally.as_dict()})
    else:
        stdout().print(f"{judged}; {engine_line(about)}", highlight=False)
        stdout().print(skipped_line(len(batch), batch.tally.as_dict()), highlight=False)
    return exit_code(batch.tally)


def _dry_run(paths: list[Path], work: EngineJob, planning: PlanOptions, player: str | None, as_json: bool) -> int:
    """Say what the analysis would cost; with a budget also which part of it would be done."""
    from skilloscope.chess.pgn.games import read_distinct
    from skilloscope.inputs.budget import MEASURED, plan, sample_games
    from skilloscope.inputs.load import games_of, players, resolve_player

    err().print("reading the games")
    games = read_distinct(list(paths))
    if player:
        player = resolve_player(player, players(games))
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
            stdout().print(line, highlight=False)
    return exit_code(games.tally)
