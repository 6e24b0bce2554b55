"""The JSON API, which the pages render as well: what workers kept of the studies, and where each page looks for it.

Each view returns the dict of one page: the JSON of a study (`rate`, `report`, `game`, `report --player`, `results`,
`decisions rate`, `live`), with the numbers by which addresses name players and games. Nothing is computed here that
takes longer than a page may. OpenAPI is at /openapi.json.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import chess
import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool

from skilloscope.__about__ import __version__
from skilloscope.chess.boards import playable_board
from skilloscope.chess.pgn.facts import FIDE
from skilloscope.core.errors import InputError
from skilloscope.evidence import Posterior
from skilloscope.evidence.posterior import difference
from skilloscope.inputs.pipeline import engine_found
from skilloscope.models.joint import elo_range
from skilloscope.report.study import json_fields
from skilloscope.results.columns import PGN_SCORES
from skilloscope.studies.moves import DEFAULT_LEVELS, moves_study
from skilloscope.studies.parts import difference_estimate
from skilloscope.web.jobs import Job, Jobs, Json, NotFoundError
from skilloscope.web.safety import check_token, visitor_of
from skilloscope.web.uploads import EFFORTS, KINDS, add_feed, add_upload

SORTS = ("elo_low", "elo", "elo_high", "games", "decisions", "header_elo", "player")
PAGE = 100  # how many rows of a table are shown at a time
SIDES = ("white", "black")
_ERRORS: dict[int | str, Json] = {
    400: {"description": "invalid request"},
    403: {"description": "the request comes from another site, or has no header X-Skilloscope"},
    404: {"description": "not found, or not available yet"},
    408: {"description": "the upload stalled"},
    413: {"description": "too large"},
    422: {"description": "invalid input; `error` describes it, `hint` says what to do"},
    503: {"description": "too many jobs are waiting, or uploads under way"},
    507: {"description": "the server's disk is full"},
}
router = APIRouter(prefix="/api", responses=_ERRORS, dependencies=[Depends(check_token)])
JobId = Annotated[str, Path(description="the job's unguessable id", max_length=64)]
Number = Annotated[int, Path(ge=1, le=1_000_000)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
MaybeNumber = Annotated[int | None, Query(ge=1, le=1_000_000)]
Search = Annotated[str, Query(max_length=200)]


def jobs_of(request: Request) -> Jobs:
    """Return the queue."""
    found: Jobs = request.app.state.jobs
    return found


Queue = Annotated[Jobs, Depends(jobs_of)]


def job_of(jobs: Queue, job: JobId) -> Job:
    """Return the job that an address names."""
    return jobs[job]


AJob = Annotated[Job, Depends(job_of)]


@router.get("/about")
def api_about(request: Request) -> Json:
    """Version, limits, whether there is an engine, and how many jobs there are by state."""
    safety = request.app.state.safety
    limits = {"bytes": safety.most_bytes}
    return {"version": __version__, "engine": engine_found(None), "limits": limits, "jobs": jobs_of(request).counts()}


@router.get("/moves")
def api_moves(
    fen: Annotated[str, Query(max_length=120)],
    elo: Annotated[list[float] | None, Query(max_length=64, description="levels of Elo")] = None,
    pool: Annotated[str, Query(max_length=40, description="whose levels these are")] = FIDE,
    move: Annotated[str, Query(max_length=5, description="a move that is made first")] = "",
) -> Json:
    """What people of each strength play in a position: what `skilloscope moves --json` sends, without an engine."""
    board = playable_board(fen)
    if move:
        try:
            board.push_uci(move)
        except ValueError as error:
            raise InputError(f"{move!r} is no move here", hint="a legal move as UCI writes it: e2e4") from error
    return moves_study(board, elo or DEFAULT_LEVELS, pool=pool).as_dict()


@router.post("/jobs", status_code=202)
async def api_add_job(
    request: Request,
    kind: Annotated[str, Query(description=", ".join(KINDS))] = "games",
    name: Annotated[str, Query(max_length=200, description="what the file is called")] = "",
    effort: Annotated[str, Query(description=", ".join(EFFORTS))] = "quick",
    keep: Annotated[bool, Query(description="keep the games of the library's players in it")] = False,
) -> Json:
    """Put a job into the queue; the body is the text itself (PGN, CSV or JSON lines)."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise InputError("the body is a form", hint="send the text itself, for instance with curl --data-binary @FILE")
    if effort not in EFFORTS:
        raise InputError(f"no effort {effort!r}", hint=f"the efforts: {', '.join(EFFORTS)}")
    options = {"effort": effort, **({"keep": True} if keep else {})} if kind == "games" else {}
    files = [(name, await request.body())]
    adding = partial(add_upload, jobs_of(request), kind, files, owner=visitor_of(request), options=options)
    return (await run_in_threadpool(adding)).as_dict()


