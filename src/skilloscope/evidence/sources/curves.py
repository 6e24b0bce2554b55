"""RH11's curves as a source of evidence: log p of every choice along the line of sensitivity s and c over Elo.

In: decisions and the scale of the curves. Out: for each group of decisions a curve over −log s, with c as the line has
it, and the same on ELO. [RH11 (1)–(3)]
"""

from collections.abc import Sequence

import numpy as np

from skilloscope.core.columns import Array
from skilloscope.decision import Decisions
from skilloscope.evidence.axis import ELO
from skilloscope.evidence.scales import Scale
from skilloscope.evidence.table import EvidenceTable, Grid
from skilloscope.models.curves import CurveModel
from skilloscope.models.joint import ELO_RANGE
from skilloscope.models.kernels.curves import scores

LEAST_C = 0.05  # c's line is cut off here, far outside the range in which it is fitted
_ELO_RANGE = (400.0, 3600.0)


def curve_evidence(
    decisions: Decisions, scale: Scale, *, by: str | Sequence[str] = "decider", size: int = 32
) -> EvidenceTable:
    """Return each group's evidence about its place on the scale's line: curves over −log s, with c as the line says."""
    model = CurveModel.from_about(scale.model)
    columns, tally = model.columns(decisions)
    labels, codes = decisions.groups(by)
    groups = codes[columns.row]
    low, high = (float(v) for v in scale.parameter(list(_ELO_RANGE)))
    grid = Grid(max(low, 0.0), high, size)
    curves = np.zeros((len(labels), size))
    at = scale.parameters(scale.elo(grid.nodes))
    for j, (s, c) in enumerate(zip(at["s"], np.maximum(at["c"], LEAST_C), strict=True)):
        log_p = scores(columns, model.mapping, model.curve, np.log(s), c).log_p
        curves[:, j] = np.bincount(groups, log_p, len(labels))
    counts = np.bincount(groups, minlength=len(labels)).astype(np.int64)
    return EvidenceTable(grid, labels, curves, counts, decisions.tally + tally, dict(scale.model))


def curves_on_elo(table: EvidenceTable, scale: Scale) -> Array:
    """Return each group's evidence along the scale's line as a curve on ELO; beyond the line's ends it stays."""
    at = np.clip(scale.parameter(np.clip(ELO, *ELO_RANGE)), table.grid.low, table.grid.high)
    return np.asarray(table.grid.interpolate(table.curves.T, at))
