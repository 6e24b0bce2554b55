"""`skilloscope composites`: many players of one Elo, or of one group, as one player."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, Json, command

if TYPE_CHECKING:
    from skilloscope.models.agent import Agent
    from skilloscope.sources.judge import Judged
    from skilloscope.studies.composites.composites import Composites
    from skilloscope.studies.composites.convergence import Convergence
    from skilloscope.studies.composites.results_split import ResultsSplit


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = "Example: skilloscope composites games.pgn --tolerance 15 --html composites.html"
    app.command(epilog=epilog)(command(composites))


@dataclass(frozen=True)
class _Wanted:
    """What was asked for on the command line."""

    by: str
    tolerance: float
    one_sided: bool
    model: tuple[float, str]
    span: tuple[float, float]
    mass: float
    split: str | None
    convergence: bool
    group: str | None


@dataclass(frozen=True)
class _Found:
    """The studies that came out."""

    composites: Composites
    split: ResultsSplit | None
    convergence: Convergence | None


def composites(
    games: Annotated[
        list[Path], typer.Argument(help="PGN files, or tables of decisions (.parquet, .jsonl, .csv).", metavar="GAMES…")
    ],
    by: Annotated[str, typer.Option(help="What to group by: milepost (of Elo), or a column.")] = "milepost",
    tolerance: Annotated[float, typer.Option(help="How far from a milepost an Elo may be.")] = 10.0,
    one_sided: Annotated[bool, typer.Option("--one-sided", help="Whatever the opponent's Elo.")] = False,
    k: Annotated[float, typer.Option(help="The agent's constant, in pawns.")] = 0.1,
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    c_range: Annotated[tuple[float, float], typer.Option("--range", help="Range of c.", metavar="LOW HIGH")] = (
        0.0,
        4.0,
    ),
    mass: Annotated[float, typer.Option(help="Mass of the regions and intervals.")] = 0.95,
    split: Annotated[str | None, typer.Option(help="Split the player-games too: by result.", metavar="result")] = None,
    convergence: Annotated[bool, typer.Option("--convergence", help="Show a group's c as decisions come in.")] = False,
    group: Annotated[
        str | None, typer.Option(help="The group of --split (all) and --convergence (largest).", metavar="LABEL")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the figures.", metavar="FILE")] = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Take many players as one, by Elo milepost or any column: c with its region, and the line from c to Elo."""
    from skilloscope.cli.console import run

    wanted = _Wanted(by, tolerance, one_sided, (k, rule), c_range, mass, split, convergence, group)
    raise typer.Exit(run(lambda: _composites(games, wanted, html, engine, as_json)))


def _composites(paths: list[Path], wanted: _Wanted, html: Path | None, engine: EngineOptions, as_json: bool) -> int:
    from skilloscope.cli.console import exit_code, out, print_json, report_faults, report_notes
    from skilloscope.cli.work import working
    from skilloscope.core.checks import check_writable
    from skilloscope.core.errors import InputError
    from skilloscope.models.agent import Agent
    from skilloscope.sources.judge import judge

    check_writable(html)
    if wanted.split not in (None, "result"):
        raise InputError(f"no split by {wanted.split!r}", hint="--split result")
    model = Agent(*wanted.model)
    with working(engine) as work:
        judged = judge(paths, work, any_domain=True)
    report_faults(judged.decisions.tally)
    found = _studies(judged, model, wanted)
    if as_json:
        print_json(_report(found, judged))
    else:
        for table in _tables(found, judged):
            out().print(table)
        report_notes(found.composites.notes)
    if html:
        _write_page(html, found, paths)
    return exit_code(judged.decisions.tally)


def _studies(judged: Judged, model: Agent, wanted: _Wanted) -> _Found:
    from skilloscope.studies.composites.composites import composites_from
    from skilloscope.studies.composites.convergence import group_convergence
    from skilloscope.studies.composites.game_evidence import MILEPOST, player_games, with_mileposts
    from skilloscope.studies.composites.results_split import results_split

    batch = judged.decisions
    posts = wanted.by == MILEPOST
    if posts:
        batch = with_mileposts(batch, wanted.tolerance, one_sided=wanted.one_sided)
    model = model.prepared(batch) if len(batch) else model
    rows = player_games(batch, model, by=wanted.by, span=wanted.span)
    study = composites_from(rows, batch, mass=wanted.mass, tolerance=wanted.tolerance if posts else None)
    own = None if wanted.group is None else study.named(wanted.group)
    split = convergence = None
    if wanted.split:
        some = rows if own is None else rows.of(own.label)
        split = results_split(some, name=own.name if own else "all", mass=wanted.mass)
    if wanted.convergence:
        shown = own or max(study.groups, key=lambda group: group.decisions)
        convergence = group_convergence(batch, rows, shown.label, model, mass=wanted.mass)
    return _Found(study, split, convergence)


def _report(found: _Found, judged: Judged) -> dict[str, object]:
    return {
        **found.composites.as_dict(),
        "positions": judged.as_dict(),
        "split": found.split.as_dict() if found.split else None,
        "convergence": found.convergence.as_dict() if found.convergence else None,
    }


def _tables(found: _Found, judged: Judged) -> Iterator[object]:
    from skilloscope.reports.words import engine_line
    from skilloscope.studies.composites.tables import composites_table, convergence_table, split_table

    report = found.composites.as_dict()
    yield f"{judged}; {engine_line(report['engine'])}"
    yield composites_table(report)
    if found.convergence:
        yield convergence_table(found.convergence.as_dict())
    if found.split:
        yield split_table(found.split.as_dict())


def _write_page(path: Path, found: _Found, paths: list[Path]) -> None:
    from skilloscope.cli.console import write_page
    from skilloscope.cli.judged import source_line
    from skilloscope.studies.composites.page import composites_page

    page = composites_page(
        found.composites, source=source_line(paths), split=found.split, convergence=found.convergence
    )
    write_page(path, page)
