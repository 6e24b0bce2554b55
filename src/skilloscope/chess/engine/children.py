"""Child searches: the value of a move is minus the value of the position after it, searched one ply less.

In: a FEN, and a search of single positions. Out: lines as an engine with an exact list would give them.

This serves engines whose lists are no values, or that have none. It is another method than a list, with other
numbers: it is part of the key of an answer. It knows no depth 1, which would be a search of depth 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import chess
import numpy as np

from skilloscope.chess.engine.lines import LINE, LineArray, move_code
from skilloscope.chess.engine.settings import Settings
from skilloscope.core.errors import EngineError, InputError

RawScore = tuple[int, int]
"""`mate` and `score` as in a LINE: (0, centipawns) or (1, moves to mate)."""

LAST = 255
"""The depth that stands for every depth: that of a mate on the board."""

FORCED_DEPTH = 4
"""Where there is one legal move, some engines search no deeper than this."""


def child_settings(settings: Settings, n_legal: int = 1) -> Settings:
    """Return how each child is searched: one line, one ply less, or its share of the nodes.

    >>> child_settings(Settings(depth=10, multipv=10)).depth
    9
    """
    if settings.depth is None:
        assert settings.nodes is not None
        return replace(settings, multipv=1, nodes=max(1, settings.nodes // n_legal))
    if settings.depth < 2:
        raise InputError(
            "this engine values moves by searching the position after each", hint="ask for depth 2 or more"
        )
    return replace(settings, multipv=1, depth=settings.depth - 1)


def children(fen: str) -> list[tuple[int, str]]:
    """Return each legal move's code and the FEN after it, in the order of the moves' names."""
    board = chess.Board(fen)
    listed = []
    for move in sorted(board.legal_moves, key=chess.Move.uci):
        board.push(move)
        listed.append((move_code(move), board.fen()))
        board.pop()
    return listed


def parent_score(child: RawScore) -> RawScore:
    """Return a child's score as its parent's: negated, and a mate that we give is one move farther away.

    >>> parent_score((0, 35)), parent_score((1, 2)), parent_score((1, -2)), parent_score((1, 0))
    ((0, -35), (1, -2), (1, 3), (1, 1))
    """
    mate, score = child
    return (1, 1 - score) if mate and score <= 0 else (mate, -score)


def search_children(
    fen: str, settings: Settings, search: Callable[[str, Settings], tuple[LineArray, int]]
) -> tuple[LineArray, int]:
    """Return the lines of a position from searches of its children, and their nodes in all.

    A depth counts where every child has it. A child in which the engine has found a mate may end early: that mate
    then stands for all deeper depths.
    """
    listed = children(fen)
    single = child_settings(settings, len(listed))
    known: dict[int, dict[int, RawScore]] = {}
    total = 0
    for move, child in listed:
        ended = _on_the_board(child)
        if ended is not None:
            known[move] = {LAST: parent_score(ended)}
            continue
        lines, nodes = _search_past_forced(child, single, search)
        known[move] = {depth + 1: parent_score((mate, score)) for depth, _, _, mate, score in lines.tolist()}
        total += nodes
    rows = [
        (depth, 1, move, *_score_at(scores, depth))
        for depth in _common_depths(known, settings.depth)
        for move, scores in known.items()
    ]
    return ranked(rows, settings.multipv), total


def ranked(rows: Iterable[tuple[int, int, int, int, int]], multipv: int) -> LineArray:
    """Return lines ranked anew within each depth, best first; of equals the first stays first."""
    depths: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for row in rows:
        depths.setdefault(row[0], []).append(row)
    made = [
        (depth, rank, *line[2:])
        for depth in sorted(depths)
        for rank, line in enumerate(sorted(depths[depth], key=lambda line: _worth(line[3:]))[:multipv], start=1)
    ]
    return np.array(made, dtype=LINE)


def _worth(score: tuple[int, ...]) -> tuple[int, int]:
    """Return what sorts best first: mates we give, near ones first; centipawns; mates against us, far ones first."""
    mate, points = score
    if not mate:
        return 1, -points
    return (0, points) if points > 0 else (2, points)


def _search_past_forced(
    fen: str, settings: Settings, search: Callable[[str, Settings], tuple[LineArray, int]]
) -> tuple[LineArray, int]:
    """Search a position; where there is one legal move, the deeper depths come from the position after it."""
    forced = chess.Board(fen).legal_moves.count() == 1
    if not forced or settings.depth is None or settings.depth <= FORCED_DEPTH:
        return search(fen, settings)
    near, near_nodes = search(fen, replace(settings, depth=FORCED_DEPTH))
    far, far_nodes = search_children(fen, settings, search)
    return np.concatenate([near, far[far["depth"] > FORCED_DEPTH]]), near_nodes + far_nodes


def _on_the_board(fen: str) -> RawScore | None:
    """Return the score of a position in which there is nothing to search: mated, or a stalemate."""
    board = chess.Board(fen)
    if any(board.generate_legal_moves()):
        return None
    return (1, 0) if board.is_check() else (0, 0)


def _common_depths(known: dict[int, dict[int, RawScore]], asked: int | None) -> list[int]:
    """Return the depths for which every child has a score."""
    deepest = asked or max((depth for scores in known.values() for depth in scores if depth < LAST), default=2)
    depths = [depth for depth in range(2, deepest + 1) if all(_has(scores, depth) for scores in known.values())]
    if not depths:
        raise EngineError("the engine reached no depth in all the positions after a move")
    return depths


def _has(scores: dict[int, RawScore], depth: int) -> bool:
    last = max(scores)
    return depth in scores or last == LAST or (depth > last and scores[last][0] == 1)


def _score_at(scores: dict[int, RawScore], depth: int) -> RawScore:
    return scores[depth] if depth in scores else scores[max(scores)]
