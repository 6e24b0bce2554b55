"""One game move by move: evaluation, gain, and both players' strength against the engine after every move. [FER12]

In: Gained, and the row of a game. Out: GameStudy: what the table, the figure and the JSON of `skilloscope game` show.

Where the engine listed several moves, the agent's competence after every decision stands beside it. [DFH13] And where
the human model was asked, how likely each move was among people of the player's level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.chess960 import board_of_fen
from skilloscope.chess.engine.lines import move_of_code
from skilloscope.chess.evaluations import Evaluations
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.models.gain import Curve, GainHistogram, elo_difference, expected_score
from skilloscope.ratings.gain.move_interval import between_interval
from skilloscope.ratings.gain.perceived import Running, running_strength
from skilloscope.sources.gains import NEVER_ERRS, EngineGains, Gained
from skilloscope.studies.game.people import GamePeople
from skilloscope.studies.within.within import running_competence

SCHEMA = 1
Array = npt.NDArray[np.float64]
_HEADERS = ("game", "event", "site", "date", "round", "white", "black", "white_elo", "black_elo", "result", "start_fen")


@dataclass(frozen=True, eq=False)
class GameSide:
    """One player of the game: the plies moved at, the gains in pawns (NaN where unknown), the running strength."""

    player: str
    side: str
    ply: npt.NDArray[np.int64]
    gain: Array
    running: Running

    @property
    def histogram(self) -> GainHistogram:
        """The known gains."""
        return GainHistogram.from_gains(self.gain[np.isfinite(self.gain)])


@dataclass(frozen=True, eq=False)
class GameStudy:
    """A game as it was played, with what every position was worth."""

    header: Mapping[str, Any]
    san: Sequence[str]
    values: Array
    """Pawns, white's view: before the first move, and after each."""
    sides: Sequence[GameSide]
    """White, then Black."""
    about: Mapping[str, Any]
    skipped: Mapping[str, int]
    curve: Curve = "normal"
    engine_elo: float | None = None
    engine_gains: str = "peak"
    competence: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """The agent's c after the decision at a ply, with its sd and interval."""
    mover: npt.NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    """Who made each move: 0 white, 1 black."""
    first_ply: int = 0
    """How many plies were played before the game's first move: more than 0 where it starts from another position."""
    people: GamePeople = field(default_factory=GamePeople)
    mass: float = 0.95

    @property
    def between(self) -> dict[str, Any] | None:
        """White's expected score against Black at the end, with the difference and its interval."""
        white, black = (side.gain for side in self.sides)
        return between_fields(white, black, self.curve, self.mass)

    def between_after(self, ply: int) -> dict[str, Any] | None:
        """Return the same after a move, from the moves of both sides up to it."""
        white, black = (side.gain[: int(np.searchsorted(side.ply, ply, side="right"))] for side in self.sides)
        return between_fields(white, black, self.curve, self.mass)

    def as_dict(self) -> dict[str, Any]:
        """Return what `game --json` sends."""
        return {
            "schema": SCHEMA,
            "game": dict(self.header),
            "engine": {**self.about, "elo": self.engine_elo, "distribution": self.engine_gains},
            "curve": self.curve,
            "human": dict(self.people.about),
            "start_value_cp": _centipawns(self.values[0]),
            "moves": [self._move(ply) for ply in range(len(self.san))],
            "players": [self._player(side) for side in self.sides],
            "white_against_black": self.between,
            "mass": self.mass,
            "skipped": dict(self.skipped),
        }

    def _move(self, ply: int) -> dict[str, Any]:
        side = self.sides[int(self.mover[ply])]
        at = int(np.searchsorted(side.ply, ply))
        value = self.values[ply + 1]
        d = float(side.running.elo_difference[at])
        c = self.competence.get(ply, {})
        return {
            "ply": ply,
            "number": (ply + self.first_ply) // 2 + 1,
            "player": side.player,
            "side": side.side,
            "san": self.san[ply],
            "value_cp": _centipawns(value if side.side == "white" else -value),
            "white_value_cp": _centipawns(value),
            "gain_cp": _centipawns(side.gain[at]),
            **difference_fields(float(side.running.expected_score[at]), d),
            **interval_fields(side.running, at),
            "white_against_black": self.between_after(ply),
            "strength": self._strength(d),
            **{name: c.get(name) for name in ("c", "c_low", "c_high")},
            **self.people.of_move(ply),
        }

    def _player(self, side: GameSide) -> dict[str, Any]:
        own = side.histogram
        last = len(side.ply) - 1
        p = float(side.running.expected_score[last]) if own.moves else float("nan")
        d = float(side.running.elo_difference[last]) if own.moves else float("nan")
        fields = difference_fields(p, d)
        decided = [self.competence[ply] for ply in side.ply.tolist() if ply in self.competence]
        c = decided[-1] if decided else {}
        return {
            "player": side.player,
            "side": side.side,
            "decisions": own.moves,
            "unknown": len(side.gain) - own.moves,
            "mean_gain": own.mean if own.moves else None,
            "expected_score_against_engine": fields["expected_score"],
            "elo_difference_to_engine": fields["elo_difference"],
            "infinite": fields["infinite"],
            **interval_fields(side.running, last if own.moves else None),
            "strength": self._strength(d),
            **{name: c.get(name) for name in ("c", "c_low", "c_high")},
            **self.people.of_side(side.side),
            **self.people.elo_after(int(side.ply[-1]) if len(side.ply) else None),
        }

    def _strength(self, d: float) -> float | None:
        """r' = r̄_e + d, where the engine's strength was given. [FER12 Algorithm 4, step 4]"""
        return None if self.engine_elo is None or not np.isfinite(d) else self.engine_elo + d

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.game.figures import game_study_figures

        return game_study_figures(self)


