"""`rate`: how strong players are. Games are rated on the Elo axis, decisions by the papers' agent."""

from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError
from skilloscope.core.frames import is_frame
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import decisions_from_frame
from skilloscope.evidence.axis import EloAxis
from skilloscope.evidence.scales import Scale
from skilloscope.inputs.pipeline import GamesGiven, PathLike, analysed_given
from skilloscope.results.table import Results
from skilloscope.studies import elo_ratings
from skilloscope.studies.agent_ratings import AgentRatings, rate_decisions
from skilloscope.studies.breakdown import check_parts
from skilloscope.studies.elo_ratings import WHOLE, EloRatings
from skilloscope.studies.fusion import read_counted_results


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
        which `breakdown` pools), `with_results` (a file of results, or what was read from one, to
        count in place of those of the games), and for the engine `engine`, `store`,
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
    with_results: PathLike | Results | Games | None = None,
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
    if with_results is not None:
        given = with_results if isinstance(with_results, Results | Games) else read_counted_results(Path(with_results))
        found = replace(found, results=given)
    return elo_ratings.rate_on_axis(found, names)
