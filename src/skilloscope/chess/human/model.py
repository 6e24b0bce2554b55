"""The human model: what people of any strength play, computed here, kept in a file, or computed on a cluster.

In: Boards. Out: HumanChoices, every legal move with the four coefficients that give its probability at any Elo.

The cache is a file next to the store of analyses and has the store's format, but these are no answers of engines: they
can be computed again at any time, and deleting the file costs nothing but some minutes. On a cluster, positions go to
the workers of a Dask scheduler, some hundreds a task; every worker runs the network of its own installation, and one
with another network is an error. All three give the same bits, for any batch size and number of workers.

Three things make it so. The network always runs on BATCH positions (the last batch is filled up with empty boards), so
that no other kernel is chosen for another size; on one thread, in sequence, so that no sum is split differently; and
each position's row is computed from that position alone. Another build of onnxruntime or another processor may differ
in the last bits.
"""

import contextlib
import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.boards import Boards, playable_board
from skilloscope.chess.moves import move_of_code
from skilloscope.chess.pgn.facts import FIDE
from skilloscope.chess.rules import I16, N_FROM_TO, NO_SQUARE, U8
from skilloscope.core.columns import About, Array, Ints
from skilloscope.core.compiled import njit
from skilloscope.core.errors import EngineError, InputError, MissingExtraError, StoreError
from skilloscope.models.joint import HumanChoices, checked_elo, elo_range
from skilloscope.store import Store, StoredAnalysis

_LOG = logging.getLogger(__name__)
F32 = npt.NDArray[np.float32]

BATCH = 16
N_MAPS = 4


class Network:
    """ONNX weights, opened when they are first needed."""

    def __init__(self, weights: bytes, card: About) -> None:
        self.weights, self.card = weights, card
        self.past = int(card.get("past", 1))  # how many of the moves before a position it sees

    @cached_property
    def sha256(self) -> str:
        """The hash of the weights: what was computed with others is not the same."""
        return hashlib.sha256(self.weights).hexdigest()

    def maps(self, planes: F32, pool: str = FIDE) -> tuple[F32, F32]:
        """Return the maps [n, 4, 4096] and the terms of underpromotions [n, 4, 3, 8] of at most BATCH positions."""
        n = len(planes)
        if n < BATCH:
            planes = np.concatenate([planes, np.zeros((BATCH - n, *planes.shape[1:]), dtype=np.float32)])
        given = {"planes": planes}
        if "pools" in self.card:  # one network for several pools is told which
            given["pool"] = np.repeat([[np.float32(name == pool) for name in self.card["pools"]]], BATCH, axis=0)
        maps, under = self._session.run(None, given)
        return maps[:n], under[:n]

    @cached_property
    def _session(self) -> Any:
        runtime = onnx_runtime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 3
        return runtime.InferenceSession(self.weights, options, providers=["CPUExecutionProvider"])


def onnx_runtime() -> Any:
    """Return the module onnxruntime, or say in one line that it is missing."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(
            "the human model needs onnxruntime, which is not installed", hint="pip install onnxruntime"
        ) from error
    return onnxruntime


def shipped_network(pool: str = FIDE) -> Network:
    """Return the network that ships for a pool: one for play over the board, one for all pools of servers."""
    return _network("human" if pool == FIDE else "human-online")


@cache
def _network(name: str) -> Network:
    folder = resources.files("skilloscope") / "data"
    return Network((folder / f"{name}.onnx").read_bytes(), json.loads((folder / f"{name}.json").read_text()))


def network_from(path: Path) -> Network:
    """Return the network of a file made by tools/train_human.py; its card is next to it as .json."""
    card = path.with_suffix(".json")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file", hint="tools/train_human.py --onnx makes one")
    return Network(path.read_bytes(), json.loads(card.read_text()) if card.is_file() else {})


def input_planes(boards: Boards, past: int = 1) -> F32:
    """Return the input of a network that sees so many moves before a position, [positions, 18 + 2·past, 8, 8]."""
    out = np.empty((len(boards), 18 + 2 * past, 64), dtype=np.float32)
    _write_planes(boards.board, boards.rights, boards.passant, boards.past[:, :past], boards.ply, out)
    return out.reshape(len(boards), -1, 8, 8)


@njit(cache=True)
def _write_planes(board: U8, rights: U8, passant: U8, past: I16, ply: U8, out: F32) -> None:
    """Write the input: 12 planes of pieces, 4 castling, en passant, last moves from and to, ply / 100."""
    out[:] = 0
    for i in range(len(board)):
        for square in range(64):
            if board[i, square]:
                out[i, board[i, square] - 1, square] = 1
        for bit in range(4):
            if rights[i] >> bit & 1:
                out[i, 12 + bit] = 1
        if passant[i] < NO_SQUARE:
            out[i, 16, passant[i]] = 1
        for back in range(past.shape[1]):
            if past[i, back] >= 0:
                out[i, 17 + 2 * back, past[i, back] & 63] = 1
                out[i, 18 + 2 * back, past[i, back] >> 6] = 1
        out[i, out.shape[1] - 1] = np.float32(ply[i]) / np.float32(100)


@njit(cache=True)
def pick_coefficients(maps: F32, under: F32, offsets: Ints, places: I16, out: F32) -> None:
    """Write the four coefficients of every legal move from the network's maps."""
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            place = places[at]
            for j in range(N_MAPS):
                if place < N_FROM_TO:
                    out[at, j] = maps[i, j, place]
                else:
                    rest = place - N_FROM_TO
                    piece, start, end = rest >> 6, rest >> 3 & 7, rest & 7
                    out[at, j] = maps[i, j, 64 * (48 + start) + 56 + end] + under[i, j, piece, end]


