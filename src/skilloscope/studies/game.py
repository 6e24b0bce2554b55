"""One game move by move: evaluation, gain, strength, what people play, what each move cost, and the running Elo.

In: Gained (the values of a game's positions), and what the human model says of its moves. Out: GameStudy, which
`skilloscope game` shows and which the web application draws. Strength is the Elo difference to the engine after every
move, from the gains [FER12], the agent's competence where the engine listed several moves [DFH13], and the Elo on the
one axis. What people of the player's level play, and what a move cost for that level, is there too.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.evaluations import Evaluations, share_with_comments
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import Human, human
from skilloscope.chess.human.played import PlayedMoves, move_evidence, played_moves
from skilloscope.chess.moves import MATE_CAP, board_of_fen, move_of_code
from skilloscope.chess.pgn.facts import FIDE, split_pools
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, MissingExtraError, Tally, check_mass
from skilloscope.decision import Decisions
from skilloscope.evidence import Prior
from skilloscope.evidence.axis import ELO, EVALUATIONS, Effort, EloAxis, elo_axis
from skilloscope.evidence.periods import running_competence
from skilloscope.inputs.costs import (
    FORCED,
    MoveCosts,
    MoveJudgement,
    accuracy,
    costs_of_moves,
    winning_chances,
)
from skilloscope.inputs.deep import confirmed
from skilloscope.inputs.gains import AFFORDABLE, NEVER_ERRS, EngineGains, Gained, gains_of_games, gains_of_one
from skilloscope.inputs.gains import engine_gains as gains_of_engine
from skilloscope.inputs.load import EngineJob
from skilloscope.inputs.pipeline import with_priors
from skilloscope.inputs.request import RatingRequest
from skilloscope.inputs.running_elo import effort_of, running_elo
from skilloscope.models.gain import Curve, GainHistogram, elo_curve, elo_difference, expected_score
from skilloscope.ratings.perceived import Running, between_interval, running_strength
from skilloscope.report.board import BoardMove, small_board
from skilloscope.report.charts import Figure, Histogram, Lines, Panels, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import (
    Column,
    EloSoFar,
    ScoreDifference,
    Table,
    edge_mark,
    engine_line,
    number,
    plural,
    sentences,
    share,
    skipped_line,
)

SIDES = ("white", "black")
MEASURED = (1200.0, 2700.0)
"""Where the human model was measured on people it had not seen: the likeliest level is looked for here."""
FLAT = float(np.log(1.25))
"""A move whose probability varies by less than this factor between the levels has no likeliest level."""
CHECKED = 20
"""Moves of a game, of each kind, that a deep search looks at."""
CAVEATS = (
    "The difference is to the engine that valued the moves, at its own depth: another engine gives other numbers.",
    "A game is a few dozen moves. Nothing here shows how strong a player is, only how these moves compare.",
    "Gain does not know how hard a position was: dull games look strong.",
    "A move's most likely level says little about the player: most moves are played at every level.",
)
PathLike = str | os.PathLike[str]
_LEVELS = np.arange(MEASURED[0], MEASURED[1] + 5, 10.0)
_NO_DIFFERENCE, _NO_ELO = ScoreDifference(), EloSoFar()
_EVEN = 10.0  # pawns of the evaluation that are drawn; beyond, the game is decided
_MARKS = (
    "Click a move to see its board. ?!, ? and ?? mark moves that gave away winning chances which most players of the "
    "level keep."
)
_PEOPLE_NOTE = (
    "Elo, one axis: from all own moves so far, as in `rate`; played by: the share of people of the player's level; "
    f"likeliest at: the Elo that plays it most, {MEASURED[0]:.0f} ↓ to {MEASURED[1]:.0f} ↑, flat where all levels "
    "play it equally often"
)


@dataclass(frozen=True)
class GameTags:
    """The tags of the game."""

    game: str
    event: str | None
    site: str | None
    date: str | None
    round: str | None
    white: str | None
    black: str | None
    white_elo: int | None
    black_elo: int | None
    result: str | None
    start_fen: str | None
    eco: str | None

    @classmethod
    def of(cls, games: Games, row: int) -> "GameTags":
        """Return the tags of one game."""
        return cls(**{name: games.headers[name][row].as_py() for name in cls.__dataclass_fields__})

    def some(self, names: str) -> dict[str, str | int | None]:
        """Return some of the tags; `names` are separated by blanks."""
        return {name: getattr(self, name) for name in names.split()}


@dataclass(frozen=True, eq=False)
class GameSide:
    """One side of the game: the plies moved at, the gains in pawns (NaN where unknown), the running strength."""

    player: str
    side: str
    ply: Ints
    gain: Array
    running: Running
    lost: Array
    """The winning chances that each move gave away; NaN where unknown."""

    @property
    def histogram(self) -> GainHistogram:
        """The known gains."""
        return GainHistogram.from_gains(self.gain[np.isfinite(self.gain)])

    def difference_after(self, ply: int) -> ScoreDifference:
        """Return the expected score against the engine and the Elo difference after the move at a ply."""
        return difference_after(self.running, int(np.searchsorted(self.ply, ply)))

    def gains_until(self, ply: int) -> Array:
        """Return the gains of the moves up to a ply."""
        return self.gain[: int(np.searchsorted(self.ply, ply, side="right"))]


@dataclass(frozen=True)
class PlayerLevel:
    """The Elo whose choices a player's moves are compared with."""

    elo: float | None = None
    source: str | None = None
    """`header`, `moves` where it was estimated from this game, or `ratings` where it was given."""


