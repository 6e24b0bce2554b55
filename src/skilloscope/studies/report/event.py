"""A whole event: standings, every game with the Elo of both players in it, the best played game, turning points, finds.

In: analysed games and their ratings. Out: EventReport. Elo in a single game is the posterior from the moves of that
game, starting from the player's other games (see by_game.py): its interval is wide, and the report says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from skilloscope.chess.pgn.facts import openings_of
from skilloscope.inputs.costs import MoveCosts
from skilloscope.inputs.pipeline import AnalysedGames, elo_evidence
from skilloscope.report.charts import MOST_ROWS, Dot, Figure, Forest
from skilloscope.report.page import Section
from skilloscope.report.table import Column, Table, plural
from skilloscope.studies.by_game import game_priors
from skilloscope.studies.elo_ratings import EloRatings
from skilloscope.studies.game import GameTags
from skilloscope.studies.report.player import (
    Decision,
    RatedStudy,
    costs_of,
    decisions_table,
    game_name,
    key_decisions,
    shown_moves,
)
from skilloscope.studies.report.standings import PlayerStanding, crosstable, standings

_MOST_BEST = 5
_MOST_GAMES = 30  # in the terminal; the page has all
_ONE_GAME = "a single game is little evidence: its interval is wide, and it starts from the player's other games"


@dataclass(frozen=True)
class SideInGame:
    """One player in one game; without Elo where none of the moves counts."""

    player: str | None
    header_elo: int | None
    elo: float | None = None
    elo_low: float | None = None
    elo_high: float | None = None
    usual: float | None = None
    """The player's Elo by all games."""
    place: int | None = None
    """Among the player's games by Elo, 1 the best."""
    of: int = 0

    @property
    def name(self) -> str:
        """The name with the rating in the header."""
        return f"{self.player or '?'}{'' if self.header_elo is None else f' ({self.header_elo})'}"

    def __str__(self) -> str:
        return "–" if self.elo is None else f"{self.elo:.0f} ({self.elo_low:.0f} to {self.elo_high:.0f})"


@dataclass(frozen=True)
class GameInEvent:
    """A game with both players' Elo in it."""

    number: int
    """Its place among the games read, counted from 1."""
    tags: GameTags
    white: SideInGame
    black: SideInGame
    plies: int
    searched: int
    """Moves that an engine judged."""
    opening: str | None
    """Its name, by the moves."""
    time_control: str | None

    FIELDS: ClassVar = (
        "*where", "white", "black", "moves", "number", "plies", "searched", "opening", "time_control",
    )  # fmt: skip

    @property
    def where(self) -> dict[str, str | int | None]:
        """The game, as JSON names it."""
        return self.tags.some("game event round date result eco")

    @property
    def moves(self) -> int:
        """How many moves White made."""
        return (self.plies + 1) // 2

    @property
    def strength(self) -> float | None:
        """The sum of both players' Elo in the game; None where one is unknown."""
        return None if self.white.elo is None or self.black.elo is None else self.white.elo + self.black.elo


