"""The stochastic reference agent R(c): the better an alternative, the likelier; the greater c, the more so.

In: losses (best value minus value, never negative) of the alternatives of a decision. Out: likelihoods, probabilities,
Bayes' rule. `c` is the competence of the one-parameter agent of [DFHR09] and [DFH13]; it is not the exponent of
[RH11]'s curves. The papers use pawns and k = 0.1 pawn; in another domain k scales with the utilities. One readable
numpy function per equation is here; the fast twins are in `kernels`.

A choice set never depends on the choice. How the alternatives that were not listed enter is a named rule, and each is a
proper conditional probability (docs/choice-sets.md):

- `listed`: condition on the list; choices outside it are left out and counted. [DFH13 (6)]
- `bucket`: one more alternative, "something unlisted", of weight n_legal − n_listed, whose loss is fitted: `stretch`
  times the last listed one's plus `drop`. An approximation. [RH11's N + 1]
- `sampled`: one unlisted alternative is valued (the chosen one if unlisted, else one drawn at random) and weighs
  n_legal − n_listed: McFadden's sampling of alternatives, exact. Needs `Decisions.unlisted_value`.
- `full`: every alternative is listed; decisions whose list is not complete are left out and counted.
"""

from dataclasses import asdict, dataclass, field, replace

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import About, Array, Bools, Ints
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions

RULES = ("listed", "bucket", "sampled", "full")


@dataclass(frozen=True)
class Bucket:
    """Where the unlisted alternatives lie: at a loss of stretch·(loss of the last listed) + drop.

    A drop alone is not enough: in sharp positions the unlisted lie further below. Both together are still one place
    for many moves, so c comes out a little off: docs/choice-sets.md has the figures.
    """

    stretch: float
    drop: float

    def loss(self, last: Array) -> Array:
        """Return the loss of the unlisted alternatives from the last listed one's."""
        return self.stretch * last + self.drop


@dataclass(frozen=True, eq=False)
class ChoiceSets:
    """Decisions (`row` says which) ready for a model: losses, and one extra alternative each, of weight 0 if none."""

    losses: Array
    offsets: Ints
    chosen_loss: Array
    extra_loss: Array
    extra_weight: Array
    extra_chosen: Bools
    row: Ints
    tally: Tally = field(default_factory=Tally)

    def __len__(self) -> int:
        return len(self.row)


def choice_sets(decisions: Decisions, rule: str = "listed", *, bucket: Bucket | None = None) -> ChoiceSets:
    """Return the choice sets of the decisions under a rule; what the rule cannot use is left out and counted."""
    single = (decisions.counts == 1) & (decisions.n_legal <= 1)
    usable, reason = _usable(decisions, rule)
    keep = usable & ~single
    kept = decisions if keep.all() else decisions.select(keep)
    n = len(kept)
    losses, offsets = kept.losses(), kept.offsets
    unlisted = np.maximum(kept.n_legal - kept.counts, 0)
    extra_loss, extra_weight = np.zeros(n), np.zeros(n)
    if rule == "bucket":
        if bucket is None:
            raise InputError("the rule bucket needs a fitted bucket", hint="use fit_bucket or Agent.prepared")
        extra_loss, extra_weight = bucket.loss(losses[offsets[1:] - 1]), unlisted.astype(float)
    elif rule == "sampled" and kept.unlisted_value is not None:
        valued = np.isfinite(kept.unlisted_value)
        extra_weight = np.where(valued, unlisted, 0).astype(float)
        # A search restricted to one move is not on the list's scale: it counts as no better than the last listed.
        last = kept.judged[offsets[1:] - 1].astype(float)
        extra = np.minimum(np.where(valued, kept.unlisted_value, last), last)
        extra_loss = kept.best.astype(float) - extra
    chosen_loss, rows = np.nan_to_num(kept.chosen_loss(), nan=0.0), np.flatnonzero(keep)
    tally = Tally()
    tally.count("single alternative", int(single.sum()))
    tally.count(reason, int((~usable & ~single).sum()))
    return ChoiceSets(
        losses, offsets, chosen_loss, extra_loss, extra_weight, extra_chosen=~kept.listed, row=rows, tally=tally
    )


