"""What an analysis will cost, and which games fit a budget of time.

In: games, and the work that is to be done on them. Out: an AnalysisPlan, which says how many positions there are, how
many are known, and how long the rest will take by a short measurement; and for a budget a sample of whole games.

The games are put in an order that the seed and their ids give, and taken from its beginning until the time is used
up. So a larger budget takes the games of a smaller one, and more. What is known already costs nothing, so that
the same budget again goes on further down the same order.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyse import Progress
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.core.errors import InputError, OptionError

if TYPE_CHECKING:
    from skilloscope.inputs.load import EngineJob

NOT_SAMPLED = "not sampled (games beyond the budget)"
MEASURED = 20  # so many positions are searched to learn how long one takes; they are kept

_MEASURING_SECONDS = 20.0


@dataclass(frozen=True, eq=False)
class AnalysisPlan:
    """How many different positions there are, where their answers will come from, and how long the rest takes."""

    games: int
    total: int
    cached: int
    imported: int
    measured: int  # searched now, to learn the time of one; they are in the store
    seconds_each: float | None
    """Wall-clock time of one position with the workers asked for; None where nothing was to be measured."""
    unknown: Mapping[int, frozenset[str]]  # the positions still to be searched, by the row of the game
    settings: Mapping[str, Any]

    @property
    def to_search(self) -> int:
        """How many different positions are to be searched."""
        return len(frozenset().union(*self.unknown.values()))

    @property
    def expected_seconds(self) -> float:
        """How long that will take."""
        return self.to_search * (self.seconds_each or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Return what `--dry-run --json` sends."""
        counts = {name: getattr(self, name) for name in ("total", "cached", "imported", "measured", "to_search")}
        times = {"seconds_each": self.seconds_each, "expected_seconds": self.expected_seconds}
        return {"games": self.games, "positions": counts, **times}


@dataclass(frozen=True, eq=False)
class Sample:
    """The games that fit a budget: their rows in the games they were drawn from, and what they will cost."""

    rows: npt.NDArray[np.int64]
    games_in_all: int
    to_search: int
    expected_seconds: float
    budget_minutes: float
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Return the note about the sample."""
        names = ("games_in_all", "to_search", "expected_seconds", "budget_minutes", "seed")
        return {"games": len(self.rows), **{name: getattr(self, name) for name in names}}


def plan(
    games: Games,
    work: EngineJob,
    *,
    seed: int = 1,
    player: str | Collection[str] | None = None,
    both_sides: bool = False,
    measure: bool = True,
) -> AnalysisPlan:
    """Return what an analysis will cost, measured by a few positions; unmeasured, the rest is never done."""
    games.refuse_empty()
    batch = positions(games, player=player, both_sides=both_sides, scope=work.settings.scope)
    quiet = replace(work, progress=None, export=None)
    # A search that may take no time takes what is known, and learns from the engine under which key to look.
    known = replace(quiet, deadline_seconds=0.0, workers=None).analyse(batch)
    unknown: dict[int, set[str]] = {}
    fens = batch.fen.to_pylist()
    for at in np.flatnonzero(~known.answered).tolist():
        unknown.setdefault(int(batch.game[at]), set()).add(work.settings.problem(fens[at]))
    pool = sorted(frozenset().union(*unknown.values()))
    drawn = {pool[at] for at in np.random.default_rng(seed).permutation(len(pool))[:MEASURED]}
    done, seconds = _measure(batch, drawn, replace(work, export=None)) if measure else (frozenset[str](), np.inf)
    return AnalysisPlan(
        games=len(games),
        total=len({work.settings.problem(fen) for fen in fens}),
        cached=known.cached,
        imported=known.imported,
        measured=len(done),
        seconds_each=seconds,
        unknown={game: frozenset(left) for game, wanted in unknown.items() if (left := wanted - done)},
        settings=known.settings,
    )


def sample_games(
    games: Games,
    planned: AnalysisPlan,
    minutes: float,
    *,
    seed: int = 1,
    strata: Sequence[Any] | None = None,
    order: npt.NDArray[np.int64] | None = None,
    known_too: bool = False,
) -> Sample:
    """Return the first games of an order that fit the minutes; with `known_too` also later ones known by then."""
    each, left = planned.seconds_each or 0.0, minutes * 60
    if minutes <= 0 and each < np.inf:
        raise OptionError(f"a budget of {minutes:g} minutes", hint="give more than 0")
    taken, wanted, full = [], frozenset[str](), False
    for game in (game_order(games, seed, strata) if order is None else order).tolist():
        need = planned.unknown.get(game, frozenset()) - wanted
        if need and (full or (len(wanted) + len(need)) * each > left):
            full = True
            if not known_too:
                break
            continue
        taken.append(game)
        wanted |= need
    if not taken and each < np.inf:
        first = f"the first game of the sample takes {len(need) * each / 60:.1f} minutes"
        larger = "give a larger budget, a smaller depth, or more workers"
        raise InputError(f"{first}, more than the budget of {minutes:g}", hint=larger)
    rows = np.sort(np.array(taken, dtype=np.int64))
    return Sample(rows, len(games), len(wanted), len(wanted) * each if wanted else 0.0, minutes, seed)


def game_order(games: Games, seed: int, strata: Sequence[Any] | None = None) -> npt.NDArray[np.int64]:
    """Return the games in the seed's order, whatever else is there; with `strata` the first of each comes first."""
    marks = [hashlib.sha256(f"{seed}/{game}".encode()).digest() for game in games.headers["game"].to_pylist()]
    order = sorted(range(len(marks)), key=marks.__getitem__)
    if strata is not None:
        seen: Counter[Any] = Counter()
        ranks = {}
        for row in order:
            ranks[row] = seen[strata[row]]
            seen[strata[row]] += 1
        order = sorted((row for row in order if strata[row] is not None), key=ranks.__getitem__)
    return np.array(order, dtype=np.int64)


def fair_order(games: Games, seed: int) -> npt.NDArray[np.int64]:
    """Return the games so that next comes one of those players who have had the fewest; ties by the seed."""
    white, black = (games.headers[side].to_pylist() for side in ("white", "black"))
    had: Counter[str | None] = Counter()
    rank = {row: place for place, row in enumerate(game_order(games, seed).tolist())}

    def need(row: int) -> tuple[int, int, int]:
        own = had[white[row]], had[black[row]]
        return min(own), sum(own), rank[row]

    heap = [(need(row), row) for row in rank]
    heapq.heapify(heap)
    order = []
    while heap:
        known, row = heapq.heappop(heap)
        if (now := need(row)) != known:  # its players have had games since: it goes back to where it belongs
            heapq.heappush(heap, (now, row))
            continue
        order.append(row)
        had.update((white[row], black[row]))
    return np.array(order, dtype=np.int64)


def _measure(batch: Positions, drawn: set[str], work: EngineJob) -> tuple[frozenset[str], float | None]:
    if not drawn:
        return frozenset(), None
    fens = [work.settings.problem(fen) for fen in batch.fen.to_pylist()]
    at = [fens.index(problem) for problem in sorted(drawn)]
    seen: list[Progress] = []

    def progress(now: Progress) -> None:
        seen.append(now)
        if work.progress:
            work.progress(now)

    timed = replace(work, deadline_seconds=_MEASURING_SECONDS, progress=progress)
    measured = timed.analyse(batch.select(at))
    tried = seen[-1].searched + seen[-1].failed
    done = frozenset(fens[i] for i, known in zip(at, measured.answered, strict=True) if known)
    return done, seen[-1].seconds / tried if tried else None
