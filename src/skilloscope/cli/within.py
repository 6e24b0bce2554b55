"""`skilloscope within`: one player's games, each a point: how well the player chose, and the opponent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.options import Aliases, EngineOptions, GameFiles, Html, Json, Mass, PlayerName, command

if TYPE_CHECKING:
    from skilloscope.sources.judge import Judged
    from skilloscope.studies.within.within import RunningCompetence, WithinGames


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = 'Example: skilloscope within games.pgn --player "Ann" --mark "Bob" --html chart.html'
    app.command(epilog=example)(command(within))


def within(
    games: GameFiles,
    player: PlayerName,
    mark: Annotated[str | None, typer.Option(help="Mark the games against this opponent.", metavar="OPPONENT")] = None,
    follow: Annotated[
        str | None, typer.Option(help="Show this game (games.pgn#12) move by move too.", metavar="GAME")
    ] = None,
    alias: Aliases = None,
    rule: Annotated[str | None, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = None,
    mass: Mass = 0.95,
    html: Html = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Show one player's games, each a point: how well the player chose in it, and how well the opponent did."""
    from skilloscope.cli.console import run

    asked = {"player": player, "mark": mark, "follow": follow, "alias": alias or [], "rule": rule, "mass": mass}
    raise typer.Exit(run(lambda: _within(games, asked, html, engine, as_json)))


def _within(paths: list[Path], asked: dict[str, Any], html: Path | None, engine: EngineOptions, as_json: bool) -> int:
    from skilloscope.cli.console import exit_code, report_faults, write_page
    from skilloscope.cli.judged import agent_of, source_line
    from skilloscope.cli.work import working
    from skilloscope.core.errors import check_writable
    from skilloscope.sources.judge import aliases_from_texts, judge
    from skilloscope.studies.within.page import within_page
    from skilloscope.studies.within.within import follow_game, within_games

    if html:
        check_writable(html)
    model, aliases, mass = agent_of(asked["rule"]), aliases_from_texts(asked["alias"]), asked["mass"]
    with working(engine) as work:
        judged = judge(paths, work, player=asked["player"], aliases=aliases, both_sides=True)
    report_faults(judged.decisions.tally)
    study = within_games(judged.decisions, asked["player"], model, mark=asked["mark"], mass=mass)
    followed = follow_game(judged.decisions, asked["follow"], model, mass=mass) if asked["follow"] else None
    _show(study, followed, judged, as_json)
    if html:
        write_page(html, within_page(study, followed, source=source_line(paths, judged)))
    return exit_code(judged.decisions.tally)


def _show(study: WithinGames, followed: RunningCompetence | None, judged: Judged, as_json: bool) -> None:
    from skilloscope.cli.console import out, print_json
    from skilloscope.cli.judged import judge_fields, judge_line
    from skilloscope.studies.within.tables import moves_table, within_table

    if as_json:
        print_json({**study.as_dict(), "followed": followed.as_dict() if followed else None, **judge_fields(judged)})
        return
    out().print(judge_line(judged))
    out().print(within_table(study.as_dict()))
    if followed:
        out().print(moves_table(followed.as_dict()))
