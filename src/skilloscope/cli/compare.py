"""`skilloscope compare` and `skilloscope decisions compare`: two players, or two sets of decisions of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.elo import asked_elo, judged_for_elo, refuse_agents
from skilloscope.cli.options import (
    AgentOptions,
    Aliases,
    EffortOptions,
    EngineOptions,
    GameFiles,
    IntervalOutput,
    Rule,
    command,
)

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.studies.compare.compare import Comparisons

Values = Annotated[tuple[str, str] | None, typer.Option(help="Two values of the column.", metavar="FIRST SECOND")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = 'Example: skilloscope compare games.pgn --player "Ann" --player "Bob" --html compared.html'
    app.command(epilog=epilog)(command(compare))


def register_on(group: typer.Typer) -> None:
    """Add the command of any domain to the group `decisions`."""
    epilog = "Example: skilloscope decisions compare before.jsonl after.jsonl --k 5"
    group.command("compare", epilog=epilog)(command(decisions_compare))


def compare(
    games: GameFiles,
    player: Annotated[
        list[str], typer.Option(help="A player, or a part of the name; twice to compare two.", metavar="NAME")
    ],
    *,
    at: Annotated[str | None, typer.Option(help="Split before this day: YYYY-MM-DD.", metavar="DATE")] = None,
    by: Annotated[str | None, typer.Option(help="Split by the two values of a column.", metavar="COLUMN")] = None,
    values: Values = None,
    alias: Aliases = None,
    dispersion: Annotated[
        str | None, typer.Option(help="With --method agent: scale (default), games, or a number.", metavar="NUMBER")
    ] = None,
    rule: Rule = None,
    prior: Annotated[str | None, typer.Option(help="Prior of Elo: population (default), flat or header.")] = None,
    effort: EffortOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Compare two players, or one before and after a day: both Elos, the difference, who is probably stronger."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.judged import source_line
    from skilloscope.reports.sheet import caution_sheet
    from skilloscope.studies.compare.elo import compare_players, compare_split
    from skilloscope.studies.compare.tables import elo_comparison_sheet

    _check_sides(player, at, by)
    asked = asked_elo(games, effort, prior=prior, rule=rule)
    if asked.by_agent:
        split = _Split(player, at, by, values, dispersion or "scale", rule)
        return _by_agent(games, split, alias, output, engine)
    refuse_agents(dispersion=dispersion)
    column = by or "player"
    found, names = judged_for_elo(
        games, asked, effort, engine, by=column, mass=output.mass, players=player, aliases=alias
    )
    if len(player) == 2:
        study = compare_players(found, names)
    else:
        study = compare_split(found, names[0], at=at, by=by, values=values)
    report = {**study.as_dict(), **({"positions": found.judged.as_dict()} if found.judged else {})}
    sheets = elo_comparison_sheet(report), caution_sheet(study.caution)
    head = str(found.judged or "")
    show_report(report, *sheets, as_json=output.as_json, head=head, notes=report["warnings"])
    if output.wanted:
        from skilloscope.studies.compare.page import elo_comparison_page

        write_outputs(output, lambda: elo_comparison_page(study, source=source_line(games, found.judged)))
    return exit_code(study.parts.tally)


@dataclass(frozen=True)
class _Split:
    """Whose decisions the agent compares, and where they are split."""

    players: list[str]
    at: str | None
    by: str | None
    values: tuple[str, str] | None
    dispersion: str
    rule: str | None


def _by_agent(
    games: list[Path], split: _Split, alias: list[str] | None, output: IntervalOutput, engine: EngineOptions
) -> int:
    """Compare one player's decisions as the papers do, by the agent's competence."""
    from dataclasses import replace

    from skilloscope.cli.console import exit_code
    from skilloscope.cli.judged import agent_of, judge_fields, judge_line, scale_of, source_line
    from skilloscope.cli.work import judge_files
    from skilloscope.core.errors import OptionError
    from skilloscope.studies.compare.compare import compare as compare_sets

    if len(split.players) != 1:
        raise OptionError("the papers' agent compares two sets of one player", hint="one --player, or --method joint")
    model, scale = agent_of(split.rule), scale_of()
    allowed = scale.dispersion if split.dispersion == "scale" else _dispersion(split.dispersion)
    judged = judge_files(games, engine, player=split.players, aliases=alias)
    batch = judged.decisions
    first, second, labels = _split(batch, split.at, split.by, split.values)
    study = compare_sets(
        first, second, model, labels=labels, dispersion=allowed, mass=output.mass, elo_per_c=1 / scale.slope
    )
    notes = scale.warnings(study.about, batch.about.get("settings", {}))
    study = replace(study, notes=[*notes, *scale.filter_warnings(batch.about)])
    _show(study, output, source_line(games, judged), head=judge_line(judged), fields=judge_fields(judged))
    return exit_code(batch.tally)


def decisions_compare(
    tables: Annotated[
        list[Path], typer.Argument(help="Two tables of decisions, or one with --by.", metavar="TABLE [TABLE]")
    ],
    by: Annotated[str | None, typer.Option(help="Split one table by the two values of a column.")] = None,
    values: Values = None,
    dispersion: Annotated[
        str, typer.Option(help="Scatter to allow for: a number, or games to fit it to a column `game`.")
    ] = "1",
    prior: Annotated[str, typer.Option(help="Prior of each c: uniform, or normal:MEAN,SD.")] = "uniform",
    *,
    agent: AgentOptions,
    output: IntervalOutput,
) -> int:
    """Compare two sets of decisions of the same deciders: both competences, and which is probably greater."""
    from skilloscope.cli.console import exit_code, report_faults
    from skilloscope.cli.judged import source_line
    from skilloscope.core.errors import OptionError
    from skilloscope.inference import prior_from_text
    from skilloscope.sources.judge import told_tables
    from skilloscope.studies.compare.compare import compare as compare_sets
    from skilloscope.studies.compare.splitting import split_by_column

    if len(tables) != (1 if by else 2):
        said = f"{len(tables)} tables {'with' if by else 'without'} --by"
        raise OptionError(said, hint="give two tables, or one with --by COLUMN")
    believed, allowed = prior_from_text(prior, *agent.c_range), _dispersion(dispersion)
    batches = told_tables(tables)
    if by:
        first, second, labels = split_by_column(batches[0], by, values)
    else:
        (first, second), labels = batches, (tables[0].name, tables[1].name)
    study = compare_sets(
        first, second, agent.agent(), labels=labels, prior=believed, dispersion=allowed, mass=output.mass
    )
    report_faults(study.tally)
    _show(study, output, source_line(tables))
    return exit_code(study.tally)


def _check_sides(players: list[str], at: str | None, by: str | None) -> None:
    """Refuse what has not exactly two sides."""
    from skilloscope.core.errors import OptionError
    from skilloscope.studies.compare.splitting import first_day

    split = (at is not None) + (by is not None)
    if len(players) > 2 or (len(players) == 2) + split != 1:
        raise OptionError(
            "a comparison has two sides: two players, or one with --at DATE or --by COLUMN",
            hint="e.g. --player Ann --player Bob, or --player Ann --at 2006-07-01",
        )
    if at is not None:
        first_day(at)


def _split(
    batch: Decisions, at: str | None, by: str | None, values: tuple[str, str] | None
) -> tuple[Decisions, Decisions, tuple[str, str]]:
    """Return both sides of the split that was asked for, and their labels."""
    from skilloscope.studies.compare.splitting import split_by_column, split_by_date

    if at is not None:
        return *split_by_date(batch, at), (f"before {at}", f"from {at} on")
    first, second, found = split_by_column(batch, by or "", values)
    return first, second, (f"{by} {found[0]}", f"{by} {found[1]}")


def _dispersion(text: str) -> float | None:
    """Return the dispersion asked for; None is to be fitted to the games."""
    from skilloscope.core.errors import OptionError

    if text == "games":
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"no dispersion {text!r}", hint="a positive number, or games to fit it") from None


def _show(
    study: Comparisons, output: IntervalOutput, source: str, *, head: str = "", fields: Mapping[str, Any] | None = None
) -> None:
    from skilloscope.cli.console import show_report, write_outputs
    from skilloscope.reports.sheet import caution_sheet
    from skilloscope.studies.compare.tables import comparison_sheet

    report = {**study.as_dict(), **(fields or {})}
    show_report(report, comparison_sheet(report), caution_sheet(study.caution), as_json=output.as_json, head=head)
    if output.wanted:
        from skilloscope.studies.compare.page import comparison_page

        write_outputs(output, lambda: comparison_page(study, source=source))
