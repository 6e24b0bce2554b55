"""Results next to moves: what the results of games say of each player's Elo.

In: results, which are the headers of the rated games, of other games, or a table. Out: for each player a curve of Elo,
which the axis combines with that of the moves. An opponent's strength is the rating in the header of the game. In
results that were asked for, it is otherwise what the opponent's own moves say, else the population of the axis; of the
rated games themselves only results against rated opponents count. The player's own rating is never used.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, Tally
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import ELO, result_curve
from skilloscope.inputs.load import Kind, by_kind
from skilloscope.inputs.pipeline import AnalysedGames
from skilloscope.inputs.request import RatingRequest
from skilloscope.report.table import plural
from skilloscope.results.columns import PGN_SCORES
from skilloscope.results.table import Results

RATED_SD = 60.0
"""How far a rating in a header is from the strength, one standard deviation in Elo."""
WHITE = 35.0
"""What the first move is worth, in Elo."""
_BEND = 200.0  # Elo over which the bend of a curve is measured
_HEADERS = ("white", "black", "white_elo", "black_elo", "result")
_KNOWN_BY = ("header", "moves", "population")


@dataclass(frozen=True, eq=False)
class PlayerResults:
    """The results that are in an Elo next to the moves."""

    games: int
    score: float
    opponents: float  # the opponents' mean Elo, as far as it is known
    curve: Array  # on ELO

    FIELDS: ClassVar = ("games", "score", "opponents")

    def __str__(self) -> str:
        return f"{self.score:g} of {self.games:,}"

    def precision(self, elo: float) -> float:
        """Return what one of the results says about an Elo: one over the variance."""
        low, middle, high = np.interp([elo - _BEND, elo, elo + _BEND], ELO, self.curve)
        return max(0.0, float(2 * middle - low - high) / _BEND**2 / self.games)


@dataclass(frozen=True)
class Fusion:
    """How results were counted next to the moves."""

    games: int
    players: int
    weight: float  # what the log-likelihood of the results is multiplied by
    rated_sd: float
    opponents_known_by: Mapping[str, int]

    def __str__(self) -> str:
        known = ", ".join(f"{n:,} by {by}" for by, n in self.opponents_known_by.items() if n)
        return (
            f"results of {plural(self.games, 'game')} count {self.weight:.2f}; opponents known: {known or 'none'} "
            f"(a rating in a header is taken as ± {self.rated_sd:.0f})"
        )


def read_counted_results(path: Path) -> Results | Games:
    """Read games, whose headers also have the opponents' ratings, or a table of results."""
    from skilloscope.inputs.results import read_files

    found = by_kind([path], Kind.RESULTS, Kind.GAMES)
    return read_games(path) if found[Kind.GAMES] else read_files([path])


def counts_results(found: AnalysedGames) -> bool:
    """Return whether results count in these ratings; where they were asked for and cannot, say why."""
    asked = found.asked
    weight = asked.effort.person.results if asked.effort.person else 0.0
    by_players, fitted = asked.by in ("player", "decider"), asked.kinds[0] in ("joint", "human")
    if found.results is not None:
        if not weight:
            said = f"the axis {asked.axis.name!r} has no weights for moves with results at effort {asked.effort.name!r}"
            raise InputError(said, hint="use the bundled axis")
        if not fitted:
            raise InputError(
                f"the weight of results together with the method {asked.method!r} was not fitted", hint="joint or human"
            )
        if not by_players:
            raise InputError(f"results are of players, not of groups by {asked.by!r}", hint="leave --by out")
    return bool(weight) and by_players and fitted


def results_of(
    found: AnalysedGames, levels: Mapping[str, tuple[float, float]]
) -> tuple[dict[str, PlayerResults], Fusion, Tally]:
    """Return the results of each player, given mean and sd of everybody's Elo by the moves alone."""
    sides, tally = _sides(found.games if found.results is None else found.results)
    asked, players, known, games = found.asked, dict[str, PlayerResults](), Counter[str](), set[int]()
    for name, own in sides.items():
        counted = [side for side in own if found.results is not None or side.rating is not None]
        if name not in levels or not counted:
            continue
        beliefs = [_belief(side, levels, asked) for side in counted]
        known.update(by for by, _, _ in beliefs)
        games.update(side.game for side in counted)
        mean, sd = (np.array([belief[at] for belief in beliefs]) for at in (1, 2))
        score = np.array([side.score for side in counted])
        curve = result_curve(mean - np.array([side.first_move for side in counted]), sd, score)
        players[name] = PlayerResults(len(counted), float(score.sum()), float(mean.mean()), curve)
    weight = asked.effort.person.results if asked.effort.person else 0.0
    by = {name: known[name] for name in _KNOWN_BY}
    return players, Fusion(len(games), len(players), weight, RATED_SD, by), tally


@dataclass(frozen=True)
class _Side:
    game: int
    opponent: str | None
    rating: float | None  # the opponent's in the header
    score: float
    first_move: float = 0.0


def _belief(side: _Side, levels: Mapping[str, tuple[float, float]], asked: RatingRequest) -> tuple[str, float, float]:
    """Return how an opponent is known, with mean and standard deviation."""
    if side.rating is not None:
        return "header", side.rating, RATED_SD
    if side.opponent is not None and side.opponent in levels:
        return "moves", *levels[side.opponent]
    people = asked.axis.prior()
    assert isinstance(people, Normal)
    return "population", people.mean, people.sd


def _sides(results: Results | Games) -> tuple[dict[str, list[_Side]], Tally]:
    """Return every game as each of its players saw it, and how many have no result."""
    if isinstance(results, Games):
        whites, blacks, *elos, texts = (results.headers[name].to_pylist() for name in _HEADERS)
        scores, edge = [PGN_SCORES.get(text or "") for text in texts], WHITE
    else:
        whites, blacks = ([results.players[at] for at in side] for side in (results.player_1, results.player_2))
        scores, elos, edge = results.score.tolist(), [[None] * len(results)] * 2, 0.0
    found: dict[str, list[_Side]] = {}
    tally = Tally()
    for game, (white, black, white_elo, black_elo, score) in enumerate(zip(whites, blacks, *elos, scores, strict=True)):
        if score is None:
            tally.count("game without a result")
            continue
        if white is not None:
            found.setdefault(white, []).append(_Side(game, black, black_elo, score, edge))
        if black is not None:
            found.setdefault(black, []).append(_Side(game, white, white_elo, 1 - score, -edge))
    return found, tally
