"""`skilloscope intrinsic`: the table of RH11 section 7 for any grouping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, GameFiles, Json, Options, command

if TYPE_CHECKING:
    from pathlib import Path

    from skilloscope.models.curve_model import CurveModel
    from skilloscope.studies.intrinsic.window import MilepostWindow


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


@dataclass(frozen=True)
class WindowOptions(Options):
    """Which decisions count."""

    first_move: Annotated[int, typer.Option(help="The first move that counts; the paper's is 9.", min=1)] = 13
    cut_off: Annotated[float, typer.Option(help="Positions beyond ± so many pawns are decided.", metavar="PAWNS")] = 3.0
    years: Annotated[
        str | None, typer.Option(help="Only games of these years, by date: 1991-1994.", metavar="FIRST-LAST")
    ] = None
    within: Annotated[float, typer.Option(help="Elo points between a rating and its milepost.", metavar="ELO")] = 20.0
    both: Annotated[bool, typer.Option("--both", help="Both players near the milepost, as in the paper.")] = False

    def window(self) -> MilepostWindow:
        """Return the window that is described; what cannot be is refused."""
        from skilloscope.studies.intrinsic.window import MilepostWindow, years_from_text

        years = None if self.years is None else years_from_text(self.years)
        return MilepostWindow(self.first_move, self.cut_off, years, self.within, self.both)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope intrinsic games.pgn --by milepost")(command(intrinsic))


def intrinsic(
    games: GameFiles,
    by: Annotated[str, typer.Option(help="What to group by: milepost (hundreds of Elo), player, year …")] = "milepost",
    *,
    curves: CurveOptions,
    fit: Annotated[
        str, typer.Option(help="likelihood, percentile (the paper's; predicts too many matches) or moments.")
    ] = "likelihood",
    counted: WindowOptions,
    single_pv: Annotated[
        bool, typer.Option("--single-pv", help="The paper's control: one line a position, match and mean loss alone.")
    ] = False,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Rate groups intrinsically: Elo, sensitivity s and competence c, predicted match and loss beside the actual."""
    from skilloscope.cli.console import err, exit_code, show_report
    from skilloscope.cli.work import judge_files
    from skilloscope.studies.intrinsic.elo import with_intrinsic_elo
    from skilloscope.studies.intrinsic.intrinsic import milepost_table
    from skilloscope.studies.intrinsic.tables import mileposts_sheet

    model, window = curves.model(), counted.window()  # before the engine is asked
    if single_pv:
        return _control(games, by, model.scaling, window, engine, as_json=as_json)
    judged = judge_files(games, engine, skip_moves=window.first_move - 1, max_abs_value=window.cut_off)
    batch = judged.decisions.at_depths()
    table = milepost_table(batch, model, fit, by=by, window=window)
    report = with_intrinsic_elo(table.as_dict(), window.inside(batch), model, by=by)
    err().print(str(judged))
    show_report(report, mileposts_sheet(report, by=by), as_json=as_json)
    return exit_code(judged.decisions.tally)


def _control(
    games: list[Path], by: str, scaling: float, window: MilepostWindow, engine: EngineOptions, *, as_json: bool
) -> int:
    """Show match and average difference from one line a position."""
    from skilloscope.cli.console import exit_code, report_faults, show_report
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.sources.gains import gains_of_files
    from skilloscope.studies.intrinsic.control import control_report, control_sheet, single_pv

    column = "decider" if by == "milepost" else by  # single lines are told by player unless asked otherwise
    with working(gain_search(engine)) as work:
        gained = gains_of_files(games, work, values="engine")
    report_faults(gained.games.tally)
    rows = single_pv(
        gained.losses, by=column, first_move=window.first_move, max_abs_value=window.cut_off, scaling=scaling
    )
    report = control_report(rows, by=column, scaling=scaling, settings=gained.about())
    show_report(report, control_sheet(report), as_json=as_json)
    return exit_code(gained.games.tally)
