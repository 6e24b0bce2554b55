"""Rate deciders of any domain by the curves: s and c of each, as one dict that the command line and pages send."""

from __future__ import annotations

from typing import Any

import numpy as np

from skilloscope.decision import Decisions
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import CurveColumns, probability_columns
from skilloscope.ratings.intrinsic.balance import Limits
from skilloscope.ratings.intrinsic.fitting import CurveFit, fit_curves

SCHEMA = 1
_REFERENCE = 20_000  # decisions on which the deciders are put in order


def rate_deciders_by_curves(
    batch: Decisions, model: CurveModel, how: str = "likelihood", *, unit: float = 1.0
) -> dict[str, Any]:
    """Return each decider's s and c with standard errors, the least expected loss first, and what was left out.

    `unit` is what a pawn is in the utilities: s is looked for up to twice that.
    """
    model = model.prepared(batch)
    columns, tally = model.columns(batch)
    labels, codes = batch.groups("decider")
    groups = codes[columns.row]
    reference = columns.take(np.arange(0, len(columns), max(1, len(columns) // _REFERENCE)))
    deciders: list[dict[str, Any]] = []
    unrated: list[str] = []
    for code, name in enumerate(labels):
        rows = np.flatnonzero(groups == code)
        if not len(rows):
            unrated.append(str(name))
            continue
        fit = fit_curves(columns.take(rows), model, how, limits=Limits().scaled(unit))
        deciders.append({"decider": name, **fit.as_dict(), "expected_loss": expected_loss(reference, model, fit)})
    deciders.sort(key=lambda row: row["expected_loss"])
    return {
        "schema": SCHEMA,
        "model": model.about(),
        "fit": how,
        "warnings": model.warnings(),
        "deciders": deciders,
        "unrated": unrated,
        "skipped": (batch.tally + tally).as_dict(),
    }


def default_scaling(batch: Decisions) -> float:
    """Return the evaluation scaling that suits the values: a = 1 in chess, where they are pawns; none elsewhere."""
    return 1.0 if batch.about.get("domain") == "chess" else 0.0


def expected_loss(reference: CurveColumns, model: CurveModel, fit: CurveFit) -> float:
    """Return the mean loss that a decider with these s and c would have on the reference decisions."""
    p, extra = probability_columns(reference, model.mapping, model.curve, np.log(fit.s), fit.c)
    return float((p @ reference.losses + extra @ reference.extra_loss) / len(reference))
