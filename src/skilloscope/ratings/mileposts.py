"""Elo mileposts: the round figures, 2400 or 2500, near which players are taken as one. [DFHR09 V.A, RH11 sect. 5]

In: decisions of rated players, or ratings as columns. Out: the milepost of each. There is one rule: a milepost is the
nearest multiple of the step, midway the one above. What differs between the papers are the parameters: how near a
rating must be, and whether the opponent must be near the same milepost too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.errors import OptionError
from skilloscope.decision import Decisions

MILEPOST = "milepost"

Array = npt.NDArray[np.float64]


def nearest_milepost(elo: npt.ArrayLike, step: float = 100.0) -> Array:
    """Return the nearest multiple of a step; midway the one above, NaN where the rating is unknown.

    >>> nearest_milepost([2449, 2450, float("nan")]).tolist()
    [2400.0, 2500.0, nan]
    """
    return np.asarray(np.floor(np.asarray(elo, dtype=float) / step + 0.5) * step)


def shared_milepost(elo: Array, other: Array, within: float) -> Array:
    """Return the milepost nearest to a rating, NaN where it or the other one is farther from it than `within`."""
    post = nearest_milepost(elo)
    return np.where((np.abs(elo - post) <= within) & (np.abs(other - post) <= within), post, np.nan)


def beyond_reason(within: float) -> str:
    """Return the name under which players beside every milepost are counted."""
    return f"beyond ±{within:g} Elo of a milepost"


def with_mileposts(
    decisions: Decisions, within: float | None = 10.0, *, both: bool = True, reason: str | None = None
) -> Decisions:
    """Return the decisions of players near a milepost, with a column that names it.

    DFHR09 and DFH13 take games "in which both players had Elo ratings within 10 points of some Elo figure"; RH11 asks
    for the mover's rating alone (`both=False`). Where `within` is None nobody is left out, and the milepost of an
    unrated mover is null. Unrated players and those beside every milepost are counted apart, or under one `reason`.
    """
    own = _ratings(decisions, "elo")
    if within is None:
        return _with_column(decisions, nearest_milepost(own))
    if not 0 <= within < 50:
        raise OptionError(f"a tolerance lies between 0 and 50 Elo points, got {within:g}")
    other = _ratings(decisions, "opponent_elo") if both else own
    post, rated = shared_milepost(own, other, within), ~np.isnan(own + other)
    near = ~np.isnan(post)
    if reason is not None:
        return _with_column(decisions.select(near, reason=reason), post[near])
    kept = decisions.select(rated, reason="no rating").select(near[rated], reason=beyond_reason(within))
    return _with_column(kept, post[near])


def _with_column(decisions: Decisions, post: Array) -> Decisions:
    posts = pa.array(np.nan_to_num(post).astype(np.int32), mask=np.isnan(post))
    others = [name for name in decisions.context.column_names if name != MILEPOST]
    return replace(decisions, context=decisions.context.select(others).append_column(MILEPOST, posts))


def _ratings(decisions: Decisions, name: str) -> Array:
    column = decisions.column(name).cast(pa.float64())
    return np.asarray(pc.fill_null(column, np.nan).to_numpy(), dtype=np.float64)
