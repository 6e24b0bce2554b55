"""What the commands share: two consoles, JSON on a clean stdout, faults and errors on stderr, exit codes.

0: done. 1: the input or the run is at fault (what was good is still printed). 2: usage: an option, or
a value of it, that cannot be.

Everything that is said passes a filter that takes out what a terminal would obey (see core/plain.py).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from skilloscope.core.errors import OptionError, SkilloscopeError, Tally
from skilloscope.core.plain import json_text, visible

if TYPE_CHECKING:
    from rich.console import Console

    from skilloscope.cli.options import Output
    from skilloscope.reports.sheet import Sheet

_MOST_FAULTS = 10
_REPORT = "it is ours, not yours: please report it with the command, the input and what -vv says (CONTRIBUTING.md)"
_state = {"quiet": False, "traces": False}


def out() -> Console:
    """Return the console of results: stdout. Piped, it is as wide as its longest table, so nothing is cut."""
    from skilloscope.reports.terminal import PlainConsole

    width = None if sys.stdout.isatty() else 160
    return PlainConsole(width=width, markup=False, emoji=False, highlight=False)


def err() -> Console:
    """Return the console of everything that is not a result: stderr, silent under -q."""
    from skilloscope.reports.terminal import PlainConsole

    return PlainConsole(stderr=True, quiet=_state["quiet"], markup=False, emoji=False, highlight=False, soft_wrap=True)


def set_verbosity(verbose: int, quiet: bool) -> None:
    """Set how much is said on stderr: -q nothing but errors, -v what is done, -vv every detail."""
    _state.update(quiet=quiet, traces=verbose > 1)
    level = logging.ERROR if quiet else (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_PlainFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    logging.getLogger("skilloscope").setLevel(level)
    logging.captureWarnings(True)  # those of libraries are said as ours are, and pass the filter


def show(*sheets: Sheet) -> None:
    """Print tables to stdout, one below the other."""
    from skilloscope.reports.terminal import drawn

    console = out()
    for sheet in sheets:
        console.print(drawn(sheet))


def show_report(
    report: Mapping[str, Any], *sheets: Sheet, as_json: bool, head: str = "", notes: Iterable[str] = ()
) -> None:
    """Show a report: as JSON, or as its tables under a line on what they stand on, with notes on stderr."""
    if as_json:
        print_json(report)
        return
    if head:
        out().print(head)
    show(*sheets)
    report_notes(notes)


def print_json(value: Any) -> None:
    """Write one JSON document to stdout, and nothing else."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def report_faults(tally: Tally) -> None:
    """Show the first faults on stderr with file and place."""
    console = err()
    for fault in tally.faults[:_MOST_FAULTS]:
        console.print(f"bad input: {fault}", style="yellow")
    if len(tally.faults) > _MOST_FAULTS:
        console.print(f"bad input: and {len(tally.faults) - _MOST_FAULTS:,} more", style="yellow")


def report_notes(notes: Iterable[str]) -> None:
    """Say on stderr what must be known beside the numbers."""
    for note in notes:
        err().print(f"note: {note}", style="yellow")


def write_outputs(output: Output, make: Callable[[], str]) -> None:
    """Make a page and write it where it was asked for: as HTML, as PDF, and its figures alone."""
    from skilloscope.reports.page import titled
    from skilloscope.reports.style import also_as

    kind = output.figure.suffix[1:].lower() if output.figure else "svg"
    with also_as(kind) as files, titled(output.title):
        page = make()
    if output.html:
        write_page(output.html, page)
    if output.pdf:
        from skilloscope.reports.pdf import pdf_bytes

        write_page(output.pdf, pdf_bytes(page))
    if output.figure:
        _write_figures(output.figure, files)


def _write_figures(path: Path, files: list[bytes]) -> None:
    from skilloscope.core.errors import InputError
    from skilloscope.core.outputs import write_whole

    if not files:
        raise InputError("there is no figure of this", hint="--html FILE writes the tables")
    for place, content in enumerate(files, start=1):
        own = path.with_stem(f"{path.stem}-{place}") if len(files) > 1 else path
        write_whole(own, content)
        err().print(f"figure written to {own}")


def write_page(path: Path, page: str | bytes) -> None:
    """Write a page and say so."""
    from skilloscope.core.outputs import write_whole

    write_whole(path, page)
    err().print(f"page written to {path}")


def exit_code(tally: Tally) -> int:
    """Return 1 where some input was at fault, though the rest was used; else 0."""
    return 1 if tally.faults else 0


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Give a function (done, total, note) that moves a bar on stderr; without a terminal a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = err()
    if not console.is_terminal:
        yield _plain_progress(what, console)
        return
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, note="")
        yield lambda done, total, note: bar.update(task, completed=done, total=total, note=note)


def run(command: Callable[[], int | None]) -> int:
    """Run a command and turn its errors into a message, a hint and an exit code: this is the outermost edge."""
    try:
        return command() or 0
    except OptionError as error:
        return _failed(str(error), error.hint, code=2)
    except SkilloscopeError as error:
        return _failed(str(error), error.hint)
    except KeyboardInterrupt:
        return _failed("interrupted", "what was finished is kept; run the same command again to go on")
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
            _show_trace(error)
        return _failed(f"something unforeseen happened ({type(error).__name__}: {error})", _REPORT)


def _show_trace(error: Exception) -> None:
    import traceback

    sys.stderr.write(visible("".join(traceback.format_exception(error))))


class _PlainFormatter(logging.Formatter):
    """Log lines for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _failed(message: str, hint: str, *, code: int = 1) -> int:
    """Say what went wrong, under -q too, and return the exit code."""
    _state["quiet"] = False
    err().print(f"error: {message}", style="bold red")
    if hint:
        err().print(f"hint: {hint}")
    return code


def _plain_progress(what: str, console: Console) -> Callable[[int, int, str], None]:
    import time

    last = [time.monotonic()]

    def show(done: int, total: int, note: str) -> None:
        if done == total or time.monotonic() - last[0] > 10:
            last[0] = time.monotonic()
            console.print(f"{what}: {done:,} of {total:,}; {note}")

    return show