def game_study(
    gained: Gained,
    row: int = 0,
    *,
    engine: EngineGains = NEVER_ERRS,
    engine_elo: float | None = None,
    curve: Curve = "normal",
    people: GamePeople | None = None,
    mass: float = 0.95,
) -> GameStudy:
    """Return one game of the gained ones, by its row; `people` is what the human model says of it."""
    games = gained.games
    if not 0 <= row < len(games):
        raise InputError(f"no game number {row + 1}", hint=f"there are {len(games):,}; --index counts from 1")
    header = {name: games.headers[name][row].as_py() for name in _HEADERS}
    start = games.headers["start_fen"][row].as_py()
    own = slice(int(games.offsets[row]), int(games.offsets[row + 1]))
    mover = games.movers[own]
    first = int(gained.evaluations.starts[row])
    values = gained.evaluations.values[first : first + len(mover) + 1]
    gain = np.round(np.diff(values) * np.where(mover == 0, 1.0, -1.0), 9)
    sides = []
    for code, side in enumerate(("white", "black")):
        ply = np.flatnonzero(mover == code)
        name = header[side] or side.capitalize()
        running = running_strength(gain[ply], engine.histogram, curve=curve, mass=mass)
        sides.append(GameSide(name, side, ply, gain[ply], running))
    skipped = _game_skipped(gained.evaluations, gain)
    competence = _competence(gained.decisions, header["game"])
    san = written_moves(games.moves[own], start)
    return GameStudy(
        header=header,
        san=san,
        values=values,
        sides=sides,
        about=gained.about(),
        skipped=skipped,
        curve=curve,
        engine_elo=engine_elo,
        engine_gains=engine.kind,
        competence=competence,
        mover=mover,
        first_ply=board_of_fen(start).ply() if start else 0,
        people=people or GamePeople(),
        mass=mass,
    )


def written_moves(codes: npt.NDArray[np.uint16], start: str | None) -> list[str]:
    """Return the moves of a game in standard algebraic notation."""
    board = board_of_fen(start)
    moves = [move_of_code(code) for code in codes.tolist()]
    return [board.san_and_push(move) for move in moves]


def difference_fields(p: float, d: float) -> dict[str, Any]:
    """Return an expected score and its Elo difference for JSON: an infinite one is null, and named in `infinite`.

    >>> difference_fields(0.0, float("-inf"))
    {'expected_score': 0.0, 'elo_difference': None, 'infinite': 'below'}
    """
    infinite = ("above" if d > 0 else "below") if np.isinf(d) else None
    return {
        "expected_score": float(p) if np.isfinite(p) else None,
        "elo_difference": float(d) if np.isfinite(d) else None,
        "infinite": infinite,
    }


def interval_fields(running: Running, at: int | None) -> dict[str, float | None]:
    """Return the ends of the difference's interval after a move for JSON; an infinite end is null."""
    ends = (np.nan, np.nan) if at is None else (running.low[at], running.high[at])
    return {name: float(end) if np.isfinite(end) else None for name, end in zip(("low", "high"), ends, strict=True)}


def between_fields(white: Array, black: Array, curve: Curve, mass: float) -> dict[str, Any] | None:
    """Return White's expected score against Black from the known gains of both; None where either has none."""
    own, other = (side[np.isfinite(side)] for side in (white, black))
    if not (len(own) and len(other)):
        return None
    p = expected_score(GainHistogram.from_gains(own), GainHistogram.from_gains(other))
    low, high = (float(end) if np.isfinite(end) else None for end in between_interval(own, other, mass, curve))
    return {**difference_fields(p, elo_difference(p, curve)), "low": low, "high": high}


def _game_skipped(evaluations: Evaluations, gain: Array) -> dict[str, int]:
    unknown = int(np.isnan(gain).sum())
    faults = {reason: n for reason, n in evaluations.games.tally.as_dict().items() if n}
    return {**({"gain unknown": unknown} if unknown else {}), **faults}


def _competence(batch: Decisions | None, game: str) -> dict[int, dict[str, float]]:
    if batch is None:
        return {}
    own = {str(label): part for label, part in batch.group_by("game").items()}.get(game)
    if own is None:
        return {}
    running = running_competence(own)
    return {
        int(running.ply[at]): {
            "c": float(running.c[at]),
            "c_low": float(running.low[at]),
            "c_high": float(running.high[at]),
        }
        for at in range(len(running))
    }


def _centipawns(pawns: float) -> int | None:
    return int(np.rint(pawns * 100)) if np.isfinite(pawns) else None
