"""`skilloscope rate`: players' strength from their moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.elo import AskedElo, asked_elo, axis_work, refuse_single_lines
from skilloscope.cli.options import (
    AxisOptions,
    EffortOptions,
    EngineOptions,
    GameFiles,
    IntervalOutput,
    Options,
    command,
)

if TYPE_CHECKING:
    from skilloscope.sources.judge import Judged
    from skilloscope.studies.rate.elo import EloRatings
    from skilloscope.studies.rate.rate import Ratings


@dataclass(frozen=True)
class RateOptions(Options):
    """What is rated and how; None where the settings decide, or what is at hand."""

    player: Annotated[str | None, typer.Option(help="Rate this player only.", metavar="NAME")] = None
    by: Annotated[
        str, typer.Option(help="What to rate: player, event, year, colour, phase, eco, opponent, result, game …")
    ] = "player"
    prior: Annotated[str | None, typer.Option(help="Prior of Elo: population (default), flat or header.")] = None
    with_results: Annotated[
        Path | None,
        typer.Option(help="Count the results of this file too: games (PGN) or a table of results.", metavar="FILE"),
    ] = None


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope rate games.pgn --html report.html")(command(rate))


def rate(
    games: GameFiles,
    *,
    rating: RateOptions,
    effort: EffortOptions,
    axis: AxisOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Rate players from their moves: Elo with an interval, games, moves, move match, mean loss."""
    asked = asked_elo(games, effort, prior=rating.prior, scale=axis.scale, rule=axis.rule)
    if asked.by_agent:
        if rating.with_results is not None:
            from skilloscope.core.errors import OptionError

            raise OptionError("--with-results is of the Elo axis, not of the papers' agent", hint="leave it out")
        return _rate_by_agent(games, rating, asked, output, engine)
    return _rate_on_axis(games, rating, asked, effort, output, engine)


def _rate_on_axis(
    paths: list[Path],
    rating: RateOptions,
    asked: AskedElo,
    effort: EffortOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    from skilloscope.cli.console import exit_code, progress_bar, report_faults, write_outputs
    from skilloscope.cli.judged import source_line
    from skilloscope.studies.rate.front import Limit, rate_files
    from skilloscope.studies.rate.fusion import fuse, read_results_to_fuse

    results = None if rating.with_results is None else read_results_to_fuse(rating.with_results)
    limit = Limit(effort.budget, effort.seed, asked.strict)
    with progress_bar("rating") as show:
        wanted, work = axis_work(asked, effort, engine, show, by=rating.by, mass=output.mass)
        ratings, judged = rate_files(paths, wanted, work, player=rating.player, limit=limit)
    if results is not None:
        ratings = fuse(ratings, results)
    report_faults(ratings.tally)
    show_elo(ratings, judged, as_json=output.as_json)
    if output.wanted:
        from skilloscope.studies.rate.page import elo_page

        title = _title(len(ratings.players), rating.by)
        batch = None if judged is None else judged.decisions
        write_outputs(output, lambda: elo_page(ratings, batch, title=title, source=source_line(paths, judged)))
    return exit_code(ratings.tally)


def _rate_by_agent(
    paths: list[Path], rating: RateOptions, asked: AskedElo, output: IntervalOutput, engine: EngineOptions
) -> int:
    """Rate as the papers do: by the agent, after the opening, in undecided positions."""
    from skilloscope.cli.console import exit_code, report_faults, write_outputs
    from skilloscope.cli.judged import check_column, scaled_agent, source_line
    from skilloscope.cli.work import working
    from skilloscope.decision.text import table_kind
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.ratings.scale import elo_prior
    from skilloscope.ratings.scale import scale as agent_scale
    from skilloscope.sources.judge import judge, players
    from skilloscope.studies.rate.rate import rate_decisions

    own, prior = asked.agents or agent_scale(), asked.prior
    check_column(rating.by, paths, ("player", "decider"), what="column")  # refused before the engine is asked
    model = scaled_agent(own, asked.rule)
    elo_prior(prior, own)
    settings = {} if asked.effort is None else elo_axis().effort(asked.effort).settings
    with working(engine, otherwise=settings) as work:
        if not all(table_kind(path) for path in paths):
            refuse_single_lines(work)
        judged = judge(paths, work, player=rating.player)
    batch = judged.decisions
    report_faults(batch.tally)
    everybody = (
        players(judged.analyses.games) if judged.analyses and rating.by == "player" and not rating.player else ()
    )
    ratings = rate_decisions(batch, own, model=model, by=rating.by, prior=prior, mass=output.mass, everybody=everybody)
    show_ratings(ratings, judged, by=rating.by, as_json=output.as_json)
    if output.wanted:
        from skilloscope.studies.rate.page import ratings_page

        title = _title(len(ratings.players), rating.by)
        source = source_line(paths)
        write_outputs(output, lambda: ratings_page(ratings, batch, title=title, source=source, by=rating.by))
    return exit_code(batch.tally)


def _title(n: int, by: str) -> str:
    from skilloscope.reports.words import plural

    return f"Ratings of {plural(n, 'player')}" if by == "player" else f"Ratings of {plural(n, 'group')} by {by}"


def show_elo(ratings: EloRatings, judged: Judged | None, *, as_json: bool = False) -> None:
    """Show ratings on the Elo axis as tables with their notes, or as JSON."""
    from skilloscope.cli.console import show_report
    from skilloscope.studies.rate.elo_tables import elo_sheets

    report = {**ratings.as_dict(), **({"positions": judged.as_dict()} if judged else {})}
    head = "" if judged is None else str(judged)
    show_report(report, *elo_sheets(report, by=ratings.by), as_json=as_json, head=head, notes=ratings.warnings)


def show_ratings(
    ratings: Ratings,
    judged: Judged,
    *,
    by: str = "player",
    truth: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    as_json: bool = False,
) -> None:
    """Show ratings by the agent as a table with its notes, or as JSON; with the true c of simulated players."""
    from skilloscope.cli.console import show_report
    from skilloscope.cli.judged import judge_line
    from skilloscope.studies.rate.tables import ratings_sheet

    report = {**ratings.as_dict(), "positions": judged.as_dict(), **({"truth": truth} if truth else {})}
    head, told = judge_line(judged), [*ratings.warnings, *notes]
    show_report(report, ratings_sheet(report, truth, by=by), as_json=as_json, head=head, notes=told)
