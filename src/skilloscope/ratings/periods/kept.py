"""Ratings that are kept in files and continued: the state at the end, and the history by which it can be rewound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from skilloscope.core.errors import InputError
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.states import State


@dataclass(frozen=True)
class Kept:
    """A state and the history that led to it."""

    state: State
    history: History

    def rewound(self, period: int) -> Kept:
        """Return what was kept before the games of this period, exactly as it was: late results are played on it."""
        return Kept(self.history.state_before(period), self.history.before(period))


def save_kept(kept: Kept, path: Path) -> None:
    """Write the state to a file, and the history beside it, each whole or not at all."""
    for part, file in ((kept.state, path), (kept.history, history_file(path))):
        fresh = file.with_name(file.name + ".new")
        part.save(fresh)
        fresh.replace(file)


def load_kept(path: Path) -> Kept:
    """Read what `save_kept` wrote."""
    if not history_file(path).is_file():
        raise InputError(f"{path}: there is no {history_file(path).name} beside it", hint="keep the two files together")
    state, history = State.load(path), History.load(history_file(path))
    return Kept(state, replace(history, state=state))


def history_file(path: Path) -> Path:
    """Return where the history is that belongs to a state."""
    return path.with_name(path.name + ".history")
