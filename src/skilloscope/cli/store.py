"""`skilloscope store`: what is in the store of analyses, and how it gets out and in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from skilloscope.cli.options import Json, StoreFolder

group = typer.Typer(help="The store of analyses: what is in it, and how answers get out and in.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.add_typer(group, name="store")


@group.callback()
def store() -> None:
    """The store of analyses: what is in it, and how answers get out and in."""


@group.command(epilog="Example: skilloscope store info --json")
def info(store: StoreFolder = None, as_json: Json = False) -> None:
    """Show how many answers there are, of which engine and settings, and the size of the file."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _info(store, as_json)))


@group.command(epilog="Example: skilloscope store vacuum --json")
def vacuum(store: StoreFolder = None, as_json: Json = False) -> None:
    """Check the file and give unused room back to the disk."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _vacuum(store, as_json)))


@group.command(epilog="Example: skilloscope store export analyses.parquet --settings 1")
def export(
    file: Annotated[Path, typer.Argument(help="File to write: .parquet, .jsonl or .jsonl.gz.", metavar="FILE")],
    settings: Annotated[
        int | None,
        typer.Option(
            help="Number of the settings, as `store info` shows it; not needed for a single one.", metavar="N"
        ),
    ] = None,
    store: StoreFolder = None,
    as_json: Json = False,
) -> None:
    """Write all answers of one engine and one kind of search to a file; no names, no games."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _export(file, settings, store, as_json)))


@group.command("import", epilog="Example: skilloscope store import analyses.parquet")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Exported analyses, or analysed games.", metavar="FILE…")],
    store: StoreFolder = None,
    as_json: Json = False,
) -> None:
    """Put the answers of files into the store, each under the settings that its file says."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _import(files, store, as_json)))


def _path(folder: Path | None) -> Path:
    from skilloscope.core.configuration import effective_settings, store_file

    return store_file(effective_settings({"store": folder})["store"].value)


def _info(folder: Path | None, as_json: bool) -> int:
    from skilloscope.cli.console import out, print_json
    from skilloscope.cli.store_table import store_table
    from skilloscope.store import Store

    with Store(_path(folder), read_only=True) as shelf:
        numbers = shelf.statistics()
    if as_json:
        print_json({"schema": 1, "store": numbers})
    else:
        out().print(store_table(numbers))
    return 0


def _vacuum(folder: Path | None, as_json: bool) -> int:
    from skilloscope.cli.console import out, print_json
    from skilloscope.store import Store

    Store(_path(folder), read_only=True).close()  # a store that is not there is not made by cleaning it
    with Store(_path(folder)) as shelf:
        sizes = shelf.vacuum()
        path = str(shelf.path)
    if as_json:
        print_json({"schema": 1, "path": path, **sizes})
    else:
        out().print(f"{path}: {sizes['bytes_before']:,} bytes before, {sizes['bytes_after']:,} after", highlight=False)
    return 0


def _export(file: Path, number: int | None, folder: Path | None, as_json: bool) -> int:
    from skilloscope.chess.analysis.files import check_export
    from skilloscope.chess.analysis.transfer import choose_settings, export_store
    from skilloscope.store import Store

    check_export(file)
    with Store(_path(folder), read_only=True) as shelf:
        key = choose_settings(shelf, number)
        written = export_store(shelf, key, file)
    report_export(file, key, written, as_json)
    return 0


def report_export(file: Path, key: Mapping[str, Any], written: int, as_json: bool) -> None:
    """Say what was written where."""
    from skilloscope.cli.console import out, print_json
    from skilloscope.reports.words import engine_line

    size = file.stat().st_size
    if as_json:
        print_json({"schema": 1, "file": str(file), "settings": dict(key), "written": written, "bytes": size})
    else:
        out().print(f"{written:,} answers written to {file} ({size:,} bytes); {engine_line(key)}", highlight=False)


def _import(files: list[Path], folder: Path | None, as_json: bool) -> int:
    from skilloscope.chess.analysis.transfer import import_file
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.core.errors import Tally
    from skilloscope.reports.words import engine_line
    from skilloscope.sources.kinds import Kind, by_kind
    from skilloscope.store import Store

    by_kind(files, Kind.ANALYSES, Kind.ANALYSED)
    with Store(_path(folder)) as shelf:
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
