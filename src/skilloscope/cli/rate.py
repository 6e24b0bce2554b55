"""`skilloscope rate`: players' strength from their moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import AxisOptions, EngineOptions, GameFiles, IntervalOutput, Options, command

if TYPE_CHECKING:
    from skilloscope.ratings.elo_axis.axis import EloAxis
    from skilloscope.ratings.scale import Scale
    from skilloscope.sources.judge import Judged, Work
    from skilloscope.studies.rate.elo import EloRatings
    from skilloscope.studies.rate.games import AxisRating
    from skilloscope.studies.rate.rate import Ratings


@dataclass(frozen=True)
class RateOptions(Options):
    """What is rated and how; None where the settings decide, or what is at hand."""

    player: Annotated[str | None, typer.Option(help="Rate this player only.", metavar="NAME")] = None
    by: Annotated[
        str, typer.Option(help="What to rate: player, event, year, colour, phase, eco, opponent, result, game …")
    ] = "player"
    method: Annotated[
        str | None, typer.Option(help="joint (default with an engine), human (without), agent, all, curves or gain.")
    ] = None
    effort: Annotated[
        str | None,
        typer.Option(
            help="instant (no engine), evaluations ([%eval] comments), quick or full (default with an engine)."
        ),
    ] = None
    prior: Annotated[str | None, typer.Option(help="Prior of Elo: population (default), flat or header.")] = None
    budget: Annotated[
        float | None, typer.Option(help="Let the engine search so long, a fair share of games.", metavar="MINUTES")
    ] = None
    seed: Annotated[int, typer.Option(help="Decides between games alike in a budget.")] = 1


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope rate games.pgn --html report.html")(command(rate))


def rate(
    games: GameFiles, *, rating: RateOptions, axis: AxisOptions, output: IntervalOutput, engine: EngineOptions
) -> int:
    """Rate players from their moves: Elo with an interval, games, moves, move match, mean loss."""
    from skilloscope.core.configuration import effective_settings
    from skilloscope.core.errors import InputError

    found = effective_settings({"prior": rating.prior, "effort": rating.effort, "scale": axis.scale})
    prior, effort, name = (found[key].value for key in ("prior", "effort", "scale"))
    elo_scale, agents = _scales(name)
    method = _method(rating.method, games, agents is not None and elo_scale is None, axis)
    asked = _Asked(elo_scale, agents, method, effort, prior, axis.rule)
    if method == "agent":
        if rating.budget is not None or rating.effort == "instant":
            raise InputError(
                "--budget and --effort instant are of the Elo axis, not of the papers' agent", hint="leave them out"
            )
        return _rate_by_agent(games, rating, asked, output, engine)
    return _rate_on_axis(games, rating, asked, output, engine)


@dataclass(frozen=True)
class _Asked:
    """What was asked for, settings counted in."""

    axis: EloAxis | None
    agents: Scale | None
    method: str | None
    effort: str | None
    prior: str
    rule: str | None


def _scales(name: str) -> tuple[EloAxis | None, Scale | None]:
    """Return the axis or the agent's scale of that name; a JSON file is one or the other by what it holds."""
    from skilloscope.core.errors import InputError
    from skilloscope.core.records import read_object
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.ratings.scale import scale

    if not name.endswith(".json"):
        return elo_axis(name), scale(name) if name == "default" else None
    try:
        held = read_object(Path(name).read_bytes())
    except (OSError, InputError) as error:
        raise InputError(f"{name}: not a scale that can be read ({error})", hint="a JSON file, or `default`") from error
    return (elo_axis(name), None) if "efforts" in held else (None, scale(name))


def _method(asked: str | None, paths: Sequence[Path], agents_only: bool, axis: AxisOptions) -> str | None:
    """Return the method, where the input or the scale leaves no choice; None where it is still open."""
    from skilloscope.cli.console import report_notes
    from skilloscope.core.errors import InputError
    from skilloscope.sources.kinds import Kind, by_kind

    found = by_kind(paths, Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED)
    tables = [*found[Kind.DECISIONS], *found[Kind.ANALYSED]]
    why = f"{tables[0]} holds no games" if tables else "the scale is the agent's" if agents_only else ""
    if why and asked not in (None, "agent"):
        raise InputError(
            f"{why}: only the papers' agent can rate here, not the method {asked!r}", hint="--method agent"
        )
    if why and asked is None:
        report_notes([f"{why}: rated by the papers' agent"])
    if axis.rule is not None and asked != "agent" and not why:
        raise InputError(
            "a choice-set rule is the agent's: the Elo axis stands on all legal moves", hint="--method agent"
        )
    return "agent" if why else asked