@dataclass(frozen=True)
class MovePopularity:
    """How likely people of the player's level play a move, and the level that plays it most."""

    probability: float | None = None
    likeliest_elo: float | None = None
    likeliest_edge: str | None = None
    flat: bool | None = None

    @classmethod
    def of(cls, probability: float, curve: Array) -> "MovePopularity":
        """Return the popularity from the log-probabilities at the levels.

        >>> MovePopularity.of(0.25, np.log(np.linspace(0.1, 0.4, 151))).likeliest_edge
        'high'
        """
        known = None if np.isnan(probability) else float(probability)
        if curve.max() - curve.min() < FLAT:
            return cls(known, flat=True)
        place = int(curve.argmax())
        return cls(known, float(_LEVELS[place]), {0: "low", len(curve) - 1: "high"}.get(place), flat=False)

    def __str__(self) -> str:
        return "flat" if self.likeliest_elo is None else f"{self.likeliest_elo:.0f}{edge_mark(self.likeliest_edge)}"


@dataclass(frozen=True, eq=False)
class GamePeople:
    """What people would have played in a game, or why that is unknown."""

    levels: Mapping[str, PlayerLevel] = field(default_factory=dict)
    moves: Sequence[MovePopularity] = ()
    elo: Sequence[EloSoFar] = ()
    """The mover's Elo on the one axis after each move."""
    costs: MoveCosts | None = None
    about: Mapping[str, object] = field(default_factory=dict)
    """The model and the effort of the Elo; or the `problem`."""


@dataclass(frozen=True)
class AgentCompetence:
    """The agent's competence c after a decision."""

    c: float | None = None
    c_low: float | None = None
    c_high: float | None = None


@dataclass(frozen=True)
class GameMove:
    """A move with all that is known of it; strengths are from the player's moves up to this one."""

    ply: int
    number: int
    player: str
    side: str
    san: str
    uci: str
    fen: str
    """The position after the move."""
    clock: float | None = None
    value_cp: int | None = None
    """After the move, the mover's view."""
    white_value_cp: int | None = None
    gain_cp: int | None = None
    difference: ScoreDifference = _NO_DIFFERENCE
    """To the engine."""
    white_against_black: ScoreDifference | None = None
    strength: float | None = None
    competence: AgentCompetence = AgentCompetence()
    people: MovePopularity = MovePopularity()
    elo: EloSoFar = _NO_ELO
    judgement: MoveJudgement = FORCED

    FIELDS: ClassVar = (
        "ply", "number", "player", "side", "san", "value_cp", "white_value_cp", "gain_cp", "*difference",
        "white_against_black", "strength", "*competence", "*people", "*elo", "uci", "fen", "clock", "*judgement",
    )  # fmt: skip

    @property
    def written(self) -> str:
        """The move with its number, e.g. `12… Nf6`."""
        return f"{self.number}{'.' if self.side == 'white' else '…'} {self.san}"


