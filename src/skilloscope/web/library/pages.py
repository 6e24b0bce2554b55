"""The pages of the library, each with its JSON: all players, one player's progress, and what may be done with them.

A view is the dict of one page, as in api.py. What changes anything is a form, or a request to the API, and leads back.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from skilloscope.core.errors import InputError
from skilloscope.core.text import visible
from skilloscope.inputs.pipeline import engine_found
from skilloscope.web.api import Number, jobs_of
from skilloscope.web.jobs import Json
from skilloscope.web.library.accounts import MOST_GAMES, TITLES
from skilloscope.web.library.kept_games import exported
from skilloscope.web.library.players import Libraries, Library
from skilloscope.web.library.records import Import, Player, PlayerStudy, Snapshot, letters, side_of
from skilloscope.web.pages import _page
from skilloscope.web.safety import COOKIE, check_token, cookie_text, form_of, visitor_of
from skilloscope.web.uploads import EFFORTS, add_import, add_upload

router = APIRouter(dependencies=[Depends(check_token)])
_SHOWN = 200  # games in the list of a player; all are in the export


def libraries_of(request: Request) -> Libraries:
    """Return the file of libraries."""
    found: Libraries = request.app.state.libraries
    return found


def library_of(request: Request) -> Library:
    """Return the visitor's library, which is made when something is put into it."""
    return libraries_of(request).of(visitor_of(request)) or Library(libraries_of(request), "")


ALibrary = Annotated[Library, Depends(library_of)]


@router.get("/api/library")
def library_view(library: ALibrary) -> Json:
    """All players of the library with the Elo, its interval, games and the last change: a class list."""
    studies, snapshots = {one.player: one for one in library.records(PlayerStudy)}, dict[int, list[Snapshot]]()
    for one in sorted(library.records(Snapshot), key=lambda one: one.at):
        snapshots.setdefault(one.player, []).append(one)
    games, of = library.games(), dict[str, set[int]]()
    for at, game in enumerate(games):
        for name in (game.white, game.black):
            of.setdefault(letters(name), set()).add(at)
    rows = []
    for player in library.players():
        own = set[int]().union(*(of.get(letters(name), ()) for name in player.names))
        rows.append(_row(player, studies.get(player.number), snapshots.get(player.number, []), len(own)))
    imports = [asdict(one) for one in library.records(Import)]
    return {"players": rows, "games": len(games), "imports": imports, "damaged": library.lost}


@router.get("/api/library/players/{number}")
def kept_player_view(library: ALibrary, number: Number) -> Json:
    """One player: names, progress, what changed since the last upload, confirmed mistakes, games."""
    player = library.player(number)
    study, games = library.record(PlayerStudy, player.name), library.games(player)
    return {
        **_row(player, study, library.snapshots(player), len(games)),
        "aliases": list(player.aliases),
        "study": study and study.body,
        "snapshots": [asdict(one) for one in library.snapshots(player)],
        "mistakes": [asdict(one) for one in library.mistakes(player)],
        "kept": len(games),
        "games_shown": [{**asdict(one), "side": side_of(one, player)} for one in games[:_SHOWN]],
        "damaged": library.lost,
    }


def _row(player: Player, study: PlayerStudy | None, snapshots: Sequence[Snapshot], games: int) -> Json:
    pools = study.body["pools"] if study else []
    own = [one for one in snapshots if pools and (one.pool, one.effort) == (pools[0]["pool"], pools[0]["effort"])]
    change = round(own[-1].elo - own[-2].elo) if len(own) > 1 else None
    return {
        "number": player.number,
        "player": player.called,
        "me": player.me,
        "games": games,
        "axis": pools[0]["axis"] if pools else "",
        "rating": pools[0]["rating"] if pools else None,
        "change": change,
        "since": pools[0]["since"] if pools else None,
        "at": study.at if study else None,
    }


@router.get("/library", include_in_schema=False)
def show_library(request: Request, library: ALibrary) -> Response:
    """Show all players."""
    view, engine, key = library_view(library), engine_found(None), library.key
    json = "/api/library"
    return _kept(request, _page(request, "library.html", view=view, json=json, engine=engine, key=key, sites=TITLES))


@router.get("/library/players/{number}", include_in_schema=False)
def show_player(request: Request, library: ALibrary, number: Number) -> Response:
    """Show one player."""
    view, json = kept_player_view(library, number), f"/api/library/players/{number}"
    alive = {job.id for job in jobs_of(request).of_owner(visitor_of(request), most=1000)}
    return _kept(request, _page(request, "library_player.html", view=view, json=json, alive=alive))


