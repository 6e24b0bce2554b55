"""A job that screens an event: what `screen` shows of the same games, in the words of its page.

In: the games of another job. Out: the report `screening` with the JSON of the study, the sections of its page, and what
it cannot tell. It is done on request only, and gives no verdict.
"""

import os
from pathlib import Path

from skilloscope.core.paths import effective_settings, store_file
from skilloscope.inputs.pipeline import engine_found
from skilloscope.studies.screen.screen import screen
from skilloscope.web.jobs import JobTask
from skilloscope.web.rated_games import read_uploads


def screen_job(task: JobTask) -> None:
    """Screen all players of the games; a short search where there is an engine."""
    effort = "quick" if engine_found(None) else "instant"
    task.tell(effort, note="screening")
    found = screen(
        read_uploads(task), effort=effort, engine=effective_settings()["engine"].value,
        store=store_file(Path(task.store)), workers=min(os.cpu_count() or 1, 4),
    )  # fmt: skip
    sections = [
        {"heading": one.heading, "text": one.text, "columns": one.table.columns, "rows": one.table.rows,
         "labels": sorted(one.table.labels), "notes": one.notes}
        for one in found.sections()
    ]  # fmt: skip
    report = {"study": found.as_dict(), "sections": sections, "caveats": found.caveats, "warnings": found.warnings}
    task.keep({"screening": report})
