"""The moves that are screened: who made each, at which rating, and what is counted of it.

In: games, what an engine says of their positions (or nothing), and where the ratings come from. Out: `ScreenedMoves`.
Only moves after the opening in which there was a choice take part; with an engine, only those it answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.human.model import ELO_RANGE
from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError, Tally
from skilloscope.ratings.elo_axis.axis import Effort
from skilloscope.results.csv_text import read_csv
from skilloscope.sources.labels import movers_of
from skilloscope.sources.people import GAMES_AT_ONCE, UNPLAYABLE, in_parts, playable_games
from skilloscope.sources.strength import PlayedMoves, played_moves
from skilloscope.studies.screen.statistics import Statistic, human_statistics, joint_statistics

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
_OTHER = 2  # plies less of search: whose first choice stands for another engine's


@dataclass(frozen=True)
class GivenRatings:
    """Where the ratings come from: the games' headers, one number for everybody, or a file with a row for each."""

    name: str = "header"
    everybody: float | None = None
    by_player: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The rating of each player and its standard error."""

    @classmethod
    def from_text(cls, text: str) -> GivenRatings:
        """Read `header`, a number, or the name of a CSV file with the columns player, elo and perhaps sd.

        >>> GivenRatings.from_text("1800").everybody
        1800.0
        """
        if text == "header":
            return cls()
        try:
            number = float(text)
        except ValueError:
            return cls(Path(text).name, by_player=_read_ratings(Path(text)))
        return cls(text, _in_range(number, text))

    def of(self, moves: PlayedMoves, people: Sequence[str | None]) -> tuple[Array, Array]:
        """Return the rating of who made each move and its error; NaN where there is none."""
        if self.everybody is not None:
            return np.full(len(moves), self.everybody), np.zeros(len(moves))
        if self.by_player:
            pairs = [self.by_player.get(name or "", (np.nan, 0.0)) for name in people]
            both = np.array(pairs, dtype=float).reshape(-1, 2)
            return both[:, 0], both[:, 1]
        given = moves.games.by_mover(moves.game, moves.black.astype(np.int8))["elo"].to_pylist()
        elo = np.array([np.nan if one is None else float(one) for one in given], dtype=float)
        return np.where((elo >= ELO_RANGE[0]) & (elo <= ELO_RANGE[1]), elo, np.nan), np.zeros(len(moves))


@dataclass(frozen=True, eq=False, repr=False)
class ScreenedMoves:
    """Moves with who made each, where, at which rating, and the statistics of all of them."""

    games: Games
    game: Places
    ply: Places
    player: npt.NDArray[np.object_]
    event: npt.NDArray[np.object_]
    elo: Array
    elo_sd: Array
    statistics: dict[str, Statistic]
    tally: Tally
    missing: dict[str, str]
    """Players of whom no move takes part, with the reason."""

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"<ScreenedMoves: {len(self):,} of {len(set(self.player.tolist())):,} players>"


@dataclass(frozen=True, eq=False)
class _Some:
    """What a few games give."""

    rows: Places
    columns: dict[str, npt.NDArray[Any]]
    statistics: dict[str, Statistic]
    reasons: Counter[tuple[str | None, str]]


def screened_moves(
    games: Games,
    analyses: Analyses | None,
    effort: Effort,
    ratings: GivenRatings,
    *,
    opening_moves: int = 12,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> ScreenedMoves:
    """Return the moves that can be screened, with their statistics."""
    playable = playable_games(games)
    tally, parts, reasons = Tally(), [], Counter[tuple[str | None, str]]()
    tally.count(UNPLAYABLE, int((~playable).sum()))
    asked = _Asked(games, analyses, effort, ratings, opening_moves=opening_moves, playable=playable)
    for part in in_parts(asked.some, len(games), workers):
        reasons += part.reasons
        if len(part.columns["game"]):
            parts.append(part)
        if progress:
            progress(int(part.rows[-1]) + 1, len(games))
    for (_, reason), n in reasons.items():
        if reason:
            tally.count(reason, n)
    if not parts:
        raise InputError(f"no move can be screened; skipped: {tally}", hint=_HINT)
    names = list(parts[0].statistics)
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    statistics = {name: Statistic.concat([part.statistics[name] for part in parts]) for name in names}
    return ScreenedMoves(games, **columns, statistics=statistics, tally=tally, missing=_missing(reasons))


_HINT = "who is screened needs a rating: --elo header reads the games', a number or a CSV file gives one"


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked of the games."""

    games: Games
    analyses: Analyses | None
    effort: Effort
    ratings: GivenRatings
    opening_moves: int
    playable: npt.NDArray[np.bool_]

    def some(self, first: int) -> _Some | None:
        """Return what a few games give, from this row on."""
        rows = first + np.flatnonzero(self.playable[first : first + GAMES_AT_ONCE])
        if not len(rows):
            return None
        moves = played_moves(self.games.select(rows))
        own = None if self.analyses is None else self.analyses.of_games(rows)
        depth = 0 if self.effort.weights is None else len(self.effort.weights.depths)
        other = None
        if own is not None and depth:
            other = moves.with_engine(own, depth - _OTHER).preferred
            moves = moves.with_engine(own, depth)
        people = movers_of(moves)
        elo, elo_sd = self.ratings.of(moves, people)
        source = moves.sources(self.opening_moves)
        why = _why(source, people, elo, depth)
        use = np.array([not reason for reason in why], dtype=bool)
        inside = None if moves.judged is None else use[moves.judged]
        places = np.flatnonzero(use) if moves.judged is None else moves.judged[inside]
        event = moves.games.by_mover(moves.game, moves.black.astype(np.int8))["event"].to_pylist()
        columns = {
            "game": rows[moves.game[places]],
            "ply": moves.ply[places],
            "player": np.array(people, dtype=object)[places],
            "event": np.array([name or "unknown" for name in event], dtype=object)[places],
            "elo": elo[places],
            "elo_sd": elo_sd[places],
        }
        found = _statistics(moves, places, elo[places], self.effort, (inside, other)) if len(places) else {}
        return _Some(rows, columns, found, Counter(zip(people, why, strict=True)))


