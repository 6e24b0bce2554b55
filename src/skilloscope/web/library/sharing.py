"""What leaves a page as a file: PGN with comments and variations, CSV, a picture card, a hand-out of six diagrams.

In: the dict of a page (see api.py), so that a file says what the page does. Everything is made here; nothing is loaded
from elsewhere, and a picture uses the fonts of the viewer's machine.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

import chess
import chess.pgn
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from skilloscope.chess.moves import board_of_fen
from skilloscope.core.errors import InputError
from skilloscope.core.table_files import safe_text
from skilloscope.core.text import visible
from skilloscope.report.board import board_svg
from skilloscope.report.page import pdf_bytes
from skilloscope.report.table import percent, share
from skilloscope.web import api
from skilloscope.web.api import AJob, Number, jobs_of
from skilloscope.web.jobs import Json, NotFoundError
from skilloscope.web.library.sparring import a_turn
from skilloscope.web.pages import rendered
from skilloscope.web.safety import check_token

DIAGRAMS = 6
MARKS = {"?!": chess.pgn.NAG_DUBIOUS_MOVE, "?": chess.pgn.NAG_MISTAKE, "??": chess.pgn.NAG_BLUNDER,
         "!": chess.pgn.NAG_GOOD_MOVE}  # fmt: skip
_TAGS = {"Event": "event", "Site": "site", "Date": "date", "Round": "round", "White": "white", "Black": "black",
         "Result": "result", "WhiteElo": "white_elo", "BlackElo": "black_elo", "ECO": "eco"}  # fmt: skip
_EMPTY = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?", "Result": "*"}
_TABLES = {"ratings": ("ratings", "players"), "games": ("event", "games"), "event": ("event", "table"),
           "leaderboard": ("leaderboard", "players"), "deciders": ("deciders", "deciders")}  # fmt: skip
"""Reports and their parts, by the name of the file."""
_KINDS = {"pgn": "application/x-chess-pgn; charset=utf-8", "csv": "text/csv; charset=utf-8", "pdf": "application/pdf"}
router = APIRouter(dependencies=[Depends(check_token)])


@router.get("/jobs/{job}/games/{number}/game.pgn")
def game_pgn(request: Request, job: AJob, number: Number) -> Response:
    """A game with its review as comments and variations, as Lichess studies and ChessBase read it."""
    return _file(annotated_pgn(api.game_view(jobs_of(request), job, number)), f"game-{number}.pgn")


@router.get("/jobs/{job}/players/{number}/games.pgn")
def player_pgn(request: Request, job: AJob, number: Number) -> Response:
    """All games of a player with their review."""
    jobs = jobs_of(request)
    rows = api.player_view(jobs, job, number)["games"]
    views = (jobs.report(job.id, f"game/{row['game']}") for row in rows)  # not as a page: it needs all other games
    texts = [annotated_pgn(view) for view in views if view]
    return _file("\n".join(texts), f"player-{number}.pgn")


@router.get("/jobs/{job}/{table}.csv")
def table_csv(request: Request, job: AJob, table: str) -> Response:
    """A table of a page: ratings, games, event, leaderboard or deciders."""
    report, part = _TABLES.get(table, ("", ""))
    found = jobs_of(request).report(job.id, report)
    if found is None:
        raise NotFoundError(f"there is no table {table!r} here (yet)")
    return _file(csv_text(found[part]), f"{table}.csv")


@router.get("/jobs/{job}/players/{number}/games.csv")
def player_csv(request: Request, job: AJob, number: Number) -> Response:
    """The games of a player, as the page lists them."""
    return _file(csv_text(api.player_view(jobs_of(request), job, number)["games"]), f"player-{number}.csv")


@router.get("/jobs/{job}/games/{number}/card.svg")
def game_card(request: Request, job: AJob, number: Number) -> Response:
    """A picture of a game: its costliest move, and how both played."""
    view = api.game_view(jobs_of(request), job, number)
    marked = [move for move in view["moves"] if move["mark"] in ("?", "??") and move["cost"] is not None]
    worst = max(marked, key=lambda move: move["cost"], default=None)
    fens = [view["start_fen"], *(move["fen"] for move in view["moves"])]
    picture, words = _picture(fens[-1]), ""
    if worst:
        picture = _picture(fens[worst["ply"]], worst["uci"], worst["better_uci"])
        words = f"{worst['number']}{'.' if worst['side'] == 'white' else '…'} {worst['san']}{worst['mark']}: "
        words += f"winning chances {percent(worst['chances'])} → {percent(worst['chances_after'])}"
    return _card("card_game.svg", view=view, picture=picture, words=words, worst=worst)


@router.get("/jobs/{job}/players/{number}/card.svg")
def player_card(request: Request, job: AJob, number: Number) -> Response:
    """A picture of a player: the Elo with its interval, and the decision that cost most."""
    view = api.player_view(jobs_of(request), job, number)
    if view["rating"] is None:
        raise InputError("this player has no rating", hint="a card shows one")
    worst = next(iter((view["report"] or {"costliest": []})["costliest"]), None)
    picture = (
        _picture(worst["fen"], worst["played_uci"], worst["better_uci"]) if worst else _picture(chess.STARTING_FEN)
    )
    return _card("card_player.svg", view=view, picture=picture, worst=worst)


@router.get("/jobs/{job}/players/{number}/handout.pdf")
def player_handout(request: Request, job: AJob, number: Number) -> Response:
    """Six positions in which the player went wrong, and their solutions, on paper."""
    view = api.player_view(jobs_of(request), job, number)
    return _handout((view["report"] or {"costliest": []})["costliest"], view["player"], f"handout-{number}.pdf")


@router.get("/jobs/{job}/handout.pdf")
def event_handout(request: Request, job: AJob) -> Response:
    """Six turning points of an event, and their solutions, on paper."""
    view = api.event_view(jobs_of(request), job)
    return _handout(view["turning"], view["events"][0] if len(view["events"]) == 1 else job.title, "handout.pdf")


def annotated_pgn(view: Json) -> str:
    """Return a game with marks, evaluations, clocks, comments, and the best moves as variations."""
    tags, start = view["game"], board_of_fen(view["game"]["start_fen"])
    game = chess.pgn.Game.without_tag_roster()
    game.setup(start)
    headers = {name: str(tags[key]) for name, key in _TAGS.items() if tags[key] is not None}
    for name, text in (_EMPTY | headers | {"Annotator": "skilloscope"}).items():
        game.headers[name] = visible(text).replace("\\", "\\\\").replace('"', '\\"')
    node: chess.pgn.GameNode = game
    for move in view["moves"]:
        before, node = node, node.add_variation(chess.Move.from_uci(move["uci"]))
        if move["white_value_cp"] is not None:
            cp, cap = move["white_value_cp"], 100 * 39
            known = chess.engine.Cp(cp) if abs(cp) < cap else chess.engine.Mate(1 if cp > 0 else -1)
            node.set_eval(chess.engine.PovScore(known, chess.WHITE))
        if move["clock"] is not None:
            node.set_clock(move["clock"])
        node.comment = " ".join(filter(None, [node.comment, *_remarks(move, view)])).replace("{", "(").replace("}", ")")
        if move["mark"]:
            node.nags.add(MARKS[move["mark"]])
        if move["mark"] not in ("", "!") and move["better_uci"]:
            _add_line(before, move["line"] or move["better"])
    return f"{game}\n"


def _remarks(move: Json, view: Json) -> Iterator[str]:
    """Yield what the page says of a marked move."""
    if not move["mark"] or move["chances"] is None:
        return
    level = next(side["level"] for side in view["players"] if side["side"] == move["side"])
    if move["mark"] == "!":
        yield "The only good move."
    else:
        yield f"Winning chances {percent(move['chances'])} → {percent(move['chances_after'])}."
        yield f"Best was {move['line'] or move['better']}." if move["better"] else ""
    if move["probability"] is not None and level is not None:
        yield f"Played by {share(move['probability'])} of players rated {level:.0f}."


def _add_line(node: chess.pgn.GameNode, line: str) -> None:
    for word in line.split():
        if not word[0].isdigit():
            node = node.add_variation(node.board().parse_san(word))


def csv_text(rows: Sequence[Json]) -> str:
    """Return rows as CSV that is safe to open in a spreadsheet; lists are left out, fields within a field get its name.

    >>> csv_text([{"player": "=1+1", "elo": {"mean": 1500.25}, "games": [1, 2]}])
    "player,elo_mean\\r\\n'=1+1,1500.25\\r\\n"
    """
    flat = [_flat(row) for row in rows]
    out = io.StringIO()
    table = csv.DictWriter(out, list(dict.fromkeys(name for row in flat for name in row)))
    table.writeheader()
    table.writerows(flat)
    return out.getvalue()


def _flat(row: Json, before: str = "") -> Json:
    found: Json = {}
    for name, one in row.items():
        if isinstance(one, dict):
            found |= _flat(one, f"{before}{name}_")
        elif not isinstance(one, list):
            found[f"{before}{name}"] = safe_text(one) if isinstance(one, str) else one
    return found


def _picture(fen: str, played: str | None = None, better: str | None = None) -> str:
    moves = [chess.Move.from_uci(uci) if uci else None for uci in (played, better)]
    return board_svg(fen, played=moves[0], better=moves[1], size=520).replace("<svg", '<svg x="40" y="55"', 1)


def _card(template: str, **values: Any) -> Response:
    return Response(rendered(template, **values), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


def _handout(decisions: Sequence[Json], title: str, name: str) -> Response:
    tasks = [one for one in decisions if one["better"] and one["better"] != one["played"]][:DIAGRAMS]
    if not tasks:
        raise InputError("there is no confirmed mistake to put on paper", hint="with an engine there may be one")
    boards = [board_svg(one["fen"], size=240) for one in tasks]
    page = visible(rendered("handout.html", title=title, tasks=tasks, boards=boards))
    with a_turn():
        return _file(pdf_bytes(page), name)


def _file(body: str | bytes, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=_KINDS[name.rpartition(".")[2]], headers=headers)
