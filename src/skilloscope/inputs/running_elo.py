"""Elo on the one axis while a game goes on: what each move says, and what all moves of a player up to now say.

In: moves with what people play there, and the engine's answers where they are those of an effort of the axis. Out: the
posterior's mean and ends after every move, as fields of JSON.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import chess
import numpy as np

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.evaluations import Evaluations
from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import Human, human
from skilloscope.chess.human.played import PlayedMoves, move_evidence, move_losses, observed_evidence
from skilloscope.core.columns import Array
from skilloscope.core.errors import MissingExtraError
from skilloscope.evidence import EvidenceTable, Normal, Posterior, Prior
from skilloscope.evidence.axis import (
    EVALUATIONS,
    HEADER_SD,
    Effects,
    Effort,
    EloAxis,
    PersonEffect,
    combined,
    elo_axis,
    elo_posterior,
)
from skilloscope.evidence.sources.human import single_move_curves
from skilloscope.evidence.sources.losses import expected_of_people, observed_curves
from skilloscope.models.bins import loss_features
from skilloscope.models.joint import elo_range, scaled_loss

EloOfSides = Callable[
    [Sequence[int], Sequence[str], Sequence[float | None], int, Sequence[int | None]], list[dict[str, Any]]
]
"""From a game's moves, its positions, their values, its first ply and the players' ratings to both sides' Elo."""
FORM = 90.0
"""The sd of a player's Elo from game to game: how far one game may lie from what is known of the player."""
UNKNOWN: dict[str, Any] = {"axis_elo": None, "axis_low": None, "axis_high": None}

_E4 = chess.E2 + 64 * chess.E4
_MATCHED = ("depth", "nodes", "multipv")


def elo_of_sides() -> EloOfSides | None:
    """Return `EloOfBoards.sides`, the model loaded before any time is measured; nothing where it cannot be had."""
    try:
        boards = EloOfBoards()
        boards.warm_up()
    except MissingExtraError:
        return None
    return boards.sides


def effort_of(analyses: Analyses | None, axis: EloAxis) -> Effort:
    """Return the effort whose search the answers come from, `instant` where they are of another or there are none."""
    for effort in axis.efforts.values():
        same = analyses is not None and all(analyses.settings.get(n) == effort.settings.get(n) for n in _MATCHED)
        if effort.weights is not None and same:
            return effort
    return axis.effort("instant")


@dataclass(eq=False)
class RunningElo:
    """The Elo of one side while a game goes on: what its moves so far say by source, and the posterior after them."""

    axis: EloAxis
    effects: Mapping[str, Effects]
    prior: Prior | None = None  # the population's unless given
    person: PersonEffect | None = None
    curves: dict[str, Array] = field(default_factory=dict)

    def add(self, source: str, curve: Array) -> None:
        """Add what one move says by one source."""
        self.curves[source] = self.curves[source] + curve if source in self.curves else curve

    @property
    def posterior(self) -> Posterior | None:
        """The posterior of Elo after the moves so far; None before any of them counts."""
        if not self.curves:
            return None
        games = {source: curve[None, :] for source, curve in self.curves.items()}
        return elo_posterior(combined(games, self.effects, self.person), self.prior or self.axis.prior())

    def fields(self, mass: float) -> dict[str, Any]:
        """Return the posterior as JSON has it; nulls where there is none."""
        found = self.posterior
        return dict(UNKNOWN) if found is None else dict(zip(UNKNOWN, (found.mean, *found.interval(mass)), strict=True))


def running_elo(
    moves: PlayedMoves,
    analyses: Analyses | None = None,
    *,
    axis: EloAxis | None = None,
    effort: Effort | None = None,
    evaluations: Evaluations | None = None,
    priors: Sequence[Prior | None] = (None, None),
    mass: float = 0.95,
) -> list[dict[str, Any]]:
    """Return the mover's Elo after every move of one game; the effort is that of the answers, priors are by side."""
    axis = axis or elo_axis()
    effort = effort or effort_of(analyses, axis)
    if effort.weights is not None and analyses is not None:
        moves = moves.with_engine(analyses, len(effort.weights.depths))
    places = list(range(len(moves)))
    table = move_evidence(moves, places, weights=effort.weights, opening_moves=axis.opening_moves)
    if effort.losses is not None and evaluations is not None:
        losses = observed_evidence(moves, move_losses(moves, evaluations), places, effort.losses)
        table = EvidenceTable.concat([table, losses])
    sides = {bool(at): RunningElo(axis, effort.effects, prior, effort.person) for at, prior in enumerate(priors)}
    rows = []
    for place, black in zip(places, moves.black.tolist(), strict=True):
        for at in table.rows.get(place, ()):
            sides[black].add(table.sources[at], table.curves[at])
        rows.append(sides[black].fields(mass))
    return rows


