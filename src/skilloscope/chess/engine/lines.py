"""Lines: an engine's answer as one record per line of every depth, best first; read from UCI, checked, packed.

An engine prints a list of lines again and again, in a long search also in the middle of a depth, then with the rest of
the list still at the depth before. So the first line of a deeper depth closes all shallower ones; within a depth the
last exact line of each rank counts; bounds never count. What is kept is raw: centipawns, or the number of moves to
mate, from the mover's point of view. Only `value_pawns` turns that into a value.

Engines whose lists are no values, or that have none, are asked by child searches: the value of a move is minus the
value of the position after it, searched one ply less. It is another method, with other numbers, so it is part of the
key of an answer. It knows no depth 1, which would be a search of depth 0.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.moves import code_from_uci, move_code, move_uci, value_pawns
from skilloscope.core.errors import EngineError, InputError

LINE = np.dtype([("depth", "u1"), ("rank", "u1"), ("move", "<u2"), ("mate", "u1"), ("score", "<i4")])
"""One line: at this depth the move of this rank (1 = best) scores so many centipawns, or mates in so many moves."""

LineArray = npt.NDArray[np.void]


class AnalysedPosition(NamedTuple):
    """A position as it was given to the engine, how many legal moves it has, and the engine's answer."""

    fen: str
    n_legal: int
    lines: LineArray


def pack_lines(lines: LineArray) -> bytes:
    """Return the lines as bytes for the store, column after column: that deflates to 320 bytes where rows take 420."""
    fields = LINE.names or ()
    return zlib.compress(b"".join(np.ascontiguousarray(lines[name]).tobytes() for name in fields))


def unpack_lines(packed: bytes) -> LineArray:
    """Return the lines that `pack_lines` packed.

    >>> lines = np.array([(1, 1, code_from_uci("e2e4"), 0, 31), (1, 2, code_from_uci("f2f3"), 1, -4)], dtype=LINE)
    >>> np.array_equal(unpack_lines(pack_lines(lines)), lines)
    True
    """
    try:
        raw = zlib.decompress(packed)
    except zlib.error as error:
        raise InputError(f"packed lines are damaged: {error}") from error
    count, rest = divmod(len(raw), LINE.itemsize)
    if rest:
        raise InputError(f"packed lines are damaged: {len(raw)} bytes are not a whole number of lines")
    lines = np.empty(count, dtype=LINE)
    start = 0
    for name in LINE.names or ():
        lines[name] = np.frombuffer(raw, dtype=LINE[name], count=count, offset=start)
        start += count * LINE[name].itemsize
    return lines


def sound_lines(packed: bytes) -> LineArray | None:
    """Return the lines that `pack_lines` packed; None where they are damaged, or none at all.

    >>> sound_lines(b"something else") is None
    True
    """
    try:
        lines = unpack_lines(packed)
    except InputError:
        return None
    return lines if len(lines) else None


def last_depth(lines: LineArray) -> LineArray:
    """Return the lines of the deepest depth: the judgement."""
    return lines[lines["depth"] == lines["depth"].max()] if len(lines) else lines


def value_of(lines: LineArray, move: int | None = None) -> float:
    """Return the value of the position, or of a move (unlisted: the worst there), by the last list, in pawns.

    >>> listed = lines_from_lists({"1": [["e2e4", 31], ["d2d4", 12]]})
    >>> value_of(listed), value_of(listed, code_from_uci("a2a3"))
    (0.31, 0.12)
    """
    last = last_depth(lines)
    values = value_pawns(last["mate"], last["score"])
    found = np.flatnonzero(last["move"] == (last["move"][0] if move is None else move))
    return float(values[found[0]] if len(found) else values.min())


def lines_from_lists(depths: Mapping[str, Sequence[Sequence[Any]]]) -> LineArray:
    """Return lines from lists by depth, `[move, centipawns]` or `[move, "#mate"]`, best first.

    >>> lines_from_lists({"1": [["e2e4", 31], ["d2d4", "#-3"]]}).tolist()
    [(1, 1, 1804, 0, 31), (1, 2, 1739, 1, -3)]
    """
    rows = [
        (int(depth), rank, code_from_uci(move), *((1, int(score[1:])) if isinstance(score, str) else (0, int(score))))
        for depth, listed in depths.items()
        for rank, (move, score) in enumerate(listed, start=1)
    ]
    return np.array(sorted(rows), dtype=LINE)


def lines_to_lists(lines: LineArray) -> dict[str, list[list[Any]]]:
    """Return the lists that `lines_from_lists` reads, plain enough for JSON."""
    depths: dict[str, list[list[Any]]] = {}
    for depth, _, move, mate, score in lines.tolist():
        depths.setdefault(str(depth), []).append([move_uci(move), f"#{score}" if mate else score])
    return depths


MOST_LINE_BYTES = 1 << 20  # the most bytes that a line of an engine may have
MOST_ANSWER_BYTES = 1 << 26  # the most bytes that an engine may print before it answers


def check_output(output: bytes | bytearray) -> None:
    """Raise where an engine prints a line, or an answer, of a length that no engine needs: memory has an end."""
    if len(output) > MOST_ANSWER_BYTES:
        raise EngineError(f"the engine printed more than {MOST_ANSWER_BYTES:,} bytes without an answer")
    if len(output) - output.rfind(b"\n") - 1 > MOST_LINE_BYTES:
        raise EngineError(f"the engine printed a line of more than {MOST_LINE_BYTES:,} bytes")


