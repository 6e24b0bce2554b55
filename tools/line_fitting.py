"""Fitting a line from Elo to a parameter: by likelihood, over the evidence of player-games.

Each player-game brings its own curve, so no estimate per game is needed (many would sit at the edge). The line
maximises the sum of the curves read at its points; its covariance is the sandwich over games (both players of a game
share it), and the dispersion is how much more the games scatter about the line than the model alone says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev
from scipy.optimize import minimize

from skilloscope.core.errors import InputError
from skilloscope.evidence import EvidenceTable
from skilloscope.evidence.sources.gain import CAP, ORIGIN, field_scores
from skilloscope.models.gain import GainHistogram

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Line:
    """A fitted line c = intercept + slope·x, its covariance, and the dispersion of the games about it."""

    intercept: float
    slope: float
    covariance: Array
    dispersion: float
    log_likelihood: float
    games: int


def fit_line(table: EvidenceTable, x: npt.ArrayLike, clusters: npt.NDArray[np.integer[Any]]) -> Line:
    """Fit c = a + b·x to evidence rows with covariate x; rows of one cluster (a game) may depend on each other."""
    x = np.asarray(x, dtype=float)
    if len(x) != len(table) or np.ptp(x) == 0:
        raise InputError("a line needs one covariate per row of evidence, and two distinct ones")
    design = np.column_stack([np.ones_like(x), x])
    coefficients = table.grid.coefficients(table.curves.T)

    def cost(beta: Array) -> tuple[float, Array]:
        value, score, _ = _derivatives(table, coefficients, design @ beta)
        return -float(value.sum()), -(design.T @ score)

    fit = minimize(cost, np.array([1.0, 0.0]), jac=True, method="BFGS", options={"gtol": 1e-6 * len(x)})
    _, score, information = _derivatives(table, coefficients, design @ fit.x)
    bread = np.linalg.inv(design.T @ (information[:, None] * design))
    sums = np.zeros((clusters.max() + 1, 2))
    np.add.at(sums, clusters, score[:, None] * design)
    return Line(
        float(fit.x[0]),
        float(fit.x[1]),
        bread @ (sums.T @ sums) @ bread,
        float((score**2).sum() / information.sum()),
        -float(fit.fun),
        len(np.unique(clusters)),
    )


def _derivatives(table: EvidenceTable, coefficients: Array, at: Array) -> tuple[Array, Array, Array]:
    """Return each row's log-likelihood, score and observed information at its own point."""
    grid = table.grid
    half = 0.5 * (grid.high - grid.low)
    unit = np.clip((at - grid.low) / half - 1.0, -1.0, 1.0)
    first, second = chebyshev.chebder(coefficients), chebyshev.chebder(coefficients, 2)
    value = np.asarray(chebyshev.chebval(unit, coefficients, tensor=False), dtype=np.float64)
    score = np.asarray(chebyshev.chebval(unit, first, tensor=False) / half, dtype=np.float64)
    information = np.asarray(-chebyshev.chebval(unit, second, tensor=False) / half**2, dtype=np.float64)
    return value, score, information


def fit_gain_line(losses: Array, elo: Array) -> dict[str, Any]:
    """Return the field of these moves, the line of their expected scores along Elo, and the sd of a move about it."""
    if len(losses) < 3 or np.ptp(elo) == 0:
        raise InputError("a line needs moves of players of different rating", hint="games whose headers have Elo")
    histogram = GainHistogram.from_gains(-np.minimum(losses, CAP))
    own = tuple(histogram.centipawns.tolist()), tuple(histogram.counts.tolist())
    scores = field_scores(losses, *own)
    slope, intercept = np.polyfit(elo - ORIGIN, scores, 1)
    sd = float(np.std(scores - intercept - slope * (elo - ORIGIN)))
    line = {"intercept": float(intercept), "slope": float(slope), "sd": sd}
    return {"centipawns": own[0], "counts": own[1], **line}
