"""The table of `live`, and a line for each event where there is no screen to draw on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.terminal import framed
from skilloscope.studies.game.tables import difference


def live_table(boards: Sequence[Mapping[str, Any]], note: str = "") -> Group:
    """Return every board with its last move, its evaluation, and both players' strength so far."""
    table = Table()
    for name, justify in (("board", "left"), ("moves", "right"), ("last", "left"), ("evaluation", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("white", justify="right")
    table.add_column("black", justify="right")
    table.add_column("result", justify="right")
    for board in boards:
        value = board["white_value_cp"]
        late = board["value_of_ply"] is not None and board["value_of_ply"] < board["moves"] - 1
        shown = "–" if value is None else f"{value / 100:+.2f}{' …' if late else ''}"
        table.add_row(
            Text(board["board"], style="" if board["in_feed"] else "dim"),
            str(board["moves"]),
            board["last"] or "–",
            shown,
            *(_player(player) for player in board["players"]),
            board["result"],
        )
    return framed("strength so far: expected score against the engine, Elo difference to it", table, [note])


def event_line(event: Mapping[str, Any]) -> str:
    """Return an event as one line of text."""
    kind = event["type"]
    if kind == "move":
        number = f"{event['number']}{'.' if event['side'] == 'white' else '...'}"
        gain = "–" if event["gain_cp"] is None else f"{event['gain_cp'] / 100:+.2f}"
        sides = "; ".join(_player(player) for player in event["players"])
        return f"{event['board']}: {number} {event['san']} {event['white_value_cp'] / 100:+.2f} (gain {gain}); {sides}"
    if kind == "board":
        return f"{event['board']}: followed, {event['moves']} moves so far"
    if kind == "corrected":
        return f"{event['board']}: corrected from ply {event['ply']} on, {event['taken_back']} moves taken back"
    if kind == "result":
        return f"{event['board']}: {event['result']}"
    if kind == "problem":
        return f"{event['board'] or 'feed'}: {event['problem']}"
    return f"{event['board'] or 'feed'}: {kind}"


def _player(player: Mapping[str, Any]) -> str:
    if player["expected_score"] is None:
        return f"{player['player']} –"
    strength = "" if player["strength"] is None else f" = {player['strength']:.0f}"
    return f"{player['player']} {player['expected_score']:.2f} {difference(player)}{strength}"
