"""Matches of `skilloscope play` at several Elos against Stockfish held to one strength: does more Elo score more?

    python tools/play_match.py --games 100 --elo 1200 1600 2000 2400 --out match.jsonl

Both are run as UCI engines by python-chess. Stockfish plays with UCI_LimitStrength at UCI_Elo 1700 and 5,000 nodes a
move: it chooses at depth 4 or 5 there, so that more would change nothing. `play` has ten seconds a move and needs a
tenth of one: its joint style looks to depth 10 on any machine. Colours alternate; a draw that can be claimed is one,
and so is a game of 400 plies; a game in which Stockfish has seen nine pawns for one side on four moves of its own is
decided.
Games that the file has already are not played again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import chess
import numpy as np
from chess.engine import INFO_ALL, INFO_SCORE, Limit, SimpleEngine

from skilloscope.chess.engine.engine import find_engine
from skilloscope.simulate.opponent import OUT_OF_TIME

MOST_PLIES = 400
PLAY_SECONDS = 10.0
STOCKFISH_NODES = 5_000
DECIDED = 900


def main() -> None:
    """Play what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--elo", type=int, nargs="+", default=[1200, 1600, 2000, 2400])
    parser.add_argument("--against", type=int, default=1700)
    parser.add_argument("--style", default="joint")
    parser.add_argument("--out", type=Path, default=Path("match.jsonl"))
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    done = {(row["elo"], row["game"]) for row in rows}
    todo = [(elo, game) for game in range(given.games) for elo in given.elo if (elo, game) not in done]
    if todo:
        with given.out.open("a", encoding="utf-8") as file, started(given.against) as (player, stockfish):
            for elo, game in todo:
                player.configure({"Elo": elo, "Style": given.style, "Seed": game + 1})
                row = {"elo": elo, "game": game, "style": given.style, **play_game(player, stockfish, game)}
                rows.append(row)
                file.write(json.dumps(row) + "\n")
                file.flush()
    print(table(rows, given.elo))


@contextmanager
def started(against: int) -> Iterator[tuple[SimpleEngine, SimpleEngine]]:
    """Give `play` and Stockfish, both running."""
    own = [sys.executable, "-m", "skilloscope", "play"]
    with (
        SimpleEngine.popen_uci(own, timeout=60) as player,
        SimpleEngine.popen_uci(str(find_engine("stockfish")), timeout=60) as stockfish,
    ):
        stockfish.configure({"UCI_LimitStrength": True, "UCI_Elo": against, "Threads": 1})
        yield player, stockfish


def play_game(player: SimpleEngine, stockfish: SimpleEngine, game: int) -> dict[str, int | float | str]:
    """Play one game; `play` has White in the even ones, and the score is that of `play`."""
    board, one, late, seen = chess.Board(), object(), 0, [0]
    while not board.is_game_over(claim_draw=True) and board.ply() < MOST_PLIES and not decided(seen):
        if board.turn == (game % 2 == 0):
            played = player.play(board, Limit(time=PLAY_SECONDS), game=one, info=INFO_ALL)
            late += played.info.get("string") == OUT_OF_TIME
        else:
            played = stockfish.play(board, Limit(nodes=STOCKFISH_NODES), game=one, info=INFO_SCORE)
            seen.append(played.info["score"].relative.score(mate_score=100_000))
        assert played.move is not None
        board.push(played.move)
    if not board.is_game_over(claim_draw=True) and decided(seen):
        return {"score": float(seen[-1] < 0), "plies": board.ply(), "end": "decided", "late": late}
    outcome = board.outcome(claim_draw=True)
    won = None if outcome is None else outcome.winner
    score = 0.5 if won is None else float(won == (game % 2 == 0))
    end = "long" if outcome is None else outcome.termination.name.lower()
    return {"score": score, "plies": board.ply(), "end": end, "late": late}


def decided(seen: Sequence[int]) -> bool:
    """Return whether Stockfish has seen one side ahead by DECIDED centipawns for its last four moves."""
    last = np.array(seen[-4:])
    return len(last) == 4 and bool((last >= DECIDED).all() or (last <= -DECIDED).all())


def table(rows: Sequence[dict[str, int | float | str]], levels: Sequence[int]) -> str:
    """Return scores by Elo with 95 % intervals, and what each step gains."""
    lines, before = (
        ["| Elo | games | score | 95 % | gain over the row above | 95 % |", "|---|---|---|---|---|---|"],
        None,
    )
    for elo in sorted(levels):
        scores = np.array([float(row["score"]) for row in rows if row["elo"] == elo])
        mean, error = scores.mean(), scores.std(ddof=1) / np.sqrt(len(scores))
        gain = "– | –"
        if before is not None:
            step, reach = mean - before[0], 1.96 * np.hypot(error, before[1])
            gain = f"{step:+.3f} | {step - reach:+.3f} to {step + reach:+.3f}"
        low, high = mean - 1.96 * error, mean + 1.96 * error
        lines.append(f"| {elo} | {len(scores)} | {mean:.3f} | {low:.3f} to {high:.3f} | {gain} |")
        before = mean, error
    return "\n".join(lines)


if __name__ == "__main__":
    main()
