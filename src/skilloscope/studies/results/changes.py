"""Who rose and fell since a date, who is new and who has stopped playing, and one player's history and opponents.

In: a run over results, or kept ratings. Out: the Changes and the Member that `results report` shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skilloscope.core.errors import InputError
from skilloscope.ratings.periods.prediction import predicted
from skilloscope.report.charts import Figure
from skilloscope.report.table import Column, Table, plural
from skilloscope.studies.results.rating import CAVEATS, OverTime, Rated, ResultsStudy

_IN_PAGE = 200  # rows of a table


@dataclass(frozen=True)
class RatingChange:
    """A player's rating now and before a date."""

    player: str
    before: float | None
    rating: float
    rd: float
    change: float | None
    games: int  # games since the date
    last_period: str


@dataclass(frozen=True, eq=False)
class Changes(ResultsStudy):
    """What changed since the first period of a date."""

    since: str
    until: str
    changed: Sequence[RatingChange]
    newcomers: Sequence[RatingChange]
    inactive: Sequence[RatingChange]

    FIELDS: ClassVar = ("since", "until", "changed", "newcomers", "inactive", "warnings", "skipped", "noted")
    caveats = CAVEATS

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Since {self.since}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return who rose, who fell, newcomers, and who has not played."""
        player = Column[RatingChange]("player", lambda row: row.player, label=True)
        rd = Column[RatingChange]("rd", lambda row: f"{row.rd:.0f}")
        games = Column[RatingChange]("games", lambda row: f"{row.games:,}")
        rating = Column[RatingChange]("rating", lambda row: f"{row.rating:.0f}")
        moved = [
            player,
            Column[RatingChange]("before", lambda row: f"{row.before:.0f}"),
            Column[RatingChange]("now", rating.cell),
            Column[RatingChange]("change", lambda row: f"{row.change:+.0f}"),
            rd,
            games,
        ]
        risen = [row for row in self.changed if row.change and row.change > 0]
        fallen = [row for row in reversed(self.changed) if row.change and row.change < 0]
        last = Column[RatingChange]("last", lambda row: row.last_period)
        parts = [
            (f"risen since {self.since}", risen, moved),
            (f"fallen since {self.since}", fallen, moved),
            ("newcomers", self.newcomers, [player, rating, rd, games]),
            ("not playing since", self.inactive, [player, rating, last]),
        ]
        top = top or _IN_PAGE
        tables = []
        for title, rows, columns in parts:
            counted = f"the first {top} of {len(rows):,}" if len(rows) > top else plural(len(rows), "player")
            notes = [counted, *(self.rows_notes if title == parts[-1][0] else [])]
            tables.append(Table.of(title, rows[:top], columns, notes=notes))
        return tables


def changes_since(run: Rated, since: str) -> Changes:
    """Return what changed since the first period of a date."""
    history, start = run.history, int(run.calendar.number(since))
    mean, variance = run.state.moments()
    before: dict[int, float] = {}
    if len(history):
        who, old, _ = history.everybody_at(start - 1)
        before = dict(zip(who.tolist(), old.tolist(), strict=True))
    recent = history.period >= start
    games = np.bincount(history.player[recent], weights=history.games[recent], minlength=len(history.players))
    rows = []
    for i in np.flatnonzero(run.state.lines["games"] > 0).tolist():
        was, rating, rd = before.get(i), float(mean[i]), float(np.sqrt(variance[i]))
        change, last = None if was is None else rating - was, run.state.label(int(run.state.lines["last"][i]))
        rows.append(RatingChange(history.players[i], was, rating, rd, change, games=int(games[i]), last_period=last))
    moved = [row for row in rows if row.change is not None]
    return Changes(
        run.calendar.label(start),
        run.calendar.label(run.latest),
        changed=sorted((row for row in moved if row.games), key=lambda row: (-(row.change or 0.0), row.player)),
        newcomers=sorted((row for row in rows if row.before is None), key=lambda row: -row.rating),
        inactive=sorted((row for row in rows if not row.games), key=lambda row: row.player),
        warnings=run.warnings,
        tally=run.tally,
        noted=run.noted,
    )


@dataclass(frozen=True)
class MemberPeriod:
    """A player's rating after a period with games."""

    period: str
    rating: float
    rd: float
    games: int


