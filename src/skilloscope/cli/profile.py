"""`skilloscope profile`: players' strength over the years."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.options import Aliases, EngineOptions, GameFiles, Html, Json, Mass, command

if TYPE_CHECKING:
    from skilloscope.studies.profile.profile import Profile


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = 'Example: skilloscope profile games.pgn --player "Fischer, Robert James" --html profile.html'
    app.command(epilog=example)(command(profile))


def profile(
    games: GameFiles,
    player: Annotated[list[str], typer.Option(help="The player to follow; may be repeated.", metavar="NAME")],
    alias: Aliases = None,
    every: Annotated[str, typer.Option(help="The periods: year, month or event.")] = "year",
    prior: Annotated[str, typer.Option(help="Prior of each period: carry, widen, reset or drift.")] = "drift",
    dispersion: Annotated[
        float | None, typer.Option(help="Divide all evidence by this (default: the scale's); 1 believes it in full.")
    ] = None,
    scale: Annotated[str | None, typer.Option(help="Elo scale: a name or a JSON file (default: default).")] = None,
    rule: Annotated[
        str | None, typer.Option(help="Choice-set rule: listed, bucket, sampled or full (default: the scale's).")
    ] = None,
    mass: Mass = 0.95,
    html: Html = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Follow players over time: Elo and competence in every year, month or event, beside the Elo in their games."""
    from skilloscope.cli.console import run

    options = {"every": every, "dispersion": dispersion, "mass": mass, "players": player}
    named = {"scale": scale, "rule": rule}
    raise typer.Exit(run(lambda: _profile(games, alias or [], prior, named, options, html, engine, as_json)))


def _profile(
    paths: list[Path],
    aliases: list[str],
    prior: str,
    named: Mapping[str, Any],
    options: Mapping[str, Any],
    html: Path | None,
    engine: EngineOptions,
    as_json: bool,
) -> int:
    from skilloscope.cli.console import exit_code, out, report_faults, report_notes
    from skilloscope.cli.judged import judge_line, source_line
    from skilloscope.cli.work import working
    from skilloscope.core.configuration import effective_settings
    from skilloscope.models.agent import Agent
    from skilloscope.ratings.scale import scale as load_scale
    from skilloscope.sources.judge import aliases_from_texts, judge
    from skilloscope.studies.profile.profile import profiles

    _check(prior, options, html)
    names = aliases_from_texts(aliases)
    found = effective_settings(named)
    scale = load_scale(found["scale"].value)
    model = Agent.from_about(scale.model, rule=found["rule"].value)
    with working(engine) as work:
        judged = judge(paths, work, player=options["players"], aliases=names)
    report_faults(judged.decisions.tally)
    chosen = profiles(judged.decisions, scale, (prior,), model=model, **options)[0]
    if not as_json:
        out().print(judge_line(judged))
    _show(chosen, as_json, {"positions": judged.as_dict()})
    report_notes(() if as_json else chosen.warnings)
    if html:
        everything = profiles(judged.decisions, scale, model=model, **options)
        _write_page(html, chosen, everything, source_line(paths, judged))
    return exit_code(judged.decisions.tally)


def profile_tables(
    tables: list[Path],
    every: str,
    prior: str,
    agent: tuple[float, str],
    options: Mapping[str, Any],
    html: Path | None,
    as_json: bool,
) -> int:
    """Do what `skilloscope decisions profile` asks for: competence by the periods of a column, in any domain."""
    from skilloscope.cli.console import exit_code, report_faults
    from skilloscope.cli.judged import source_line
    from skilloscope.decision.decisions import Decisions
    from skilloscope.decision.text import read_tables
    from skilloscope.models.agent import Agent
    from skilloscope.studies.profile.profile import competence_profiles

    _check(prior, options, html)
    batch = Decisions.concat([table.at_depths() for table in read_tables(tables)])
    model = Agent(k=agent[0], rule=agent[1])
    chosen = competence_profiles(batch, model, (prior,), every=every, **options)[0]
    report_faults(batch.tally)
    _show(chosen, as_json, {})
    if html:
        _write_page(html, chosen, competence_profiles(batch, model, every=every, **options), source_line(tables))
    return exit_code(batch.tally)


def _check(prior: str, options: Mapping[str, Any], html: Path | None) -> None:
    """Refuse what cannot be done before anything is read or searched."""
    from skilloscope.core.errors import InputError, check_mass, check_writable
    from skilloscope.inference.filter import PERIOD_PRIORS
    from skilloscope.studies.profile.periods import EVERY

    if html:
        check_writable(html)
    if prior not in PERIOD_PRIORS:
        raise InputError(f"no prior {prior!r} for periods", hint=f"the priors: {', '.join(PERIOD_PRIORS)}")
    if "every" in options and options["every"] not in EVERY:
        raise InputError(f"no periods by {options['every']!r}", hint=f"the periods: {', '.join(EVERY)}")
    check_mass(options["mass"])


def _show(chosen: Profile, as_json: bool, more: Mapping[str, Any]) -> None:
    from skilloscope.cli.console import out, print_json
    from skilloscope.studies.profile.tables import profile_table

    report = chosen.as_dict()
    if as_json:
        print_json({**report, **more})
    else:
        out().print(profile_table(report))


def _write_page(path: Path, chosen: Profile, everything: list[Profile], source: str) -> None:
    from skilloscope.cli.console import write_page
    from skilloscope.studies.profile.page import profile_page

    title = f"Skill over time, by {chosen.every}"
    write_page(path, profile_page(chosen, everything, title=title, source=source))
