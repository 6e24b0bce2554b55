"""Ratings that are kept in files and continued: the state at the end, and the history by which it can be rewound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.states import State

_COLUMNS = ("games", "prior_mean", "prior_variance", "filtered_mean", "filtered_variance", "mean", "variance")


@dataclass(frozen=True)
class Kept:
    """A state and the history that led to it."""

    state: State
    history: History

    def before(self, period: int) -> History:
        """Return the history of the periods before this one."""
        return _selected(self.history, self.history.period < period)


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


def joined_history(before: History, after: History) -> History:
    """Return one history of both: `after` was played on the state at the end of `before`.

    A player's row in a period that was still open then is in both: its prior is the same, its games add, and the later
    one knows all of them.
    """
    code = {name: i for i, name in enumerate(after.players)}
    moved = np.array([code[name] for name in before.players], dtype=np.int64)
    player = np.concatenate([moved[before.player], after.player])
    period = np.concatenate([before.period, after.period])
    order = np.lexsort((np.arange(len(player)), period, player))
    same = (np.diff(player[order]) == 0) & (np.diff(period[order]) == 0)
    columns = {name: np.concatenate([getattr(before, name), getattr(after, name)])[order] for name in _COLUMNS}
    columns["games"][1:][same] += columns["games"][:-1][same]
    last = np.append(~same, True) if len(order) else np.zeros(0, dtype=bool)
    return _history(after, player[order][last], period[order][last], {k: v[last] for k, v in columns.items()})


def _selected(history: History, rows: npt.NDArray[np.bool_]) -> History:
    columns = {name: getattr(history, name)[rows] for name in _COLUMNS}
    return _history(history, history.player[rows], history.period[rows], columns)


def _history(like: History, player: Any, period: Any, columns: dict[str, Any]) -> History:
    counts = np.bincount(player, minlength=len(like.players))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return replace(like, offsets=offsets, period=period, **columns)
