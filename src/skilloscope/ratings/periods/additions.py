"""Further games of kept ratings: repeats refused, late and corrected ones put into their period, members renamed.

In: what was kept, with its games, and a table of further ones. Out: what was kept before the first period that changes,
and all games from there on. Played on it they give, to the last bit, what one run over all games gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from skilloscope.core.errors import InputError, Tally
from skilloscope.ratings.periods.kept import Kept
from skilloscope.results.calendar import Numbers
from skilloscope.results.players import renamed_players
from skilloscope.results.table import Results


@dataclass(frozen=True)
class Additions:
    """What was kept before the first change, all games of the result, and those that are to be played."""

    kept: Kept
    games: Results
    to_play: Results
    replayed: int
    """How many kept games are played anew."""


def with_further_games(
    kept: Kept,
    further: Results,
    *,
    aliases: Mapping[str, str] | None = None,
    corrected: bool = False,
    again: bool = False,
) -> Additions:
    """Return what to play; all games must have been kept.

    A game that was already played (the same day, players and score) is refused unless it is to count `again`. With
    `corrected` each game takes the place of the kept ones of its day and players.
    """
    assert kept.games is not None
    before = kept.games
    named = renamed_players(Results.concat([before, further]), aliases or {})
    n = len(before)
    first, later = named.select(slice(0, n)), named.select(slice(n, None))
    if len(named) != n + len(further):
        raise InputError("an alias makes somebody play himself", hint="take it out of the aliases")
    changed = _renamed(before, first)
    if corrected:
        gone = _replaced(first, later)
        changed |= gone
        first = first.select(~gone)
    elif not again:
        _refuse_repeats(first, later)
    numbers = [before.numbers(kept.state.period)[changed], later.numbers(kept.state.period)]
    start = int(np.concatenate(numbers).min())
    games = Results.concat([replace(part, tally=Tally(), noted=Tally()) for part in (first, later)])
    late = games.numbers(kept.state.period) >= start
    to_play = replace(games.select(late).of_players(), tally=further.tally, noted=further.noted)
    return Additions(kept.rewound(start), games.of_players(), to_play, int(late.sum()) - len(later))


def _renamed(before: Results, after: Results) -> np.ndarray:
    """Return which games have a player under another name."""
    old, new = (np.asarray(table.players, dtype=object) for table in (before, after))
    return np.asarray(
        (old[before.player_1] != new[after.player_1]) | (old[before.player_2] != new[after.player_2]), dtype=bool
    )


def _refuse_repeats(first: Results, later: Results) -> None:
    seen = Counter(_keys(first))
    repeats = [key for key in _keys(later) if key in seen]
    if repeats:
        day, one, two, _ = repeats[0]
        raise InputError(
            f"{len(repeats):,} of {len(later):,} games were already played, {_when(first, day)} {one} against {two} "
            "among them: nothing was changed",
            hint="give new games only; --corrected replaces games, --again counts them a second time",
        )


def _replaced(first: Results, later: Results) -> np.ndarray:
    """Return which kept games are replaced: those of a corrected game's day and players."""
    corrected = {key[:3] for key in _keys(later)}
    gone = np.array([key[:3] in corrected for key in _keys(first)], dtype=bool)
    unknown = corrected - {key[:3] for key in _keys(first)}
    if unknown:
        day, one, two = sorted(unknown)[0]
        raise InputError(
            f"no game of {_when(first, day)} {one} against {two} was kept", hint="leave --corrected out for new games"
        )
    return gone


def _keys(games: Results) -> Iterable[tuple[int, str, str, float]]:
    when: Numbers = games.date.astype(np.int64) if games.period is None else games.period
    names = games.players
    return [
        (day, names[one], names[two], score)
        for day, one, two, score in zip(
            *(column.tolist() for column in (when, games.player_1, games.player_2, games.score)), strict=True
        )
    ]


def _when(games: Results, day: int) -> str:
    return str(day) if games.period is not None else str(np.datetime64(day, "D"))
