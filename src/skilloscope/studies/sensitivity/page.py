"""The page of `sensitivity`: the tables of the terminal and the figures."""

from __future__ import annotations

from collections.abc import Iterator

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.sensitivity.figures import gain_figure, groups_figure
from skilloscope.studies.sensitivity.sensitivity import Sensitivity
from skilloscope.studies.sensitivity.tables import groups_sheet, settings_sheet

_CANNOT = (
    "A c belongs to the judge, the k and the rule that measured it. It must move with them; where the order of players "
    "moves with them too, that order is not to be trusted.",
    "A gain in likelihood says that the values are nearer to what people saw, not that they are nearer to the truth.",
)


def sensitivity_page(study: Sensitivity, *, source: str) -> str:
    """Return the page: no script, no address, everything inside."""
    base = study.as_dict()["settings"][0]
    title = f"Sensitivity: {len(study.settings)} settings of the same decisions"
    return report_page(title, source, list(_sections(study)), skipped=base["skipped"], cannot_tell=_CANNOT)


def _sections(study: Sensitivity) -> Iterator[Section]:
    report = study.as_dict()
    text = f"One thing is varied at a time. {study.base.name}."
    yield Section.from_sheet(settings_sheet(report), "Settings", text=text)
    if any(setting.gain is not None for setting in study.settings):
        caption = (
            "Point: estimate; line: interval. Right of zero the setting foresees the choices better than the base."
        )
        yield Section("What each setting gains", figure=gain_figure(study), caption=caption)
    yield Section.from_sheet(groups_sheet(report), f"By {study.by}")
    if len(study.groups) > 1:
        caption = "Grey: the base. Shaded: one sd. Levels differ because c belongs to its setting; look at the order."
        yield Section("The groups under each setting", figure=groups_figure(study), caption=caption)
