"""`skilloscope screen`: observed play against what is expected at a player's rating."""

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
    """Compare match, loss and blunders with what each player's rating predicts: z, p, odds; never a verdict."""
    from skilloscope.evidence.axis import elo_axis
    from skilloscope.studies.screen.screen import screen

    with progress_bar("screening") as bar:
        request, job = requested(engine, bar, elo_axis(), None, screening.effort, depth=asked_depth(engine))
        found = screen(
            games,
            elo=screening.elo,
            by_event=screening.event,
            prevalence=screening.prevalence,
            effort=screening.effort,
            request=request,
            job=job,
        )
    if found.positions:
        err().print(found.positions)
    return show(found, output, source=found.source)
