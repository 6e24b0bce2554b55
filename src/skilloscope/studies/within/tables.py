"""Tables inside games: one row per game, and one row per move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import EDGE_NOTE, competence, skipped_line


def within_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `within`: a row per game, and a last one for all games together."""
    columns = ["game", "date", "opponent", "score", f"c of {report['player']}", "decisions"]
    rows = [
        [
            game["game"],
            game["date"] or "–",
            game["opponent"] + (" ●" if game["marked"] else ""),
            {1.0: "1", 0.5: "½", 0.0: "0", None: "–"}[game["score"]],
            *_side(game["own"]),
            *_side(game["other"]),
        ]
        for game in report["games"]
    ]
    together = ["all games", "", "", "", *_side(report["overall"]), *_side(report["opponents"])]
    title = f"{report['player']}, game by game" + (f" (● against {report['mark']})" if report["mark"] else "")
    return Sheet(title, [*columns, "c of opponent", "decisions"], [*rows, together], _notes(report), left=3)


def running_sheet(running: Mapping[str, Any]) -> Sheet:
    """Return the table of one game, move by move."""
    rows = [
        [
            f"{row['ply'] // 2 + 1}{'.' if row['ply'] % 2 == 0 else '…'} {row['move'] or ''}".strip(),
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


def _side(side: Mapping[str, Any]) -> list[str]:
    return [competence(side), f"{side['decisions']:,}"]
