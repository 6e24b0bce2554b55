"""`skilloscope compare` and `skilloscope decisions compare`: two sets of decisions of one decider."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.options import Aliases, EngineOptions, GameFiles, Html, Json, Mass, PlayerName, command

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.sources.judge import Judged
    from skilloscope.studies.compare.compare import Comparisons

Values = Annotated[tuple[str, str] | None, typer.Option(help="Two values of the column.", metavar="FIRST SECOND")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = 'Example: skilloscope compare games.pgn --player "Ann" --at 2006-07-01 --html compared.html'
    app.command(epilog=epilog)(command(compare))


def register_on(group: typer.Typer) -> None:
    """Add the command of any domain to the group `decisions`."""
    group.command("compare", epilog="Example: skilloscope decisions compare before.jsonl after.jsonl --k 5")(
        decisions_compare
    )


def compare(
    games: GameFiles,
    player: PlayerName,
    at: Annotated[str | None, typer.Option(help="Split before this day: YYYY-MM-DD.", metavar="DATE")] = None,
    by: Annotated[str | None, typer.Option(help="Split by the two values of a column.", metavar="COLUMN")] = None,
    values: Values = None,
    alias: Aliases = None,
    dispersion: Annotated[
        str, typer.Option(help="Scatter between games to allow for: scale, games, or a number.", metavar="NUMBER")
    ] = "scale",
    rule: Annotated[str | None, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = None,
    mass: Mass = 0.95,
    html: Html = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Compare a player's decisions before and after a day: both competences, and which is probably greater."""
    from skilloscope.cli.console import run

    asked = {"player": player, "at": at, "by": by, "values": values, "alias": alias or [], "rule": rule, "mass": mass}
    raise typer.Exit(run(lambda: _compare(games, asked, dispersion, html, engine, as_json)))


