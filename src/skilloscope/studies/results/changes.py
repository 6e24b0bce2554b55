"""Who rose and fell since a date, who is new, who has gone, and one member's page: what an administrator sends round.

In: a run over results, or kept ratings. Out: the dicts of `results report --json`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skilloscope.core.errors import InputError
from skilloscope.models.comparison import win_probability
from skilloscope.ratings.periods.whole import game_rows
from skilloscope.studies.results.runs import Rated

SCHEMA = 1


def changes_report(rated: Rated, since: str) -> dict[str, Any]:
    """Return what changed since the first period of a date: rises and falls, newcomers, and who has not played."""
    history, start = rated.history, int(rated.calendar.number(since))
    mean, variance = rated.state.moments()
    before, old_mean, _ = history.everybody_at(start - 1) if len(history) else (np.zeros(0, int), np.zeros(0), None)
    was = dict(zip(before.tolist(), old_mean.tolist(), strict=True))
    recent = history.period >= start
    games = np.bincount(history.player[recent], weights=history.games[recent], minlength=len(history.players))
    rows = [
        {
            "player": history.players[i],
            "before": was.get(i),
            "rating": float(mean[i]),
            "rd": float(np.sqrt(variance[i])),
            "change": None if i not in was else float(mean[i]) - was[i],
            "games": int(games[i]),
            "last_period": rated.state.label(int(rated.state.lines["last"][i])),
        }
        for i in np.flatnonzero(rated.state.lines["games"] > 0).tolist()
    ]
    changed = [row for row in rows if row["games"] and row["before"] is not None]
    return {
        "schema": SCHEMA,
        "since": rated.calendar.label(start),
        "until": rated.calendar.label(rated.latest),
        "changed": sorted(changed, key=lambda row: (-row["change"], row["player"])),
        "newcomers": sorted((row for row in rows if row["before"] is None), key=lambda row: -row["rating"]),
        "inactive": sorted((row for row in rows if not row["games"]), key=lambda row: row["player"]),
        "warnings": list(rated.warnings),
        "skipped": rated.results.tally.as_dict(),
        "noted": rated.results.noted.as_dict(),
    }


def member_report(rated: Rated, player: str, since: str | None = None) -> dict[str, Any]:
    """Return one member's history and opponents, with the score that was to be expected and the one that came."""
    history = rated.history
    rows = history.of(player)
    start = int(rated.calendar.number(since)) if since else None
    shown = [r for r in range(rows.start, rows.stop) if start is None or history.period[r] >= start]
    return {
        "schema": SCHEMA,
        "player": player,
        "since": None if start is None else rated.calendar.label(start),
        "rating": float(history.filtered_mean[rows.stop - 1]),
        "rd": float(np.sqrt(history.filtered_variance[rows.stop - 1])),
        "history": [
            {
                "period": history.state.label(int(history.period[r])),
                "rating": float(history.filtered_mean[r]),
                "rd": float(np.sqrt(history.filtered_variance[r])),
                "games": int(history.games[r]),
            }
            for r in shown
        ],
        "opponents": _opponents(rated, player, start),
        "warnings": list(rated.warnings),
        "skipped": rated.results.tally.as_dict(),
        "noted": rated.results.noted.as_dict(),
    }


def _opponents(rated: Rated, player: str, start: int | None) -> list[dict[str, Any]]:
    """Return for each opponent how many games, the score that was foretold before each, and the one that came."""
    if rated.every is None:
        raise InputError("the games before these were not kept", hint="give all of them, or keep the .games file")
    games, history = rated.every.by_period(str(rated.calendar)), rated.history
    one, two = game_rows(history, games)
    p = win_probability(
        history.prior_mean[one],
        history.prior_variance[one],
        history.prior_mean[two],
        history.prior_variance[two],
        advantage=rated.state.advantage,
    )
    me = list(games.players).index(player)
    found: dict[str, list[float]] = {}
    for mine, other, expected, score in (
        (games.player_1, games.player_2, p, games.score),
        (games.player_2, games.player_1, 1 - p, 1 - games.score),
    ):
        for at in np.flatnonzero((mine == me) & (games.first + games.period >= (start or -(2**62)))).tolist():
            total = found.setdefault(games.players[int(other[at])], [0.0, 0.0, 0.0])
            total[0] += 1
            total[1] += float(expected[at])
            total[2] += float(score[at])
    return [
        {"opponent": name, "games": int(n), "expected": expected, "score": score}
        for name, (n, expected, score) in sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    ]
