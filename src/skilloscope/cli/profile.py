"""`skilloscope profile` and `skilloscope decisions profile`: strength over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.elo import asked_elo, judged_for_elo, refuse_agents
from skilloscope.cli.options import (
    AgentOptions,
    Aliases,
    AxisOptions,
    EffortOptions,
    EngineOptions,
    GameFiles,
    IntervalOutput,
    Tables,
    command,
)

if TYPE_CHECKING:
    from skilloscope.studies.profile.profile import Profile

PeriodPrior = Annotated[
    str, typer.Option(help="Prior of each period: drift or reset; by the agent also carry or widen.")
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = 'Example: skilloscope profile games.pgn --player "Fischer, Robert James" --html profile.html'
    app.command(epilog=example)(command(profile))


def register_on(group: typer.Typer) -> None:
    """Add the command of any domain to the group `decisions`."""
    example = "Example: skilloscope decisions profile backgammon.jsonl --every season --json"
    group.command("profile", epilog=example)(command(decisions_profile))


def profile(
    games: GameFiles,
    player: Annotated[list[str], typer.Option(help="The player to follow; may be repeated.", metavar="NAME")],
    alias: Aliases = None,
    every: Annotated[str, typer.Option(help="The periods: year, month or event.")] = "year",
    prior: PeriodPrior = "drift",
    dispersion: Annotated[
        float | None, typer.Option(help="With --method agent: divide all evidence by this (default: the scale's).")
    ] = None,
    *,
    effort: EffortOptions,
    axis: AxisOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Follow players over time: Elo in every year, month or event, beside the Elo in their games."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.judged import source_line
    from skilloscope.inference.filter import check_period_prior
    from skilloscope.studies.profile.elo import check_axis_prior, elo_profile, elo_profile_report
    from skilloscope.studies.profile.periods import check_every
    from skilloscope.studies.profile.tables import elo_profile_sheet

    check_period_prior(prior)
    check_every(every)
    asked = asked_elo(games, effort, scale=axis.scale, rule=axis.rule)
    if asked.by_agent:
        followed = _Followed(games, player, alias, every, prior, dispersion)
        return _by_agent(followed, axis, output, engine)
    check_axis_prior(prior)
    refuse_agents(dispersion=dispersion)
    found, names = judged_for_elo(games, asked, effort, engine, mass=output.mass, players=player, aliases=alias)
    study = elo_profile(found, names, every=every, prior=prior)
    report = {**elo_profile_report(study), **({"positions": found.judged.as_dict()} if found.judged else {})}
    head = str(found.judged or "")
    show_report(report, elo_profile_sheet(report), as_json=output.as_json, head=head, notes=study.warnings)
    if output.wanted:
        from skilloscope.studies.profile.page import elo_profile_page

        title = f"Elo over time, by {every}"
        write_outputs(output, lambda: elo_profile_page(study, title=title, source=source_line(games, found.judged)))
    return exit_code(study.tally)


@dataclass(frozen=True)
class _Followed:
    """Whom the agent follows, and how."""

    games: list[Path]
    players: list[str]
    aliases: list[str] | None
    every: str
    prior: str
    dispersion: float | None


def _by_agent(asked: _Followed, axis: AxisOptions, output: IntervalOutput, engine: EngineOptions) -> int:
    """Follow players as the papers do: by the agent's competence and its own line of Elo."""
    from functools import partial

    from skilloscope.cli.console import exit_code, show_report
    from skilloscope.cli.judged import judge_line, scale_of, scaled_agent, source_line
    from skilloscope.cli.work import judge_files
    from skilloscope.studies.profile.profile import profiles
    from skilloscope.studies.profile.tables import profile_sheet

    scale = scale_of(axis.scale)
    model = scaled_agent(scale, axis.rule)
    judged = judge_files(asked.games, engine, player=asked.players, aliases=asked.aliases)
    study = partial(
        profiles,
        judged.decisions,
        scale,
        model=model,
        every=asked.every,
        players=judged.players,
        dispersion=asked.dispersion,
        mass=output.mass,
    )
    chosen = study((asked.prior,))[0]
    report = {**chosen.as_dict(), "positions": judged.as_dict()}
    notes = chosen.warnings
    show_report(report, profile_sheet(report), as_json=output.as_json, head=judge_line(judged), notes=notes)
    if output.wanted:
        _write_profile(output, chosen, study(), source_line(asked.games, judged))
    return exit_code(judged.decisions.tally)


def decisions_profile(
    tables: Tables,
    every: Annotated[str, typer.Option(help="The column of periods: numbers, dates or names.", metavar="COLUMN")],
    decider: Annotated[list[str] | None, typer.Option(help="Only this decider; may be repeated.")] = None,
    prior: PeriodPrior = "drift",
    dispersion: Annotated[float, typer.Option(help="Divide all evidence by this; 1 believes it in full.")] = 1.0,
    *,
    agent: AgentOptions,
    output: IntervalOutput,
) -> int:
    """Follow deciders over time: the competence c of each in every period, with its interval."""
    from functools import partial

    from skilloscope.cli.console import exit_code, show_report
    from skilloscope.cli.judged import read_batch, source_line
    from skilloscope.inference.filter import check_period_prior
    from skilloscope.studies.profile.profile import competence_profiles
    from skilloscope.studies.profile.tables import profile_sheet

    check_period_prior(prior)
    batch = read_batch(tables)
    study = partial(
        competence_profiles,
        batch,
        agent.agent(),
        every=every,
        players=decider or (),
        span=agent.c_range,
        dispersion=dispersion,
        mass=output.mass,
    )
    chosen = study((prior,))[0]
    show_report(report := chosen.as_dict(), profile_sheet(report), as_json=output.as_json)
    if output.wanted:
        _write_profile(output, chosen, study(), source_line(tables))
    return exit_code(batch.tally)


def _write_profile(output: IntervalOutput, chosen: Profile, everything: list[Profile], source: str) -> None:
    from skilloscope.cli.console import write_outputs
    from skilloscope.studies.profile.page import profile_page

    title = f"Skill over time, by {chosen.every}"
    write_outputs(output, lambda: profile_page(chosen, everything, title=title, source=source))
