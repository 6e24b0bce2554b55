"""Tables inside games: one row per game, and one row per move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.sheet import number
from skilloscope.reports.terminal import framed
from skilloscope.reports.words import EDGE_NOTE, competence, skipped_line

MOVE_COLUMNS = ("move", "player", "loss", "probability", "c", "interval", "decisions")


def within_columns(report: Mapping[str, Any]) -> list[str]:
    """Return the headings of the chart's table."""
    return ["game", "date", "opponent", "score", f"c of {report['player']}", "decisions", "c of opponent", "decisions"]


def within_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return one row of cells per game, and a last one for all games together."""
    rows = [
        [
            game["game"],
            game["date"] or "–",
            game["opponent"] + (" ●" if game["marked"] else ""),
            _score(game["score"]),
            *_side(game["own"]),
            *_side(game["other"]),
        ]
        for game in report["games"]
    ]
    return [*rows, ["all games", "", "", "", *_side(report["overall"]), *_side(report["opponents"])]]


def within_notes(report: Mapping[str, Any]) -> list[str]:
    """Return what stands under the table."""
    sides = [report["overall"], report["opponents"]]
    notes = [skipped_line(sum(side["decisions"] for side in sides), report["skipped"])]
    if any(game[side]["edge"] for game in report["games"] for side in ("own", "other")):
        notes.append(EDGE_NOTE)
    notes.append(f"prior of c: {report['prior']}; one game is little evidence: ± is one standard deviation")
    return notes


def within_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `within`."""
    title = f"{report['player']}, game by game" + (f" (● against {report['mark']})" if report["mark"] else "")
    return framed(title, _table(within_columns(report), within_rows(report), left=3), within_notes(report))


def move_rows(running: Mapping[str, Any]) -> list[list[str]]:
    """Return one row of cells per decision of a game."""
    return [
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


def moves_table(running: Mapping[str, Any]) -> Group:
    """Return the table of one game, move by move."""
    interval = f"{100 * running['mass']:g} % interval"
    note = f"probability: of the choice, by what was known of the player before it; {interval} after it"
    title = f"{running['game']}, move by move"
    return framed(title, _table(MOVE_COLUMNS, move_rows(running), left=2), [note])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int) -> Table:
    table = Table()
    for place, name in enumerate(columns):
        table.add_column(Text(name), justify="left" if place < left else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _side(side: Mapping[str, Any]) -> list[str]:
    return [competence(side), f"{side['decisions']:,}"]


def _score(score: float | None) -> str:
    return {1.0: "1", 0.5: "½", 0.0: "0", None: "–"}[score]
