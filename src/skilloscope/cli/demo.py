"""`skilloscope demo`: the bundled games rated, with the engine if there is one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from skilloscope.cli.console import err, out, print_json, report_notes, show_tables
from skilloscope.cli.options import EngineName, EngineOptions, Json, StoreFolder, option
from skilloscope.cli.request import judge_line, working
from skilloscope.core.errors import EngineError
from skilloscope.core.paths import write_whole

if TYPE_CHECKING:
    from skilloscope.inputs.load import AnalysedDecisions, EngineJob

_MOST_SECONDS = 30.0  # of searching: the whole demo, with the first compilation, stays under a minute


def demo(
    html: Annotated[Path, option("The page to write.")] = Path("demo.html"),
    store: StoreFolder = None,
    engine: EngineName = None,
    as_json: Json = False,
) -> int:
    """Rate the bundled games: famous players, masters, and simulated club players of known Elo."""
    from skilloscope.inputs.bundled import gallery_players
    from skilloscope.studies.demo import DEMO_NOTES, rate_demo

    with working(EngineOptions(store=store, engine=engine)) as work:
        judged = _judged(work)
    found = rate_demo(judged, **gallery_players())
    write_whole(html, found.page(f"{judged}."))
    if as_json:
        print_json(found.as_dict())
        return 0
    out().print(judge_line(judged))
    show_tables(*found.tables())
    report_notes([*found.warnings, *DEMO_NOTES])
    out().print(f"The page with figures: {html.resolve()}", highlight=False)
    return 0


def _judged(work: EngineJob) -> AnalysedDecisions:
    """Return the decisions of the bundled games: by the engine, or from the bundled analyses if it fails."""
    from skilloscope.chess.engine.settings import DFH13
    from skilloscope.inputs.bundled import gallery_analyses_file, gallery_games
    from skilloscope.inputs.load import analyse_games
    from skilloscope.inputs.pipeline import engine_found

    work = replace(work, settings=DFH13)  # those of the bundled analyses
    shipped = replace(work, imports=(gallery_analyses_file(),), engine=None)
    if not engine_found(work.engine):
        why = "no engine found: using the bundled analyses (apt-get install stockfish for your own)"
    else:
        try:
            judged = analyse_games(gallery_games(), replace(work, deadline_seconds=_MOST_SECONDS))
            if "not analysed (time)" not in judged.decisions.tally.counts:
                return judged
            why = "the engine needs longer than the demo may take: using the bundled analyses; run again to continue"
        except EngineError as error:
            why = f"the engine failed ({error}): using the bundled analyses"
    err().print(why)
    return analyse_games(gallery_games(), shipped)
