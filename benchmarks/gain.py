"""Gain: expected scores of many players against each other, and how soon a new move is answered."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure, cpu_seconds
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import FER12
from skilloscope.chess.pgn.games import read_games
from skilloscope.core.errors import EngineError
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.running_elo import EloOfBoards
from skilloscope.models.gain import GainHistogram, expected_score, expected_scores
from skilloscope.studies.game import written_moves
from skilloscope.studies.live.feed import FileFeed
from skilloscope.studies.live.following import Following, Stopping
from skilloscope.studies.live.live import Follower, Live

PLAYERS, BINS = 1000, 2000
BUDGET = 0.2
BOARDS, PLIES, GAP = 5, 20, 2.0
MOVES = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7"


def figures() -> Iterator[Figure]:
    rng = np.random.default_rng(1)
    players = [_dense(rng) for _ in range(PLAYERS)]
    name = f"{PLAYERS:,} players against each other, {BINS:,} bins"
    yield Figure(name, cpu_seconds(lambda: expected_scores(players), 1), "CPU-seconds", at_most=60)
    one, two = players[:2]
    apart = abs(expected_score(one, two, method="fft") - expected_score(one, two, method="exact"))
    yield Figure("one pair by FFT against one by one", apart, "difference", at_most=1e-12)
    try:
        find_engine()
    except EngineError:
        return
    delays = sorted(answer_delays())
    yield Figure("live: median delay of a new position, budget 200 ms", delays[len(delays) // 2], "s", at_most=0.3)
    yield Figure("live: longest delay", delays[-1], "s")
    yield from broadcast_figures()


def broadcast_figures() -> Iterator[Figure]:
    """Yield how soon the moves of five boards are shown, replayed from one file at ten times their speed."""
    delays = np.array(list(broadcast_delays().values()))
    late = float(np.quantile(delays, 0.95))
    name = f"live: five boards, {len(delays)} moves, 95th percentile of the delay, budget 200 ms"
    yield Figure(name, late, "s", at_most=BUDGET + 0.2)
    yield Figure("live: five boards, moves never shown", float(BOARDS * PLIES - len(delays)), "", at_most=0)


def broadcast_delays() -> dict[tuple[str, int], float]:
    """Return for each board and ply the seconds from the file's being written to the move's being shown."""
    boards = five_games()
    written: dict[tuple[str, int], float] = {}
    delays: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "round.pgn"
        _write_round(path, boards, dict.fromkeys(boards, 0))
        elo = EloOfBoards()
        elo.warm_up()  # as the command does before it looks at the file
        follower = Follower(Live(budget_seconds=BUDGET, engine_gains="auto"), elo.sides)
        stopping = Stopping(seconds=10 + 2 * PLIES * GAP)
        with Following(FileFeed(path), follower, FER12, find=find_engine, stopping=stopping) as following:
            following.warm_up()
            replay = threading.Thread(target=_replay, args=(path, boards, written), daemon=True)
            replay.start()
            for event in following.events():
                key = (event["board"], event.get("ply", -1))
                if event["type"] == "move" and key in written:
                    delays.setdefault(key, time.monotonic() - written[key])
                if len(delays) == BOARDS * PLIES:
                    break
            replay.join()
    return delays


def five_games() -> dict[str, list[str]]:
    """Return the first moves of five of the games that ship, by the name of their board."""
    games = read_games(demo_file("simulated.pgn"))
    rows = [row for row, plies in enumerate(games.counts.tolist()) if plies >= PLIES][:BOARDS]
    moves = (written_moves(games.moves[games.offsets[row] : games.offsets[row] + PLIES], None) for row in rows)
    return {f"White {at} – Black {at}": own for at, own in enumerate(moves)}


def _replay(path: Path, boards: dict[str, list[str]], written: dict[tuple[str, int], float]) -> None:
    """Write one move after another, each board by its own clock: a move takes 20 seconds on average, so 2 here."""
    rng = np.random.default_rng(1)
    times = sorted((float(at), name) for name in boards for at in np.cumsum(rng.exponential(GAP, PLIES)))
    played = dict.fromkeys(boards, 0)
    begin = time.monotonic()
    for at, name in times:
        time.sleep(max(0.0, begin + at - time.monotonic()))
        played[name] += 1
        written[name, played[name] - 1] = time.monotonic()
        _write_round(path, boards, played)


def _write_round(path: Path, boards: dict[str, list[str]], played: dict[str, int]) -> None:
    games = []
    for name, moves in boards.items():
        white, black = name.split(" – ")
        games.append(f'[White "{white}"]\n[Black "{black}"]\n\n{" ".join(moves[: played[name]])} *\n\n')
    part = path.with_suffix(".part")
    part.write_text("".join(games))
    part.replace(path)


def _dense(rng: np.random.Generator) -> GainHistogram:
    """Return a histogram in which every one of the bins occurs."""
    counts = rng.integers(1, 20, BINS)
    return GainHistogram(np.arange(BINS, dtype=np.int64) - BINS * 3 // 4, counts)


def answer_delays() -> Iterator[float]:
    """Yield, for one move after another, the seconds from the file's being written to the updated strength."""
    words = MOVES.split()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.pgn"
        played = 8
        _write(path, words[:played])
        follower = Follower(Live(budget_seconds=BUDGET))
        with Following(FileFeed(path), follower, FER12, find=find_engine, stopping=Stopping(seconds=120)) as following:
            following.warm_up()
            written = None
            for event in following.events():
                if event["type"] != "move":
                    continue
                if written is not None and event["ply"] == played - 1:
                    yield time.monotonic() - written
                    written = None
                if written is None and follower.wanted() is None:
                    if played == len(words):
                        return
                    played += 1
                    _write(path, words[:played])
                    written = time.monotonic()


def _write(path: Path, words: list[str]) -> None:
    path.write_text(f'[White "A"]\n[Black "B"]\n\n{" ".join(words)} *\n')
