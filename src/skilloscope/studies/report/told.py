"""Single decisions as a report tells them: the board, the move played, the better one, who finds it.

In: MoveCosts, the games and analyses behind them. Out: a dict for each decision, which is also what the JSON sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess
import numpy as np

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.chess960 import board_of_fen
from skilloscope.chess.engine.lines import MATE_CAP, move_of_code
from skilloscope.chess.pgn.games import Games
from skilloscope.reports.board import board_svg
from skilloscope.reports.page import Card
from skilloscope.reports.words import share
from skilloscope.sources.costs import LEVELS, MoveCosts

_HEADERS = ("game", "event", "round", "date", "white", "black", "result")


def told_moves(costs: MoveCosts, games: Games, analyses: Analyses) -> list[dict[str, Any]]:
    """Return each of the decisions with its game, position and moves in words."""
    return [_told(costs, row, games, analyses) for row in range(len(costs))]


def decision_card(move: Mapping[str, Any]) -> Card:
    """Return a decision as a card: the board with both moves, and how likely people find the better one."""
    found = move["played"] == move["better"]
    played, better = chess.Move.from_uci(move["played_uci"]), chess.Move.from_uci(move["better_uci"])
    mover = "White" if move["side"] == "white" else "Black"
    words = f"{mover} to move; played {move['played']}" + ("" if found else f", better {move['better']}")
    picture = board_svg(move["fen"], played=None if found else played, better=better, alt=words)
    return Card(f"{move['number']} {move['played']}", picture, decision_lines(move), move["fen"])


def decision_lines(move: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is said of a decision, name and value."""
    found = move["played"] == move["better"]
    lines = [("game", game_name(move)), ("by", move["player"])]
    lines += [] if found else [("played", f"{move['played']} (red)"), ("better", f"{move['better']} (blue)")]
    lines.append(("evaluation", pawns(move["value"]) if found else f"{pawns(move['value'])} → {_after(move)}"))
    lines.append((f"{move['better']} is found at {move['level']:.0f} by", share(move["p_better"])))
    by_level = zip(LEVELS, move["p_better_by_level"], strict=True)
    lines.append(("  by level", ", ".join(f"{level:.0f}: {share(p)}" for level, p in by_level)))
    lines.append(("lost, people of the level", f"{move['loss']:.2f}, {move['expected']:.2f}"))
    return lines


def game_name(move: Mapping[str, Any]) -> str:
    """Return whose game it is, with event and date where they are known."""
    where = ", ".join(str(move[name]) for name in ("event", "date") if move[name] not in (None, "", "?"))
    return f"{move['white'] or '?'} – {move['black'] or '?'}" + (f" ({where})" if where else "")


def pawns(value: float | None) -> str:
    """Return a value in pawns with its sign; a mate in words.

    >>> pawns(0.35), pawns(-39.0), pawns(None)
    ('+0.35', 'mated', 'not listed')
    """
    if value is None:
        return "not listed"
    if abs(value) >= MATE_CAP:
        return "mates" if value > 0 else "mated"
    return f"{value:+z.2f}"


def _after(move: Mapping[str, Any]) -> str:
    return pawns(move["played_value"])


def _told(costs: MoveCosts, row: int, games: Games, analyses: Analyses) -> dict[str, Any]:
    game = int(costs.game[row])
    header = {name: games.headers[name][game].as_py() for name in _HEADERS}
    fen = analyses.positions.fen[int(costs.position[row])].as_py()
    board = board_of_fen(fen)
    played, better = (move_of_code(int(column[row])) for column in (costs.played, costs.best))
    side = "black" if costs.black[row] else "white"
    after = float(costs.played_value[row])
    return {
        **header,
        "player": header[side] or side.capitalize(),
        "side": side,
        "ply": int(costs.ply[row]),
        "number": f"{board.fullmove_number}{'.' if board.turn else '…'}",
        "fen": fen,
        "played": board.san(played),
        "played_uci": played.uci(),
        "better": board.san(better),
        "better_uci": better.uci(),
        "value": float(costs.value[row]),
        "played_value": None if np.isnan(after) else after,
        "loss": float(costs.loss[row]),
        "expected": float(costs.expected[row]),
        "level": float(costs.level[row]),
        "p_played": float(costs.p_played[row, 0]),
        "p_better": float(costs.p_best[row, 0]),
        "p_better_by_level": _levels(costs.p_best[row]),
        "p_played_by_level": _levels(costs.p_played[row]),
    }


def _levels(p: Sequence[float]) -> list[float]:
    return [float(one) for one in p[1:]]
