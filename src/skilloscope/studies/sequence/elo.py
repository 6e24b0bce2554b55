"""How probable a player's moves are for people of a given Elo, on the axis, and how unusual among their own.

In: judged games and an Elo. Out: `ChoiceSequence`: log Π p(move | Elo), by what people of that Elo play and, where an
engine judged, by its losses as well, beside what such people's moves score on the same positions. [DFHR09 VI]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.human.model import elo_basis
from skilloscope.core.errors import InputError
from skilloscope.models.joint import log_alternatives
from skilloscope.sources.people import moves_of, playable_games
from skilloscope.sources.strength import PlayedMoves, played_moves
from skilloscope.studies.rate.elo import axis_fields
from skilloscope.studies.rate.front import JudgedGames
from skilloscope.studies.sequence.sequence import ChoiceLogs, ChoiceSequence, check_sequence, sequence_parts

GAME_DISPERSION = {"human": 1.28, "joint": 1.38}
"""The variance of z over games of people at their own rating, by method; tools/sequence_dispersion.py measures it."""

Array = npt.NDArray[np.float64]


def elo_sequence(found: JudgedGames, player: str, elo: float, *, draws: int = 10_000, seed: int = 1) -> ChoiceSequence:
    """Return the place of a player's moves among those of people of this Elo on the same positions."""
    asked = found.asked
    dispersion = GAME_DISPERSION[asked.method]
    check_sequence(elo, dispersion, draws)
    games = found.games.select(playable_games(found.games))
    rows = np.flatnonzero(playable_games(found.games))
    moves = played_moves(games, wanted=moves_of(games, frozenset([player])))
    weights = asked.effort.weights
    if found.judged is not None and found.judged.analyses is not None and weights is not None:
        moves = moves.with_engine(found.judged.analyses.of_games(rows), len(weights.depths))
    if not moves.free.any():
        raise InputError(f"no move of {player!r} that was a choice; skipped: {games.tally}")
    choices, labels = _logs(moves, found, elo)
    total, parts = sequence_parts(choices, labels, dispersion=dispersion, draws=draws, seed=seed)
    tally = games.tally
    tally.count("forced", int((~moves.free).sum()))
    return ChoiceSequence(
        decider=player,
        c=None,
        elo=elo,
        total=total,
        games=parts,
        dispersion=dispersion,
        draws=draws,
        seed=seed,
        about={"method": asked.method, **axis_fields(asked.axis, asked.effort.name)},
        tally=tally,
        notes=_notes(found, elo),
    )


def move_logs(moves: PlayedMoves, found: JudgedGames, elo: npt.ArrayLike) -> Array:
    """Return log p of every legal move of the positions at an Elo, one or one a position, as the axis has it."""
    at = np.broadcast_to(np.asarray(elo, dtype=float), len(moves))
    offsets, owner = moves.choices.offsets, np.repeat(np.arange(len(moves)), np.diff(moves.choices.offsets))
    logits = (moves.choices.coefficients.astype(float) * elo_basis(at)[owner]).sum(axis=1)
    top = np.maximum.reduceat(logits, offsets[:-1])
    logs = logits - (top + np.log(np.add.reduceat(np.exp(logits - top[owner]), offsets[:-1])))[owner]
    weights = found.asked.effort.weights
    if moves.joint is not None and moves.judged is not None and weights is not None:
        own = moves.sources(found.asked.axis.opening_moves)[moves.judged] == 2
        judged = at[moves.judged][own]
        both = log_alternatives(moves.joint.select(own), weights, judged, elo_basis(judged))
        logs[np.isin(owner, moves.judged[own])] = both  # judged moves stand in the order of the moves
    return np.asarray(logs)


def _logs(moves: PlayedMoves, found: JudgedGames, elo: float) -> tuple[ChoiceLogs, list[Any]]:
    logs, counts = move_logs(moves, found, elo), np.diff(moves.choices.offsets)
    free = moves.free
    kept = logs[np.repeat(free, counts)]
    offsets = np.concatenate([[0], np.cumsum(counts[free])]).astype(np.int64)
    names = moves.games.headers["game"].to_pylist()
    used, groups = np.unique(moves.game[free], return_inverse=True)
    actual = kept[offsets[:-1] + moves.chosen[free]]
    return ChoiceLogs(kept, offsets, actual, groups.astype(np.int64)), [names[row] for row in used.tolist()]


def _notes(found: JudgedGames, elo: float) -> list[str]:
    axis, told = found.asked.axis, list(found.told)
    if axis.extrapolates(elo):
        told.append(f"Elo {elo:.0f} is outside the range in which the axis was fitted")
    return told