def _rate_on_axis(
    paths: list[Path], rating: RateOptions, asked: _Asked, output: IntervalOutput, engine: EngineOptions
) -> int:
    from dataclasses import replace

    from skilloscope.chess.duplicates import read_distinct
    from skilloscope.cli.console import exit_code, progress_bar, report_faults, write_page
    from skilloscope.cli.judged import source_line
    from skilloscope.cli.work import asked_depth, work_of
    from skilloscope.core.errors import InputError
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.studies.rate.front import rate_files, rate_read_games
    from skilloscope.studies.rate.games import AxisRating
    from skilloscope.studies.rate.methods import effort_for

    axis = asked.axis or elo_axis()
    effort = effort_for(axis, asked.method, asked.effort, asked_depth(engine))
    method = asked.method or ("joint" if effort.weights else "human")
    wanted = AxisRating(axis, effort, method, asked.prior, rating.by, output.mass, agent_scale=asked.agents)
    strict = asked.method is not None or rating.effort is not None
    with progress_bar("rating") as show:
        work = work_of(engine, show, otherwise=effort.settings)
        _refuse_single_lines(wanted, work)
        wanted = replace(
            wanted,
            workers=work.workers or 1,
            scheduler=work.scheduler,
            progress=lambda done, total: show(done, total, "games, what people play"),
        )
        if rating.budget is None:
            ratings, judged = rate_files(paths, wanted, work, player=rating.player, strict=strict)
        else:
            if not wanted.needs_engine:
                raise InputError("--budget limits searches, and without an engine there are none", hint="leave it out")
            games = read_distinct(list(paths))
            ratings, judged = rate_read_games(
                games, wanted, work, player=rating.player, budget=rating.budget, seed=rating.seed, strict=strict
            )
    report_faults(ratings.tally)
    show_elo(ratings, judged, as_json=output.as_json)
    if output.html:
        from skilloscope.studies.rate.page import elo_page

        title = (
            f"Ratings of {len(ratings.players):,} {'players' if rating.by == 'player' else f'groups by {rating.by}'}"
        )
        batch = None if judged is None else judged.decisions
        write_page(output.html, elo_page(ratings, batch, title=title, source=source_line(paths, judged)))
    return exit_code(ratings.tally)


def _rate_by_agent(
    paths: list[Path], rating: RateOptions, asked: _Asked, output: IntervalOutput, engine: EngineOptions
) -> int:
    """Rate as the papers do: by the agent, after the opening, in undecided positions."""
    from skilloscope.cli.console import exit_code, report_faults, write_page
    from skilloscope.cli.judged import check_column, scaled_agent, source_line
    from skilloscope.cli.work import working
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.ratings.scale import elo_prior
    from skilloscope.ratings.scale import scale as agent_scale
    from skilloscope.sources.judge import judge, players
    from skilloscope.studies.rate.rate import rate_decisions

    own, prior = asked.agents or agent_scale(), asked.prior
    check_column(rating.by, paths, ("player", "decider"), what="column")  # refused before the engine is asked
    model = scaled_agent(own, asked.rule)
    elo_prior(prior, own)
    settings = {} if rating.effort is None else elo_axis().effort(rating.effort).settings
    with working(engine, otherwise=settings) as work:
        _refuse_single_lines(None, work, paths)
        judged = judge(paths, work, player=rating.player)
    batch = judged.decisions
    report_faults(batch.tally)
    everybody = (
        players(judged.analyses.games) if judged.analyses and rating.by == "player" and not rating.player else ()
    )
    ratings = rate_decisions(batch, own, model=model, by=rating.by, prior=prior, mass=output.mass, everybody=everybody)
    show_ratings(ratings, judged, by=rating.by, as_json=output.as_json)
    if output.html:
        from skilloscope.studies.rate.page import ratings_page

        title = (
            f"Ratings of {len(ratings.players):,} {'players' if rating.by == 'player' else f'groups by {rating.by}'}"
        )
        page = ratings_page(ratings, batch, title=title, source=source_line(paths), by=rating.by)
        write_page(output.html, page)
    return exit_code(batch.tally)


def _refuse_single_lines(wanted: AxisRating | None, work: Work, paths: Sequence[Path] = ()) -> None:
    from skilloscope.core.errors import InputError
    from skilloscope.decision.text import table_kind

    searches = wanted.needs_engine if wanted else not all(table_kind(path) for path in paths)
    if work.settings.multipv < 2 and searches:
        raise InputError(
            "one line is no choice set: nobody can be rated from it",
            hint="let the engine list more moves, as --multipv 10 does; `analyse` takes single lines",
        )


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
