"""A deeper search answers a shallower question, for engines of which that was proven to the bit.

In: the key of a question, and the keys under which answers are at hand. Out: the keys whose answers, cut at the asked
depth, are the answer; everything but the depth must be equal, the number of lines too.

An engine that deepens step by step passes through the answer of every shallower depth, unless it looks at its limit
on the way. Whether it does, its makers do not promise: so each engine is tried, on at least 200 positions
(tools/prove_depths.py, tests/chess/analysis/test_depths.py), and only what was tried stands in PROVEN.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.lines import LineArray
from skilloscope.chess.engine.settings import Settings

PROVEN: Mapping[str, Mapping[int, int]] = {"Stockfish 15.1": {1: 16, 10: 12, 50: 10, 500: 8}}
"""The engines, and for each number of lines the deepest search that was tried: 200 positions, no line different."""


def deeper_keys(key: Mapping[str, Any], known: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return those of the known keys that differ from this one by a greater depth alone, the least deep first.

    >>> key = Settings(depth=6).key({"engine": "Stockfish 15.1"})
    >>> [deep["depth"] for deep in deeper_keys(key, [key | {"depth": 10}, key | {"depth": 8}, key | {"depth": 4}])]
    [8, 10]
    >>> deeper_keys(key, [key | {"depth": 8, "multipv": 20}]), deeper_keys({**key, "engine": "Other"}, [key])
    ([], [])
    """
    found = [deep for deep in known if key.get("depth") and shallower_key(deep, key["depth"]) == dict(key)]
    return sorted(found, key=lambda deep: int(deep["depth"]))


def shallower_key(key: Mapping[str, Any], depth: int) -> dict[str, Any] | None:
    """Return the key of a shallower question that answers under this key answer too; None where none was proven."""
    tried = PROVEN.get(str(key.get("engine")), {}).get(key.get("multipv", 0), 0)
    if key.get("options") or key.get("nodes") is not None or not key.get("depth"):
        return None
    return {**key, "depth": depth} if depth < key["depth"] <= tried else None


def cut_lines(lines: LineArray, depth: int, wanted: int) -> LineArray | None:
    """Return the lines down to a depth; None where the search did not reach it, or left its list incomplete.

    A search that ended early, with a mate in hand, answers down to where it ended and no further.
    """
    if np.count_nonzero(lines["depth"] == depth) != wanted:
        return None
    cut: LineArray = lines[lines["depth"] <= depth]
    return cut


def differing_depths(
    engine: str | os.PathLike[str], settings: Settings, depths: Sequence[int], fens: Sequence[str]
) -> list[tuple[str, int]]:
    """Return where a search to a shallower depth says anything else than the search of the settings, cut there.

    This is the proof that PROVEN stands on. Each search begins from nothing, in an engine process of its own kind.
    """
    differing = []
    with Engine(engine, settings) as deep:
        answers = [deep.analyse(fen) for fen in fens]
    for depth in depths:
        with Engine(engine, replace(settings, depth=depth)) as shallow:
            for fen, answer in zip(fens, answers, strict=True):
                cut = cut_lines(answer.lines, depth, min(settings.multipv, answer.n_legal))
                if cut is None or not np.array_equal(cut, shallow.analyse(fen).lines):
                    differing.append((fen, depth))
    return differing