@router.post("/live", status_code=202)
def api_follow(request: Request, address: Annotated[str, Query(max_length=2000)]) -> Json:
    """Follow games at an address while they are played."""
    return add_feed(jobs_of(request), address, owner=visitor_of(request)).as_dict()


@router.get("/jobs")
def api_jobs(request: Request) -> Json:
    """The visitor's own jobs, the newest first."""
    return {"jobs": [job.as_dict() for job in jobs_of(request).of_owner(visitor_of(request))]}


@router.get("/jobs/{job}")
def api_job(job: AJob) -> Json:
    """How far a job is."""
    return job.as_dict()


@router.delete("/jobs/{job}")
def api_delete(jobs: Queue, job: AJob) -> Json:
    """Forget a job, with all that was uploaded and found."""
    jobs.delete(job.id)
    return {"deleted": job.id}


@router.post("/jobs/{job}/cancel")
def api_cancel(jobs: Queue, job: AJob) -> Json:
    """Stop a job; what it has found stays."""
    jobs.cancel(job.id)
    return jobs[job.id].as_dict()


@router.post("/jobs/{job}/resume")
def api_resume(jobs: Queue, job: AJob) -> Json:
    """Go on with a job that was cancelled or has failed."""
    jobs.resume(job.id)
    return jobs[job.id].as_dict()


@router.get("/jobs/{job}/ratings")
def ratings_view(
    jobs: Queue,
    job: AJob,
    sort: Annotated[str, Query(description=", ".join(SORTS))] = "elo_low",
    order: str = "desc",
    search: Search = "",
    page: PageNumber = 1,
) -> Json:
    """The ratings, what `skilloscope rate --json` sends, sorted and filtered; little evidence comes last by default."""
    report = _report(jobs, job, "ratings")
    key = sort if sort in SORTS else SORTS[0]
    rows = _sorted(_named(report["players"], search), key, order != "asc", apart=sort == SORTS[0])
    table = {**_pages(rows, search, page), "sort": key, "order": "asc" if order == "asc" else "desc"}
    shown = {"table": table, "players": rows[(page - 1) * PAGE : page * PAGE]}
    return {"job": job.as_dict(), "library": jobs.report(job.id, "library"), **report, **shown}


@router.get("/jobs/{job}/games")
def games_view(jobs: Queue, job: AJob) -> Json:
    """All games in the order of the upload, each with the Elo of both players in it."""
    return {"job": job.as_dict(), "games": _games(jobs, job)}


@router.get("/jobs/{job}/games/{number}")
def game_view(jobs: Queue, job: AJob, number: Number) -> Json:
    """One game move by move: what `skilloscope game --json` sends."""
    found, ratings = _report(jobs, job, f"game/{number}"), _report(jobs, job, "ratings")
    numbers, games = _numbers(jobs, job), _games(jobs, job)
    of, seen = len(games), Counter(name for game in games for name in _pair(game))
    most = max((found["game"][side] for side in SIDES), key=lambda name: seen[name])
    pool = ratings["scale"]["pool"]
    return {
        "job": job.as_dict(),
        **found,
        "form": next(([game[side] for side in SIDES] for game in games if game["number"] == number), [None, None]),
        "bottom": "black" if most == found["game"]["black"] and 2 * seen[most] > of else "white",
        "pool": pool,
        "range": elo_range(pool),
        "reviewed": any(move["checked"] or move["judge"] == "evaluations" for move in found["moves"]),
        "start_fen": found["game"]["start_fen"] or chess.STARTING_FEN,
        "number": number,
        "numbers": [numbers.get(found["game"][side]) for side in SIDES],
        "previous": number - 1 or None,
        "next": number + 1 if number < of else None,
        "of": of,
        "effort": ratings["effort"]["name"],
    }


