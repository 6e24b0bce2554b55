"""The s and c at which the predicted match and the predicted mean loss are the observed ones. [RH11 sect. 7]"""

from __future__ import annotations

import numpy as np

from skilloscope.models.kernels.curves import probability_columns
from skilloscope.ratings.intrinsic.balance import Array, FitWork, Found, Limits, balanced


def fit_moments(work: FitWork, start: Array, limits: Limits) -> Found:
    """Set the means of match and loss to those observed, inside the limits."""
    columns, model, starts = work.columns, work.model, work.columns.offsets[:-1]

    def contributions(at: Array) -> Array:
        listed, extra = probability_columns(columns, model.mapping, model.curve, at[0], np.exp(at[1]))
        expected = np.add.reduceat(listed * columns.losses, starts) + extra * columns.extra_loss
        return np.column_stack([columns.matched - listed[starts], columns.chosen_loss - expected])

    return balanced(work, start, limits, contributions, own_units=True)
