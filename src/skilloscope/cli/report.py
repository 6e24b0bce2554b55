"""`skilloscope report` and `screen`: a player or an event as a page to read; play against what a rating predicts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from skilloscope.cli import options
from skilloscope.cli.console import err, progress_bar, show
from skilloscope.cli.options import AxisOptions, EloPrior, EngineOptions, IntervalOutput, Options, argument, option
from skilloscope.cli.request import asked_depth, pool_asked, requested
from skilloscope.core.paths import effective_settings

PgnFiles = Annotated[list[Path], argument("PGN files.", metavar="GAMES…")]


@dataclass(frozen=True)
class ReportOptions(Options):
    """Whom the report is about, and how the games are rated."""

    player: Annotated[
        str | None, option("Whose report; a part of the name is enough. Without: the event.", metavar="NAME")
    ] = None
    effort: Annotated[str | None, option("instant (no engine), quick or full (default with an engine).")] = None
    prior: EloPrior = None
    pool: options.Pool = None
    budget: Annotated[
        float | None, option("Stop the engine after this many minutes, sharing time evenly.", metavar="MINUTES")
    ] = None


def report(
    games: PgnFiles, *, asked: ReportOptions, axis: AxisOptions, output: IntervalOutput, engine: EngineOptions
) -> int:
    """Report on a player or an event: Elo, strength by part of the game, most costly decisions."""
    from skilloscope.evidence.axis import elo_axis
    from skilloscope.inputs.load import EngineBudget
    from skilloscope.inputs.pipeline import analysed_files
    from skilloscope.studies.report import report_on

    settings = effective_settings({"prior": asked.prior, "effort": asked.effort, "scale": axis.scale})
    prior, effort, scale = (settings[key].value for key in ("prior", "effort", "scale"))
    pool = pool_asked(asked.pool, scale)
    budget = EngineBudget(asked.budget, strict=asked.effort is not None)
    named = [] if asked.player is None else [asked.player]
    with progress_bar("rating") as moved:
        asking = {"prior": prior, "mass": output.mass, "pool": pool}
        rating, work = requested(engine, moved, elo_axis(scale), None, effort, **asking)
        found, names = analysed_files(games, rating, work, players=named, limit=budget)
        study = report_on(found, names)
    return show(study, output, source=", ".join(path.name for path in games))


@dataclass(frozen=True)
class ScreenOptions(Options):
    """The ratings, the groups, and the assumed prevalence of help."""

    elo: Annotated[str, option("Ratings: header (the games'), a number, or a CSV file player,elo[,sd].")] = "header"
    player: Annotated[str | None, option("One player on a page; the others are the pool.", metavar="NAME")] = None
    event: Annotated[bool, option("Screen each player in each event separately.")] = False
    prevalence: Annotated[float, option("Assumed share of players with help, for the posterior odds.")] = 0.001
    effort: Annotated[str | None, option("instant (no engine), quick or full (default with an engine).")] = None


def screen(
    games: Annotated[list[Path], argument("PGN files.", metavar="GAMES…")],
    *,
    screening: ScreenOptions,
    output: options.Output,
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
    shown = found if screening.player is None else player_screening(found, screening.player)
    return show(shown, output, source=found.source)
