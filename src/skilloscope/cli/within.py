"""`skilloscope within`: one player's games, each a point: how well the player chose, and the opponent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.elo import asked_elo, judged_for_elo
from skilloscope.cli.options import (
    Aliases,
    EffortOptions,
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
    prior: Annotated[str | None, typer.Option(help="Prior of Elo: population (default), flat or header.")] = None,
    *,
    effort: EffortOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Show one player's games, each a point: the Elo that the player's moves look like, and the opponent's."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.judged import source_line
    from skilloscope.sources.judge import found_name, players
    from skilloscope.studies.within.elo import elo_within, follow_elo
    from skilloscope.studies.within.tables import elo_within_sheet, running_elo_sheet

    asked = asked_elo(games, effort, prior=prior, rule=rule)
    if asked.by_agent:
        return _by_agent(_Wanted(games, player, mark, follow, alias, rule), output, engine)
    found, (name,) = judged_for_elo(
        games, asked, effort, engine, mass=output.mass, players=[player], aliases=alias, both_sides=True
    )
    study = elo_within(found, name, found_name(mark, players(found.games)) if mark else None)
    followed = follow_elo(found, follow) if follow else None
    moves = followed.as_dict() if followed else None
    report = {**study.as_dict(), "followed": moves, **({"positions": found.judged.as_dict()} if found.judged else {})}
    sheets = [elo_within_sheet(report), *([running_elo_sheet(moves)] if moves else [])]
    show_report(report, *sheets, as_json=output.as_json, head=str(found.judged or ""), notes=study.warnings)
    if output.wanted:
        from skilloscope.studies.within.page import elo_within_page

        write_outputs(output, lambda: elo_within_page(study, followed, source=source_line(games, found.judged)))
    return exit_code(study.tally)


@dataclass(frozen=True)
class _Wanted:
    """Whose games the agent is asked about, and what is marked and followed."""

    games: list[Path]
    player: str
    mark: str | None
    follow: str | None
    aliases: list[str] | None
    rule: str | None


def _by_agent(asked: _Wanted, output: IntervalOutput, engine: EngineOptions) -> int:
    """Show the same as the papers do, by the agent's competence."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.judged import agent_of, judge_fields, judge_line, source_line
    from skilloscope.cli.work import judge_files
    from skilloscope.studies.within.tables import running_sheet, within_sheet
    from skilloscope.studies.within.within import follow_game, within_games

    model = agent_of(asked.rule)
    judged = judge_files(asked.games, engine, player=asked.player, aliases=asked.aliases, both_sides=True)
    study = within_games(judged.decisions, judged.players[0], model, mark=asked.mark, mass=output.mass)
    followed = follow_game(judged.decisions, asked.follow, model, mass=output.mass) if asked.follow else None
    moves = followed.as_dict() if followed else None
    report = {**study.as_dict(), "followed": moves, **judge_fields(judged)}
    sheets = [within_sheet(report), *([running_sheet(moves)] if moves else [])]
    show_report(report, *sheets, as_json=output.as_json, head=judge_line(judged))
    if output.wanted:
        from skilloscope.studies.within.page import within_page

        write_outputs(output, lambda: within_page(study, followed, source=source_line(asked.games, judged)))
    return exit_code(judged.decisions.tally)
