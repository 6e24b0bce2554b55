"""One position: what people of each strength play there, what the engine thinks of it, and how hard its best move is.

In: a FEN, levels of Elo, and the work an engine is to do, if any. Out: a MovesStudy, which `skilloscope moves` shows.
Without an engine there are only the probabilities; which move is best is then unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import chess
import numpy as np

from skilloscope.chess.boards import playable_board
from skilloscope.chess.engine.lines import last_depth
from skilloscope.chess.human.model import Human, HumanMoves, human
from skilloscope.chess.moves import move_uci
from skilloscope.chess.pgn.facts import FIDE, checked_pool
from skilloscope.chess.pgn.positions import positions_of
from skilloscope.core.columns import Array
from skilloscope.core.errors import EngineError
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.load import EngineJob
from skilloscope.models.joint import ELO_RANGE, elo_range
from skilloscope.report.charts import Bars, Figure, Lines, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, engine_line

DEFAULT_LEVELS = (1200.0, 1600.0, 2000.0, 2400.0)
_STEP = 10.0
_MOST_BARS = 8
_SLOW = "The probabilities are those of slow over-the-board games; in blitz people play differently."
_CAVEATS = (
    "The moves before this position are unknown: a FEN does not hold them, and people remember how they got there.",
    "In a position that people of a level never reach, the model guesses what they would play.",
    "The best move is the engine's, at its own depth. That half find it is a share of people, not of attempts.",
)


@dataclass(frozen=True)
class Judgement:
    """What the engine thinks of one move, mover's view."""

    place: int  # in the engine's list; 1 is the best
    score: int  # centipawns, or moves to mate: positive where the mover mates
    mate: bool = False


@dataclass(frozen=True)
class LegalMove:
    """A legal move: how many of each level play it, and the engine's value if it lists the move."""

    move: str
    san: str
    probability: Sequence[float]
    place: int | None = None
    value_cp: int | None = None
    mate: int | None = None

    @property
    def value_text(self) -> str:
        """The engine's value in pawns, or the moves to mate."""
        if self.mate is not None:
            return f"#{self.mate}"
        return "–" if self.value_cp is None else f"{self.value_cp / 100:+.2f}"


@dataclass(frozen=True)
class BestMove:
    """The engine's best move, with those it values exactly as high, and who finds one of them."""

    moves: Sequence[str]
    san: Sequence[str]
    probability: Sequence[float]
    half_find: Sequence[tuple[float, float]]  # the ranges of Elo in which at least half find it, from the weakest up
    difficulty: float | None  # the Elo from which half find it; None where no level does, or the weakest does already

    def __str__(self) -> str:
        low, high = ELO_RANGE
        spans = [_span(begin, end, low, high) for begin, end in self.half_find]
        where = " and ".join(spans) or f"at no level between {low:.0f} and {high:.0f}"
        return f"best {' or '.join(self.san)}: found by half of the people {where}"