_CHUNK = 64 * BATCH
_CACHE_CHUNK = 4096
_BYTES = 2 + 4 * N_MAPS  # of one move in the cache: its code and its coefficients
_TASK = 512  # positions of one task on a cluster: about a second of one core
_AHEAD = 2  # tasks under way for each thread of the cluster


@dataclass(frozen=True)
class HumanMoves:
    """What people play in one position: a row per legal move, likeliest first, a column per Elo."""

    fen: str
    elo: tuple[float, ...]
    moves: tuple[str, ...]
    san: tuple[str, ...]
    probability: Array


class Human:
    """What people of a given strength play.

    >>> answer = human().moves(chess.STARTING_FEN, [1500, 2500])  # doctest: +SKIP
    >>> answer.san[:2]  # doctest: +SKIP
    ('e4', 'd4')
    """

    def __init__(self, network: Network, pool: str = FIDE) -> None:
        self.network, self.pool = network, pool
        self.elo_range = elo_range(pool)

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients; `progress` gets the number done."""
        parts = []
        for begin in range(0, len(boards), _CHUNK):
            parts.append(self._chunk(boards[begin : begin + _CHUNK]))
            if progress:
                progress(min(begin + _CHUNK, len(boards)))
        return parts[0] if len(parts) == 1 else HumanChoices.concat(parts)

    def moves(self, position: str | chess.Board, elo: float | Sequence[float] = (1200, 1600, 2000, 2400)) -> HumanMoves:
        """Return the probability of every legal move at one or several Elos, likeliest (on average) first.

        People answer the move before: a board knows it, a FEN does not.
        """
        levels = checked_elo(elo, self.elo_range)
        board = position if isinstance(position, chess.Board) else playable_board(position)
        fen = board.fen() if isinstance(position, chess.Board) else position
        choices = self.choices(Boards.from_boards([board]))
        probability = np.exp(choices.log_probabilities(levels))
        order = np.argsort(-probability.mean(axis=1), kind="stable")
        listed = [move_of_code(int(code)) for code in choices.moves[order]]
        return HumanMoves(
            fen, tuple(levels), tuple(m.uci() for m in listed), tuple(board.san(m) for m in listed), probability[order]
        )

    def _chunk(self, boards: Boards) -> HumanChoices:
        counts, places = boards.legal_places()
        if not counts.all():
            raise InputError("a position has no legal move", hint="leave out positions in which the game is over")
        offsets = np.concatenate([[0], np.cumsum(counts)])
        coefficients = np.empty((len(places), N_MAPS), dtype=np.float32)
        for at in range(0, len(boards), BATCH):
            part = offsets[at : at + BATCH + 1]
            inside = slice(part[0], part[-1])
            maps, under = self.network.maps(input_planes(boards[at : at + BATCH], self.network.past), self.pool)
            pick_coefficients(maps, under, part - part[0], places[inside], coefficients[inside])
        return HumanChoices(offsets, boards.move_codes(counts, places), coefficients, self.elo_range)


@cache
def human(pool: str = FIDE) -> Human:
    """Return the human model that ships for a pool."""
    return Human(shipped_network(pool), pool)


def positions_per_second(model: Human, positions: int = 8 * BATCH) -> float:
    """Return how many positions the model answers in a second of one core, by a quick measurement."""
    boards = Boards.from_boards([chess.Board()] * positions)
    model.choices(boards[:BATCH])  # opens the network and compiles what is not compiled yet
    begin = time.process_time()
    model.choices(boards)
    return positions / max(time.process_time() - begin, 1e-9)


class CachedHuman(Human):
    """The human model that looks in its file first; what is damaged there or cannot be read is computed."""

    def __init__(self, network: Network, path: Path, pool: str = FIDE) -> None:
        super().__init__(network, pool)
        self.path, self.damaged, self._said = path, 0, ""
        own = {} if pool == FIDE else {"pool": pool}
        self.key = {"model": "human", "sha256": network.sha256, "rows": "with digests", **own}

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients, from the file or computed and kept."""
        try:
            with contextlib.closing(Store(self.path)) as store:
                parts: list[bytes] = []
                for begin in range(0, len(boards), _CACHE_CHUNK):
                    parts += self._answers_of(store, boards[begin : begin + _CACHE_CHUNK])
                    if progress:
                        progress(min(begin + _CACHE_CHUNK, len(boards)))
        except StoreError as error:
            if self._said != str(error):  # asked for every game
                self._said = str(error)
                _LOG.warning("%s; what people play is computed", error)
            return super().choices(boards, progress=progress)
        sizes = [len(part) // _BYTES for part in parts]
        moves = b"".join(part[: 2 * n] for part, n in zip(parts, sizes, strict=True))
        coefficients = b"".join(part[2 * n :] for part, n in zip(parts, sizes, strict=True))
        return HumanChoices(
            np.cumsum([0, *sizes], dtype=np.int64),
            np.frombuffer(moves, dtype=np.uint16).copy(),  # what is compiled wants arrays that may be written
            np.frombuffer(coefficients, dtype=np.float32).reshape(-1, N_MAPS).copy(),
            self.elo_range,
        )

    def _answers_of(self, store: Store, boards: Boards) -> list[bytes]:
        """Return the answer to each position as bytes: the moves, then their coefficients."""
        problems = position_keys(boards, self.network.past)
        stored = store.get_many(self.key, list(dict.fromkeys(problems)), faulty=True)
        known = {key: row.lines for key, row in stored.items() if row.lines}
        if damaged := [key for key in stored if key not in known]:
            self.damaged += len(damaged)
            _LOG.warning("%s: %d damaged answers are computed again", self.path, len(damaged))
            store.condemn(self.key, damaged, "the stored answer was damaged")
        first = {key: at for at, key in reversed(list(enumerate(problems))) if key not in known}
        if first:
            found = super().choices(boards[np.array(list(first.values()))])
            spans = zip(first, found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)
            made = {key: found.moves[a:b].tobytes() + found.coefficients[a:b].tobytes() for key, a, b in spans}
            store.put_many(self.key, [StoredAnalysis(key, len(made[key]) // _BYTES, made[key]) for key in made])
            known |= made
        return [known[key] for key in problems]


def cached_human(store: Path | None, pool: str = FIDE) -> Human:
    """Return the human model that ships, cached next to a store of analyses; without a store, not cached."""
    return human(pool) if store is None else CachedHuman(shipped_network(pool), store.with_name("human.sqlite"), pool)


def position_keys(boards: Boards, past: int = 1) -> list[str]:
    """Return a key for each position: a hash of all the network sees of it, and of whose move it is."""
    if not len(boards):
        return []
    columns = (boards.board, boards.rights, boards.passant, boards.past[:, :past], boards.ply, boards.black)
    rows = np.concatenate([np.ascontiguousarray(c).view(np.uint8).reshape(len(boards), -1) for c in columns], axis=1)
    return [blake2b(row.tobytes(), digest_size=16).hexdigest() for row in rows]


@contextlib.contextmanager
def human_on(scheduler: str, pool: str = FIDE) -> Iterator[Human]:
    """Give the human model that ships, run by the workers of a scheduler's cluster."""
    from skilloscope.chess.engine.cluster import connect  # loads Dask, which is optional

    with connect(scheduler) as client:
        yield ClusterHuman(client, pool)


class ClusterHuman(Human):
    """The human model that ships, run by the workers of a Dask client."""

    def __init__(self, client: Any, pool: str = FIDE) -> None:
        super().__init__(shipped_network(pool), pool)
        self._client = client

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients, as the workers find them."""
        tasks = [boards[begin : begin + _TASK] for begin in range(0, len(boards), _TASK)]
        at_once = max(_AHEAD * sum(self._client.nthreads().values()), 1)
        parts: list[HumanChoices] = []
        for begin in range(0, len(tasks), at_once):
            parts += self._answers(tasks[begin : begin + at_once])
            if progress:
                progress(min(len(parts) * _TASK, len(boards)))
        return HumanChoices.concat(parts)

    def _answers(self, tasks: list[Boards]) -> list[HumanChoices]:
        futures = self._client.map(_choices_on_worker, tasks, sha256=self.network.sha256, pool=self.pool, pure=False)
        try:
            found: list[HumanChoices] = self._client.gather(futures)
        except EngineError:
            raise
        except Exception as error:  # whatever Dask says of a worker that died, or of a scheduler that has gone
            raise EngineError(
                f"the cluster cannot run the human model: {error}",
                hint="every machine of the cluster needs the same skilloscope with the extra 'cluster'",
            ) from error
        return found


def _choices_on_worker(boards: Boards, *, sha256: str, pool: str = FIDE) -> HumanChoices:
    own = human(pool)
    if own.network.sha256 != sha256:
        raise EngineError(
            "a worker has another human model than this machine", hint="install the same skilloscope on every machine"
        )
    return own.choices(boards)
