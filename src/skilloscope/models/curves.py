"""The curves g of [RH11 sect. 4]: how much less likely an alternative is, by how much worse it is.

In: losses δ (best value minus value, never negative), the sensitivity s and the competence c of a curve. Out: log g.
`s` has the unit of the losses: pawns in chess. `c` is the exponent of a curve; it is not the competence of the
one-parameter agent of [DFHR09] and [DFH13]. The agent is shares with the curve ipb and s = k.

Everything is worked in logs: log g(0) = 0 exactly, and a huge δ gives a large negative number, never an underflow.
A new curve needs one method, `log_value`, and a place in `CURVES`; every test of the family then runs on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import OptionError

Array = npt.NDArray[np.float64]

_LOG_2 = float(np.log(2.0))
_LOG_ZERO = -1e5
"""The logarithm that a loss of nothing gets: so low that (δ/s)^c is 0 for every c of use, and still a number."""


class LossCurve(ABC):
    """A family of curves g(δ), decreasing from g(0) = 1, with a sensitivity s and a competence c."""

    name: str

    @abstractmethod
    def log_value(self, log_ratio: Array, c: Array | float) -> Array:
        """Return log g where log(δ/s) is given."""

    def log_g(self, losses: npt.ArrayLike, s: npt.ArrayLike, c: npt.ArrayLike) -> Array:
        """Return log g_{s,c}(δ) of losses.

        >>> np.round(curve("invexp").log_g([0.1, 0.4], 0.1, 0.5), 3)
        array([-1., -2.])
        """
        return self.log_value(log_losses(losses) - np.log(np.asarray(s, dtype=float)), np.asarray(c, dtype=float))


class InverseExponential(LossCurve):
    """Inverse-exponential: the family on which the paper standardised its results."""

    name = "invexp"

    def log_value(self, log_ratio: Array, c: Array | float) -> Array:
        """invexp(δ) = e^−(δ/s)^c. [RH11 sect. 4]"""
        return np.asarray(-np.exp(c * log_ratio))


class InversePolynomialA(LossCurve):
    """Inverse-polynomial, the power inside."""

    name = "ipa"

    def log_value(self, log_ratio: Array, c: Array | float) -> Array:
        """ipa(δ) = 1 / (1 + (δ/s)^c). [RH11 sect. 4]"""
        return np.asarray(-np.logaddexp(0.0, c * log_ratio))


class InversePolynomialB(LossCurve):
    """Inverse-polynomial, the power outside: the agent's own curve."""

    name = "ipb"

    def log_value(self, log_ratio: Array, c: Array | float) -> Array:
        """ipb(δ) = 1 / (1 + δ/s)^c. [RH11 sect. 4]"""
        return np.asarray(-c * np.logaddexp(0.0, log_ratio))


class HyperbolicSecantA(LossCurve):
    """Related to the logistic function: a hyperbolic secant."""

    name = "secha"

    def log_value(self, log_ratio: Array, c: Array | float) -> Array:
        """secha(δ) = 2 / (e^(δ/s)^c + e^−(δ/s)^c). [RH11 sect. 4]"""
        u = np.exp(c * log_ratio)
        return np.asarray(_LOG_2 - u - np.log1p(np.exp(-2 * u)))


class HyperbolicSecantB(LossCurve):
    """Related to the logistic function: its derivative."""

    name = "sechb"

    def log_value(self, log_ratio: Array, c: Array | float) -> Array:
        """sechb(δ) = 4 / (e^(δ/s)^c + 2 + e^−(δ/s)^c). [RH11 sect. 4]"""
        u = np.exp(c * log_ratio)
        return np.asarray(2 * _LOG_2 - u - 2 * np.log1p(np.exp(-u)))


CURVES: dict[str, LossCurve] = {
    found.name: found
    for found in (
        InverseExponential(),
        InversePolynomialA(),
        InversePolynomialB(),
        HyperbolicSecantA(),
        HyperbolicSecantB(),
    )
}
"""The five families by name, in the paper's order."""


def curve(name: str) -> LossCurve:
    """Return the family of that name."""
    if name not in CURVES:
        raise OptionError(f"no curve {name!r}", hint=f"the curves: {', '.join(CURVES)}")
    return CURVES[name]


def log_losses(losses: npt.ArrayLike) -> Array:
    """Return log δ; of a loss of nothing a number so low that (δ/s)^c is 0."""
    delta = np.asarray(losses, dtype=float)
    return np.asarray(np.where(delta > 0, np.log(np.where(delta > 0, delta, 1.0)), _LOG_ZERO))