def decisions_compare(
    tables: Annotated[
        list[Path], typer.Argument(help="Two tables of decisions, or one with --by.", metavar="TABLE [TABLE]")
    ],
    by: Annotated[str | None, typer.Option(help="Split one table by the two values of a column.")] = None,
    values: Values = None,
    k: Annotated[float, typer.Option(help="The agent's constant, in units of the utilities.")] = 0.1,
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    dispersion: Annotated[
        str, typer.Option(help="Scatter to allow for: a number, or games to fit it to a column `game`.")
    ] = "1",
    mass: Annotated[float, typer.Option(help="Mass of the equal-tailed interval.")] = 0.95,
    prior: Annotated[str, typer.Option(help="Prior of each c: uniform, or normal:MEAN,SD.")] = "uniform",
    c_range: Annotated[tuple[float, float], typer.Option("--range", help="Range of c.", metavar="LOW HIGH")] = (
        0.0,
        4.0,
    ),
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Compare two sets of decisions of the same deciders: both competences, and which is probably greater."""
    from skilloscope.cli.console import run

    asked = {"by": by, "values": values, "k": k, "rule": rule, "mass": mass, "prior": prior, "range": c_range}
    raise typer.Exit(run(lambda: _decisions_compare(tables, asked, dispersion, html, as_json)))


def _compare(
    paths: list[Path],
    asked: dict[str, Any],
    dispersion: str,
    html: Path | None,
    engine: EngineOptions,
    as_json: bool,
) -> int:
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, report_faults
    from skilloscope.cli.judged import agent_of, source_line
    from skilloscope.cli.work import working
    from skilloscope.core.configuration import effective_settings
    from skilloscope.core.errors import InputError, check_writable
    from skilloscope.ratings.scale import scale as load_scale
    from skilloscope.sources.judge import aliases_from_texts, judge
    from skilloscope.studies.compare.compare import compare as compare_sets
    from skilloscope.studies.compare.splitting import first_day

    if (asked["at"] is None) == (asked["by"] is None):
        raise InputError("a comparison needs one split, --at DATE or --by COLUMN", hint="e.g. --at 2006-07-01")
    if asked["at"] is not None:
        first_day(asked["at"])
    if html:
        check_writable(html)
    model, scale = agent_of(asked["rule"]), load_scale(effective_settings({})["scale"].value)
    allowed = scale.dispersion if dispersion == "scale" else _dispersion(dispersion)
    with working(engine) as work:
        judged = judge(paths, work, player=asked["player"], aliases=aliases_from_texts(asked["alias"]))
    report_faults(judged.decisions.tally)
    first, second, labels = _split(judged.decisions, asked)
    options = {"labels": labels, "dispersion": allowed, "mass": asked["mass"], "elo_per_c": 1 / scale.slope}
    study = compare_sets(first, second, model, **options)
    notes = scale.warnings(study.about, judged.decisions.about.get("settings", {}))
    study = replace(study, notes=[*notes, *scale.filter_warnings(judged.decisions.about)])
    _show(study, html, source_line(paths, judged), as_json, judged)
    return exit_code(judged.decisions.tally)


def _split(batch: Decisions, asked: dict[str, Any]) -> tuple[Decisions, Decisions, tuple[str, str]]:
    """Return both sides of the split that was asked for, and their labels."""
    from skilloscope.studies.compare.splitting import split_by_column, split_by_date

    if asked["at"] is not None:
        return *split_by_date(batch, asked["at"]), (f"before {asked['at']}", f"from {asked['at']} on")
    first, second, found = split_by_column(batch, asked["by"], asked["values"])
    return first, second, (f"{asked['by']} {found[0]}", f"{asked['by']} {found[1]}")


def _decisions_compare(
    tables: list[Path], asked: dict[str, Any], dispersion: str, html: Path | None, as_json: bool
) -> int:
    from skilloscope.cli.console import exit_code, report_faults
    from skilloscope.cli.judged import source_line
    from skilloscope.core.errors import InputError, check_writable
    from skilloscope.decision.text import read_tables
    from skilloscope.inference import prior_from_text
    from skilloscope.models.agent import Agent
    from skilloscope.studies.compare.compare import compare as compare_sets
    from skilloscope.studies.compare.splitting import split_by_column

    if len(tables) != (1 if asked["by"] else 2):
        raise InputError(
            f"{len(tables)} tables {'with' if asked['by'] else 'without'} --by",
            hint="give two tables, or one with --by COLUMN",
        )
    if html:
        check_writable(html)
    prior = prior_from_text(asked["prior"], *asked["range"])
    batches = read_tables(tables)
    if asked["by"]:
        first, second, labels = split_by_column(batches[0], asked["by"], asked["values"])
    else:
        (first, second), labels = batches, (tables[0].name, tables[1].name)
    study = compare_sets(
        first,
        second,
        Agent(k=asked["k"], rule=asked["rule"]),
        labels=labels,
        prior=prior,
        dispersion=_dispersion(dispersion),
        mass=asked["mass"],
    )
    report_faults(study.tally)
    _show(study, html, source_line(tables), as_json)
    return exit_code(study.tally)


def _dispersion(text: str) -> float | None:
    """Return the dispersion asked for; None is to be fitted to the games."""
    from skilloscope.core.errors import InputError

    if text == "games":
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"no dispersion {text!r}", hint="a positive number, or games to fit it") from None


def _show(study: Comparisons, html: Path | None, source: str, as_json: bool, judged: Judged | None = None) -> None:
    from skilloscope.cli.console import out, print_json, write_page
    from skilloscope.cli.judged import judge_fields, judge_line
    from skilloscope.studies.compare.page import comparison_page
    from skilloscope.studies.compare.tables import comparison_table

    report = study.as_dict()
    if as_json:
        print_json({**report, **(judge_fields(judged) if judged else {})})
    else:
        if judged:
            out().print(judge_line(judged))
        out().print(comparison_table(report))
    if html:
        write_page(html, comparison_page(study, source=source))
