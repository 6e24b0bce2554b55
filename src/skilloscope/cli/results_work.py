"""What the commands of `skilloscope results` share: reading, rating, showing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilloscope.results.table import Results
    from skilloscope.studies.results.runs import Rated


@dataclass(frozen=True)
class Asked:
    """The files and the options that all commands have."""

    files: list[Path]
    period: str | None
    sigma0: float | None
    nu: float | None
    advantage: str | None
    entry: Path | None
    columns: list[str] | None
    drop_duplicates: bool

    def read(self) -> tuple[Results, dict[str, float]]:
        """Return the results, and where some new players enter; faults of both files are shown and counted."""
        from dataclasses import replace

        from skilloscope.cli.console import report_faults
        from skilloscope.core.errors import InputError
        from skilloscope.sources.results import pair_columns, read_files

        if not self.files:
            raise InputError("no results given", hint="name a table or PGN files")
        enter, tally = self.entering()
        table = read_files(self.files, columns=pair_columns(self.columns or []), drop_duplicates=self.drop_duplicates)
        table = replace(table, tally=table.tally + tally)
        report_faults(table.tally)
        return table, enter

    def entering(self) -> tuple[dict[str, float], Any]:
        """Return where some new players enter, and what was left out of that file."""
        from skilloscope.core.errors import Tally
        from skilloscope.sources.results import read_entry

        return read_entry(self.entry) if self.entry else ({}, Tally())


def rated(asked: Asked, state: Path | None = None, rewind: str | None = None, *, save: bool = True) -> Rated:
    """Rate everybody, on kept ratings where there are some, and keep them."""
    from skilloscope.cli.console import err
    from skilloscope.ratings.periods.kept import Kept, load_kept, save_kept
    from skilloscope.studies.results.runs import rate_results

    kept: Kept | None = load_kept(state) if state is not None and state.is_file() else None
    table, enter = asked.read()
    found = rate_results(
        table,
        asked.period,
        sigma0=asked.sigma0,
        nu=asked.nu,
        advantage=asked.advantage,
        entry=enter,
        kept=kept,
        rewind=rewind,
    )
    if state is not None and save:
        save_kept(Kept(found.state, found.history), state)
        which = "ratings" if kept else "new ratings, from these games alone,"
        err().print(f"{which} up to {found.calendar.label(found.latest)} kept in {state}")
    return found


def streamed(asked: Asked) -> Rated:
    """Rate everybody from sorted Parquet files, period by period."""
    from dataclasses import replace

    from skilloscope.cli.console import report_faults
    from skilloscope.sources.results import pair_columns
    from skilloscope.studies.results.runs import rate_stream

    enter, tally = asked.entering()
    found = rate_stream(
        asked.files,
        asked.period,
        sigma0=asked.sigma0,
        nu=asked.nu,
        advantage=asked.advantage,
        entry=enter,
        columns=pair_columns(asked.columns or []),
    )
    found = replace(found, results=replace(found.results, tally=found.results.tally + tally))
    report_faults(found.results.tally)
    return found


def show(
    found: Rated,
    *,
    at: str | None,
    active: int | None,
    top: int,
    history: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Print the leaderboard or its JSON, and write history and page."""
    from skilloscope.cli.console import err, exit_code, out, print_json, write_page
    from skilloscope.studies.results.results import history_table, ratings_report
    from skilloscope.studies.results.tables import leaderboard

    report = ratings_report(found, at=at, active=active)
    remark(report)
    if as_json:
        print_json(report)
    else:
        out().print(leaderboard(report, top))
    if history:
        from skilloscope.results.writing import write_table

        write_table(history_table(found), history)
        err().print(f"history written to {history}")
    if html:
        from skilloscope.studies.results.page import results_page

        write_page(html, results_page(found, report))
    return exit_code(found.results.tally)


def check_files(history: Path | None, html: Path | None, state: Path | None = None) -> None:
    """Refuse what cannot be written before anything is computed."""
    from skilloscope.core.errors import check_writable
    from skilloscope.results.writing import check_table_format

    if history:
        check_table_format(history)
    for path in (html, state):
        if path:
            check_writable(path)


def remark(report: Mapping[str, Any]) -> None:
    """Say on stderr what casts doubt on the numbers, and what was remarked in the table."""
    from skilloscope.cli.console import report_notes

    report_notes([*report["warnings"], *(f"{n:,} × {what}" for what, n in report["noted"].items())])
