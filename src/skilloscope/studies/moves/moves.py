"""One position: what people of each strength play there, what the engine thinks of it, and how hard its best move is.

In: a FEN, levels of Elo, and the work an engine is to do, if any. Out: MovesStudy: what the table, the figure and the
JSON of `skilloscope moves` show. Without an engine the probabilities stand alone: nobody says which move is best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import last_depth, move_uci, value_pawns
from skilloscope.chess.human.encoding import playable_board
from skilloscope.chess.human.model import ELO_RANGE, Human, HumanMoves, human
from skilloscope.chess.positions import positions_of
from skilloscope.core.errors import EngineError
from skilloscope.sources.judge import Work, analyse_as

SCHEMA = 1
DEFAULT_LEVELS = (1200.0, 1600.0, 2000.0, 2400.0)
Array = npt.NDArray[np.float64]
_STEP = 10.0


@dataclass(frozen=True)
class Judgement:
    """What the engine thinks of one move, mover's view."""

    place: int
    """In the engine's list; 1 is the best."""
    score: int
    """Centipawns, or moves to mate: positive where the mover mates."""
    mate: bool = False

    @property
    def pawns(self) -> float:
        """The value in pawns; a mate is worth as much as everywhere else."""
        return float(value_pawns([self.mate], [self.score])[0])


@dataclass(frozen=True, eq=False)
class MovesStudy:
    """A position with what people play there and what an engine says of it."""

    answer: HumanMoves
    model: Mapping[str, Any]
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    """The listed moves by their names; none without an engine."""
    found: Array = field(default_factory=lambda: np.zeros(0))
    """At each of `levels()`, the probability that the best move is found; empty without an engine."""
    engine: Mapping[str, Any] | None = None
    positions: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def best(self) -> list[str]:
        """The engine's best move, with those it values exactly as high."""
        top = next((judged for judged in self.judgements.values() if judged.place == 1), None)
        same = [(name, j) for name, j in self.judgements.items() if top and (j.mate, j.score) == (top.mate, top.score)]
        return [name for name, judged in sorted(same, key=lambda pair: pair[1].place)]

    @property
    def half_find(self) -> list[tuple[float, float]]:
        """The ranges of Elo in which at least half find the best move, from the weakest up."""
        return spans_of_half(levels(), self.found)

    def as_dict(self) -> dict[str, Any]:
        """Return what `moves --json` sends."""
        answer = self.answer
        return {
            "schema": SCHEMA,
            "fen": answer.fen,
            "side": "white" if playable_board(answer.fen).turn else "black",
            "elo": list(answer.elo),
            "range": list(ELO_RANGE),
            "model": dict(self.model),
            "engine": None if self.engine is None else dict(self.engine),
            "positions": dict(self.positions),
            "moves": [self._row(at) for at in range(len(answer.moves))],
            "best": self._best(),
            "notes": list(self.notes),
        }

    def _row(self, at: int) -> dict[str, Any]:
        name = self.answer.moves[at]
        judged = self.judgements.get(name)
        return {
            "move": name,
            "san": self.answer.san[at],
            "probability": self.answer.probability[at].tolist(),
            "place": judged.place if judged else None,
            "value_cp": judged.score if judged and not judged.mate else None,
            "mate": judged.score if judged and judged.mate else None,
        }

    def _best(self) -> dict[str, Any] | None:
        """Return who finds the best move; None where no engine says which it is."""
        best = self.best
        if not best:
            return None
        rows = [self.answer.moves.index(name) for name in best]
        spans = self.half_find
        from_weak = bool(spans) and spans[0][0] <= ELO_RANGE[0]
        return {
            "moves": best,
            "san": [self.answer.san[row] for row in rows],
            "probability": self.answer.probability[rows].sum(axis=0).tolist(),
            "half_find": [list(span) for span in spans],
            "difficulty": spans[0][0] if spans and not from_weak else None,
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.moves.figures import moves_figures

        return moves_figures(self)


def moves_study(
    fen: str, elo: float | Sequence[float] = DEFAULT_LEVELS, *, work: Work | None = None, model: Human | None = None
) -> MovesStudy:
    """Return what people play in a position, with the engine's answer as `work` says; None asks no engine.

    Where no engine is found, and none was named, the study goes on without one and a note says so.
    """
    own = model or human()
    answer = own.moves(fen, elo)
    about = {"model": "human", "sha256": own.network.sha256}
    if work is None:
        return MovesStudy(answer, about, notes=["no engine was asked"])
    try:
        analyses = analyse_as(work, positions_of([playable_board(fen)]))
    except EngineError as error:
        if work.engine is not None:
            raise
        return MovesStudy(answer, about, notes=[f"without an engine's values: {error}"])
    study = MovesStudy(answer, about, _judgements(analyses))
    return replace(
        study,
        found=_found(own, fen, study.best),
        engine=analyses.settings,
        positions={name: getattr(analyses, name) for name in ("searched", "cached", "imported", "failed")},
        notes=[] if analyses.answered.all() else ["the engine gave no answer"],
    )


def levels() -> Array:
    """Return the Elos at which it is asked whether half find a move."""
    return np.arange(ELO_RANGE[0], ELO_RANGE[1] + _STEP / 2, _STEP)


def spans_of_half(elo: Array, found: Array) -> list[tuple[float, float]]:
    """Return the ranges in which the probability is at least ½, their ends between two levels by a straight line.

    >>> spans_of_half(np.array([1000.0, 1100, 1200, 1300]), np.array([0.4, 0.6, 0.6, 0.2]))
    [(1050.0, 1225.0)]
    """
    spans: list[tuple[float, float]] = []
    begin = None
    for at in range(len(found)):
        above = found[at] >= 0.5
        if above and begin is None:
            begin = float(elo[0]) if at == 0 else _crossing(elo, found, at)
        if not above and begin is not None:
            spans.append((begin, _crossing(elo, found, at)))
            begin = None
    return spans if begin is None else [*spans, (begin, float(elo[-1]))]


def _crossing(elo: Array, found: Array, at: int) -> float:
    share = (0.5 - found[at - 1]) / (found[at] - found[at - 1])
    return float(elo[at - 1] + share * (elo[at] - elo[at - 1]))


def _judgements(analyses: Analyses) -> dict[str, Judgement]:
    """Return the moves that the engine lists at its last depth."""
    lines = last_depth(analyses.answer(0))
    ranked = ((int(line["rank"]), line) for line in lines)
    return {move_uci(line["move"]): Judgement(place, int(line["score"]), bool(line["mate"])) for place, line in ranked}


def _found(model: Human, fen: str, best: Sequence[str]) -> Array:
    everywhere = model.moves(fen, levels().tolist())
    return np.asarray(everywhere.probability[[everywhere.moves.index(name) for name in best]].sum(axis=0))
