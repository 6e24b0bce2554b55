"""Names that may be one person's, with games and years, for the user to confirm.

In: results of any source. Out: an AliasStudy, which `results aliases` shows, and a file of aliases to be confirmed.
Two names that played each other are two people. Where a name may be either of two others, both are listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np
import pyarrow as pa

from skilloscope.core.errors import Tally
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, plural
from skilloscope.results.aliases import may_be_one, near_duplicates
from skilloscope.results.table import Results


@dataclass(frozen=True)
class PossibleAlias:
    """A name that may be another's, with the games and years of both."""

    name: str
    same_as: str
    games: int
    years: str
    games_of_same_as: int
    years_of_same_as: str
    overlap: bool  # whether both played in the same years
    or_: str  # further names that it may be instead


@dataclass(frozen=True)
class AliasGroup:
    """Names that may be one person's, under the one with most games."""

    name: str
    games: int
    names: Sequence[PossibleAlias]


@dataclass(frozen=True, eq=False)
class AliasStudy(Study):
    """The groups of names that may be one person's, those with most games first."""

    players: int
    groups: Sequence[AliasGroup]
    noted: Tally = field(default_factory=Tally)  # what reading changed: spellings and aliases

    FIELDS: ClassVar = ("players", "listed", "groups", "skipped", "noted")
    ROWS: ClassVar = "names"
    title = "Names that may be one person's"

    @property
    def names(self) -> Sequence[PossibleAlias]:
        """All listed names."""
        return [name for group in self.groups for name in group.names]

    @property
    def listed(self) -> int:
        """How many names are listed."""
        return len(self.names)

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the names that may be another's, those of the most played first."""
        columns: list[Column[PossibleAlias]] = [
            Column("name", lambda row: row.name, label=True),
            Column("games", lambda row: f"{row.games:,}"),
            Column("years", lambda row: row.years),
            Column("may be", lambda row: row.same_as, label=True),
            Column("games", lambda row: f"{row.games_of_same_as:,}"),
            Column("years", lambda row: row.years_of_same_as),
            Column("years overlap", lambda row: "yes" if row.overlap else "no"),
            Column("or else", lambda row: row.or_, label=True),
        ]
        cut = top is not None and self.listed > top
        shown = f"the first {top} of {self.listed:,}" if cut else plural(self.listed, "name")
        note = f"{shown}; names are merged only once they are confirmed (--out, then --alias)"
        title = f"names that may be one person's, of {self.players:,}"
        return [Table.of(title, self.names[:top], columns, notes=[note])]

    def to_confirm(self) -> pa.Table:
        """Return the list as a table of aliases, none confirmed: the user writes yes in `confirmed`."""
        names = [one.name for one in fields(PossibleAlias)]
        columns = {name.removesuffix("_"): [getattr(row, name) for row in self.names] for name in names}
        return pa.table(columns).add_column(2, "confirmed", pa.array([""] * self.listed, type=pa.string()))


def alias_study(results: Results) -> AliasStudy:
    """Return the groups of names that may be one person's."""
    games = np.bincount(results.player_1, minlength=len(results.players))
    games += np.bincount(results.player_2, minlength=len(results.players))
    when = results.numbers("1Y" if results.has_dates else None)
    first, last = np.full(len(results.players), 2**31), np.full(len(results.players), -(2**31))
    for side in (results.player_1, results.player_2):
        np.minimum.at(first, side, when)
        np.maximum.at(last, side, when)
    first, last = first, last
    code = {name: i for i, name in enumerate(results.players)}
    met = {frozenset(pair) for pair in zip(results.player_1.tolist(), results.player_2.tolist(), strict=True)}

    def possible_alias(i: int, members: Sequence[int]) -> PossibleAlias | None:
        """Return whom a player may be, of those with as many games or more whom he has not played."""
        likely = [
            j for j in members
            if j != i and games[j] >= games[i] and frozenset((i, j)) not in met
            and may_be_one(results.players[i], results.players[j])
        ]  # fmt: skip
        if not likely:
            return None
        j, others = likely[0], [results.players[k] for k in likely[1:]]
        return PossibleAlias(
            name=results.players[i],
            same_as=results.players[j],
            games=int(games[i]),
            years=_years(first[i], last[i]),
            games_of_same_as=int(games[j]),
            years_of_same_as=_years(first[j], last[j]),
            overlap=bool(first[i] <= last[j] and first[j] <= last[i]),
            or_="; ".join(name for name in others if not may_be_one(results.players[j], name)),
        )

    groups = []
    for names in near_duplicates(results.players):
        members = sorted((code[name] for name in names), key=lambda i: (-int(games[i]), results.players[i]))
        rows = [alias for i in members[1:] if (alias := possible_alias(i, members)) is not None]
        if rows:
            groups.append(AliasGroup(results.players[members[0]], int(games[members].sum()), rows))
    groups.sort(key=lambda group: (-group.games, group.name))
    return AliasStudy(len(results.players), groups, results.noted, tally=results.tally)


def _years(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