@dataclass(frozen=True)
class GamePlayer:
    """One player at the end of the game."""

    player: str
    side: str
    decisions: int
    unknown: int
    mean_gain: float | None
    difference: ScoreDifference
    strength: float | None
    competence: AgentCompetence
    level: float | None
    level_source: str | None
    elo: EloSoFar
    accuracy: float | None = None
    """The mean accuracy of the moves whose values are known, 0 … 100; None where there is none."""
    inaccuracies: int = 0
    mistakes: int = 0
    blunders: int = 0
    """How many moves are marked ?!, ? and ??."""

    FIELDS: ClassVar = (
        "player", "side", "decisions", "unknown", "mean_gain", "expected_score_against_engine",
        "elo_difference_to_engine", "infinite", "low", "high", "strength", "*competence", "level", "level_source",
        "*elo", "accuracy", "inaccuracies", "mistakes", "blunders",
    )  # fmt: skip
    expected_score_against_engine = property(lambda self: self.difference.expected_score)
    elo_difference_to_engine = property(lambda self: self.difference.elo_difference)
    infinite = property(lambda self: self.difference.infinite)
    low = property(lambda self: self.difference.low)
    high = property(lambda self: self.difference.high)


@dataclass(frozen=True, eq=False)
class GameStudy(Study):
    """A game as it was played, with what every position was worth."""

    game: GameTags
    engine: Mapping[str, object]
    """Whose values these are, the engine's strength where it was given, and its own distribution of gain."""
    curve: Curve
    human: Mapping[str, object]
    """The human model, or the `problem` where it is missing."""
    values: Array
    """Pawns, white's view: before the first move, and after each."""
    sides: Sequence[GameSide]
    """White, then Black."""
    moves: Sequence[GameMove]
    players: Sequence[GamePlayer]
    white_against_black: ScoreDifference | None
    """White's expected score against Black at the end; None where a side has no known gain."""
    mass: float
    positions: Mapping[str, int]

    FIELDS: ClassVar = (
        "game", "engine", "curve", "human", "start_value_cp", "moves", "players", "white_against_black", "mass",
        "skipped", "positions",
    )  # fmt: skip
    ROWS: ClassVar = "moves"
    caveats = CAVEATS

    @property
    def start_value_cp(self) -> int | None:
        """The value before the first move."""
        return _centipawns(self.values[0])

    @property
    def title(self) -> str:
        """Who played."""
        return f"{self.game.white or 'White'} – {self.game.black or 'Black'}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return every move, then both players; without columns in which nothing is known."""
        known = sum(player.decisions for player in self.players)
        notes = [values_line(self.engine), self._between_line(), self._people_line(), skipped_line(known, self.skipped)]
        title = f"{self.title}, {self.game.event or '?'}, {self.game.date or '?'}"
        return [self._moves_table(title), self._players_table(notes)]

    def _moves_table(self, title: str = "") -> Table:
        columns = [
            Column[GameMove]("move", lambda move: f"{move.number}{'.' if move.side == 'white' else '...'}"),
            Column("", lambda move: move.san, label=True),
            Column("evaluation", lambda move: _pawns(move.white_value_cp)),
            Column("gain", lambda move: _pawns(move.gain_cp)),
            Column("exp. score", lambda move: number(move.difference.expected_score, 3)),
            Column(f"difference ({100 * self.mass:g} %)", lambda move: str(move.difference)),
        ]
        if any(move.strength is not None for move in self.moves):
            columns.append(Column("strength", lambda move: number(move.strength, 0)))
        if any(move.competence.c is not None for move in self.moves):
            columns.append(Column("c", lambda move: number(move.competence.c, 2)))
        columns.append(Column("white to score", _white_score))
        if "model" in self.human:
            columns += [
                Column("Elo, one axis", lambda move: str(move.elo)),
                Column("played by", lambda move: _percent(move.people.probability)),
                Column("likeliest at", lambda move: str(move.people)),
            ]
        return Table.of(title, self.moves, columns)

    def _players_table(self, notes: Sequence[str] = ()) -> Table:
        mass = f"{100 * self.mass:g} %"
        columns = [
            Column[GamePlayer]("player", lambda player: player.player, label=True),
            Column("moves", lambda player: f"{player.decisions:,}"),
            Column("mean gain", lambda player: number(player.mean_gain, 3)),
            Column("p against engine", lambda player: number(player.difference.expected_score, 3)),
            Column(f"difference ({mass})", lambda player: str(player.difference)),
        ]
        if any(move.strength is not None for move in self.moves):
            columns.append(Column("strength", lambda player: number(player.strength, 0)))
        if any(player.competence.c is not None for player in self.players):
            columns.append(Column("c", lambda player: number(player.competence.c, 2)))
        if "model" in self.human:
            columns += [Column(f"Elo, one axis ({mass})", lambda player: str(player.elo)), Column("level", _level)]
        each = [
            f"{one.player}: accuracy {one.accuracy:.0f} %, {one.inaccuracies} ?!, {one.mistakes} ?, {one.blunders} ??"
            for one in self.players
            if one.accuracy is not None
        ]
        notes = [*notes, "; ".join(each)]
        return Table.of("", self.players, columns, notes=notes)

    def _people_line(self) -> str:
        if "model" in self.human:
            return _PEOPLE_NOTE
        return f"without what people play: {self.human['problem']}" if "problem" in self.human else ""

    def _between_line(self) -> str:
        found = self.white_against_black
        if found is None or found.expected_score is None:
            return ""
        p = found.expected_score
        return f"white against black: expected score {p:.3f} to {1 - p:.3f}, difference {found}"

    def figures(self) -> Sequence[Figure]:
        """Return evaluation and strength through the game, and how often each player gained how much."""
        charts = [_evaluation_chart(self.values), _strength_chart(self.sides)]
        caption = (
            "Above: evaluation after each move, cut at ±10 pawns. Below: Elo difference to the engine from all own "
            "moves so far, with its interval as a band, cut at the frame; a triangle marks an infinite difference."
        )
        panels = Panels(charts, height=2.45, ratios=(1, 1.6), share_x=True)
        found = [Figure("Strength through the game", panels, caption, values_line(self.engine))]
        if histograms := {side.player: side.histogram for side in self.sides if side.histogram.moves}:
            found.append(Figure("How often they gained how much", histogram_chart(histograms)))
        return found

    def sections(self) -> Sequence[Section]:
        """Return the game to click through, the figures, the players and every move."""
        people = sentences([self._people_line()])
        return [
            Section("The game", _MARKS, game=game_boards(self.moves, self.game.start_fen)),
            *map(Section.from_figure, self.figures()),
            Section.from_table(self._players_table(), "The players", text=self._between_line()),
            Section.from_table(self._moves_table(), "Every move", text=people),
        ]


