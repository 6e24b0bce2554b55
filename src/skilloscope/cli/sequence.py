"""`skilloscope sequence`: how probable a player's moves are for an agent of given strength."""

from __future__ import annotations

from typing import Annotated

import typer

from skilloscope.cli.options import Aliases, EngineOptions, GameFiles, Json, PlayerName, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = 'Example: skilloscope sequence games.pgn --player "Ann" --elo 2100'
    app.command(epilog=epilog)(command(sequence))


def sequence(
    games: GameFiles,
    player: PlayerName,
    *,
    elo: Annotated[float | None, typer.Option(help="Strength of the agent, by the Elo scale.")] = None,
    c: Annotated[float | None, typer.Option("--c", help="Competence of the agent, in place of an Elo.")] = None,
    draws: Annotated[int, typer.Option(help="Simulated sequences.", min=100)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.", min=0)] = 1,
    alias: Aliases = None,
    rule: Annotated[str | None, typer.Option(help="Choice-set rule: listed, bucket or full.")] = None,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Say how probable a player's moves are for an agent of given strength, and how unusual among its own."""
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, show_report
    from skilloscope.cli.judged import agent_of, judge_fields, judge_line, scale_of
    from skilloscope.cli.work import judge_files
    from skilloscope.core.errors import InputError
    from skilloscope.reports.sheet import caution_sheet
    from skilloscope.studies.sequence.sequence import sequence_probability
    from skilloscope.studies.sequence.tables import sequence_sheet

    if (elo is None) == (c is None):
        raise InputError("an agent needs one strength, --elo or --c", hint="e.g. --elo 2100, or --c 1.2")
    scale, model = scale_of(), agent_of(rule)
    strength = c if c is not None else float(scale.parameter(elo or 0.0))
    judged = judge_files(games, engine, player=player, aliases=alias)
    found = sequence_probability(
        judged.decisions, strength, model, elo=elo, dispersion=scale.dispersion, draws=draws, seed=seed
    )
    notes = scale.warnings(found.about, judged.decisions.about.get("settings", {}))
    if elo is not None and scale.extrapolates(elo):
        notes.append(f"Elo {elo:.0f} is outside the range in which the scale was fitted")
    found = replace(found, notes=notes)
    report = {**found.as_dict(), **judge_fields(judged)}
    sheets = sequence_sheet(report), caution_sheet(found.caution)
    show_report(report, *sheets, as_json=as_json, head=judge_line(judged))
    return exit_code(judged.decisions.tally)
