"""`skilloscope doctor`: what is installed, which settings apply, and what is missing."""

from dataclasses import replace
from typing import Annotated

from skilloscope.cli.console import report_notes, show
from skilloscope.cli.options import Json, Output, option


def doctor(
    warm: Annotated[bool, option("Compile the kernels now, so that the first run is fast.")] = False,
    fix: Annotated[bool, option("Install what is missing if that needs no password; list the rest.")] = False,
    as_json: Json = False,
) -> int:
    """Show versions, the engine, the cache, every setting with its source, and what is missing."""
    from skilloscope.studies.installation import fixed, installation, warm_up

    found = installation()
    if fix and found.missing:
        report_notes(fixed(found.missing))
        found = installation()
    return show(replace(found, warmed_seconds=warm_up()) if warm else found, Output(as_json=as_json))
