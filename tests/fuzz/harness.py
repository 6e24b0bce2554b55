"""One harness for every reader: mutated inputs by the thousand, an error of ours or a sound result, within ten seconds.

`python -m fuzz.harness --reader pgn --inputs 100000 --seed 7` in tests/ runs one reader, or all without a name. An
input is made of the seed and its number alone, so that what failed can be made again; it is written to a file as well.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from fuzz.mutation import mutated
from skilloscope.core.errors import SkilloscopeError

MOST_SECONDS = 10.0
"""CPU-seconds that reading one input may take, however busy the machine is."""

READ, REFUSED = "read", "refused"


class TooSlow(BaseException):
    """Reading takes longer than any input may; not an Exception, so that no reader takes it for one of its own."""


@dataclass(frozen=True)
class Reader:
    """A reader under test: inputs that it should read, and a function that reads one and checks what comes out."""

    seeds: tuple[bytes, ...]
    read: Callable[[bytes, Path], object]


@contextlib.contextmanager
def limited(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Raise TooSlow in whatever takes more CPU-seconds than that."""

    def too_slow(_: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds:g} CPU-seconds")

    before = signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(reader: Reader, data: bytes, folder: Path) -> str:
    """Read one input; return whether it was read or refused. Anything else is raised."""
    try:
        with limited():
            reader.read(data, folder)
    except SkilloscopeError:
        return REFUSED
    return READ


def fuzz(reader: Reader, inputs: int, seed: int, folder: Path) -> Counter[str]:
    """Read so many mutated inputs; return how many were read and how many refused. The first failure is raised."""
    found: Counter[str] = Counter()
    for data in reader.seeds:
        reader.read(data, folder)
    for number in range(inputs):
        rng = random.Random(seed * 1_000_000_007 + number)
        data = mutated(rng.choice(reader.seeds), reader.seeds, rng)
        try:
            found[outcome(reader, data, folder)] += 1
        except BaseException as error:
            kept = folder / "failed"
            kept.write_bytes(data)
            error.add_note(f"input {number} of seed {seed}, {len(data)} bytes, kept as {kept}")
            raise
    return found


def main() -> None:
    """Run the readers that are named, and print what came of it."""
    from fuzz.readers import readers

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--reader", action="append", help="a reader's name; all of them without one")
    options.add_argument("--inputs", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    warnings.simplefilter("error")
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    known = readers(folder)
    for name in asked.reader or known:
        start = time.process_time()
        found = fuzz(known[name], asked.inputs, asked.seed, folder)
        spent = time.process_time() - start
        print(
            f"{name}: {asked.inputs:,} inputs of seed {asked.seed}, {dict(found)}, {spent:.0f} CPU-seconds", flush=True
        )


if __name__ == "__main__":
    main()