def game(
    games: Games | PathLike,
    index: int = 1,
    *,
    values: str = "auto",
    engine_gains: str = "auto",
    engine_elo: float | None = None,
    curve: str = "normal",
    mate_cap: float = MATE_CAP,
    mass: float = 0.95,
    settings: Settings = AFFORDABLE,
    engine: str | None = None,
    store: PathLike | None = None,
    imports: Sequence[PathLike] = (),
    workers: int | None = None,
) -> GameStudy:
    """Analyse one game move by move, as `skilloscope game` does.

    Parameters
    ----------
    games : Games or path
        Games that were read, or a PGN file or a file of evaluated games (.ndjson).
    index : int
        Which game: its number in the file, counted from 1.
    values : str
        Whose evaluations: `comments`, `engine`, or `auto` (comments where most moves carry one).
    engine_gains : str
        The engine's own distribution of gain: `peak`, `agreed`, `searched` or `auto`.
    engine_elo : float, optional
        The engine's strength; then the players' strengths are given as well.
    curve : str
        From expected score to Elo: `normal` or `logistic`.
    mate_cap : float
        The value of a mate in pawns.
    mass : float
        The probability that intervals hold.
    settings, engine, store, imports, workers
        The search: its settings, the engine (a name or path), the store of answers, files of answers, processes.

    Returns
    -------
    GameStudy
        With `moves`, `players`, `tables()`, `figures()`, `page()` and `as_dict()`.

    Examples
    --------
    >>> from skilloscope.inputs.bundled import demo_file
    >>> study = game(demo_file("game_of_the_century.pgn"))
    >>> study.moves[21].written, study.moves[21].white_value_cp
    ('11… Na4', -109)
    """
    folder, files = None if store is None else Path(store), tuple(Path(path) for path in imports)
    work = EngineJob(settings=settings, store=folder, engine=engine, imports=files, workers=workers)
    return game_of(
        games, index, work, values=values, mate_cap=mate_cap, engine_gains=engine_gains, engine_elo=engine_elo,
        curve=elo_curve(curve), mass=check_mass(mass),
    )  # fmt: skip


