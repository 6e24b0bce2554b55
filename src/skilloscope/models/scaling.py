"""Evaluation scaling: a pawn matters less the more decided the game is. [RH11 sect. 5]

In: decisions with values in pawns, the decider's view. Out: the same decisions with scaled values; the loss of an
alternative is then ∫ ℓ(z) dz from its value to the best one. The paper never defines ℓ; ours is ℓ(z) = 1/(1 + a|z|),
with a = 1 the choice of its authors' later work, a = 0 no scaling, or a fitted so that losses are flat.

The integral of ℓ is one increasing function of the value, so scaling a batch is one function of a column, and the order
of the alternatives never changes. The naive difference of logarithms of |z| does: it gives negative losses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skilloscope.core.arrays import Array, Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions

_LARGEST = 50.0
_LEAST = 1e-300


def scaled_value(value: npt.ArrayLike, a: float) -> Array:
    """∫_0^v ℓ(z) dz with ℓ(z) = 1/(1 + a|z|): sign(v)·log(1 + a|v|)/a, and v itself where a = 0. [RH11 sect. 5]"""
    if not (np.isfinite(a) and a >= 0):
        raise OptionError(f"the scaling a is a number that is not negative, got {a}")
    at = np.asarray(value, dtype=float)
    if a == 0:
        return at
    reduced = a * np.abs(at)
    # A product below all normal numbers has lost its digits; the logarithm is then the product itself.
    return np.where(reduced < _LEAST, at, np.sign(at) * np.log1p(reduced) / a)


def scaled_loss(best: npt.ArrayLike, value: npt.ArrayLike, a: float = 1.0) -> Array:
    """δ = ∫ ℓ(z) dz from the value to the best one, the decider's view. [RH11 sect. 5]

    >>> round(float(scaled_loss(0.50, 0.50 - 1.25)), 4)
    0.9651
    """
    return scaled_value(best, a) - scaled_value(value, a)


def scaled_decisions(decisions: Decisions, a: float = 1.0) -> Decisions:
    """Return the decisions with every value scaled, at every depth; what was left out before stays left out.

    Filters come first, and by the best value before the decision, never by the chosen one.
    """
    if a == 0:
        return decisions
    if "scaling" in decisions.about:
        raise InputError(f"the values are scaled already (a = {decisions.about['scaling']:g})")
    values = scaled_value(decisions.values, a)
    beyond = decisions.unlisted_value
    return replace(
        decisions,
        values=values,
        unlisted_value=None if beyond is None else scaled_value(beyond, a),
        about={**decisions.about, "scaling": a},
    )


@dataclass(frozen=True, eq=False)
class Flatness:
    """The mean loss of choices by the evaluation before them: what the figure before and after shows."""

    a: float
    centres: Array
    mean_loss: Array
    sd: Array  # standard error of each mean
    decisions: Ints

    @property
    def ratio(self) -> float:
        """Mean loss where the evaluation is beyond a pawn and a half over that within half a pawn: 1 where flat."""
        size, total = np.abs(self.centres), self.mean_loss * self.decisions
        far, near = size > 1.5, size < 0.5
        return float(total[far].sum() / self.decisions[far].sum() / (total[near].sum() / self.decisions[near].sum()))


def flatness(decisions: Decisions, a: float, *, bins: int = 12, reach: float = 3.0) -> Flatness:
    """Return the mean scaled loss of the listed choices in equal bins of the best value before the decision."""
    listed = decisions.listed
    best = decisions.best.astype(float)[listed]
    loss = scaled_loss(best, best - decisions.chosen_loss()[listed], a)
    edges = np.linspace(-reach, reach, bins + 1)
    place = np.clip(np.digitize(best, edges) - 1, 0, bins - 1)
    n = np.bincount(place, minlength=bins)
    mean = np.bincount(place, loss, bins) / np.maximum(n, 1)
    spread = np.bincount(place, (loss - mean[place]) ** 2, bins) / np.maximum(n - 1, 1)
    return Flatness(a, 0.5 * (edges[1:] + edges[:-1]), mean, np.sqrt(spread / np.maximum(n, 1)), n)


def fit_scaling(decisions: Decisions) -> float:
    """Return the a at which the scaled loss of the listed choices has no slope in |evaluation|.

    The slope falls as a grows. 0 where losses do not grow with |evaluation| in the first place.
    """
    from scipy.optimize import brentq  # slow to load, and scaling is needed everywhere

    listed = decisions.listed
    best = decisions.best.astype(float)[listed]
    value = best - decisions.chosen_loss()[listed]
    if len(best) < 2 or np.ptp(np.abs(best)) == 0:
        raise InputError("a scaling needs decisions with different evaluations", hint="give a itself, 1 for instance")
    centred = np.abs(best) - np.abs(best).mean()

    def slope(a: float) -> float:
        loss = scaled_loss(best, value, a)
        return float(centred @ loss / (loss.mean() or 1.0))

    if slope(0.0) <= 0:
        return 0.0
    if slope(_LARGEST) >= 0:
        raise InputError(
            f"no scaling up to a = {_LARGEST:g} makes the losses flat", hint="give a itself, 1 for instance"
        )
    return float(brentq(slope, 0.0, _LARGEST, xtol=1e-6))
