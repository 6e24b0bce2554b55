"""The page of a profile: the chart of the chosen prior, all priors side by side, the table."""

from __future__ import annotations

from collections.abc import Sequence

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.profile.elo import elo_profile_report
from skilloscope.studies.profile.figures import PROFILE_CAPTION, elo_profile_figure, priors_figure, profile_figure
from skilloscope.studies.profile.profile import Profile
from skilloscope.studies.profile.tables import PRIOR_WORDS, elo_profile_sheet, profile_sheet, scores_sheet
from skilloscope.studies.rate.parts import EloParts

_CANNOT_TELL = (
    "Why a competence changed: the page rates moves, not persons, and knows nothing of their circumstances.",
    "Whether two neighbouring periods differ, where their bands overlap.",
    "How strong somebody was in a period without games: lines are broken there, unless periods are events.",
    "The scale was fitted on games of 2006 to 2014; earlier and later play is read along the same line.",
)

_AXIS_CANNOT_TELL = (
    "What the same rating meant in another decade: the axis was fitted on games of the last decades, and openings that "
    "were unknown then are not played then."
)


def elo_profile_page(study: EloParts, *, title: str, source: str) -> str:
    """Return the page on the Elo axis."""
    report = elo_profile_report(study)
    said = f"Prior {report['period_prior']}: {PRIOR_WORDS[report['period_prior']]}."
    sections = [
        Section("Over time", said, figure=elo_profile_figure(study), caption=PROFILE_CAPTION),
        Section.from_sheet(elo_profile_sheet(report), "Period by period"),
    ]
    return report_page(
        title,
        source,
        sections,
        warnings=study.warnings,
        skipped=study.tally.as_dict(),
        cannot_tell=[*_CANNOT_TELL[:3], _AXIS_CANNOT_TELL],
    )


def profile_page(profile: Profile, others: Sequence[Profile] = (), *, title: str, source: str) -> str:
    """Return the page; with `others`, the same players under other priors, there is a panel for each."""
    said = f"Prior {profile.prior}: {PRIOR_WORDS[profile.prior]}."
    sections = [Section("Over time", said, figure=profile_figure(profile), caption=PROFILE_CAPTION)]
    if others:
        panels = priors_figure(others)
        sections.append(Section.from_sheet(scores_sheet(others), figure=panels, caption=PROFILE_CAPTION))
    sections.append(Section.from_sheet(profile_sheet(profile.as_dict()), "Period by period"))
    cannot = _CANNOT_TELL if profile.scale else _CANNOT_TELL[:3]
    return report_page(
        title, source, sections, warnings=profile.warnings, skipped=profile.tally.as_dict(), cannot_tell=cannot
    )
