"""What each page shows, as the dict that its JSON twin sends: one function a page.

In: the jobs and what an address asks for. Out: dicts made of the reports that workers kept. Nothing is computed here
that takes longer than a page may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skilloscope.core.errors import InputError
from skilloscope.inference import Posterior
from skilloscope.inference.posterior import difference, probability_greater
from skilloscope.web.jobs import Job, Jobs

SORTS = ("elo_low", "elo", "elo_high", "games", "decisions", "header_elo", "player")
PAGE = 100
"""How many rows of a table are shown at a time."""
_BEST = 40  # plies that a game must have to be called well played
_CROSS = 24  # players of a crosstable that fits a page


class NotYetError(InputError):
    """Nothing is known yet of what was asked for."""


def ratings_view(
    jobs: Jobs, job: Job, *, sort: str = "elo_low", order: str = "desc", search: str = "", page: int = 1
) -> dict[str, Any]:
    """Return the ratings of a job, sorted and filtered; those of whom little is known come last unless sorted by."""
    report = _report(jobs, job, "ratings")
    key = sort if sort in SORTS else SORTS[0]
    wanted = search.casefold().strip()
    rows = [row for row in report["players"] if wanted in row["player"].casefold()]
    rows = _sorted(rows, key, order != "asc", apart=sort == SORTS[0])
    shown = rows[(page - 1) * PAGE : page * PAGE]
    told = {"sort": key, "order": "asc" if order == "asc" else "desc", "search": search, "page": page}
    table = {"rows": len(rows), "pages": max(1, -(-len(rows) // PAGE)), **told}
    return {
        "job": job.as_dict(),
        **{k: v for k, v in report.items() if k != "players"},
        "table": table,
        "players": shown,
    }


def games_view(jobs: Jobs, job: Job) -> dict[str, Any]:
    """Return the heads of all games of a job, in the order of the upload."""
    return {"job": job.as_dict(), "games": _heads(jobs, job)}


def game_view(jobs: Jobs, job: Job, number: int) -> dict[str, Any]:
    """Return one game with all its moves."""
    found = _report(jobs, job, f"game/{number}")
    names = _report(jobs, job, "ratings")
    rated = {row["player"]: row for row in names["players"]}
    players = {side: _short(rated.get(found[side])) for side in ("white", "black")}
    heads = sorted(int(key) for key in (jobs.report(job.id, "games") or {}))
    at = heads.index(number)
    around = {"previous": heads[at - 1] if at else None, "next": heads[at + 1] if at + 1 < len(heads) else None}
    return {
        "job": job.as_dict(),
        **found,
        "players": players,
        **around,
        "of": len(heads),
        "effort": names["effort"]["name"],
    }


def player_view(jobs: Jobs, job: Job, number: int) -> dict[str, Any]:
    """Return one player: the rating, its parts, the games one by one, the decisions that cost most, and the finds."""
    names = _report(jobs, job, "players")
    if str(number) not in names:
        raise InputError(f"no player has the number {number}")
    ratings = _report(jobs, job, "ratings")
    row = next((row for row in ratings["players"] if row["number"] == number), None)
    unrated = next((row["reason"] for row in ratings["unrated"] if row["number"] == number), None)
    games = [_from_side(head, number) for head in _heads(jobs, job) if number in head["numbers"]]
    return {
        "job": job.as_dict(),
        "number": number,
        "player": names[str(number)]["player"],
        "rating": row,
        "unrated": unrated,
        "posterior": names[str(number)]["posterior"],
        "effort": ratings["effort"]["name"],
        "mass": ratings["mass"],
        "scale": ratings["scale"],
        "games": games,
        "parts": jobs.report(job.id, f"parts/{number}") or {},
        "decisions": jobs.report(job.id, f"player/{number}"),
        "warnings": ratings["warnings"],
    }


def comparison_view(jobs: Jobs, job: Job, first: int | None, second: int | None) -> dict[str, Any]:
    """Return how two players of a job compare: the difference with its interval, and how surely one is above."""
    names = _report(jobs, job, "players")
    ratings = _report(jobs, job, "ratings")
    rated = {row["number"]: row for row in ratings["players"]}
    choices = [{"number": row["number"], "player": row["player"]} for row in ratings["players"]]
    one, two = first or _nth(choices, 0), second or _nth(choices, 1)
    pair = [{**rated[n], "posterior": names[str(n)]["posterior"]} for n in (one, two) if n in rated]
    found: dict[str, Any] | None = None
    if len(pair) == 2 and one != two:
        sides = [_posterior(side["posterior"]) for side in pair]
        gap = difference(sides[0], sides[1])
        low, high = gap.interval(0.95)
        surely = probability_greater(sides[0], sides[1])
        found = {"elo": gap.mean, "elo_low": low, "elo_high": high, "probability_first": surely}
    met = [head for head in _heads(jobs, job) if {one, two} <= set(head["numbers"])] if one != two else []
    told = {"first": one, "second": two, "players": pair, "difference": found, "choices": choices, "games": met}
    return {"job": job.as_dict(), "effort": ratings["effort"]["name"], **told}


def event_view(jobs: Jobs, job: Job) -> dict[str, Any]:
    """Return the games of a job as an event: standings with Elo, crosstable, the best played games, what cost most."""
    heads, ratings = _heads(jobs, job), _report(jobs, job, "ratings")
    rated = {row["number"]: row for row in ratings["players"]}
    points, games = _points(heads)
    names = {n: name for head in heads for n, name in zip(head["numbers"], (head["white"], head["black"]), strict=True)}
    order = sorted((n for n in names if n is not None), key=lambda n: (-points.get(n, 0.0), str(names[n])))
    table = [
        {
            "number": n,
            "player": names[n],
            "points": points.get(n, 0.0),
            "games": games.get(n, 0),
            **_short(rated.get(n)),
        }
        for n in order
    ]
    played = [head for head in heads if head["plies"] >= _BEST and all(head["elo"].values())]
    best = sorted(played, key=lambda head: -min(side["elo"] for side in head["elo"].values()))[:5]
    standing = jobs.reports(job.id, "player/").values()
    costly = [one for found in standing for one in found["costly"]]
    judge = next((name for name in ("engine", "comments", "people") if any(o["judge"] == name for o in costly)), None)
    turning = sorted((one for one in costly if one["judge"] == judge), key=lambda one: -one["cost"])[:6]
    finds = [one for found in standing for one in found["found"] if one["judge"] == "engine"]
    cross = _crosstable(heads, order) if len(order) <= _CROSS else None
    events = sorted({head["event"] for head in heads if head["event"]})
    return {
        "job": job.as_dict(),
        "events": events[:20],
        "effort": ratings["effort"]["name"],
        "standings": table,
        "crosstable": cross,
        "best_played": best,
        "judge": judge,
        "turning_points": turning,
        "finds": sorted(finds, key=lambda one: one["cost"])[:6],
        "games": len(heads),
        "unfinished": sum(head["result"] not in _SCORES for head in heads),
    }


def results_view(jobs: Jobs, job: Job, *, search: str = "", page: int = 1) -> dict[str, Any]:
    """Return the fit and the leaderboard of a job of results."""
    board, fit = _report(jobs, job, "leaderboard"), _report(jobs, job, "fit")
    wanted = search.casefold().strip()
    rows = [row for row in board["players"] if wanted in row["player"].casefold()]
    table = {"rows": len(rows), "pages": max(1, -(-len(rows) // PAGE)), "search": search, "page": page}
    shown = rows[(page - 1) * PAGE : page * PAGE]
    return {"job": job.as_dict(), "fit": fit, "table": table, **board, "players": shown}


def member_view(jobs: Jobs, job: Job, number: int) -> dict[str, Any]:
    """Return one member of a job of results: the rating now, and its history."""
    board = _report(jobs, job, "leaderboard")
    row = next((row for row in board["players"] if row["number"] == number), None)
    if row is None:
        raise InputError(f"no member has the number {number}")
    history = jobs.report(job.id, f"history/{number}") or []
    return {"job": job.as_dict(), **row, "history": history, "period": board["period"], "mass": board["mass"]}


def deciders_view(jobs: Jobs, job: Job) -> dict[str, Any]:
    """Return the deciders of a job of decisions."""
    return {"job": job.as_dict(), **_report(jobs, job, "deciders")}


def live_view(jobs: Jobs, job: Job) -> dict[str, Any]:
    """Return the boards of a job that follows games."""
    return {"job": job.as_dict(), **(jobs.report(job.id, "live") or {"boards": [], "problem": ""})}


def _report(jobs: Jobs, job: Job, name: str) -> Any:
    found = jobs.report(job.id, name)
    if found is None:
        raise NotYetError("there is nothing of that here (yet)", hint="look at the job's own page")
    return found


def _heads(jobs: Jobs, job: Job) -> list[dict[str, Any]]:
    heads = jobs.report(job.id, "games") or {}
    return [heads[key] for key in sorted(heads, key=int)]


def _sorted(rows: Sequence[Any], key: str, falling: bool, *, apart: bool) -> list[Any]:
    if key == "player":
        return sorted(rows, key=lambda row: row["player"].casefold(), reverse=falling)
    known = [row for row in rows if row[key] is not None]
    found = sorted(known, key=lambda row: row[key], reverse=falling) + [row for row in rows if row[key] is None]
    return sorted(found, key=lambda row: row["little_evidence"]) if apart else found


def _short(row: Mapping[str, Any] | None) -> dict[str, Any]:
    names = ("elo", "elo_low", "elo_high", "elo_edge", "extrapolated", "little_evidence", "header_elo")
    return {name: None if row is None else row[name] for name in names}


def _from_side(head: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a game as one of its players sees it."""
    at = head["numbers"].index(number)
    side, other = ("white", "black")[at], ("white", "black")[1 - at]
    score = _SCORES.get(head["result"])
    return {
        "game": head["number"],
        "date": head["date"],
        "event": head["event"],
        "side": side,
        "opponent": head[other],
        "opponent_number": head["numbers"][1 - at],
        "opponent_elo": head[f"{other}_elo"],
        "own_elo": head[f"{side}_elo"],
        "score": None if score is None else abs(at - score),
        "eco": head["eco"],
        "plies": head["plies"],
        "elo": head["elo"][side],
        "searched": head["searched"],
    }


_SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


def _points(heads: Sequence[Mapping[str, Any]]) -> tuple[dict[int, float], dict[int, int]]:
    points: dict[int, float] = {}
    games: dict[int, int] = {}
    for head in heads:
        score = _SCORES.get(head["result"])
        for at, number in enumerate(head["numbers"]):
            if number is not None and score is not None:
                points[number] = points.get(number, 0.0) + abs(at - score)
                games[number] = games.get(number, 0) + 1
    return points, games


def _crosstable(heads: Sequence[Mapping[str, Any]], order: Sequence[int]) -> list[list[list[dict[str, Any]]]]:
    """Return for each pair the games between them, from the view of the row's player."""
    place = {number: at for at, number in enumerate(order)}
    cells: list[list[list[dict[str, Any]]]] = [[[] for _ in order] for _ in order]
    for head in heads:
        score, (white, black) = _SCORES.get(head["result"]), head["numbers"]
        if score is not None and white in place and black in place:
            cells[place[white]][place[black]].append({"score": score, "game": head["number"]})
            cells[place[black]][place[white]].append({"score": 1 - score, "game": head["number"]})
    return cells


def _posterior(kept: Mapping[str, Any]) -> Posterior:
    return Posterior(np.array(kept["at"]), np.array(kept["density"]), kept["prior"], kept["low"], kept["high"])


def _nth(choices: Sequence[Mapping[str, Any]], at: int) -> int | None:
    return int(choices[at]["number"]) if len(choices) > at else None
