"""Ratings saved in files, and continued with further games.

Three files of one mark: NAME is the state at the end, NAME.history the history by which it can be rewound, and
NAME.games all games that were played, from which everything can be recomputed.

Further games: repeats are refused, late and corrected games are put into their period, players may be renamed. The
result is the state before the first period that changes, and all games from there on. Replayed on that state they
give, to the last bit, what one run over all games gives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.core.columns import Ints
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.table_files import file_mark, parquet_names, write_checked
from skilloscope.ratings.periods.histories import History, history_mark
from skilloscope.ratings.periods.states import State
from skilloscope.results.aliases import renamed_players
from skilloscope.results.reading import Reading, read_results
from skilloscope.results.table import Results


@dataclass(frozen=True)
class SavedRatings:
    """A state, the history that led to it, and the games; without games only later ones can be added."""

    state: State
    history: History
    games: Results | None = None

    def rewound(self, period: int) -> "SavedRatings":
        """Return what was kept before the games of this period, exactly as it was: late results are played on it."""
        state, history = self.history.state_before(period), self.history.before(period)
        played = np.flatnonzero(state.lines["games"] > 0)
        if self.games is not None and len(played) < len(state):  # who comes only later, the later games bring along
            state = replace(state, players=[state.players[i] for i in played.tolist()], lines=state.lines[played])
            history = history.of_players(played, state)
        return SavedRatings(state, history, self.games)

    def closed(self) -> "SavedRatings":
        """Return the same with every line as it is after its last period, however the games came in."""
        latest = self.state.latest
        if self.games is None or latest is None:
            return self
        return replace(self, state=replace(self.history.state_before(latest + 1), since=self.state.since))


def save_ratings(kept: SavedRatings, path: Path) -> None:
    """Write the state to a file, and history and games next to it, each whole and all of one mark.

    Three files cannot change in one moment. So all are written in full before any takes its place, the state first:
    where a kill comes between, `load_ratings` finds what belongs to the state and puts it there.
    """
    kept = kept.closed()
    history = history_file(path)
    kept.history.save(_waiting(history), mark=kept.state.mark)
    if kept.games is not None:  # in an order that does not depend on how they came in
        games = kept.games
        columns: list[Any] = [column for column in (games.rating_2, games.rating_1) if column is not None]
        order = np.lexsort((*columns, games.score, games.player_2, games.player_1, _when(games)))
        table = games.of_players().select(order).to_arrow()
        write_checked(table.replace_schema_metadata({"mark": kept.state.mark}), _waiting(games_file(path)))
    kept.state.save(path)
    _waiting(history).replace(history)
    if kept.games is not None:
        _waiting(games_file(path)).replace(games_file(path))


def load_ratings(path: Path) -> SavedRatings:
    """Read what `save_ratings` wrote; files that do not belong together are refused."""
    history = history_file(path)
    if not history.is_file() and not _waiting(history).is_file():
        raise InputError(f"{path}: {history.name} is missing", hint="keep the files together")
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
    games, file = None, games_file(path)
    if file.is_file():
        observed = "rating_1,rating_2" if "rating_1" in parquet_names(file) else None
        games = read_results(file, how=Reading(observed=observed))
    return SavedRatings(state, replace(History.load(history), state=state), games)


def history_file(path: Path) -> Path:
    """Return where the history is that belongs to a state."""
    return path.with_name(path.name + ".history")


def games_file(path: Path) -> Path:
    """Return where the games are that led to a state."""
    return path.with_name(path.name + ".games")


def _waiting(file: Path) -> Path:
    """Return where a file waits until its state is in place."""
    return file.with_name(file.name + ".new")


@dataclass(frozen=True)
class Additions:
    """What was kept before the first change, all games of the result, and those that are to be played."""

    kept: SavedRatings
    games: Results
    to_play: Results


def with_further_games(
    kept: SavedRatings,
    further: Results,
    *,
    aliases: Mapping[str, str] | None = None,
    corrected: bool = False,
    again: bool = False,
) -> Additions:
    """Return what to play; repeated games are refused unless they count `again` or are `corrected` ones."""
    assert kept.games is not None
    before = kept.games
    named = renamed_players(Results.concat([before, further]), aliases or {})
    n = len(before)
    first, later = named.select(slice(0, n)), named.select(slice(n, None))
    if len(named) != n + len(further):
        raise InputError("an alias makes a player their own opponent", hint="remove it from the aliases")
    old, new = (np.asarray(table.players, dtype=object) for table in (before, first))
    changed = (old[before.player_1] != new[first.player_1]) | (old[before.player_2] != new[first.player_2])
    if corrected:
        corrections = {key[:3] for key in _keys(later)}
        kept_days = [key[:3] for key in _keys(first)]
        if unknown := corrections.difference(kept_days):
            day, one, two = min(unknown)
            said = f"no game of {_day(first, day)} {one} against {two} was kept"
            raise InputError(said, hint="leave --corrected out for new games")
        gone = np.array([key in corrections for key in kept_days], dtype=bool)
        changed |= gone
        first = first.select(~gone)
    elif not again and (repeats := [*filter({*_keys(first)}.__contains__, _keys(later))]):
        day, one, two, _ = repeats[0]
        raise InputError(
            f"{len(repeats):,} of {len(later):,} games were already played, {_day(first, day)} {one} against {two} "
            "among them: nothing was changed",
            hint="give new games only; --corrected replaces games, --allow-repeats counts them a second time",
        )
    numbers = [before.numbers(kept.state.period)[changed], later.numbers(kept.state.period)]
    start = int(np.concatenate(numbers).min())
    games = Results.concat([replace(part, tally=Tally(), noted=Tally()) for part in (first, later)])
    late = games.numbers(kept.state.period) >= start
    to_play = replace(games.select(late).of_players(), tally=further.tally, noted=further.noted)
    return Additions(kept.rewound(start), games.of_players(), to_play)


def _when(games: Results) -> Ints:
    return games.date.astype(np.int64) if games.period is None else games.period


def _keys(games: Results) -> list[tuple[int, str, str, float]]:
    names, columns = games.players, (_when(games), games.player_1, games.player_2, games.score)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(day, names[one], names[two], score) for day, one, two, score in rows]


def _day(games: Results, day: int) -> str:
    return str(day) if games.period is not None else str(np.datetime64(day, "D"))
