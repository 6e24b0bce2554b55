"""Who scored what in an event: points, tie-breaks, what the ratings let expect, and who met whom.

In: games with results. Out: PlayerStanding, one a player. Tie-breaks are of the games in the files, where byes and
forfeits are not. What is expected and the performance are by the ratings in the headers, not by the moves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skilloscope.chess.pgn.games import Games
from skilloscope.models.paired_comparison import elo_expected, performance_rating
from skilloscope.report.table import Column, Table
from skilloscope.results.columns import PGN_SCORES

MOST_ACROSS = 24
"""Players of a crosstable that fits a page."""


@dataclass(frozen=True)
class Meeting:
    """What a player scored against an opponent, and in which games."""

    opponent: str
    scores: Sequence[float]
    games: Sequence[int]
    """By number."""


@dataclass(frozen=True)
class PlayerStanding:
    """A player's points, finished games, tie-breaks, what the ratings say, and scores against each opponent."""

    player: str
    points: float
    games: int
    against: Sequence[Meeting]
    buchholz: float = 0.0
    """The points of all opponents, of each as often as they met."""
    sonneborn_berger: float = 0.0
    """The points of each opponent times the score against them."""
    rating: float | None = None
    """The mean of the player's ratings in the headers."""
    opposition: float | None = None
    """The same of the rated opponents, game by game."""
    expected: float | None = None
    """The score to expect by these ratings, in the games with rated opponents; None without an own rating."""
    performance: float | None = None
    """By the games with rated opponents; see `performance_rating`."""

    @property
    def total(self) -> str:
        """Points of games."""
        return f"{self.points:g} / {self.games}"


def standings(games: Games) -> list[PlayerStanding]:
    """Return the players by points, then Buchholz, then Sonneborn-Berger; a game without a result counts nothing."""
    met: dict[str, list[_Played]] = {}
    names = ("white", "black", "result", "white_elo", "black_elo")
    rows = zip(*(games.headers[name].to_pylist() for name in names), strict=True)
    for number, (white, black, result, white_elo, black_elo) in enumerate(rows, start=1):
        for name in (white, black):
            met.setdefault(name or "", [])
        if white and black and result in PGN_SCORES:
            score = PGN_SCORES[result]
            met[white].append(_Played(black, score, number, white_elo, black_elo))
            met[black].append(_Played(white, 1.0 - score, number, black_elo, white_elo))
    points = {name: sum(one.score for one in own) for name, own in met.items()}
    table = [_standing(name, own, points) for name, own in met.items() if name]
    return sorted(table, key=lambda row: (-row.points, -row.buchholz, -row.sonneborn_berger, row.player))


@dataclass(frozen=True)
class _Played:
    """A finished game from one side."""

    opponent: str
    score: float
    number: int
    own_elo: int | None
    opponent_elo: int | None


def _standing(player: str, played: Sequence[_Played], points: Mapping[str, float]) -> PlayerStanding:
    of: dict[str, list[_Played]] = {}
    for one in played:
        of.setdefault(one.opponent, []).append(one)
    ratings = [one.own_elo for one in played if one.own_elo]
    rated = [one for one in played if one.opponent_elo]
    elos, scored = [float(one.opponent_elo or 0) for one in rated], sum(one.score for one in rated)
    own = sum(ratings) / len(ratings) if ratings else None
    return PlayerStanding(
        player, points[player], len(played),
        [Meeting(name, [one.score for one in some], [one.number for one in some]) for name, some in of.items()],
        buchholz=sum(points[one.opponent] for one in played),
        sonneborn_berger=sum(points[one.opponent] * one.score for one in played), rating=own,
        opposition=sum(elos) / len(elos) if elos else None,
        expected=float(elo_expected(own, elos).sum()) if own is not None and elos else None,
        performance=float(performance_rating(elos, scored)) if elos else None,
    )  # fmt: skip


def crosstable(table: Sequence[PlayerStanding]) -> Table:
    """Return who scored what against whom; of many players each with those whom they met."""
    place = {row.player: at for at, row in enumerate(table, start=1)}
    player = Column[PlayerStanding]("player", lambda row: f"{place[row.player]} {row.player}", label=True)
    points = Column[PlayerStanding]("points", lambda row: row.total)
    if len(table) > MOST_ACROSS:
        met = Column[PlayerStanding]("opponent: score", lambda row: _pairings(row, place), label=True)
        notes = ["opponents by their place in this table"]
        return Table.of("Crosstable", table, [player, met, points], notes=notes, wide=True)
    scores = {row.player: {one.opponent: _cell(one) for one in row.against} for row in table}

    def against(opponent: str) -> Column[PlayerStanding]:
        return Column(str(place[opponent]), lambda row: scores[row.player].get(opponent, ""))

    return Table.of("Crosstable", table, [player, *map(against, place), points], wide=True)


def _pairings(row: PlayerStanding, place: Mapping[str, int]) -> str:
    return ", ".join(f"{at}: {cell}" for at, cell in sorted((place[one.opponent], _cell(one)) for one in row.against))


def _cell(met: Meeting) -> str:
    return " ".join("½" if score == 0.5 else f"{score:g}" for score in met.scores)
