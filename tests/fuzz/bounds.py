"""The compiled readers of PGN, built with every index checked, on mutated games and noise: `python bounds.py N SEED`.

Run with NUMBA_BOUNDSCHECK=1, and a NUMBA_CACHE_DIR of its own: an index outside an array is an error then, wherever it
is. Besides, every byte must belong to a game or stand before the first, and what is read must be as long as it says.
"""

from __future__ import annotations

import random
import sys

import numpy as np

from fuzz.mutation import mutated
from fuzz.readers import PGN
from skilloscope.chess.pgn.kernel import READ, ScannedGames, scan_games
from skilloscope.chess.pgn.results import scan
from skilloscope.inputs.bundled import demo_file

_LIKELY = b'[]{}();%$.\n "abcdefgh12345678NBRQKOx=+#-*/Event'


def checked(data: bytes, scanned: ScannedGames) -> int:
    """Return how many games were read, after what must hold for any bytes."""
    assert scanned.used == len(data), "some bytes belong to no game"
    assert (np.diff(scanned.begin) > 0).all(), "games overlap"
    counts = np.diff(scanned.offsets)
    assert (counts >= 0).all()
    assert ((counts > 0) == (scanned.status == READ)).all(), "a game that was read has moves, and no other"
    assert len(scanned.moves) == scanned.offsets[-1]
    before = data[: scanned.begin[0]].split(b"\n")
    assert all(not line.strip() or line.startswith(b"%") for line in before), "words before the first game are lost"
    return int((scanned.status == READ).sum())


def noise(rng: random.Random) -> bytes:
    """Return random bytes, some of them such as PGN is made of."""
    size = rng.randrange(400)
    return rng.randbytes(size) if rng.random() < 0.5 else bytes(rng.choices(_LIKELY, k=size))


def main(inputs: int, seed: int) -> None:
    """Read so many inputs; print how many, and how many games were read in them."""
    rng, games = random.Random(seed), 0
    real = [PGN, demo_file("game_of_the_century.pgn").read_bytes(), demo_file("simulated.pgn").read_bytes()[:6000]]
    for _ in range(inputs):
        data = noise(rng) if rng.random() < 0.2 else mutated(rng.choice(real), real, rng)
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        scanned = scan_games(data, final=True)
        while scanned.used < len(data):  # a block of very many games is read in several goes
            games += int((scanned.status == READ).sum())
            data = data[scanned.used :]
            scanned = scan_games(data, final=True)
        games += checked(data, scanned)
        scan_games(data, final=False)
        scan(data, final=True)
    print(inputs, games)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
