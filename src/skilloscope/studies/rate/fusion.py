"""Ratings from moves, fused with the results of games: one posterior of Elo for each player.

In: ratings on the Elo axis, and results: games (their headers) or a table. Out: the same ratings with the results in
them. An opponent is who he is in this order: by his rating in the header of the game, by his own moves in the
ratings, by the population of the axis. The player's own rating is never used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import InputError, Tally
from skilloscope.inference import Normal
from skilloscope.ratings.elo_axis.axis import elo_posterior
from skilloscope.ratings.elo_axis.fusing import Beside, fused_posterior, result_curve
from skilloscope.results.scores import parse_score
from skilloscope.results.table import Results
from skilloscope.sources.kinds import Kind, by_kind
from skilloscope.sources.results import read_files
from skilloscope.studies.rate.elo import GOAL, EloRating, EloRatings, PlayerResults, in_order

RATED_SD = 60.0
"""How far a rating in a header is from the strength, one standard deviation in Elo."""
_KNOWN_BY = ("header", "moves", "population")


@dataclass(frozen=True)
class _Side:
    """One game seen by one player."""

    opponent: str | None
    rating: float | None
    """The opponent's in the header."""
    score: float


def fuse(ratings: EloRatings, results: Results | Games) -> EloRatings:
    """Return the ratings with the results of the players in them; who has none is left as he is.

    Moves and results of one game tell in part the same, so both count as far as `beside` of the effort says.
    """
    beside = ratings.scale.effort(ratings.effort).beside
    if beside is None:
        raise InputError(
            f"the axis {ratings.scale.name!r} has no figure for results beside moves at effort {ratings.effort!r}",
            hint="use the axis that ships",
        )
    if ratings.method in ("curves", "gain"):
        raise InputError(
            f"how far results count beside the method {ratings.method!r} was not fitted", hint="joint or human"
        )
    if ratings.by not in ("player", "decider"):
        raise InputError(f"results are of players, not of groups by {ratings.by!r}", hint="leave --by out")
    sides, tally = _sides(results)
    beliefs = {one.player: (one.elo.mean, one.elo.sd) for one in ratings.players}
    known: Counter[str] = Counter()
    players = [_fused(one, sides.get(one.player, ()), beliefs, ratings, beside, known) for one in ratings.players]
    about = {
        "games": len(results) - tally.total,
        "players": sum(one.results is not None for one in players),
        "beside": vars(beside),
        "rated_sd": RATED_SD,
        "opponents_known_by": {name: known[name] for name in _KNOWN_BY},
    }
    return replace(ratings, players=in_order(players), tally=ratings.tally + tally, fusion=about)


def read_results_to_fuse(path: Path) -> Results | Games:
    """Read games, whose headers also tell how opponents are rated, or a table of results."""
    found = by_kind([path], Kind.RESULTS, Kind.GAMES)
    return read_games(path) if found[Kind.GAMES] else read_files([path])


def _fused(
    one: EloRating,
    sides: Sequence[_Side],
    beliefs: Mapping[str, tuple[float, float]],
    ratings: EloRatings,
    beside: Beside,
    known: Counter[str],
) -> EloRating:
    if not sides:
        return one
    believed = [_belief(side, beliefs, ratings) for side in sides]
    known.update(by for by, _, _ in believed)
    score = np.array([side.score for side in sides])
    mean = np.array([elo for _, elo, _ in believed])
    curve = result_curve(mean, np.array([sd for _, _, sd in believed]), score)
    prior = ratings.scale.prior(ratings.prior["name"], header_elo=one.header_elo)
    elo = fused_posterior(one.elo, prior, curve, beside)
    alone = elo_posterior(curve, prior).elo_fields(one.mass)
    methods = {
        **one.methods,
        "moves": {name: one.elo.elo_fields(one.mass)[name] for name in ("elo", "elo_low", "elo_high")},
        "results": {name: alone[name] for name in ("elo", "elo_low", "elo_high")},
    }
    return replace(
        one,
        elo=elo,
        extrapolated=ratings.scale.extrapolates(elo.mean),
        methods=methods,
        results=PlayerResults(len(sides), float(score.sum()), float(mean.mean())),
        more_games=0 if elo.sd <= GOAL else one.more_games,
    )


def _belief(side: _Side, beliefs: Mapping[str, tuple[float, float]], ratings: EloRatings) -> tuple[str, float, float]:
    """Return how an opponent is known, with mean and standard deviation."""
    if side.rating is not None:
        return "header", side.rating, RATED_SD
    if side.opponent is not None and side.opponent in beliefs:
        return "moves", *beliefs[side.opponent]
    people = ratings.scale.prior()
    assert isinstance(people, Normal)
    return "population", people.mean, people.sd


def _sides(results: Results | Games) -> tuple[dict[str, list[_Side]], Tally]:
    """Return every game as each of its players saw it, and how many have no result."""
    rows = _rows_of_games(results) if isinstance(results, Games) else _rows_of_table(results)
    found: dict[str, list[_Side]] = {}
    tally = Tally()
    for names, ratings, score in rows:
        if score is None:
            tally.count("game without a result")
            continue
        for own, other in ((0, 1), (1, 0)):
            name = names[own]
            if name is not None:
                seen = _Side(names[other], ratings[other], score if own == 0 else 1 - score)
                found.setdefault(name, []).append(seen)
    return found, tally


_Row = tuple[tuple[str | None, str | None], tuple[float | None, float | None], float | None]


def _rows_of_games(games: Games) -> list[_Row]:
    columns = [games.headers[name].to_pylist() for name in ("white", "black", "white_elo", "black_elo", "result")]

    def score_of(text: Any) -> float | None:
        score, reason = parse_score(text or "")
        return None if reason else score

    return [((w, b), (we, be), score_of(result)) for w, b, we, be, result in zip(*columns, strict=True)]


def _rows_of_table(results: Results) -> list[_Row]:
    names = results.players
    columns = (results.player_1.tolist(), results.player_2.tolist(), results.score.tolist())
    return [((names[a], names[b]), (None, None), score) for a, b, score in zip(*columns, strict=True)]