@router.get("/jobs/{job}/players/{number}")
def player_view(jobs: Queue, job: AJob, number: Number) -> Json:
    """One player: rating, posterior, games, and (later) what `skilloscope report --player --json` sends."""
    names = _report(jobs, job, "players")
    if str(number) not in names:
        raise NotFoundError(f"no player has the number {number}")
    ratings, own = _report(jobs, job, "ratings"), names[str(number)]
    numbers = _numbers(jobs, job)
    games = [_from_side(game, own["player"], numbers) for game in _games(jobs, job) if own["player"] in _pair(game)]
    return {
        "job": job.as_dict(),
        "number": number,
        **own,
        "rating": next((row for row in ratings["players"] if row["number"] == number), None),
        "unrated": next((row["reason"] for row in ratings["unrated"] if row["number"] == number), None),
        "effort": ratings["effort"]["name"],
        "mass": ratings["mass"],
        "scale": ratings["scale"],
        "games": games,
        "game_numbers": _game_numbers(jobs, job),
        "report": jobs.report(job.id, f"player/{number}"),
        "warnings": ratings["warnings"],
    }


@router.get("/jobs/{job}/compare")
def comparison_view(jobs: Queue, job: AJob, first: MaybeNumber = None, second: MaybeNumber = None) -> Json:
    """Two players: the difference of their Elo with its interval, and the probability that the first is above."""
    names, ratings = _report(jobs, job, "players"), _report(jobs, job, "ratings")
    rated = {row["number"]: row for row in ratings["players"]}
    choices = [{"number": row["number"], "player": row["player"]} for row in ratings["players"]]
    one, two = (given or _nth(choices, at) for at, given in enumerate((first, second)))
    pair = [{**rated[n], "posterior": names[str(n)]["posterior"]} for n in (one, two) if n in rated]
    found: Json | None = None
    met: list[Json] = []
    if len(pair) == 2 and one != two:
        sides = [_posterior(side["posterior"], _report(jobs, job, f"posterior/{side['number']}")) for side in pair]
        change = difference_estimate(difference(sides[1], sides[0]), ratings["mass"])
        found = {**json_fields(change), "second_stronger": change.probability_above}
        met = [game for game in _games(jobs, job) if {side["player"] for side in pair} == {*_pair(game)}]
    both = {"first": one, "second": two, "players": pair, "difference": found, "choices": choices, "games": met}
    return {"job": job.as_dict(), "effort": ratings["effort"]["name"], **both}


@router.get("/jobs/{job}/event")
def event_view(jobs: Queue, job: AJob) -> Json:
    """The games as an event: what `skilloscope report --json` sends, and everybody's rating."""
    event, ratings = _report(jobs, job, "event"), _report(jobs, job, "ratings")
    seen = Counter(name for game in event["games"] for name in _pair(game) if name)
    return {
        "job": job.as_dict(),
        **event,
        "whose": [name for name, n in seen.items() if len(seen) > 4 and 2 * n > len(event["games"])],
        "events": sorted({game["event"] for game in event["games"] if game["event"]})[:20],
        "effort": ratings["effort"]["name"],
        "players": {row["player"]: row for row in ratings["players"]},
        "numbers": _numbers(jobs, job),
        "game_numbers": _game_numbers(jobs, job),
        "unfinished": sum(game["result"] not in PGN_SCORES for game in event["games"]),
    }


@router.get("/jobs/{job}/results")
def results_view(jobs: Queue, job: AJob, search: Search = "", page: PageNumber = 1) -> Json:
    """The fit and the leaderboard of results."""
    board, fit = _report(jobs, job, "leaderboard"), _report(jobs, job, "fit")
    rows = _named(board["players"], search)
    found = {"fit": fit, "table": _pages(rows, search, page), **board, "players": rows[(page - 1) * PAGE : page * PAGE]}
    unfitted = {name for name in ("sigma0", "nu") if name not in fit["fitted"]}
    unfitted |= {name for name in ("sigma0", "nu") for text in board["warnings"] if f"determine {name}" in text}
    return {"job": job.as_dict(), "assumed": sorted(unfitted), **found}


@router.get("/jobs/{job}/members/{number}")
def member_view(jobs: Queue, job: AJob, number: Number) -> Json:
    """One member of a leaderboard: the rating now, and its history."""
    board = _report(jobs, job, "leaderboard")
    row = next((row for row in board["players"] if row["place"] == number), None)
    if row is None:
        raise NotFoundError(f"no member has the number {number}")
    history = jobs.report(job.id, f"history/{number}") or []
    return {"job": job.as_dict(), **row, "history": history, "period": board["period"], "mass": board["mass"]}


