"""`skilloscope decisions live`: deciders followed as their decisions arrive."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import CRange, Json, Mass, command


def register_on(group: typer.Typer) -> None:
    """Add the command to the group of decisions."""
    group.command(name="live", epilog="Example: skilloscope decisions live answers.jsonl --once --json")(
        command(decisions_live)
    )


def decisions_live(
    source: Annotated[str, typer.Argument(help="JSON lines of decisions: a file that grows, or - for stdin.")],
    *,
    k: Annotated[float, typer.Option(help="The agent's constant, in units of the utilities.")] = 0.1,
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    prior: Annotated[str, typer.Option(help="Prior of c: uniform, or normal:MEAN,SD.")] = "uniform",
    c_range: CRange = (0.0, 4.0),
    mass: Mass = 0.95,
    once: Annotated[bool, typer.Option("--once", help="Stop at the end of what the file holds now.")] = False,
    seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.", min=0)] = None,
    as_json: Json = False,
) -> int:
    """Follow deciders as their decisions arrive: c with its interval after every line, in bounded memory."""
    from skilloscope.cli.console import err, out, show
    from skilloscope.core.plain import json_text
    from skilloscope.inference import prior_from_text
    from skilloscope.models.agent import Agent
    from skilloscope.reports.words import plural
    from skilloscope.studies.deciders.arriving import DecidersAsTheyCome
    from skilloscope.studies.live.tables import deciders_live_sheet

    follower = DecidersAsTheyCome(Agent(k=k, rule=rule), prior_from_text(prior, *c_range), mass)
    console, faults = out(), err()
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how one stops following
        for number, text in enumerate(_lines(source, once, seconds), start=1):
            if not text.strip():
                continue
            event = follower.line(text, number)
            if as_json:
                sys.stdout.write(json_text(event) + "\n")
                sys.stdout.flush()
            elif event["event"] == "fault":
                faults.print(f"bad input: line {number}: {event['reason']}", style="yellow")
            else:
                console.print(
                    f"{event['decider']}: {plural(event['decisions'], 'decision')}, c {event['c']:.2f} "
                    f"({event['low']:.2f} to {event['high']:.2f})"
                )
    if not as_json:
        show(deciders_live_sheet(follower.table(), mass))
    return 1 if follower.faults else 0


def _lines(source: str, once: bool, seconds: float | None) -> Iterator[str]:
    from skilloscope.core.errors import InputError
    from skilloscope.core.files import MOST_LINE
    from skilloscope.studies.deciders.arriving import growing_lines

    if source != "-":
        if not Path(source).is_file():
            raise InputError(f"{source}: no such file", hint="give a file of JSON lines, or - for stdin")
        yield from growing_lines(Path(source), once=once, seconds=seconds)
        return
    while text := sys.stdin.readline(MOST_LINE):
        yield text
