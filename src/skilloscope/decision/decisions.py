"""Decisions: the centre of the flow. One row per decision, with the values of all its alternatives.

A decision is: who decided, what each listed alternative was worth (best first, the decider's view), which one
was chosen, and how many alternatives there were in all. The lists are ragged: `values` holds them end to end and
decision i owns `values[offsets[i]:offsets[i + 1]]`. With a depth axis `values` has one column per depth of thought,
shallowest first; the last column is the judgement, and only it must be complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.arrays import Array, Bools, Ints
from skilloscope.core.columns import Codes, Selection, encode, ragged_take, selection_index
from skilloscope.core.errors import InputError
from skilloscope.decision.batch import Batch, as_context, reorder_labels

UNLISTED = -1  # the value of `chosen` where the choice is not among the listed alternatives
_PART = 1_000_000  # decisions that are checked at once, so that a check needs no memory of the batch's own size


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(Batch):
    """A columnar batch of decisions.

    >>> batch = Decisions.from_lists(["Ann", "Ann", "Bob"], [[0.3, 0.1], [1.0, 0.9, -2.0], [0.0, 0.0]], [0, 2, 1])
    >>> len(batch), batch.losses()
    (3, array([0. , 0.2, 0. , 0.1, 3. , 0. , 0. ]))
    >>> batch.select(batch.chosen == 0).names()
    ['Ann']
    """

    values: npt.NDArray[np.floating[Any]]
    offsets: Ints
    chosen: npt.NDArray[np.int32]
    n_legal: npt.NDArray[np.int32]
    """How many alternatives existed; 0 where unknown."""
    depths: tuple[int, ...] = ()
    unlisted_value: npt.NDArray[np.floating[Any]] | None = None
    """The value of one unlisted alternative (the chosen one if it is unlisted), for the rule `sampled`; else NaN."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self)

    def to_arrow(self) -> pa.Table:
        """Return the batch as an Arrow table, which `decisions_from_frame` reads back to the bit."""
        flat = pa.array(np.ascontiguousarray(self.values).reshape(-1))
        items = flat if self.values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, self.values.shape[1])
        columns = {
            "values": pa.LargeListArray.from_arrays(pa.array(self.offsets), items),
            "chosen": self.chosen,
            "n_legal": self.n_legal,
        }
        if self.unlisted_value is not None:
            columns["unlisted_value"] = self.unlisted_value
        return self._table(columns, depths=list(self.depths), kind="decisions")

    @classmethod
    def from_lists(
        cls,
        deciders: Sequence[str],
        values: Sequence[Sequence[float]],
        chosen: Sequence[int],
        *,
        n_legal: Sequence[int] | None = None,
        context: pa.Table | Mapping[str, object] | None = None,
    ) -> Decisions:
        """Build a batch from one list of values per decision, in any order; they are put best first."""
        counts = np.fromiter((len(v) for v in values), dtype=np.int64, count=len(values))
        flat = np.concatenate([np.asarray(v, dtype=float) for v in values]) if len(values) else np.zeros(0)
        legal = counts if n_legal is None else np.asarray(n_legal)
        return cls.from_columns(encode(deciders), flat, counts, np.asarray(chosen), legal, context=context)

    @classmethod
    def from_columns(
        cls,
        deciders: tuple[tuple[str, ...], Codes],
        values: npt.NDArray[np.floating[Any]],
        counts: npt.NDArray[np.integer[Any]],
        chosen: npt.NDArray[np.integer[Any]],
        n_legal: npt.NDArray[np.integer[Any]],
        **columns: Any,
    ) -> Decisions:
        """Build a batch from flat columns, sorting each decision's alternatives best first (ties keep their order).

        A context column `alternatives`, a list of names for each decision, follows its alternatives.
        """
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        judged = values if values.ndim == 1 else values[:, -1]
        chosen = np.where(chosen < 0, UNLISTED, chosen).astype(np.int64)
        if np.all(np.asarray(counts) > 0) and not is_best_first(judged, offsets):
            order = np.lexsort((-judged, np.repeat(np.arange(len(counts)), counts)))  # stable, so ties stay
            where = np.empty(len(order), dtype=np.int64)
            where[order] = np.arange(len(order))
            listed = (chosen >= 0) & (chosen < counts)
            chosen[listed] = where[offsets[:-1][listed] + chosen[listed]] - offsets[:-1][listed]
            values = values[order]
            if columns.get("context") is not None:
                columns["context"] = reorder_labels(as_context(columns["context"], len(counts)), offsets, order)
        names, codes = deciders
        whole = (codes.astype(np.int32), values, offsets, chosen.astype(np.int32), np.asarray(n_legal).astype(np.int32))
        return cls(names, *whole, **columns)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        depths = f", depths {self.depths[0]} to {self.depths[-1]}" if self.depths else ""
        return f"<Decisions: {len(self):,} of {len(self.names()):,} deciders{depths}; skipped: {self.tally}>"

    @property
    def counts(self) -> Ints:
        """How many alternatives each decision lists."""
        return np.diff(self.offsets)

    @property
    def judged(self) -> npt.NDArray[np.floating[Any]]:
        """The values at the last depth: the judgement."""
        return self.values if self.values.ndim == 1 else self.values[:, -1]

    @property
    def best(self) -> npt.NDArray[np.floating[Any]]:
        """The value of each decision's best alternative."""
        return self.judged[self.offsets[:-1]]

    @property
    def listed(self) -> Bools:
        """Whether the choice is among the listed alternatives."""
        return self.chosen >= 0

    def losses(self) -> Array:
        """Return best value minus value for every listed alternative, end to end: never negative."""
        return np.asarray(np.repeat(self.best.astype(float), self.counts) - self.judged.astype(float))

    def loss_with_floor(self) -> Array:
        """Return each choice's loss; an unlisted one counts as the last listed, the least it can have lost."""
        last = self.best.astype(float) - self.judged[self.offsets[1:] - 1].astype(float)
        return np.where(self.listed, np.nan_to_num(self.chosen_loss()), last)

    def chosen_loss(self) -> Array:
        """Return the loss of each choice; an unlisted one is NaN (it has no value on the list's scale)."""
        loss = np.full(len(self), np.nan)
        listed = self.listed
        at = self.offsets[:-1][listed] + self.chosen[listed]
        loss[listed] = self.best[listed].astype(float) - self.judged[at].astype(float)
        return loss

    def select(self, selection: Selection, *, reason: str = "") -> Decisions:
        """Return the selected decisions; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        offsets, flat = ragged_take(self.offsets, index)
        return self._kept(
            index,
            reason,
            values=self.values[flat],
            offsets=offsets,
            chosen=self.chosen[index],
            n_legal=self.n_legal[index],
            unlisted_value=None if self.unlisted_value is None else self.unlisted_value[index],
        )

    @classmethod
    def concat(cls, batches: Sequence[Decisions]) -> Decisions:
        """Return the batches one after another; names are matched, tallies add, contexts may differ in columns."""
        if not batches:
            raise InputError("no batches to put together")
        if len({batch.depths for batch in batches}) > 1:
            raise InputError(
                "batches with different depths cannot be put together",
                hint="give them the same depth axis with at_depths()",
            )
        sizes = np.cumsum([0, *(len(batch.values) for batch in batches)])
        offsets = [[0], *(batch.offsets[1:] + size for size, batch in zip(sizes, batches, strict=False))]
        unlisted = [np.full(len(b), np.nan) if b.unlisted_value is None else b.unlisted_value for b in batches]
        none = all(batch.unlisted_value is None for batch in batches)
        abouts = [dict(batch.about) for batch in batches]
        return cls._stacked(
            batches,
            values=np.concatenate([batch.values for batch in batches]),
            offsets=np.concatenate(offsets).astype(np.int64),
            chosen=np.concatenate([batch.chosen for batch in batches]),
            n_legal=np.concatenate([batch.n_legal for batch in batches]),
            depths=batches[0].depths,
            unlisted_value=None if none else np.concatenate(unlisted).astype(float),
            about=abouts[0] if all(about == abouts[0] for about in abouts) else {"mixed": abouts},
        )

    def at_depths(self, depths: Sequence[int] = ()) -> Decisions:
        """Return the batch with these depths only (the last must be the judgement's); none drops the axis."""
        if not depths:
            return replace(self, values=self.judged.copy(), depths=())
        missing = [d for d in depths if d not in self.depths]
        if missing or depths[-1] != self.depths[-1]:
            raise InputError(f"depths {list(depths)} are not available: the batch has {list(self.depths)}")
        return replace(self, values=self.values[:, [self.depths.index(d) for d in depths]].copy(), depths=tuple(depths))


def _check(batch: Decisions) -> None:
    """Raise where the columns do not fit together: a producer's mistake, not bad data."""
    rows, flat = len(batch), len(batch.values)
    for name in ("decider", "chosen", "n_legal"):
        if len(getattr(batch, name)) != rows:
            raise InputError(f"{name} has {len(getattr(batch, name)):,} entries for {rows:,} decisions")
    if batch.offsets[0] != 0 or batch.offsets[-1] != flat or np.any(np.diff(batch.offsets) < 1):
        raise InputError("every decision must list at least one alternative, and the offsets must span the values")
    if batch.values.ndim == 2 and batch.values.shape[1] != len(batch.depths):
        raise InputError(f"values have {batch.values.shape[1]} depths, {len(batch.depths)} are named")
    if not np.all(np.isfinite(batch.judged)):
        raise InputError("a value is not finite", hint="leave such decisions out and count them")
    if np.any(batch.chosen >= batch.counts):
        raise InputError("a chosen index is out of range", hint=f"unlisted choices are {UNLISTED}")
    if np.any((batch.n_legal > 0) & (batch.n_legal < batch.counts)):
        raise InputError("a decision lists more alternatives than n_legal says there were")
    if np.any((batch.chosen < 0) & (batch.n_legal == batch.counts)):
        raise InputError("a choice is unlisted although every alternative is listed")
    if not is_best_first(batch.judged, batch.offsets):
        raise InputError("alternatives must be best first", hint="build the batch with Decisions.from_columns")


def is_best_first(judged: npt.NDArray[np.floating[Any]], offsets: Ints) -> bool:
    """Return whether no value is greater than the one before it in its decision; looked at part by part."""
    for start in range(0, len(offsets) - 1, _PART):
        part = offsets[start : start + _PART + 1]
        rises = np.diff(judged[part[0] : part[-1]]) > 0
        rises[part[1:-1] - part[0] - 1] = False  # a step from one decision to the next
        if rises.any():
            return False
    return True
