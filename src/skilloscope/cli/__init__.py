"""The command line: parse, call, render. Heavy imports happen inside the commands, so that --help starts fast."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.exit("error: standard output is closed: there is nowhere to write results to")

    from skilloscope.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show ± still shows the rest
    try:
        app()
    except SystemExit as end:
        sys.exit(_flushed(end.code))


def _flushed(code: str | int | None) -> str | int | None:
    """Return the exit code once all is written: only then is it known whether it could be."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again when it ends
        if not isinstance(error, BrokenPipeError):  # a reader that has gone, e.g. `| head`, has what it wanted
            return f"error: standard output cannot be written: {error.strerror}"
    return code
