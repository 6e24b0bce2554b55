"""Losses: the poorer batch that single evaluations give. Two numbers are not a choice set.

In: [%eval] comments, single-PV analyses. Out: gain and error statistics. The reference agent and the curves need
every alternative's value and refuse this batch with a hint.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.columns import Array, Selection, selection_index
from skilloscope.core.errors import InputError
from skilloscope.decision.decisions import Batch


@dataclass(frozen=True, eq=False, repr=False)
class Losses(Batch):
    """A columnar batch of single evaluations: what the position was worth before and after, the mover's view.

    >>> batch = Losses(("Ann",), np.zeros(2, np.int32), np.array([0.3, 1.0]), np.array([0.3, -0.5]))
    >>> batch.gain
    array([ 0. , -1.5])
    """

    before: npt.NDArray[np.floating[Any]]
    after: npt.NDArray[np.floating[Any]]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.decider) == len(self.before) == len(self.after):
            raise InputError("decider, before and after must have one entry per move")
        if not (np.all(np.isfinite(self.before)) and np.all(np.isfinite(self.after))):
            raise InputError("an evaluation is not finite", hint="leave such moves out and count them")

    def to_arrow(self) -> pa.Table:
        """Return the batch as an Arrow table."""
        return self._table({"before": self.before, "after": self.after}, kind="losses")

    def __repr__(self) -> str:
        return f"<Losses: {len(self):,} of {len(self.deciders):,} deciders; skipped: {self.tally}>"

    @property
    def gain(self) -> Array:
        """g = s_k − s_{k−1}, the mover's view: what the move added to the evaluation. [FER12 Algorithm 1, step 2]"""
        return np.asarray(self.after.astype(float) - self.before.astype(float))

    def select(self, selection: Selection, *, reason: str = "") -> "Losses":
        """Return the selected moves; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        return self._kept(index, reason, before=self.before[index], after=self.after[index])

    @classmethod
    def concat(cls, batches: "Sequence[Losses]") -> "Losses":
        """Return the batches one after another; names are matched and tallies add."""
        if not batches:
            raise InputError("no batches to put together")
        before, after = (np.concatenate([getattr(b, name) for b in batches]) for name in ("before", "after"))
        return cls._stacked(batches, before=before, after=after, about=batches[0].about)
