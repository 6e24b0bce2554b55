"""The harness of reproduction: a printed number knows its own precision, a row compares, an entry makes rows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from skilloscope.errors import InputError

__all__ = ["SCHEMA", "Budget", "Entry", "Printed", "Row", "paper_table", "printed", "reproduce"]

SCHEMA = 1


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it: its value, and half a unit of its last digit as the tolerance."""

    text: str

    @property
    def value(self) -> float:
        """The printed value."""
        return float(self.text)

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit."""
        _, _, decimals = self.text.partition(".")
        return 0.5 * float(10.0 ** -len(decimals))


def printed(text: str) -> Printed:
    """Return the printed number: printed("0.618") means 0.618 ± 0.0005.

    >>> printed("0.618").value, printed("0.618").half_unit
    (0.618, 0.0005)
    """
    return Printed(text)


@dataclass(frozen=True)
class Row:
    """One printed number beside ours. `rounding` is what the rounding of the paper's own inputs may add."""

    label: str
    printed: Printed
    ours: float | None = None
    rounding: float = 0.0

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit, and what the inputs' rounding may add."""
        return float(self.printed.half_unit + self.rounding)

    @property
    def difference(self) -> float | None:
        """Ours minus printed, or None where nothing was computed."""
        return None if self.ours is None else self.ours - self.printed.value

    @property
    def within(self) -> bool | None:
        """Whether the difference is within tolerance, or None where nothing was computed."""
        return None if self.difference is None else bool(abs(self.difference) <= self.tolerance * (1 + 1e-9))

    def as_dict(self) -> dict[str, Any]:
        """Return the row as `reproduce --json` sends it."""
        return {
            "label": self.label,
            "printed": self.printed.value,
            "printed_text": self.printed.text,
            "ours": self.ours,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "within": self.within,
        }


@dataclass(frozen=True)
class Budget:
    """What a reproduction may spend: engine minutes and the seed of its sampling."""

    minutes: float = 0.0
    seed: int = 1


@dataclass(frozen=True)
class Entry:
    """One table or figure of a paper: its key, what it is, how it is computed, and what is to be known about it."""

    key: str
    title: str
    compute: Callable[[Budget], Sequence[Row]]
    note: str = ""

    def as_dict(self, budget: Budget) -> dict[str, Any]:
        """Compute the entry and return it as `reproduce --json` sends it."""
        rows = [row.as_dict() for row in self.compute(budget)]
        return {"key": self.key, "title": self.title, "note": self.note, "rows": rows}


def reproduce(entries: Sequence[Entry], wanted: str = "", budget: Budget | None = None) -> dict[str, Any]:
    """Return the wanted entries (a key, a paper's key, or all), each printed number beside ours."""
    chosen = [e for e in entries if not wanted or e.key == wanted or e.key.split(".")[0] == wanted]
    if not chosen:
        raise InputError(
            f"nothing to reproduce under {wanted!r}", hint=f"the keys: {', '.join(e.key for e in entries)}"
        )
    budget = budget or Budget()
    return {
        "schema": SCHEMA,
        "budget_minutes": budget.minutes,
        "seed": budget.seed,
        "entries": [entry.as_dict(budget) for entry in chosen],
    }


def paper_table(name: str) -> list[dict[str, str]]:
    """Return a printed table that ships, one dict per row, every cell as printed."""
    file = resources.files("skilloscope") / "data" / "papers" / f"{name}.csv"
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