@dataclass(frozen=True, eq=False)
class MovesStudy(Study):
    """A position with what people play there and what an engine says of it."""

    answer: HumanMoves
    model: Mapping[str, str]
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    """The listed moves by their names; none without an engine."""
    found: Array = field(default_factory=lambda: np.zeros(0))
    """At each of `levels()`, the probability that the best move is found; empty without an engine."""
    engine: Mapping[str, object] | None = None
    positions: Mapping[str, int] = field(default_factory=dict)

    FIELDS: ClassVar = (
        "answer.fen",
        "side",
        "answer.elo",
        "range",
        "model",
        "engine",
        "positions",
        "moves",
        "best",
        "notes",
    )
    ROWS: ClassVar = "moves"

    @property
    def range(self) -> tuple[float, float]:
        """The levels that the model knows."""
        return elo_range(self.pool)

    @property
    def caveats(self) -> Sequence[str]:
        """What the study cannot tell; only the over-the-board model says nothing about fast games."""
        return [_CAVEATS[0], *([_SLOW] if self.pool == FIDE else []), *_CAVEATS[1:]]

    @property
    def pool(self) -> str:
        """Whose levels these are."""
        return self.model.get("pool", FIDE)

    @property
    def side(self) -> str:
        """Who is to move."""
        return "white" if playable_board(self.answer.fen).turn else "black"

    @property
    def notes(self) -> Sequence[str]:
        """The warnings, under the name that JSON has for them."""
        return self.warnings

    @property
    def moves(self) -> Sequence[LegalMove]:
        """Every legal move, the likeliest first."""
        found = []
        for name, san, p in zip(self.answer.moves, self.answer.san, self.answer.probability.tolist(), strict=True):
            judged = self.judgements.get(name)
            value = judged.score if judged and not judged.mate else None
            mate = judged.score if judged and judged.mate else None
            found.append(LegalMove(name, san, p, judged.place if judged else None, value, mate))
        return found

    @property
    def best(self) -> BestMove | None:
        """Who finds the best move; None where no engine says which it is."""
        top = next((judged for judged in self.judgements.values() if judged.place == 1), None)
        if top is None:
            return None
        same = [(j.place, name) for name, j in self.judgements.items() if (j.mate, j.score) == (top.mate, top.score)]
        rows = [self.answer.moves.index(name) for _, name in sorted(same)]
        spans = spans_of_half(levels(), self.found)
        from_weak = bool(spans) and spans[0][0] <= ELO_RANGE[0]
        return BestMove(
            moves=[self.answer.moves[row] for row in rows],
            san=[self.answer.san[row] for row in rows],
            probability=self.answer.probability[rows].sum(axis=0).tolist(),
            half_find=spans,
            difficulty=spans[0][0] if spans and not from_weak else None,
        )

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"What people play: {self.answer.fen}"

    def shown_moves(self, top: int | None) -> list[LegalMove]:
        """Return the likeliest moves, and the engine's best wherever it is in the list."""
        moves = self.moves
        return [move for at, move in enumerate(moves) if top is None or at < top or move.place == 1]

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the moves with a column for each level; with `top` the less likely ones are one row."""
        rows = self.shown_moves(top)
        names = {move.move for move in rows}
        rest = [move for move in self.moves if move.move not in names]
        if rest:
            together = np.sum([move.probability for move in rest], axis=0).tolist()
            rows.append(LegalMove("", f"{len(rest)} others", together))
        columns: list[Column[LegalMove]] = [Column("move", lambda move: move.san, label=True)]
        columns += [_level_column(at, level) for at, level in enumerate(self.answer.elo)]
        notes = [str(self.best or "")]
        if self.engine:
            columns.append(Column("engine", lambda move: move.value_text if move.move else ""))
            notes.append(f"engine: pawns, the mover's view; {engine_line(self.engine)}")
        title = f"what people {'' if self.pool == FIDE else f'of {self.pool} '}play: {self.answer.fen}"
        return [Table.of(title, rows, columns, notes=notes, faded=lambda move: not move.move)]

    def figures(self) -> Sequence[Figure]:
        """Return the likeliest moves as bars, and the share of people who find the best move by strength."""
        rows, best = self.shown_moves(_MOST_BARS), self.best
        names = [f"{move.san}{' ★' if best and move.move in best.moves else ''}" for move in rows]
        by_level = zip(self.answer.elo, np.array([move.probability for move in rows]).T, strict=True)
        series = [(f"Elo {level:g}", (100 * shares).tolist()) for level, shares in by_level]
        star = " ★ is the engine's best." if best else ""
        caption = f"How often people of each strength play the likeliest moves.{star}"
        bars = Figure("What people play", Bars(names, series, "played by, %"), caption)
        if not best:
            return [bars]
        x_axis, y_axis = elo_axis(self.pool).axis, "find the best move, %"
        line = Series("", levels(), 100 * self.found)
        finding = Lines([line], x_axis, y_axis, height=2.8, y_limits=(0, 100), levels=[50])
        caption = "How many people of each strength find the engine's best move."
        return [bars, Figure("Who finds the best move", finding, caption, f"{best}")]

    def sections(self) -> Sequence[Section]:
        """Return the figures, then every legal move."""
        (table,) = self.tables()
        return [*map(Section.from_figure, self.figures()), Section.from_table(table, "Every legal move")]


def moves_study(
    fen: str | chess.Board,
    elo: float | Sequence[float] = DEFAULT_LEVELS,
    *,
    work: EngineJob | None = None,
    model: Human | None = None,
    pool: str = FIDE,
) -> MovesStudy:
    """Return what people of a pool play in a position, with the engine's answer as `work` says; None asks no engine.

    A board also knows the move before, which people answer. Where no engine is found, and none was named, the study
    goes on without one and a note says so.
    """
    own = model or human(checked_pool(pool))
    answer = own.moves(fen, elo)
    about = {"model": "human", "sha256": own.network.sha256, **({} if own.pool == FIDE else {"pool": own.pool})}
    if work is None:
        return MovesStudy(answer, about, warnings=["no engine was asked"])
    try:
        analyses = work.analyse(positions_of([playable_board(answer.fen)]))
    except EngineError as error:
        if work.engine is not None:
            raise
        return MovesStudy(answer, about, warnings=[f"without an engine's values: {error}"])
    lines = last_depth(analyses.answer(0))
    known = [(line["move"], int(line["rank"]), int(line["score"]), bool(line["mate"])) for line in lines]
    judgements = {move_uci(move): Judgement(place, score, mate) for move, place, score, mate in known}
    study, everywhere = MovesStudy(answer, about, judgements), own.moves(fen, levels().tolist())
    best = [everywhere.moves.index(name) for name in (study.best.moves if study.best else [])]
    return replace(
        study,
        found=everywhere.probability[best].sum(axis=0),
        engine=analyses.settings,
        positions={name: getattr(analyses, name) for name in ("searched", "cached", "imported", "failed")},
        warnings=[] if analyses.answered.all() else ["the engine gave no answer"],
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


def _level_column(at: int, level: float) -> Column[LegalMove]:
    return Column(f"Elo {level:g}", lambda move: f"{100 * move.probability[at]:.1f} %")


def _span(begin: float, end: float, low: float, high: float) -> str:
    if begin <= low:
        return f"at every level between {low:.0f} and {high:.0f}" if end >= high else f"up to Elo {end:.0f}"
    return f"from Elo {begin:.0f} on" if end >= high else f"between Elo {begin:.0f} and {end:.0f}"
