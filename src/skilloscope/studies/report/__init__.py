"""What `skilloscope report` asks: one player or a whole event, from Elo to the single decision, as a page to read."""

from collections.abc import Sequence

from skilloscope.evidence.axis import EloAxis
from skilloscope.inputs.pipeline import AnalysedGames, GamesGiven, PathLike, analysed_given
from skilloscope.studies.elo_ratings import rate_on_axis
from skilloscope.studies.report.event import EventReport, event_of
from skilloscope.studies.report.player import PlayerReport, player_of


def report(
    games: GamesGiven,
    player: str | None = None,
    *,
    axis: EloAxis | None = None,
    effort: str | None = None,
    prior: str = "opponents",
    mass: float = 0.95,
    minutes: float | None = None,
    engine: str | None = None,
    store: PathLike | None = None,
    imports: Sequence[PathLike] = (),
    workers: int = 1,
) -> PlayerReport | EventReport:
    """Report on a player or an event, as `skilloscope report` does.

    Parameters
    ----------
    games : Games, path or paths
        Games that were read, or PGN files.
    player : str, optional
        Whose report; a part of the name is enough. Without: the event.
    axis : EloAxis, optional
        The Elo axis, FIDE's unless given.
    effort : str, optional
        `instant` (no engine), `quick` or `full`; by default the deepest where there is an engine.
    prior : str
        The prior of Elo: `opponents`, `file`, `population`, `flat` or `header`.
    mass : float
        The probability that intervals hold.
    minutes : float, optional
        How long the engine may search.
    engine, store, imports, workers
        The engine (a name or path), the store of its answers, files of answers, processes.

    Returns
    -------
    PlayerReport or EventReport
        With `ratings`, `costliest` or `turning`, `finds`, `tables()`, `figures()`, `page()` and `as_dict()`.

    Examples
    --------
    >>> from skilloscope.inputs.bundled import demo_file
    >>> event = report(demo_file("simulated.pgn"), effort="instant")
    >>> event.title, event.judge
    ('skilloscope demo', 'people')
    """
    found, names = analysed_given(
        games, [] if player is None else [player], axis=axis, effort=effort, prior=prior, mass=mass, minutes=minutes,
        engine=engine, store=store, imports=imports, workers=workers,
    )  # fmt: skip
    return report_on(found, names)


def report_on(found: AnalysedGames, players: Sequence[str] = ()) -> PlayerReport | EventReport:
    """Return the report on a player of analysed games, or without one on the event."""
    ratings = rate_on_axis(found, players)
    return player_of(found, players[0], ratings) if players else event_of(found, ratings)
