"""`python -m skilloscope`: the command line."""

from __future__ import annotations

from skilloscope.cli.app import main

main()
