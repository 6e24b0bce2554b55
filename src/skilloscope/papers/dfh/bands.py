"""The games behind DFHR09 and DFH13's composite players: those that come analysed, and samples of the papers' periods.

In: a Budget. Out: decisions near Elo mileposts, and a sentence that says which games, how many positions. The analysed
file costs no engine time; the papers' own years are sampled where analyses are imported, stored or may be made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.chess.analysis.given import read_analysed
from skilloscope.chess.decisions import decided_reason, decisions
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.papers.harness import Budget
from skilloscope.papers.samples import NO_DATA, SHARED_ANALYSES, sampled_decisions
from skilloscope.sources.plan import game_order
from skilloscope.studies.composites.composites import Composites, composites_from
from skilloscope.studies.composites.game_evidence import PlayerGames, player_games, with_mileposts

TOLERANCE = 15.0
"""How near the milepost the players of the data are; the papers' are within 10."""

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

    def group(self, milepost: int) -> Any:
        """Return the composite player of a milepost, None where there is none."""
        return next((group for group in self.composites.groups if group.label == milepost), None)


def analysed_bands(budget: Budget) -> Bands | None:
    """Return the composites of the games that come analysed, None without them."""
    path = analysed_file(budget)
    return None if path is None else _analysed_bands(path, path.stat().st_mtime)


def analysed_batch(path: Path, *, max_abs_value: float = 3.0) -> Decisions:
    """Return the decisions of a file of analysed games, without the shallower depths; the file is read once."""
    every = _every_decision(path, path.stat().st_mtime)
    near = np.abs(every.best.astype(float)) <= max_abs_value
    about = {**every.about, "max_abs_value": max_abs_value}
    return replace(every.select(near, reason=decided_reason(max_abs_value)), about=about)


def period_bands(budget: Budget) -> tuple[Bands | None, str]:
    """Return a sample of the papers' own periods where any of its games is known or may be searched; and a note."""
    if _last and _last[0][0] is budget:  # several entries ask for it, and each would spend the budget again
        return _last[0][1]
    found = _period_bands(budget)
    _last[:] = [(budget, found)]
    return found


_last: list[tuple[Budget, tuple[Bands | None, str]]] = []


def year_games(budget: Budget, years: tuple[int, int], era: str) -> Games | None:
    """Return games of an era's files near mileposts: the first of each in the seed's order. None without files."""
    folder = None if budget.data is None else budget.data / "bands"
    files = tuple(sorted(folder.glob(f"*_{era}.pgn"))) if folder is not None and folder.is_dir() else ()
    if not files:
        return None
    posts = [int(path.name.split("_")[0]) for path in files]
    return _first_games(_read(files), [years] * len(posts), posts, budget.seed, TOLERANCE)


def may_sample(budget: Budget) -> bool:
    """Return whether any analysis may be at hand: engine time, imports or a store."""
    stored = budget.work.store is not None and budget.work.store.exists()
    return budget.minutes > 0 or bool(budget.work.imports) or stored


def _period_bands(budget: Budget) -> tuple[Bands | None, str]:
    if budget.data is None:
        return None, NO_DATA
    if not may_sample(budget):
        return (
            None,
            "the papers' own years are sampled with engine time (--budget MINUTES) or analyses (--import FILE)",
        )
    files = tuple(
        path for post in PERIODS for era in _ERAS if (path := budget.data / "bands" / f"{post}_{era}.pgn").is_file()
    )
    if not files:
        return None, "no files of bands in the data folder"
    games = _first_games(_read(files), list(PERIODS.values()), list(PERIODS), budget.seed, 10.0)
    try:
        sampled = sampled_decisions(
            budget, games, strata=lambda some: _labels(some, list(PERIODS.values()), list(PERIODS), 10.0), name="bands"
        )
    except InputError as error:
        return None, f"the papers' own years were not sampled: {error}"
    return _bands(with_mileposts(sampled.decisions, 10.0), 10.0, sampled.note, "the paper's years"), sampled.note


def analysed_file(budget: Budget) -> Path | None:
    """Return the file of analysed games in the data folder, None where there is none."""
    folder = None if budget.data is None else budget.data / "analysed"
    files = sorted(folder.glob("*.jsonl*")) if folder is not None and folder.is_dir() else []
    return files[0] if files else None


@lru_cache(maxsize=1)
def _every_decision(path: Path, modified: float) -> Decisions:
    return decisions(read_analysed(path, SHARED_ANALYSES), max_abs_value=np.inf, all_depths=False)


@lru_cache(maxsize=1)
def _analysed_bands(path: Path, modified: float) -> Bands:
    batch = with_mileposts(analysed_batch(path), TOLERANCE)
    years = batch.column("year").to_numpy()
    period = f"{years.min()}–{years.max()}"
    games = len(batch.groups("game")[0])
    note = (
        f"ours: {games:,} analysed games of {period}, both players within ±{TOLERANCE:g} Elo of a milepost, "
        f"{len(batch):,} positions by {batch.about['settings'].get('engine', 'an engine')}, depth 10, ten moves listed"
    )
    return _bands(batch, TOLERANCE, note, period)


def _bands(batch: Decisions, tolerance: float, note: str, period: str) -> Bands:
    rows = player_games(batch)
    return Bands(batch, rows, composites_from(rows, batch, tolerance=tolerance), note, period)


@lru_cache(maxsize=2)
def _read(files: tuple[Path, ...]) -> Games:
    return read_games(list(files))


def _labels(
    games: Games, periods: Sequence[tuple[int, int]], mileposts: Sequence[int], tolerance: float
) -> list[int | None]:
    """Return the milepost of each game whose players are near it and whose year is in its period, else None."""
    white, black, year = (
        np.array([np.nan if value is None else value for value in games.headers[name].to_pylist()], dtype=float)
        for name in ("white_elo", "black_elo", "year")
    )
    found: list[int | None] = [None] * len(games)
    for post, (first, last) in zip(mileposts, periods, strict=True):
        near = (np.abs(white - post) <= tolerance) & (np.abs(black - post) <= tolerance)
        for row in np.flatnonzero(near & (first <= year) & (year <= last)).tolist():
            found[row] = post
    return found


def _first_games(
    games: Games, periods: Sequence[tuple[int, int]], mileposts: Sequence[int], seed: int, tolerance: float
) -> Games:
    """Return the first games of each milepost in the seed's order, so that not all need be planned."""
    order = game_order(games, seed, _labels(games, periods, mileposts, tolerance))
    return games.select(np.sort(order[: _MOST * len(mileposts)]))
