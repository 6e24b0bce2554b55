"""Simulated populations whose strengths wander as GLI99 supposes: results with the true strengths.

Strengths begin at N(1500, σ0²) and change by N(0, ν²) at the beginning of each later period [GLI99 (2), sect. 5]; who
plays whom is drawn at random, and a game ends by (1), without draws.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skilloscope.core.columns import Array, Codes
from skilloscope.core.errors import OptionError
from skilloscope.results.periods import GIVEN, Calendar
from skilloscope.results.table import Results

_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Population:
    """What a simulation supposes: sizes, and the standard deviations of first strengths and of their changes."""

    players: int
    periods: int
    games: int  # in all; each period has the same number, up to one
    sigma0: float = 300.0
    nu: float = 40.0
    mean: float = 1500.0

    def __post_init__(self) -> None:
        if self.players < 2 or self.periods < 1 or self.games < 1:
            raise OptionError("a simulation needs two players, a period and a game at least")
        if not (self.sigma0 >= 0 and self.nu >= 0 and np.isfinite([self.sigma0, self.nu, self.mean]).all()):
            raise OptionError("σ0 and ν are standard deviations: finite, not negative")

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names, in the order of their codes."""
        width = len(str(self.players - 1))
        return tuple(f"player {code:0{width}d}" for code in range(self.players))


@dataclass(frozen=True)
class Simulated:
    """Simulated results and the truth behind them."""

    results: Results
    strength: Array  # the true strengths: rows players, columns periods
    labels: tuple[str, ...]  # the periods, as the results' own calendar calls them


def simulated_games(population: Population, *, rng: np.random.Generator) -> Iterator[tuple[Codes, Codes, Array, Array]]:
    """Yield period after period: first players, second players, scores, and everybody's strength.

    >>> [len(score) for *_, score, _ in simulated_games(Population(5, 3, 10), rng=np.random.default_rng(0))]
    [4, 3, 3]
    """
    n = population.players
    strength = rng.normal(population.mean, population.sigma0, n)
    for period in range(population.periods):
        games = population.games // population.periods + (period < population.games % population.periods)
        if period:
            strength = strength + rng.normal(0.0, population.nu, n)
        one = rng.integers(0, n, games, dtype=np.int32)
        two = rng.integers(0, n - 1, games, dtype=np.int32)
        two += two >= one  # anybody but the first
        win = 1.0 / (1.0 + 10.0 ** (-(strength[one] - strength[two]) / 400.0))
        yield one, two, (rng.random(games) < win).astype(np.float64), strength


def simulate_results(
    population: Population, *, rng: np.random.Generator, period: str = GIVEN, start: str = "2020-01-01"
) -> Simulated:
    """Simulate a population; `period` is a calendar's length, dates being drawn within it, or `given` for numbers.

    >>> simulated = simulate_results(Population(5, 3, 10), rng=np.random.default_rng(0), period="1M")
    >>> simulated.results, simulated.labels, simulated.strength.shape
    (<Results: 10 games of 5 players; skipped: none>, ('2020-01', '2020-02', '2020-03'), (5, 3))
    """
    one, two, score, strength = zip(*simulated_games(population, rng=rng), strict=True)
    calendar = Calendar.from_text(period)
    first = int(calendar.number(start)) if calendar.unit else 1
    numbers = np.repeat(np.arange(population.periods) + first, [len(part) for part in score])
    if calendar.unit:  # a random day within the period of each game
        starts = [calendar.start(n) for n in range(first, first + population.periods + 1)]
        firsts = np.array([(day - _EPOCH).days for day in starts], dtype=np.int64)
        within = np.floor(rng.random(len(numbers)) * np.diff(firsts)[numbers - first]).astype(np.int64)
        days, given = (firsts[numbers - first] + within).astype("datetime64[D]"), None
    else:
        days, given = np.full(len(numbers), "NaT", dtype="datetime64[D]"), numbers
    results = Results(population.names, np.concatenate(one), np.concatenate(two), np.concatenate(score), days, given)
    if given is None:
        results = results.select(np.argsort(days, kind="stable"))
    return Simulated(results, np.column_stack(strength), tuple(calendar.labels(first, population.periods)))


def truth_table(population: Population, simulated: Simulated) -> pa.Table:
    """Return the true strengths as a table: player, period, strength."""
    periods = len(simulated.labels)
    return pa.table(
        {
            "player": np.repeat(np.array(population.names, dtype=object), periods),
            "period": np.tile(np.array(simulated.labels, dtype=object), population.players),
            "strength": simulated.strength.ravel(),
        }
    )
