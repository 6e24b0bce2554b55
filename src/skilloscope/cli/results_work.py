"""What the commands of `skilloscope results` share: rating, and showing the leaderboard."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilloscope.cli.results_options import AddingOptions, BoardOptions, ResultsOptions
    from skilloscope.sources.shards import ClusterWork
    from skilloscope.studies.results.runs import Rated


def rated(
    files: list[Path],
    how: ResultsOptions,
    state: Path | None = None,
    rewind: str | None = None,
    *,
    adding: AddingOptions | None = None,
    save: bool = True,
) -> Rated:
    """Rate everybody, on kept ratings where there are some, and keep them."""
    from skilloscope.cli.console import err
    from skilloscope.ratings.periods.kept import Kept, load_kept, save_kept
    from skilloscope.studies.results.runs import Adding, rate_results

    kept: Kept | None = load_kept(state) if state is not None and state.is_file() else None
    table, enter = how.read(files)
    found = rate_results(
        table,
        how.period if kept else how.length(table),
        sigma0=how.sigma0,
        nu=how.nu,
        advantage=how.advantage or "auto",
        drift=how.drift or "auto",
        entry=enter,
        kept=kept,
        rewind=rewind,
        adding=Adding(how.aliases(), *((adding.corrected, adding.again) if adding else ())),
    )
    if state is not None and save:
        save_kept(Kept(found.state, found.history, found.every), state)
        which = "ratings" if kept else "new ratings, from these games alone,"
        err().print(f"{which} up to {found.calendar.label(found.latest)} kept in {state}")
    return found


def streamed(files: list[Path], how: ResultsOptions, scheduler: str | None = None) -> Rated:
    """Rate everybody from sorted Parquet files, period by period, read here or by the workers of a cluster."""
    from dataclasses import replace

    from skilloscope.cli.console import report_faults
    from skilloscope.studies.results.runs import rate_stream

    enter, tally = how.entering()
    with workers(scheduler) as cluster:
        found = rate_stream(
            [file.resolve() for file in files] if cluster else files,
            how.period,
            sigma0=how.sigma0,
            nu=how.nu,
            advantage=how.advantage,
            entry=enter,
            how=how.reading(),
            read=cluster.read if cluster else None,
            aliases=how.aliases(),
        )
    found = replace(found, results=replace(found.results, tally=found.results.tally + tally))
    report_faults(found.results.tally)
    return found


def workers(scheduler: str | None) -> contextlib.AbstractContextManager[ClusterWork | None]:
    """Give the workers of a cluster, or nobody where no scheduler was named."""
    if scheduler is None:
        return contextlib.nullcontext()
    from skilloscope.sources.shards import cluster_work

    return cluster_work(scheduler)


def show_board(found: Rated, board: BoardOptions) -> int:
    """Print the leaderboard or its JSON, and write history and page."""
    from skilloscope.cli.console import err, exit_code, show_report, write_outputs
    from skilloscope.results.writing import write_table
    from skilloscope.studies.results.results import history_table, ratings_report
    from skilloscope.studies.results.tables import leaderboard_sheet

    report = ratings_report(found, at=board.at, active=board.active, mass=board.mass, players=board.player)
    remark(report)
    show_report(report, leaderboard_sheet(report, board.top), as_json=board.as_json)
    if board.history:
        write_table(history_table(found), board.history)
        err().print(f"history written to {board.history}")
    if board.wanted:
        from skilloscope.studies.results.page import results_page

        write_outputs(board, lambda: results_page(found, report))
    return exit_code(found.results.tally)


def remark(report: Mapping[str, Any]) -> None:
    """Say on stderr what casts doubt on the numbers, and what was remarked in the table."""
    from skilloscope.cli.console import report_notes

    report_notes([*report["warnings"], *(f"{n:,} × {what}" for what, n in report["noted"].items())])
