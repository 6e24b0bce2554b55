"""The pages for people: each renders the dict of its view, and links to the same as JSON.

A name may hold anything: it is escaped, control characters are taken out of it, and it is kept from turning the text
around it (a <bdi> of its own).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import cache, partial
from typing import Annotated, Any
from urllib.parse import urlencode

import chess
import chess.svg
from fastapi import APIRouter, Depends, Query, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from skilloscope.__about__ import __version__
from skilloscope.chess.boards import playable_board
from skilloscope.chess.moves import MATE_CAP
from skilloscope.chess.pgn.facts import FIDE, checked_pool
from skilloscope.core.errors import InputError
from skilloscope.core.text import visible
from skilloscope.inputs.costs import winning_chances
from skilloscope.inputs.pipeline import engine_found
from skilloscope.models.joint import elo_range
from skilloscope.report.board import BETTER, PLAYED
from skilloscope.report.page import ANALYSIS_BOARD
from skilloscope.report.table import edge_mark, percent, plural, probability_text, share
from skilloscope.studies.report.player import COSTLY_TEXTS, FIND_TEXTS, PARTS
from skilloscope.web import api
from skilloscope.web.api import AJob, Number, PageNumber, Search, jobs_of
from skilloscope.web.jobs import Job, Jobs, Json, NotFoundError
from skilloscope.web.safety import SESSION, Safety, check_token, cookie_text, form_of, visitor_of
from skilloscope.web.uploads import EFFORTS, KINDS, add_feed, add_screening, add_upload

router = APIRouter(dependencies=[Depends(check_token)])
_LOOK_SECONDS = 0.25  # between two looks at a job whose page is open
_BEAT_SECONDS = 15.0  # after so long without news a comment is sent, so that a dead line is noticed
MaybeText = Annotated[str, Query(max_length=9, pattern=r"^\d*$")]


def _page(request: Request, template: str, code: int = 200, **values: Any) -> HTMLResponse:
    safety: Safety = request.app.state.safety
    base = {
        "token": safety.token(visitor_of(request)),
        "path": request.url.path,
        "has_password": safety.password is not None,
        "most_mb": safety.most_bytes // 2**20,
        "keep_days": jobs_of(request).keep_days,
    }
    return HTMLResponse(rendered(template, **base, **values), code)


def error_page(request: Request, status: int, text: str, hint: str) -> Response:
    """Return the page that says what is wrong."""
    return _page(request, "error.html", status, status=status, text=text, hint=hint)


@router.get("/")
def home(request: Request) -> Response:
    """Upload games, and one's own jobs."""
    own = jobs_of(request).of_owner(visitor_of(request))
    return _page(request, "home.html", jobs=own, engine=engine_found(None), json="/api/jobs")


@router.get("/results")
@router.get("/decisions")
@router.get("/live")
def upload_home(request: Request) -> Response:
    """Upload results or decisions, or name an address to follow."""
    kind = request.url.path.strip("/")
    return _page(request, "follow.html" if kind == "live" else "upload.html", kind=kind, json="/api/jobs")


@router.get("/play")
def play_page(
    request: Request,
    fen: Annotated[str, Query(max_length=120)] = chess.STARTING_FEN,
    side: Annotated[str, Query(pattern="^(white|black)$")] = "white",
    elo: Annotated[int, Query(ge=0, le=4000)] = 1500,
    pool: Annotated[str, Query(max_length=40)] = FIDE,
) -> Response:
    """Play on from a position against an opponent of any Elo."""
    low, high = elo_range(checked_pool(pool))
    start, level = playable_board(fen).fen(), int(min(max(elo, low), high))
    about = {"pool": pool, "range": (low, high), "engine": engine_found(None)}
    return _page(request, "play.html", fen=start, elo=level, side=side, about=about)


@router.get("/guess")
def guess_page(request: Request) -> Response:
    """Guess what people of a strength play."""
    return _page(request, "guess.html", range=elo_range(FIDE))


