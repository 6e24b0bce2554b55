"""Intrinsic ratings: the Elo of groups of decisions by the curves of RH11, along the scale that ships. [RH11 sect. 8]

In: decisions. Out: for each group a posterior of Elo. The games of each person in it are believed as far as was
measured, and every person has an effect of his own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skilloscope.decision import Decisions
from skilloscope.inference import Posterior
from skilloscope.models.curve_model import CurveModel
from skilloscope.ratings.elo_axis.axis import elo_axis, elo_posterior
from skilloscope.ratings.elo_axis.effects import ELO, Effects, combined
from skilloscope.ratings.mileposts import MILEPOST, with_mileposts
from skilloscope.ratings.scale import Scale, scale
from skilloscope.studies.intrinsic.scale import curve_evidence, curves_on_elo

_GAME = "game"
_WITHIN = 20.0  # points between a rating and its milepost


def with_intrinsic_elo(
    report: Mapping[str, Any], decisions: Decisions, model: CurveModel, *, by: str = MILEPOST, mass: float = 0.95
) -> dict[str, Any]:
    """Return the report of `intrinsic` with each group's Elo and its interval, and with what must be known of it.

    Another model than the scale's has no Elo: the line from s and c to Elo is of one mapping, curve, scaling and rule.
    """
    line, axis = scale("curves"), elo_axis()
    if not scale_fits(model, line):
        said = f"no Elo: the scale that ships is of {line.model['mapping']} with {line.model['curve']}"
        return {**report, "intrinsic_notes": [said], "groups": [{**row, "ipr": None} for row in report["groups"]]}
    found = intrinsic_elo(decisions, by=by)
    rows = []
    for row in report["groups"]:
        elo = found.get(row["group"])
        fields = None if elo is None else {**elo.elo_fields(mass), "extrapolated": axis.extrapolates(elo.mean)}
        rows.append({**row, "ipr": fields})
    settings = decisions.about.get("settings", {})
    prior = f"prior: population, mean {axis.population['mean']:.0f}, sd {axis.population['sd']:.0f}"
    low, high = line.valid
    notes = [
        f"IPR: {axis.axis}, by the curves along the scale {line.name!r} ({line.data}), fitted from {low:.0f} to "
        f"{high:.0f}; {prior} ({axis.population['name']})",
        *line.warnings({**model.about(), "parameter": line.model["parameter"]}, settings),
    ]
    return {**report, "intrinsic_notes": notes, "groups": rows}


def intrinsic_elo(decisions: Decisions, *, by: str = MILEPOST, prior: str = "population") -> dict[Any, Posterior]:
    """Return the Elo of each group by the curves; groups without a usable decision are absent."""
    batch = decisions if by != MILEPOST else with_mileposts(decisions, _WITHIN, both=False)
    line = scale("curves")
    several = _GAME in batch.context.column_names
    table = curve_evidence(batch, line, by=[by, "decider", *([_GAME] if several else [])])
    curves = curves_on_elo(table, line)
    people: dict[Any, dict[str, list[int]]] = {}
    for row, (label, person, *_) in enumerate(table.labels):
        if table.decisions[row]:
            people.setdefault(label, {}).setdefault(person, []).append(row)
    effects, believed = {"curves": Effects(**line.effects)}, elo_axis().prior(prior)
    found = {}
    for label, own in people.items():
        total = np.zeros_like(ELO)
        for rows in own.values():
            total = total + combined({"curves": curves[rows]}, effects)
        found[label] = elo_posterior(total, believed)
    return found


def scale_fits(model: CurveModel, line: Scale) -> bool:
    """Return whether a scale of the curves was fitted with this model of choice."""
    return all(line.model.get(name) == value for name, value in model.about().items() if name in line.model)
