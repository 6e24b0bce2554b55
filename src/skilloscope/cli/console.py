"""What the commands share: two consoles, JSON on a clean stdout, faults and errors on stderr, exit codes, `show`.

0: done. 1: the input or the run is at fault (valid results are still printed). 2: usage: a wrong option or value.
All output passes a filter that removes control characters (see core/text.py). Every command ends in `show`: a study as
JSON or tables on stdout, notes on stderr, and the files that were asked for.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from skilloscope.core.errors import Fault, InputError, OptionError, SkilloscopeError, Tally
from skilloscope.core.paths import write_whole
from skilloscope.core.text import json_text, visible
from skilloscope.report.table import PlainConsole, Table, drawn, plural

if TYPE_CHECKING:
    from rich.console import Console

    from skilloscope.cli.options import Output
    from skilloscope.report.study import Study

_MOST_FAULTS = 10
_MOST_BAD, _MOST_SHARE = 1000, 0.01  # games or rows at fault, and their share, up to which a run has succeeded
_REPORT = "this is a bug: please report it with the command, the input and the output of -vv (CONTRIBUTING.md)"
_state = {"quiet": False, "traces": False}
_shown_faults: set[Fault] = set()


def out() -> Console:
    """Return the console of results: stdout. Piped, it is as wide as its longest table, so nothing is cut."""
    width = None if sys.stdout.isatty() else 160
    return PlainConsole(width=width, markup=False, emoji=False, highlight=False)


def err() -> Console:
    """Return the console of everything else: stderr, silent under -q."""
    return PlainConsole(stderr=True, quiet=_state["quiet"], markup=False, emoji=False, highlight=False, soft_wrap=True)


def set_verbosity(verbose: int, quiet: bool) -> None:
    """Set how much is written to stderr: -q errors only, -v steps, -vv every detail."""
    _state.update(quiet=quiet, traces=verbose > 1)
    level = logging.ERROR if quiet else (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_PlainFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    logging.getLogger("skilloscope").setLevel(level)
    logging.captureWarnings(True)  # those of libraries pass the filter too


def show_tables(*tables: Table) -> None:
    """Print tables to stdout, one below the other."""
    console = out()
    for table in tables:
        console.print(drawn(table))


def print_json(value: Any) -> None:
    """Write one JSON document to stdout, and nothing else."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def report_faults(tally: Tally) -> None:
    """Show the first faults on stderr with file and place; what was shown before in this run is not shown again."""
    console = err()
    new = [fault for fault in tally.faults if fault not in _shown_faults]
    _shown_faults.update(new)
    for fault in new[:_MOST_FAULTS]:
        console.print(f"bad input: {fault}", style="yellow")
    if len(new) > _MOST_FAULTS:
        console.print(f"bad input: and {len(new) - _MOST_FAULTS:,} more", style="yellow")


def report_notes(notes: Iterable[str]) -> None:
    """Write notes on the numbers to stderr."""
    for note in notes:
        err().print(f"note: {note}", style="yellow")


def exit_code(tally: Tally, good: int | None = None, *, strict: bool | None = None) -> int:
    """Return 1 if some input was at fault, though the rest was used; else 0.

    Null moves, and a few games or rows at fault among so many good ones, are named and noted, and no failure; unless
    `strict`, where None means that nobody was asked.
    """
    if not tally.faults:
        return 0
    faults, few = [one for one in tally.faults if one.reason != "null move"], ("game ", "row ")
    if not faults or strict or not all(one.place.startswith(few) for one in faults):
        return int(bool(faults))
    most = min(_MOST_BAD, _MOST_SHARE * ((tally.read if good is None else good) + len(faults)))
    if len(faults) <= most:
        what = plural(len(faults), faults[0].place.split()[0])
        more = " left out, less than 1 % (exit code 0; --strict makes it 1)"
        report_notes([what + (" at fault, less than 1 % (exit code 0)" if strict is None else f" at fault{more}")])
    return int(len(faults) > most)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Give a function (done, total, note) that moves a bar on stderr; without a terminal a line now and then.

    A total of 0 is not known.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console, last = err(), time.monotonic()

    def plain(done: int, total: int, note: str) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > 10:
            last = time.monotonic()
            console.print(f"{what}: {done:,}{f' of {total:,};' if total else ''} {note}")

    if not console.is_terminal:
        yield plain
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, note="")
        yield lambda done, total, note: bar.update(task, completed=done, total=total or None, note=note)


def run(command: Callable[[], int | None]) -> int:
    """Run a command and turn its errors into a message, a hint and an exit code: this is the outermost edge."""
    _shown_faults.clear()
    try:
        return command() or 0
    except OptionError as error:
        return _failed(str(error), error.hint, code=2)
    except SkilloscopeError as error:
        return _failed(str(error), error.hint)
    except KeyboardInterrupt:
        return _failed("interrupted", "finished work is kept; run the same command again to resume")
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        sys.stderr.close()
        return 0
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}" if error.filename else str(error), "")
    except MemoryError:
        return _failed("there is not enough memory for this", "give fewer games at once, or use a larger machine")
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if _state["traces"]:
            import traceback

            sys.stderr.write(visible("".join(traceback.format_exception(error))))
        return _failed(f"unexpected error ({type(error).__name__}: {error})", _REPORT)


class _PlainFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _failed(message: str, hint: str, *, code: int = 1) -> int:
    """Write what went wrong, under -q too, and return the exit code."""
    _state["quiet"] = False
    err().print(f"error: {message}", style="bold red")
    if hint:
        err().print(f"hint: {hint}")
    return code


def show(study: Study, output: Output, *, source: str = "", top: int | None = None) -> int:
    """Show a study where it was asked for; return 1 where some input was at fault. A page names its `source`."""
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
        figures, path = study.figures(), output.figure
        if not figures:
            raise InputError("this has no figure", hint="--html FILE writes the tables")
        for place, figure in enumerate(figures, start=1):
            numbered = path.with_stem(f"{path.stem}-{place}") if len(figures) > 1 else path
            _write(numbered, figure.file(path.suffix[1:].lower()), "figure")
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


def _write(path: Path, content: str | bytes, what: str) -> None:
    write_whole(path, content)
    err().print(f"{what} written to {path}")