@dataclass(frozen=True)
class OpponentRecord:
    """Games against one opponent, with the expected and the actual score."""

    opponent: str
    games: int
    expected: float
    score: float


@dataclass(frozen=True, eq=False)
class Member(ResultsStudy):
    """One player's history and opponents."""

    player: str
    since: str | None
    rating: float
    rd: float
    history: Sequence[MemberPeriod]
    opponents: Sequence[OpponentRecord]
    run: Rated

    FIELDS: ClassVar = ("player", "since", "rating", "rd", "history", "opponents", "warnings", "skipped", "noted")
    ROWS: ClassVar = "history"
    caveats = CAVEATS

    @property
    def title(self) -> str:
        """What the page is called."""
        return self.player

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the history, and the opponents with expected and actual score."""
        history: list[Column[MemberPeriod]] = [
            Column("period", lambda row: row.period, label=True),
            Column("rating", lambda row: f"{row.rating:.0f}"),
            Column("rd", lambda row: f"{row.rd:.0f}"),
            Column("games", lambda row: f"{row.games:,}"),
        ]
        opponents: list[Column[OpponentRecord]] = [
            Column("opponent", lambda row: row.opponent, label=True),
            Column("games", lambda row: f"{row.games:,}"),
            Column("expected", lambda row: f"{row.expected:.2f}"),
            Column("score", lambda row: f"{row.score:g}"),
        ]
        names = ("games", "expected", "score")
        games, expected, score = (sum(getattr(row, name) for row in self.opponents) for name in names)
        notes = [f"{score:g} of {games:,} points, {expected:.2f} expected", *self.rows_notes]
        return [
            Table.of(f"{self.player}: {self.rating:.0f} ± {self.rd:.0f}", self.history, history),
            Table.of("opponents", self.opponents, opponents, notes=notes),
        ]

    def figures(self) -> Sequence[Figure]:
        """Return the strength over time."""
        caption = "The band is one standard deviation."
        return [Figure("Over time", OverTime(self.run.history, [self.player]), caption)]


def member_study(run: Rated, player: str, since: str | None = None) -> Member:
    """Return one player's history and opponents, with the score that was expected and the actual one."""
    history, rows = run.history, run.history.of(player)
    start = int(run.calendar.number(since)) if since else None
    labels = [run.state.label(number) for number in history.period[rows].tolist()]
    moments = history.filtered_mean[rows].tolist(), np.sqrt(history.filtered_variance[rows]).tolist()
    periods = [MemberPeriod(*row) for row in zip(labels, *moments, history.games[rows].tolist(), strict=True)]
    first = 0 if start is None else int(np.searchsorted(history.period[rows], start))
    if run.every is None:
        raise InputError("the games before these were not kept", hint="give all of them, or keep the .games file")
    games = run.every.by_period(run.period)
    p = predicted(run.history, games)
    me = list(games.players).index(player)
    wanted = games.first + games.period >= (start or -(2**62))
    found: dict[str, OpponentRecord] = {}
    for mine, other, expected, score in (
        (games.player_1, games.player_2, p, games.score),
        (games.player_2, games.player_1, 1 - p, 1 - games.score),
    ):
        for at in np.flatnonzero((mine == me) & wanted).tolist():
            name = games.players[int(other[at])]
            met = found.get(name, OpponentRecord(name, 0, 0.0, 0.0))
            added = met.games + 1, met.expected + float(expected[at]), met.score + float(score[at])
            found[name] = OpponentRecord(name, *added)
    return Member(
        player,
        None if start is None else run.calendar.label(start),
        periods[-1].rating,
        periods[-1].rd,
        periods[first:],
        sorted(found.values(), key=lambda row: (-row.games, row.opponent)),
        run=run,
        warnings=run.warnings,
        tally=run.tally,
        noted=run.noted,
    )
