"""The JSON API: the same dicts that the pages show, and that the command line sends; OpenAPI at /openapi.json."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool

from skilloscope.__about__ import __version__
from skilloscope.core.errors import InputError
from skilloscope.studies.moves.moves import DEFAULT_LEVELS, moves_study
from skilloscope.studies.rate.front import engine_found
from skilloscope.web import views
from skilloscope.web.intake import EFFORTS, KINDS, add_feed, add_upload
from skilloscope.web.jobs import Job, Jobs
from skilloscope.web.safety import check_token, visitor_of

Report = dict[str, Any]
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"description": "the request is at fault"},
    403: {"description": "it does not come from a page of ours, and has no header X-Skilloscope"},
    404: {"description": "there is no such thing, or nothing is known of it yet"},
    413: {"description": "too large"},
    422: {"description": "the input is at fault; `error` says how, `hint` what to do"},
    503: {"description": "too many jobs are waiting"},
}
router = APIRouter(prefix="/api", responses=_ERRORS, dependencies=[Depends(check_token)])
JobId = Annotated[str, Path(description="the job's unguessable id", max_length=64)]
Number = Annotated[int, Path(ge=1, le=1_000_000)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]


def jobs_of(request: Request) -> Jobs:
    """Return the queue."""
    found: Jobs = request.app.state.jobs
    return found


def job_of(request: Request, job: JobId) -> Job:
    """Return the job that an address names."""
    return jobs_of(request)[job]


AJob = Annotated[Job, Depends(job_of)]


@router.get("/about")
def api_about(request: Request) -> Report:
    """Version, limits, whether there is an engine, and how many jobs there are by state."""
    safety = request.app.state.safety
    limits = {"bytes": safety.most_bytes}
    return {"version": __version__, "engine": engine_found(None), "limits": limits, "jobs": jobs_of(request).counts()}


@router.get("/moves")
def api_moves(
    fen: Annotated[str, Query(max_length=120)],
    elo: Annotated[list[float] | None, Query(max_length=64, description="levels of Elo")] = None,
) -> Report:
    """What people of each strength play in a position: what `skilloscope moves --json` sends, without an engine."""
    return moves_study(fen, elo or DEFAULT_LEVELS).as_dict()


@router.post("/jobs", status_code=202)
async def api_add_job(
    request: Request,
    kind: Annotated[str, Query(description=", ".join(KINDS))] = "games",
    name: Annotated[str, Query(max_length=200, description="what the file is called")] = "",
    effort: Annotated[str, Query(description=", ".join(EFFORTS))] = "quick",
) -> Report:
    """Put a job into the queue; the body is the text itself (PGN, CSV or JSON lines)."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise InputError("the body is a form", hint="send the text itself, for instance with curl --data-binary @FILE")
    if effort not in EFFORTS:
        raise InputError(f"no effort {effort!r}", hint=f"the efforts: {', '.join(EFFORTS)}")
    options = {"effort": effort} if kind == "games" else {}
    async with request.app.state.reading:
        files = [(name, await request.body())]
        adding = partial(add_upload, jobs_of(request), kind, files, owner=visitor_of(request), options=options)
        return (await run_in_threadpool(adding)).as_dict()


@router.post("/live", status_code=202)
def api_follow(request: Request, address: Annotated[str, Query(max_length=2000)]) -> Report:
    """Follow games at an address while they are played."""
    return add_feed(jobs_of(request), address, owner=visitor_of(request)).as_dict()


@router.get("/jobs")
def api_jobs(request: Request) -> Report:
    """The visitor's own jobs, the newest first."""
    return {"jobs": [job.as_dict() for job in jobs_of(request).of_owner(visitor_of(request))]}


@router.get("/jobs/{job}")
def api_job(job: AJob) -> Report:
    """How far a job is."""
    return job.as_dict()


@router.delete("/jobs/{job}")
def api_delete(request: Request, job: AJob) -> Report:
    """Forget a job, with all that was uploaded and found."""
    jobs_of(request).delete(job.id)
    return {"deleted": job.id}


@router.post("/jobs/{job}/cancel")
def api_cancel(request: Request, job: AJob) -> Report:
    """Stop a job; what it has found stays."""
    jobs_of(request).cancel(job.id)
    return jobs_of(request)[job.id].as_dict()


@router.post("/jobs/{job}/resume")
def api_resume(request: Request, job: AJob) -> Report:
    """Go on with a job that was cancelled or has failed."""
    jobs_of(request).resume(job.id)
    return jobs_of(request)[job.id].as_dict()


@router.get("/jobs/{job}/ratings")
def api_ratings(
    request: Request,
    job: AJob,
    sort: Annotated[str, Query(description=", ".join(views.SORTS))] = "elo_low",
    order: str = "desc",
    search: Annotated[str, Query(max_length=200)] = "",
    page: PageNumber = 1,
) -> Report:
    """The players' ratings: what `skilloscope rate --json` sends, sorted and filtered."""
    return views.ratings_view(jobs_of(request), job, sort=sort, order=order, search=search, page=page)


@router.get("/jobs/{job}/games")
def api_games(request: Request, job: AJob) -> Report:
    """The heads of all games."""
    return views.games_view(jobs_of(request), job)


@router.get("/jobs/{job}/games/{number}")
def api_game(request: Request, job: AJob, number: Number) -> Report:
    """One game, move by move."""
    return views.game_view(jobs_of(request), job, number)


@router.get("/jobs/{job}/players/{number}")
def api_player(request: Request, job: AJob, number: Number) -> Report:
    """One player: rating, games, the decisions that stand out."""
    return views.player_view(jobs_of(request), job, number)


@router.get("/jobs/{job}/compare")
def api_compare(
    request: Request,
    job: AJob,
    first: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    second: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> Report:
    """Two players: the difference of their Elo, and how surely the first is above."""
    return views.comparison_view(jobs_of(request), job, first, second)


@router.get("/jobs/{job}/event")
def api_event(request: Request, job: AJob) -> Report:
    """The games as an event: standings, crosstable, best played games, turning points."""
    return views.event_view(jobs_of(request), job)


@router.get("/jobs/{job}/results")
def api_results(
    request: Request, job: AJob, search: Annotated[str, Query(max_length=200)] = "", page: PageNumber = 1
) -> Report:
    """The fit and the leaderboard of results."""
    return views.results_view(jobs_of(request), job, search=search, page=page)


@router.get("/jobs/{job}/members/{number}")
def api_member(request: Request, job: AJob, number: Number) -> Report:
    """One member of a leaderboard, with the history."""
    return views.member_view(jobs_of(request), job, number)


@router.get("/jobs/{job}/deciders")
def api_deciders(request: Request, job: AJob) -> Report:
    """The deciders of a table of decisions."""
    return views.deciders_view(jobs_of(request), job)


@router.get("/jobs/{job}/live")
def api_live(request: Request, job: AJob) -> Report:
    """The boards of games that are followed."""
    return views.live_view(jobs_of(request), job)
