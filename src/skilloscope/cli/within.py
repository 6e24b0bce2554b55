"""`skilloscope within`: one player's games, each a point: how well the player chose, and the opponent."""

from __future__ import annotations

from typing import Annotated

import typer

from skilloscope.cli.options import (
    Aliases,
    BudgetMinutes,
    EngineOptions,
    GameFiles,
    IntervalOutput,
    PlayerName,
    Rule,
    command,
)


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
    rule: Rule = None,
    budget: BudgetMinutes = None,
    *,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Show one player's games, each a point: how well the player chose in it, and how well the opponent did."""
    from skilloscope.cli.console import exit_code, show_report, write_page
    from skilloscope.cli.judged import agent_of, judge_fields, judge_line, source_line
    from skilloscope.cli.work import judge_files
    from skilloscope.studies.within.tables import running_sheet, within_sheet
    from skilloscope.studies.within.within import follow_game, within_games

    model = agent_of(rule)
    judged = judge_files(games, engine, player=player, aliases=alias, both_sides=True, budget=budget)
    study = within_games(judged.decisions, judged.players[0], model, mark=mark, mass=output.mass)
    followed = follow_game(judged.decisions, follow, model, mass=output.mass) if follow else None
    moves = followed.as_dict() if followed else None
    report = {**study.as_dict(), "followed": moves, **judge_fields(judged)}
    sheets = [within_sheet(report), *([running_sheet(moves)] if moves else [])]
    show_report(report, *sheets, as_json=output.as_json, head=judge_line(judged))
    if output.html:
        from skilloscope.studies.within.page import within_page

        write_page(output.html, within_page(study, followed, source=source_line(games, judged)))
    return exit_code(judged.decisions.tally)
