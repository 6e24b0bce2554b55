"""The human model with a memory: answers are kept in a file, by position and model, and read back to the bit.

The file lies beside the store of analyses and has its form, but it is another one: these are no answers of engines,
they can be made again at any time, and whoever deletes the file loses nothing but some minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from skilloscope.chess.human.encoding import Boards
from skilloscope.chess.human.kernels import N_MAPS
from skilloscope.chess.human.model import Human, HumanChoices, human
from skilloscope.chess.human.network import Network
from skilloscope.core.errors import StoreError
from skilloscope.store import Store, StoredAnalysis

_CHUNK = 4096
_BYTES = 2 + 4 * N_MAPS  # of one move: its code and its coefficients


class KeptHuman(Human):
    """The human model that asks its file first; where the file cannot be used, it computes as ever."""

    def __init__(self, network: Network, path: Path) -> None:
        super().__init__(network)
        self.path = path
        self.key = {"model": "human", "sha256": network.sha256}

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients, from the file or computed and kept."""
        try:
            with Store(self.path) as shelf:
                parts: list[bytes] = []
                for begin in range(0, len(boards), _CHUNK):
                    parts += self._recalled(shelf, boards[begin : begin + _CHUNK])
                    if progress:
                        progress(min(begin + _CHUNK, len(boards)))
                return _joined(parts)
        except StoreError:
            return super().choices(boards, progress=progress)

    def _recalled(self, shelf: Store, boards: Boards) -> list[bytes]:
        problems = position_keys(boards)
        known = {key: row.lines for key, row in shelf.get_many(self.key, list(dict.fromkeys(problems))).items()}
        first = {key: at for at, key in reversed(list(enumerate(problems))) if key not in known}
        if first:
            keys, rows = list(first), np.array(list(first.values()))
            made = dict(zip(keys, _parted(super().choices(boards[rows])), strict=True))
            each = (StoredAnalysis(key, len(answer) // _BYTES, answer) for key, answer in made.items())
            shelf.put_many(self.key, each)
            known |= made
        return [known[key] for key in problems]


def kept_human(store: Path | None) -> Human:
    """Return the human model that ships, with a memory beside a store of analyses; without a store, without memory."""
    return human() if store is None else KeptHuman(human().network, store.with_name("human.sqlite"))


def position_keys(boards: Boards) -> list[str]:
    """Return a text for each position that stands for all the network sees of it, and whose move it is."""
    if not len(boards):
        return []
    columns = (boards.board, boards.rights, boards.passant, boards.last, boards.ply, boards.black)
    rows = np.concatenate([np.ascontiguousarray(c).view(np.uint8).reshape(len(boards), -1) for c in columns], axis=1)
    return [blake2b(row.tobytes(), digest_size=16).hexdigest() for row in rows]


def _parted(choices: HumanChoices) -> list[bytes]:
    """Return the answer to each position as bytes: the moves, then their coefficients."""
    spans = zip(choices.offsets[:-1].tolist(), choices.offsets[1:].tolist(), strict=True)
    return [choices.moves[a:b].tobytes() + choices.coefficients[a:b].tobytes() for a, b in spans]


def _joined(parts: list[bytes]) -> HumanChoices:
    counts = np.array([len(part) // _BYTES for part in parts], dtype=np.int64)
    moves = b"".join(part[: 2 * n] for part, n in zip(parts, counts.tolist(), strict=True))
    coefficients = b"".join(part[2 * n :] for part, n in zip(parts, counts.tolist(), strict=True))
    return HumanChoices(
        np.concatenate([[0], np.cumsum(counts)]),
        np.frombuffer(moves, dtype=np.uint16).copy(),  # what is compiled wants arrays that may be written
        np.frombuffer(coefficients, dtype=np.float32).reshape(-1, N_MAPS).copy(),
    )
