"""Adapters: files of other domains as decisions. Each module describes its format and counts what it leaves out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.core.errors import OptionError
from skilloscope.decision.decisions import Decisions
from skilloscope.decision.domains.backgammon import read_backgammon, read_gnubg
from skilloscope.decision.domains.experiments import read_four_in_a_row, read_risky_choice

_SCHEMA = 1

DOMAINS: Mapping[str, tuple[Callable[..., Decisions], tuple[str, ...]]] = {
    "backgammon": (read_backgammon, ()),
    "gnubg": (read_gnubg, ("plies",)),
    "four-in-a-row": (read_four_in_a_row, ("cap",)),
    "risky-choice": (read_risky_choice, ("exponent",)),
}
"""The domains: how each is read, and the options that it takes."""

POOLED = "everybody"  # the one decider of a pooled batch: the composite player


def converted(domain: str, paths: Sequence[str | Path], *, pooled: bool = False, **options: Any) -> Decisions:
    """Return the decisions that files of a domain hold, `pooled` as one decider's; options of None were not given."""
    if domain not in DOMAINS:
        raise OptionError(f"no domain {domain!r}", hint=f"the domains: {', '.join(DOMAINS)}")
    read, known = DOMAINS[domain]
    given = {name: value for name, value in options.items() if value is not None}
    foreign = [name for name in given if name not in known]
    if foreign:
        takes = ", ".join(f"--{name}" for name in known) or "no such option"
        raise OptionError(f"{domain} takes no --{foreign[0]}", hint=f"it takes: {takes}")
    batch = read(paths, **given)
    if not pooled:
        return batch
    return replace(batch, deciders=(POOLED,), decider=np.zeros(len(batch), dtype=np.int32))


def conversion_report(batch: Decisions, file: str | Path) -> dict[str, object]:
    """Return what a conversion says: how much came in, of what kind, and what was left out."""
    return {
        "schema": _SCHEMA,
        "file": str(file),
        "decisions": len(batch),
        "deciders": len(batch.names()),
        "depths": list(batch.depths),
        "about": dict(batch.about),
        "skipped": batch.skipped,
    }
