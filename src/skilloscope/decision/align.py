"""Two sets of decisions to compare: the same choices under two judges, or one batch divided at a date or by a column.

Under two judges decisions are matched by identity and alternatives by name, never by their place. What only one judge
listed is left out for both: conditioning on the alternatives in common is exact for the agent, and the two
log-likelihoods are of the same event.
"""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.columns import Bools, Ints
from skilloscope.core.dates import read_date
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision.decisions import LABELS, UNLISTED, Decisions, group_codes, label_lists

IDENTITY = ("game", "ply", "turn", "problem", "fen", "position", "dice")
"""The context columns that, together with the decider, say which decision it is; those that both tables have count."""

Flat = npt.NDArray[np.floating[Any]]


def align(first: Decisions, second: Decisions) -> tuple[Decisions, Decisions]:
    """Return the decisions that are in both batches, over the alternatives that both list.

    >>> one = Decisions.from_lists(["Ann"], [[3.0, 2.0, 1.0]], [1], context={"problem": [7], LABELS: [["a", "b", "c"]]})
    >>> two = Decisions.from_lists(["Ann"], [[5.0, 9.0]], [0], context={"problem": [7], LABELS: [["b", "a"]]})
    >>> [batch.judged.tolist() for batch in align(one, two)], [batch.chosen.tolist() for batch in align(one, two)]
    ([[3.0, 2.0], [9.0, 5.0]], [[1], [1]])
    """
    rows, tally = _common_rows(first, second, _identity(first, second))
    one, two = (
        replace(batch.select(at), tally=Tally())
        for batch, at in zip((first.at_depths(), second.at_depths()), rows, strict=True)
    )
    # A number for every alternative of either batch: equal where the row and the name are.
    flat = [label_lists(batch.column(LABELS), batch.offsets).cast(pa.string()) for batch in (one, two)]
    encoded = pc.dictionary_encode(pa.chunked_array(flat).combine_chunks())
    codes = np.split(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), [len(flat[0])])
    size = len(encoded.dictionary) + 1
    keys = [np.repeat(np.arange(len(b)), b.counts) * size + own for b, own in zip((one, two), codes, strict=True)]
    keep = np.isin(keys[0], keys[1]), np.isin(keys[1], keys[0])
    chosen = []  # the number of each choice's alternative, −1 where it is not listed
    for batch, key in zip((one, two), keys, strict=True):
        at = batch.offsets[:-1] + np.maximum(batch.chosen, 0)
        chosen.append(np.where(batch.listed, key[at], -1))
    known = (chosen[0] >= 0) & (chosen[1] >= 0)
    differ = known & (chosen[0] != chosen[1]) & np.isin(chosen[0], keys[1]) & np.isin(chosen[1], keys[0])
    listed = known & (chosen[0] == chosen[1])
    several = np.add.reduceat(keep[0].astype(np.int64), one.offsets[:-1]) >= 2
    tally.count("different choices recorded", int(differ.sum()))
    tally.count("choice not on both lists", int((~listed & ~differ).sum()))
    tally.count("fewer than two alternatives in common", int((listed & ~several).sum()))
    use = listed & several
    pair = tuple(kept_alternatives(batch, mask, rows=use) for batch, mask in zip((one, two), keep, strict=True))
    return pair[0].with_tally(first.tally + tally), pair[1].with_tally(second.tally + tally)


def depth_pair(batch: Decisions, first: int, second: int) -> tuple[Decisions, Decisions]:
    """Return the same choices as two depths of one judge value them, over the alternatives that both depths list."""
    values = [_depth_values(batch, depth) for depth in (first, second)]
    keep = np.isfinite(values[0]) & np.isfinite(values[1])
    listed = batch.listed.copy()
    listed[listed] = keep[batch.offsets[:-1][listed] + batch.chosen[listed]]
    several = np.add.reduceat(keep.astype(np.int64), batch.offsets[:-1]) >= 2
    tally = Tally()
    tally.count("choice not on both lists", int((~listed).sum()))
    tally.count("fewer than two alternatives in common", int((listed & ~several).sum()))
    pair = [kept_alternatives(batch, keep, value, rows=listed & several) for value in values]
    return pair[0].with_tally(tally), pair[1].with_tally(tally)


