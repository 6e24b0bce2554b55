"""Deciders as their decisions arrive: the posterior of c after every line, in memory that does not grow with the lines.

In: JSON lines of decisions, one after another, from a stream or a file that grows. Out: an event for each: who decided,
how many decisions that makes, and c with its interval. What is kept is one curve a decider. [DFH13 (3)–(5)]
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from skilloscope.core.errors import InputError
from skilloscope.core.files import MOST_LINE
from skilloscope.decision.text import read_jsonl
from skilloscope.inference import Evidence, Grid, Prior, evidence
from skilloscope.models.agent import Agent

MOST_DECIDERS = 100_000
"""Deciders that are followed at once; a line of another is counted as a fault."""
_NODES = 64
_LOOK_SECONDS = 0.2


class DecidersAsTheyCome:
    """Everybody's evidence so far; a line in, an event out."""

    def __init__(self, model: Agent, prior: Prior, mass: float = 0.95) -> None:
        self.model, self.prior, self.mass = model, prior, mass
        self.grid = Grid(prior.low, prior.high, _NODES)
        self.known: dict[str, Evidence] = {}
        self.faults = 0

    def line(self, text: str, number: int) -> dict[str, Any]:
        """Return what a line changes: the decider's c now, or what is wrong with the line."""
        try:
            batch = read_jsonl(io.StringIO(text), name=f"line {number}")
        except InputError as error:
            return self._fault(number, str(error))
        table = evidence(batch, self.model, self.grid, by="decider")
        (name,) = table
        if name not in self.known and len(self.known) >= MOST_DECIDERS:
            return self._fault(number, f"more than {MOST_DECIDERS:,} deciders")
        if not table[name].decisions:
            return self._fault(number, f"not used: {table.tally}")
        self.known[name] = self.known[name] + table[name] if name in self.known else table[name]
        return {"event": "decision", "line": number, **self.state(str(name))}

    def state(self, name: str) -> dict[str, Any]:
        """Return what is believed of a decider now."""
        own = self.known[name]
        return {"decider": name, "decisions": own.decisions, **own.posterior(self.prior).c_fields(self.mass)}

    def table(self) -> list[dict[str, Any]]:
        """Return what is believed of everybody, the greatest c first."""
        return sorted((self.state(name) for name in self.known), key=lambda row: -row["c"])

    def _fault(self, number: int, reason: str) -> dict[str, Any]:
        self.faults += 1
        return {"event": "fault", "line": number, "reason": reason}


def growing_lines(
    path: Path, *, once: bool = False, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[str]:
    """Yield the whole lines of a file, then those that are added to it; a last line without its end waits for it.

    With `once` what the file holds now, the last line as it is; with `seconds` so long at most.
    """
    begin, rest = clock(), ""
    with path.open(encoding="utf-8", errors="replace") as stream:
        while True:
            piece = stream.readline(MOST_LINE)
            rest += piece
            if len(rest) >= MOST_LINE:
                raise InputError(f"{path}: a line of more than {MOST_LINE:,} characters")
            if rest.endswith("\n") or (once and not piece and rest):
                yield rest
                rest = ""
            elif not piece:
                if once or (seconds is not None and clock() - begin >= seconds):
                    return
                time.sleep(_LOOK_SECONDS)
