"""The models of [RH11 sect. 3]: from the curve's values g to probabilities, by way of the best alternative's.

In: log g of the alternatives of a decision. Out: their probabilities. With L = log(1/p_0) each model says what
log p is where log g is given; L is then the number at which the probabilities sum to 1. L lies between log m and log n
where m of the n alternatives are tied for best (a weight counts as so many), for every p is at most p_0.

Shares has independence of irrelevant alternatives: it may be conditioned on a list. Powers and the third model do not:
they need every alternative, or a stand-in for those that were not listed. The fast twins are in `curve_kernels`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import logsumexp, wrightomega

from skilloscope.core.errors import OptionError

Array = npt.NDArray[np.float64]

LEAST_LOG_G = 690.0
"""1/g is a number down to g = e^−690 = 1e-300; in powers and the third model a smaller g counts as that."""


class Relation(ABC):
    """A relation r(p_i, p_0) = g(δ_i), as a way from log g and L = log(1/p_0) to log p."""

    name: str
    independent: bool = False
    """Whether the odds of two alternatives do not depend on any third one."""

    @abstractmethod
    def log_probability(self, log_g: Array, surprise: Array | float) -> Array:
        """Return log p_i from log g(δ_i) and L = log(1/p_0)."""

    def surprise(self, log_g: Array, weights: Array | None = None) -> float:
        """Return L = log(1/p_0): the number at which the probabilities of one decision sum to 1."""
        weight = np.ones_like(log_g) if weights is None else np.asarray(weights, dtype=float)
        tied = log_g == 0
        least, others = float(np.log(weight[tied].sum())), log_g[~tied]
        if not len(others):
            return least

        def excess(log_x: float) -> float:
            """Return log of what the others take over what the tied best leave, 1 − m·e^−L, at L = log m + x."""
            x = np.exp(log_x)
            taken = logsumexp(self.log_probability(others, least + x), b=weight[~tied])
            return float(taken - np.log(-np.expm1(-x)))

        high = float(np.log(np.log(weight.sum()) - least))
        if excess(high) >= 0:  # the others are as good as the best
            return least + float(np.exp(high))
        if excess(-700.0) <= 0:  # nothing is left for the others, not even 1e-304
            return least + float(np.exp(-700.0))
        return least + float(np.exp(brentq(excess, -700.0, high, xtol=1e-14, rtol=1e-14)))


class Shares(Relation):
    """Each alternative's probability is its share of the sum of all g."""

    name = "shares"
    independent = True

    def log_probability(self, log_g: Array, surprise: Array | float) -> Array:
        """p_i = p_0·g(δ_i). [RH11 sect. 3, model 1]"""
        return np.asarray(log_g - surprise)


class Powers(Relation):
    """The probability decays exponentially from the best alternative to an inferior one."""

    name = "powers"

    def log_probability(self, log_g: Array, surprise: Array | float) -> Array:
        """p_i = p_0^(1/g(δ_i)). [RH11 sect. 3, model 2]"""
        return np.asarray(-surprise * np.exp(np.minimum(-log_g, LEAST_LOG_G)))


class Third(Relation):
    """The product of the two ratios above."""

    name = "third"

    def log_probability(self, log_g: Array, surprise: Array | float) -> Array:
        """p_i·log(1/p_0) / (p_0·log(1/p_i)) = g(δ_i). [RH11 sect. 3, model 3]

        With ℓ = log(1/p_i) it reads ℓ + log ℓ = L + log L − log g: ℓ is Wright's ω of the right side.
        """
        return np.asarray(-wrightomega(surprise + np.log(surprise) + np.minimum(-log_g, LEAST_LOG_G)))


MAPPINGS: dict[str, Relation] = {found.name: found for found in (Shares(), Powers(), Third())}
"""The three models by name, in the paper's order."""


def mapping(name: str) -> Relation:
    """Return the model of that name."""
    if name not in MAPPINGS:
        raise OptionError(f"no mapping {name!r}", hint=f"the mappings: {', '.join(MAPPINGS)}")
    return MAPPINGS[name]


def probabilities(log_g: npt.ArrayLike, model: str = "shares", *, weights: npt.ArrayLike | None = None) -> Array:
    """Return the probabilities of the alternatives of one decision; a weight stands for so many alike.

    >>> for name in MAPPINGS:
    ...     print(name, np.round(probabilities(np.log([1.0, 0.5]), name), 4))
    shares [0.6667 0.3333]
    powers [0.618 0.382]
    third [0.5705 0.4295]
    """
    log_g = np.asarray(log_g, dtype=float)
    relation = mapping(model)
    heaviness = None if weights is None else np.asarray(weights, dtype=float)
    if len(log_g) == 1 and heaviness is None:
        return np.ones(1)
    return np.exp(relation.log_probability(log_g, relation.surprise(log_g, heaviness)))