@router.get("/library/export.zip", include_in_schema=False)
def export(library: ALibrary) -> Response:
    """Send all games as PGN and everything else as JSON, in one archive."""
    headers = {"Content-Disposition": 'attachment; filename="skilloscope-library.zip"'}
    return Response(exported(library), media_type="application/zip", headers=headers)


@router.post("/library/forget", include_in_schema=False)
def forget(library: ALibrary) -> Response:
    """Remove the library with all that is in it."""
    library.forget()
    return RedirectResponse("/library", 303)


@router.post("/library/open", include_in_schema=False)
async def open_other(request: Request) -> Response:
    """Use the library of another browser, by its key."""
    key = str((await form_of(request)).get("key", "")).strip()[:64]
    await run_in_threadpool(libraries_of(request).adopted, visitor_of(request), key)
    return RedirectResponse("/library", 303)


@router.post("/library/import", include_in_schema=False)
async def import_form(request: Request) -> Response:
    """Fetch the games of an account."""
    form = {name: str(value).strip() for name, value in (await form_of(request)).items()}
    account, most = f"{form.get('site')}:{form.get('name')}", str(form.get("most", ""))[:9]
    asked = account, int(most) if most.isdecimal() else 0, form.get("effort", "quick")
    return RedirectResponse(f"/jobs/{(await run_in_threadpool(api_import, request, *asked))['id']}", 303)


@router.post("/api/library/import", status_code=202)
def api_import(
    request: Request,
    account: Annotated[str, Query(max_length=100, description="lichess:NAME or chesscom:NAME")],
    most: Annotated[int, Query(description="how many games, the newest")] = 50,
    effort: Annotated[str, Query(description=", ".join(EFFORTS))] = "quick",
) -> Json:
    """Fetch the games of an account, and put a job of them into the queue."""
    library = libraries_of(request).opened(visitor_of(request))
    known = library.record(Import, account)
    since = known.newest if known and known.most >= most else ""
    options = {"effort": effort, "keep": True, "account": account, "most": most, "since": since}
    return add_import(jobs_of(request), options, owner=visitor_of(request)).as_dict()


@router.post("/library/players/{number}/{what}", include_in_schema=False)
async def change_player(request: Request, library: ALibrary, number: Number, what: str) -> Response:
    """Say who it is, add or drop a name, review all games again, or remove the player."""
    name = visible(str((await form_of(request)).get("name", ""))).strip()[:100]
    changes: dict[str, Callable[[], object]] = {
        "me": lambda: library.set_me(number),
        "name": lambda: library.add_alias(number, name),
        "drop": lambda: library.drop_alias(number, name),
        "review": lambda: None,
        "remove": lambda: library.remove_player(number),
    }
    if what not in changes:
        raise InputError(f"a player cannot be asked to {what}")

    def change() -> str:
        player = library.player(number)
        changes[what]()
        games = library.games(library.player(number))[:MOST_GAMES] if what in ("name", "drop", "review") else []
        if not games:
            return "/library" if what == "remove" else f"/library/players/{number}"
        options = {"effort": "quick" if engine_found(None) else "instant", "keep": True}
        files, owner = [(f"{player.called}.pgn", library.pgn(games).encode())], visitor_of(request)
        return f"/jobs/{add_upload(jobs_of(request), 'games', files, owner=owner, options=options).id}"

    return RedirectResponse(await run_in_threadpool(change), 303)


@router.post("/library/keep", include_in_schema=False)
async def keep_player(request: Request) -> Response:
    """Add a player of a job to the library, and read the job's games again for it."""
    form, jobs, visitor = await form_of(request), jobs_of(request), visitor_of(request)

    def keep() -> str:
        job = jobs[str(form.get("job", ""))[:64]]
        libraries_of(request).opened(visitor).add_player(unquote(str(form.get("name", ""))[:600])[:200])
        options = {"effort": str(job.options.get("effort", "instant")), "keep": True}
        return f"/jobs/{add_upload(jobs, 'games', jobs.inputs(job.id), owner=visitor, options=options).id}"

    return RedirectResponse(await run_in_threadpool(keep), 303)


def _kept(request: Request, page: Response) -> Response:
    """Let the cookie by which a library is found count for another year."""
    page.headers.append("Set-Cookie", cookie_text(COOKIE, visitor_of(request)))
    return page
