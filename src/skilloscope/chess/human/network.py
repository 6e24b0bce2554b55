"""The weights that ship, and the one way they are run: the same bits for any batch size and number of workers.

Three things make it so. The network always runs on BATCH positions (the last batch is filled up with empty boards), so
that no other kernel is chosen for another size; on one thread, in sequence, so that no sum is split differently; and
each position's row is computed from that position alone. Another build of onnxruntime or another processor may differ
in the last bits.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.human.kernels import N_PLANES
from skilloscope.core.errors import InputError, MissingExtraError

BATCH = 16


class Network:
    """ONNX weights, opened when they are first needed."""

    def __init__(self, weights: bytes, card: dict[str, Any]) -> None:
        self.weights, self.card = weights, card

    @cached_property
    def sha256(self) -> str:
        """The hash of the weights: what was computed with others is not the same."""
        return hashlib.sha256(self.weights).hexdigest()

    def maps(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the maps [n, 4, 4096] and the terms of underpromotions [n, 4, 3, 8] of at most BATCH positions."""
        n = len(planes)
        if n < BATCH:
            planes = np.concatenate([planes, np.zeros((BATCH - n, N_PLANES, 8, 8), dtype=np.float32)])
        maps, under = self._session.run(None, {"planes": planes})
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


@cache
def shipped_network() -> Network:
    """Return the network that ships with the package."""
    folder = resources.files("skilloscope") / "data"
    return Network((folder / "human.onnx").read_bytes(), json.loads((folder / "human.json").read_text()))


def network_from(path: Path) -> Network:
    """Return the network of a file made by tools/train_human.py; its card lies beside it as .json."""
    card = path.with_suffix(".json")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file", hint="tools/train_human.py --onnx makes one")
    return Network(path.read_bytes(), json.loads(card.read_text()) if card.is_file() else {})
