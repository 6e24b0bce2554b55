"""The games behind DFHR09 and DFH13's composite players: those that come analysed, and samples of the papers' periods.

In: a Budget. Out: decisions near Elo mileposts, and a sentence that says which games, how many positions. The analysed
file costs no engine time; the papers' own years are sampled where analyses are imported, stored or may be made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.papers.harness import Budget
from skilloscope.papers.samples import NO_DATA, analysed_decisions, may_sample, sampled_decisions
from skilloscope.ratings.mileposts import shared_milepost, with_mileposts
from skilloscope.sources.plan import game_order
from skilloscope.studies.composites.composites import Composite, Composites, composites_from
from skilloscope.studies.composites.game_evidence import PlayerGames, player_games

TOLERANCE, _NEAR = 15.0, 10.0
"""How near the milepost the players of the data are, and how near the papers' are."""

PERIODS: Mapping[int, tuple[int, int]] = {
    2100: (1994, 1998),
    2200: (1971, 1998),
    2300: (1971, 2005),
    2400: (1971, 2006),
    2500: (1995, 2006),
    2600: (1995, 2006),
    2700: (1991, 2006),
}
"""The years from which the papers took the games of each milepost. [DFHR09 Table I, DFH13 Table III]"""

_ERAS = ("1970s", "1990s", "2000-2005", "2006-2009")
_MOST = 100  # games of a milepost, by the seed's order, among which a sample is planned


@dataclass(frozen=True, eq=False)
class Bands:
    """Decisions near mileposts with their player-games and composites, and what is to be said of them."""

    decisions: Decisions
    rows: PlayerGames
    composites: Composites
    note: str
    period: str

    def group(self, milepost: int) -> Composite | None:
        """Return the composite player of a milepost, None where there is none."""
        return next((group for group in self.composites.groups if group.label == milepost), None)


def analysed_bands(budget: Budget) -> Bands | None:
    """Return the composites of the games that come analysed, None without them."""
    return budget.once(_analysed_bands)


def period_bands(budget: Budget) -> tuple[Bands | None, str]:
    """Return a sample of the papers' own periods where any of its games is known or may be searched; and a note."""
    return budget.once(_period_bands)


def year_games(budget: Budget, years: tuple[int, int], era: str) -> Games | None:
    """Return games of an era's files near mileposts: the first of each in the seed's order. None without files."""
    files = [] if budget.data is None else sorted((budget.data / "bands").glob(f"*_{era}.pgn"))
    if not files:
        return None
    posts = {int(path.name.split("_")[0]): years for path in files}
    return _first_games(read_games(files), posts, TOLERANCE, budget.seed)


def _period_bands(budget: Budget) -> tuple[Bands | None, str]:
    if budget.data is None:
        return None, NO_DATA
    if not may_sample(budget):
        said = "the papers' own years are sampled with engine time (--budget MINUTES) or analyses (--import FILE)"
        return None, said
    named = [budget.data / "bands" / f"{post}_{era}.pgn" for post in PERIODS for era in _ERAS]
    files = [path for path in named if path.is_file()]
    if not files:
        return None, "no files of bands in the data folder"
    games = _first_games(read_games(files), PERIODS, _NEAR, budget.seed)
    try:
        sampled = sampled_decisions(
            budget, games, strata=partial(_mileposts, periods=PERIODS, within=_NEAR), name="bands"
        )
    except InputError as error:
        return None, f"the papers' own years were not sampled: {error}"
    return _bands(sampled.decisions, _NEAR, sampled.note, "the paper's years"), sampled.note


def _analysed_bands(budget: Budget) -> Bands | None:
    batch = analysed_decisions(budget)
    if batch is None:
        return None
    found = _bands(batch, TOLERANCE, "", "")
    near = found.decisions
    years = near.column("year").to_numpy()
    period = f"{years.min()}–{years.max()}"
    note = (
        f"ours: {len(near.groups('game')[0]):,} analysed games of {period}, both players within ±{TOLERANCE:g} Elo of "
        f"a milepost, {len(near):,} positions by {near.about['settings'].get('engine', 'an engine')}, depth 10, "
        "ten moves listed"
    )
    return replace(found, note=note, period=period)


def _bands(batch: Decisions, within: float, note: str, period: str) -> Bands:
    near = with_mileposts(batch, within)
    rows = player_games(near)
    return Bands(near, rows, composites_from(rows, near, tolerance=within), note, period)


def _mileposts(games: Games, periods: Mapping[int, tuple[int, int]], within: float) -> list[int | None]:
    """Return the milepost of each game whose players are near it and whose year is in its period, else None."""
    white, black, year = (
        np.array([np.nan if value is None else value for value in games.headers[name].to_pylist()], dtype=float)
        for name in ("white_elo", "black_elo", "year")
    )
    found: list[int | None] = [None] * len(games)
    post = shared_milepost(white, black, within)
    for row in np.flatnonzero(~np.isnan(post)).tolist():
        first, last = periods.get(int(post[row]), (np.inf, -np.inf))
        found[row] = int(post[row]) if first <= year[row] <= last else None
    return found


def _first_games(games: Games, periods: Mapping[int, tuple[int, int]], within: float, seed: int) -> Games:
    """Return the first games of each milepost in the seed's order, so that not all need be planned."""
    order = game_order(games, seed, _mileposts(games, periods, within))
    return games.select(np.sort(order[: _MOST * len(periods)]))
