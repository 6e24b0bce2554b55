"""From files to gains: the values that games bring along, or an engine's, before and after every move.

In: PGN files, games with evaluations as JSON lines, and the work that is to be done on them. Out: Gained: what every
position is worth, the gains, and the choice sets where the engine listed several moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.analysis.analyses import Analyses, decisions
from skilloscope.chess.analysis.evaluations import (
    Evaluations,
    best_of_rows,
    evaluations_from_analyses,
    evaluations_from_comments,
    final_value,
    read_evaluated,
    share_with_comments,
)
from skilloscope.chess.engine.settings import FER12, Settings
from skilloscope.chess.moves import MATE_CAP, board_of_fen, make_move, move_of_code, position_fen
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.positions import opening_reason, positions
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions, Losses
from skilloscope.decision.decisions import group_codes
from skilloscope.inputs.load import EngineJob, Kind, by_kind
from skilloscope.models.gain import GainHistogram

VALUES = ("auto", "comments", "engine")
"""Whose values are used: those of the games' comments, an engine's, or whichever is there."""

ENGINE_GAINS = ("auto", "peak", "agreed", "searched")
"""The engine's own distribution of gain: a single peak, or measured (see `engine_gains`)."""

FEWEST_AGREED = 20  # moves of the engine's own choice, from which `auto` takes their gains for the engine's

AFFORDABLE: Settings = replace(FER12, depth=13)
"""FER12's search, one line before and after every move, to a depth that a laptop can pay: a twentieth of depth 20."""

_OPENING = 12  # moves of each side that the agent leaves out: they are remembered rather than decided

_MOST = 0.5  # comments are used, without being asked for, where more than this share of the moves carries one


@dataclass(frozen=True, eq=False)
class Gained:
    """The values of all positions, the gains that follow, and where they come from."""

    evaluations: Evaluations
    losses: Losses
    decisions: Decisions | None = None  # the choice sets, where an engine listed several moves
    analyses: Analyses | None = None  # the engine's answers, where it was asked

    @classmethod
    def of(cls, evaluations: Evaluations) -> "Gained":
        """Return the gains that follow from the values."""
        return cls(evaluations, evaluations.losses())

    @property
    def games(self) -> Games:
        """The games."""
        return self.evaluations.games

    def game_of_move(self) -> npt.NDArray[np.int64]:
        """Return the row of the game of each known gain."""
        rows = {name: row for row, name in enumerate(self.games.headers["game"].to_pylist())}
        labels, codes = group_codes([self.losses.context.column("game")])
        return np.array([rows[label] for label in labels], dtype=np.int64)[codes] if labels else codes.astype(np.int64)

    def about(self) -> dict[str, Any]:
        """Return whose values these are, as every report sends it."""
        known = self.evaluations.about
        settings = dict(known.get("settings", {}))
        return {"source": known["source"], **settings, "mate_cap": known["mate_cap"], "notes": known.get("notes", [])}

    def positions(self) -> dict[str, int]:
        """Return how many different positions were searched, taken from the store, imported, or failed."""
        names = ("searched", "cached", "imported", "failed")
        return {name: getattr(self.analyses, name) if self.analyses else 0 for name in names}


@dataclass(frozen=True, eq=False)
class EngineGains:
    """How the engine itself gains: its gains, the row of the game of each, and how they were found."""

    kind: str
    gains: npt.NDArray[np.float64]
    game: npt.NDArray[np.int64]

    @property
    def histogram(self) -> GainHistogram:
        """The distribution."""
        return GainHistogram.from_gains(self.gains)


NEVER_ERRS = EngineGains("peak", np.zeros(1), np.zeros(1, dtype=np.int64))
"""The paper's engine: a single peak, which never gains or loses."""


def gains_of_files(
    paths: Sequence[Path], work: EngineJob, *, values: str = "auto", mate_cap: float = MATE_CAP
) -> Gained:
    """Return the gains of PGN files and of games with evaluations as JSON lines, together."""
    found = by_kind(paths, Kind.GAMES, Kind.EVALUATED)
    parts = [_read_evaluated(path, mate_cap) for path in found[Kind.EVALUATED]]
    if not found[Kind.GAMES]:
        return Gained.of(_together(parts))
    gained = gains_of_games(read_games(found[Kind.GAMES]), work, values=values, mate_cap=mate_cap)
    if not parts:
        return gained
    together = _together([gained.evaluations, *parts])
    return replace(gained, evaluations=together, losses=together.losses())


def gains_of_one(
    path: Path, number: int, work: EngineJob, *, values: str = "auto", mate_cap: float = MATE_CAP
) -> Gained:
    """Return the gains of one game of a file, by its number there, which its id ends in; no other is analysed."""
    if by_kind([path], Kind.GAMES, Kind.EVALUATED)[Kind.EVALUATED]:
        whole = _read_evaluated(path, mate_cap)
        row = _row(whole.games, number)
        first, last = int(whole.starts[row]), int(whole.games.offsets[row + 1]) + row + 1
        return Gained.of(replace(whole, games=whole.games.select([row]), values=whole.values[first:last]))
    games = read_games([path])
    games.refuse_empty()
    return gains_of_games(games.select([_row(games, number)]), work, values=values, mate_cap=mate_cap)


def _row(games: Games, number: int) -> int:
    """Return the row of the game with this number in its file: games that could not be read have one too."""
    numbers: list[int] = games.headers["index"].to_pylist()
    if number not in numbers:
        hint = f"{len(games):,} games could be read, numbered {min(numbers)} to {max(numbers)}"
        raise InputError(f"no game number {number} that could be read", hint=hint)
    return numbers.index(number)


