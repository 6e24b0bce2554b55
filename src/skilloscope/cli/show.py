"""How every command ends: a study as JSON or tables on stdout, notes on stderr, and the files that were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skilloscope.cli.console import err, exit_code, out, print_json, report_faults, report_notes, show_tables
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.paths import write_whole
from skilloscope.report.table import Table

if TYPE_CHECKING:
    from skilloscope.cli.options import Output
    from skilloscope.report.charts import Figure
    from skilloscope.report.study import Study


def show(study: Study, output: Output, *, source: str = "", top: int | None = None) -> int:
    """Show a study where it was asked for, and return the exit code: 1 where some of its input was at fault.

    `source` says on a page what was read; `top` cuts the tables of the terminal.
    """
    if output.as_json:
        print_json(study.as_dict())
    else:
        console = out()
        if study.head:
            console.print(study.head)
        show_tables(*study.tables(top))
        report_notes(study.warnings)
    report_faults(study.tally)
    if output.html or output.pdf:
        page = study.page(source, title=output.title)
        if output.html:
            _write(output.html, page, "page")
        if output.pdf:
            from skilloscope.report.page import pdf_bytes

            _write(output.pdf, pdf_bytes(page), "page")
    if output.figure:
        _write_figures(output.figure, study.figures())
    return exit_code(study.tally)


def show_done(
    report: Mapping[str, object], said: str | Table, tally: Tally | None = None, *, as_json: bool, schema: int = 1
) -> int:
    """Show what a command did that makes no study: a line or a table, or JSON; and what was at fault in its input."""
    faults = tally or Tally()
    report_faults(faults)
    if as_json:
        print_json({"schema": schema, **report})
    elif isinstance(said, Table):
        show_tables(said)
    else:
        out().print(said, soft_wrap=True)
    return exit_code(faults)


def _write_figures(path: Path, figures: Sequence[Figure]) -> None:
    if not figures:
        raise InputError("there is no figure of this", hint="--html FILE writes the tables")
    for place, figure in enumerate(figures, start=1):
        numbered = path.with_stem(f"{path.stem}-{place}") if len(figures) > 1 else path
        _write(numbered, figure.file(path.suffix[1:].lower()), "figure")


def _write(path: Path, content: str | bytes, what: str) -> None:
    write_whole(path, content)
    err().print(f"{what} written to {path}")
