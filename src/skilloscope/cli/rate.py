"""`skilloscope rate`: players' strength from their moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import AxisOptions, EngineOptions, GameFiles, IntervalOutput, command

if TYPE_CHECKING:
    from skilloscope.sources.judge import Judged, Work
    from skilloscope.studies.rate.rate import Ratings


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope rate games.pgn --html report.html")(command(rate))


def rate(
    games: GameFiles,
    player: Annotated[str | None, typer.Option(help="Rate this player only.", metavar="NAME")] = None,
    by: Annotated[
        str, typer.Option(help="What to rate: player, event, year, opponent, mover, result, game …")
    ] = "player",
    prior: Annotated[str | None, typer.Option(help="Prior of Elo: flat (default), population or header.")] = None,
    *,
    axis: AxisOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Rate players from their moves: Elo with an interval, competence, move match, mean loss."""
    from skilloscope.cli.console import exit_code, report_faults, write_page
    from skilloscope.cli.judged import check_column, scale_of, scaled_agent, source_line
    from skilloscope.cli.work import working
    from skilloscope.core.configuration import effective_settings
    from skilloscope.ratings.scale import elo_prior
    from skilloscope.sources.judge import judge
    from skilloscope.studies.rate.rate import rate as rate_players

    check_column(
        by, games, ("player", "decider"), what="column"
    )  # what cannot be done is refused before the engine is asked
    scale = scale_of(axis.scale)
    model = scaled_agent(scale, axis.rule)
    prior = effective_settings({"prior": prior})["prior"].value
    elo_prior(prior, scale)
    with working(engine) as work:
        _refuse_single_lines(games, work)
        judged = judge(games, work, player=player)
    batch = judged.decisions
    report_faults(batch.tally)
    ratings = rate_players(batch, scale, model=model, by=by, prior=prior, mass=output.mass)
    show_ratings(ratings, judged, by=by, as_json=output.as_json)
    if output.html:
        from skilloscope.studies.rate.page import ratings_page

        title = f"Ratings of {len(ratings.players):,} {'players' if by == 'player' else f'groups by {by}'}"
        write_page(output.html, ratings_page(ratings, batch, title=title, source=source_line(games), by=by))
    return exit_code(batch.tally)


def _refuse_single_lines(paths: list[Path], work: Work) -> None:
    from skilloscope.core.errors import InputError
    from skilloscope.decision.text import table_kind

    if work.settings.multipv < 2 and not all(table_kind(path) for path in paths):
        raise InputError(
            "one line is no choice set: nobody can be rated from it",
            hint="let the engine list more moves, as --multipv 10 does; `analyse` takes single lines",
        )


def show_ratings(
    ratings: Ratings,
    judged: Judged,
    *,
    by: str = "player",
    truth: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    as_json: bool = False,
) -> None:
    """Show ratings as a table with its notes, or as JSON; with the true c where the players are simulated."""
    from skilloscope.cli.console import show_report
    from skilloscope.cli.judged import judge_line
    from skilloscope.studies.rate.tables import ratings_sheet

    report = {**ratings.as_dict(), "positions": judged.as_dict(), **({"truth": truth} if truth else {})}
    head, told = judge_line(judged), [*ratings.warnings, *notes]
    show_report(report, ratings_sheet(report, truth, by=by), as_json=as_json, head=head, notes=told)