def _usable(decisions: Decisions, rule: str) -> tuple[Bools, str]:
    """Return which decisions the rule can use, and the reason for the others."""
    if rule == "listed":
        return decisions.listed, "unlisted choice"
    if rule == "full":
        return decisions.n_legal == decisions.counts, "incomplete list"
    if rule == "bucket":
        return (decisions.n_legal > 0) & (decisions.listed | (decisions.n_legal > decisions.counts)), "n_legal unknown"
    if rule == "sampled":
        complete = decisions.n_legal == decisions.counts
        valued = np.zeros(len(decisions), dtype=bool)
        if decisions.unlisted_value is not None:
            valued = np.isfinite(decisions.unlisted_value) & (decisions.n_legal > decisions.counts)
        return complete | valued, "no unlisted alternative valued"
    raise OptionError(f"no choice-set rule {rule!r}", hint=f"the rules: {', '.join(RULES)}")


@dataclass(frozen=True)
class Agent:
    """The agent as a model of decisions: its k and the rule by which unlisted alternatives enter.

    `bucket` belongs to the rule of that name: where the unlisted alternatives lie. Where it is not given it is fitted
    on the decisions at hand.
    """

    k: float = 0.1
    rule: str = "listed"
    bucket: Bucket | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.k) and self.k > 0):
            raise OptionError(f"k must be a positive number, got {self.k}")
        if self.rule not in RULES:
            raise OptionError(f"no choice-set rule {self.rule!r}", hint=f"the rules: {', '.join(RULES)}")

    def prepared(self, decisions: Decisions) -> "Agent":
        """Return the agent with everything fitted that its rule needs from these decisions."""
        if self.rule == "bucket" and self.bucket is None:
            return replace(self, bucket=fit_bucket(decisions, self.k))
        return self

    def choice_sets(self, decisions: Decisions) -> ChoiceSets:
        """Return the decisions as choice sets under the agent's rule, what the rule leaves out counted."""
        return choice_sets(decisions, self.rule, bucket=self.bucket)

    def about(self) -> About:
        """Return what must accompany every estimate of this model."""
        bucket = {} if self.bucket is None else {"bucket": asdict(self.bucket)}
        return {"model": "agent", "parameter": "c", "k": self.k, "rule": self.rule, **bucket}

    @classmethod
    def from_about(cls, about: About, *, rule: str | None = None) -> "Agent":
        """Return the agent that `about` describes, under its rule or another."""
        rule = rule or about["rule"]
        bucket = Bucket(**about["bucket"]) if rule == "bucket" and "bucket" in about else None
        return cls(about["k"], rule, bucket)


def likelihood(losses: npt.ArrayLike, c: float, *, k: float = 0.1) -> Array:
    """L(a|c) = (u(a*) − u(a) + k)^−c. [DFH13 (1), DFHR09 (1)]

    >>> likelihood([0.0, 0.9], 2.0)
    array([100.,   1.])
    """
    return np.asarray((np.asarray(losses, dtype=float) + k) ** -c)


def probability(losses: npt.ArrayLike, c: float, *, k: float = 0.1) -> Array:
    """p(a|c) = L(a|c) / Σ L(a_j|c), over the alternatives of one decision, in logs. [DFH13 (2), DFHR09 (2)]

    >>> probability([0.0, 0.1], 1.0)
    array([0.66666667, 0.33333333])
    """
    relative = np.exp(-c * scaled_losses(losses, k=k))
    return np.asarray(relative / relative.sum())


def scaled_losses(losses: npt.ArrayLike, *, k: float = 0.1) -> Array:
    """b = log((Δu + k) / k), so that L(a|c) / L(a*|c) = exp(−c·b): the one transformed column that (1) needs."""
    return np.asarray(np.log1p(np.asarray(losses, dtype=float) / k))


