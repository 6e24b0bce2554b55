"""`skilloscope intrinsic`: the table of RH11 section 7 for any grouping."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skilloscope.cli.options import EngineOptions, Json, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope intrinsic games.pgn --by milepost")(command(intrinsic))


def intrinsic(
    games: Annotated[
        list[Path],
        typer.Argument(help="PGN files, or decisions that `analyse --out` wrote (.parquet).", metavar="GAMES…"),
    ],
    by: Annotated[str, typer.Option(help="What to group by: milepost (hundreds of Elo), player, year …")] = "milepost",
    mapping: Annotated[str, typer.Option(help="shares, powers or third.")] = "shares",
    curve: Annotated[str, typer.Option(help="invexp, ipa, ipb, secha or sechb.")] = "invexp",
    fit: Annotated[str, typer.Option(help="likelihood, percentile or moments.")] = "percentile",
    scaling: Annotated[float, typer.Option(help="a of the evaluation scaling; 0 is none.", min=0.0)] = 1.0,
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Fit sensitivity s and competence c of each group, and put predicted match and loss beside the actual ones."""
    from skilloscope.cli.console import run

    model = {"mapping": mapping, "curve": curve, "scaling": scaling, "rule": rule}
    raise typer.Exit(run(lambda: _intrinsic(games, by, model, fit, engine, as_json)))


def _intrinsic(
    paths: list[Path], by: str, options: dict[str, Any], fit: str, engine: EngineOptions, as_json: bool
) -> int:
    from skilloscope.cli.console import err, exit_code, out, print_json, report_faults
    from skilloscope.cli.work import working
    from skilloscope.models.curve_model import CurveModel
    from skilloscope.sources.judge import judge
    from skilloscope.studies.intrinsic.intrinsic import milepost_table
    from skilloscope.studies.intrinsic.tables import milepost_rows

    model = CurveModel(**options)  # what cannot be done is refused before the engine is asked
    with working(engine) as work:
        judged = judge(paths, work)
    report_faults(judged.decisions.tally)
    report = milepost_table(judged.decisions.at_depths(), model, fit, by=by).as_dict()
    err().print(str(judged))
    if as_json:
        print_json(report)
    else:
        out().print(milepost_rows(report, by=by))
    return exit_code(judged.decisions.tally)