def at_depth(batch: Decisions, depth: int) -> Decisions:
    """Return the judge's list as this depth values it; an alternative without a value there is not listed."""
    values = _depth_values(batch, depth)
    keep = np.isfinite(values)
    several = np.add.reduceat(keep.astype(np.int64), batch.offsets[:-1]) >= np.minimum(batch.counts, 2)
    kept = kept_alternatives(batch, keep, values, rows=several)
    tally = Tally()
    tally.count(f"fewer than two alternatives valued at depth {depth}", int((~several).sum()))
    return kept.with_tally(tally)


def kept_alternatives(batch: Decisions, keep: Bools, values: Flat | None = None, *, rows: Bools) -> Decisions:
    """Return the decisions `rows` with only the alternatives `keep` of each, valued and ordered by `values`."""
    if not rows.any():
        raise InputError("no decision is left that both engines valued", hint="docs/domains.md says what must match")
    mask = keep & np.repeat(rows, batch.counts)
    counts = np.add.reduceat(mask.astype(np.int64), batch.offsets[:-1])
    place = np.cumsum(mask) - 1
    starts = np.cumsum(counts) - counts
    chosen = np.full(len(batch), UNLISTED, dtype=np.int64)
    at = batch.offsets[:-1] + np.maximum(batch.chosen, 0)
    listed = batch.listed & mask[at]
    chosen[listed] = place[at[listed]] - starts[listed]
    context = batch.context.filter(pa.array(rows))
    if LABELS in context.column_names:
        labels = label_lists(batch.context.column(LABELS), batch.offsets).filter(pa.array(mask))
        offsets = np.concatenate([[0], np.cumsum(counts[rows])]).astype(np.int64)
        named = pa.LargeListArray.from_arrays(pa.array(offsets), labels)
        context = context.set_column(context.schema.get_field_index(LABELS), LABELS, named)
    return Decisions.from_columns(
        (batch.deciders, batch.decider[rows]),
        (batch.judged if values is None else values)[mask],
        counts[rows],
        chosen[rows],
        # A choice among alternatives that are gone proves that more existed than are listed now.
        np.where((chosen < 0) & (batch.n_legal <= counts), 0, batch.n_legal)[rows],
        context=context,
        tally=batch.tally,
        about=batch.about,
    )


def _depth_values(batch: Decisions, depth: int) -> Flat:
    if depth not in batch.depths:
        known = ", ".join(map(str, batch.depths)) or "none"
        raise InputError(f"no values at depth {depth}", hint=f"the depths here: {known}")
    return np.asarray(batch.values[:, batch.depths.index(depth)])


def _identity(first: Decisions, second: Decisions) -> list[str]:
    common = set(first.context.column_names) & set(second.context.column_names)
    names = [name for name in IDENTITY if name in common]
    if not names:
        raise InputError(
            "the tables have no column in common that says which decision is which",
            hint=f"both need one or more of: {', '.join(IDENTITY)}",
        )
    if LABELS not in common:
        raise InputError(
            f"the alternatives have no names, so those of one table cannot be found in the other: no column {LABELS}",
            hint="`decisions convert` and long CSV tables with the column `alternative` have them",
        )
    return ["decider", *names]


def _common_rows(first: Decisions, second: Decisions, names: list[str]) -> tuple[tuple[Ints, Ints], Tally]:
    columns = [
        pa.chunked_array(
            [batch.column(name).cast(pa.string()).combine_chunks() for batch in (first, second)], type=pa.string()
        )
        for name in names
    ]
    codes = group_codes(columns)[1]
    parts = codes[: len(first)], codes[len(first) :]
    tally = Tally()
    once = []
    for part, word in zip(parts, ("first", "second"), strict=True):
        repeated = np.bincount(part, minlength=int(codes.max()) + 1)[part] > 1
        tally.count(f"decision more than once in the {word} table", int(repeated.sum()))
        once.append(np.flatnonzero(~repeated))
    _, at, to = np.intersect1d(parts[0][once[0]], parts[1][once[1]], assume_unique=True, return_indices=True)
    tally.count("only in the first table", len(once[0]) - len(at))
    tally.count("only in the second table", len(once[1]) - len(to))
    if not len(at):
        raise InputError("the tables have no decision in common", hint=f"matched by: {', '.join(names)}")
    return (once[0][at], once[1][to]), tally