@router.post("/upload")
async def upload(request: Request) -> Response:
    """Take files or a pasted text, and go to the job's page."""
    form = await form_of(request)
    kind, effort = str(form.get("kind", "games")), str(form.get("effort", "quick"))
    if kind not in KINDS or effort not in EFFORTS:
        raise InputError("this form is not from this server")
    keep = {"keep": True} if form.get("keep") else {}
    options = (
        {"effort": effort, **keep}
        if kind == "games"
        else {"period": str(form.get("period", ""))[:10], "known": "known" in form}
    )
    options = {"k": str(form.get("k", "0.1"))[:20]} if kind == "decisions" else options
    parts = [part for part in form.getlist("files") if isinstance(part, UploadFile)]
    files = [(part.filename or "", await part.read()) for part in parts]
    files.append(("", str(form.get("text", "")).encode()))
    adding = partial(add_upload, jobs_of(request), kind, files, owner=visitor_of(request), options=options)
    job = await run_in_threadpool(adding)
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.post("/live")
async def follow(request: Request) -> Response:
    """Follow an address."""
    form = await form_of(request)
    address = str(form.get("address", "")).strip()
    job = await run_in_threadpool(lambda: add_feed(jobs_of(request), address, owner=visitor_of(request)))
    return RedirectResponse(f"/jobs/{job.id}", 303)


@router.post("/jobs/{job}/{what}")
def change_job(request: Request, job: AJob, what: str) -> Response:
    """Cancel, resume or delete a job; or have its games screened, by a job of its own."""
    if what == "screen" and job.kind == "games":
        return RedirectResponse(f"/jobs/{add_screening(jobs_of(request), job).id}", 303)
    changes = {"cancel": Jobs.cancel, "resume": Jobs.resume, "delete": Jobs.delete}
    if what not in changes:
        raise InputError(f"a job cannot be asked to {what}")
    changes[what](jobs_of(request), job.id)
    return RedirectResponse("/" if what == "delete" else f"/jobs/{job.id}", 303)


_TABLES = {"games": "ratings", "results": "results", "decisions": "deciders", "live": "live",
           "screening": "screening"}  # fmt: skip
"""What the table of each kind of job is called: a template of that name, and a part of the API."""


@router.get("/jobs/{job}")
def show_job(
    request: Request, job: AJob, sort: str = "elo_low", order: str = "desc", search: Search = "", page: PageNumber = 1
) -> Response:
    """Show a job: the ratings, the leaderboard, the deciders or the boards, as far as they are known."""
    part = _TABLES[job.kind]
    view = _table(request, job, sort=sort, order=order, search=search, page=page)
    return _page(request, "job.html", job=job, view=view, part=part, json=f"/api/jobs/{job.id}/{part}")


@router.get("/jobs/{job}/table")
def table_part(
    request: Request, job: AJob, sort: str = "elo_low", order: str = "desc", search: Search = "", page: PageNumber = 1
) -> Response:
    """Show the table of a job alone: sorted, filtered or updated."""
    view = _table(request, job, sort=sort, order=order, search=search, page=page)
    return HTMLResponse(rendered(f"_{_TABLES[job.kind]}.html", job=job, view=view))


def _table(request: Request, job: Job, *, sort: str, order: str, search: str, page: int) -> Json | None:
    jobs = jobs_of(request)
    try:
        if job.kind == "games":
            return api.ratings_view(jobs, job, sort=sort, order=order, search=search, page=page)
        if job.kind == "results":
            return api.results_view(jobs, job, search=search, page=page)
        views = {"decisions": api.deciders_view, "screening": api.screening_view, "live": api.live_view}
        return views[job.kind](jobs, job)
    except NotFoundError:
        return None


@router.get("/jobs/{job}/events")
def job_events(request: Request, job: AJob) -> Response:
    """Send how far a job is, as it goes."""
    safety: Safety = request.app.state.safety
    token = safety.token(visitor_of(request))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(jobs_of(request), job.id, token), media_type="text/event-stream", headers=headers)


async def _events(jobs: Jobs, name: str, token: str) -> AsyncIterator[str]:
    version, found, beat = -1, -1, time.monotonic()
    while True:
        try:
            job = await run_in_threadpool(jobs.__getitem__, name)
        except InputError:  # deleted
            yield "event: ended\ndata:\n\n"
            return
        if job.version != version:
            version, beat = job.version, time.monotonic()
            yield _event("progress", rendered("_progress.html", job=job, token=token))
        if job.found != found:
            found = job.found
            yield _event("found", str(found))
        if job.ended:
            yield _event("ended", job.state)
            return
        if time.monotonic() - beat > _BEAT_SECONDS:
            beat = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK_SECONDS)


