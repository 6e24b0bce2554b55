"""Ratings that are kept in files and continued: the state at the end, the history by which it can be rewound, and all
games that were played, by which anything can be played anew.

Three files of one mark: NAME, NAME.history and NAME.games.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.core.errors import InputError
from skilloscope.core.parquet import file_mark, parquet_names, write_checked
from skilloscope.ratings.periods.histories import History, history_mark
from skilloscope.ratings.periods.states import State
from skilloscope.results.reading import Reading, read_results
from skilloscope.results.table import Results
from skilloscope.results.writing import results_to_arrow


@dataclass(frozen=True)
class Kept:
    """A state, the history that led to it, and the games; without games only later ones can be added."""

    state: State
    history: History
    games: Results | None = None

    def rewound(self, period: int) -> Kept:
        """Return what was kept before the games of this period, exactly as it was: late results are played on it."""
        state, history = self.history.state_before(period), self.history.before(period)
        played = np.flatnonzero(state.lines["games"] > 0)
        if self.games is not None and len(played) < len(state):  # who comes only later, the later games bring along
            state = replace(state, players=[state.players[i] for i in played.tolist()], lines=state.lines[played])
            history = history.of_players(played, state)
        return Kept(state, history, self.games)

    def closed(self) -> Kept:
        """Return the same with every line as it is after its last period, however the games came in."""
        latest = self.state.latest
        if self.games is None or latest is None:
            return self
        return replace(self, state=replace(self.history.state_before(latest + 1), since=self.state.since))


def save_kept(kept: Kept, path: Path) -> None:
    """Write the state to a file, and history and games beside it, each whole and all of one mark.

    Three files cannot change in one moment. So all are written in full before any takes its place, the state first:
    where a kill comes between, `load_kept` finds what belongs to the state and puts it there.
    """
    kept = kept.closed()
    history = history_file(path)
    kept.history.save(_waiting(history), mark=kept.state.mark)
    if kept.games is not None:
        table = results_to_arrow(in_one_order(kept.games))
        write_checked(table.replace_schema_metadata({"mark": kept.state.mark}), _waiting(games_file(path)))
    kept.state.save(path)
    _waiting(history).replace(history)
    if kept.games is not None:
        _waiting(games_file(path)).replace(games_file(path))


def load_kept(path: Path) -> Kept:
    """Read what `save_kept` wrote; files that do not belong together are refused."""
    history = history_file(path)
    if not history.is_file() and not _waiting(history).is_file():
        raise InputError(f"{path}: there is no {history.name} beside it", hint="keep the files together")
    state = State.load(path)
    marks = {history: history_mark, games_file(path): file_mark}
    for file, mark_of in marks.items():
        if mark_of(_waiting(file)) == state.mark:  # a kill came between: the last steps are done now
            _waiting(file).replace(file)
        if mark_of(file) not in (None, state.mark):  # None: of a version without marks, or no such file
            raise InputError(
                f"{path} and {file.name} do not belong together: one is older than the other",
                hint="restore all from one copy, or remove all and rate the games again",
            )
    return Kept(state, replace(History.load(history), state=state), _games(path))


def history_file(path: Path) -> Path:
    """Return where the history is that belongs to a state."""
    return path.with_name(path.name + ".history")


def games_file(path: Path) -> Path:
    """Return where the games are that led to a state."""
    return path.with_name(path.name + ".games")


def in_one_order(games: Results) -> Results:
    """Return the games in an order that does not depend on how they came in."""
    when = games.date.astype(np.int64) if games.period is None else games.period
    columns: list[Any] = [column for column in (games.rating_2, games.rating_1) if column is not None]
    return games.of_players().select(np.lexsort((*columns, games.score, games.player_2, games.player_1, when)))


def _games(path: Path) -> Results | None:
    """Return the games that were kept; None where a state was kept without them."""
    file = games_file(path)
    return (
        read_results(file, how=Reading(observed="rating_1,rating_2" if _rated(file) else None))
        if file.is_file()
        else None
    )


def _rated(file: Path) -> bool:

    return file.is_file() and "rating_1" in parquet_names(file)


def _waiting(file: Path) -> Path:
    """Return where a file waits until its state is in place."""
    return file.with_name(file.name + ".new")
