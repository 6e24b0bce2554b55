"""Fit how people end their games: when they resign, and when they agree to a draw (simulate/resignations.py).

    cd tools && python fit_resignations.py [--games 700] [--seed 2]

Reads ../shared/data/human: so many games of each band of 200 points from 1000 to 2800, both players within 300 points.
A game whose loser had just moved counts as resigned a ply earlier. Mates, stalemates, repetitions and
bare kings are ends by rule, not by choice. The lines that know the engine's value are fitted to the analysed games of
the axis (analysed, people): in a game of which one side was searched the value is known at the other side's turns,
after the searched move. Writes src/skilloscope/data/resignations.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from math import isfinite, nan

import chess
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from axis_data import ROOT, SHARED, Known, analysed, human_games, people
from skilloscope.chess.engine.lines import value_of
from skilloscope.chess.moves import move_of_code
from skilloscope.chess.pgn.games import Games
from skilloscope.simulate.games import Standing, material, weighed

Array = npt.NDArray[np.float64]
Values = Mapping[tuple[int, int], float]
FIRST_PLY = 4


def main() -> None:
    """Draw games, fit both lines, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=700)
    parser.add_argument("--seed", type=int, default=2)
    given = parser.parse_args()
    games = drawn(given.games, np.random.default_rng(given.seed))
    standing, resigned, agreed = followed([(games, None)])
    found = {"resign": fitted(standing.resigning(), resigned), "draw": fitted(standing.agreeing(), agreed)}
    seen, left, shared = followed([(known.games, values_of(known)) for known in (analysed(), people())])
    found["resign_seen"] = fitted(seen.resigning_seen(weighed(seen.resigning(), found["resign"])), left)
    found["draw_seen"] = fitted(seen.agreeing_seen(weighed(seen.agreeing(), found["draw"])), shared)
    about = {
        "data": f"{len(games):,} rated games, {given.games} at most of each 200 points from 1000 to 2800",
        "resignations": int(resigned.sum()),
        "draws_agreed": int(agreed.sum()),
        "plies": len(resigned),
        "seen": {"plies": len(left), "resignations": int(left.sum()), "draws_agreed": int(shared.sum())},
        "seed": given.seed,
    }
    path = ROOT / "src" / "skilloscope" / "data" / "resignations.json"
    path.write_text(json.dumps({"schema": 1, "about": about, **found}, indent=1, ensure_ascii=False) + "\n")
    print(path.read_text())


def drawn(most: int, rng: np.random.Generator) -> Games:
    """Return games of every band."""
    table = np.load(SHARED / "human" / "games.npz")
    white, black = table["white_elo"].astype(int), table["black_elo"].astype(int)
    usual = (np.abs(white - black) < 300) & (table["result"] < 3) & (table["plies"] < 240) & (table["plies"] > 10)
    mean = (white + black) / 2
    bands = [np.flatnonzero(usual & (mean >= low) & (mean < low + 200)) for low in range(1000, 2800, 200)]
    wanted = np.concatenate([rng.permutation(band)[:most] for band in bands])
    return human_games(wanted, table["white"][wanted]).games


def values_of(known: Known) -> Values:
    """Return the engine's value of each played move, in pawns for its mover, by game and ply."""
    assert known.analyses is not None
    at = known.analyses.positions
    keys = zip(at.game.tolist(), at.ply.tolist(), at.played.tolist(), strict=True)
    return {
        (game, ply): value_of(known.analyses.answer(row), move)
        for row, (game, ply, move) in enumerate(keys)
        if known.analyses.answered[row]
    }


def followed(
    batches: Sequence[tuple[Games, Values | None]],
) -> tuple[Standing, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return where games stood before every move and at their end, and whether somebody resigned or both agreed.

    Where a batch has values, only the plies at which one is known.
    """
    rows: list[tuple[float, ...]] = []
    for games, values in batches:
        for game in range(len(games)):
            own = _one(games, game, values or {})
            rows += own if values is None else [row for row in own if isfinite(row[-4])]
    columns = np.array(rows, dtype=float).T
    return Standing(*columns[:-2]), columns[-2].astype(bool), columns[-1].astype(bool)


def _one(games: Games, game: int, values: Values) -> list[tuple[float, ...]]:
    head = {name: games.headers[name][game].as_py() for name in ("white_elo", "black_elo", "result")}
    board, seen, rows = chess.Board(), [], []
    codes = games.moves[games.offsets[game] : games.offsets[game + 1]].tolist()
    for code in [*codes, 0]:
        difference, pieces = material(board)
        seen.append(difference)
        sign = 1 if board.turn else -1
        elos = (head["white_elo"], head["black_elo"]) if board.turn else (head["black_elo"], head["white_elo"])
        before = seen[-3] if len(seen) > 2 else 0
        value = [-values.get((game, board.ply() - back), nan) for back in (1, 3)]
        rows.append((board.ply(), sign * difference, sign * before, pieces, board.is_check(), *elos, *value, 0, 0))
        if code:
            board.push(move_of_code(code))
    by_rule = board.is_game_over() or board.is_repetition(3) or board.halfmove_clock >= 100
    if by_rule:
        rows.pop()
    elif head["result"] == "1/2-1/2":
        rows[-1] = (*rows[-1][:-1], 1)
    else:
        if (head["result"] == "0-1") != board.turn:  # the loser had just moved: he resigned, let us say, before that
            rows.pop()
        rows[-1] = (*rows[-1][:-2], 1, 0)
    return rows[FIRST_PLY:]


def fitted(columns: dict[str, Array], happened: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Return the coefficients of a logistic line by likelihood."""
    design = np.column_stack(list(columns.values()))

    def cost(w: Array) -> tuple[float, Array]:
        z = design @ w
        return float(np.logaddexp(0.0, z).sum() - z[happened].sum()), design.T @ (1 / (1 + np.exp(-z)) - happened)

    w = minimize(cost, np.zeros(design.shape[1]), jac=True, method="BFGS").x
    return {name: round(float(value), 4) for name, value in zip(columns, w, strict=True)}


if __name__ == "__main__":
    main()
