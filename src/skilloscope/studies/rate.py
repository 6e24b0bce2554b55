"""`rate`: how strong players are. Games are rated on the Elo axis, decisions by the papers' agent.

`fuse` counts the results of games too: one posterior of Elo for each player, from moves and results. In: ratings on the
Elo axis, and results: games (their headers) or a table. An opponent's strength is taken from the rating in the header
of the game, else from the opponent's own moves in the ratings, else from the population of the axis. The player's own
rating is never used.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import is_frame
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import decisions_from_frame
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import Beside, EloAxis, elo_posterior, fused_posterior, result_curve
from skilloscope.evidence.scales import Scale
from skilloscope.inputs.load import Kind, by_kind
from skilloscope.inputs.pipeline import GamesGiven, PathLike, analysed_given
from skilloscope.inputs.results import read_files
from skilloscope.results.columns import parse_score
from skilloscope.results.table import Results
from skilloscope.studies import elo_ratings
from skilloscope.studies.agent_ratings import AgentRatings, MethodElo, rate_decisions
from skilloscope.studies.breakdown import check_parts
from skilloscope.studies.elo_ratings import GOAL, WHOLE, EloRating, EloRatings, Fusion, PlayerResults, in_order

RATED_SD = 60.0  # how far a rating in a header is from the strength, one standard deviation in Elo
_KNOWN_BY = ("header", "moves", "population")
_HEADERS = ("white", "black", "white_elo", "black_elo", "result")


@overload
def rate(what: Decisions, scale: Scale | None = None, **options: Any) -> AgentRatings: ...
@overload
def rate(what: GamesGiven, scale: EloAxis | None = None, **options: Any) -> EloRatings: ...
def rate(what: Any, scale: Any = None, **options: Any) -> AgentRatings | EloRatings:
    """Rate the players of games, given as Games or as PGN files, or the deciders of decisions.

    Parameters
    ----------
    what : Games, PGN files, Decisions, or a pandas or polars frame of decisions
    scale : the Elo axis for games, the agent's scale for decisions; what ships unless given
    options : for games `effort` (`instant` asks no engine), `method` (`joint`, `human`, `curves`, `gain`, `all`),
        `prior`, `player`, `mass`, `by` (`event`, `game`; with `parts="independent"` also `phase`, `colour` and so on,
        which `breakdown` pools), `with_results` (a file of results to count too), and for the engine `engine`, `store`,
        `imports`, `workers`; for decisions `model`, `prior`, `by`, `mass`

    Returns
    -------
    EloRatings, as `skilloscope rate` shows them; AgentRatings for decisions

    Examples
    --------
    >>> import skilloscope as sk
    >>> sk.rate(sk.demo_games().select([0]), effort="instant").players[0].elo.mean > 1500
    True
    """
    if is_frame(what):
        what = decisions_from_frame(what)
    if not isinstance(what, Decisions):
        return _rate_games(what, scale, **options)
    if unknown := {"effort", "method"} & set(options):
        raise InputError(
            f"decisions have no {' and no '.join(sorted(unknown))}: they are rated by the papers' agent",
            hint='give the games themselves: rate("games.pgn", effort="instant")',
        )
    return rate_decisions(what, scale, **options)


def _rate_games(
    what: GamesGiven,
    axis: EloAxis | None,
    *,
    player: str | None = None,
    by: str = "player",
    parts: str = "pooled",
    with_results: PathLike | None = None,
    **options: Any,
) -> EloRatings:
    if axis is not None and not isinstance(axis, EloAxis):
        raise InputError(
            f"games are rated on an EloAxis, not {axis!r}", hint="skilloscope.evidence.axis.elo_axis() gives one"
        )
    check_parts(parts)
    if by not in WHOLE and parts == "pooled":
        raise InputError(
            f"by {by} are parts of a player's moves, which are pooled",
            hint=f'breakdown(…, "{by}"), or parts="independent"',
        )
    found, names = analysed_given(what, [] if player is None else [player], axis=axis, by=by, **options)
    ratings = elo_ratings.rate_on_axis(found, names)
    return ratings if with_results is None else fuse(ratings, read_results_to_fuse(Path(with_results)))


@dataclass(frozen=True)
class _Side:
    opponent: str | None
    rating: float | None  # the opponent's in the header
    score: float


def fuse(ratings: EloRatings, results: Results | Games) -> EloRatings:
    """Return the ratings with the players' results; `beside` weighs moves and results of one game."""
    effort = ratings.basis.effort.name
    beside = ratings.scale.effort(effort).beside
    if beside is None:
        said = f"the axis {ratings.scale.name!r} has no weights for moves with results at effort {effort!r}"
        raise InputError(said, hint="use the bundled axis")
    if ratings.method in ("curves", "gain"):
        raise InputError(
            f"the weight of results together with the method {ratings.method!r} was not fitted", hint="joint or human"
        )
    if ratings.by not in ("player", "decider"):
        raise InputError(f"results are of players, not of groups by {ratings.by!r}", hint="leave --by out")
    sides, tally = _sides(results)
    beliefs = {one.player: (one.elo.mean, one.elo.sd) for one in ratings.players}
    known: Counter[str] = Counter()
    players = [_fused(one, sides.get(one.player, ()), beliefs, ratings, beside, known) for one in ratings.players]
    about = Fusion(
        games=len(results) - tally.total,
        players=sum(one.results is not None for one in players),
        beside=vars(beside),
        rated_sd=RATED_SD,
        opponents_known_by={name: known[name] for name in _KNOWN_BY},
    )
    return replace(ratings, players=in_order(players), tally=ratings.tally + tally, fusion=about)


def read_results_to_fuse(path: Path) -> Results | Games:
    """Read games, whose headers also have the opponents' ratings, or a table of results."""
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
    prior = one.prior or ratings.scale.prior()
    elo = fused_posterior(one.elo, prior, curve, beside, len(sides))
    methods = {
        **one.methods,
        "moves": MethodElo.of(one.elo, one.mass),
        "results": MethodElo.of(elo_posterior(curve, prior), one.mass),
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
    if isinstance(results, Games):
        whites, blacks, *elos, texts = (results.headers[name].to_pylist() for name in _HEADERS)
        parsed = [parse_score(text or "") for text in texts]
        scores: list[float | None] = [None if reason else score for score, reason in parsed]
    else:
        whites, blacks = ([results.players[at] for at in side] for side in (results.player_1, results.player_2))
        scores, elos = results.score.tolist(), [[None] * len(results)] * 2
    found: dict[str, list[_Side]] = {}
    tally = Tally()
    for white, black, white_elo, black_elo, score in zip(whites, blacks, *elos, scores, strict=True):
        if score is None:
            tally.count("game without a result")
            continue
        if white is not None:
            found.setdefault(white, []).append(_Side(black, black_elo, score))
        if black is not None:
            found.setdefault(black, []).append(_Side(white, white_elo, 1 - score))
    return found, tally
