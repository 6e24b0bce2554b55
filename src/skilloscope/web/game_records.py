"""Games as a page shows them: every move with the position after it, its value, who plays it, and what it cost.

In: games, what an engine said of some of their positions, and the strength of every player as far as it is known. Out:
GameRecord, one for each game: its head, its moves, and the Elo of both players after every move of theirs.

What a move cost is told by the best judge at hand: the engine, which values every listed move, so that the cost is the
loss beyond what people of the player's strength lose there on average; the evaluations in the comments, by which it is
the loss alone; or people, by whom it is how much likelier the move is 200 Elo below the player's strength than above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import last_depth, move_of_code, value_pawns
from skilloscope.chess.evaluations import evaluations_from_comments
from skilloscope.chess.human.model import ELO_RANGE, Human
from skilloscope.chess.pgn.games import Games
from skilloscope.models.scaling import scaled_loss
from skilloscope.ratings.elo_axis.axis import Effort, EloAxis
from skilloscope.ratings.elo_axis.effects import ELO
from skilloscope.sources.costs import LEVELS, MoveCosts, move_costs
from skilloscope.sources.evaluated import with_evaluations
from skilloscope.sources.labels import movers_of
from skilloscope.sources.strength import SOURCES, PlayedMoves, game_curves, played_moves

SIDES = ("white", "black")
APART = 200.0
"""Elo below and above a player's strength between which people's habits are compared."""
JUDGES = ("engine", "comments", "people")
_HEADERS = ("white", "black", "white_elo", "black_elo", "date", "event", "site", "round", "result", "eco")
_AT_A_TIME = 16
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GameRecord:
    """One game: what lists show of it, and what its own page shows."""

    number: int
    head: dict[str, Any]
    moves: list[dict[str, Any]]
    start_fen: str
    start_value: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the game as the API sends it."""
        return {**self.head, "start_fen": self.start_fen, "start_value": self.start_value, "moves": self.moves}


