"""What is refused before anything is read or searched: a mass that is none, evidence divided by nothing."""

from __future__ import annotations

from skilloscope.core.errors import OptionError


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
            hint="1 believes every decision in full, more trusts less",
        )
