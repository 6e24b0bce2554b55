"""`skilloscope sensitivity`: the same games under different depth, list, k, rule and engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, IntervalOutput, Options, command

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.sources.judge import Work
    from skilloscope.studies.sensitivity.sensitivity import Varied


@dataclass(frozen=True)
class VariedOptions(Options):
    """What is varied, each a list as a user writes it."""

    depths: Annotated[str, typer.Option(help="Depths, as in 4,6,8,10; they come with the deepest.")] = ""
    lists: Annotated[str, typer.Option(help="Lengths to which the lists are cut, as in 3,5.")] = ""
    searches: Annotated[str, typer.Option(help="Numbers of lines to search with anew, as in 5,20.")] = ""
    k: Annotated[str, typer.Option("--k", help="Constants of the agent, as in 0.05,0.1,fit.")] = ""
    rules: Annotated[str, typer.Option(help="Choice-set rules, as in listed,bucket.")] = ""
    engines: Annotated[
        str, typer.Option(help="Other judges: engines, or tables of decisions in the same games; by commas.")
    ] = ""

    def varied(self) -> Varied:
        """Return what is varied of the same decisions; other judges are still to be asked."""
        from skilloscope.cli.judges import whole_numbers
        from skilloscope.studies.deciders.deciders import k_from_text
        from skilloscope.studies.sensitivity.sensitivity import Varied

        return Varied(
            depths=whole_numbers(self.depths, "--depths"),
            lists=whole_numbers(self.lists, "--lists"),
            ks=[k_from_text(part) for part in _parts(self.k)],
            rules=_parts(self.rules),
        )

    def judges(self, paths: list[Path], work: Work) -> dict[str, Decisions]:
        """Return the other judges' decisions by the name of the setting: searched now, or read from tables."""
        from skilloscope.cli.judges import whole_numbers
        from skilloscope.decision.text import table_kind
        from skilloscope.studies.sensitivity.judged import read_judged, searched_again

        found = {}
        for lines in whole_numbers(self.searches, "--searches"):
            found[f"search with {lines} lines"] = searched_again(paths, work, lines=lines)
        for engine in _parts(self.engines):
            path = Path(engine)
            table = table_kind(path) is not None
            name = f"engine {path.name.split('.')[0] if table else path.name}"
            found[name] = read_judged([path], work) if table else searched_again(paths, work, engine=engine)
        return found


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    epilog = "Example: skilloscope sensitivity games.pgn --depths 6,10 --k 0.05,0.1,fit --html sensitivity.html"
    app.command(epilog=epilog)(command(sensitivity))


def sensitivity(
    games: Annotated[
        list[Path],
        typer.Argument(help="PGN files, analysed games, or tables of decisions of any domain.", metavar="GAMES…"),
    ],
    by: Annotated[
        str, typer.Option(help="The groups whose c and order are compared: player, year, milepost, any column.")
    ] = "player",
    *,
    vary: VariedOptions,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of the resampling.", min=0)] = 1,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Show what depth, list, k, rule and engine do to the same decisions: c, the order of players, likelihood."""
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, report_faults, show_report, write_outputs
    from skilloscope.cli.judged import source_line
    from skilloscope.cli.work import working
    from skilloscope.ratings.mileposts import MILEPOST, with_mileposts
    from skilloscope.reports.words import engine_line
    from skilloscope.sources.judge import engine_of
    from skilloscope.studies.sensitivity.judged import read_judged
    from skilloscope.studies.sensitivity.sensitivity import sensitivity as study_of
    from skilloscope.studies.sensitivity.tables import sensitivity_sheets

    varied = vary.varied()
    with working(engine) as work:
        batch, judges = read_judged(games, work), vary.judges(games, work)
    report_faults(batch.tally)
    if by == MILEPOST:
        batch = with_mileposts(batch, None)
        judges = {name: with_mileposts(other, None) for name, other in judges.items()}
    study = study_of(batch, replace(varied, judges=judges), by=by, seed=seed, mass=output.mass)
    report = study.as_dict()
    show_report(report, *sensitivity_sheets(report), as_json=output.as_json)
    if output.wanted:
        from skilloscope.studies.sensitivity.page import sensitivity_page

        source = f"{source_line(games)}; {engine_line(engine_of(batch))}"
        write_outputs(output, lambda: sensitivity_page(study, source=source))
    return exit_code(batch.tally)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
