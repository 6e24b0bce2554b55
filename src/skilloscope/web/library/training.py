"""A player's own mistakes as puzzles that come again: soon where they were not solved, later where they were.

In: the confirmed mistakes of a library, or the costly decisions of a job, and whether they were solved. Out: the
puzzles that are due; of a library it is kept when each is due again (see `Drill`), of a job it is not.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from skilloscope.web import api
from skilloscope.web.api import MaybeNumber, Queue
from skilloscope.web.jobs import DAY, Jobs, Json, NotFoundError
from skilloscope.web.library.pages import ALibrary
from skilloscope.web.library.records import Drill, KeptGame, Mistake
from skilloscope.web.pages import _page
from skilloscope.web.safety import check_token

MOST = 10
"""Puzzles of one sitting."""
MaybeJob = Annotated[str, Query(max_length=64, description="train what a job found; `player` is of the job")]
router = APIRouter(dependencies=[Depends(check_token)])


def due_first(names: Sequence[str], drills: dict[str, Drill], now: float) -> list[str]:
    """Return the puzzles of a sitting: those that are due, the longest overdue first, then new ones in their order.

    >>> due_first(["a", "b", "c"], {"b": Drill("b", due=1.0), "c": Drill("c", due=9.0)}, 5.0)
    ['b', 'a']
    """
    known = sorted((one for one in names if one in drills and drills[one].due <= now), key=lambda one: drills[one].due)
    return [*known, *(one for one in names if one not in drills)][:MOST]


@router.get("/api/train")
def training_view(jobs: Queue, library: ALibrary, player: MaybeNumber = None, job: MaybeJob = "") -> Json:
    """The puzzles that are due, of a player of the library (its owner by default), or of a player of a job."""
    if job and player:
        return _of_job(jobs, job, player)
    players = library.players()
    own = next((one for one in players if player in (None, one.number)), None)
    if own is None:
        return {"player": None, "players": [], "puzzles": [], "known": 0, "later": 0, "next": None, "job": ""}
    mistakes = {one.name: one for one in library.mistakes(own)}
    drills, now = {one.name: one for one in library.records(Drill, own.name)}, time.time() / DAY
    games = {one.key: one for one in library.games(own)}
    waiting = [drills[name].due * DAY for name in mistakes if name in drills and drills[name].due > now]
    due = [mistakes[name] for name in due_first(list(mistakes), drills, now)]
    return {
        "player": own.number, "players": [{"number": one.number, "player": one.called} for one in players],
        "puzzles": [_puzzle(one, games.get(one.game)) for one in due],
        "known": len(mistakes), "later": len(waiting), "next": min(waiting, default=None), "job": "",
    }  # fmt: skip


@router.post("/api/train")
def api_trained(library: ALibrary, mistake: Annotated[str, Query(max_length=120)], solved: bool) -> Json:
    """Keep whether a puzzle of the library was solved at the first try, and say when it comes again."""
    if library.record(Mistake, mistake) is None:
        raise NotFoundError("the library has no such mistake")
    found = (library.record(Drill, mistake) or Drill(mistake)).after(solved, time.time() / DAY)
    library.put(found)
    return asdict(found)


@router.get("/train", include_in_schema=False)
def train_page(
    request: Request, jobs: Queue, library: ALibrary, player: MaybeNumber = None, job: MaybeJob = ""
) -> Response:
    """Solve one's own mistakes."""
    view = training_view(jobs, library, player, job)
    query = f"?{request.url.query}" if request.url.query else ""
    return _page(request, "train.html", view=view, json=f"/api/train{query}")


def _of_job(jobs: Jobs, name: str, player: int) -> Json:
    view = api.player_view(jobs, jobs[name], player)
    found = [one for one in (view["report"] or {"costliest": []})["costliest"] if one["better_uci"] and one["mark"]]
    puzzles = [
        {"name": "", "fen": one["fen"], "side": one["side"], "number": one["number"], "played": one["played_uci"],
         "played_san": one["played"] + one["mark"], "best": one["better_uci"], "best_san": one["better"],
         "line": one["line"], "chances": one["chances"], "chances_after": one["chances_after"],
         "white": one["white"], "black": one["black"], "date": one["date"]}
        for one in found if one["better_uci"] != one["played_uci"]
    ]  # fmt: skip
    rows = [{"number": player, "player": view["player"]}]
    shown = {"puzzles": puzzles[:MOST], "known": len(puzzles), "later": 0, "next": None}
    return {"player": player, "players": rows, "job": name, **shown}


def _puzzle(one: Mistake, game: KeptGame | None) -> Json:
    """Return a mistake of a library as a page shows it."""
    names = "name fen side played best best_san line chances chances_after"
    about = {key: getattr(game, key, None) for key in ("white", "black", "date")}
    number = f"{one.number}{'.' if one.side == 'white' else '…'}"
    return {key: getattr(one, key) for key in names.split()} | about | {
        "number": number, "played_san": one.played_san + one.mark
    }  # fmt: skip