def game_of(
    games: Games | PathLike,
    index: int,
    work: EngineJob,
    *,
    values: str = "auto",
    mate_cap: float = MATE_CAP,
    engine_gains: str = "auto",
    engine_elo: float | None = None,
    curve: Curve = "normal",
    mass: float = 0.95,
) -> GameStudy:
    """Return one game by its number in the file, searched as `work` says; see `game`."""
    if isinstance(games, Games):
        numbers = games.headers["index"].to_pylist()
        if index not in numbers:
            raise InputError(f"no game number {index}", hint=f"{len(games):,} games are there")
        gained = gains_of_games(games.select([numbers.index(index)]), work, values=values, mate_cap=mate_cap)
    else:
        gained = gains_of_one(Path(games), index, work, values=values, mate_cap=mate_cap)
    own = gains_of_engine(gained, engine_gains, work)
    asked = _asked(gained)
    people = game_people(
        gained.games, analyses=gained.analyses, evaluations=gained.evaluations, priors=asked.priors,
        model=asked.model_for(1), axis=asked.axis, effort=asked.effort, mass=mass,
        work=None if gained.analyses is None else work,
    )  # fmt: skip
    return game_study(gained, engine=own, engine_elo=engine_elo, curve=curve, people=people, mass=mass)


def _asked(gained: Gained) -> RatingRequest:
    """Return how the game is rated: in its pool, by its evaluations where most moves have one, as everywhere."""
    ((pool, games),) = split_pools(gained.games)
    noted = pool != FIDE or share_with_comments(games) >= 0.5
    effort = EVALUATIONS if noted else effort_of(gained.analyses, elo_axis()).name
    return with_priors(RatingRequest.of(None, None, effort).for_pool(pool), games)


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
    games, people = gained.games, people or GamePeople()
    if not 0 <= row < len(games):
        raise InputError(f"no game number {row + 1}", hint=f"there are {len(games):,}; --index counts from 1")
    header = GameTags.of(games, row)
    own = slice(int(games.offsets[row]), int(games.offsets[row + 1]))
    mover, first = games.movers[own], int(gained.evaluations.starts[row])
    values = gained.evaluations.values[first : first + len(mover) + 1]
    gain = np.round(np.diff(values) * np.where(mover == 0, 1.0, -1.0), 9)
    lost = -np.diff(winning_chances(values)) * np.where(mover == 0, 1.0, -1.0)
    sides = []
    for code, (side, name) in enumerate(zip(SIDES, (header.white, header.black), strict=True)):
        ply = np.flatnonzero(mover == code)
        running = running_strength(gain[ply], engine.histogram, curve=curve, mass=mass)
        sides.append(GameSide(name or side.capitalize(), side, ply, gain[ply], running, lost[ply]))
    tally = Tally()
    tally.count("gain unknown", int(np.isnan(gain).sum()))
    competence = _competence(gained.decisions, header.game)
    written = _written(games.moves[own], games.clocks[own], header.start_fen, people.costs)
    moves = []
    for at, (nth, san, uci, fen, clock, judgement) in enumerate(written):
        mine, value = sides[int(mover[at])], values[at + 1]
        difference = mine.difference_after(at)
        move = GameMove(
            ply=at, number=nth, player=mine.player, side=mine.side, san=san, uci=uci, fen=fen, clock=clock,
            value_cp=_centipawns(value if mine.side == "white" else -value), white_value_cp=_centipawns(value),
            gain_cp=_centipawns(gain[at]), difference=difference,
            white_against_black=score_between(*(one.gains_until(at) for one in sides), curve=curve, mass=mass),
            strength=_strength(engine_elo, difference), competence=competence.get(at, AgentCompetence()),
            people=people.moves[at] if people.moves else MovePopularity(), elo=people.elo[at] if people.elo else
            _NO_ELO, judgement=judgement,
        )  # fmt: skip
        moves.append(move)
    return GameStudy(
        game=header, engine={**gained.about(), "elo": engine_elo, "distribution": engine.kind}, curve=curve,
        human=people.about, values=values, sides=sides, moves=moves, players=[_player(side, moves, people.levels) for
        side in sides], white_against_black=score_between(*(side.gain for side in sides), curve=curve, mass=mass),
        mass=mass, positions=gained.positions(), tally=tally + games.tally,
    )  # fmt: skip


