"""`skilloscope decisions`: tables of decisions of any domain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]

group = typer.Typer(help="Decisions of any domain: rate deciders from a table of utilities.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.add_typer(group, name="decisions")


@group.callback()
def decisions() -> None:
    """Decisions of any domain: rate deciders from a table of utilities."""


@group.command(epilog="Example: skilloscope decisions rate backgammon.jsonl --k 0.05 --json")
def rate(
    tables: Annotated[
        list[Path], typer.Argument(help="Tables of decisions: .csv, .jsonl or .parquet.", metavar="TABLE…")
    ],
    k: Annotated[float, typer.Option(help="The agent's constant, in units of the utilities.")] = 0.1,
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    mass: Annotated[float, typer.Option(help="Mass of the equal-tailed interval.")] = 0.95,
    prior: Annotated[str, typer.Option(help="Prior of c: uniform, or normal:MEAN,SD.")] = "uniform",
    c_range: Annotated[tuple[float, float], typer.Option("--range", help="Range of c.", metavar="LOW HIGH")] = (
        0.0,
        4.0,
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")] = False,
) -> None:
    """Rate deciders: the competence c of each, with its interval, from the values of what they could have chosen."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _rate(tables, k, rule, mass, prior, c_range, as_json)))


def _rate(
    tables: list[Path], k: float, rule: str, mass: float, prior: str, c_range: tuple[float, float], as_json: bool
) -> int:
    from skilloscope.cli.console import exit_code, out, print_json, report_faults
    from skilloscope.decision.decisions import Decisions
    from skilloscope.decision.text import read_tables
    from skilloscope.inference import prior_from_text
    from skilloscope.models.agent import Agent
    from skilloscope.reports.tables.ratings import deciders_table
    from skilloscope.studies.deciders import rate_deciders

    batch = Decisions.concat([table.at_depths() for table in read_tables(tables)])
    report = rate_deciders(batch, Agent(k=k, rule=rule), prior_from_text(prior, *c_range), mass=mass)
    report_faults(batch.tally)
    if as_json:
        print_json(report)
    else:
        out().print(deciders_table(report))
    return exit_code(batch.tally)
