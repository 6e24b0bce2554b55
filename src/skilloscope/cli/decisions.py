"""`skilloscope decisions`: tables of decisions of any domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli import compare, convert, decisions_live, judges, profile
from skilloscope.cli.options import CRange, IntervalOutput, Options, Tables, command

if TYPE_CHECKING:
    from skilloscope.decision import Decisions

group = typer.Typer(help="Decisions of any domain: rate deciders from a table of utilities.", no_args_is_help=True)


@dataclass(frozen=True)
class CurveFitOptions(Options):
    """The curves of RH11, and how they are fitted."""

    mapping: Annotated[str, typer.Option(help="Curves: shares, powers or third.")] = "shares"
    curve: Annotated[str, typer.Option(help="Curves: invexp, ipa, ipb, secha or sechb.")] = "invexp"
    fit: Annotated[str, typer.Option(help="Curves: likelihood, percentile or moments.")] = "likelihood"
    scaling: Annotated[
        float | None, typer.Option(help="Curves: a of the evaluation scaling; 1 in chess, 0 elsewhere.", min=0.0)
    ] = None


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    group.command(epilog="Example: skilloscope decisions rate backgammon.jsonl --k 0.05 --json")(command(rate))
    for module in (decisions_live, profile, compare, convert, judges):
        module.register_on(group)
    app.add_typer(group, name="decisions")


@group.callback()
def decisions() -> None:
    """Decisions of any domain: rate deciders from a table of utilities."""


def rate(
    tables: Tables,
    *,
    k: Annotated[str, typer.Option(help="The agent's constant, in units of the utilities, or fit.")] = "0.1",
    method: Annotated[str, typer.Option(help="agent (c of the reference agent) or curves (RH11: s and c).")] = "agent",
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    prior: Annotated[str, typer.Option(help="Prior of c: uniform, or normal:MEAN,SD.")] = "uniform",
    c_range: CRange = (0.0, 4.0),
    curves: CurveFitOptions,
    columns: Annotated[
        list[str] | None, typer.Option(help="Our columns by theirs: decider=player,utility=equity.", metavar="PAIRS")
    ] = None,
    output: IntervalOutput,
) -> int:
    """Rate deciders: the competence c of each, with its interval, from the values of what they could have chosen."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.judged import read_batch
    from skilloscope.inference import prior_from_text
    from skilloscope.models.agent import Agent
    from skilloscope.studies.deciders.deciders import k_from_text, rate_deciders, rate_fitting_k
    from skilloscope.studies.rate.tables import curve_deciders_sheet, deciders_sheet

    if method not in ("agent", "curves"):
        raise typer.BadParameter(f"{method!r} is not agent or curves", param_hint="--method")
    given, sheet = k_from_text(k), curve_deciders_sheet if method == "curves" else deciders_sheet
    batch = read_batch(tables, columns or [])
    if method == "curves":
        report = _rated_by_curves(batch, curves, rule, given)
    elif given is None:
        report = rate_fitting_k(batch, rule, prior, None if c_range == (0.0, 4.0) else c_range, mass=output.mass)
    else:
        report = rate_deciders(batch, Agent(k=given, rule=rule), prior_from_text(prior, *c_range), mass=output.mass)
    show_report(report, sheet(report), as_json=output.as_json)
    if output.wanted:
        from skilloscope.studies.deciders.page import deciders_page

        source = ", ".join(path.name for path in tables)
        write_outputs(output, lambda: deciders_page(report, sheet(report), source))
    return exit_code(batch.tally)


def _rated_by_curves(batch: Decisions, curves: CurveFitOptions, rule: str, k: float | None) -> dict[str, Any]:
    from skilloscope.core.errors import OptionError
    from skilloscope.models.curve_model import CurveModel
    from skilloscope.studies.deciders.curves import default_scaling, rate_deciders_by_curves

    if k is None:
        raise OptionError("the curves have no k to fit", hint="--k fit is the agent's; here k is a tenth of the unit")
    scaling = default_scaling(batch) if curves.scaling is None else curves.scaling
    model = CurveModel(mapping=curves.mapping, curve=curves.curve, rule=rule, scaling=scaling)
    # k is a tenth of a pawn in chess, so it says what the utilities are counted in.
    return rate_deciders_by_curves(batch, model, curves.fit, unit=10 * k)
