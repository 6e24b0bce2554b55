"""`skilloscope sequence`: how probable a player's moves are for an agent of given strength."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skilloscope.cli.options import Aliases, EngineOptions, GameFiles, Json, PlayerName, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = 'Example: skilloscope sequence games.pgn --player "Ann" --elo 2100'
    app.command(epilog=epilog)(command(sequence))


def sequence(
    games: GameFiles,
    player: PlayerName,
    elo: Annotated[float | None, typer.Option(help="Strength of the agent, by the Elo scale.")] = None,
    c: Annotated[float | None, typer.Option("--c", help="Competence of the agent, in place of an Elo.")] = None,
    draws: Annotated[int, typer.Option(help="Simulated sequences.", min=100)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.", min=0)] = 1,
    alias: Aliases = None,
    rule: Annotated[str | None, typer.Option(help="Choice-set rule: listed, bucket or full.")] = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Say how probable a player's moves are for an agent of given strength, and how unusual among its own."""
    from skilloscope.cli.console import run

    asked = {"player": player, "elo": elo, "c": c, "draws": draws, "seed": seed, "alias": alias or [], "rule": rule}
    raise typer.Exit(run(lambda: _sequence(games, asked, engine, as_json)))


def _sequence(paths: list[Path], asked: dict[str, Any], engine: EngineOptions, as_json: bool) -> int:
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.cli.judged import agent_of, judge_fields, judge_line
    from skilloscope.cli.work import working
    from skilloscope.core.configuration import effective_settings
    from skilloscope.core.errors import InputError
    from skilloscope.ratings.scale import scale as load_scale
    from skilloscope.sources.judge import aliases_from_texts, judge
    from skilloscope.studies.sequence.sequence import sequence_probability
    from skilloscope.studies.sequence.tables import sequence_table

    if (asked["elo"] is None) == (asked["c"] is None):
        raise InputError("an agent needs one strength, --elo or --c", hint="e.g. --elo 2100, or --c 1.2")
    scale, model = load_scale(effective_settings({})["scale"].value), agent_of(asked["rule"])
    c = asked["c"] if asked["c"] is not None else float(scale.parameter(asked["elo"]))
    with working(engine) as work:
        judged = judge(paths, work, player=asked["player"], aliases=aliases_from_texts(asked["alias"]))
    report_faults(judged.decisions.tally)
    options = {"elo": asked["elo"], "dispersion": scale.dispersion, "draws": asked["draws"], "seed": asked["seed"]}
    found = sequence_probability(judged.decisions, c, model, **options)
    notes = scale.warnings(found.about, judged.decisions.about.get("settings", {}))
    if asked["elo"] is not None and scale.extrapolates(asked["elo"]):
        notes.append(f"Elo {asked['elo']:.0f} is outside the range in which the scale was fitted")
    report = replace(found, notes=notes).as_dict()
    if as_json:
        print_json({**report, **judge_fields(judged)})
    else:
        out().print(judge_line(judged))
        out().print(sequence_table(report))
    return exit_code(judged.decisions.tally)
