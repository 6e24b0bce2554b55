"""`skilloscope simulate`: choices of a decider of known skill on given spreads, by the agent or by the curves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope simulate spreads.jsonl --c 1.2 --seed 7 --out simulated.jsonl")(simulate)


def simulate(
    tables: Annotated[list[Path], typer.Argument(help="Tables of decisions whose spreads are used.", metavar="TABLE…")],
    c: Annotated[float, typer.Option("--c", help="Competence of the agent.", min=0.0)],
    out: Annotated[Path, typer.Option(help="File to write: .jsonl, .csv or .parquet.", metavar="FILE")],
    k: Annotated[float, typer.Option(help="The agent's constant, in units of the utilities.", min=1e-12)] = 0.1,
    s: Annotated[
        float | None, typer.Option("--s", help="Sensitivity: the curves of RH11 choose, not the agent.", min=1e-12)
    ] = None,
    mapping: Annotated[str, typer.Option(help="With --s: shares, powers or third.")] = "shares",
    curve: Annotated[str, typer.Option(help="With --s: invexp, ipa, ipb, secha or sechb.")] = "invexp",
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON about what was done to stdout.")] = False,
) -> None:
    """Let the reference agent decide on the spreads of a table; the choices in the table are not used."""
    from skilloscope.cli.console import run

    how = {"k": k} if s is None else {"s": s, "mapping": mapping, "curve": curve}
    raise typer.Exit(run(lambda: _simulate(tables, c, out, how, seed, as_json)))


def _simulate(tables: list[Path], c: float, path: Path, how: dict[str, Any], seed: int, as_json: bool) -> int:
    from dataclasses import replace

    import numpy as np

    from skilloscope.cli.console import err, exit_code, print_json, report_faults
    from skilloscope.decision.text import check_format, write_decisions
    from skilloscope.models.curve_model import CurveModel
    from skilloscope.simulate.agents import simulate_choices
    from skilloscope.simulate.curves import simulate_curve_choices
    from skilloscope.sources.judge import told_decisions
    from skilloscope.studies.rate.curve_deciders import default_scaling

    check_format(path)
    spreads = told_decisions(tables)
    rng = np.random.default_rng(seed)
    if "s" in how:
        model = CurveModel(how["mapping"], how["curve"], scaling=default_scaling(spreads))
        simulated = simulate_curve_choices(spreads, how["s"], c, model=model, rng=rng)
    else:
        simulated = simulate_choices(spreads, c, k=how["k"], rng=rng)
    sensitivity = f"s = {how['s']:g}, " if "s" in how else ""
    name = f"simulated, {sensitivity}c = {c:g}"
    simulated = replace(simulated, deciders=(name,), decider=np.zeros(len(simulated), dtype=np.int32))
    write_decisions(simulated, path)
    said = ", ".join(f"{key} = {value}" for key, value in how.items() if key != "s")
    report_faults(spreads.tally)
    if as_json:
        print_json({"schema": 1, "decider": name, "decisions": len(simulated), "c": c, **how, "seed": seed})
    else:
        err().print(f"{len(simulated):,} decisions by {name} ({said}, seed {seed}) written to {path}")
    return exit_code(spreads.tally)
