"""The methods that read decisions and give evidence about Elo. A new one is a file of this folder and a line below."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skilloscope.core.columns import Array, Ints
from skilloscope.decision import Decisions
from skilloscope.evidence.axis import Effects
from skilloscope.evidence.scales import scale
from skilloscope.evidence.sources.curves import curve_evidence, curves_on_elo
from skilloscope.evidence.sources.gain import gain_scale

Rows = tuple[Sequence[Any], Array, Ints]  # labels of groups, their curves on ELO, and how many decisions are in each


@dataclass(frozen=True)
class DecisionSource:
    """A method over decisions: its rows, how far they count, and the search its scale was fitted with."""

    rows: Callable[[Decisions, Sequence[str]], Rows]  # from decisions and the columns that group them
    effects: Callable[[], Effects]
    settings: Callable[[], Mapping[str, object]]


def _curves(batch: Decisions, by: Sequence[str]) -> Rows:
    line = scale("curves")
    table = curve_evidence(batch, line, by=by)
    return list(table.labels), curves_on_elo(table, line), table.decisions


def _gain(batch: Decisions, by: Sequence[str]) -> Rows:
    line = gain_scale()
    labels, codes = batch.groups(by)
    scores = line.scores(batch.loss_with_floor())
    curves = [line.curve(scores[codes == row]) for row in range(len(labels))]
    return labels, np.array(curves), np.bincount(codes, minlength=len(labels)).astype(np.int64)


DECISION_SOURCES: dict[str, DecisionSource] = {
    "curves": DecisionSource(_curves, lambda: Effects(**scale("curves").effects), lambda: scale("curves").settings),
    "gain": DecisionSource(_gain, lambda: gain_scale().believed, lambda: gain_scale().settings),
}
