"""Make the demo's data: games between simulated players of known competence, and the analyses of all its decisions.

    python tools/make_simulated_games.py [--seed 1956] [--folder src/skilloscope/data/demo]

At every ply the engine lists ten moves at depth 10; a player of competence c takes move i with probability
proportional to (best value - value of i + 0.1) ** -c [DFH13 (6)]. The opening is played at c = 1.2 by both, and drawn
again until it leaves a balanced position: otherwise half of the positions behind it are decided already. No decision
that counts is made before that, so nothing is selected by it. The same seed and engine give the same files.
It takes some minutes; game_of_the_century.pgn must be in the folder, and its analyses go into the same file.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.pgn
import numpy as np

from skilloscope.chess.analysis.files import export_analyses, read_export
from skilloscope.chess.engine.engine import Engine, find_engine
from skilloscope.chess.engine.lines import AnalysedPosition, last_depth
from skilloscope.chess.moves import move_uci, value_pawns
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions

COMPETENCES = (0.6, 1.0, 1.4, 2.0)
OPENING_COMPETENCE, OPENING_PLIES, BALANCED = 1.2, 24, 1.0
OFFSET = 0.1
LAST_PLY = 140
WON, PLIES_WON = 4.0, 2
ROUNDS = (((0, 3), (1, 2)), ((2, 0), (3, 1)), ((0, 1), (2, 3)))


@dataclass
class Oracle:
    """The engine with a memory: what it said of each position, in the order in which it was asked."""

    engine: Engine
    heard: dict[str, AnalysedPosition] = field(default_factory=dict)

    def __call__(self, fen: str) -> AnalysedPosition:
        """Return what the engine says of a position."""
        if fen not in self.heard:
            answer = self.engine.analyse(fen)
            self.heard[fen] = AnalysedPosition(fen, answer.n_legal, answer.lines)
        return self.heard[fen]


def main() -> None:
    """Play, analyse, write, and read back what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1956)
    parser.add_argument("--folder", type=Path, default=Path("src/skilloscope/data/demo"))
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    with Engine(find_engine()) as engine:
        oracle = Oracle(engine)
        games = tournament(oracle, rng)
        write_games(arguments.folder / "simulated.pgn", games)
        rows = decisions_of(oracle, [arguments.folder / "simulated.pgn", arguments.folder / "game_of_the_century.pgn"])
        export_analyses(arguments.folder / "analyses.jsonl.gz", engine.key, rows)
        check(arguments.folder / "analyses.jsonl.gz", engine.key, rows)
    players = {player_name(c): c for c in COMPETENCES}
    (arguments.folder / "players.json").write_text(json.dumps(players, indent=2) + "\n", encoding="utf-8")
    size = (arguments.folder / "analyses.jsonl.gz").stat().st_size
    print(f"{len(games)} games, {len(rows)} positions, {size:,} bytes")


def tournament(oracle: Oracle, rng: np.random.Generator) -> list[chess.pgn.Game]:
    """Play a round robin three times over, with colours changed each time."""
    games = []
    for cycle in range(3):
        for number, pairs in enumerate(ROUNDS, start=1):
            for board, (first, second) in enumerate(pairs, start=1):
                white, black = (first, second) if cycle % 2 == 0 else (second, first)
                competences = COMPETENCES[white], COMPETENCES[black]
                games.append(play(oracle, rng, competences, f"{number + cycle * len(ROUNDS)}.{board}"))
                print(
                    games[-1].headers["Round"], games[-1].headers["Result"], games[-1].end().ply(), "plies", flush=True
                )
    return games


def opening(oracle: Oracle, rng: np.random.Generator) -> chess.Board:
    """Play openings until one leaves a position that neither side has won."""
    while True:
        board = chess.Board()
        while board.ply() < OPENING_PLIES and not board.is_game_over():
            board.push_uci(choose(oracle(board.fen()), OPENING_COMPETENCE, rng))
        if not board.is_game_over() and abs(judged(oracle(board.fen()))[1][0]) <= BALANCED:
            return board


def play(oracle: Oracle, rng: np.random.Generator, competences: tuple[float, float], name: str) -> chess.pgn.Game:
    """Play one game to its end by rule, by adjudication or by length."""
    board, won = opening(oracle, rng), 0
    result, ending = "1/2-1/2", "drawn by length"
    while board.ply() < LAST_PLY:
        outcome = board.outcome(claim_draw=True)
        if outcome is not None:
            result, ending = outcome.result(), outcome.termination.name.lower().replace("_", " ")
            break
        answer = oracle(board.fen())
        best = float(judged(answer)[1][0])
        won = won + 1 if abs(best) > WON else 0
        if won == PLIES_WON:
            result, ending = "1-0" if (best > 0) == board.turn else "0-1", "adjudicated"
            break
        board.push_uci(choose(answer, competences[0 if board.turn else 1], rng))
    return recorded(board, competences, name, result, ending)


def judged(answer: AnalysedPosition) -> tuple[list[str], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Return the listed moves and their values at the last depth."""
    lines = last_depth(answer.lines)
    return [move_uci(code) for code in lines["move"]], value_pawns(lines["mate"], lines["score"])


def choose(answer: AnalysedPosition, c: float, rng: np.random.Generator) -> str:
    """Return the move that a player of competence c takes: p_i ∝ (best − value_i + 0.1)^−c. [DFH13 (6)]"""
    moves, values = judged(answer)
    weights = (values.max() - values + OFFSET) ** -c
    return moves[rng.choice(len(moves), p=weights / weights.sum())]


def recorded(
    board: chess.Board, competences: tuple[float, float], name: str, result: str, ending: str
) -> chess.pgn.Game:
    """Return the game with its tags."""
    game = chess.pgn.Game.from_board(board)
    tags = {"Event": "skilloscope demo", "Site": "?", "Date": "????.??.??", "Round": name}
    tags |= {"White": player_name(competences[0]), "Black": player_name(competences[1])}
    for tag, value in (tags | {"Result": result, "Termination": ending}).items():
        game.headers[tag] = value
    return game


def player_name(competence: float) -> str:
    """Return the name of a simulated player, which says that it is one."""
    return f"simulated, c = {competence}"


def write_games(path: Path, games: list[chess.pgn.Game]) -> None:
    """Write the games as PGN."""
    texts = [game.accept(chess.pgn.StringExporter(columns=79)) for game in games]
    path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def decisions_of(oracle: Oracle, files: list[Path]) -> list[AnalysedPosition]:
    """Return the analyses of what the pipeline takes as decisions in these files: after the opening, not forced."""
    fens = positions(read_games(files), skip_moves=OPENING_PLIES // 2).fen.to_pylist()
    return [oracle(fen) for fen in dict.fromkeys(fens)]


def check(path: Path, key: dict[str, object], rows: list[AnalysedPosition]) -> None:
    """Raise if the file does not say what the engine said."""
    export = read_export(path)
    same = [r.fen == s.fen and r.n_legal == s.n_legal and np.array_equal(r.lines, s.lines)
            for r, s in zip(rows, export.rows, strict=True)]  # fmt: skip
    if not all(same) or dict(export.settings) != key or export.tally.total:
        raise RuntimeError(f"{path} does not give back what was written")


if __name__ == "__main__":
    main()
