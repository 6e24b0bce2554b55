"""The command line: parse, call, render. Heavy imports happen inside the commands, so that --help starts fast."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from skilloscope.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show ± still shows the rest

    sys.exit(app())
