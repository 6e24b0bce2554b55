"""`skilloscope store`: what is in the store of analyses, and how it gets out and in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.options import Json, StoreFolder, command

if TYPE_CHECKING:
    from skilloscope.reports.sheet import Sheet

group = typer.Typer(help="The store of analyses: what is in it, and how answers get out and in.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    group.command("info", epilog="Example: skilloscope store info --json")(command(store_info))
    group.command("vacuum", epilog="Example: skilloscope store vacuum --json")(command(store_vacuum))
    group.command("check", epilog="Example: skilloscope store check --mend")(command(store_check))
    epilog = "Example: skilloscope store export analyses.parquet --settings 1"
    group.command("export", epilog=epilog)(command(store_export, writing="file"))
    group.command("import", epilog="Example: skilloscope store import analyses.parquet")(command(store_import))
    app.add_typer(group, name="store")


@group.callback()
def store() -> None:
    """The store of analyses: what is in it, and how answers get out and in."""


def store_info(store: StoreFolder = None, as_json: Json = False) -> int:
    """Show how many answers there are, of which engine and settings, and the size of the file."""
    from skilloscope.cli.console import show_report
    from skilloscope.store import Store

    with Store(_path(store), read_only=True) as shelf:
        numbers = shelf.statistics()
    show_report({"schema": 1, "store": numbers}, store_sheet(numbers), as_json=as_json)
    return 0


def store_vacuum(store: StoreFolder = None, as_json: Json = False) -> int:
    """Check the file and give unused room back to the disk."""
    from skilloscope.cli.console import out, print_json
    from skilloscope.store import Store

    Store(_path(store), read_only=True).close()  # a store that is not there is not made by cleaning it
    with Store(_path(store)) as shelf:
        sizes, path = shelf.vacuum(), str(shelf.path)
    if as_json:
        print_json({"schema": 1, "path": path, **sizes})
    else:
        out().print(f"{path}: {sizes['bytes_before']:,} bytes before, {sizes['bytes_after']:,} after", highlight=False)
    return 0


def store_check(
    mend: Annotated[
        bool, typer.Option("--mend", help="Turn damaged answers into failures, so that they are searched again.")
    ] = False,
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Look at every answer: is it one that an engine can have given? What is damaged is named."""
    from skilloscope.chess.analysis.transfer import damaged_answers
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.core.errors import Tally
    from skilloscope.store import Store

    tally = Tally()
    with Store(_path(store), read_only=not mend) as shelf:
        for place, reason in shelf.damaged():
            tally.fault("damaged", str(shelf.path), place, reason)
        found = list(damaged_answers(shelf))
        for key, problem, reason in found:
            tally.fault("damaged answer", str(shelf.path), problem or "settings", reason)
            if mend and problem:
                shelf.condemn(key, [problem], reason)
        rows = shelf.statistics()["rows"]
    report_faults(tally)
    if as_json:
        faults = [{"place": one.place, "reason": one.reason, "detail": one.detail} for one in tally.faults]
        print_json({"schema": 1, "path": str(shelf.path), "rows": rows, "damaged": faults, "mended": mend})
    else:
        told = f"{len(tally.faults):,} damaged" if tally.faults else "nothing damaged"
        out().print(f"{shelf.path}: {rows:,} positions, {told}", highlight=False)
    return exit_code(tally)


def store_export(
    file: Annotated[Path, typer.Argument(help="File to write: .parquet, .jsonl or .jsonl.gz.", metavar="FILE")],
    settings: Annotated[
        int | None,
        typer.Option(
            help="Number of the settings, as `store info` shows it; not needed for a single one.", metavar="N"
        ),
    ] = None,
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Write all answers of one engine and one kind of search to a file; no names, no games."""
    from skilloscope.chess.analysis.files import check_export
    from skilloscope.chess.analysis.transfer import choose_settings, export_store
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.core.errors import Tally
    from skilloscope.reports.words import engine_line
    from skilloscope.store import Store

    check_export(file)
    tally = Tally()
    with Store(_path(store), read_only=True) as shelf:
        key = choose_settings(shelf, settings)
        written = export_store(shelf, key, file, tally)
    report_faults(tally)
    size = file.stat().st_size
    if as_json:
        print_json({"schema": 1, "file": str(file), "settings": dict(key), "written": written, "bytes": size})
    else:
        out().print(f"{written:,} answers written to {file} ({size:,} bytes); {engine_line(key)}", highlight=False)
    return exit_code(tally)


def store_import(
    files: Annotated[list[Path], typer.Argument(help="Exported analyses, or analysed games.", metavar="FILE…")],
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Put the answers of files into the store, each under the settings that its file says."""
    from skilloscope.chess.analysis.transfer import import_file
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.core.errors import Tally
    from skilloscope.reports.words import engine_line
    from skilloscope.sources.kinds import Kind, by_kind
    from skilloscope.store import Store

    by_kind(files, Kind.ANALYSES, Kind.ANALYSED)
    with Store(_path(store)) as shelf:
        shelf.check_writable()
        found = [import_file(shelf, file) for file in files]
    tally = Tally.sum(one.tally for one in found)
    report_faults(tally)
    if as_json:
        print_json({"schema": 1, "files": [one.as_dict() for one in found], "skipped": tally.as_dict()})
    else:
        for one in found:
            line = f"{one.file}: {one.read:,} answers, {one.new:,} of them new; {engine_line(one.settings)}"
            out().print(line, highlight=False)
    return exit_code(tally)


def store_sheet(numbers: Mapping[str, Any]) -> Sheet:
    """Return the table of `store info`: the settings with their numbers, and how many answers each has."""
    from skilloscope.reports.sheet import Sheet
    from skilloscope.reports.words import engine_line

    rows = []
    for number, one in enumerate(numbers["settings"], start=1):
        counts = {(count["status"], count["origin"]): count["rows"] for count in one["counts"]}
        failed = sum(n for (status, _), n in counts.items() if status == "failed")
        done = [counts.get(("done", origin), 0) for origin in ("searched", "imported")]
        rows.append([str(number), engine_line(one["settings"]), *(f"{n:,}" for n in (*done, failed))])
    size = f"{numbers['rows']:,} positions in {numbers['bytes']:,} bytes; schema {numbers['schema']}"
    columns = ["settings", "engine", "searched", "imported", "failed"]
    return Sheet(numbers["path"], columns, rows, [size], left=0, words=(1,))


def _path(folder: Path | None) -> Path:
    from skilloscope.core.configuration import effective_settings, store_file

    return store_file(effective_settings({"store": folder})["store"].value)
