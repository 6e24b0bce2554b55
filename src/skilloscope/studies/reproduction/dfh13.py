"""DFH13: what its printed Table III implies, recomputed from the printed columns.

The seven c̄ themselves need the paper's games and its engine; until they are computed here they are shown as –.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from skilloscope.studies.reproduction.harness import Budget, Entry, Row, paper_table, printed

__all__ = ["DFH13_ENTRIES", "elo_line"]

Array = npt.NDArray[np.float64]

_GRID_STEP = 0.001  # of the credibility regions; see the note of the entry


def elo_line(c: npt.ArrayLike, elo: npt.ArrayLike) -> tuple[float, float]:
    """c2ELO = slope·c̄ + intercept, ordinary least squares of Elo on c̄. [DFH13 VI.A, figure 2b]

    >>> slope, intercept = elo_line([1.0, 1.5], [2000, 3000])
    >>> round(slope), round(intercept)
    (2000, 0)
    """
    slope, intercept = np.polyfit(np.asarray(c, dtype=float), np.asarray(elo, dtype=float), 1)
    return float(slope), float(intercept)


def _regression(_: Budget) -> Sequence[Row]:
    table = paper_table("DFH13_table_III")
    c = np.array([float(row["c"]) for row in table])
    elo = np.array([(int(row["elo_min"]) + int(row["elo_max"])) / 2 for row in table])
    slope, intercept = elo_line(c, elo)
    slack = _rounding_slack(c, elo, printed(table[0]["c"]).half_unit)
    return [
        Row("slope of Elo on c̄", printed("1949.53"), slope, float(slack[0])),
        Row("intercept", printed("32.39"), intercept, float(slack[1])),
    ]


def _columns(_: Budget) -> Sequence[Row]:
    rows: list[Row] = []
    for line in paper_table("DFH13_table_III"):
        sd, root = printed(line["sd"]), float(np.sqrt(int(line["n"])))
        c = printed(line["c"])
        reach = c.half_unit + 1.96 * sd.half_unit + _GRID_STEP
        rows += [
            Row(f"{line['player']} c̄", c),
            Row(f"{line['player']} σ·√N", printed(line["sd_root_n"]), sd.value * root, sd.half_unit * root),
            Row(f"{line['player']} CR min", printed(line["cr_min"]), c.value - 1.96 * sd.value, reach),
            Row(f"{line['player']} CR max", printed(line["cr_max"]), c.value + 1.96 * sd.value, reach),
        ]
    return rows


def _rounding_slack(c: Array, elo: Array, half_unit: float) -> Array:
    """Return how far slope and intercept can move when every printed c̄ is off by half a unit (first order)."""
    step = 1e-6
    base = np.array(elo_line(c, elo))
    moves = [np.array(elo_line(c + step * unit, elo)) - base for unit in np.eye(len(c))]
    return np.asarray(np.abs(np.array(moves)).sum(axis=0) / step * half_unit)


DFH13_ENTRIES = (
    Entry(
        "DFH13.line",
        "c2ELO regression line (figure 2b) from the printed c̄ of Table III",
        _regression,
        "The printed c̄ are rounded to three digits; the tolerance holds what that rounding can do to the line.",
    ),
    Entry(
        "DFH13.III",
        "Table III: columns implied by the printed c̄, σ and N",
        _columns,
        "c̄ needs the paper's games under an engine: – until computed. The printed regions are wider than c̄ ± 1.96σ "
        "by up to 0.0016; a region on a grid of step 0.001, rounded outwards, explains it: the tolerance holds a step.",
    ),
)