def _statistics(
    moves: PlayedMoves,
    places: Places,
    elo: Array,
    effort: Effort,
    engine: tuple[npt.NDArray[np.bool_] | None, Places | None],
) -> dict[str, Statistic]:
    inside, other = engine
    if moves.joint is None or moves.preferred is None or effort.weights is None or inside is None:
        return human_statistics(moves.choices.take(places), moves.chosen[places], elo)
    helper = None if other is None else other[inside]
    return joint_statistics(moves.joint.select(inside), moves.preferred[inside], elo, effort.weights, helper)


def _why(source: Places, people: Sequence[str | None], elo: Array, depth: int) -> list[str]:
    """Return why each move is left out; empty where it takes part."""
    wanted = 2 if depth else 1
    return [
        "forced" if place < 0
        else "opening" if place == 0
        else "no answer of the engine" if place != wanted
        else "unknown player" if person is None
        else "no rating" if not rated
        else ""
        for place, person, rated in zip(source.tolist(), people, np.isfinite(elo).tolist(), strict=True)
    ]  # fmt: skip


def _missing(reasons: Counter[tuple[str | None, str]]) -> dict[str, str]:
    seen = {person for (person, reason) in reasons if not reason}
    found: dict[str, Counter[str]] = {}
    for (person, reason), n in reasons.items():
        if person is not None and person not in seen:
            found.setdefault(person, Counter())[reason] += n
    order = ("no rating", "no answer of the engine", "opening", "forced")
    return {
        person: min(counted, key=lambda reason: order.index(reason) if reason in order else 0)
        for person, counted in sorted(found.items())
    }


def _read_ratings(path: Path) -> dict[str, tuple[float, float]]:
    table, _, _ = read_csv(path)
    if not {"player", "elo"} <= set(table.column_names):
        raise InputError(
            f"{path}: no columns player and elo", hint="a CSV file with a row for each player: player,elo,sd"
        )
    sds = table["sd"].to_pylist() if "sd" in table.column_names else [0.0] * len(table)
    rows = zip(table["player"].to_pylist(), table["elo"].to_pylist(), sds, strict=True)
    try:
        return {str(player): (_in_range(float(elo), str(path)), float(sd or 0.0)) for player, elo, sd in rows}
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: a rating that is no number ({error})") from error


def _in_range(elo: float, given: str) -> float:
    low, high = ELO_RANGE
    if not low <= elo <= high:
        raise InputError(f"{given}: the models know Elo {low:.0f} to {high:.0f}, not {elo:g}")
    return elo
