"""`skilloscope rate`: players' strength from their moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, GameFiles, Html, Json, Mass, Options, command

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.sources.judge import Judged, Work
    from skilloscope.studies.rate.rate import Ratings


@dataclass(frozen=True)
class AxisOptions(Options):
    """How evidence is read as Elo; None where the settings decide."""

    prior: Annotated[str | None, typer.Option(help="Prior of Elo: flat (default), population or header.")] = None
    scale: Annotated[str | None, typer.Option(help="Elo scale: a name or a JSON file (default: default).")] = None
    rule: Annotated[
        str | None, typer.Option(help="Choice-set rule: listed, bucket, sampled or full (default: the scale's).")
    ] = None


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope rate games.pgn --html report.html")(command(rate))


def rate(
    games: GameFiles,
    player: Annotated[str | None, typer.Option(help="Rate this player only.", metavar="NAME")] = None,
    by: Annotated[
        str, typer.Option(help="What to rate: player, event, year, opponent, mover, result, game …")
    ] = "player",
    *,
    axis: AxisOptions,
    mass: Mass = 0.95,
    html: Html = None,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Rate players from their moves: Elo with an interval, competence, move match, mean loss."""
    from skilloscope.cli.console import exit_code, report_faults
    from skilloscope.cli.work import working
    from skilloscope.core.checks import check_writable
    from skilloscope.sources.judge import judge

    check_writable(html)
    _check_column(by, games)
    rated = _rater(by, mass, axis)  # what cannot be done is refused before the engine is asked
    with working(engine) as work:
        _refuse_single_lines(games, work)
        judged = judge(games, work, player=player)
    report_faults(judged.decisions.tally)
    ratings = rated(judged.decisions)
    show_ratings(ratings, judged, by=by, as_json=as_json)
    if html:
        _write_page(html, ratings, judged.decisions, by, games)
    return exit_code(judged.decisions.tally)


def _check_column(by: str, paths: list[Path]) -> None:
    """Refuse a column that games do not have, before they are analysed; a table's columns are known when it is read."""
    from skilloscope.chess.joining import CONTEXT
    from skilloscope.core.errors import InputError
    from skilloscope.decision.text import table_kind

    columns = ("player", "decider", *CONTEXT)
    if by not in columns and not any(table_kind(path) for path in paths):
        raise InputError(f"no column {by!r} to group by", hint=f"the columns: {', '.join(columns)}")


def _rater(by: str, mass: float, axis: AxisOptions) -> Callable[[Decisions], Ratings]:
    from dataclasses import asdict

    from skilloscope.core.checks import check_mass
    from skilloscope.core.configuration import effective_settings
    from skilloscope.models.agent import Agent
    from skilloscope.ratings.scale import elo_prior
    from skilloscope.ratings.scale import scale as load_scale
    from skilloscope.studies.rate.rate import rate as rate_players

    check_mass(mass)
    found = effective_settings(asdict(axis))
    scale, prior = load_scale(found["scale"].value), found["prior"].value
    elo_prior(prior, scale)
    model = Agent.from_about(scale.model, rule=found["rule"].value)
    return lambda batch: rate_players(batch, scale, model=model, by=by, prior=prior, mass=mass)


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
    from skilloscope.cli.console import out, print_json, report_notes, show
    from skilloscope.reports.words import engine_line
    from skilloscope.studies.rate.tables import ratings_sheet

    report = ratings.as_dict()
    if as_json:
        print_json({**report, "positions": judged.as_dict(), **({"truth": truth} if truth else {})})
        return
    out().print(f"{judged}; {engine_line(report['engine'])}", highlight=False)
    show(ratings_sheet(report, truth, by=by))
    report_notes([*ratings.warnings, *notes])


def _write_page(path: Path, ratings: Ratings, batch: Decisions, by: str, paths: list[Path]) -> None:
    from skilloscope.cli.console import write_page
    from skilloscope.cli.judged import source_line
    from skilloscope.studies.rate.page import ratings_page

    title = f"Ratings of {len(ratings.players):,} {'players' if by == 'player' else f'groups by {by}'}"
    write_page(path, ratings_page(ratings, batch, title=title, source=source_line(paths), by=by))
