"""What a screening says of one player: two numbers with their p, results, odds, streak, and how all is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skilloscope.report.table import Table, percent
from skilloscope.studies.screen.moves import KeyPosition
from skilloscope.studies.screen.power import PowerRow, Streak
from skilloscope.studies.screen.statistics import ENGINE, PERCENT, STRONGER

CHECKED = 0.001
"""The p to which scores were checked on real people."""
_MOST_ODDS = 1000


@dataclass(frozen=True)
class ScreenedValue:
    """One statistic of one player: the mean per move, its expectation, its σ, and the normal score."""

    actual: float
    expected: float
    sd: float
    z: float | None

    def text(self, name: str) -> str:
        """Return observed and expected with σ."""
        times, digits = (100.0, 1) if name in PERCENT else (1.0, 3)
        actual, expected, sd = (f"{times * value:z.{digits}f}" for value in (self.actual, self.expected, self.sd))
        return f"{actual}/{expected} ± {sd}"


@dataclass(frozen=True)
class Rarity:
    """How unusual a number is among fair players of that rating."""

    z: float  # the normal score, larger for better play or more agreement
    p: float  # the share of fair players with as large a value, or larger
    q: float  # the false-discovery rate if all players down to this p are looked at

    @property
    def words(self) -> str:
        """Return p in plain words.

        >>> Rarity(2.46, 0.007, 0.3).words
        'of 1,000 fair players in events like this, about 7 look this unusual'
        """
        n = f"about {1000 * self.p:.0f}" if self.p >= CHECKED else "fewer than 1"
        return f"of 1,000 fair players in events like this, {n} look{'s' if n.endswith(' 1') else ''} this unusual"


@dataclass(frozen=True)
class PointsScored:
    """Points in games against rated opponents, and what the ratings let expect."""

    points: float
    expected: float
    games: int


@dataclass(frozen=True, eq=False)
class ScreenedPlayer:
    """One player (in one event): the two numbers, and what they rest on."""

    player: str
    event: str | None
    elo: float
    extrapolated: bool
    games: int
    moves: int
    stronger: Rarity  # than the rating
    engine: Rarity | None  # agreement with the engine beyond people of the player's own strength; None without one
    own_elo: float | None  # the strength that the moves show, given the rating; None without an engine
    score: PointsScored | None  # None where no opponent has a rating
    statistics: Mapping[str, ScreenedValue]
    posterior_odds: float | None
    """Posterior odds of help at the stated prevalence, by `engine`, over the kinds of help of the power table."""
    streak: Streak | None
    power: Sequence[PowerRow]  # detection power of the two numbers; empty without an engine
    positions: Sequence[KeyPosition]

    @property
    def name(self) -> str:
        """The player, with the event where that is screened separately."""
        return self.player if self.event is None else f"{self.player} ({self.event})"

    @property
    def first(self) -> Rarity:
        """The number that determines the order."""
        return self.engine or self.stronger


def power_table(rows: Sequence[PowerRow], note: str) -> Table:
    """Return which share of players with help would be detected, by kind of help."""
    seen = {(row.help, row.statistic, row.level): row.seen for row in rows}
    shown = [(name, level) for name in (ENGINE, STRONGER) for level in (0.05, 0.01)]
    kinds = dict.fromkeys(row.help for row in rows)
    cells = [[kind, *(percent(seen[kind, name, level]) for name, level in shown)] for kind in kinds]
    columns = ["help by an engine", *(f"{name} p ≤ {level:g}" for name, level in shown)]
    return Table("Detection power", columns, cells, [note])


def score_text(score: PointsScored | None) -> str:
    """Return points and what was expected."""
    return "–" if score is None else f"{score.points:g}/{score.expected:.1f}"


def seconds_text(seconds: float | None) -> str:
    """Return a time in minutes and seconds.

    >>> seconds_text(75.4), seconds_text(None)
    ('1:15', '–')
    """
    return "–" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def odds_text(odds: float | None) -> str:
    """Return odds in whole numbers, capped where the scores were not checked.

    >>> odds_text(0.001), odds_text(20.0), odds_text(0.0), odds_text(1e12)
    ('1 : 1,000', '20 : 1', 'none', '> 1,000 : 1')
    """
    if not odds:
        return "–" if odds is None else "none"
    if odds > _MOST_ODDS:
        return f"> {_MOST_ODDS:,} : 1"
    return f"{odds:,.0f} : 1" if odds >= 1 else f"1 : {1 / odds:,.0f}"
