"""Gain: expected scores of many players against each other, and how soon a new move is answered."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure, cpu_seconds
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import FER12
from skilloscope.core.errors import EngineError
from skilloscope.models.gain import GainHistogram, expected_score, expected_scores
from skilloscope.studies.live.feed_sources import FileFeed
from skilloscope.studies.live.following import Following, Stopping
from skilloscope.studies.live.live import Follower, Live

PLAYERS, BINS = 1000, 2000
BUDGET = 0.2
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
