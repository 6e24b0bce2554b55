"""The Elo axis: for each effort, which evidence is used and how far it is believed; the population; the range.

In: a small JSON file that ships, or one that `skilloscope calibrate` wrote. Out: curves of evidence become one
posterior of Elo. The axis is FIDE Elo of over-the-board classical play unless the file says otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, OptionError
from skilloscope.evidence import Evidence, EvidenceTable, Grid, Normal, Posterior, Prior, Uniform
from skilloscope.evidence.discounting import ELO, ELO_GRID, Beside, Effects, combined
from skilloscope.evidence.posterior import posterior_from_log_density
from skilloscope.models.joint import JointWeights, LossWeights

SCHEMA = 1
EFFORTS = ("instant", "quick", "full")
EVALUATIONS = "evaluations"
"""The effort of games that bring their evaluations: no engine is asked, what moves lost is evidence as well."""
PRIORS = ("population", "flat", "header")
_HEADER_SD = 100.0

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """What evidence is about: a parameter with its grid, prior, effects, range and wording."""

    parameter: str
    """`Elo`, or `c` of the papers' agent."""
    wording: str
    """What the parameter measures, in words: `FIDE Elo, over-the-board classical play`."""
    grid: Grid
    prior: Prior
    effects: Mapping[str, Effects]
    """How far each source counts; none where curves are added as they are, divided by the dispersion."""
    valid: tuple[float, float]
    dispersion: float = 1.0

    def curve(self, table: EvidenceTable) -> Array:
        """Return what the rows of a table say together: sources and people are independent of each other."""
        if not self.effects:
            return np.asarray(table.curves.sum(axis=0) / self.dispersion)
        total = np.zeros(self.grid.size)
        for sources in table.by_person().values():
            total = total + combined(sources, self.effects)
        return total

    def posterior(self, table: EvidenceTable, prior: Prior | None = None) -> Posterior:
        """Return the posterior of the parameter given the rows, under the axis's prior unless another is given."""
        return Evidence(self.grid, self.curve(table), table.moves).posterior(prior or self.prior)

    def extrapolates(self, value: float) -> bool:
        """Return whether a value lies outside the range in which the axis was fitted."""
        return not self.valid[0] <= value <= self.valid[1]


@dataclass(frozen=True)
class Effort:
    """What one effort costs and believes: the engine's settings (none: the human model alone), sources and weights."""

    name: str
    effects: Mapping[str, Effects]
    settings: Mapping[str, Any] = field(default_factory=dict)
    weights: JointWeights | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)
    losses: LossWeights | None = None
    """The weights of single evaluations."""
    beside: Beside | None = None
    """How far moves and results of the same games count beside each other; None where it was not fitted."""


@dataclass(frozen=True)
class Across:
    """A line from ratings of a pool to the FIDE Elo that moves alike in slow games: at + slope·(E − origin) ± sd."""

    origin: float
    at: float
    slope: float
    sd: float

    def fide(self, found: Posterior, mass: float) -> tuple[float, float, float]:
        """Return which FIDE Elo moves like a posterior of the pool, with a central interval."""
        mean = self.at + self.slope * (found.mean - self.origin)
        apart = NormalDist().inv_cdf(0.5 + mass / 2) * float(np.hypot(self.slope * found.sd, self.sd))
        return mean, mean - apart, mean + apart