@dataclass(frozen=True, eq=False)
class _KnownMove:
    """What people's choices say of one move: its source and curve, and what its loss is judged by."""

    source: str
    curve: Array
    log_p: float
    entropy: float


@dataclass(eq=False)
class EloOfBoards:
    """Elo of both sides of games that are being played; a move, known by the position before it, is asked once."""

    axis: EloAxis = field(default_factory=elo_axis)
    model: Human = field(default_factory=human)
    mass: float = 0.95
    _known: dict[tuple[str, int], _KnownMove | None] = field(default_factory=dict)
    _lost: dict[tuple[str, int, float, float], Array] = field(default_factory=dict)

    def warm_up(self) -> None:
        """Load the model by asking it about a first move."""
        self.sides([_E4], [chess.STARTING_FEN], [None, None], 0)

    def sides(
        self,
        moves: Sequence[int],
        fens: Sequence[str],
        values: Sequence[float | None],
        first_ply: int,
        elos: Sequence[int | None] = (None, None),
    ) -> list[dict[str, Any]]:
        """Return both sides' fields after these moves; `fens` has the last position too; `values`: White's, pawns.

        Each side starts from its rating, where that is known, and may be so far from it as in any one game.
        """
        self._ask(moves, fens)
        sides = [RunningElo(self.axis, {}, self._start(elo)) for elo in elos]
        for at, (fen, move) in enumerate(zip(fens, moves, strict=False)):
            known, black = self._known[fen, move], (first_ply + at) % 2
            if known is None:
                continue
            sides[black].add(known.source, known.curve)
            before, after = values[at], values[at + 1]
            if before is not None and after is not None:
                sign = -1.0 if black else 1.0
                sides[black].add("evaluated", self._loss((fen, move, sign * before, sign * after), known, at))
        for side in sides:
            effort = self.axis.effort(EVALUATIONS if "evaluated" in side.curves else "instant")
            side.effects, side.person = effort.effects, effort.person
        return [side.fields(self.mass) for side in sides]

    def _start(self, elo: int | None) -> Prior:
        if elo is None:
            return self.axis.prior()
        low, high = elo_range(self.axis.pool)
        return Normal(float(np.clip(elo, low, high)), float(np.hypot(HEADER_SD, FORM)), low, high)

    def _ask(self, moves: Sequence[int], fens: Sequence[str]) -> None:
        new = [ply for ply, key in enumerate(zip(fens, moves, strict=False)) if key not in self._known]
        if not new:
            return
        codes = np.array(moves, dtype=np.uint16)
        boards = Boards.from_moves(codes, np.array([0, len(codes)]), [fens[0]])[np.array(new)]
        choices = self.model.choices(boards)
        chosen = choices.index_of(codes[new])
        curves = single_move_curves(choices, chosen)
        log_p, entropy = expected_of_people(choices, chosen)
        opening = boards.ply.astype(np.int64) // 2 + 1 <= self.axis.opening_moves
        free = np.diff(choices.offsets) > 1
        for row, ply in enumerate(new):
            source = "opening" if opening[row] else "human"
            found = _KnownMove(source, curves[row], float(log_p[row]), float(entropy[row]))
            self._known[fens[ply], moves[ply]] = found if free[row] else None

    def _loss(self, key: tuple[str, int, float, float], known: _KnownMove, ply: int) -> Array:
        """Return what one move's loss says along the axis; the values are those of its mover."""
        if key not in self._lost:
            weights = self.axis.effort(EVALUATIONS).losses
            assert weights is not None
            before, after = np.array([key[2]]), np.array([key[3]])
            features = loss_features([known.log_p], [known.entropy], before, [ply])
            one = np.zeros(1, dtype=np.int64)
            self._lost[key] = observed_curves(scaled_loss(before, after), features, weights, one, 1)[0]
        return self._lost[key]
