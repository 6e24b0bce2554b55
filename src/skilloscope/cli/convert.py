"""`skilloscope decisions convert`: files of other domains as tables of decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import Json, command


def register_on(group: typer.Typer) -> None:
    """Add the command to the group of decisions."""
    group.command(
        epilog="Example: skilloscope decisions convert backgammon 0-ply.jsonl.gz 2-ply.jsonl.gz --out plays.parquet"
    )(command(convert))


def convert(
    domain: Annotated[str, typer.Argument(help="backgammon, gnubg (match files), four-in-a-row or risky-choice.")],
    files: Annotated[list[Path], typer.Argument(help="The files of the domain.", metavar="FILE…")],
    out: Annotated[Path, typer.Option(help="The table to write: .parquet, .jsonl or .csv.", metavar="FILE")],
    *,
    cap: Annotated[float | None, typer.Option(help="four-in-a-row: clip solved values at ± this (20).")] = None,
    exponent: Annotated[
        float | None, typer.Option(help="risky-choice: exponent of the utility of a prize (1: expected value).")
    ] = None,
    plies: Annotated[int | None, typer.Option(help="gnubg: how far GNU Backgammon looks ahead (2).")] = None,
    pooled: Annotated[bool, typer.Option("--pooled", help="One decider for all: the composite player.")] = False,
    as_json: Json = False,
) -> int:
    """Turn files of another domain into a table of decisions, every fault named and every exclusion counted."""
    from skilloscope.cli.console import exit_code, print_json, report_faults
    from skilloscope.cli.console import out as console
    from skilloscope.decision.domains import conversion_report, converted
    from skilloscope.decision.text import check_format, write_decisions
    from skilloscope.reports.words import plural, skipped_line

    check_format(out)
    batch = converted(domain, files, pooled=pooled, cap=cap, exponent=exponent, plies=plies)
    write_decisions(batch, out)
    report_faults(batch.tally)
    report = conversion_report(batch, out)
    if as_json:
        print_json(report)
    else:
        depths = f", depths {', '.join(map(str, batch.depths))}" if batch.depths else ""
        console().print(
            f"{out}: {plural(report['deciders'], 'decider')}{depths}; {skipped_line(len(batch), batch.skipped)}",
            soft_wrap=True,
        )
    return exit_code(batch.tally)
