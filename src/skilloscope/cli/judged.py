"""What the commands on judged decisions share: where these come from, and what is said of the judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.models.agent import Agent
    from skilloscope.ratings.scale import Scale
    from skilloscope.sources.judge import Judged


def agent_of(rule: str | None) -> Agent:
    """Return the agent under the rule asked for, that of the settings, or `listed`."""
    from skilloscope.core.configuration import effective_settings
    from skilloscope.models.agent import Agent

    return Agent(rule=effective_settings({"rule": rule})["rule"].value or "listed")


def scale_of(name: str | None = None) -> Scale:
    """Return the scale asked for, or that of the settings."""
    from skilloscope.core.configuration import effective_settings
    from skilloscope.ratings.scale import scale

    return scale(effective_settings({"scale": name})["scale"].value)


def scaled_agent(scale: Scale, rule: str | None = None) -> Agent:
    """Return the agent of a scale, under the rule asked for, that of the settings, or the scale's own."""
    from skilloscope.core.configuration import effective_settings
    from skilloscope.models.agent import Agent

    return Agent.from_about(scale.model, rule=effective_settings({"rule": rule})["rule"].value)


def read_batch(tables: Sequence[Path], columns: Sequence[str] = ()) -> Decisions:
    """Return the decisions of tables of any domain as one batch, at one depth; faults are shown on stderr.

    `columns` are texts such as decider=player: our name, theirs.
    """
    from skilloscope.cli.console import report_faults
    from skilloscope.decision import Decisions
    from skilloscope.decision.text import read_decisions
    from skilloscope.sources.judge import told_decisions
    from skilloscope.sources.results import pair_columns

    if columns:  # a table with names of its own cannot be told by its header
        names = pair_columns(columns)
        batch = Decisions.concat([read_decisions(path, columns=names).at_depths() for path in tables])
    else:
        batch = told_decisions(tables)
    report_faults(batch.tally)
    return batch


def check_column(by: str, paths: Sequence[Path], more: Iterable[str], what: str) -> None:
    """Refuse a column that games do not have before they are analysed; a table's are known when it is read."""
    from skilloscope.chess.joining import CONTEXT
    from skilloscope.core.errors import OptionError
    from skilloscope.decision.text import table_kind

    known = (*more, *CONTEXT)
    if by not in known and not any(table_kind(path) for path in paths):
        raise OptionError(f"no {what} {by!r}", hint=f"the {what}s: {', '.join(known)}")


def judge_fields(judged: Judged) -> dict[str, Any]:
    """Return what judged the moves, and where the answers came from, as JSON documents send them."""
    from skilloscope.sources.judge import engine_of

    return {"engine": engine_of(judged.decisions), "positions": judged.as_dict()}


def judge_line(judged: Judged) -> str:
    """Return what judged the moves, and where the answers came from, in words."""
    from skilloscope.reports.words import engine_line

    return f"{judged}; {engine_line(judge_fields(judged)['engine'])}"


def source_line(paths: Sequence[Path], judged: Judged | None = None) -> str:
    """Return the files of a page in words, and what judged the moves in them."""
    files = ", ".join(p.name for p in paths[:5]) + (f" and {len(paths) - 5} more files" if len(paths) > 5 else "")
    return files if judged is None else f"{files}; {judge_line(judged)}"
