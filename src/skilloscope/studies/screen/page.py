"""The page of a screening: for a committee, with what it cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.screen.figures import scores_figure
from skilloscope.studies.screen.tables import screen_sheets

CANNOT_TELL = (
    "Whether anybody had help. A small p says that such play is rare at that rating; rare things happen to somebody "
    "wherever many are looked at, and q and the odds say how much.",
    "Why somebody played better than the rating: preparation, a good day, a rating that lags behind, an opponent who "
    "let it happen and help by an engine look alike in the moves.",
    "Help on a few moves. The power table says how little of it a number of games like this one shows.",
    "Anything from what is left out: opening moves, forced moves, the clock, conduct at the board.",
    "Whether the rating fits: it is taken as given, with the error that ratings usually have.",
)

_READ = (
    "Each line puts what was played beside what the model expects of people of that rating in the very same positions. "
    "z is the distance in standard deviations, 0 on average and between −2 and 2 for 95 of 100 fair players. "
    "Play with an engine's help raises the index and the matches and lowers the losses; an index that stands alone "
    "says that the moves are unlike people's. The table orders what a person may want to look at; a number alone "
    "is no evidence of a breach of the rules."
)


def screen_page(report: Mapping[str, Any]) -> str:
    """Return the page: no script, no address, no time of day; two runs give the same bytes."""
    files = ", ".join(one["file"] for one in report["inputs"])
    everybody = Section(
        "Everybody together",
        figure=scores_figure(report),
        caption="Points inside the band: what chance alone gives (95 % of the time, each point by itself).",
    )
    tables = [Section.from_sheet(sheet) for sheet in screen_sheets(report)]
    sections = [Section("How to read this", text=_READ), tables[0], everybody, *tables[1:]]
    return report_page(
        f"Screening of {report['screened']:,} {'players by event' if report['by_event'] else 'players'}",
        f"{files}; ratings: {report['ratings']}; prevalence {report['prevalence']:g}",
        sections,
        warnings=report["warnings"],
        skipped=report["skipped"],
        cannot_tell=CANNOT_TELL,
    )
