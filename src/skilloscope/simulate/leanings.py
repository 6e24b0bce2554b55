"""What simulated people lean to beyond the joint model: by their Elo, by how they stand, and by the time in the game.

    log P′(m) = log P(m) + a·log p(m) − b·√δ(m) − c·min(δ(m), 3) + a constant of the position

P is the joint model's, p the human model's, δ the scaled loss at the last depth. a, b and c are sums: a parabola in
Elo that is bent below 1600, a broken line in the number of the move and, for b and c, another in the value before the
move. So people play first moves that they know and hardly ever blunder there, who stands worse takes more care, and who
is winning takes the shortest way. In: columns, an alternative a row. Out: what is added to log P. Fitted to moves of
rated people by tools/fit_leanings.py. Ratings do without: their evidence is the joint model as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from skilloscope.models.joint import ORIGIN, UNIT
from skilloscope.simulate.endings import weighed

Array = npt.NDArray[np.float64]

VALUE_KNOTS = (-10.0, -6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0, 10.0)
"""Values before the move, in the mover's pawns, at which the broken lines are given."""
MOVE_KNOTS = (3.0, 8.0, 13.0, 20.0, 40.0)
"""Numbers of moves at which the others are."""
LOW_ELO = 1600.0
"""Below it the parabolas bend: of weak players there are moves of their own."""
_MOST_LOSS = 3.0


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Moves that may be played, a row for each."""

    log_people: Array
    """log p by the human model alone."""
    loss: Array
    """δ at the last depth."""
    value: Array
    """What the position is worth to the mover before the move, in pawns."""
    move_number: Array
    elo: Array

    def take(self, rows: npt.NDArray[np.int64]) -> Alternatives:
        """Return some of the rows."""
        return Alternatives(*(getattr(self, field.name)[rows] for field in fields(self)))

    def columns(self) -> dict[str, Array]:
        """Return what the weights multiply, by name."""
        x = (self.elo - ORIGIN) / UNIT
        parts = {"human": self.log_people, "root": -np.sqrt(self.loss), "loss": -np.minimum(self.loss, _MOST_LOSS)}
        found = {f"{name}, Elo^{power}": part * x**power for name, part in parts.items() for power in (1, 2)}
        low = np.maximum(LOW_ELO - self.elo, 0.0) / UNIT
        found |= {f"{name} below {LOW_ELO:g}": part * low for name, part in parts.items()}
        for name, part in parts.items():
            found |= {f"{name} at move {knot:g}": part * hat for knot, hat in hats(self.move_number, MOVE_KNOTS)}
        for name in ("root", "loss"):
            found |= {f"{name} at {knot:g}": parts[name] * hat for knot, hat in hats(self.value, VALUE_KNOTS)}
        return found


def hats(at: Array, knots: Sequence[float]) -> list[tuple[float, Array]]:
    """Return for each knot how much of a broken line through the knots it says at these places; outside, the last."""
    return [(knot, np.interp(at, knots, hat)) for knot, hat in zip(knots, np.eye(len(knots)), strict=True)]


@dataclass(frozen=True)
class Leanings:
    """Weights of the columns, by the names that `Alternatives` gives."""

    weights: Mapping[str, float]

    def added(self, alternatives: Alternatives) -> Array:
        """Return what is added to log P of each alternative."""
        return weighed(alternatives.columns(), self.weights)


@cache
def shipped_leanings(depth: int) -> Leanings:
    """Return the leanings beside a joint model of losses to that depth."""
    raw = json.loads((resources.files("skilloscope") / "data" / "leanings.json").read_text(encoding="utf-8"))
    return Leanings(raw["depths"][str(depth)])
