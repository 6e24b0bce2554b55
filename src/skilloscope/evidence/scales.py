"""Scales: the line that maps Elo to a model's parameter, with everything one must know to use it.

In: a small JSON file. Out: evidence about a parameter, read along the line, is evidence about Elo; the posterior is
widened by the dispersion between player-games and by the line's own uncertainty. The axis is FIDE Elo of
over-the-board classical play. Evidence of another engine, depth, rule or k than the scale's gives a warning, never a
silent number.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.text import read_object, typed
from skilloscope.evidence import Evidence, Normal, Posterior, Prior, Uniform
from skilloscope.evidence.axis import EloAxis, blurred, elo_axis
from skilloscope.evidence.posterior import posterior_from_log_density
from skilloscope.models.agent import Agent
from skilloscope.models.curves import CurveModel

AXIS = "FIDE Elo, over-the-board classical play"
SCHEMA = 1
MINUS_LOG_S = "minus log s"
"""The name of the parameter of a scale of the curves: it grows with skill, as every parameter of a scale does."""
_FLAT_RANGE = (400.0, 3600.0)
_HEADER_SD = 100.0
_POINTS = 1601  # of a curve on its way from the parameter to Elo: steps of two points on the flat prior's range
_ROUNDING = 1e-9
_WIDEST = 1e5


@dataclass(frozen=True)
class Scale:
    """c = intercept + slope·(Elo − origin), fitted; with its covariance, dispersion and range of validity."""

    name: str
    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    data: str
    pool: str
    origin: float
    intercept: float
    slope: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    dispersion: float
    valid: tuple[float, float]
    population: Mapping[str, Any]
    provisional: bool = True
    axis: str = AXIS
    schema: int = SCHEMA
    fit: Mapping[str, Any] = field(default_factory=dict)
    also: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Further parameters of the model along the same axis: name → (intercept, slope). The curves have one, c."""
    effects: Mapping[str, float] = field(default_factory=dict)
    """The discounting of the games of one person: temper, game_sd and person_sd, where they were measured."""

    FIELDS: ClassVar = ("name", "axis", "provisional", "valid", "dispersion", "data")  # what studies send of it

    @classmethod
    def from_json(cls, text: str, *, source: str = "scale") -> "Scale":
        """Read a scale; one of another schema or with fields missing is refused."""
        try:
            raw = read_object(text)
            if raw.get("schema") != SCHEMA:
                raise InputError(f"schema {raw.get('schema')}, this version reads {SCHEMA}")
            found: Scale = typed(cls, raw)
            found._check()
            return found
        except (ValueError, KeyError, TypeError) as error:  # InputError is a ValueError
            raise InputError(f"{source}: not a scale ({error})", hint="tools/fit_scale.py writes one") from error

    def _check(self) -> None:
        """Raise where a field cannot be what it stands for: a scale is a file that people edit."""
        typed(tuple[float, float], [self.population["mean"], self.population["sd"]], "population")
        for name, line in self.also.items():
            typed(tuple[float, float], [*line], f"also {name}")
        if self.effects and not {"temper", "game_sd", "person_sd"} <= self.effects.keys():
            raise InputError("effects without temper, game_sd or person_sd")
        if not isinstance(self.fit.get("filters", {}), dict):
            raise InputError("fit filters is not an object")
        if self.slope == 0 or self.dispersion <= 0 or self.population["sd"] <= 0 or not self.valid[0] < self.valid[1]:
            raise InputError("a slope of 0, a dispersion or sd that is not above 0, or an empty range of validity")
        if max(abs(self.origin), abs(self.intercept)) > _WIDEST or not 1 / _WIDEST < abs(self.slope) * 1e6 < _WIDEST**2:
            raise InputError("a line on which no Elo lies")
        (CurveModel if "curve" in self.model else Agent).from_about(self.model)
        typed(float, self.model.get("k", 0.0), "k")
        (a, b), (c, d) = self.covariance
        if min(a, d) < 0 or b * c > a * d * (1 + _ROUNDING) or abs(b - c) > _ROUNDING * max(abs(b), abs(c)):
            raise InputError("the covariance is none: it is not symmetric, or gives a negative variance")

    def to_json(self) -> str:
        """Return the scale as JSON text."""
        return json.dumps(asdict(self), indent=2) + "\n"

    def parameter(self, elo: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the model's parameter at an Elo: the line."""
        return np.asarray(self.intercept + self.slope * (np.asarray(elo, dtype=float) - self.origin))

    def parameters(self, elo: npt.ArrayLike) -> dict[str, npt.NDArray[np.float64]]:
        """Return every parameter of the model at an Elo, by name; a line in −log s gives s."""
        at = np.asarray(elo, dtype=float) - self.origin
        main = self.intercept + self.slope * at
        first = {"s": np.exp(-main)} if self.model.get("parameter") == MINUS_LOG_S else {"c": main}
        return first | {name: np.asarray(line[0] + line[1] * at) for name, line in self.also.items()}

    def elo(self, parameter: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the Elo at a value of the parameter: the line read backwards."""
        return np.asarray(self.origin + (np.asarray(parameter, dtype=float) - self.intercept) / self.slope)

    def line_sd(self, elo: float) -> float:
        """Return the line's own standard error at an Elo, in Elo points (delta method)."""
        x = np.array([1.0, elo - self.origin])
        return float(np.sqrt(x @ np.asarray(self.covariance) @ x) / abs(self.slope))

    def read(self, c: Posterior) -> Posterior:
        """Return a posterior of c as Elo along the line, widened by the line's own error."""
        low, high = (float(elo) for elo in self.elo([c.low, c.high]))
        along = replace(c, at=self.elo(c.at), density=c.density * self.slope, low=low, high=high)
        return along.widened(self.line_sd(along.mean))

    def posterior(self, evidence: Evidence, prior: Prior) -> Posterior:
        """Return the posterior of Elo: the tempered curve convolved with the line's error, then the prior."""
        low, high = sorted(float(e) for e in self.elo([evidence.grid.low, evidence.grid.high]))
        low, high = max(low, prior.low), min(high, prior.high)
        tempered = evidence.tempered(self.dispersion)
        grid = np.linspace(low, high, _POINTS)
        at = np.clip(self.parameter(grid), tempered.grid.low, tempered.grid.high)
        curve = tempered.grid.interpolate_coefficients(tempered.grid.coefficients(tempered.curve), at)

        def posterior(curve: npt.NDArray[np.float64]) -> Posterior:
            return posterior_from_log_density(
                lambda elo: np.interp(elo, grid, curve) + prior.log_density(elo), low, high, prior=str(prior)
            )

        sd = self.line_sd(posterior(curve).mean)
        return posterior(blurred(curve, sd, float(grid[1] - grid[0])))

    def warnings(self, model: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
        """Return what differs between the evidence and the scale's own data, in words."""
        found = [
            f"{name} is {given.get(name)!r}, the scale {self.name!r} was fitted with {value!r}"
            for given, own in ((model, self.model), (settings, self.settings if settings else {}))
            for name, value in own.items()
            if given.get(name) != value
        ]
        return found if settings else [*found, "the engine and its settings are unknown, so the scale may not fit"]

    def filter_warnings(self, about: Mapping[str, Any]) -> list[str]:
        """Return which filters of the decisions differ from those of the scale's own data."""
        return [
            f"{name} is {about[name]!r}, the scale {self.name!r} was fitted with {value!r}"
            for name, value in dict(self.fit.get("filters", {})).items()
            if name in about and about[name] != value
        ]

    def extrapolates(self, elo: float) -> bool:
        """Return whether an Elo lies outside the range in which the line was fitted."""
        return not self.valid[0] <= elo <= self.valid[1]


def scale(name: str = "default") -> Scale:
    """Return the scale of that name that ships, or the one in a JSON file.

    >>> scale("default").axis
    'FIDE Elo, over-the-board classical play'
    """
    if name.endswith(".json"):
        path = Path(name)
        if not path.is_file():
            raise InputError(f"{name}: no such file", hint="a scale is a JSON file, or `default`")
        try:
            return Scale.from_json(path.read_text(encoding="utf-8"), source=name)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: cannot be read as text ({error})") from error
    file = resources.files("skilloscope") / "data" / "scales" / f"{name}.json"
    if not file.is_file():
        raise OptionError(f"no scale {name!r}", hint="`default` is bundled; any other is a JSON file")
    return Scale.from_json(file.read_text(), source=name)


def axis_or_scale(name: str) -> tuple[EloAxis | None, Scale | None]:
    """Return the axis or the agent's scale of that name; a JSON file is one or the other by what it holds."""
    if not name.endswith(".json"):
        return elo_axis(name), scale(name) if name == "default" else None
    try:
        held = read_object(Path(name).read_bytes())
    except (OSError, InputError) as error:
        raise InputError(f"{name}: not a scale that can be read ({error})", hint="a JSON file, or `default`") from error
    return (elo_axis(name), None) if "efforts" in held else (None, scale(name))


def elo_prior(name: str, scale: Scale, *, header_elo: float | None = None) -> Prior:
    """Return the prior by name; the axis's `opponents` and `file` are the population along a scale."""
    low, high = _FLAT_RANGE
    if name == "flat":
        return Uniform(low, high)
    if name in ("population", "opponents", "file"):  # the last two are of the Elo axis; here they are the population
        return Normal(scale.population["mean"], scale.population["sd"], low, high)
    if name == "header":
        # A player whose games carry no rating has nothing to be helped by: the flat prior, and it says so.
        return Uniform(low, high) if header_elo is None else Normal(header_elo, _HEADER_SD, low, high)
    raise OptionError(f"no prior {name!r} for Elo", hint="the priors: flat, population, header")