UNDATED = "date not known well enough for the split"


def split_decisions(
    decisions: Decisions, at: str | None = None, by: str | None = None, values: Sequence[str] | None = None
) -> tuple[Decisions, Decisions, tuple[str, str]]:
    """Return both sides of a split at a day or by a column, and their labels."""
    if at is not None:
        return *split_by_date(decisions, at), (f"before {at}", f"from {at} on")
    first, second, found = split_by_column(decisions, by or "", values)
    return first, second, (f"{by} {found[0]}", f"{by} {found[1]}")


def split_by_date(decisions: Decisions, at: str) -> tuple[Decisions, Decisions]:
    """Return the decisions before a day and those from it on; those whose date is too vague are counted."""
    day = first_day(at)
    dates = [read_date(str(date)) if date is not None else None for date in decisions.column("date").to_pylist()]
    before = np.array([date is not None and date.last < day for date in dates], dtype=bool)
    after = np.array([date is not None and date.first >= day for date in dates], dtype=bool)
    if not (before.any() and after.any()):
        known = [date for date in dates if date is not None]
        hint = "no decision has a date: split by another column"
        if known:
            low, high = min(date.first for date in known), max(date.last for date in known)
            hint = f"the dates reach from {low} to {high}; split between them"
        raise InputError(f"no decision {f'from {at} on' if before.any() else f'before {at}'}", hint=hint)
    return _two_parts(decisions, before, after, UNDATED)


def first_day(at: str) -> datetime.date:
    """Return the day at which a split begins; a date that no calendar has is refused.

    >>> first_day("2006-07")
    datetime.date(2006, 7, 1)
    """
    date = read_date(at)
    if date is None:
        raise OptionError(f"{at!r} is not a date", hint="write YYYY-MM-DD, YYYY-MM or YYYY")
    return date.first


def split_by_column(
    decisions: Decisions, column: str, values: Sequence[str] | None = None
) -> tuple[Decisions, Decisions, tuple[str, str]]:
    """Return the decisions of the two values of a column (`values` says which) and what the values are."""
    cells = decisions.column(column).to_pylist()
    known: list[Any] = list(dict.fromkeys(cell for cell in cells if cell is not None))
    texts = [str(value) for value in sorted(known, key=lambda value: (str(type(value)), value))]
    one, other = chosen_values(texts, values, column)
    first, second = (
        np.array([cell is not None and str(cell) == v for cell in cells], dtype=bool) for v in (one, other)
    )
    return *_two_parts(decisions, first, second, f"{column} is neither {one} nor {other}"), (one, other)


def chosen_values(texts: Sequence[str], values: Sequence[str] | None, column: str) -> list[str]:
    """Return the two values of a column that are compared: those asked for, or the only two."""
    chosen, few = list(values) if values else list(texts), "; ".join(texts[:10]) + (" …" if len(texts) > 10 else "")
    if missing := [value for value in chosen if value not in texts]:
        raise InputError(f"the column {column!r} has no value {missing[0]!r}", hint=f"its values: {few}")
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise InputError(
            f"the column {column!r} has {len(chosen):,} values, a comparison has two sides",
            hint=f"say which two; its values: {few}",
        )
    return chosen


def _two_parts(decisions: Decisions, first: Bools, second: Bools, reason: str) -> tuple[Decisions, Decisions]:
    """Return both parts; what is in neither is counted. All counts go with the first, so that they add once."""
    counted = decisions.select(first | second, reason=reason).tally
    return replace(decisions.select(first), tally=counted), replace(decisions.select(second), tally=Tally())