def check_values(values: str, mate_cap: float) -> None:
    """Refuse what is no source of values, and a mate that is worth nothing."""
    if values not in VALUES:
        raise OptionError(f"no values {values!r}", hint=f"whose values: {', '.join(VALUES)}")
    if not mate_cap > 0:
        raise OptionError(f"a mate of {mate_cap} pawns", hint="give more than 0; 39 is the paper's")


def gains_of_games(games: Games, work: EngineJob, *, values: str = "auto", mate_cap: float = MATE_CAP) -> Gained:
    """Return the gains of games by their comments (`auto`: if most moves have one), else by the engine of `work`."""
    games.refuse_empty()
    check_values(values, mate_cap)
    share = share_with_comments(games)
    if values == "comments" and not share:
        raise InputError("no move carries an [%eval] comment", hint="use --values engine")
    if values == "comments" or (values == "auto" and share > _MOST):
        return Gained.of(evaluations_from_comments(games, mate_cap=mate_cap))
    settings = replace(work.settings, scope="every position")
    analyses = replace(work, settings=settings).analyse(positions(games, scope=settings.scope))
    evaluations = evaluations_from_analyses(analyses, mate_cap=mate_cap)
    several = None
    if settings.multipv > 1:
        batch = decisions(analyses, mate_cap=mate_cap)
        number = np.array([int(fen.split(" ")[5]) for fen in batch.context.column("fen").to_pylist()], dtype=np.int64)
        several = batch.select(number > _OPENING, reason=opening_reason(_OPENING))
    return Gained(evaluations, evaluations.losses(), several, analyses)


def engine_gains(gained: Gained, kind: str, work: EngineJob) -> EngineGains:
    """Return the engine's own distribution of gain, which FER12 leaves to future work. [FER12 sect. 6, 10]

    `peak` is the paper's single peak; `agreed` takes the moves that are the engine's own first choice, found by people;
    `searched` has the engine judge the position after its own first choice everywhere, at twice the searches; `auto` is
    `agreed` where at least FEWEST_AGREED such moves are known, else `peak`.
    """
    if kind not in ENGINE_GAINS:
        raise OptionError(f"no engine gains {kind!r}", hint=f"they are {', '.join(ENGINE_GAINS)}")
    known = gained.analyses is not None and "first_choice" in gained.losses.context.column_names
    if kind == "peak" or (kind == "auto" and not known):
        return NEVER_ERRS
    if not known:
        raise InputError(
            "what the engine itself would have played is not known from evaluations",
            hint="use the single peak, or let an engine value the games: --values engine",
        )
    if kind == "searched":
        found = _searched_gains(gained, work)
    else:
        own = gained.losses.context.column("first_choice").fill_null(False).to_numpy()
        found = EngineGains("agreed", gained.losses.gain[own], gained.game_of_move()[own])
    if kind == "auto" and len(found.gains) < FEWEST_AGREED:
        return NEVER_ERRS
    if not len(found.gains):
        raise InputError("no move of the engine has a known gain")
    return found


def _searched_gains(gained: Gained, work: EngineJob) -> EngineGains:
    """Return the gain of the engine's first choice in every position where it was to move, the last one excepted."""
    analyses = gained.analyses
    assert analyses is not None
    mate_cap = gained.evaluations.about["mate_cap"]
    batch = analyses.positions
    at = np.flatnonzero(analyses.answered & (batch.played != 0))
    seen = gained.evaluations
    before = seen.values[seen.starts[batch.game[at]] + batch.ply[at]] * np.where(batch.mover[at] == 0, 1.0, -1.0)
    after = np.full(len(at), np.nan)
    rows, fens, legal = [], [], []
    for place, position in enumerate(at.tolist()):
        board = board_of_fen(batch.fen[position].as_py())
        lines = analyses.answer(position)
        code = int(lines[(lines["depth"] == lines["depth"].max()) & (lines["rank"] == 1)]["move"][0])
        make_move(board, move_of_code(code))
        final = final_value(board, mate_cap)
        if final is not None:
            after[place] = abs(final)
        else:
            rows.append(place)
            fens.append(position_fen(board))
            legal.append(board.legal_moves.count())
    chosen = batch.select(at[rows])
    children = replace(
        chosen,
        fen=pa.array(fens, type=pa.string()),
        n_legal=np.array(legal, dtype=np.int32),
        mover=(1 - chosen.mover).astype(np.int8),
        played=np.zeros(len(fens), dtype=np.uint16),
        tally=Tally(),
    )
    answers = replace(work, settings=replace(work.settings, scope="every position")).analyse(children)
    best, _ = best_of_rows(answers, mate_cap)
    after[rows] = np.where(answers.answered, -best[answers.row] if len(best) else np.nan, np.nan)
    known = np.isfinite(after) & np.isfinite(before)
    return EngineGains("searched", np.round(after[known] - before[known], 9), batch.game[at][known].astype(np.int64))


def _read_evaluated(path: Path, mate_cap: float) -> Evaluations:
    evaluations = read_evaluated(path, mate_cap=mate_cap)
    evaluations.games.refuse_empty()
    return evaluations


def _together(parts: Sequence[Evaluations]) -> Evaluations:
    if len(parts) == 1:
        return parts[0]
    sources = dict.fromkeys(part.about["source"] for part in parts)
    return Evaluations(
        Games.concat([part.games for part in parts]),
        np.concatenate([part.values for part in parts]),
        None,
        Tally.sum(part.tally for part in parts),
        {**parts[0].about, "source": " and ".join(sources)},
    )
