"""The harness of reproduction: a printed number knows its own precision, a row compares, an entry makes rows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, TypeVar

from skilloscope.core.errors import InputError, OptionError
from skilloscope.inference import Posterior
from skilloscope.sources.judge import Work

SCHEMA = 1
Made = TypeVar("Made")


class NotAnalysedError(InputError):
    """The games of an entry are not analysed, and the budget does not allow to do it."""


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
    """One printed number beside ours; either may be missing.

    `rounding` is what the rounding of the paper's own inputs may add to the tolerance. Where our number comes from
    other games or another engine than the printed one (`alike` is False), the difference is shown and not judged.
    """

    label: str
    printed: Printed | None
    ours: float | None = None
    rounding: float = 0.0
    sd: float | None = None
    """The standard deviation of ours, where it is an estimate."""
    alike: bool = True

    @property
    def tolerance(self) -> float | None:
        """Half a unit of the last printed digit, and what the inputs' rounding may add."""
        return None if self.printed is None else float(self.printed.half_unit + self.rounding)

    @property
    def difference(self) -> float | None:
        """Ours minus printed, or None where one of them is missing."""
        return None if self.ours is None or self.printed is None else self.ours - self.printed.value

    @property
    def within(self) -> bool | None:
        """Whether the difference is within tolerance, or None where there is nothing to judge."""
        if self.difference is None or self.tolerance is None or not self.alike:
            return None
        return bool(abs(self.difference) <= self.tolerance * (1 + 1e-9))

    def as_dict(self) -> dict[str, Any]:
        """Return the row as `reproduce --json` sends it."""
        return {
            "label": self.label,
            "printed": self.printed.value if self.printed else None,
            "printed_text": self.printed.text if self.printed else "",
            "ours": self.ours,
            "sd": self.sd,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "within": self.within,
        }


@dataclass(frozen=True)
class Budget:
    """What a reproduction may use: engine minutes, the seed of its sampling, the games, and what is known of them."""

    minutes: float = 0.0
    seed: int = 1
    data: Path | None = None
    """The folder of real games and results; entries that need it are empty without."""
    work: Work = field(default_factory=Work)
    """The store and the analyses to import."""
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, make: Callable[[Budget], Made]) -> Made:
        """Return what `make` gives under this budget: several entries ask for it, and it is made for the first."""
        if make not in self._made:
            self._made[make] = make(self)
        found: Made = self._made[make]
        return found


class Drawn(Protocol):
    """A study that draws itself."""

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""


@dataclass(frozen=True)
class Outcome:
    """What an entry computed: the rows, what is to be said of this run (what was sampled), and the studies to draw."""

    rows: Sequence[Row]
    notes: Sequence[str] = ()
    studies: Sequence[Drawn] = ()


@dataclass(frozen=True)
class Entry:
    """One table or figure of a paper: its key, what it is, how it is computed, and what is to be known about it."""

    key: str
    title: str
    compute: Callable[[Budget], Outcome | Sequence[Row]]
    note: str = ""

    def outcome(self, budget: Budget) -> Outcome:
        """Compute the entry; where its games are not known and may not be searched, say so and go on."""
        try:
            found = self.compute(budget)
        except NotAnalysedError as error:
            return Outcome((), (f"nothing computed: {error}; {error.hint}",))
        return found if isinstance(found, Outcome) else Outcome(found)


@dataclass(frozen=True)
class Reproduction:
    """The entries that were asked for, and what came out of each."""

    budget: Budget
    entries: Sequence[tuple[Entry, Outcome]]

    def as_dict(self) -> dict[str, Any]:
        """Return what `reproduce --json` sends."""
        entries = [
            {
                "key": entry.key,
                "title": entry.title,
                "notes": [note for note in (entry.note, *outcome.notes) if note],
                "rows": [row.as_dict() for row in outcome.rows],
            }
            for entry, outcome in self.entries
        ]
        return {
            "schema": SCHEMA,
            "budget_minutes": self.budget.minutes,
            "seed": self.budget.seed,
            "entries": entries,
        }


def reproduce(entries: Sequence[Entry], wanted: str = "", budget: Budget | None = None) -> Reproduction:
    """Compute the wanted entries (a key, a paper's key, or all), each printed number beside ours."""
    chosen = [e for e in entries if not wanted or e.key == wanted or e.key.split(".")[0] == wanted]
    if not chosen:
        raise OptionError(
            f"nothing to reproduce under {wanted!r}", hint=f"the keys: {', '.join(e.key for e in entries)}"
        )
    budget = budget or Budget()
    return Reproduction(budget, [(entry, entry.outcome(budget)) for entry in chosen])


def mean_and_sd(posterior: Posterior | None) -> tuple[float | None, float | None]:
    """Return what a row says of a posterior, nothing where there is none."""
    return (None, None) if posterior is None else (posterior.mean, posterior.sd)


def paper_table(name: str) -> list[dict[str, str]]:
    """Return a printed table that ships, one dict per row, every cell as printed."""
    file = resources.files("skilloscope") / "data" / "papers" / f"{name}.csv"
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
