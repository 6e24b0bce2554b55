"""`skilloscope game`, `by-game`, `moves` and `play`: one game, one player's games, one position, one opponent."""

import sys
from pathlib import Path
from typing import Annotated

from skilloscope.__about__ import __version__
from skilloscope.cli import options
from skilloscope.cli.console import print_json, show
from skilloscope.cli.options import Aliases, EffortOptions, EngineOptions, IntervalOutput, PoolName, argument, option
from skilloscope.cli.request import agent_of, analysed_decisions, analysed_for_elo, asked_elo, source_line, working
from skilloscope.core.errors import OptionError


def game(
    games: Annotated[Path, argument("A PGN file, or evaluated games (.ndjson).", metavar="GAMES")],
    index: Annotated[int, option("Which game of the file: the number in its id, counted from 1.", min=1)] = 1,
    *,
    gain: options.EngineGainOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Analyse one game move by move: evaluation, gain, strength, and how likely people find each move."""
    from skilloscope.studies.game import game_of

    asked = gain.given()
    with working(options.gain_search(engine)) as work:
        study = game_of(games, index, work, **asked, mass=output.mass)
    return show(study, output, source=games.name)


def by_game(
    games: options.GameFiles,
    player: options.PlayerName,
    highlight: Annotated[str | None, option("Highlight the games against this opponent.", metavar="OPPONENT")] = None,
    game: Annotated[str | None, option("Show this game (games.pgn#12) move by move too.", metavar="GAME")] = None,
    alias: Aliases = None,
    rule: options.Rule = None,
    prior: options.EloPrior = None,
    *,
    effort: EffortOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Show one player's Elo in each game, with the opponent's."""
    from skilloscope.studies.by_game import competence_by_game, elo_by_game

    asked = asked_elo(games, effort, prior=prior, rule=rule)
    if asked.by_agent:
        model = agent_of(rule)
        judged = analysed_decisions(games, engine, player=player, aliases=alias, both_sides=True)
        study = competence_by_game(judged, judged.players[0], model, mark=highlight, game=game, mass=output.mass)
    else:
        found, (name,) = analysed_for_elo(
            games, asked, effort, engine, mass=output.mass, players=[player], aliases=alias, both_sides=True
        )
        study = elo_by_game(found, name, mark=highlight, game=game)
    return show(study, output, source=source_line(games, study.basis.analysed))


def moves(
    fen: Annotated[str, argument("A position as FEN, in quotation marks.", metavar="FEN")],
    elo: Annotated[str, option("Levels of Elo, with commas between them.")] = "1200,1600,2000,2400",
    top: Annotated[int, option("How many moves the table shows.", min=1)] = 10,
    no_engine: Annotated[bool, option("Ask no engine.")] = False,
    pool: PoolName = "fide",
    *,
    output: options.Output,
    engine: EngineOptions,
) -> int:
    """Show what players of each strength play in a position, and at which Elo half find the best move."""
    from skilloscope.studies.moves import moves_study

    try:
        levels = [float(part) for part in elo.split(",")]
    except ValueError as error:
        raise OptionError(f"--elo lists numbers, got {elo!r}", hint="for instance --elo 1200,1600,2000") from error
    if no_engine:
        study = moves_study(fen, levels, pool=pool)
    else:
        with working(engine) as work:
            study = moves_study(fen, levels, work=work, pool=pool)
    return show(study, output, source=fen, top=top)


def play(
    elo: Annotated[float, option("Elo of the opponent; the option Elo of the engine.")] = 1500.0,
    style: Annotated[
        str | None, option("joint, human, agent or curves (default: joint where an engine is found).")
    ] = None,
    seed: Annotated[int, option("Seed of the draws; 0: other games every time.", min=0)] = 0,
    pool: PoolName = "fide",
    engine: options.EngineName = None,
    as_json: options.Json = False,
) -> int:
    """Play chess like people of a given Elo: a UCI engine for any chess program."""
    from skilloscope.simulate.opponent import Persona, UciPlayer, usual_style

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # invalid bytes do not end it
    persona = Persona(elo, style or (usual_style(engine) if pool == "fide" else "human"), seed, pool)
    if as_json:  # describes the player without playing
        print_json({"schema": 1, "elo": persona.elo, "style": persona.style, "seed": persona.seed, "pool": pool})
        return 0
    with UciPlayer(persona, say, engine=engine, name=f"skilloscope {__version__}") as player:
        player.run(sys.stdin)
    return 0
