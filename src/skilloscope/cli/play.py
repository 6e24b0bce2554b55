"""`skilloscope play`: an opponent of a given Elo that chess programs load as a UCI engine."""

from __future__ import annotations

from typing import Annotated

import typer

from skilloscope.cli.options import EngineName, Json, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope play --elo 1800")(command(play))


def play(
    elo: Annotated[float, typer.Option(help="Elo of the opponent; the option Elo of the engine.")] = 1500.0,
    style: Annotated[
        str | None, typer.Option(help="joint, human, agent or curves (default: joint where an engine is found).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws; 0: other games every time.", min=0)] = 0,
    engine: EngineName = None,
    as_json: Json = False,
) -> int:
    """Play chess as people of an Elo do: a UCI engine on stdin and stdout, for any chess program."""
    import sys

    from skilloscope.__about__ import __version__
    from skilloscope.cli.console import print_json
    from skilloscope.simulate.opponent import Persona, usual_style
    from skilloscope.simulate.uci_player import UciPlayer

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # bytes that are no text are no reason to end
    persona = Persona(elo, style or usual_style(engine), seed)
    if as_json:  # says who would play, and does not
        print_json({"schema": 1, "elo": persona.elo, "style": persona.style, "seed": persona.seed})
        return 0
    with UciPlayer(persona, say, engine=engine, name=f"skilloscope {__version__}") as player:
        player.run(sys.stdin)
    return 0
