"""`skilloscope demo`: the main job on the games that ship, with the real engine where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineName, EngineOptions, Json, StoreFolder, command

if TYPE_CHECKING:
    from skilloscope.sources.judge import Judged, Work

_MOST_SECONDS = 30.0  # of searching, so that the whole demo stays under a minute, the first one too, which compiles


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope demo --html demo.html")(command(demo))


def demo(
    html: Annotated[Path, typer.Option(help="The page to write.", metavar="FILE")] = Path("demo.html"),
    store: StoreFolder = None,
    engine: EngineName = None,
    as_json: Json = False,
) -> int:
    """Rate famous players, masters and simulated club players of known Elo, in the games that ship."""
    from skilloscope.cli.console import out, print_json, report_notes, show
    from skilloscope.cli.judged import judge_line
    from skilloscope.cli.work import working
    from skilloscope.core.outputs import write_whole
    from skilloscope.sources.shipped import gallery_players
    from skilloscope.studies.rate.demo import DEMO_NOTES, rate_demo
    from skilloscope.studies.rate.page import demo_page

    with working(EngineOptions(store=store, engine=engine)) as work:
        judged = _judged(work)
    found = rate_demo(judged, **gallery_players())
    write_whole(html, demo_page(found, judged.decisions, source=f"{judged}."))
    if as_json:
        print_json({**found.as_dict(), "positions": judged.as_dict()})
        return 0
    out().print(judge_line(judged))
    show(*found.sheets())
    report_notes([*found.ratings.warnings, *DEMO_NOTES])
    out().print(f"The page with figures: {html.resolve()}", highlight=False)
    return 0


def _judged(work: Work) -> Judged:
    """Return the decisions of the games that ship: by the engine, or from the analyses that ship where it cannot."""
    from dataclasses import replace

    from skilloscope.chess.engine.settings import DFH13
    from skilloscope.cli.console import err
    from skilloscope.core.errors import EngineError
    from skilloscope.sources.judge import judge_games
    from skilloscope.sources.shipped import gallery_analyses_file, gallery_games
    from skilloscope.studies.rate.front import engine_found

    work = replace(work, settings=DFH13)  # the settings of the analyses that ship, whatever else is set here
    shipped = replace(work, imports=(gallery_analyses_file(),), engine=None)
    if not engine_found(work.engine):
        err().print("no engine found: going on with the analyses that ship (apt-get install stockfish for your own)")
        return judge_games(gallery_games(), shipped)
    try:
        judged = judge_games(gallery_games(), replace(work, deadline_seconds=_MOST_SECONDS))
    except EngineError as error:
        err().print(f"the engine failed ({error}): going on with the analyses that ship")
        return judge_games(gallery_games(), shipped)
    if "not analysed (time)" not in judged.decisions.tally.counts:
        return judged
    err().print(
        "the engine needs longer than the demo may take: going on with the analyses that ship; run again to go on"
    )
    return judge_games(gallery_games(), shipped)
