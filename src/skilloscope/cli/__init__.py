"""The command line: parse, call, render. Heavy imports happen inside the commands, so that --help starts fast."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from skilloscope.cli.app import app

    sys.exit(app())
