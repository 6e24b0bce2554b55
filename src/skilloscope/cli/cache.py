"""`skilloscope cache`: the contents of the store of analyses, and how answers get out of it and into it."""

from pathlib import Path
from typing import Annotated

from skilloscope.cli.console import show_done
from skilloscope.cli.options import Json, StoreFolder, argument, option
from skilloscope.core.errors import Tally
from skilloscope.core.paths import effective_settings, store_file
from skilloscope.report.table import Table, engine_line
from skilloscope.store import Store


def cache_info(store: StoreFolder = None, as_json: Json = False) -> int:
    """Show how many answers are cached, by engine and settings, and the file size."""
    with Store(_path(store), read_only=True) as shelf:
        numbers = shelf.statistics()
    rows = []
    for number, one in enumerate(numbers["settings"], start=1):
        counts = {(count["status"], count["origin"]): count["rows"] for count in one["counts"]}
        failed = sum(n for (status, _), n in counts.items() if status == "failed")
        done = [counts.get(("done", origin), 0) for origin in ("searched", "imported")]
        rows.append([str(number), engine_line(one["settings"]), *(f"{n:,}" for n in (*done, failed))])
    size = f"{numbers['rows']:,} positions in {numbers['bytes']:,} bytes; schema {numbers['schema']}"
    columns = ["settings", "engine", "searched", "imported", "failed"]
    return show_done({"store": numbers}, Table(numbers["path"], columns, rows, [size], labels=(1,)), as_json=as_json)


def cache_vacuum(store: StoreFolder = None, as_json: Json = False) -> int:
    """Check the file and return unused space to the disk."""
    Store(_path(store), read_only=True).close()  # vacuuming does not create a store
    with Store(_path(store)) as shelf:
        sizes, path = shelf.vacuum(), str(shelf.path)
    line = f"{path}: {sizes['bytes_before']:,} bytes before, {sizes['bytes_after']:,} after"
    return show_done({"path": path, **sizes}, line, as_json=as_json)


def cache_check(
    mend: Annotated[bool, option("Turn damaged answers into failures, so that they are searched again.")] = False,
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Check the files of the store for damage: answers of engines, what people play, web jobs."""
    from skilloscope.chess.analysis.files import damaged_answers
    from skilloscope.web.jobs import Jobs

    tally, path = Tally(), _path(store)
    with Store(path, read_only=not mend) as shelf:
        for place, reason in shelf.damaged():
            tally.fault("damaged", str(path), place, reason)
        named = {fault.place.partition(", ")[2] for fault in tally.faults}
        for key, problem, reason in list(damaged_answers(shelf)):
            if repr(problem) not in named:
                tally.fault("damaged answer", str(path), problem or "settings", reason)
            if mend and problem:
                shelf.condemn(key, [problem], reason)
        rows = shelf.statistics()["rows"]
    if (people := path.with_name("human.sqlite")).exists():
        with Store(people, read_only=True) as shelf:
            for place, reason in shelf.damaged():
                tally.fault("damaged, to be computed again", str(people), place, reason)
    if (queue := path.parent / "web" / "jobs.sqlite").exists():
        jobs = Jobs(queue)
        for place, reason in jobs.damaged():
            tally.fault("damaged work", str(queue), place, reason)
        jobs.close()
    faults = [{"place": one.place, "reason": one.reason, "detail": one.detail} for one in tally.faults]
    damage = f"{len(faults):,} damaged" if faults else "nothing damaged"
    report = {"path": str(path), "rows": rows, "damaged": faults, "mended": mend}
    return show_done(report, f"{path}: {rows:,} positions, {damage}", tally, as_json=as_json)


def cache_export(
    out: Annotated[Path, argument("File to write: .parquet, .jsonl or .jsonl.gz.", metavar="FILE")],
    settings: Annotated[
        int | None,
        option("Number of the settings, as `cache info` shows it; not needed for a single one.", metavar="N"),
    ] = None,
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Write all answers of one engine and search to a file, without names or games."""
    from skilloscope.chess.analysis.files import check_export, choose_settings, export_store

    check_export(out)
    tally = Tally()
    with Store(_path(store), read_only=True) as shelf:
        key = choose_settings(shelf, settings)
        written = export_store(shelf, key, out, tally)
    size = out.stat().st_size
    line = f"{written:,} answers written to {out} ({size:,} bytes); {engine_line(key)}"
    report = {"file": str(out), "settings": dict(key), "written": written, "bytes": size}
    return show_done(report, line, tally, as_json=as_json)


def cache_import(
    files: Annotated[list[Path], argument("Exported analyses, or analysed games.", metavar="FILE…")],
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Add the answers of files to the cache, under the settings named in each file."""
    from skilloscope.chess.analysis.files import import_file
    from skilloscope.inputs.load import Kind, by_kind

    by_kind(files, Kind.ANALYSES, Kind.ANALYSED)
    with Store(_path(store)) as shelf:
        shelf.check_writable()
        found = [import_file(shelf, file) for file in files]
    tally = Tally.sum(one.tally for one in found)
    lines = (f"{one.file}: {one.read:,} answers, {one.new:,} of them new; {engine_line(one.settings)}" for one in found)
    report = {"files": [one.as_dict() for one in found], "skipped": tally.as_dict()}
    return show_done(report, "\n".join(lines), tally, as_json=as_json)


def _path(folder: Path | None) -> Path:
    return store_file(effective_settings({"store": folder})["store"].value)
