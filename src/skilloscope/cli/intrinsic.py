"""`skilloscope intrinsic`: the table of RH11 section 7 for any grouping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, GameFiles, Json, Options, command

if TYPE_CHECKING:
    from skilloscope.models.curve_model import CurveModel


@dataclass(frozen=True)
class CurveOptions(Options):
    """The model of the curves."""

    mapping: Annotated[str, typer.Option(help="shares, powers or third.")] = "shares"
    curve: Annotated[str, typer.Option(help="invexp, ipa, ipb, secha or sechb.")] = "invexp"
    scaling: Annotated[float, typer.Option(help="a of the evaluation scaling; 0 is none.", min=0.0)] = 1.0
    rule: Annotated[str, typer.Option(help="Choice-set rule: listed, bucket, sampled or full.")] = "listed"

    def model(self) -> CurveModel:
        """Return the model that is described; what cannot be done is refused."""
        from skilloscope.models.curve_model import CurveModel

        return CurveModel(mapping=self.mapping, curve=self.curve, scaling=self.scaling, rule=self.rule)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope intrinsic games.pgn --by milepost")(command(intrinsic))


def intrinsic(
    games: GameFiles,
    by: Annotated[str, typer.Option(help="What to group by: milepost (hundreds of Elo), player, year …")] = "milepost",
    *,
    curves: CurveOptions,
    fit: Annotated[str, typer.Option(help="likelihood, percentile or moments.")] = "percentile",
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Rate groups intrinsically: Elo, sensitivity s and competence c, predicted match and loss beside the actual."""
    from skilloscope.cli.console import err, exit_code, show_report
    from skilloscope.cli.work import judge_files
    from skilloscope.studies.intrinsic.elo import with_intrinsic_elo
    from skilloscope.studies.intrinsic.intrinsic import milepost_table
    from skilloscope.studies.intrinsic.tables import mileposts_sheet

    model = curves.model()  # before the engine is asked
    judged = judge_files(games, engine)
    batch = judged.decisions.at_depths()
    report = with_intrinsic_elo(milepost_table(batch, model, fit, by=by).as_dict(), batch, model, by=by)
    err().print(str(judged))
    show_report(report, mileposts_sheet(report, by=by), as_json=as_json)
    return exit_code(judged.decisions.tally)
