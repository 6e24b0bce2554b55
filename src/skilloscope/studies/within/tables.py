"""Tables inside games: one row per game, and one row per move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import EDGE_NOTE, competence, edge_mark, elo_interval, skipped_line
from skilloscope.studies.rate.elo_tables import axis_lines

_SCORES = {1.0: "1", 0.5: "½", 0.0: "0", None: "–"}


def _rows(report: Mapping[str, Any], side: Callable[[Mapping[str, Any]], list[str]]) -> list[list[str]]:
    """Return a row for each game, and a last one for all games together; `side` gives the cells of one player."""
    games = [
        [
            game["game"],
            game["date"] or "–",
            game["opponent"] + (" ●" if game["marked"] else ""),
            _SCORES[game["score"]],
            *side(game["own"]),
            *side(game["other"]),
        ]
        for game in report["games"]
    ]
    return [*games, ["all games", "", "", "", *side(report["overall"]), *side(report["opponents"])]]


def within_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `within`: a row per game, and a last one for all games together."""
    columns = ["game", "date", "opponent", "score", f"c of {report['player']}", "decisions"]
    rows = _rows(report, _side)
    title = f"{report['player']}, game by game" + (f" (● against {report['mark']})" if report["mark"] else "")
    return Sheet(title, [*columns, "c of opponent", "decisions"], rows, _notes(report), left=3)


def elo_within_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `within` on the Elo axis: a row per game, and a last one for all games together."""
    interval = f"Elo ({100 * report['mass']:g} % interval)"
    columns = ["game", "date", "opponent", "score", f"{report['player']}: {interval}", "moves"]
    rows = _rows(report, _elo_side)
    shown = [report["overall"], report["opponents"]]
    every = [*shown, *(game[side] for game in report["games"] for side in ("own", "other"))]
    notes = [
        skipped_line(sum(side["decisions"] for side in shown), report["skipped"], what="moves"),
        *axis_lines(report, every),
        "one game is little evidence: every row begins with the prior; all opponents together count as of one strength",
    ]
    title = f"{report['scale']['axis']}; {report['player']}, game by game"
    marked = f" (● against {report['mark']})" if report["mark"] else ""
    return Sheet(title + marked, [*columns, f"opponent: {interval}", "moves"], rows, notes, left=3)


def running_elo_sheet(running: Mapping[str, Any]) -> Sheet:
    """Return the table of one game on the Elo axis, move by move."""
    rows = [
        [
            _numbered(row),
            row["player"],
            number(row["probability"], 3),
            f"{row['elo']:.0f} ({row['elo_low']:.0f} to {row['elo_high']:.0f}){edge_mark(row['elo_edge'])}",
            str(row["decisions"]),
        ]
        for row in running["moves"]
    ]
    note = (
        "probability: of the move, by what was known of the player before it; Elo after it; forced moves are left out"
    )
    columns = ("move", "player", "probability", f"Elo ({100 * running['mass']:g} % interval)", "moves")
    return Sheet(f"{running['game']}, move by move", columns, rows, [note], left=2)


def running_sheet(running: Mapping[str, Any]) -> Sheet:
    """Return the table of one game, move by move."""
    rows = [
        [
            _numbered(row),
            row["player"],
            number(row["loss"], 2),
            number(row["probability"], 3),
            competence(row),
            f"{row['low']:.2f} to {row['high']:.2f}",
            str(row["decisions"]),
        ]
        for row in running["moves"]
    ]
    interval = f"{100 * running['mass']:g} % interval"
    note = f"probability: of the choice, by what was known of the player before it; {interval} after it"
    columns = ("move", "player", "loss", "probability", "c", "interval", "decisions")
    return Sheet(f"{running['game']}, move by move", columns, rows, [note], left=2)


def _notes(report: Mapping[str, Any]) -> list[str]:
    sides = [report["overall"], report["opponents"]]
    notes = [skipped_line(sum(side["decisions"] for side in sides), report["skipped"])]
    if any(game[side]["edge"] for game in report["games"] for side in ("own", "other")):
        notes.append(EDGE_NOTE)
    return [*notes, f"prior of c: {report['prior']}; one game is little evidence: ± is one standard deviation"]


def _elo_side(side: Mapping[str, Any]) -> list[str]:
    return [elo_interval(side), f"{side['decisions']:,}"]


def _numbered(row: Mapping[str, Any]) -> str:
    return f"{row['ply'] // 2 + 1}{'.' if row['ply'] % 2 == 0 else '…'} {row['move'] or ''}".strip()


def _side(side: Mapping[str, Any]) -> list[str]:
    return [competence(side), f"{side['decisions']:,}"]
