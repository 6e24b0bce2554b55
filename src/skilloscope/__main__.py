"""`python -m skilloscope`: the command line."""

from skilloscope.cli.app import main

main()
