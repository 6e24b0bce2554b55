"""Ratings published elsewhere as observations of strength, each with its own deviation; beyond GLI99.

An official rating is neither the truth nor nothing. Where a table carries one beside each player, a rating that was not
seen before is an observation: with a deviation of its own for somebody new, and another for somebody known, whose own
results say most of what it says. The kernel of the filter does the same in its pass; `Published` holds the numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skilloscope.models.comparison import Moments, observed
from skilloscope.models.kernels.comparison import Published

Array = npt.NDArray[np.float64]


def with_published(
    moments: Moments, rating: Array, seen: Array, *, new: npt.NDArray[np.bool_], published: Published
) -> Moments:
    """Return means and variances after looking at published ratings, 0 where there is none; `seen` are the last ones.

    >>> known = (np.array([2400.0]), np.array([60.0**2]))
    >>> fresh = Published(slope=1.0, deviation=60.0, trend=0.0)
    >>> with_published(known, np.array([2500.0]), np.array([2480.0]), new=np.array([False]), published=fresh)
    (array([2450.]), array([1800.]))
    """
    p, (mean, variance) = published, moments
    said = p.origin + p.slope * (rating - p.origin)
    trend = np.where(seen > 0, p.trend * (rating - seen), 0.0)
    later = observed(mean, variance, said + trend, p.deviation)
    first = said + p.newcomer
    spread = p.entry**2 * np.exp(-p.weak * (first - p.origin) / 400)
    told = (rating > 0) & (rating != seen)
    enters = new & (rating > 0)
    return tuple(
        np.where(enters, entering, np.where(told & ~new, after, before))
        for entering, after, before in zip((first, spread), later, moments, strict=True)
    )  # type: ignore[return-value]