@router.get("/jobs/{job}/deciders")
def deciders_view(jobs: Queue, job: AJob) -> Json:
    """The deciders of a table of decisions."""
    return {"job": job.as_dict(), **_report(jobs, job, "deciders")}


@router.get("/jobs/{job}/live")
def live_view(jobs: Queue, job: AJob) -> Json:
    """The boards of games that are followed."""
    return {"job": job.as_dict(), **(jobs.report(job.id, "live") or {"boards": [], "problem": ""})}


@router.get("/jobs/{job}/screening")
def screening_view(jobs: Queue, job: AJob) -> Json:
    """What `skilloscope screen --json` sends (`study`), and its page in words: no verdict on anybody."""
    return {"job": job.as_dict(), **_report(jobs, job, "screening")}


@router.get("/jobs/{job}/boards/{number}")
def board_view(jobs: Queue, job: AJob, number: Number) -> Json:
    """One board of games that are followed, with its positions and their values."""
    board = next((one for one in _report(jobs, job, "live")["boards"] if one["number"] == number), None)
    if board is None:
        raise NotFoundError(f"there is no board {number}")
    return {"job": job.as_dict(), **board, **_report(jobs, job, f"board/{number}")}


def _report(jobs: Jobs, job: Job, name: str) -> Any:
    found = jobs.report(job.id, name)
    if found is None:
        raise NotFoundError("there is nothing of that here (yet)", hint="look at the job's own page")
    return found


def _games(jobs: Jobs, job: Job) -> list[Json]:
    """Return the games as the event report has them, in the order of the upload; none before it is there."""
    event = jobs.report(job.id, "event") or {"games": []}
    return sorted(event["games"], key=lambda game: int(game["number"]))


def _pair(game: Json) -> tuple[str | None, str | None]:
    return game["white"]["player"], game["black"]["player"]


def _numbers(jobs: Jobs, job: Job) -> dict[str, int]:
    """Return the number of each player."""
    return {row["player"]: int(number) for number, row in (jobs.report(job.id, "players") or {}).items()}


def _game_numbers(jobs: Jobs, job: Job) -> dict[str, int]:
    """Return the number of each game by its id."""
    return {game["game"]: game["number"] for game in _games(jobs, job)}


def _named(rows: Sequence[Json], search: str) -> list[Json]:
    wanted = search.casefold().strip()
    return [row for row in rows if wanted in row["player"].casefold()]


def _pages(rows: Sequence[Json], search: str, page: int) -> Json:
    return {"rows": len(rows), "pages": max(1, -(-len(rows) // PAGE)), "search": search, "page": page}


def _sorted(rows: Sequence[Json], key: str, falling: bool, *, apart: bool) -> list[Json]:
    if key == "player":
        return sorted(rows, key=lambda row: row["player"].casefold(), reverse=falling)
    known = [row for row in rows if row[key] is not None]
    found = sorted(known, key=lambda row: row[key], reverse=falling) + [row for row in rows if row[key] is None]
    return sorted(found, key=lambda row: row["little_evidence"]) if apart else found


def _from_side(game: Json, player: str, numbers: Mapping[str, int]) -> Json:
    """Return a game as one of its players sees it."""
    at = _pair(game).index(player)
    own, other, score = game[SIDES[at]], game[SIDES[1 - at]], PGN_SCORES.get(game["result"])
    return {
        "game": game["number"],
        **{name: game[name] for name in ("date", "event", "eco", "opening", "time_control", "plies", "searched")},
        "side": SIDES[at],
        "opponent": other["player"],
        "opponent_number": numbers.get(other["player"]),
        "opponent_elo": other["header_elo"],
        "own_elo": own["header_elo"],
        "score": None if score is None else abs(at - score),
        "elo": None if own["elo"] is None else own,
    }


def _posterior(kept: Json, exact: Json) -> Posterior:
    first, last = exact["ends"]
    at = np.linspace(first, last, len(exact["density"]))
    return Posterior(at, np.array(exact["density"]), kept["prior"], kept["low"], kept["high"])


def _nth(choices: Sequence[Json], at: int) -> int | None:
    return int(choices[at]["number"]) if len(choices) > at else None
