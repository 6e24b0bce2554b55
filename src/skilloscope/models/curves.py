"""The models of RH11: loss curves, the mapping from curves to probabilities, and both as a model of decisions.

A curve turns a loss δ into g(δ), decreasing from 1, with a sensitivity s and a competence c. [RH11 sect. 4]

A mapping turns the values g of a decision's alternatives into probabilities. [RH11 sect. 3] With L = log(1/p_0) each
says what log p is where log g is given; L is then the number at which the probabilities sum to 1. It lies between log m
and log n where m of the n alternatives are tied for best (a weight counts as so many). Shares may be conditioned on a
list; powers and the third model need every alternative, or a stand-in for those that were not listed.

`CurveModel` adds the evaluation scaling and the rule for unlisted alternatives. The fast twins are in `kernels.curves`.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import logsumexp, wrightomega

from skilloscope.core.columns import About, Array, Bools, Ints, ragged_take
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions, Losses
from skilloscope.models.agent import RULES, Bucket, ChoiceSets, choice_sets, fit_bucket
from skilloscope.models.joint import scaled_decisions

_LOG_2 = float(np.log(2.0))
_LOG_ZERO = -1e5
"""The logarithm that a loss of nothing gets: so low that (δ/s)^c is 0 for every c of use, and still a number."""


@dataclass(frozen=True)
class LossCurve:
    """A family of curves g(δ), decreasing from g(0) = 1, with a sensitivity s and a competence c."""

    log_value: Callable[[Array, Array | float], Array]  # log g where log(δ/s) and c are given

    def log_g(self, losses: npt.ArrayLike, s: npt.ArrayLike, c: npt.ArrayLike) -> Array:
        """Return log g_{s,c}(δ) of losses.

        >>> np.round(curve("invexp").log_g([0.1, 0.4], 0.1, 0.5), 3)
        array([-1., -2.])
        """
        return self.log_value(log_losses(losses) - np.log(np.asarray(s, dtype=float)), np.asarray(c, dtype=float))


def invexp(log_ratio: Array, c: Array | float) -> Array:
    """invexp(δ) = e^−(δ/s)^c, inverse-exponential: the paper standardised its results on it. [RH11 sect. 4]"""
    return np.asarray(-np.exp(c * log_ratio))


def ipa(log_ratio: Array, c: Array | float) -> Array:
    """ipa(δ) = 1 / (1 + (δ/s)^c), inverse-polynomial with the power inside. [RH11 sect. 4]"""
    return np.asarray(-np.logaddexp(0.0, c * log_ratio))


def ipb(log_ratio: Array, c: Array | float) -> Array:
    """ipb(δ) = 1 / (1 + δ/s)^c, inverse-polynomial with the power outside: the agent's own curve. [RH11 sect. 4]"""
    return np.asarray(-c * np.logaddexp(0.0, log_ratio))


def secha(log_ratio: Array, c: Array | float) -> Array:
    """secha(δ) = 2 / (e^(δ/s)^c + e^−(δ/s)^c), a hyperbolic secant, related to the logistic. [RH11 sect. 4]"""
    u = np.exp(c * log_ratio)
    return np.asarray(_LOG_2 - u - np.log1p(np.exp(-2 * u)))


def sechb(log_ratio: Array, c: Array | float) -> Array:
    """sechb(δ) = 4 / (e^(δ/s)^c + 2 + e^−(δ/s)^c), the derivative of the logistic. [RH11 sect. 4]"""
    u = np.exp(c * log_ratio)
    return np.asarray(2 * _LOG_2 - u - 2 * np.log1p(np.exp(-u)))


CURVES = {made.__name__: LossCurve(made) for made in (invexp, ipa, ipb, secha, sechb)}
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


LEAST_LOG_G = 690.0
"""1/g is a number down to g = e^−690 = 1e-300; in powers and the third model a smaller g counts as that."""


@dataclass(frozen=True)
class Relation:
    """A relation r(p_i, p_0) = g(δ_i), as a way from log g and L = log(1/p_0) to log p."""

    log_probability: Callable[[Array, Array | float], Array]  # log p_i from log g(δ_i) and L = log(1/p_0)
    independent: bool = False  # whether the odds of two alternatives do not depend on any third one

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


def shares(log_g: Array, surprise: Array | float) -> Array:
    """p_i = p_0·g(δ_i): each alternative's probability is its share of the sum of all g. [RH11 sect. 3, model 1]"""
    return np.asarray(log_g - surprise)


def powers(log_g: Array, surprise: Array | float) -> Array:
    """p_i = p_0^(1/g(δ_i)): it decays exponentially from the best to an inferior one. [RH11 sect. 3, model 2]"""
    return np.asarray(-surprise * np.exp(np.minimum(-log_g, LEAST_LOG_G)))


def third(log_g: Array, surprise: Array | float) -> Array:
    """p_i·log(1/p_0) / (p_0·log(1/p_i)) = g(δ_i): the product of the two ratios above. [RH11 sect. 3, model 3]

    With ℓ = log(1/p_i) it reads ℓ + log ℓ = L + log L − log g: ℓ is Wright's ω of the right side.
    """
    return np.asarray(-wrightomega(surprise + np.log(surprise) + np.minimum(-log_g, LEAST_LOG_G)))


MAPPINGS = {"shares": Relation(shares, independent=True), "powers": Relation(powers), "third": Relation(third)}
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