@dataclass(frozen=True)
class EloAxis:
    """Efforts by name, the population that the default prior describes, and the range in which all was fitted."""

    name: str
    efforts: Mapping[str, Effort]
    population: Mapping[str, Any]
    valid: tuple[float, float]
    data: str
    model: str
    """The hash of the human model's weights: evidence by another is not on this axis."""
    opening_moves: int = 12
    axis: str = "FIDE Elo, over-the-board classical play"
    schema: int = SCHEMA
    pool: str = "fide"
    """Whose ratings these are: it decides which human model is asked."""
    across: Across | None = None
    """Where its ratings lie among FIDE's; None for FIDE itself and where it was not measured."""

    @classmethod
    def from_json(cls, text: str, *, source: str = "axis") -> EloAxis:
        """Read an axis; one of another schema or with fields missing is refused."""
        try:
            raw = json.loads(text)
            if raw["schema"] != SCHEMA:
                raise InputError(f"{source}: schema {raw['schema']}, this version reads {SCHEMA}")
            efforts = {name: _effort(name, given) for name, given in raw.pop("efforts").items()}
            low, high = raw.pop("valid")
            across = raw.pop("across", None)
            line = Across(**across) if across else None
            return cls(efforts=efforts, valid=(float(low), float(high)), across=line, **raw)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{source}: not an Elo axis ({error})", hint="`skilloscope calibrate` writes one"
            ) from error

    def to_json(self) -> str:
        """Return the axis as JSON text."""
        plain = {name: value for name, value in vars(self).items() if name not in ("efforts", "across")}
        plain |= {"across": vars(self.across)} if self.across else {}
        efforts = {
            name: {
                "effects": {source: vars(effects) for source, effects in effort.effects.items()},
                "settings": dict(effort.settings),
                "weights": effort.weights.as_dict() if effort.weights else None,
                "measured": dict(effort.measured),
                **({"losses": effort.losses.as_dict()} if effort.losses else {}),
                **({"beside": vars(effort.beside)} if effort.beside else {}),
            }
            for name, effort in self.efforts.items()
        }
        return json.dumps({**plain, "efforts": efforts}, indent=1, ensure_ascii=False) + "\n"

    def effort(self, name: str) -> Effort:
        """Return an effort by name."""
        if name not in self.efforts:
            raise OptionError(
                f"no effort {name!r} on the axis {self.name!r}", hint=f"efforts: {', '.join(self.efforts)}"
            )
        return self.efforts[name]

    def prior(self, name: str = "population", *, header_elo: float | None = None) -> Prior:
        """Return a prior of Elo by name: `population` (named in the axis), `flat`, or `header` (the games' ratings)."""
        low, high = float(ELO[0]), float(ELO[-1])
        if name == "population":
            return Normal(self.population["mean"], self.population["sd"], low, high)
        if name == "flat":
            return Uniform(low, high)
        if name == "header":
            # Who has no rating in the games has nothing to be helped by: the population, and it says so.
            return self.prior() if header_elo is None else Normal(header_elo, _HEADER_SD, low, high)
        raise OptionError(f"no prior {name!r} for Elo", hint=f"the priors: {', '.join(PRIORS)}")

    def posterior(self, sources: Mapping[str, npt.ArrayLike], effort: str, prior: Prior) -> Posterior:
        """Return the posterior of one person's Elo from the curves of his games, by source (a row for each game)."""
        return elo_posterior(combined(sources, self.effort(effort).effects), prior)

    def measured_by(self, effects: Mapping[str, Effects], prior: str = "population") -> Axis:
        """Return the axis on which evidence with these effects is read."""
        return Axis("Elo", self.axis, ELO_GRID, self.prior(prior), effects, self.valid)

    def extrapolates(self, elo: float) -> bool:
        """Return whether an Elo lies outside the range in which the axis was fitted."""
        return not self.valid[0] <= elo <= self.valid[1]


def elo_posterior(curve: npt.ArrayLike, prior: Prior) -> Posterior:
    """Return the posterior of Elo from a curve on ELO."""
    logs = np.asarray(curve, dtype=float)
    return posterior_from_log_density(
        lambda at: np.interp(at, ELO, logs) + prior.log_density(at), prior.low, prior.high, prior=str(prior)
    )


def elo_axis(name: str = "default") -> EloAxis:
    """Return the axis that ships, or the one in a JSON file.

    >>> elo_axis().axis
    'FIDE Elo, over-the-board classical play'
    """
    if name.endswith(".json"):
        path = Path(name)
        if not path.is_file():
            raise InputError(f"{name}: no such file", hint="an axis is a JSON file, or `default`")
        return EloAxis.from_json(path.read_text(encoding="utf-8", errors="replace"), source=name)
    file = resources.files("skilloscope") / "data" / "scales" / f"axis-{'default' if name == 'fide' else name}.json"
    if not file.is_file():
        raise OptionError(f"no Elo axis {name!r}", hint="`default` and the pools ship; any other is a JSON file")
    return EloAxis.from_json(file.read_text(encoding="utf-8"), source=name)


def _effort(name: str, given: Mapping[str, Any]) -> Effort:
    effects = {source: Effects(**numbers) for source, numbers in given["effects"].items()}
    weights = JointWeights.from_dict(given["weights"]) if given.get("weights") else None
    losses = LossWeights.from_dict(given["losses"]) if given.get("losses") else None
    return Effort(
        name,
        effects,
        given.get("settings") or {},
        weights,
        given.get("measured") or {},
        losses=losses,
        beside=Beside(**given["beside"]) if given.get("beside") else None,
    )
