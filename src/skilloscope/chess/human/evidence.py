"""Evidence about Elo from what was played, without an engine: a log-likelihood curve for each group of moves.

In: positions, the moves played there, a label for each. Out: an EvidenceTable along the Elo axis. Every legal move is
an alternative, so positions carry no evidence of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.human.encoding import Boards
from skilloscope.chess.human.kernels import add_choice_curves
from skilloscope.chess.human.model import ELO_RANGE, Human, HumanChoices, elo_basis
from skilloscope.core.errors import InputError, Tally
from skilloscope.inference.evidence import EvidenceTable
from skilloscope.inference.grid import Grid

ELO_GRID = Grid(*ELO_RANGE, 64)


def human_evidence(
    model: Human,
    boards: Boards,
    moves: npt.NDArray[np.uint16],
    labels: Sequence[Any] | npt.NDArray[Any],
    *,
    grid: Grid = ELO_GRID,
    progress: Callable[[int], None] | None = None,
) -> EvidenceTable:
    """Return what the moves of each label say about Elo. Forced moves say nothing and are counted apart."""
    if not len(boards) == len(moves) == len(labels):
        raise InputError(f"{len(boards):,} positions, {len(moves):,} moves and {len(labels):,} labels do not match")
    return choice_evidence(model.choices(boards, progress=progress), moves, labels, grid=grid, about=_about(model))


def choice_evidence(
    choices: HumanChoices,
    moves: npt.NDArray[np.uint16],
    labels: Sequence[Any] | npt.NDArray[Any],
    *,
    grid: Grid = ELO_GRID,
    about: dict[str, Any] | None = None,
) -> EvidenceTable:
    """As `human_evidence`, from choices that are there already."""
    chosen = choices.index_of(moves)
    counts = np.diff(choices.offsets)
    use = (chosen >= 0) & (counts > 1)
    found = {"illegal move": int((chosen < 0).sum()), "forced": int(((chosen >= 0) & (counts == 1)).sum())}
    names = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    rows = {name: row for row, name in enumerate(dict.fromkeys(names))}
    groups = np.array([rows[name] for name in names], dtype=np.int64)
    curves = np.zeros((len(rows), grid.size))
    kept = choices.take(np.flatnonzero(use))
    add_choice_curves(kept.coefficients, kept.offsets, chosen[use], groups[use], elo_basis(grid.nodes), curves)
    decisions = np.bincount(groups[use], minlength=len(rows)).astype(np.int64)
    tally = Tally({reason: n for reason, n in found.items() if n})
    return EvidenceTable(grid, list(rows), curves, decisions, tally, about or {})


def _about(model: Human) -> dict[str, Any]:
    return {"model": "human", "sha256": model.network.sha256}
