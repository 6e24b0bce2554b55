"""The table of `live`, and a line for each event where there is no screen to draw on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import plural
from skilloscope.studies.game.tables import axis_text, difference_text, ends_text


def live_sheet(boards: Sequence[Mapping[str, Any]], note: str = "") -> Sheet:
    """Return every board with its last move, its evaluation, and both players' strength so far."""
    rows = [
        [
            board["board"],
            str(board["moves"]),
            board["last"] or "–",
            _evaluation(board),
            score_now(board),
            *(_cell(player) for player in board["players"]),
            board["result"],
        ]
        for board in boards
    ]
    gone = {place for place, board in enumerate(boards) if not board["in_feed"]}
    title = (
        "so far: Elo difference to the engine by gain; Elo on the one axis by moves and their losses; 95 % intervals"
    )
    columns = ["board", "moves", "last", "evaluation", "white to score", "white", "black", "result"]
    return Sheet(title, columns, rows, [note], words=(2,), faded=gone)


def event_line(event: Mapping[str, Any]) -> str:
    """Return an event as one line of text."""
    kind = event["type"]
    if kind == "move":
        number = f"{event['number']}{'.' if event['side'] == 'white' else '...'}"
        gain = "–" if event["gain_cp"] is None else f"{event['gain_cp'] / 100:+.2f}"
        sides = "; ".join([*(_player(player) for player in event["players"]), f"white to score {score_now(event)}"])
        return f"{event['board']}: {number} {event['san']} {event['white_value_cp'] / 100:+.2f} (gain {gain}); {sides}"
    if kind == "board":
        return f"{event['board']}: followed, {plural(event['moves'], 'move')} so far"
    if kind == "corrected":
        return (
            f"{event['board']}: corrected from ply {event['ply']} on, {plural(event['taken_back'], 'move')} taken back"
        )
    if kind == "result":
        return f"{event['board']}: {event['result']}"
    if kind == "problem":
        return f"{event['board'] or 'feed'}: {event['problem']}"
    return f"{event['board'] or 'feed'}: {kind}"


def _evaluation(board: Mapping[str, Any]) -> str:
    """Return the latest evaluation that is known, with dots where it is not yet that of the last move."""
    if board["white_value_cp"] is None:
        return "–"
    late = board["value_of_ply"] is not None and board["value_of_ply"] < board["moves"] - 1
    return f"{board['white_value_cp'] / 100:+.2f}{' …' if late else ''}"


def score_now(fields: Mapping[str, Any]) -> str:
    """Return White's expected score against Black now, by the gains of both so far."""
    found = fields["white_against_black"]
    return "–" if found is None else f"{found['expected_score']:.2f}"


def _player(player: Mapping[str, Any]) -> str:
    """Return a player's strength so far in one line."""
    return f"{player['player']} {_strength(player)}" + (
        "" if player["axis_elo"] is None else f", Elo {axis_text(player)}"
    )


def _cell(player: Mapping[str, Any]) -> str:
    """Return the same in a few short lines, with the total over the event where that is more than this game."""
    total = player["total"]
    lines = [_strength(player), "" if player["axis_elo"] is None else f"Elo {axis_text(player)}"]
    if total["games"] > 1:
        lines.append(f"{plural(total['games'], 'game')} {difference_text(total)}{ends_text(total)}")
    return "\n".join(line for line in lines if line)


def _strength(player: Mapping[str, Any]) -> str:
    if player["expected_score"] is None:
        return "–"
    strength = "" if player["strength"] is None else f" = {player['strength']:.0f}"
    return f"{difference_text(player)}{ends_text(player)}{strength}"


def deciders_live_sheet(rows: Sequence[Mapping[str, Any]], mass: float) -> Sheet:
    """Return everybody who decided so far, the greatest c first."""
    cells = [
        [row["decider"], f"{row['decisions']:,}", f"{row['c']:.2f} ({row['low']:.2f} to {row['high']:.2f})"]
        for row in rows
    ]
    return Sheet("Deciders", ["decider", "decisions", f"c ({100 * mass:g} % interval)"], cells)
