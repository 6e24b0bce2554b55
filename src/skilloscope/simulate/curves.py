"""Simulated deciders of the curves: choices by (s, c), one for all or one a decision, or by an Elo along a scale.

The truth is known here, so the fits are judged here first.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.engine.lines import last_depth, value_pawns
from skilloscope.decision import Decisions
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import probability_columns
from skilloscope.ratings.scale import Scale


def simulate_curve_choices(
    spreads: Decisions, s: npt.ArrayLike, c: npt.ArrayLike, *, model: CurveModel | None = None, rng: np.random.Generator
) -> Decisions:
    """Return the same spreads with choices drawn among the listed alternatives; one s and c, or one a decision.

    The losses are scaled as the model says, the values that come out are the unscaled ones.

    >>> from skilloscope.simulate.agents import made_up_spreads
    >>> rng = np.random.default_rng(1)
    >>> simulated = simulate_curve_choices(made_up_spreads(1000, rng=rng), 0.001, 1.0, rng=rng)
    >>> float((simulated.chosen_loss() < 0.02).mean()) > 0.99
    True
    """
    model = replace(model or CurveModel(), rule="full", bucket=None)
    # The decider knows nothing of what was not listed: the list is all there was.
    whole = replace(
        spreads, n_legal=spreads.counts.astype(np.int32), chosen=np.zeros(len(spreads), np.int32), unlisted_value=None
    )
    columns, _ = model.columns(whole)
    sensitivity = np.broadcast_to(np.asarray(s, dtype=float), len(spreads))[columns.row]
    competence = np.broadcast_to(np.asarray(c, dtype=float), len(spreads))[columns.row]
    p, _ = probability_columns(columns, model.mapping, model.curve, np.log(sensitivity), competence)
    chosen = np.zeros(len(spreads), dtype=np.int32)
    ends = np.cumsum(p)
    before = np.concatenate([[0.0], ends])[columns.offsets]
    drawn = before[:-1] + rng.random(len(columns)) * np.diff(before)
    place = np.searchsorted(ends, drawn, side="right")
    chosen[columns.row] = np.clip(place - columns.offsets[:-1], 0, np.diff(columns.offsets) - 1)
    return replace(whole, chosen=chosen)


def simulate_elo_choices(
    spreads: Decisions, elo: npt.ArrayLike, scale: Scale, *, rng: np.random.Generator
) -> Decisions:
    """Return the spreads with choices by players of this Elo (one, or one a decision) along a scale of the curves."""
    at = scale.parameters(elo)
    return simulate_curve_choices(spreads, at["s"], at["c"], model=CurveModel.from_about(scale.model), rng=rng)


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