def read_answer(output: bytes, *, flagged: bool = False) -> tuple[LineArray, int]:
    """Return the last exact line of every depth and rank, and the nodes searched; with `flagged` bounds count too.

    >>> lines, nodes = read_answer(b"info depth 1 multipv 1 score cp 31 nodes 20 pv e2e4 e7e5\\nbestmove e2e4\\n")
    >>> lines.tolist(), nodes
    ([(1, 1, 1804, 0, 31)], 20)
    """
    kept: dict[tuple[int, int], tuple[int, int, int, int, int]] = {}
    deepest = nodes = 0
    for row in output.split(b"\n"):
        head, found, variation = row.partition(b" pv ")
        if not found or not head.startswith(b"info ") or head.startswith(b"info string"):
            continue
        try:
            words = head.split()
            depth = int(words[words.index(b"depth") + 1])
            rank = int(words[words.index(b"multipv") + 1]) if b"multipv" in words else 1
            at = words.index(b"score")
            mate = (b"cp", b"mate").index(words[at + 1])
            move = code_from_uci(variation.split(None, 1)[0].decode())
            line = (depth, rank, move, mate, int(words[at + 2]))
            nodes = int(words[words.index(b"nodes") + 1]) if b"nodes" in words else nodes
        except (ValueError, IndexError) as error:  # InputError, of a move that is none, is a ValueError
            raise EngineError(f"the engine printed nonsense: {row[:120].decode('ascii', 'replace')!r}") from error
        if depth < deepest:
            continue
        deepest = depth
        if flagged or (b"lowerbound" not in words and b"upperbound" not in words):
            kept[depth, rank] = line
    try:
        return np.array([kept[place] for place in sorted(kept)], dtype=LINE), nodes
    except (OverflowError, ValueError) as error:
        raise EngineError("the engine printed a number out of range") from error


def checked_answer(lines: LineArray, legal: Set[int], settings: Settings) -> LineArray:
    """Return the answer up to its last complete depth, which only a search by nodes may miss; raise if unusable."""
    wanted = min(settings.multipv, len(legal))
    sizes = Counter(lines["depth"].tolist())
    complete = [depth for depth, size in sizes.items() if size == wanted]
    if not complete:
        raise EngineError(f"the engine listed no depth with all {wanted} moves")
    answer: LineArray = lines[lines["depth"] <= max(complete)]
    judged = last_depth(answer)
    if settings.depth is not None:  # then the engine may stop early only where it has found a mate
        if max(complete) < max(sizes):
            raise EngineError(f"the engine's list at its last depth, {max(sizes)}, is not complete")
        if max(complete) < settings.depth and not judged["mate"][0]:
            raise EngineError(f"the engine stopped at depth {max(complete)} of {settings.depth}")
    moves = set(answer["move"].tolist())
    if not moves <= legal:
        raise EngineError("the engine listed a move that is not legal")
    if len(set(judged["move"].tolist())) != wanted or judged["rank"].tolist() != list(range(1, wanted + 1)):
        raise EngineError("the engine listed a move twice, or left a rank out")
    return answer


RawScore = tuple[int, int]  # `mate` and `score` as in a LINE: (0, centipawns) or (1, moves to mate)
LAST = 255  # the depth of a mate on the board: it counts for every depth
FORCED_DEPTH = 4  # where there is one legal move, some engines search no deeper than this


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
    then counts for all deeper depths.
    """
    listed = children(fen)
    single = child_settings(settings, len(listed))
    known: dict[int, dict[int, RawScore]] = {}
    total = 0
    for move, child in listed:
        board = chess.Board(child)
        if not any(board.generate_legal_moves()):  # nothing to search: mated, or a stalemate
            known[move] = {LAST: parent_score((1, 0) if board.is_check() else (0, 0))}
            continue
        lines, nodes = _search_past_forced(child, single, search)
        known[move] = {depth + 1: parent_score((mate, score)) for depth, _, _, mate, score in lines.tolist()}
        total += nodes
    deepest = settings.depth or max((d for scores in known.values() for d in scores if d < LAST), default=2)
    rows: list[tuple[int, int, int, int, int]] = []
    for depth in range(2, deepest + 1):
        worth = [(move, scores.get(depth) or _carried(scores, depth)) for move, scores in known.items()]
        if all(score is not None for _, score in worth):
            rows += [(depth, 1, move, *score) for move, score in worth if score is not None]
    if not rows:
        raise EngineError("the engine reached no depth in all the positions after a move")
    return ranked(rows, settings.multipv), total


def ranked(rows: Iterable[tuple[int, int, int, int, int]], multipv: int) -> LineArray:
    """Return lines ranked again within each depth, best first; of equals the first stays first."""
    depths: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for row in rows:
        depths.setdefault(row[0], []).append(row)
    made = [
        (depth, rank, *line[2:])
        for depth in sorted(depths)
        for rank, line in enumerate(sorted(depths[depth], key=lambda line: _worth(line[3:]))[:multipv], start=1)
    ]
    return np.array(made, dtype=LINE)


def _carried(scores: dict[int, RawScore], depth: int) -> RawScore | None:
    """Return the score of a child that ended before this depth: a mate, on the board or found, counts for all."""
    last = max(scores)
    return scores[last] if last == LAST or (depth > last and scores[last][0] == 1) else None


def _worth(score: tuple[int, ...]) -> tuple[int, int]:
    """Return what sorts best first: mates we give, near ones first; centipawns; mates against us, far ones first."""
    mate, points = score
    return (1, -points) if not mate else (0, points) if points > 0 else (2, points)


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