@dataclass(frozen=True)
class CurveModel:
    """Shares, powers or the third model with one of the five curves. The paper's own choice is shares and invexp.

    >>> CurveModel(mapping="powers").warnings()[0]
    'powers needs every alternative: under the rule listed it describes a choice among the listed alone'
    """

    mapping: str = "shares"
    curve: str = "invexp"
    rule: str = "listed"
    scaling: float = 1.0  # a of ℓ(z) = 1/(1 + a|z|); 0 is none
    bucket: Bucket | None = None

    def __post_init__(self) -> None:
        mapping(self.mapping)
        curve(self.curve)
        if self.rule not in RULES:
            raise OptionError(f"no choice-set rule {self.rule!r}", hint=f"the rules: {', '.join(RULES)}")

    @property
    def name(self) -> str:
        """The mapping and the curve."""
        return f"{self.mapping} {self.curve}"

    def prepared(self, decisions: Decisions) -> "CurveModel":
        """Return the model with everything fitted that its rule needs from these decisions."""
        if self.rule == "bucket" and self.bucket is None:
            return replace(self, bucket=fit_bucket(scaled_decisions(decisions, self.scaling)))
        return self

    def columns(self, decisions: Decisions | Losses) -> "tuple[CurveColumns, Tally]":
        """Return the decisions as the fits read them, and what the rule leaves out."""
        if isinstance(decisions, Losses):
            raise InputError(
                "losses are two numbers a move, not choice sets: the curves cannot read them",
                hint="analyse the games so that every alternative has a value, or use the single-PV control",
            )
        flat = decisions if decisions.values.ndim == 1 else decisions.at_depths()
        sets = choice_sets(scaled_decisions(flat, self.scaling), self.rule, bucket=self.bucket)
        return CurveColumns.from_sets(sets, flat.chosen == 0), sets.tally

    def warnings(self) -> list[str]:
        """Return a warning about the mapping under the rule, if any."""
        if mapping(self.mapping).independent or self.rule == "full":
            return []
        what = "describes a choice among the listed alone" if self.rule == "listed" else "is an approximation"
        return [f"{self.mapping} needs every alternative: under the rule {self.rule} it {what}"]

    def about(self) -> About:
        """Return what must accompany every estimate of this model."""
        bucket = {} if self.bucket is None else {"bucket": asdict(self.bucket)}
        named = {"mapping": self.mapping, "curve": self.curve, "scaling": self.scaling, "rule": self.rule}
        return {"model": "curves", **named, **bucket}

    @classmethod
    def from_about(cls, about: About) -> "CurveModel":
        """Return the model that `about` describes."""
        bucket = Bucket(**about["bucket"]) if "bucket" in about else None
        return cls(about["mapping"], about["curve"], about["rule"], about["scaling"], bucket)


@dataclass(frozen=True, eq=False)
class CurveColumns:
    """Choice sets as the kernels read them: logarithms of losses, and which alternatives are better or tied."""

    losses: Array
    log_losses: Array
    offsets: Ints
    ties: Array  # how many alternatives are tied for best
    chosen: Array  # log of the chosen one's loss, the extra alternative's where that was chosen
    chosen_loss: Array
    chosen_weight: Array
    extra: Array
    extra_loss: Array
    extra_weight: Array
    extra_chosen: Bools
    matched: Bools  # whether the first alternative was chosen
    row: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def from_sets(cls, sets: ChoiceSets, matched: Bools | None = None) -> "CurveColumns":
        """Return the columns of choice sets; without `matched` whatever is tied for best counts as a match."""
        chosen_loss = np.where(sets.extra_chosen, sets.extra_loss, sets.chosen_loss)
        ties = np.add.reduceat(sets.losses == 0, sets.offsets[:-1]) if len(sets) else np.zeros(0)
        return cls(
            losses=sets.losses,
            log_losses=log_losses(sets.losses),
            offsets=sets.offsets,
            ties=ties.astype(float),
            chosen=log_losses(chosen_loss),
            chosen_loss=chosen_loss,
            chosen_weight=np.where(sets.extra_chosen, sets.extra_weight, 1.0),
            extra=log_losses(sets.extra_loss),
            extra_loss=sets.extra_loss,
            extra_weight=sets.extra_weight,
            extra_chosen=sets.extra_chosen,
            matched=(sets.chosen_loss == 0) & ~sets.extra_chosen if matched is None else matched[sets.row],
            row=sets.row,
        )

    def part(self, start: int, stop: int) -> "CurveColumns":
        """Return consecutive decisions; nothing is copied but the offsets."""
        flat = slice(self.offsets[start], self.offsets[stop])
        return self._of(slice(start, stop), flat, self.offsets[start : stop + 1] - self.offsets[start])

    def take(self, index: Ints) -> "CurveColumns":
        """Return some decisions, in that order."""
        offsets, flat = ragged_take(self.offsets, index)
        return self._of(index, flat, offsets)

    def _of(self, rows: Ints | slice, flat: Ints | slice, offsets: Ints) -> "CurveColumns":
        own = {name: getattr(self, name)[rows] for name in _BY_ROW}
        return replace(self, losses=self.losses[flat], log_losses=self.log_losses[flat], offsets=offsets, **own)

    def chunks(self, size: int) -> "Iterator[tuple[slice, CurveColumns]]":
        """Yield the decisions piece by piece."""
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            yield slice(start, stop), self.part(start, stop)


_BY_ROW = (
    "ties", "chosen", "chosen_loss", "chosen_weight", "extra", "extra_loss", "extra_weight", "extra_chosen", "matched",
    "row",
)  # fmt: skip
