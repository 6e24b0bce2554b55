"""Decisions: the centre of the flow. One row per decision, with the values of all its alternatives.

In: engine analyses, tables of any domain, simulation. Out: evidence, through a model.

A decision is: who decided, what each listed alternative was worth (best first, the decider's view), which one
was chosen, and how many alternatives there were in all. The lists are ragged: `values` holds them end to end and
decision i owns `values[offsets[i]:offsets[i + 1]]`. With a depth axis `values` has one column per depth of thought,
shallowest first; the last column is the judgement, and only it must be complete.
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
    encode,
    group_codes,
    ragged_take,
    reorder_labels,
    selection_index,
)
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import Framed

UNLISTED = -1
"""The value of `chosen` where the choice is not among the listed alternatives."""

_PART = 1_000_000  # decisions that are checked at once, so that a check needs no memory of the batch's own size


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(Framed):
    """A columnar batch of decisions.

    >>> batch = Decisions.from_lists(["Ann", "Ann", "Bob"], [[0.3, 0.1], [1.0, 0.9, -2.0], [0.0, 0.0]], [0, 2, 1])
    >>> len(batch), batch.losses()
    (3, array([0. , 0.2, 0. , 0.1, 3. , 0. , 0. ]))
    >>> batch.select(batch.chosen == 0).names()
    ['Ann']
    """

    deciders: tuple[str, ...]
    decider: Codes
    values: npt.NDArray[np.floating[Any]]
    offsets: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int32]
    n_legal: npt.NDArray[np.int32]
    """How many alternatives existed; 0 where unknown."""
    depths: tuple[int, ...] = ()
    unlisted_value: npt.NDArray[np.floating[Any]] | None = None
    """The value of one unlisted alternative (the chosen one if it is unlisted), for the rule `sampled`; else NaN."""
    context: pa.Table = field(default_factory=empty_context)
    tally: Tally = field(default_factory=Tally)
    about: Mapping[str, Any] = field(default_factory=dict)
    """Where the values come from: engine, settings, rules; carried into every report."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", as_context(self.context, len(self)))
        _check(self)

    def to_arrow(self) -> pa.Table:
        """Return the batch as an Arrow table, which `decisions_from_frame` reads back to the bit."""
        from skilloscope.decision.arrow import decisions_to_arrow

        return decisions_to_arrow(self)

    @classmethod
    def from_lists(
        cls,
        deciders: Sequence[str],
        values: Sequence[Sequence[float]],
        chosen: Sequence[int],
        *,
        n_legal: Sequence[int] | None = None,
        context: pa.Table | Mapping[str, Any] | None = None,
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
        order = _best_first(values if values.ndim == 1 else values[:, -1], offsets)
        where = np.empty(len(order), dtype=np.int64)
        where[order] = np.arange(len(order))
        listed = (chosen >= 0) & (chosen < counts)
        moved = np.where(chosen < 0, UNLISTED, chosen).astype(np.int64)
        moved[listed] = where[offsets[:-1][listed] + chosen[listed]] - offsets[:-1][listed]
        if columns.get("context") is not None:
            columns["context"] = reorder_labels(as_context(columns["context"], len(counts)), offsets, order)
        return cls(
            deciders[0],
            deciders[1].astype(np.int32),
            values[order],
            offsets,
            moved.astype(np.int32),
            np.asarray(n_legal).astype(np.int32),
            **columns,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        depths = f", depths {self.depths[0]} to {self.depths[-1]}" if self.depths else ""
        return f"<Decisions: {len(self):,} of {len(self.names()):,} deciders{depths}; skipped: {self.tally}>"

    @property
    def skipped(self) -> dict[str, int]:
        """What was left out and why."""
        return self.tally.as_dict()

    @property
    def counts(self) -> npt.NDArray[np.int64]:
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
    def listed(self) -> npt.NDArray[np.bool_]:
        """Whether the choice is among the listed alternatives."""
        return self.chosen >= 0

    def losses(self) -> npt.NDArray[np.float64]:
        """Return best value minus value for every listed alternative, end to end: never negative."""
        return np.asarray(np.repeat(self.best.astype(float), self.counts) - self.judged.astype(float))

    def chosen_loss(self) -> npt.NDArray[np.float64]:
        """Return the loss of each choice; an unlisted one is NaN (it has no value on the list's scale)."""
        loss = np.full(len(self), np.nan)
        listed = self.listed
        at = self.offsets[:-1][listed] + self.chosen[listed]
        loss[listed] = self.best[listed].astype(float) - self.judged[at].astype(float)
        return loss

    def names(self) -> list[str]:
        """Return the deciders that occur, in order of first appearance."""
        codes, first = np.unique(self.decider, return_index=True)
        return [self.deciders[c] for c in codes[np.argsort(first)]]

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a context column; `decider` (or `player`) is one of them."""
        if name in ("decider", "player"):
            return decider_column(self)
        if name not in self.context.column_names:
            known = ", ".join(["decider", *self.context.column_names])
            raise InputError(f"no column {name!r} to group by", hint=f"the columns here: {known}")
        return self.context.column(name)

    def groups(self, by: str | Sequence[str] = "decider") -> tuple[list[Any], Codes]:
        """Return the labels of the groups that a column (or several) makes, and each decision's group."""
        names = [by] if isinstance(by, str) else list(by)
        return group_codes([self.column(name) for name in names])

    def group_by(self, by: str | Sequence[str] = "decider") -> dict[Any, Decisions]:
        """Return one batch per group, in order of first appearance."""
        labels, codes = self.groups(by)
        if not labels:
            return {}
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(labels)))
        return {
            label: self.select(order[start:end])
            for label, start, end in zip(labels, np.concatenate([[0], ends[:-1]]), ends, strict=True)
        }

    def select(self, selection: Selection, *, reason: str = "") -> Decisions:
        """Return the selected decisions; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        offsets, flat = ragged_take(self.offsets, index)
        tally = self.tally + Tally({reason: len(self) - len(index)} if reason and len(index) < len(self) else {})
        return replace(
            self,
            decider=self.decider[index],
            values=self.values[flat],
            offsets=offsets,
            chosen=self.chosen[index],
            n_legal=self.n_legal[index],
            unlisted_value=None if self.unlisted_value is None else self.unlisted_value[index],
            context=self.context.take(index),
            tally=tally,
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
        names, codes = concat_deciders(batches)
        sizes = np.cumsum([0, *(len(batch.values) for batch in batches)])
        abouts = [dict(batch.about) for batch in batches]
        return cls(
            deciders=names,
            decider=codes,
            values=np.concatenate([batch.values for batch in batches]),
            offsets=np.concatenate([[0], *(b.offsets[1:] + s for s, b in zip(sizes, batches, strict=False))]).astype(
                np.int64
            ),
            chosen=np.concatenate([batch.chosen for batch in batches]),
            n_legal=np.concatenate([batch.n_legal for batch in batches]),
            depths=batches[0].depths,
            unlisted_value=_concat_unlisted(batches),
            context=concat_contexts([b.context for b in batches], [len(b) for b in batches]),
            tally=Tally.sum(batch.tally for batch in batches),
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

    def with_tally(self, tally: Tally) -> Decisions:
        """Return the same decisions with `tally` added to what was left out."""
        return replace(self, tally=self.tally + tally)


def _best_first(judged: npt.NDArray[np.floating[Any]], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the order that puts each decision's alternatives best first; lexsort is stable, so ties stay."""
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((-judged, row))


def _concat_unlisted(batches: Sequence[Decisions]) -> npt.NDArray[np.float64] | None:
    if all(batch.unlisted_value is None for batch in batches):
        return None
    parts = [np.full(len(b), np.nan) if b.unlisted_value is None else b.unlisted_value for b in batches]
    return np.concatenate(parts).astype(float)


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


def is_best_first(judged: npt.NDArray[np.floating[Any]], offsets: npt.NDArray[np.int64]) -> bool:
    """Return whether no value is greater than the one before it in its decision; looked at part by part."""
    for start in range(0, len(offsets) - 1, _PART):
        part = offsets[start : start + _PART + 1]
        rises = np.diff(judged[part[0] : part[-1]]) > 0
        rises[part[1:-1] - part[0] - 1] = False  # a step from one decision to the next
        if rises.any():
            return False
    return True