def bayes(prior: npt.ArrayLike, evidence: npt.ArrayLike) -> Array:
    """p(c|a) = p(c)·p(a|c) / Σ_c p(c)·p(a|c), on a grid of c. [DFH13 (3), DFHR09 (3)]"""
    joint = np.asarray(prior, dtype=float) * np.asarray(evidence, dtype=float)
    return np.asarray(joint / joint.sum())


def bayes_sequence(prior: npt.ArrayLike, evidences: npt.ArrayLike) -> Array:
    """Apply (3) event by event, each posterior the next prior. [DFH13 (4), DFHR09 (4)]

    The papers' own loop, kept as the oracle of the additive log-likelihood that everything else uses.
    """
    posterior = np.asarray(prior, dtype=float)
    for evidence in np.atleast_2d(np.asarray(evidences, dtype=float)):
        posterior = bayes(posterior, evidence)
    return posterior


def log_likelihood(sets: ChoiceSets, c: npt.ArrayLike, *, k: float = 0.1) -> Array:
    """log p(choice|c) for every choice set (rows) and c (columns); an extra alternative adds w·exp(−c·b)."""
    grid = np.atleast_1d(np.asarray(c, dtype=float))
    listed = np.exp(-np.outer(scaled_losses(sets.losses, k=k), grid))
    total = np.add.reduceat(listed, sets.offsets[:-1], axis=0)
    extra = scaled_losses(sets.extra_loss, k=k)
    total += sets.extra_weight[:, None] * np.exp(-np.outer(extra, grid))
    chosen = np.where(sets.extra_chosen, extra, scaled_losses(sets.chosen_loss, k=k))
    weight = np.where(sets.extra_chosen, sets.extra_weight, 1.0)
    return np.asarray(np.log(weight)[:, None] - np.outer(chosen, grid) - np.log(total))


def fit_bucket(decisions: Decisions, k: float = 0.1) -> Bucket:
    """Return the bucket that makes the decisions likeliest, each decider with a competence of their own."""
    from scipy.optimize import minimize

    sets = choice_sets(decisions, "bucket", bucket=Bucket(1.0, 0.0))
    deciders = np.unique(decisions.decider[sets.row], return_inverse=True)[1]
    last = sets.extra_loss

    def cost(at: Array) -> float:
        moved = replace(sets, extra_loss=Bucket(float(np.exp(at[0])), float(np.exp(at[1]))).loss(last))
        return -_profile_log_likelihood(moved, deciders, k) / max(len(sets), 1)

    # log(stretch), log(drop): the unlisted lie below the list, from a thousandth of k to ten thousand k.
    bounds = [(0.0, np.log(100.0)), (np.log(k * 1e-3), np.log(k * 1e4))]
    start = np.array([np.log(1.5), np.log(5 * k)])
    fit = minimize(cost, start, method="Nelder-Mead", bounds=bounds, options={"xatol": 1e-3, "fatol": 1e-8})
    return Bucket(float(np.exp(fit.x[0])), float(np.exp(fit.x[1])))


def _profile_log_likelihood(sets: ChoiceSets, groups: Ints, k: float) -> float:
    """Return the sum over groups of the largest log-likelihood over c, from curves at equal steps."""
    from skilloscope.models.kernels.choices import curves

    c = np.linspace(0.0, 6.0, 62)
    found = curves(sets, groups, int(groups.max()) + 1, c, k=k)
    peak = np.clip(found.argmax(axis=1), 1, len(c) - 2)
    rows = np.arange(len(found))
    left, middle, right = found[rows, peak - 1], found[rows, peak], found[rows, peak + 1]
    # The top of the parabola through the three highest points: the steps are coarse, the peak may be narrow.
    bend = np.minimum(left - 2 * middle + right, -1e-300)
    return float((middle - 0.125 * (right - left) ** 2 / bend).sum())