def _event(name: str, text: str) -> str:
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {name}\n{lines}\n"


def _numbered(template: str, view: Callable[[Jobs, Job, int], Json]) -> Callable[..., Response]:
    """Return what shows one game, player, member or board of a job, as its view describes it."""

    def show(request: Request, job: AJob, number: Number) -> Response:
        found = view(jobs_of(request), job, number)
        return _page(request, template, job=job, view=found, json=f"/api{request.url.path}")

    return show


router.get("/jobs/{job}/games/{number}")(_numbered("game.html", api.game_view))
router.get("/jobs/{job}/players/{number}")(_numbered("player.html", api.player_view))
router.get("/jobs/{job}/members/{number}")(_numbered("member.html", api.member_view))
router.get("/jobs/{job}/boards/{number}")(_numbered("board.html", api.board_view))


@router.get("/jobs/{job}/event")
def show_event(request: Request, job: AJob) -> Response:
    """Show the games as an event."""
    view = api.event_view(jobs_of(request), job)
    return _page(request, "event.html", job=job, view=view, json=f"/api/jobs/{job.id}/event")


@router.get("/jobs/{job}/compare")
def show_compare(request: Request, job: AJob, first: MaybeText = "", second: MaybeText = "") -> Response:
    """Show two players on one axis."""
    view = api.comparison_view(jobs_of(request), job, int(first or 0) or None, int(second or 0) or None)
    query = f"?first={view['first']}&second={view['second']}" if len(view["players"]) == 2 else ""
    return _page(request, "compare.html", job=job, view=view, json=f"/api/jobs/{job.id}/compare{query}")


@router.get("/board.svg")
def board_picture(
    fen: Annotated[str, Query(max_length=120)],
    move: Annotated[str, Query(max_length=5)] = "",
    better: Annotated[str, Query(max_length=5)] = "",
    flip: bool = False,
    last: Annotated[str, Query(max_length=5)] = "",
) -> Response:
    """Draw a position, with the move played and the better one as arrows."""
    try:
        board = chess.Board(fen)
        arrows = [
            chess.svg.Arrow(found.from_square, found.to_square, color=colour)
            for text, colour in ((better, BETTER), (move, PLAYED))
            if text and (found := chess.Move.from_uci(text))
        ]
        moved = chess.Move.from_uci(last) if last else None
    except ValueError as error:
        raise InputError(f"this is not a valid position: {error}") from error
    picture = chess.svg.board(board, arrows=arrows, lastmove=moved, orientation=not flip, size=240, coordinates=False)
    return Response(picture, media_type="image/svg+xml", headers={"Cache-Control": "private, max-age=86400"})


@router.get("/login")
def show_login(request: Request) -> Response:
    """Ask for the password."""
    return _page(request, "login.html", wrong=False)


@router.post("/login")
async def login(request: Request) -> Response:
    """Let a visitor in who has the password."""
    safety: Safety = request.app.state.safety
    form = await form_of(request)
    if safety.password is None or not safety.accepts(str(form.get("password", ""))):
        return _page(request, "login.html", 403, wrong=True)
    reply = RedirectResponse("/", 303)
    reply.headers.append("Set-Cookie", cookie_text(SESSION, safety.let_in(visitor_of(request))))
    return reply


@router.post("/logout")
def logout(request: Request) -> Response:
    """Forget who is in."""
    request.app.state.safety.sessions.pop(request.scope["session"], None)
    reply = RedirectResponse("/login", 303)
    reply.headers.append("Set-Cookie", f"{SESSION}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")
    return reply


_PERIODS = {"1W": "one week", "1M": "one month", "2M": "two months", "1Y": "one year"}
_SCORES = {1.0: "1", 0.5: "½", 0.0: "0"}