def game_records(
    games: Games,
    analyses: Analyses | None,
    axis: EloAxis,
    effort: Effort,
    levels: Mapping[str, float],
    *,
    rows: Sequence[int] | None = None,
    model: Human | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[GameRecord]:
    """Yield the games of some rows (of all); `levels` are the players' strengths, the population's where unknown."""
    wanted = np.array(range(len(games)) if rows is None else sorted(rows), dtype=np.int64)
    for begin in range(0, len(wanted), _AT_A_TIME):
        some = wanted[begin : begin + _AT_A_TIME]
        moves = played_moves(games.select(some), model=model)
        own = None if analyses is None else analyses.of_games(some)
        if own is not None and effort.weights is not None:
            moves = moves.with_engine(own, len(effort.weights.depths))
        chunk = _Chunk(moves, own, axis, effort, levels, model)
        for at, row in enumerate(some.tolist()):
            yield chunk.record(at, row + 1)
            if progress:
                progress(begin + at + 1, len(wanted))


class _Chunk:
    """A few games, asked once for everything that holds for all their moves."""

    def __init__(
        self,
        moves: PlayedMoves,
        analyses: Analyses | None,
        axis: EloAxis,
        effort: Effort,
        levels: Mapping[str, float],
        model: Human | None,
    ) -> None:
        self.moves, self.analyses, self.axis, self.effort, self.model = moves, analyses, axis, effort, model
        usual, names = float(axis.population["mean"]), movers_of(moves)
        self.level = np.array([levels.get(name or "", usual) for name in names], dtype=float)
        self.comments = evaluations_from_comments(moves.games)
        self.entry = moves.choices.offsets[:-1] + moves.chosen
        logs = {step: self._logs(step) for step in (-APART, 0.0, APART)}
        self.own = logs[0.0]
        self.pull = (logs[-APART] - logs[APART])[self.entry]
        self.searched = self._searched()
        self.costs, self.cost_of = self._costs({name: levels.get(name, usual) for name in set(names) if name})

    def _logs(self, step: float) -> Array:
        return self.moves.choices.own_log_probabilities(np.clip(self.level + step, *ELO_RANGE))

    def _searched(self) -> dict[tuple[int, int], int]:
        """Return the place of each searched position in the analyses, by game and ply."""
        if self.analyses is None:
            return {}
        keys = zip(self.analyses.positions.game.tolist(), self.analyses.positions.ply.tolist(), strict=True)
        return {key: at for at, key in enumerate(keys) if self.analyses.answered[at]}

    def _costs(self, levels: Mapping[str, float]) -> tuple[MoveCosts | None, dict[tuple[int, int], int]]:
        """Return what the engine's judgement says the moves cost, and the row of each by game and ply."""
        if self.analyses is None or self.effort.weights is None or not self.searched:
            return None, {}
        found = move_costs(self.moves.games, self.analyses, self.effort.weights, levels, model=self.model)
        keys = zip(found.game.tolist(), found.ply.tolist(), strict=True)
        return found, {key: row for row, key in enumerate(keys)}

    def record(self, game: int, number: int) -> GameRecord:
        headers = {name: self.moves.games.headers[name][game].as_py() for name in _HEADERS}
        start = self.moves.games.headers["start_fen"][game].as_py() or chess.STARTING_FEN
        places = np.flatnonzero(self.moves.game == game)
        board = chess.Board(start)
        start_value = self._value(game, 0)
        rows: list[dict[str, Any]] = []
        for place in places.tolist():
            rows.append(self._move(place, board, rows[-1]["fen"] if rows else board.fen()))
        self._add_strength(rows, places)
        elo = {side: _last_strength(rows, side) for side in SIDES}
        searched = sum(row["judge"] == "engine" for row in rows)
        head = {"number": number, **headers, "plies": len(rows), "elo": elo, "searched": searched}
        return GameRecord(number, head, rows, start, start_value)

    def _move(self, place: int, board: chess.Board, before: str) -> dict[str, Any]:
        choices, game, ply = self.moves.choices, int(self.moves.game[place]), int(self.moves.ply[place])
        inside = slice(choices.offsets[place], choices.offsets[place + 1])
        likeliest = int(choices.moves[inside][self.own[inside].argmax()])
        played = move_of_code(int(choices.moves[self.entry[place]]))
        row = {
            "ply": ply,
            "number": board.fullmove_number,
            "side": SIDES[int(self.moves.black[place])],
            "uci": played.uci(),
            "fen_before": before,
            "clock": _known(self.moves.games.clocks[self.moves.games.offsets[game] + ply]),
            "probability": float(np.exp(self.own[self.entry[place]])),
            "people_play": board.san(move_of_code(likeliest)),
            "people_probability": float(np.exp(self.own[inside].max())),
            "free": bool(inside.stop - inside.start > 1),
            **self._judged(place, board),
        }
        san = board.san_and_push(played)
        return {**row, "san": san, "fen": board.fen(), "value": self._value(game, ply + 1)}

    def _judged(self, place: int, board: chess.Board) -> dict[str, Any]:
        """Return what the best judge at hand says of a move: its cost, the loss in pawns and the better move."""
        game, ply = int(self.moves.game[place]), int(self.moves.ply[place])
        if (game, ply) in self.cost_of and self.costs is not None:
            return _by_engine(self.costs, self.cost_of[game, ply], board)
        sign = -1.0 if self.moves.black[place] else 1.0
        before, after = (self.comments.values[self.comments.starts[game] + ply + step] for step in (0, 1))
        if np.isfinite(before) and np.isfinite(after):
            cost = float(scaled_loss(sign * before, sign * after))
            loss = max(float(sign * (before - after)), 0.0)
            return {"judge": "comments", "cost": cost, "loss": loss, "listed": True, "better": None, "better_uci": None}
        cost = float(self.pull[place])
        return {"judge": "people", "cost": cost, "loss": None, "listed": True, "better": None, "better_uci": None}

    def _value(self, game: int, ply: int) -> float | None:
        """Return what the position before a ply is worth in pawns, white's view: by the engine, or by a comment."""
        at = self.searched.get((game, ply))
        if at is not None and self.analyses is not None:
            line = last_depth(self.analyses.answer(at))[0]
            black = self.analyses.positions.fen[at].as_py().split(" ")[1] == "b"
            return float(value_pawns(line["mate"], line["score"])) * (-1 if black else 1)
        return _known(self.comments.values[self.comments.starts[game] + ply])

    def _add_strength(self, rows: list[dict[str, Any]], places: npt.NDArray[np.int64]) -> None:
        """Give each move the Elo of its player by all own moves of the game so far, with its interval."""
        labels: list[Any] = [None] * len(self.moves)
        for place in places.tolist():
            labels[place] = place
        opening = self.axis.opening_moves
        curves = game_curves(self.moves, labels, weights=self.effort.weights, opening_moves=opening)
        if self.effort.losses is not None:
            curves = with_evaluations(curves, self.moves, self.comments, labels, self.effort.losses)
        said = {side: {name: np.zeros_like(ELO) for name in SOURCES} for side in SIDES}
        of_place: dict[int, list[int]] = {}
        for at, group in enumerate(curves.group.tolist()):
            of_place.setdefault(curves.groups[group], []).append(at)
        prior = self.axis.prior()
        for row, place in zip(rows, places.tolist(), strict=True):
            own = said[row["side"]]
            for at in of_place.get(place, ()):
                own[SOURCES[curves.source[at]]] = own[SOURCES[curves.source[at]]] + curves.curves[at]
            known = {name: curve[None, :] for name, curve in own.items() if curve.any()}
            row["strength"] = self.axis.posterior(known, self.effort.name, prior).elo_fields(0.95) if known else None


def _by_engine(costs: MoveCosts, row: int, board: chess.Board) -> dict[str, Any]:
    """Return what the engine says of a move; one that it does not list lost at least as much as the worst listed."""
    value, played = float(costs.value[row]), float(costs.played_value[row])
    better = None if costs.best[row] == costs.played[row] else move_of_code(int(costs.best[row]))
    return {
        "judge": "engine",
        "cost": float(costs.cost[row]),
        "loss": value - played if np.isfinite(played) else _unscaled(value, float(costs.loss[row])),
        "listed": bool(np.isfinite(played)),
        "better": board.san(better) if better else None,
        "better_uci": better.uci() if better else None,
        "found_by": {f"{level:.0f}": float(p) for level, p in zip(LEVELS, costs.p_best[row, 1:], strict=True)},
    }


def _unscaled(value: float, loss: float) -> float:
    """Return the pawns that a scaled loss stands for from a value on: δ = ∫ dz/(1 + |z|) turned round."""
    top = np.sign(value) * np.log1p(abs(value)) - loss
    return float(value - np.sign(top) * np.expm1(abs(top)))


def _last_strength(rows: Sequence[Mapping[str, Any]], side: str) -> dict[str, Any] | None:
    known = [row["strength"] for row in rows if row["side"] == side and row["strength"]]
    return known[-1] if known else None


def _known(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
