"""Losses: the poorer batch that single evaluations give. Two numbers are not a choice set.

In: [%eval] comments, single-PV analyses. Out: gain and error statistics. The reference agent and the curves need
every alternative's value and refuse this batch with a hint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.columns import (
    Codes,
    Selection,
    as_context,
    concat_contexts,
    concat_deciders,
    decider_column,
    empty_context,
    group_codes,
    selection_index,
)
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import Framed


@dataclass(frozen=True, eq=False, repr=False)
class Losses(Framed):
    """A columnar batch of single evaluations: what the position was worth before and after, the mover's view.

    >>> batch = Losses(("Ann",), np.zeros(2, np.int32), np.array([0.3, 1.0]), np.array([0.3, -0.5]))
    >>> batch.gain
    array([ 0. , -1.5])
    """

    deciders: tuple[str, ...]
    decider: Codes
    before: npt.NDArray[np.floating[Any]]
    after: npt.NDArray[np.floating[Any]]
    context: pa.Table = field(default_factory=empty_context)
    tally: Tally = field(default_factory=Tally)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", as_context(self.context, len(self)))
        if not len(self.decider) == len(self.before) == len(self.after):
            raise InputError("decider, before and after must have one entry per move")
        if not (np.all(np.isfinite(self.before)) and np.all(np.isfinite(self.after))):
            raise InputError("an evaluation is not finite", hint="leave such moves out and count them")

    def __len__(self) -> int:
        return len(self.before)

    def to_arrow(self) -> pa.Table:
        """Return the batch as an Arrow table."""
        from skilloscope.decision.arrow import losses_to_arrow

        return losses_to_arrow(self)

    def __repr__(self) -> str:
        return f"<Losses: {len(self):,} of {len(self.deciders):,} deciders; skipped: {self.tally}>"

    @property
    def gain(self) -> npt.NDArray[np.float64]:
        """g = s_k − s_{k−1}, the mover's view: what the move added to the evaluation. [FER12 Algorithm 1, step 2]"""
        return np.asarray(self.after.astype(float) - self.before.astype(float))

    def select(self, selection: Selection, *, reason: str = "") -> Losses:
        """Return the selected moves; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        tally = self.tally + Tally({reason: len(self) - len(index)} if reason and len(index) < len(self) else {})
        return replace(
            self,
            decider=self.decider[index],
            before=self.before[index],
            after=self.after[index],
            context=self.context.take(index),
            tally=tally,
        )

    def groups(self, by: str = "decider") -> tuple[list[Any], Codes]:
        """Return the labels of the groups that a column makes, and each move's group."""
        if by in ("decider", "player"):
            return group_codes([decider_column(self)])
        return group_codes([self.context.column(by)])

    def group_by(self, by: str = "decider") -> dict[Any, Losses]:
        """Return one batch per group, in order of first appearance."""
        labels, codes = self.groups(by)
        return {label: self.select(np.flatnonzero(codes == code)) for code, label in enumerate(labels)}

    @classmethod
    def concat(cls, batches: Sequence[Losses]) -> Losses:
        """Return the batches one after another; names are matched and tallies add."""
        if not batches:
            raise InputError("no batches to put together")
        names, codes = concat_deciders(batches)
        return cls(
            deciders=names,
            decider=codes,
            before=np.concatenate([batch.before for batch in batches]),
            after=np.concatenate([batch.after for batch in batches]),
            context=concat_contexts([b.context for b in batches], [len(b) for b in batches]),
            tally=Tally.sum(batch.tally for batch in batches),
            about=batches[0].about,
        )
