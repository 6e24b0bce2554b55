"""The page of a profile: the chart of the chosen prior, all priors side by side, the table."""

from __future__ import annotations

from collections.abc import Sequence

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.profile.figures import PROFILE_CAPTION, priors_figure, profile_figure
from skilloscope.studies.profile.profile import Profile
from skilloscope.studies.profile.tables import PRIOR_WORDS, drift_line, profile_columns, profile_rows

_CANNOT_TELL = (
    "Why a competence changed: the page rates moves, not persons, and knows nothing of their circumstances.",
    "Whether two neighbouring periods differ, where their bands overlap.",
    "How strong somebody was in a period without games: lines are broken there, unless periods are events.",
    "The scale was fitted on games of 2006 to 2014; earlier and later play is read along the same line.",
)


def profile_page(profile: Profile, others: Sequence[Profile] = (), *, title: str, source: str) -> str:
    """Return the page; with `others`, the same players under other priors, there is a panel for each."""
    report = profile.as_dict()
    drift = drift_line(report)
    said = f"Prior {profile.prior}: {PRIOR_WORDS[profile.prior]}." + (
        f" {drift[0].upper()}{drift[1:]}." if drift else ""
    )
    sections = [
        Section("Over time", said, figure=profile_figure(profile), caption=PROFILE_CAPTION),
        Section("Period by period", "", profile_columns(report), profile_rows(report)),
    ]
    if others:
        panels = priors_figure(others)
        sections.insert(1, Section("Under every prior", "", _SCORES, _scores(others), panels, PROFILE_CAPTION))
    cannot = _CANNOT_TELL if profile.scale else _CANNOT_TELL[:3]
    return report_page(
        title, source, sections, warnings=profile.warnings, skipped=profile.tally.as_dict(), cannot_tell=cannot
    )


_SCORES = ("prior", "log-probability of a decision, given earlier periods")


def _scores(profiles: Sequence[Profile]) -> list[list[str]]:
    """Return each prior with how well it foretold the decisions of the next period, of all players together."""
    rows = []
    for profile in profiles:
        later = [one for player in profile.players for one in player.periods[1:]]
        total = sum(one.decisions for one in later)
        score = f"{sum(one.log_score for one in later) / total:.5f}" if total else "–"
        rows.append([profile.prior, score])
    return rows
