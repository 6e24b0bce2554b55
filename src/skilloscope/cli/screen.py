"""`skilloscope screen`: observed play against what is expected at a player's rating."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from skilloscope.cli.console import err, progress_bar, show
from skilloscope.cli.options import EngineOptions, Options, Output, argument, option
from skilloscope.cli.request import asked_depth, requested


@dataclass(frozen=True)
class ScreenOptions(Options):
    """The ratings, the groups, and the assumed prevalence of help."""

    elo: Annotated[str, option("Ratings: header (the games'), a number, or a CSV file player,elo[,sd].")] = "header"
    player: Annotated[str | None, option("One player's evidence on one page; the others are the pool.")] = None
    event: Annotated[bool, option("Screen each player in each event separately.")] = False
    prevalence: Annotated[float, option("Assumed share of players with help, for the posterior odds.")] = 0.001
    effort: Annotated[str | None, option("instant (no engine), quick or full (default with an engine).")] = None


def screen(
    games: Annotated[list[Path], argument("PGN files.", metavar="GAMES…")],
    *,
    screening: ScreenOptions,
    output: Output,
    engine: EngineOptions,
) -> int:
    """Stronger than the rating? Like an engine, beyond people of any strength? With error rates; never a verdict."""
    from skilloscope.evidence.axis import elo_axis
    from skilloscope.studies.screen.player import player_screening
    from skilloscope.studies.screen.screen import screen

    with progress_bar("screening") as bar:
        request, job = requested(engine, bar, elo_axis(), None, screening.effort, depth=asked_depth(engine))
        found = screen(
            games,
            elo=screening.elo,
            by_event=screening.event,
            player=screening.player,
            prevalence=screening.prevalence,
            effort=screening.effort,
            request=request,
            job=job,
        )
    if found.positions:
        err().print(found.positions)
    if screening.player is not None:
        return show(player_screening(found, screening.player), output, source=found.source)
    return show(found, output, source=found.source)
