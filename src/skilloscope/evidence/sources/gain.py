"""Gains on the Elo axis: the expected score against a fixed field, and the line from it to Elo.

FER12 compares a player's gains with those of the opponents in the same games, so that strengths float and lie close
together. Against one field of players of all strengths the expected score of a move is a number of its own,

    u = P(gain of the field < g) + ½·P(gain of the field = g),

its mean over a game grows with Elo, and a line through games of rated players says how fast: u = a + b·(Elo − 2100).
A game of n moves is then evidence about Elo, −n·(ū − a − b·(E − 2100))²/(2σ²), discounted as measured.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array
from skilloscope.core.text import typed
from skilloscope.evidence.axis import ELO, Effects
from skilloscope.models.joint import ELO_RANGE

ORIGIN = 2100.0
CAP = 3.0  # pawns: a larger loss counts as this much


@dataclass(frozen=True)
class GainScale:
    """The field's gains, the line from the expected score to Elo, and its discounting."""

    centipawns: tuple[int, ...]
    counts: tuple[int, ...]
    intercept: float
    slope: float
    sd: float  # of one move's expected score about the line
    effects: Mapping[str, float]
    settings: Mapping[str, Any]
    data: str
    valid: tuple[float, float]
    name: str = "gain"
    schema: int = 1
    fit: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> "GainScale":
        """Read a scale of gains."""
        found: GainScale = typed(cls, json.loads(text))
        return found

    def to_json(self) -> str:
        """Return the scale as JSON text."""
        return json.dumps(asdict(self)) + "\n"

    @property
    def believed(self) -> Effects:
        """The discounting of a game."""
        return Effects(**self.effects)

    def scores(self, losses: npt.ArrayLike) -> Array:
        """Return the expected score of each move against the field, from what it lost in pawns."""
        return field_scores(losses, self.centipawns, self.counts)

    def curve(self, scores: Array) -> Array:
        """Return what the moves of one game say about Elo, on ELO."""
        apart = scores.mean() - self.intercept - self.slope * (np.clip(ELO, *ELO_RANGE) - ORIGIN)
        return np.asarray(-len(scores) * apart**2 / (2 * self.sd**2))


def field_scores(losses: npt.ArrayLike, centipawns: npt.ArrayLike, counts: npt.ArrayLike) -> Array:
    """P(field < g) + ½·P(field = g) for gains −losses cut at CAP. [FER12 (1), one side being a fixed field]

    >>> field_scores([0.0, 0.5], [-50, 0], [1, 3]).tolist()
    [0.625, 0.125]
    """
    own = -np.rint(100 * np.minimum(np.asarray(losses, dtype=float), CAP)).astype(np.int64)
    at, weight = np.asarray(centipawns, dtype=np.int64), np.asarray(counts, dtype=float)
    below = np.concatenate([[0.0], np.cumsum(weight)]) / weight.sum()
    return np.asarray(0.5 * (below[np.searchsorted(at, own, "left")] + below[np.searchsorted(at, own, "right")]))


def gain_scale() -> GainScale:
    """Return the scale of gains that ships.

    >>> gain_scale().name
    'gain'
    """
    file = resources.files("skilloscope") / "data" / "scales" / "gain.json"
    return GainScale.from_json(file.read_text(encoding="utf-8"))
