"""`skilloscope sequence`: how probable a player's moves are for people, or an agent, of given strength."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.elo import asked_elo, judged_for_elo
from skilloscope.cli.options import Aliases, EffortOptions, EngineOptions, GameFiles, Json, PlayerName, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = 'Example: skilloscope sequence games.pgn --player "Ann" --elo 2100'
    app.command(epilog=epilog)(command(sequence))


def sequence(
    games: GameFiles,
    player: PlayerName,
    *,
    elo: Annotated[float | None, typer.Option(help="Strength of the people, or of the agent by its scale.")] = None,
    c: Annotated[float | None, typer.Option("--c", help="Competence of the agent, in place of an Elo.")] = None,
    draws: Annotated[int, typer.Option(help="Simulated sequences.", min=100)] = 10_000,
    alias: Aliases = None,
    rule: Annotated[str | None, typer.Option(help="With --method agent: listed, bucket or full.")] = None,
    effort: EffortOptions,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Say how probable a player's moves are for people of given strength, and how unusual among their own."""
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, show_report
    from skilloscope.core.errors import OptionError
    from skilloscope.reports.sheet import caution_sheet
    from skilloscope.studies.sequence.elo import elo_sequence
    from skilloscope.studies.sequence.tables import sequence_sheet

    if (elo is None) == (c is None):
        raise OptionError("a sequence needs one strength, --elo or --c", hint="e.g. --elo 2100, or --c 1.2")
    options = effort if c is None or effort.method is not None else replace(effort, method="agent")
    asked = asked_elo(games, options, rule=rule)
    if asked.by_agent or elo is None:
        return _by_agent(games, _Agent(player, elo, c, draws, effort.seed, rule), alias, engine, as_json=as_json)
    found, (name,) = judged_for_elo(games, asked, options, engine, players=[player], aliases=alias)
    study = elo_sequence(found, name, elo, draws=draws, seed=effort.seed)
    report = {**study.as_dict(), **({"positions": found.judged.as_dict()} if found.judged else {})}
    sheets = sequence_sheet(report), caution_sheet(study.caution)
    show_report(report, *sheets, as_json=as_json, head=str(found.judged or ""))
    return exit_code(study.tally)


@dataclass(frozen=True)
class _Agent:
    """Whose moves the agent is held against, and which agent."""

    player: str
    elo: float | None
    c: float | None
    draws: int
    seed: int
    rule: str | None


def _by_agent(
    games: list[Path], asked: _Agent, alias: list[str] | None, engine: EngineOptions, *, as_json: bool
) -> int:
    """Say the same of the papers' agent."""
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, show_report
    from skilloscope.cli.judged import agent_of, judge_fields, judge_line, scale_of
    from skilloscope.cli.work import judge_files
    from skilloscope.reports.sheet import caution_sheet
    from skilloscope.studies.sequence.sequence import sequence_probability
    from skilloscope.studies.sequence.tables import sequence_sheet

    scale, model, elo = scale_of(), agent_of(asked.rule), asked.elo
    strength = asked.c if asked.c is not None else float(scale.parameter(elo or 0.0))
    judged = judge_files(games, engine, player=asked.player, aliases=alias)
    found = sequence_probability(
        judged.decisions, strength, model, elo=elo, dispersion=scale.dispersion, draws=asked.draws, seed=asked.seed
    )
    notes = scale.warnings(found.about, judged.decisions.about.get("settings", {}))
    if elo is not None and scale.extrapolates(elo):
        notes.append(f"Elo {elo:.0f} is outside the range in which the scale was fitted")
    found = replace(found, notes=notes)
    report = {**found.as_dict(), **judge_fields(judged)}
    sheets = sequence_sheet(report), caution_sheet(found.caution)
    show_report(report, *sheets, as_json=as_json, head=judge_line(judged))
    return exit_code(judged.decisions.tally)
