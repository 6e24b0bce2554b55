"""`skilloscope decisions`: tables of decisions of any domain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skilloscope.cli import compare, convert, judges

group = typer.Typer(help="Decisions of any domain: rate deciders from a table of utilities.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    for module in (compare, convert, judges):
        module.register_on(group)
    app.add_typer(group, name="decisions")


@group.callback()
def decisions() -> None:
    """Decisions of any domain: rate deciders from a table of utilities."""


@group.command(epilog="Example: skilloscope decisions rate backgammon.jsonl --k 0.05 --json")
def rate(
    tables: Annotated[
        list[Path], typer.Argument(help="Tables of decisions: .csv, .jsonl or .parquet.", metavar="TABLE…")
    ],
    k: Annotated[str, typer.Option(help="The agent's constant, in units of the utilities, or fit.")] = "0.1",
    method: Annotated[str, typer.Option(help="agent (c of the reference agent) or curves (RH11: s and c).")] = "agent",
    mapping: Annotated[str, typer.Option(help="Curves: shares, powers or third.")] = "shares",
    curve: Annotated[str, typer.Option(help="Curves: invexp, ipa, ipb, secha or sechb.")] = "invexp",
    fit: Annotated[str, typer.Option(help="Curves: likelihood, percentile or moments.")] = "likelihood",
    scaling: Annotated[
        float | None, typer.Option(help="Curves: a of the evaluation scaling; 1 in chess, 0 elsewhere.", min=0.0)
    ] = None,
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

    if method == "curves":
        options = {"mapping": mapping, "curve": curve, "rule": rule, "scaling": scaling}
        raise typer.Exit(run(lambda: _rate_by_curves(tables, options, fit, k, as_json)))
    if method != "agent":
        raise typer.BadParameter(f"{method!r} is not agent or curves", param_hint="--method")
    raise typer.Exit(run(lambda: _rate(tables, k, rule, mass, prior, c_range, as_json)))


def _rate(
    tables: list[Path], k: str, rule: str, mass: float, prior: str, c_range: tuple[float, float], as_json: bool
) -> int:
    from skilloscope.cli.console import exit_code, print_json, report_faults, show
    from skilloscope.decision.decisions import Decisions
    from skilloscope.decision.text import read_tables
    from skilloscope.inference import prior_from_text
    from skilloscope.models.agent import Agent
    from skilloscope.studies.rate.deciders import k_from_text, rate_deciders, rate_fitting_k
    from skilloscope.studies.rate.tables import deciders_sheet

    batch = Decisions.concat([table.at_depths() for table in read_tables(tables)])
    given = k_from_text(k)
    if given is None:
        report = rate_fitting_k(batch, rule, prior, None if c_range == (0.0, 4.0) else c_range, mass=mass)
    else:
        report = rate_deciders(batch, Agent(k=given, rule=rule), prior_from_text(prior, *c_range), mass=mass)
    report_faults(batch.tally)
    if as_json:
        print_json(report)
    else:
        show(deciders_sheet(report))
    return exit_code(batch.tally)


def _rate_by_curves(tables: list[Path], options: dict[str, Any], fit: str, k: str, as_json: bool) -> int:
    from skilloscope.cli.console import exit_code, print_json, report_faults, show
    from skilloscope.core.errors import InputError
    from skilloscope.decision.decisions import Decisions
    from skilloscope.decision.text import read_tables
    from skilloscope.models.curve_model import CurveModel
    from skilloscope.studies.intrinsic.tables import curve_deciders_sheet
    from skilloscope.studies.rate.curve_deciders import default_scaling, rate_deciders_by_curves
    from skilloscope.studies.rate.deciders import k_from_text

    unit = k_from_text(k)
    if unit is None:
        raise InputError("the curves have no k to fit", hint="--k fit is the agent's; here k is a tenth of the unit")
    batch = Decisions.concat([table.at_depths() for table in read_tables(tables)])
    if options["scaling"] is None:
        options["scaling"] = default_scaling(batch)
    # k is a tenth of a pawn in chess, so it says what the utilities are counted in.
    report = rate_deciders_by_curves(batch, CurveModel(**options), fit, unit=10 * unit)
    report_faults(batch.tally)
    if as_json:
        print_json(report)
    else:
        show(curve_deciders_sheet(report))
    return exit_code(batch.tally)


@group.command(epilog="Example: skilloscope decisions profile backgammon.jsonl --every season --json")
def profile(
    tables: Annotated[
        list[Path], typer.Argument(help="Tables of decisions: .csv, .jsonl or .parquet.", metavar="TABLE…")
    ],
    every: Annotated[str, typer.Option(help="The column of periods: numbers, dates or names.", metavar="COLUMN")],
    decider: Annotated[list[str] | None, typer.Option(help="Only this decider; may be repeated.")] = None,
    prior: Annotated[str, typer.Option(help="Prior of each period: carry, widen, reset or drift.")] = "drift",
    dispersion: Annotated[float, typer.Option(help="Divide all evidence by this; 1 believes it in full.")] = 1.0,
    k: Annotated[float, typer.Option(help="The agent's constant, in units of the utilities.")] = 0.1,
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    mass: Annotated[float, typer.Option(help="Mass of the equal-tailed intervals.")] = 0.95,
    c_range: Annotated[tuple[float, float], typer.Option("--range", help="Range of c.", metavar="LOW HIGH")] = (
        0.0,
        4.0,
    ),
    html: Annotated[Path | None, typer.Option(help="Write a self-contained HTML page.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")] = False,
) -> None:
    """Follow deciders over time: the competence c of each in every period, with its interval."""
    from skilloscope.cli.console import run
    from skilloscope.cli.profile import profile_tables

    options = {"players": decider or (), "dispersion": dispersion, "span": c_range, "mass": mass}
    raise typer.Exit(run(lambda: profile_tables(tables, every, prior, (k, rule), options, html, as_json)))
