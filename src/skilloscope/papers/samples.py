"""Decisions for a reproduction: games of the data folder, sampled by a seeded rule to what is known or may be searched.

In: a Budget and the files that a table of a paper asks for. Out: the decisions, and a sentence that says what was
sampled. The games come in the seed's order, stratum by stratum in turn; what the imported analyses hold costs nothing,
so that a run without any engine time takes the beginning of that order as far as it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.chess.analysis.given import read_analysed
from skilloscope.chess.decisions import decided_reason, decisions
from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import EngineError, InputError
from skilloscope.decision import Decisions
from skilloscope.papers.harness import Budget, NotAnalysedError
from skilloscope.sources.judge import Work, judge_games
from skilloscope.sources.plan import plan, sample_games

NO_DATA = "needs real games: give their folder with --data"

SHARED_ANALYSES = DFH13.key({"engine": "Stockfish 15.1", "net": "nn-ad9b42354671.nnue"})
"""Whose answers the analysed games of the data folder are: its README says so, the file itself does not."""

_MORE = "import analyses (measurements/) with --import, or give engine time with --budget MINUTES"

Strata = Callable[[Games], Sequence[Any]]


@dataclass(frozen=True, eq=False)
class Sampled:
    """The decisions of a sample of games, and what is to be said of it."""

    decisions: Decisions
    games: Games
    note: str


def data_files(budget: Budget, *names: str) -> list[Path] | None:
    """Return the files of the data folder that match the names (globs), or None where there is no folder."""
    if budget.data is None:
        return None
    found = [path for name in names for path in sorted(budget.data.glob(name))]
    if not found:
        raise InputError(
            f"{budget.data}: no file like {' or '.join(names)}", hint="give the folder of games with --data"
        )
    return found


def analysed_file(budget: Budget) -> Path | None:
    """Return the file of analysed games in the data folder, None where there is none."""
    files = [] if budget.data is None else sorted((budget.data / "analysed").glob("*.jsonl*"))
    return files[0] if files else None


def analysed_decisions(budget: Budget, *, max_abs_value: float = 3.0) -> Decisions | None:
    """Return the decisions of the analysed games, without the shallower depths; None where there are none."""
    every = budget.once(_every_decision)
    if every is None:
        return None
    near = np.abs(every.best.astype(float)) <= max_abs_value
    about = {**every.about, "max_abs_value": max_abs_value}
    return replace(every.select(near, reason=decided_reason(max_abs_value)), about=about)


def _every_decision(budget: Budget) -> Decisions | None:
    path = analysed_file(budget)
    if path is None:
        return None
    return decisions(read_analysed(path, SHARED_ANALYSES), max_abs_value=np.inf, all_depths=False)


def may_sample(budget: Budget) -> bool:
    """Return whether any analysis may be at hand: engine time, imports or a store."""
    stored = budget.work.store is not None and budget.work.store.exists()
    return budget.minutes > 0 or bool(budget.work.imports) or stored


def year_strata(games: Games) -> list[int | None]:
    """Return the year of each game, None where it is unknown."""
    return list(games.headers["year"].to_pylist())


def sampled_games(
    budget: Budget,
    games: Games,
    work: Work,
    *,
    strata: Strata | None = None,
    player: str | None = None,
    known_too: bool = False,
    name: str,
) -> Games:
    """Return as many games as are known or fit the budget, in the seed's order; refuse where that is none.

    With `known_too` every game that is wholly known counts, wherever it stands in that order.
    """
    try:
        planned = plan(games, work, seed=budget.seed, player=player, measure=budget.minutes > 0)
    except EngineError as error:
        raise NotAnalysedError(f"{name}: {error}", hint="import their analyses, or install an engine") from error
    labels = strata(games) if strata else None
    found = sample_games(games, planned, budget.minutes, seed=budget.seed, strata=labels, known_too=known_too)
    chosen = games.select(found.rows)
    if not len(chosen):
        raise NotAnalysedError(f"{name}: no game is known and the budget is {budget.minutes:g} minutes", hint=_MORE)
    return chosen


def known_decisions(budget: Budget, games: Games, *, name: str) -> Sampled:
    """Return the decisions of the games of which every position is known; refuse where there is none."""
    try:
        planned = plan(games, budget.work, seed=budget.seed, measure=False)
    except EngineError as error:
        raise NotAnalysedError(f"{name}: {error}", hint="import their analyses, or install an engine") from error
    rows = np.setdiff1d(np.arange(len(games)), list(planned.unknown))
    if not len(rows):
        raise NotAnalysedError(f"{name}: no game is known", hint=_MORE)
    judged = judge_games(games.select(rows), budget.work)
    said = f"{name}: {len(rows):,} of {len(games):,} games are known"
    return Sampled(judged.decisions, games.select(rows), f"{said}, {len(judged.decisions):,} decisions; {judged}")


def sampled_decisions(
    budget: Budget,
    games: Games,
    *,
    strata: Strata | None = None,
    player: str | None = None,
    settings: Settings | None = None,
    name: str = "games",
) -> Sampled:
    """Return the decisions of as many games as are known or fit the budget, in the seed's order."""
    work = replace(budget.work, settings=settings or budget.work.settings)
    chosen = sampled_games(budget, games, work, strata=strata, player=player, name=name)
    judged = judge_games(chosen, work, player=player)
    said = f"{name}: {len(chosen):,} of {len(games):,} games by seed {budget.seed}"
    return Sampled(judged.decisions, chosen, f"{said}, {len(judged.decisions):,} decisions; {judged}")
