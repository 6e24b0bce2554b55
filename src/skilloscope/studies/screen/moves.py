"""The moves that are screened: the player of each, the player's rating, and the statistics; and the key positions.

In: games, an engine's answers to their positions (or none), and where the ratings come from. Out: `ScreenedMoves`.
Only moves after the opening in which there was a choice take part; with an engine, only those with an answer. Key
positions are the moves that contribute most to a player's score, with what people of that rating play there.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.human.model import human
from skilloscope.chess.human.played import PlayedMoves, clocks_of, first_choices, movers_of, played_moves
from skilloscope.chess.moves import move_of_code
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.core.errors import InputError, Tally
from skilloscope.inputs.pipeline import GAMES_AT_ONCE, UNPLAYABLE, in_parts, playable_games
from skilloscope.models.joint import ELO_RANGE, JointChoices, JointWeights
from skilloscope.results.reading import read_csv
from skilloscope.studies.screen.statistics import Statistic, human_statistics, joint_statistics

_POSITIONS = 8  # key positions of a player
_USUAL = 3  # of people's moves shown at each
HELPERS = (0, 2, 4)
"""Helpers: the engine itself, another one, a weak one. A search shallower by so many plies stands for each."""
_COLUMNS = ("game", "ply", "player", "event", "elo", "elo_sd")


@dataclass(frozen=True)
class GivenRatings:
    """Where the ratings come from: the games' headers, one number for everybody, or a file with a row for each."""

    name: str = "header"
    everybody: float | None = None
    by_player: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The rating of each player and its standard error."""

    @classmethod
    def from_text(cls, text: str) -> "GivenRatings":
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
        """Return the rating of the player of each move and its standard error; NaN where there is none."""
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
    """Moves with the player, event and rating of each, and their statistics."""

    games: Games
    game: Ints
    ply: Ints
    player: npt.NDArray[np.object_]
    event: npt.NDArray[np.object_]
    elo: Array
    elo_sd: Array
    statistics: dict[str, Statistic]
    tally: Tally
    missing: dict[str, str]  # players without a move that takes part, with the reason
    choices: JointChoices | None = None
    """All legal moves with the engine's values; None without an engine."""
    helpers: Ints | None = None
    """What helpers would have played, by place among the legal moves: a column for each of HELPERS."""
    first: npt.NDArray[np.uint16] | None = None
    """The engine's first choice, as a move."""

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"<ScreenedMoves: {len(self):,} of {len(set(self.player.tolist())):,} players>"

    def take(self, wanted: Bools) -> "ScreenedMoves":
        """Return some of the moves."""
        columns = {name: getattr(self, name)[wanted] for name in _COLUMNS}
        statistics = {name: one.take(wanted) for name, one in self.statistics.items()}
        if self.choices is None or self.helpers is None or self.first is None:
            return replace(self, **columns, statistics=statistics)
        choices, helpers, first = self.choices.select(wanted), self.helpers[wanted], self.first[wanted]
        return replace(self, **columns, statistics=statistics, choices=choices, helpers=helpers, first=first)