def rendered(template: str, **values: Any) -> str:
    """Return a page, or a part of one."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("skilloscope.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "name": name_markup,
        "plain": lambda text: visible(str(text)),
        "elo": lambda value: "–" if value is None else f"{value:.0f}",
        "interval": interval_text,
        "axis": lambda one: f"{one['axis_elo']:.0f} ({one['axis_low']:.0f} to {one['axis_high']:.0f})",
        "percent": lambda share: probability_text(share).replace(" ", "\u00a0"),
        "share": lambda p: share(p).replace(" ", "\u00a0"),
        "pawns": pawns_text,
        "signed": lambda value: f"{value:+.0f}".replace("-", "−"),
        "score": lambda value: "–" if value is None else _SCORES.get(value, f"{value:g}"),
        "points": lambda value: f"{value:g}".replace("0.5", "½").replace(".5", "½"),
        "query": lambda values: urlencode({k: v for k, v in values.items() if v not in ("", None)}),
        "ago": ago_text,
        "period": lambda text: _PERIODS.get(text, text),
        "moment": lambda moment: time.strftime("%Y-%m-%d %H:%M", time.localtime(moment)),
        "day": lambda moment: time.strftime("%Y-%m-%d", time.localtime(moment)),
        "date": lambda text: (text or "").replace(".??", "").replace(".", "-"),
        "edge": edge_mark,
        "whole": lambda p: percent(p).replace(" ", "\u00a0"),
        "oneof": one_of,
        "form": form_text,
        "clock": clock_text,
        "chances": lambda cp: float(winning_chances(cp / 100)),
        "sentence": lambda text: visible(text[:1].upper() + text[1:]),
        "counted": plural,
        "before": lambda text, word: text.split(word)[0].strip(),
    }
    found.globals |= {
        "version": __version__,
        "analysis_board": ANALYSIS_BOARD,
        "parts": {name: heading for name, (_, heading) in PARTS.items()},
        "costly_texts": COSTLY_TEXTS,
        "find_texts": FIND_TEXTS,
    }
    return found


def name_markup(text: str | None, unknown: str = "?") -> Markup:
    """Return a name as HTML.

    >>> name_markup("<b>Ann</b>")
    Markup('<bdi>&lt;b&gt;Ann&lt;/b&gt;</bdi>')
    """
    return Markup("<bdi>{}</bdi>").format(escape(visible(text or unknown)))


def interval_text(fields: Any) -> str:
    """Return the interval of an Elo, e.g. `1540 to 1820`."""
    return "–" if fields["elo"] is None else f"{fields['elo_low']:.0f} to {fields['elo_high']:.0f}"


def one_of(p: float) -> str:
    """Return a share of people in words.

    >>> one_of(0.62), one_of(0.06), one_of(0.0001)
    ('62 % of players', '1 in 17 players', 'hardly any player')
    """
    return (
        f"{percent(p)} of players" if p >= 0.3 else f"1 in {1 / p:.0f} players" if p >= 0.005 else "hardly any player"
    )


def form_text(side: Json) -> str:
    """Return how a game compares with a player's others.

    >>> form_text({"elo": 1850.2, "usual": 1620.0, "place": 3, "of": 20})
    '230 above the usual 1620, game 3 of 20 by strength'
    >>> form_text({"elo": 1850.2, "usual": 1850.2, "place": 1, "of": 1})
    'only game'
    """
    if side["of"] == 1:
        return "only game"
    difference = round(side["elo"]) - round(side["usual"])
    than = f"{abs(difference)} {'above' if difference >= 0 else 'below'} the usual {side['usual']:.0f}"
    return f"{than}, game {side['place']} of {side['of']} by strength"


def clock_text(seconds: float | None) -> str:
    """Return the time that is left.

    >>> clock_text(3725), clock_text(65.4), clock_text(None)
    ('1:02:05', '1:05', '')
    """
    if seconds is None:
        return ""
    minutes, left = divmod(int(max(seconds, 0)), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{left:02d}" if minutes >= 60 else f"{minutes}:{left:02d}"


def pawns_text(value: float | None) -> str:
    """Return an evaluation; a mate is not a number of pawns.

    >>> pawns_text(1.254), pawns_text(-39.0)
    ('+1.25', 'Black mates')
    """
    if value is None:
        return "–"
    return f"{value:+.2f}" if abs(value) < MATE_CAP else f"{'White' if value > 0 else 'Black'} mates"


def ago_text(then: float) -> str:
    """Return how long ago a moment is, in words."""
    seconds = max(time.time() - then, 0.0)
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{plural(int(seconds // size), word)} ago"
    return "just now"
