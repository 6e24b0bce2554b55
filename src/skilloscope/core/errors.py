"""Errors with a hint, faults with a place, and tallies of what was left out.

Nothing is lost in silence. An error stops the work and says what to do next; a fault is one piece of bad input that
was skipped while the rest went on; a tally counts everything that was left out, by reason.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce


class SkilloscopeError(Exception):
    """The base of every error of ours: a message and, in `hint`, what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InputError(SkilloscopeError, ValueError):
    """The input is at fault: a file, a column, what an option names in them."""


class OptionError(InputError):
    """What was asked for cannot be, whatever the files hold: no such method, a number out of its range."""


class EngineError(SkilloscopeError, RuntimeError):
    """An engine is missing, cannot be started or does not answer as UCI asks."""


class StoreError(SkilloscopeError, RuntimeError):
    """The analysis store cannot be opened, read or written."""


class GridError(SkilloscopeError, ValueError):
    """Evidence on different grids was put together."""


class MissingExtraError(SkilloscopeError, ImportError):
    """An optional package is needed for what was asked."""


@dataclass(frozen=True)
class Fault:
    """One piece of bad input that was skipped: why, in which file, where in it, and what was found."""

    reason: str
    file: str
    place: str
    detail: str = ""

    def __str__(self) -> str:
        tail = f" ({self.detail})" if self.detail else ""
        return f"{self.file}, {self.place}: {self.reason}{tail}"


@dataclass
class Tally:
    """How many were left out, by reason, and the faults among them.

    >>> tally = Tally()
    >>> tally.count("forced", 3)
    >>> tally.fault("illegal move", "games.pgn", "game 2, move 14", "Qxh9")
    >>> print(tally + Tally({"forced": 1}))
    4 forced, 1 illegal move
    """

    counts: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    read: int = field(default=0, compare=False)
    """How many games were read: what a few faults among many are compared with."""

    def count(self, reason: str, n: int = 1) -> None:
        """Count `n` more left out for `reason`; zero leaves no trace."""
        if n:
            self.counts[reason] = self.counts.get(reason, 0) + int(n)

    def fault(self, reason: str, file: str, place: str, detail: str = "") -> None:
        """Count one left out because the input is at fault, and remember where."""
        self.count(reason)
        self.faults.append(Fault(reason, file, place, detail))

    def __add__(self, other: "Tally") -> "Tally":
        total = Tally(dict(self.counts), [*self.faults, *other.faults], self.read + other.read)
        for reason, n in other.counts.items():
            total.count(reason, n)
        return total

    @classmethod
    def sum(cls, tallies: "Iterable[Tally]") -> "Tally":
        """Return the sum of many tallies."""
        return reduce(cls.__add__, tallies, cls())

    @property
    def total(self) -> int:
        """How many were left out in all."""
        return sum(self.counts.values())

    def as_dict(self) -> dict[str, int]:
        """Return the counts, most frequent first."""
        return dict(sorted(self.counts.items(), key=lambda item: (-item[1], item[0])))

    @classmethod
    def from_dict(cls, counts: Mapping[str, int]) -> "Tally":
        """Return a tally of these counts."""
        return cls({reason: int(n) for reason, n in counts.items()})

    def __str__(self) -> str:
        return ", ".join(f"{n:,} {reason}" for reason, n in self.as_dict().items()) or "none"


def check_mass(mass: float) -> float:
    """Return the mass of an interval; raise where it does not lie between 0 and 1.

    >>> check_mass(0.95)
    0.95
    """
    if not 0 < mass < 1:
        raise OptionError(f"the mass of an interval lies between 0 and 1, got {mass}")
    return mass


def check_dispersion(dispersion: float) -> None:
    """Raise where evidence cannot be divided by this."""
    if not 0 < dispersion < float("inf"):
        raise OptionError(
            f"a dispersion is a positive number, got {dispersion}",
            hint="1 uses every decision in full, more discounts it",
        )
