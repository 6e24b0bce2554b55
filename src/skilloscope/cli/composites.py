"""`skilloscope composites`: many players of one Elo, or of one group, as one player."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import AgentOptions, EngineOptions, IntervalOutput, Options, command

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.studies.composites.composites import Composites
    from skilloscope.studies.composites.convergence import Convergence
    from skilloscope.studies.composites.results_split import ResultsSplit


@dataclass(frozen=True)
class GroupOptions(Options):
    """What is taken as one player, and what else is asked of it."""

    by: Annotated[str, typer.Option(help="What to group by: milepost (of Elo), or a column.")] = "milepost"
    tolerance: Annotated[float, typer.Option(help="How far from a milepost an Elo may be.")] = 10.0
    one_sided: Annotated[bool, typer.Option("--one-sided", help="Whatever the opponent's Elo.")] = False
    split: Annotated[str | None, typer.Option(help="Split the player-games too: by result.", metavar="result")] = None
    convergence: Annotated[bool, typer.Option("--convergence", help="Show a group's c as decisions come in.")] = False
    group: Annotated[
        str | None, typer.Option(help="The group of --split (all) and --convergence (largest).", metavar="LABEL")
    ] = None


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = "Example: skilloscope composites games.pgn --tolerance 15 --html composites.html"
    app.command(epilog=epilog)(command(composites))


def composites(
    games: Annotated[
        list[Path], typer.Argument(help="PGN files, or tables of decisions (.parquet, .jsonl, .csv).", metavar="GAMES…")
    ],
    *,
    group: GroupOptions,
    agent: AgentOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Take many players as one, by Elo milepost or any column: c with its region, and the line from c to Elo."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.judged import judge_line, source_line
    from skilloscope.cli.work import judge_files
    from skilloscope.core.errors import OptionError
    from skilloscope.studies.composites.tables import composites_sheets

    if group.split not in (None, "result"):
        raise OptionError(f"no split by {group.split!r}", hint="--split result")
    agent.agent()  # what cannot be done is refused before the engine is asked
    judged = judge_files(games, engine, any_domain=True)
    study, split, convergence = _studies(judged.decisions, group, agent, output.mass)
    report = {
        **study.as_dict(),
        "positions": judged.as_dict(),
        "split": split.as_dict() if split else None,
        "convergence": convergence.as_dict() if convergence else None,
    }
    show_report(
        report, *composites_sheets(report), as_json=output.as_json, head=judge_line(judged), notes=report["warnings"]
    )
    if output.wanted:
        from skilloscope.studies.composites.page import composites_page

        source = source_line(games)
        write_outputs(output, lambda: composites_page(study, source=source, split=split, convergence=convergence))
    return exit_code(judged.decisions.tally)


def _studies(
    batch: Decisions, group: GroupOptions, agent: AgentOptions, mass: float
) -> tuple[Composites, ResultsSplit | None, Convergence | None]:
    from skilloscope.ratings.mileposts import MILEPOST, with_mileposts
    from skilloscope.studies.composites.composites import composites_from
    from skilloscope.studies.composites.convergence import group_convergence
    from skilloscope.studies.composites.game_evidence import player_games
    from skilloscope.studies.composites.results_split import results_split

    posts, model = group.by == MILEPOST, agent.agent()
    if posts:
        batch = with_mileposts(batch, group.tolerance, both=not group.one_sided)
    model = model.prepared(batch) if len(batch) else model
    rows = player_games(batch, model, by=group.by, span=agent.c_range)
    study = composites_from(rows, batch, mass=mass, tolerance=group.tolerance if posts else None)
    own = None if group.group is None else study.named(group.group)
    split = convergence = None
    if group.split:
        some = rows if own is None else rows.of(own.label)
        split = results_split(some, name=own.name if own else "all", mass=mass)
    if group.convergence:
        shown = own or max(study.groups, key=lambda one: one.decisions)
        convergence = group_convergence(batch, rows, shown.label, model, mass=mass)
    return study, split, convergence