def _written(
    codes: npt.NDArray[np.uint16], clocks: npt.NDArray[np.floating], start: str | None, costs: MoveCosts | None
) -> list[tuple[int, str, str, str, float | None, MoveJudgement]]:
    """Return number, SAN, UCI, position after, clock and judgement of each move, by one replay of the game."""
    row_of = {} if costs is None else {ply: row for row, ply in enumerate(costs.ply.tolist())}
    board, found = board_of_fen(start), []
    for ply, (code, clock) in enumerate(zip(codes.tolist(), clocks.tolist(), strict=True)):
        judgement = costs.judgement(row_of[ply], board) if costs is not None and ply in row_of else FORCED
        move, at = move_of_code(code), board.fullmove_number
        uci, san = move.uci(), board.san_and_push(move)
        found.append((at, san, uci, board.fen(), clock if np.isfinite(clock) else None, judgement))
    return found


def written_moves(codes: npt.NDArray[np.uint16], start: str | None) -> list[str]:
    """Return the moves of a game in standard algebraic notation."""
    return [san for _, san, *_ in _written(codes, np.full(len(codes), np.nan), start, None)]


def _player(side: GameSide, moves: Sequence[GameMove], levels: Mapping[str, PlayerLevel]) -> GamePlayer:
    """Return a side at the end of the game: what holds after its last move."""
    own, made = side.histogram, [move for move in moves if move.side == side.side]
    last = made[-1] if own.moves else None
    level = levels.get(side.side, PlayerLevel())
    return GamePlayer(
        player=side.player, side=side.side, decisions=own.moves, unknown=len(side.gain) - own.moves,
        mean_gain=own.mean if own.moves else None, difference=last.difference if last else _NO_DIFFERENCE,
        strength=last.strength if last else None, competence=next((one.competence for one in reversed(made) if
        one.competence.c is not None), AgentCompetence()), level=level.elo, level_source=level.source,
        elo=made[-1].elo if made else _NO_ELO, accuracy=float(accuracy(side.lost[np.isfinite(side.lost)]).mean()) if
        own.moves else None, inaccuracies=sum(move.judgement.mark == "?!" for move in made),
        mistakes=sum(move.judgement.mark == "?" for move in made), blunders=sum(move.judgement.mark == "??" for move
        in made),
    )  # fmt: skip


def _strength(engine_elo: float | None, difference: ScoreDifference) -> float | None:
    """r' = r̄_e + d, where the engine's strength was given. [FER12 Algorithm 4, step 4]"""
    d = difference.elo_difference
    return None if engine_elo is None or d is None else engine_elo + d


