"""The page of `results rate` and `smooth`: leaderboard, strengths over time, what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skilloscope.ratings.periods.variance_posterior import VariancePosterior
from skilloscope.reports.page import Section, report_page
from skilloscope.reports.words import plural
from skilloscope.studies.results.figures import calibration_figure, history_figure, posterior_figure
from skilloscope.studies.results.runs import Rated
from skilloscope.studies.results.tables import (
    changes_sheets,
    fit_sheets,
    holdout_sheet,
    leaderboard_sheet,
    member_sheets,
)

_LINES = 8
_PLAYERS = 200
_LISTED = 500
_MANY_GAMES = 20
_SURE = 100
_CANNOT_TELL = (
    "Ratings compare players within this table. Whether everybody has grown stronger, results cannot show.",
    "Two players are told apart only as far as their intervals are; half of all rankings of neighbours are chance.",
    "Groups of players who never met, not even through others, are not comparable.",
    "A forecast knows strengths and their uncertainty, nothing of form, colour, stakes or injuries.",
)


def results_page(rated: Rated, report: Mapping[str, Any]) -> str:
    """Return the page: no script, no address, everything inside."""
    more = len(report["players"]) - _LISTED
    text = f"{more:,} more players are in the JSON." if more > 0 else ""
    board = Section.from_sheet(leaderboard_sheet(report, _LISTED), "Leaderboard", text=text)
    sections = [replace(board, filters=_filters(rated, report["players"][:_LISTED]))]
    names = [player["player"] for player in report["players"][:_LINES]]
    if names and len(rated.history):
        caption = f"The first {len(names)} of the leaderboard; bands: one standard deviation."
        sections.append(Section("Over time", figure=history_figure(rated.history, names), caption=caption))
    source = (
        f"{plural(report['games'], 'game')}, periods of {report['period']}; "
        f"σ0 = {report['sigma0']:.2f}, ν = {report['nu']:.2f}; {report['method']}"
    )
    return report_page(
        "Ratings from results",
        source,
        sections,
        warnings=report["warnings"],
        skipped=report["skipped"],
        cannot_tell=_CANNOT_TELL,
    )


def _filters(rated: Rated, players: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return what the leaderboard may be asked for, each with the rows that it leaves out."""
    few = [row for row, player in enumerate(players) if player["games"] < _MANY_GAMES]
    wide = [row for row, player in enumerate(players) if player["rd"] > _SURE]
    found = {f"{_MANY_GAMES} games or more": few, f"rd at most {_SURE}": wide}
    if rated.calendar.unit:
        since = rated.latest - rated.calendar.periods_in("1Y")
        ended = [int(rated.calendar.number(player["last_period"])) for player in players]
        found["played in the last year"] = [row for row, last in enumerate(ended) if last <= since]
    return {name: rows for name, rows in found.items() if 0 < len(rows) < len(players)}


def fit_page(report: Mapping[str, Any], posterior: VariancePosterior) -> str:
    """Return the page of `results fit`: the numbers, and the joint posterior of σ0 and ν."""
    # The weights are those of cells that are even in the logarithms; a density over σ0 and ν divides by both.
    density = (posterior.weight / posterior.sigma0[:, None] / posterior.nu[None, :]).T
    caption = "Contours at 1 to 90 % of the highest density; the prior is flat in both variances."
    sections = [
        Section("What was fitted", "", ("", "value"), fit_sheets(report)[0].rows),
        Section("Joint posterior", figure=posterior_figure(posterior.sigma0, posterior.nu, density), caption=caption),
    ]
    source = (
        f"{plural(report['games'], 'game')} of {plural(report['players'], 'player')}, periods of {report['period']}"
    )
    warnings, skipped = report["warnings"], report["skipped"]
    return report_page("Fitted to results", source, sections, warnings=warnings, skipped=skipped)


def holdout_page(report: Mapping[str, Any]) -> str:
    """Return the page of `results predict --holdout`: the calibration curve beside its bins."""
    caption = "Games in bins of the score foretold: what came, ± 2 standard errors; on the line it came as foretold."
    text = f"Log-loss {report['log_loss']:.4f}, Brier score {report['brier']:.4f}."
    sections = [
        Section("Calibration", text, figure=calibration_figure(report["calibration"]), caption=caption),
        Section.from_sheet(holdout_sheet(report), "Bins", text=""),
    ]
    source = (
        f"{report['games']:,} games of the last {report['periods_held_out']} periods of {report['period']}, foretold "
        f"from those before; σ0 = {report['sigma0']:.2f}, ν = {report['nu']:.2f}"
    )
    warnings, skipped = report["warnings"], report["skipped"]
    return report_page("Results foretold", source, sections, warnings=warnings, skipped=skipped)


def changes_page(rated: Rated, report: Mapping[str, Any]) -> str:
    """Return the page of `results report --since`."""
    sections = [Section.from_sheet(sheet) for sheet in changes_sheets(report, _PLAYERS)]
    source = f"{plural(rated.state.games, 'game')} up to {report['until']}"
    warnings, skipped = report["warnings"], report["skipped"]
    return report_page(
        f"Since {report['since']}", source, sections, warnings=warnings, skipped=skipped, cannot_tell=_CANNOT_TELL
    )


def member_page(rated: Rated, report: Mapping[str, Any]) -> str:
    """Return one member's page: strength over time, history, opponents."""
    history, opponents = member_sheets(report)
    name = report["player"]
    figure = history_figure(rated.history, [name])
    sections = [
        Section("Over time", figure=figure, caption="The band is one standard deviation."),
        Section.from_sheet(opponents, "Opponents"),
        Section.from_sheet(history, "History"),
    ]
    source = f"{report['rating']:.0f} ± {report['rd']:.0f}, from {plural(rated.state.games, 'game')} of all"
    warnings, skipped = report["warnings"], report["skipped"]
    return report_page(name, source, sections, warnings=warnings, skipped=skipped, cannot_tell=_CANNOT_TELL)
