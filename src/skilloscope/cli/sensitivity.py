"""`skilloscope sensitivity`: the same games under different depth, list, k, rule and engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, Html, Json, Mass, command

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.sources.judge import Work
    from skilloscope.studies.sensitivity.sensitivity import Plan


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = "Example: skilloscope sensitivity games.pgn --depths 6,10 --k 0.05,0.1,fit --html sensitivity.html"
    app.command(epilog=epilog)(command(sensitivity))


def sensitivity(
    games: Annotated[
        list[Path],
        typer.Argument(help="PGN files, analysed games, or tables of decisions of any domain.", metavar="GAMES…"),
    ],
    by: Annotated[
        str, typer.Option(help="The groups whose c and order are compared: player, year, milepost, any column.")
    ] = "player",
    depths: Annotated[str, typer.Option(help="Depths, as in 4,6,8,10; they come with the deepest.")] = "",
    lists: Annotated[str, typer.Option(help="Lengths to which the lists are cut, as in 3,5.")] = "",
    searches: Annotated[str, typer.Option(help="Numbers of lines to search with anew, as in 5,20.")] = "",
    k: Annotated[str, typer.Option("--k", help="Constants of the agent, as in 0.05,0.1,fit.")] = "",
    rules: Annotated[str, typer.Option(help="Choice-set rules, as in listed,bucket.")] = "",
    engines: Annotated[
        str, typer.Option(help="Other judges: engines, or tables of decisions in the same games; by commas.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of the folds and of the resampling.", min=0)] = 1,
    mass: Mass = 0.95,
    html: Html = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Show what depth, list, k, rule and engine do to the same decisions: c, the order of players, likelihood."""
    from skilloscope.cli.console import run

    texts = {"depths": depths, "lists": lists, "searches": searches, "k": k, "rules": rules, "engines": engines}
    raise typer.Exit(run(lambda: _sensitivity(games, by, texts, (seed, mass), html, engine, as_json)))


def _sensitivity(
    paths: list[Path],
    by: str,
    texts: dict[str, str],
    options: tuple[int, float],
    html: Path | None,
    engine: EngineOptions,
    as_json: bool,
) -> int:
    from skilloscope.cli.console import exit_code, out, print_json, report_faults, write_page
    from skilloscope.cli.judged import source_line
    from skilloscope.cli.work import working
    from skilloscope.core.checks import check_mass, check_writable
    from skilloscope.reports.words import engine_line
    from skilloscope.sources.judge import engine_of
    from skilloscope.studies.composites.game_evidence import MILEPOST, with_nearest_milepost
    from skilloscope.studies.sensitivity.judged import read_judged
    from skilloscope.studies.sensitivity.page import sensitivity_page
    from skilloscope.studies.sensitivity.sensitivity import sensitivity as study_of
    from skilloscope.studies.sensitivity.tables import sensitivity_tables

    check_writable(html)
    check_mass(options[1])
    plan = _plan(texts)
    with working(engine) as work:
        batch = read_judged(paths, work)
        judges = _judges(paths, texts, work)
    report_faults(batch.tally)
    if by == MILEPOST:
        batch = with_nearest_milepost(batch)
        judges = {name: with_nearest_milepost(other) for name, other in judges.items()}
    study = study_of(batch, _with_judges(plan, judges), by=by, seed=options[0], mass=options[1])
    if as_json:
        print_json(study.as_dict())
    else:
        for table in sensitivity_tables(study.as_dict()):
            out().print(table)
    if html:
        source = f"{source_line(paths)}; {engine_line(engine_of(batch))}"
        write_page(html, sensitivity_page(study, source=source))
    return exit_code(batch.tally)


def _plan(texts: dict[str, str]) -> Plan:
    from skilloscope.cli.judges import whole_numbers
    from skilloscope.studies.rate.deciders import k_from_text
    from skilloscope.studies.sensitivity.sensitivity import Plan

    return Plan(
        depths=whole_numbers(texts["depths"], "--depths"),
        lists=whole_numbers(texts["lists"], "--lists"),
        ks=[k_from_text(part) for part in _parts(texts["k"])],
        rules=_parts(texts["rules"]),
    )


def _judges(paths: list[Path], texts: dict[str, str], work: Work) -> dict[str, Decisions]:
    """Return the other judges' decisions by the name of the setting: searched now, or read from tables."""
    from skilloscope.cli.judges import whole_numbers
    from skilloscope.decision.text import table_kind
    from skilloscope.studies.sensitivity.judged import read_judged, searched_again

    found = {}
    for lines in whole_numbers(texts["searches"], "--searches"):
        found[f"search with {lines} lines"] = searched_again(paths, work, lines=lines)
    for engine in _parts(texts["engines"]):
        path = Path(engine)
        table = table_kind(path) is not None
        name = f"engine {path.name.split('.')[0] if table else path.name}"
        found[name] = read_judged([path], work) if table else searched_again(paths, work, engine=engine)
    return found


def _with_judges(plan: Plan, judges: dict[str, Decisions]) -> Plan:
    from dataclasses import replace

    return replace(plan, judges=judges)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
