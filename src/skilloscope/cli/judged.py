"""What the commands on one player's or everybody's games share: their options, and what they say of the judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilloscope.models.agent import Agent
    from skilloscope.sources.judge import Judged


def agent_of(rule: str | None, mass: float) -> Agent:
    """Return the agent under the rule asked for, that of the settings, or `listed`; check the mass of intervals."""
    from skilloscope.core.checks import check_mass
    from skilloscope.core.configuration import effective_settings
    from skilloscope.models.agent import Agent

    check_mass(mass)
    return Agent(rule=effective_settings({"rule": rule})["rule"].value or "listed")


def judge_fields(judged: Judged) -> dict[str, Any]:
    """Return what judged the moves, and where the answers came from, as JSON documents send them."""
    from skilloscope.sources.judge import engine_of

    return {"engine": engine_of(judged.decisions), "positions": judged.as_dict()}


def judge_line(judged: Judged) -> str:
    """Return what judged the moves, and where the answers came from, in words."""
    from skilloscope.reports.words import engine_line

    return f"{judged}; {engine_line(judge_fields(judged)['engine'])}"


def source_line(paths: list[Path], judged: Judged | None = None) -> str:
    """Return the files of a page in words, and what judged the moves in them."""
    files = ", ".join(p.name for p in paths[:5]) + (f" and {len(paths) - 5} more files" if len(paths) > 5 else "")
    return files if judged is None else f"{files}; {judge_line(judged)}"
