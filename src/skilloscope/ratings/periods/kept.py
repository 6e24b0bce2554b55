"""Ratings that are kept in files and continued: the state at the end, and the history by which it can be rewound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from skilloscope.core.errors import InputError
from skilloscope.ratings.periods.histories import History, history_mark
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
    """Write the state to a file, and the history beside it, each whole and both of one mark.

    Two files cannot change in one moment. So both are written in full before either takes its place, the state first:
    where a kill comes between the two, `load_kept` finds the history that belongs to the state and puts it there.
    """
    history, waiting = history_file(path), _waiting(path)
    kept.history.save(waiting, mark=kept.state.mark)
    kept.state.save(path)
    waiting.replace(history)


def load_kept(path: Path) -> Kept:
    """Read what `save_kept` wrote; a state and a history that do not belong together are refused."""
    history, waiting = history_file(path), _waiting(path)
    if not history.is_file() and not waiting.is_file():
        raise InputError(f"{path}: there is no {history.name} beside it", hint="keep the two files together")
    state = State.load(path)
    if history_mark(waiting) == state.mark:  # a kill came between the two: the second step is done now
        waiting.replace(history)
    if history_mark(history) not in (None, state.mark):  # None: of a version without marks
        raise InputError(
            f"{path} and {history.name} do not belong together: one is older than the other",
            hint="restore both from one copy, or remove both and rate the games again",
        )
    return Kept(state, replace(History.load(history), state=state))


def history_file(path: Path) -> Path:
    """Return where the history is that belongs to a state."""
    return path.with_name(path.name + ".history")


def _waiting(path: Path) -> Path:
    """Return where the history waits until its state is in place."""
    return path.with_name(path.name + ".history.new")
