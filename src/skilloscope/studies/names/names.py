"""Names that may be one person's, with games and years, for somebody who knows the people to confirm.

In: results of any source. Out: the dict of `skilloscope names --json`, and a file of aliases to be confirmed.
Two names that met over the board are two people. A name that may be either of two others is said to be so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from skilloscope.results.names import may_be_one, near_duplicates
from skilloscope.results.table import Results

SCHEMA = 1


def names_report(results: Results) -> dict[str, Any]:
    """Return the groups of names that may be one person's, those with most games first."""
    games = np.bincount(results.player_1, minlength=len(results.players))
    games += np.bincount(results.player_2, minlength=len(results.players))
    first, last = _spans(results)
    code = {name: i for i, name in enumerate(results.players)}
    met = {frozenset(pair) for pair in zip(results.player_1.tolist(), results.player_2.tolist(), strict=True)}
    groups: list[dict[str, Any]] = []
    for names in near_duplicates(results.players):
        members = sorted((code[name] for name in names), key=lambda i: (-int(games[i]), results.players[i]))
        rows = []
        for i in members[1:]:
            likely = [
                j for j in members
                if j != i and games[j] >= games[i] and frozenset((i, j)) not in met
                and may_be_one(results.players[i], results.players[j])
            ]  # fmt: skip
            if likely:
                rows.append(_row(results, i, likely, games, first, last))
        if rows:
            groups.append({"name": results.players[members[0]], "games": int(games[members].sum()), "names": rows})
    groups.sort(key=lambda group: (-group["games"], group["name"]))
    listed = sum(len(group["names"]) for group in groups)
    return {
        "schema": SCHEMA,
        "players": len(results.players),
        "listed": listed,
        "groups": groups,
        "skipped": results.tally.as_dict(),
        "noted": results.noted.as_dict(),
    }


def alias_table(report: dict[str, Any]) -> pa.Table:
    """Return the list as a table of aliases, none confirmed: whoever knows the people writes yes into `confirmed`."""
    rows = [row for group in report["groups"] for row in group["names"]]
    names = ("name", "same_as", "confirmed", "games", "years", "games_of_same_as", "years_of_same_as", "overlap", "or")
    return pa.table({name: [row.get(name, "") for row in rows] for name in names})


def _row(results: Results, i: int, likely: list[int], games: Any, first: Any, last: Any) -> dict[str, Any]:
    j, others = likely[0], [results.players[k] for k in likely[1:]]
    return {
        "name": results.players[i],
        "same_as": results.players[j],
        "games": int(games[i]),
        "years": _years(first[i], last[i]),
        "games_of_same_as": int(games[j]),
        "years_of_same_as": _years(first[j], last[j]),
        "overlap": bool(first[i] <= last[j] and first[j] <= last[i]),
        "or": "; ".join(name for name in others if not may_be_one(results.players[j], name)),
    }


def _spans(results: Results) -> tuple[Any, Any]:
    """Return the first and the last year (or period) of each player."""
    when = results.numbers("1Y" if results.has_dates else None)
    first, last = np.full(len(results.players), 2**31), np.full(len(results.players), -(2**31))
    for side in (results.player_1, results.player_2):
        np.minimum.at(first, side, when)
        np.maximum.at(last, side, when)
    return first, last


def _years(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
