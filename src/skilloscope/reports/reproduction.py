"""The page of `reproduce`: every entry's table, and the figures of the studies behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from skilloscope.reports import figures
from skilloscope.reports.html import Section, report_page
from skilloscope.reports.tables.reproduction import COLUMNS, reproduction_rows
from skilloscope.studies.reproduction.harness import Reproduction

__all__ = ["figures_of", "reproduction_page"]


@singledispatch
def figures_of(study: object) -> list[tuple[str, str]]:
    """Return the figures of a study, each as SVG with its caption; every kind of study registers its own."""
    _load_figures()
    own = figures_of.dispatch(type(study))
    if own is figures_of.dispatch(object):
        raise TypeError(f"no figure is known for {type(study).__name__}")
    return own(study)


def _load_figures() -> None:
    """Load every module of figures, so that each kind of study has registered its own."""
    for module in iter_modules(figures.__path__):
        import_module(f"{figures.__name__}.{module.name}")


def reproduction_page(done: Reproduction) -> str:
    """Return the page: what the papers print beside what came out here."""
    report = done.as_dict()
    source = f"Budget {done.budget.minutes:g} minutes of engine time, seed {done.budget.seed}."
    return report_page("The papers, reproduced", source, list(_sections(done, report["entries"])))


def _sections(done: Reproduction, entries: Sequence[Mapping[str, Any]]) -> Iterator[Section]:
    for (entry, outcome), sent in zip(done.entries, entries, strict=True):
        rows = reproduction_rows([row.as_dict() for row in outcome.rows])
        text = "\n".join(sent["notes"])
        yield Section(f"{entry.key}: {entry.title}", text, COLUMNS if rows else (), rows)
        for study in outcome.studies:
            for svg, caption in figures_of(study):
                yield Section(f"{entry.key}, figure", figure=svg, caption=caption)
