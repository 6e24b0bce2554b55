"""A player's own mistakes as puzzles that come again: soon where they were not solved, later and later where they were.

In: the confirmed mistakes of a library, or the costly decisions of a job, and whether they were solved. Out: the puzzles
that are due; of a library it is kept when each is due again (see `Drill`), of a job it is not.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from skilloscope.web import api
from skilloscope.web.api import MaybeNumber, jobs_of
from skilloscope.web.jobs import DAY, Json, NotFoundError
from skilloscope.web.library import Libraries, Library
from skilloscope.web.pages import _page
from skilloscope.web.records import KeptGame, Mistake, Player
from skilloscope.web.safety import check_token, visitor_of

BOXES = (1, 3, 7, 21, 60)
"""Days until a puzzle comes again, by how often in a row it was solved."""
MOST = 10
"""Puzzles of one sitting."""
router = APIRouter(dependencies=[Depends(check_token)])


@dataclass(frozen=True)
class Drill:
    """How a mistake was solved so far: how often in a row, how often at all, and when it is due again (UTC seconds)."""

    mistake: str
    """The name of the mistake, which begins with the player's number."""
    box: int = 0
    tries: int = 0
    solved: int = 0
    due: float = 0.0

    kind: ClassVar = "drill"

    @property
    def name(self) -> str:
        """That of the mistake."""
        return self.mistake

    def after(self, solved: bool, now: float) -> "Drill":
        """Return what holds after another try: the next box of BOXES where it was solved, else the first again.

        >>> found = Drill("1").after(True, 0.0).after(True, DAY)
        >>> found.box, found.due / DAY
        (2, 4.0)
        >>> found.after(False, 4 * DAY).due / DAY
        5.0
        """
        days = BOXES[min(self.box, len(BOXES) - 1)] if solved else BOXES[0]
        box, right = (self.box + 1, self.solved + 1) if solved else (0, self.solved)
        return replace(self, box=box, tries=self.tries + 1, solved=right, due=now + days * DAY)


def due_first(names: Sequence[str], drills: dict[str, Drill], now: float) -> list[str]:
    """Return the puzzles of a sitting: those that are due, the longest overdue first, then new ones in their order.

    >>> due_first(["a", "b", "c"], {"b": Drill("b", due=1.0), "c": Drill("c", due=9.0)}, 5.0)
    ['b', 'a']
    """
    known = sorted((one for one in names if one in drills and drills[one].due <= now), key=lambda one: drills[one].due)
    return [*known, *(one for one in names if one not in drills)][:MOST]


def own_library(request: Request) -> Library | None:
    """Return the visitor's library; None where there is none."""
    return Libraries(jobs_of(request).path.with_name("library.sqlite")).of(visitor_of(request))


@router.get("/api/train")
def training_view(
    request: Request,
    player: MaybeNumber = None,
    job: Annotated[str, Query(max_length=64, description="train what a job found; `player` is of the job")] = "",
) -> Json:
    """The puzzles that are due, of a player of the library (its owner by default), or of a player of a job."""
    if job and player:
        return _of_job(request, job, player)
    library = own_library(request)
    players = library.players() if library else []
    own = next((one for one in players if player in (None, one.number)), None)
    if library is None or own is None:
        return {"player": None, "players": [], "puzzles": [], "known": 0, "later": 0, "next": None, "job": ""}
    mistakes = {one.name: one for one in library.mistakes(own)}
    drills, now = {one.name: one for one in library.records(Drill, own.name)}, time.time()
    games = {one.key: one for one in library.games(own)}
    waiting = [drills[name].due for name in mistakes if name in drills and drills[name].due > now]
    return {
        "player": own.number, "players": [{"number": one.number, "player": one.called} for one in players],
        "puzzles": [_puzzle(mistakes[name], games.get(mistakes[name].game)) for name in due_first(list(mistakes), drills, now)],
        "known": len(mistakes), "later": len(waiting), "next": min(waiting, default=None), "job": "",
    }  # fmt: skip


@router.post("/api/train")
def api_trained(request: Request, mistake: Annotated[str, Query(max_length=120)], solved: bool) -> Json:
    """Keep whether a puzzle of the library was solved at the first try, and say when it comes again."""
    library = own_library(request)
    if library is None or library.record(Mistake, mistake) is None:
        raise NotFoundError("the library has no such mistake")
    found = (library.record(Drill, mistake) or Drill(mistake)).after(solved, time.time())
    library.put(found)
    return asdict(found)


@router.get("/train", include_in_schema=False)
def train_page(request: Request, player: MaybeNumber = None, job: Annotated[str, Query(max_length=64)] = "") -> Response:
    """Solve one's own mistakes."""
    view = training_view(request, player, job)
    query = f"?player={player or ''}&job={job}" if job else f"?player={player}" if player else ""
    return _page(request, "train.html", view=view, json=f"/api/train{query}")


def _of_job(request: Request, name: str, player: int) -> Json:
    jobs = jobs_of(request)
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
    return {"player": player, "players": rows, "puzzles": puzzles[:MOST], "known": len(puzzles), "later": 0, "next": None,
            "job": name}  # fmt: skip


def _puzzle(one: Mistake, game: KeptGame | None) -> dict[str, Any]:
    """Return a mistake of a library as a page shows it."""
    names = "name fen side played best best_san line chances chances_after"
    about = {key: getattr(game, key, None) for key in ("white", "black", "date")}
    number = f"{one.number}{'.' if one.side == 'white' else '…'}"
    return {key: getattr(one, key) for key in names.split()} | about | {
        "number": number, "played_san": one.played_san + one.mark
    }  # fmt: skip