def game_people(
    games: Games,
    row: int = 0,
    *,
    model: Human | None = None,
    analyses: Analyses | None = None,
    evaluations: Evaluations | None = None,
    levels: Mapping[str, float] | None = None,
    priors: Mapping[str, Prior] | None = None,
    axis: EloAxis | None = None,
    effort: Effort | None = None,
    work: EngineJob | None = None,
    most: int = CHECKED,
    mass: float = 0.95,
) -> GamePeople:
    """Return what people would have played in a game; where the model cannot be asked, `about` has the `problem`.

    `analyses` and `evaluations` are of this game alone. A player's level is the rating in the header, or else estimated
    from this game by the human model under a flat prior; `levels` gives it by name instead, and others get the mean of
    the population. The running Elo is of `effort`, or of the one that the analyses come from, under the `priors`
    by name. With `work` a deep search confirms at most so many costly moves and finds.
    """
    some, axis = games.select([row]), axis or elo_axis()
    try:
        asked = model or human()
        moves = played_moves(some, model=asked)
    except (MissingExtraError, InputError) as error:
        return GamePeople(about={"problem": str(error), "hint": error.hint})
    used = effort or effort_of(analyses, axis)
    known = _levels(moves) if levels is None else _given_levels(some, levels, float(axis.population["mean"]))
    entries = moves.choices.offsets[:-1] + moves.chosen
    at_own = np.full(len(moves), np.nan)
    for code, side in enumerate(SIDES):
        if (elo := known[side].elo) is not None:
            made = moves.black == bool(code)
            at_own[made] = np.exp(moves.choices.log_probabilities(elo)[entries, 0])[made]
    curves = moves.choices.log_probabilities(_LEVELS)[entries]
    costs = None
    if evaluations is not None:
        level = np.array([known[SIDES[code]].elo for code in moves.black.astype(int)], dtype=float)
        opening = axis.opening_moves
        costs = costs_of_moves(
            moves, level, evaluations, analyses=analyses, weights=used.weights, opening_moves=opening
        )
        costs = confirmed(costs, some, most, work, asked)
    names = [some.headers[side][0].as_py() or "" for side in SIDES]
    running = running_elo(
        moves, analyses, axis=axis, effort=used, evaluations=evaluations, priors=[(priors or {}).get(name) for name in
        names], mass=mass,
    )  # fmt: skip
    return GamePeople(
        known,
        [MovePopularity.of(p, curve) for p, curve in zip(at_own.tolist(), curves, strict=True)],
        [EloSoFar(**fields) for fields in running],
        costs,
        {"model": "human", "sha256": asked.network.sha256, "range": list(MEASURED), "effort": used.name},
    )


def _levels(moves: PlayedMoves) -> dict[str, PlayerLevel]:
    """Return each side's rating in the header, or else the estimate from its moves; none where it had no choice."""
    table = move_evidence(moves, [SIDES[code] for code in moves.black.astype(int)])
    sums = {name: table[name].curve for name in table}
    found = {}
    for side in SIDES:
        rating = moves.games.headers[f"{side}_elo"][0].as_py()
        if rating:
            found[side] = PlayerLevel(float(np.clip(rating, *moves.choices.elo_range)), "header")
        elif side in sums and sums[side].any():
            low, high = moves.choices.elo_range
            weights = np.exp(sums[side] - sums[side].max()) * ((low <= ELO) & (high >= ELO))
            found[side] = PlayerLevel(float(ELO @ weights / weights.sum()), "moves")
        else:
            found[side] = PlayerLevel()
    return found


def _given_levels(games: Games, levels: Mapping[str, float], usual: float) -> dict[str, PlayerLevel]:
    names = {side: games.headers[side][0].as_py() or "" for side in SIDES}
    return {side: PlayerLevel(levels.get(name, usual), "ratings") for side, name in names.items()}


def _competence(batch: Decisions | None, game: str) -> dict[int, AgentCompetence]:
    own = None if batch is None else {str(label): part for label, part in batch.group_by("game").items()}.get(game)
    if own is None:
        return {}
    running = running_competence(own)
    rows = zip(*(getattr(running, name).tolist() for name in ("ply", "c", "low", "high")), strict=True)
    return {int(ply): AgentCompetence(c, low, high) for ply, c, low, high in rows}


def difference_after(running: Running, at: int) -> ScoreDifference:
    """Return a side's expected score against the engine and the Elo difference after one of its moves, by its place."""
    columns = (running.expected_score, running.elo_difference, running.low, running.high)
    return ScoreDifference.of(*(float(column[at]) for column in columns))


def score_between(white: Array, black: Array, *, curve: Curve, mass: float) -> ScoreDifference | None:
    """Return White's expected score against Black from the known gains of both; None where either has none."""
    own, other = (side[np.isfinite(side)] for side in (white, black))
    if not (len(own) and len(other)):
        return None
    p = expected_score(GainHistogram.from_gains(own), GainHistogram.from_gains(other))
    low, high = between_interval(own, other, mass, curve)
    return ScoreDifference.of(p, elo_difference(p, curve), float(low), float(high))


def values_line(engine: Mapping[str, object]) -> str:
    """Return whose values the gains come from."""
    if engine.get("engine"):
        return f"values: {engine_line(engine)}"
    return f"values: {engine['source']}, mates at ±{engine['mate_cap']:g} pawns"


