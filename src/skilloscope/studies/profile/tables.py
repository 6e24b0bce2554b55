"""The tables of a profile: one row per player and period, and how well each prior foretold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import EDGE_NOTE, competence, elo_interval, fitted_sd, skipped_line
from skilloscope.studies.profile.profile import Profile
from skilloscope.studies.rate.parts_tables import parts_sheet, spread_line

PRIOR_WORDS = {
    "carry": "each period begins with the posterior of the one before",
    "widen": "each period begins with a normal prior of twice the sd of the one before",
    "reset": "each period stands alone",
    "drift": "a random walk, smoothed over all periods",
}


def profile_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `profile` and of `decisions profile`: columns of Elo only where there is a scale."""
    interval = f"{100 * report['mass']:g} % interval"
    columns = ["decider", report["every"], "decisions", "c", interval]
    if report["scale"]:
        columns = ["player", report["every"], "games", "decisions", f"Elo ({interval})", "c", "Elo in the games"]
    rows = [
        [player["player"], one["period"], *(_on_the_axis(one) if report["scale"] else _by_itself(one))]
        for player in report["players"]
        for one in player["periods"]
    ]
    axis = f"{report['scale']['axis']}; " if report["scale"] else ""
    title = f"{axis}prior {report['prior']}: {PRIOR_WORDS[report['prior']]}"
    return Sheet(title, columns, rows, _notes(report), left=2)


def elo_profile_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `profile` on the Elo axis."""
    prior = report["period_prior"]
    said = spread_line(report, "drift in a year")
    title = f"prior {prior}: {PRIOR_WORDS[prior]}"
    return parts_sheet(report, "period", change=f"since the {report['by']} before", said=said, title=title)


def scores_sheet(profiles: Sequence[Profile]) -> Sheet:
    """Return each prior with how well it foretold the decisions of the next period, of all players together."""
    rows = []
    for profile in profiles:
        later = [one for player in profile.players for one in player.periods[1:]]
        total = sum(one.decisions for one in later)
        rows.append([profile.prior, number(sum(one.log_score for one in later) / total if total else None, 5)])
    return Sheet("Under every prior", ("prior", "log-probability of a decision, given earlier periods"), rows)


def _on_the_axis(one: Mapping[str, Any]) -> list[str]:
    counts = [f"{one['games']:,}", f"{one['decisions']:,}"]
    return [*counts, elo_interval(one), competence(one), number(one["header_elo"], 0)]


def _by_itself(one: Mapping[str, Any]) -> list[str]:
    return [f"{one['decisions']:,}", competence(one), f"{one['low']:.2f} to {one['high']:.2f}"]


def _notes(report: Mapping[str, Any]) -> list[str]:
    players = report["players"]
    periods = [period for player in players for period in player["periods"]]
    notes = [skipped_line(sum(player["decisions"] for player in players), report["skipped"])]
    if drift := report["drift"]:
        unit = f"in one {drift['drift_unit']}"
        notes.append(f"drift of c: {fitted_sd(drift, 'drift', report['mass'], unit)}")
    if any(period.get("extrapolated") for period in periods):
        notes.append("* outside the range in which the scale was fitted")
    if any(period["edge"] or period.get("elo_edge") for period in periods):
        notes.append(EDGE_NOTE)
    return notes