@dataclass(frozen=True, eq=False, kw_only=True)
class EventReport(RatedStudy):
    """What is known of an event."""

    games: Sequence[GameInEvent]
    """By date and round."""
    table: Sequence[PlayerStanding]

    FIELDS: ClassVar = (
        "kind", "ratings", "games", "best_played", "best_games", "table", "levels", "judge", "judged", "turning",
        "finds",
    )  # fmt: skip
    ROWS: ClassVar = "games"
    kind: ClassVar = "event"

    @property
    def turning(self) -> Sequence[Decision]:
        """The moves that cost most for their players' levels, under the name that JSON has for them."""
        return self.costliest

    @property
    def best_first(self) -> Sequence[GameInEvent]:
        """The games by the strength of both players in them, on average; those without Elo are left out."""
        known = [game for game in self.games if game.strength is not None]
        return sorted(known, key=lambda game: -(game.strength or 0.0))

    @property
    def best_played(self) -> str | None:
        """The id of the best played game."""
        return next((game.tags.game for game in self.best_first), None)

    @property
    def best_games(self) -> Sequence[int]:
        """The numbers of the best played games."""
        return [game.number for game in self.best_first[:_MOST_BEST]]

    @property
    def title(self) -> str:
        """The name of the event, or how many games there are."""
        events = {game.tags.event for game in self.games} - {None, "", "?"}
        return str(next(iter(events))) if len(events) == 1 else plural(len(self.games), "game")

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the ratings, the crosstable, some of the games, the turning points and the finds."""
        tables = [
            *self.ratings.tables(),
            crosstable(self.table),
            self._games_table(self.games[:_MOST_GAMES]),
            decisions_table(self.turning, "Turning points: the moves that cost most for their players' levels"),
            decisions_table(self.finds, "Hard to find, and found"),
        ]
        return [table for table in tables if table.rows or table.notes]

    def _games_table(self, games: Sequence[GameInEvent]) -> Table:
        columns = [
            Column[GameInEvent]("White", lambda game: game.white.name, label=True),
            Column("Black", lambda game: game.black.name, label=True),
            Column[GameInEvent]("result", lambda game: game.tags.result or "*", label=True),
            Column("Elo of White in it", lambda game: str(game.white)),
            Column("Elo of Black in it", lambda game: str(game.black)),
            Column("moves", lambda game: f"{game.moves:,}"),
            Column[GameInEvent]("round", lambda game: str(game.tags.round or game.tags.date or "")),
        ]
        return Table.of("Every game", games, columns, notes=[_ONE_GAME])

    def figures(self) -> Sequence[Figure]:
        """Return everybody's Elo, and both players' Elo in every game, the best played on top."""
        found, known, rows = self.ratings.figures()[:1], self.best_first, []
        if not known:
            return found
        for game in known[:MOST_ROWS]:
            sides = ((game.white, "White", -0.15, 3), (game.black, "Black", 0.15, 4))
            dots = [
                Dot(own.elo or 0.0, own.elo_low, own.elo_high, colour, name=name, shift=shift, filled=True, thin=True)
                for own, name, shift, colour in sides
            ]
            rows.append((f"{game.white.player} – {game.black.player} {game.tags.result or ''}", dots))
        shown = "" if len(known) <= MOST_ROWS else f" The {MOST_ROWS} best played of {len(self.games):,} games."
        caption = f"Both players in every game, best played on top; line: interval.{shown}"
        return [*found, Figure("Every game", Forest(rows, "Elo by the moves of this game alone"), caption)]

    def sections(self) -> Sequence[Section]:
        """Return the ratings, the crosstable, the best played game, the decisions on their boards, every game."""
        ratings, *games = self.figures()
        sections = [*map(Section.from_table, self.ratings.tables()), Section.from_figure(ratings)]
        if self.table:
            sections.append(Section.from_table(crosstable(self.table)))
        for best in self.best_first[:1]:
            sides = ", ".join(f"{side.player} {side}" for side in (best.white, best.black))
            sections.append(Section("The best played game", f"{game_name(best.tags)}: {sides}"))
        sections += self.decision_sections("Turning points", "Hard to find, and found", "the player's level")
        return [*sections, Section.from_table(self._games_table(self.games), drawn=games[0] if games else None)]


def event_of(found: AnalysedGames, ratings: EloRatings, costs: MoveCosts | None = None) -> EventReport:
    """Return the report of all analysed games together, with their ratings and what the moves cost."""
    if costs is None:
        costs = costs_of(found, {one.player: one.elo.mean for one in ratings.players})
    judged = shown_moves(found, costs)
    return EventReport(
        ratings=ratings, games=event_games(found, ratings), table=standings(found.games), judge=judged.best_judge(),
        judged=len(judged), costliest=key_decisions(judged.costliest(), found.games),
        finds=key_decisions(judged.best_finds(), found.games), head=str(found.judged or ""),
        warnings=ratings.warnings, tally=found.games.tally,
    )  # fmt: skip


def event_games(found: AnalysedGames, ratings: EloRatings) -> list[GameInEvent]:
    """Return every game with the Elo of both players in it, by date, then by round as numbers are ordered."""
    games, counts, searched = found.games, found.games.counts.tolist(), _searched(found)
    openings, controls = openings_of(games)[1], games.headers["time_control"].to_pylist()
    groups = elo_evidence(found, ("player", "game")).main.groups()
    priors, usual = game_priors(found, groups), {one.player: one.by_moves for one in ratings.players}
    elos = {key: found.asked.elo.posterior(groups[key], prior) for key, prior in priors.items()}
    ranks: dict[str, list[float]] = {}
    for (name, _), elo in elos.items():
        ranks.setdefault(name, []).append(elo.mean)
    rows = []
    for row in range(len(games)):
        tags, sides = GameTags.of(games, row), []
        for who, rating in ((tags.white, tags.white_elo), (tags.black, tags.black_elo)):
            side = SideInGame(who, rating)
            if who is not None and (known := elos.get((who, tags.game))) is not None:
                better = sum(other > known.mean for other in ranks[who])
                low, high = known.interval(found.asked.mass)
                side = SideInGame(
                    who, rating, known.mean, low, high, usual=usual.get(who), place=better + 1, of=len(ranks[who])
                )
            sides.append(side)
        names = {"opening": openings[row], "time_control": controls[row]}
        own = GameInEvent(row + 1, tags, sides[0], sides[1], plies=counts[row], searched=searched[row], **names)
        rows.append(own)
    return sorted(rows, key=lambda game: _when(game.tags))


def _searched(found: AnalysedGames) -> list[int]:
    counts = [0] * len(found.games)
    if found.judged is not None and found.judged.analyses is not None:
        analyses = found.judged.analyses
        for game in analyses.positions.game[analyses.answered].tolist():
            counts[game] += 1
    return counts


def _when(tags: GameTags) -> tuple[str, list[int]]:
    """Order by date, then by round: 2 before 10, 3.1 before 3.2."""
    return str(tags.date or ""), [int(part) for part in re.findall(r"\d{1,9}", str(tags.round or ""))]
