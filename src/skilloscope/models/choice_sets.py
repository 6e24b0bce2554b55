"""Choice sets: how the alternatives that the judge did not list enter, by a named rule.

A choice set never depends on the choice. The engine lists ten moves and people sometimes play another; adding just
the played move makes the probabilities of what could have been played sum to more than one and pulls c far down.
Each rule is a proper conditional probability:

- `listed`: condition on the list; choices outside it are left out and counted. Exact for the agent (independence of
  irrelevant alternatives), it loses the information in blunders. [DFH13 (6) read soberly]
- `bucket`: one more alternative, "something unlisted", of weight n_legal − n_listed, whose loss is fitted: `stretch`
  times the last listed one's plus `drop`. No extra search, but an approximation: with many decisions its intervals are
  narrower than its bias (docs/choice-sets.md). [RH11's N + 1]
- `sampled`: one unlisted alternative is valued (the chosen one if unlisted, else one drawn at random) and weighs
  n_legal − n_listed: McFadden's sampling of alternatives, exact. Needs `Decisions.unlisted_value`.
- `full`: every alternative is listed; decisions whose list is not complete are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skilloscope.core.arrays import Array, Bools, Ints
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
    """Decisions ready for a model: losses of the listed alternatives and one weighted extra alternative each.

    `row` says which decision of the batch each set comes from. Where there is no extra alternative its weight is 0.
    """

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
    chosen_loss = np.nan_to_num(kept.chosen_loss(), nan=0.0)
    tally = Tally()
    tally.count("single alternative", int(single.sum()))
    tally.count(reason, int((~usable & ~single).sum()))
    return ChoiceSets(
        losses,
        offsets,
        chosen_loss,
        extra_loss,
        extra_weight,
        extra_chosen=~kept.listed,
        row=np.flatnonzero(keep),
        tally=tally,
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
