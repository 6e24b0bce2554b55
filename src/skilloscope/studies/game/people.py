"""How likely every move of a game was among people of the player's own level, and at which level it is likeliest.

In: a game of Games. Out: GamePeople: a level for each side, and for each move its probability there and the level that
plays it most. A player's level is the rating of the header; without one it is read off the player's moves in this
game, by the human model under a flat prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.human.model import ELO_RANGE, Human, human
from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError, MissingExtraError
from skilloscope.ratings.elo_axis.axis import elo_axis
from skilloscope.ratings.elo_axis.effects import ELO
from skilloscope.sources.running_elo import UNKNOWN, effort_of, running_elo
from skilloscope.sources.strength import PlayedMoves, game_curves, played_moves

SIDES = ("white", "black")
MEASURED = (1200.0, 2700.0)
"""Where the model was measured on people it had not seen: a likeliest level is looked for here."""

FLAT = float(np.log(1.25))
"""A move whose probability varies by less than this factor between the levels (a quarter) is likeliest at none."""

_LEVELS = np.arange(MEASURED[0], MEASURED[1] + 5, 10.0)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlayerLevel:
    """The strength at which a player's moves are held to be likely or not."""

    elo: float | None = None
    source: str | None = None
    """`header`, or `moves` where it was read off this game."""


@dataclass(frozen=True, eq=False)
class GamePeople:
    """What people would have played in a game, or why that is not known."""

    levels: Mapping[str, PlayerLevel] = field(default_factory=dict)
    moves: Sequence[Mapping[str, Any]] = ()
    """One after another: `probability`, `likeliest_elo`, `likeliest_edge` and `flat`."""
    about: Mapping[str, Any] = field(default_factory=dict)
    elo: Sequence[Mapping[str, Any]] = ()
    """The mover's Elo on the one axis after each move: `axis_elo`, `axis_low` and `axis_high`."""

    def of_side(self, side: str) -> dict[str, Any]:
        """Return the level of a side as JSON sends it."""
        level = self.levels.get(side, PlayerLevel())
        return {"level": level.elo, "level_source": level.source}

    def elo_after(self, ply: int | None) -> dict[str, Any]:
        """Return the mover's Elo after a move as JSON sends it; nothing where there was none."""
        return dict(self.elo[ply]) if ply is not None and ply < len(self.elo) else dict(UNKNOWN)

    def of_move(self, ply: int) -> dict[str, Any]:
        """Return what is known of a move as JSON sends it."""
        own = dict(self.moves[ply]) if ply < len(self.moves) else move_fields(None, None)
        return {**own, **self.elo_after(ply)}


def game_people(
    games: Games, row: int = 0, *, model: Human | None = None, analyses: Analyses | None = None, mass: float = 0.95
) -> GamePeople:
    """Return what people would have played in a game; where the model cannot be asked, `about` has the `problem`.

    `analyses` are of this game alone; where they are those of an effort of the Elo axis, the Elo stands on them too.
    """
    try:
        own = model or human()
        moves = played_moves(games.select([row]), model=own)
    except (MissingExtraError, InputError) as error:
        return GamePeople(about={"problem": str(error), "hint": error.hint})
    levels = _levels(moves)
    entries = moves.choices.offsets[:-1] + moves.chosen
    curves = moves.choices.log_probabilities(_LEVELS)[entries]
    at_own = np.full(len(moves), np.nan)
    for code, side in enumerate(SIDES):
        if (elo := levels[side].elo) is not None:
            made = moves.black == bool(code)
            at_own[made] = np.exp(moves.choices.log_probabilities(elo)[entries, 0])[made]
    rows = [move_fields(p, curve) for p, curve in zip(at_own.tolist(), curves, strict=True)]
    about = {"model": "human", "sha256": own.network.sha256, "range": list(MEASURED)}
    about["effort"] = effort_of(analyses, elo_axis()).name
    return GamePeople(levels, rows, about, running_elo(moves, analyses, mass=mass))


def move_fields(probability: float | None, curve: Array | None) -> dict[str, Any]:
    """Return what people say of one move: its probability at the player's level, and the level that plays it most.

    >>> move_fields(0.25, np.log(np.linspace(0.1, 0.4, len(_LEVELS))))["likeliest_edge"]
    'high'
    """
    known = None if probability is None or np.isnan(probability) else probability
    flat = None if curve is None else bool(curve.max() - curve.min() < FLAT)
    if curve is None or flat:
        return {"probability": known, "likeliest_elo": None, "likeliest_edge": None, "flat": flat}
    place = int(curve.argmax())
    edge = {0: "low", len(curve) - 1: "high"}.get(place)
    return {"probability": known, "likeliest_elo": float(_LEVELS[place]), "likeliest_edge": edge, "flat": flat}


def _levels(moves: PlayedMoves) -> dict[str, PlayerLevel]:
    """Return each side's rating in the header, else what its moves say; nothing where it had no choice."""
    curves = game_curves(moves, [SIDES[code] for code in moves.black.astype(int)])
    said = {name: curves.curves[curves.group == at].sum(axis=0) for at, name in enumerate(curves.groups)}
    found = {}
    for side in SIDES:
        rating = moves.games.headers[f"{side}_elo"][0].as_py()
        if rating:
            found[side] = PlayerLevel(float(np.clip(rating, *ELO_RANGE)), "header")
        elif side in said and said[side].any():
            weights = np.exp(said[side] - said[side].max())
            found[side] = PlayerLevel(float(ELO @ weights / weights.sum()), "moves")
        else:
            found[side] = PlayerLevel()
    return found