def game_boards(moves: Sequence[GameMove], start_fen: str | None) -> list[BoardMove]:
    """Return the moves of a game, each with the board after it, what it cost, and how many of the level play it."""
    start = small_board(board_of_fen(start_fen), None, "before move 1")
    found = [BoardMove("start", "", "The position before the first move", start)]
    for move in moves:
        text, people, value = f"{move.written}{move.judgement.mark}", move.people, move.white_value_cp
        words = [text] if value is None else [text, f"evaluation {value / 100:+z.2f}"]
        words += [verdict] if (verdict := move.judgement.verdict) else []
        words += [] if people.probability is None else [f"played by {share(people.probability)} of the player's level"]
        words += [] if people.likeliest_elo is None else [f"likeliest at {people}"]
        board, last = board_of_fen(move.fen), chess.Move.from_uci(move.uci)
        picture = small_board(board, last, f"the board after {move.written}")
        found.append(BoardMove(f"ply-{move.ply}", text, "; ".join(words), picture))
    return found


def _evaluation_chart(values: Array) -> Lines:
    """Return the evaluation after each move, White's view."""
    at, shown = np.arange(len(values)) / 2 + 0.5, np.clip(values, -_EVEN, _EVEN)
    top = 1.08 * max(1.0, float(np.nanmax(np.abs(shown), initial=0.0)))
    line = Series("", at, shown, np.zeros(len(at)), shown, colour="#8d6a4f", step=True, width=1.4)
    return Lines([line], "", "evaluation, pawns\n(white's view)", y_limits=(-top, top), levels=[0])


def _strength_chart(sides: Sequence[GameSide]) -> Lines:
    """Return both players' difference to the engine; a triangle at the edge where it is infinite. [FER12 figure 6]"""
    ends = [end[-1:] for side in sides for end in (side.running.low, side.running.high)]
    every = np.concatenate([*(side.running.elo_difference for side in sides), *ends])
    finite = every[np.isfinite(every)]
    low, high = (min(0.0, finite.min()), max(0.0, finite.max())) if len(finite) else (-100.0, 100.0)
    margin = 0.08 * max(high - low, 100.0)
    low, high = float(low - margin), float(high + margin)
    lines = []
    for place, side in enumerate(sides):
        d, move, known = side.running.elo_difference, side.ply / 2 + 1, np.isfinite(side.running.expected_score)
        last = d[-1] if len(d) else np.nan
        name = f"{side.player} ({'–∞' if last == -np.inf else '+∞' if last == np.inf else f'{last:+.0f}'})"
        below, above = (np.where(known, np.clip(e, low, high), np.nan) for e in (side.running.low, side.running.high))
        lines.append(Series(name, move, np.where(np.isfinite(d), d, np.nan), below, above, colour=place))
        for infinite, edge, look in ((-np.inf, low, "v"), (np.inf, high, "^")):
            at = move[d == infinite]
            lines.append(Series("", at, np.full(len(at), edge), colour=place, look=look))
    return Lines(lines, "move", "Elo difference to the engine", y_limits=(low, high), levels=[0])


def histogram_chart(histograms: Mapping[str, GainHistogram]) -> Panels:
    """Return the normalised histograms of gain, at most twelve, in steps of one centipawn. [FER12 figure 3]"""
    shown = list(histograms.items())[:12]
    charts = [Histogram(own.centipawns, own.shares, "gain, centipawns", limits=(-150, 100)) for _, own in shown]
    titles = [f"{name} ({plural(own.moves, 'move')}, mean {own.mean:.2f})" for name, own in shown]
    return Panels(charts, titles, columns=2, height=1.7, share_x=True, share_y=True)


def _white_score(move: GameMove) -> str:
    found = move.white_against_black
    return "–" if found is None else f"{found.expected_score:.2f}"


def _level(player: GamePlayer) -> str:
    if player.level is None:
        return "–"
    return f"{player.level:.0f}{' by these moves' if player.level_source == 'moves' else ''}"


def _percent(p: float | None) -> str:
    return "–" if p is None else f"{100 * p:.1f} %"


def _pawns(centipawns: int | None) -> str:
    return "–" if centipawns is None else f"{centipawns / 100:.2f}"


def _centipawns(pawns: float) -> int | None:
    return int(np.rint(pawns * 100)) if np.isfinite(pawns) else None