def screened_moves(
    games: Games,
    analyses: Analyses | None,
    weights: JointWeights | None,
    ratings: GivenRatings,
    *,
    opening_moves: int = 12,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> ScreenedMoves:
    """Return the moves that can be screened, with their statistics; without weights by what people play alone."""
    playable = playable_games(games)
    tally, parts, reasons = Tally(), [], Counter[tuple[str | None, str]]()
    tally.count(UNPLAYABLE, int((~playable).sum()))
    reader = _Reader(games, analyses, weights, ratings, opening_moves=opening_moves, playable=playable)
    for part in in_parts(reader.some, len(games), workers):
        reasons += part.reasons
        if len(part.columns["game"]):
            parts.append(part)
        if progress:
            progress(int(part.rows[-1]) + 1, len(games))
    for (_, reason), n in reasons.items():
        if reason:
            tally.count(reason, n)
    if not parts:
        hint = "screened players need a rating: --elo header reads the games', a number or a CSV file gives one"
        raise InputError(f"no move can be screened; skipped: {tally}", hint=hint)
    game, ply, player, event, elo, elo_sd = (
        np.concatenate([part.columns[name] for part in parts]) for name in _COLUMNS
    )
    names = parts[0].statistics
    found = ScreenedMoves(
        games,
        game,
        ply,
        player,
        event=event,
        elo=elo,
        elo_sd=elo_sd,
        statistics={name: Statistic.concat([part.statistics[name] for part in parts]) for name in names},
        tally=tally,
        missing=_missing(reasons),
    )
    judged = [part.judged for part in parts if part.judged is not None]
    if not judged:
        return found
    choices = JointChoices.concat([part for part, _, _ in judged])
    helpers, first = (np.concatenate([part[at] for part in judged]) for at in (1, 2))
    return replace(found, choices=choices, helpers=helpers, first=first)


@dataclass(frozen=True, eq=False)
class _Some:
    """What a few games give."""

    rows: Ints
    columns: dict[str, npt.NDArray[Any]]
    statistics: dict[str, Statistic]
    reasons: Counter[tuple[str | None, str]]
    judged: tuple[JointChoices, Ints, npt.NDArray[np.uint16]] | None


@dataclass(frozen=True, eq=False)
class _Reader:
    """The games, and how their moves are read."""

    games: Games
    analyses: Analyses | None
    weights: JointWeights | None
    ratings: GivenRatings
    opening_moves: int
    playable: Bools

    def some(self, first: int) -> _Some | None:
        """Return what a few games give, from this row on."""
        rows = first + np.flatnonzero(self.playable[first : first + GAMES_AT_ONCE])
        if not len(rows):
            return None
        moves, own = played_moves(self.games.select(rows)), None
        depth = 0 if self.weights is None else len(self.weights.depths)
        if self.analyses is not None and depth:
            own = self.analyses.of_games(rows)
            moves = moves.with_engine(own, depth)
        people = movers_of(moves)
        elo, elo_sd = self.ratings.of(moves, people)
        why = _why(moves.sources(self.opening_moves), people, elo, depth)
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
        statistics: dict[str, Statistic] = {}
        judged = None
        if len(places) and moves.joint and moves.answer is not None and inside is not None and own and self.weights:
            choices, answers = moves.joint.select(inside), moves.answer[inside]
            legal = moves.choices.take(places)
            helpers = [first_choices(legal, own, answers, max(depth - less, 1)) for less in HELPERS]
            judged = choices, np.stack(helpers, axis=1), legal.moves[legal.offsets[:-1] + helpers[0]]
            statistics = joint_statistics(choices, helpers[0], elo[places], self.weights)
        elif len(places):
            statistics = human_statistics(moves.choices.take(places), moves.chosen[places], elo[places])
        return _Some(rows, columns, statistics, Counter(zip(people, why, strict=True)), judged)


def _why(source: Ints, people: Sequence[str | None], elo: Array, depth: int) -> list[str]:
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
        raise InputError(f"{path}: a rating is not a number ({error})") from error


def _in_range(elo: float, given: str) -> float:
    low, high = ELO_RANGE
    if not low <= elo <= high:
        raise InputError(f"{given}: ratings must be between {low:.0f} and {high:.0f}, got {elo:g}")
    return elo


@dataclass(frozen=True)
class LikelyMove:
    """A move, and how likely people of the player's rating are to play it."""

    move: str
    probability: float


@dataclass(frozen=True)
class KeyPosition:
    """One move: where it was played, what it adds, what people of that rating play and what the engine."""

    game: str
    move: str  # in SAN, with its number
    fen: str
    weight: float  # what it adds beyond its expectation
    people: Sequence[LikelyMove]  # the likeliest moves of people of that rating; the move played comes last
    engine: str  # the engine's first choice in SAN; empty without an engine
    seconds: float | None  # the time that the move took, where the clocks say it


def key_positions(moves: ScreenedMoves, beyond: Array) -> list[KeyPosition]:
    """Return the moves of one player that add most, given what each adds beyond its expectation."""
    order = np.lexsort((np.arange(len(moves)), -beyond))[:_POSITIONS]
    seconds = clocks_of(moves.games, moves.game, moves.ply)[0]
    return [_position(moves, at, float(beyond[at]), float(seconds[at])) for at in order.tolist() if beyond[at] > 0]


def _position(moves: ScreenedMoves, row: int, weight: float, seconds: float) -> KeyPosition:
    game, ply = int(moves.game[row]), int(moves.ply[row])
    header = moves.games.headers.slice(game, 1).to_pylist()[0]
    board = chess.Board(header["start_fen"] or chess.STARTING_FEN)
    *before, played = map(move_of_code, moves.games.moves[moves.games.offsets[game] :][: ply + 1].tolist())
    for move in before:
        board.push(move)
    answer, san = human().moves(board.fen(), float(moves.elo[row])), board.san(played)
    chances = dict(zip(answer.san, answer.probability[:, 0].tolist(), strict=True))
    shown = [LikelyMove(name, chances[name]) for name in [*(n for n in list(chances)[:_USUAL] if n != san), san]]
    number = f"{board.fullmove_number}{'.' if board.turn else '…'}"
    engine = "" if moves.first is None else board.san(move_of_code(int(moves.first[row])))
    spent = seconds if np.isfinite(seconds) else None
    place = header["game"], f"{number} {san}", board.fen()
    return KeyPosition(*place, weight=weight, people=shown, engine=engine, seconds=spent)
