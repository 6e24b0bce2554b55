"""The pages of a report: one player, or a whole event. Boards for the decisions, Elo in large figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.page import Headline, Section, report_page
from skilloscope.reports.words import engine_line, plural
from skilloscope.studies.rate.elo_tables import elo_sheets
from skilloscope.studies.report.event import EventReport
from skilloscope.studies.report.player import PlayerReport
from skilloscope.studies.report.tables import beside_line, crosstable_sheet, games_sheet, part_sheet
from skilloscope.studies.report.told import decision_card, game_name

CANNOT_TELL = (
    "A few dozen moves say little: look at the interval before the number.",
    "The Elo is of the play in these games, not of the person. Nothing here says why a move was played.",
    "What costs much is measured by an engine at a limited depth; a deeper search can judge otherwise.",
    "How likely people find a move is a model's estimate for people of a rating, not a fact about anybody.",
)
_COSTLY = (
    "Ranked by how much more the move lost than people of this level lose in the same position on average: a hard "
    "position forgives, an easy one does not. Red arrow: played; blue arrow: better. Losses are scaled: a pawn counts "
    "less the more decided the game is."
)
_FINDS = "The engine's own choice, in positions in which people of this level lose most on average."
_NO_ENGINE = (
    "No engine judged these games, so it is not known what the moves cost. With an engine, and without "
    "--effort instant, this part shows the decisions on their boards."
)


def player_page(report: PlayerReport, source: str) -> str:
    """Return the page of one player."""
    told = report.as_dict()
    own = report.rating.as_dict()
    figures = report.figures()
    sections = [Section("Where the strength lies", figure=figures[0][0], caption=figures[0][1])]
    sections += [Section.from_sheet(part_sheet(told, name)) for name in report.parts if name != "year"]
    if "year" in report.parts:
        sections.append(
            Section.from_sheet(part_sheet(told, "year"), "Over the years", figure=figures[1][0], caption=figures[1][1])
        )
    sections += _decisions(told["costliest"], "The decisions that cost most for this level", _COSTLY)
    if not told["costliest"]:
        sections.append(Section("The decisions that cost most for this level", _NO_ENGINE))
    sections += _decisions(told["finds"], "The best finds", _FINDS)
    if told["beside"]:
        sections.append(Section("Beside others of the same Elo", beside_line(told).capitalize() + "."))
    sections += [Section.from_sheet(sheet, "What the Elo stands on") for sheet in elo_sheets(told["ratings"])[-1:]]
    return report_page(
        report.player,
        _source(source, told["ratings"]),
        sections,
        warnings=told["ratings"]["warnings"],
        skipped=told["ratings"]["skipped"],
        cannot_tell=CANNOT_TELL,
        headline=elo_headline(own, told["ratings"]),
    )


def event_page(report: EventReport, source: str) -> str:
    """Return the page of an event."""
    told = report.as_dict()
    figures = report.figures()
    sheets = elo_sheets(told["ratings"])
    sections = [Section.from_sheet(sheet) for sheet in sheets]
    sections.append(Section("Elo from the moves", figure=figures[0][0], caption=figures[0][1]))
    if told["table"]:
        sections.append(Section.from_sheet(crosstable_sheet(told)))
    if (best := report.best_played) is not None:
        sections.append(Section("The best played game", _best_line(best)))
    sections += _decisions(told["turning"], "Turning points", "The moves that lost most, whoever made them.")
    if not told["turning"]:
        sections.append(Section("Turning points", _NO_ENGINE))
    sections += _decisions(told["finds"], "Hard to find, and found", _FINDS.replace("this level", "the player's level"))
    figure = figures[1] if len(figures) > 1 else ("", "")
    sections.append(Section.from_sheet(games_sheet(told), figure=figure[0], caption=figure[1]))
    return report_page(
        _event_title(report),
        _source(source, told["ratings"]),
        sections,
        warnings=told["ratings"]["warnings"],
        skipped=told["ratings"]["skipped"],
        cannot_tell=CANNOT_TELL,
    )


def elo_headline(own: Mapping[str, Any], ratings: Mapping[str, Any]) -> Headline:
    """Return the Elo in large figures, with its interval and what it stands on."""
    games = f"{plural(own['games'], 'game')}, {plural(own['decisions'], 'move')}"
    rated = "" if own["header_elo"] is None else f"; rated {own['header_elo']:.0f} in the games (not used)"
    return Headline(
        f"{own['elo']:.0f}",
        f"{own['elo_low']:.0f} to {own['elo_high']:.0f}",
        f"Elo, {100 * ratings['mass']:g} % interval: {games}{rated}. {ratings['scale']['axis']}.",
    )


def _decisions(moves: list[dict[str, Any]], heading: str, text: str) -> list[Section]:
    return [Section(heading, text, cards=[decision_card(move) for move in moves])] if moves else []


def _best_line(best: Mapping[str, Any]) -> str:
    sides = (f"{best[side]['player']} {best[side]['elo']:.0f} ({best[side]['elo_low']:.0f} to "
             f"{best[side]['elo_high']:.0f})" for side in ("white", "black"))  # fmt: skip
    names = {"event": best["event"], "date": best["date"]}
    return f"{game_name({**names, **{side: best[side]['player'] for side in ('white', 'black')}})}: {', '.join(sides)}"


def _event_title(report: EventReport) -> str:
    events = {game["event"] for game in report.games if game["event"] not in (None, "", "?")}
    return str(next(iter(events))) if len(events) == 1 else plural(len(report.games), "game")


def _source(source: str, ratings: Mapping[str, Any]) -> str:
    engine = f"{engine_line(ratings['engine'])} · " if ratings["engine"] else ""
    return f"{source}\n{engine}effort {ratings['effort']['name']}, method {ratings['method']}"
