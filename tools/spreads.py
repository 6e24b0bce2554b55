"""Spreads for trying estimators: those of exported analyses, and how much decisions on given ones tell about c."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.engine.lines import last_depth
from skilloscope.chess.moves import value_pawns
from skilloscope.decision import Decisions
from skilloscope.models.agent import scaled_losses


def fisher_information(spreads: Decisions, c: float, *, k: float = 0.1) -> float:
    """I(c) = Σ Var_p(b) over the decisions, b the scaled loss of what is drawn: the curvature of (2) in logs."""
    b = scaled_losses(spreads.losses(), k=k)
    weight = np.exp(-c * b)
    starts = spreads.offsets[:-1]
    total = np.add.reduceat(weight, starts)
    mean = np.add.reduceat(weight * b, starts) / total
    return float((np.add.reduceat(weight * b * b, starts) / total - mean**2).sum())


def exported_spreads(path: str | os.PathLike[str], *, max_abs_value: float = 3.0) -> Decisions:
    """Return the positions of an export as decisions nobody has made yet: values in pawns, the first chosen.

    Positions whose best value lies beyond ± `max_abs_value` pawns are left out and counted.
    """
    export = read_export(path)
    answers = [last_depth(row.lines) for row in export.rows]
    values = [value_pawns(answer["mate"], answer["score"]).tolist() for answer in answers]
    legal = [row.n_legal for row in export.rows]
    batch = Decisions.from_lists(["nobody"] * len(values), values, [0] * len(values), n_legal=legal)
    batch = replace(batch, tally=export.tally, about={"domain": "chess", "settings": dict(export.settings)})
    return batch.select(np.abs(batch.best) <= max_abs_value, reason="decided")
