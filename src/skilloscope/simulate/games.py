"""Simulated games: whole games between people of given Elos, by the human model or by the joint one.

Openings are those that people of these Elos play; clocks are left out. People resign or agree to a draw before the
rules end a game: the chances are logistic lines, fitted to rated games by tools/fit_resignations.py, two that see
nothing of the position but its material, and two that see its value too, which predicts far better.

All games are played side by side, a ply at a time, so that the network sees many positions at once. Every game draws
from a generator of its own: the same seed gives the same games, however many are asked for.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from math import nan

import chess
import chess.pgn
import numpy as np
import numpy.typing as npt
from scipy.special import expit

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.boards import Boards
from skilloscope.chess.engine.lines import last_depth, value_of
from skilloscope.chess.human.model import human
from skilloscope.chess.moves import move_of_code
from skilloscope.chess.pgn.facts import PIECE_VALUES
from skilloscope.core.columns import About, Array
from skilloscope.core.errors import InputError, OptionError
from skilloscope.models.joint import HumanChoices, JointWeights, checked_elo
from skilloscope.simulate.people import drawn_depth_limited, human_chances

_MOST_PAWNS = 9.0  # what is more than a queen makes no difference
_UNIT_ELO, _ORIGIN_ELO = 450.0, 2100.0
_VALUES = {piece: PIECE_VALUES.get(chess.piece_symbol(piece), 1) for piece in chess.PIECE_TYPES if piece != chess.KING}


@dataclass(frozen=True, eq=False)
class Standing:
    """Where games stand, a row for each, from the view of the side to move."""

    ply: Array
    material: Array  # own material less the opponent's, in pawns
    material_before: Array  # the same at the mover's turn before
    pieces: Array  # the value of all pieces but kings and pawns, both sides together
    check: Array
    elo: Array
    opponent_elo: Array
    value: Array  # what the engine says of the position, in pawns; NaN where it was not asked
    value_before: Array  # the same at the mover's turn before

    @property
    def level(self) -> Array:
        """The mover's Elo in the units of the lines."""
        return (self.elo - _ORIGIN_ELO) / _UNIT_ELO

    def resigning(self) -> dict[str, Array]:
        """Return what the chance of a resignation is made of, by name."""
        lasting = np.log1p(np.clip(np.minimum(-self.material, -self.material_before), 0.0, _MOST_PAWNS))
        return {
            "constant": np.ones_like(self.elo),
            "behind for a move": lasting,
            "behind now": np.log1p(np.clip(-self.material, 0.0, _MOST_PAWNS)),
            "ahead now": np.log1p(np.clip(self.material, 0.0, _MOST_PAWNS)),
            "Elo": self.level,
            "behind for a move, by Elo": lasting * self.level,
            "ply": self.ply / 80,
            "log ply": np.log1p(self.ply),
            "opponent's Elo less own": (self.opponent_elo - self.elo) / 400,
            "check": self.check,
        }

    def agreeing(self) -> dict[str, Array]:
        """Return what the chance of a draw by agreement is made of, by name."""
        apart = np.log1p(np.minimum(np.abs(self.material), _MOST_PAWNS))
        return {
            "constant": np.ones_like(self.elo),
            "difference": apart,
            "difference, by Elo": apart * self.level,
            "Elo": self.level,
            "ply": self.ply / 80,
            "log ply": np.log1p(self.ply),
            "log ply, by Elo": np.log1p(self.ply) * self.level,
            "pieces": self.pieces / 62,
        }

    def resigning_seen(self, line: Array) -> dict[str, Array]:
        """Return what the chance of a resignation is made of where the value is known, the other line among it."""
        losing = np.log1p(np.clip(-self.value, 0.0, _MOST_PAWNS))
        return {
            "constant": np.ones_like(line),
            "by material": line,
            "losing": losing,
            "losing, by Elo": losing * self.level,
        }

    def agreeing_seen(self, line: Array) -> dict[str, Array]:
        """Return what the chance of a draw by agreement is made of where the value is known."""
        largest = np.fmax(np.abs(self.value), np.abs(self.value_before))
        apart = np.log1p(np.minimum(largest, _MOST_PAWNS))
        return {
            "constant": np.ones_like(line),
            "by material": line,
            "apart for a move": apart,
            "apart for a move, by Elo": apart * self.level,
        }


@dataclass(frozen=True)
class Resignations:
    """The lines: coefficients by the names that `Standing` gives."""

    resign: Mapping[str, float]
    draw: Mapping[str, float]
    resign_seen: Mapping[str, float]
    draw_seen: Mapping[str, float]

    def chances(self, standing: Standing) -> tuple[Array, Array]:
        """Return the chances that the mover resigns, and that a draw is agreed."""
        resign, draw = weighed(standing.resigning(), self.resign), weighed(standing.agreeing(), self.draw)
        seen = np.isfinite(standing.value)
        return (
            expit(np.where(seen, weighed(standing.resigning_seen(resign), self.resign_seen), resign)),
            expit(np.where(seen, weighed(standing.agreeing_seen(draw), self.draw_seen), draw)),
        )


@cache
def bundled_resignations() -> Resignations:
    """Return the lines that ship with the package."""
    raw = json.loads((resources.files("skilloscope") / "data" / "resignations.json").read_text(encoding="utf-8"))
    return Resignations(**{field.name: raw[field.name] for field in fields(Resignations)})


def material(board: chess.Board) -> tuple[int, int]:
    """Return White's material less Black's, and the value of all pieces but kings and pawns, in pawns.

    >>> material(chess.Board())
    (0, 62)
    """
    worth = [
        (value, board.pieces_mask(piece, True), board.pieces_mask(piece, False)) for piece, value in _VALUES.items()
    ]
    difference = sum(value * (white.bit_count() - black.bit_count()) for value, white, black in worth)
    whole = sum(value * (white | black).bit_count() for value, white, black in worth)
    return difference, whole - board.pawns.bit_count()


def standing_of(
    boards: Sequence[chess.Board],
    differences: Sequence[Sequence[int]],
    values: Sequence[Sequence[float]],
    elo: Array,
    opponent_elo: Array,
) -> Standing:
    """Return where games stand: White's material less Black's before each earlier move, and White's values since."""
    now = np.array([material(board) for board in boards], dtype=float).reshape(-1, 2)
    sign = np.array([1.0 if board.turn else -1.0 for board in boards])
    return Standing(
        ply=np.array([board.ply() for board in boards], dtype=float),
        material=sign * now[:, 0],
        material_before=sign * np.array([one[-2] for one in differences], dtype=float),
        pieces=now[:, 1],
        check=np.array([board.is_check() for board in boards], dtype=float),
        elo=elo,
        opponent_elo=opponent_elo,
        value=sign * np.array([one[-1] for one in values], dtype=float),
        value_before=sign * np.array([one[-3] for one in values], dtype=float),
    )


LAST_PLY = 600  # a game that is longer ends as a draw
EVENT = "simulated games"
_FIRST_END = 4  # nobody gives up before
_KNOWN_MOVES = 2  # made from memory, without what an engine sees

Searching = Callable[[Sequence[chess.Board]], Analyses]  # what gives the engine's answers to positions


@dataclass(frozen=True)
class Assist:
    """Help by an engine: on one move in so many, drawn at random, its first choice is played."""

    one_in: int

    @classmethod
    def from_text(cls, text: str) -> "Assist":
        """Return the help that a text like "engine on 1 move in 5" describes.

        >>> Assist.from_text("engine on 1 move in 5")
        Assist(one_in=5)
        """
        found = re.fullmatch(r"engine on 1 moves? in ([1-9]\d{0,3})", " ".join(text.split()))
        if found is None:
            raise OptionError(f"no help is called {text!r}", hint='for instance --assist "engine on 1 move in 5"')
        return cls(int(found[1]))


@dataclass(frozen=True)
class Pairing:
    """Who plays whom: two Elos, the first with White in every other game, and whether the first is helped."""

    elo: float
    against: float
    assist: Assist | None = None

    def __post_init__(self) -> None:
        checked_elo([self.elo, self.against])

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called."""
        one, two = (f"simulated {elo:g}" for elo in (self.elo, self.against))
        helped = "" if self.assist is None else f", helped on 1 move in {self.assist.one_in}"
        return f"{one}{helped}", f"{two}, the other" if (one, helped) == (two, "") else two


@dataclass(eq=False)
class SimulatedGame:
    """One game: the board with all moves made on it, how it ended, and which plies were helped."""

    number: int  # counted from 0; the first of the pairing has White in even ones
    board: chess.Board
    rng: np.random.Generator = field(repr=False)
    result: str = "*"
    end: str = ""
    helped: list[int] = field(default_factory=list)
    differences: list[int] = field(default_factory=lambda: [0, 0])
    """White's material less Black's before every move, with two for the time before the game."""
    values: list[float] = field(default_factory=lambda: [nan, nan, nan])
    """What the engine says of the position after every move, in pawns for White; NaN where it was not asked."""

    @property
    def first_moves(self) -> bool:
        """Whether the first of the pairing is to move."""
        return self.board.turn == (self.number % 2 == 0)

    def finish(self, winner: chess.Color | None, end: str) -> None:
        """End the game."""
        self.result = "1/2-1/2" if winner is None else "1-0" if winner else "0-1"
        self.end = end

    def as_pgn(self, pairing: Pairing, annotator: str) -> str:
        """Return the game as PGN; its headers say that nobody has played it."""
        game = chess.pgn.Game.from_board(self.board)
        sides = list(zip(pairing.names, (pairing.elo, pairing.against), strict=True))
        white, black = sides if self.number % 2 == 0 else sides[::-1]
        game.headers.update(
            Event=EVENT, Site="skilloscope", Round=str(self.number + 1), White=white[0], Black=black[0],
            Result=self.result, WhiteElo=f"{white[1]:.0f}", BlackElo=f"{black[1]:.0f}", WhiteType="program",
            BlackType="program", Annotator=annotator, Termination=self.end,
        )  # fmt: skip
        return f"{game}\n"


def summary(games: Sequence[SimulatedGame]) -> About:
    """Return how the games went, from the view of the first of the pairing, how long they were and how they ended."""
    scores = Counter(
        "draws" if g.result == "1/2-1/2" else "wins" if (g.result == "1-0") == (g.number % 2 == 0) else "losses"
        for g in games
    )
    return {
        "games": len(games),
        **{name: scores[name] for name in ("wins", "draws", "losses")},
        "mean_plies": sum(game.board.ply() for game in games) / max(len(games), 1),
        "ends": [{"end": end, "games": n} for end, n in Counter(game.end for game in games).most_common()],
        "helped_moves": sum(len(game.helped) for game in games),
    }


@dataclass(frozen=True, eq=False)
class GameMaker:
    """How simulated games are made: the joint model's weights (none: the human model alone), and the engine."""

    weights: JointWeights | None = None
    search: Searching | None = None
    endings: Resignations = field(default_factory=bundled_resignations)

    def play(
        self, pairing: Pairing, games: int, *, seed: int = 1, progress: Callable[[int, int], None] | None = None
    ) -> list[SimulatedGame]:
        """Return so many games of the pairing; `progress` gets how many have ended."""
        if (self.weights or pairing.assist) and self.search is None:
            raise InputError("the joint model and help by an engine need an engine", hint="use the effort instant")
        made = [SimulatedGame(i, chess.Board(), np.random.default_rng([seed, i])) for i in range(games)]
        while running := [game for game in made if not game.end]:
            self._end_some(running, pairing)
            self._move([game for game in running if not game.end], pairing)
            if progress:
                progress(games - sum(not game.end for game in made), games)
        return made

    def _end_some(self, running: Sequence[SimulatedGame], pairing: Pairing) -> None:
        elo, other = _levels(running, pairing)
        boards, differences = [one.board for one in running], [one.differences for one in running]
        standing = standing_of(boards, differences, [one.values for one in running], elo, other)
        chances = zip(*self.endings.chances(standing), strict=True)
        for game, (resign, agree) in zip(running, chances, strict=True):
            ended, board = _by_rule(game.board), game.board
            u, v = game.rng.random(2)
            if ended is not None:
                game.finish(*ended)
            elif board.ply() >= _FIRST_END and u < resign:
                game.finish(not board.turn, "resignation")
            elif board.ply() >= _FIRST_END and v < agree:
                game.finish(None, "draw agreed")

    def _move(self, running: Sequence[SimulatedGame], pairing: Pairing) -> None:
        if not running:
            return
        boards = [game.board for game in running]
        elo, _ = _levels(running, pairing)
        choices = human().choices(Boards.from_boards(boards))
        codes = human_chances(choices, elo).drawn([game.rng for game in running])
        helped = [
            pairing.assist is not None and game.first_moves and game.rng.random() * pairing.assist.one_in < 1.0
            for game in running
        ]
        # The joint model chooses but in the first moves, and where there is no choice.
        sees = [
            self.weights is not None and board.fullmove_number > _KNOWN_MOVES and not _is_forced(board)
            for board in boards
        ]
        asked = np.flatnonzero(np.array(helped) | np.array(sees))
        values = np.full(len(running), nan)
        if len(asked) and self.search is not None:
            found = self.search([boards[at] for at in asked.tolist()])
            if self.weights is not None:
                some = [running[at] for at in asked.tolist()]
                drawn, worth = self._seen(choices.take(asked), found, elo[asked], some)
                codes[asked] = np.where(np.array(sees)[asked], drawn, codes[asked])
                values[asked] = worth
            for place, at in enumerate(asked.tolist()):
                if helped[at]:
                    codes[at] = last_depth(found.answer(place))["move"][0]
                    running[at].helped.append(boards[at].ply())
                    values[at] = value_of(found.answer(place))
        for game, code, value in zip(running, codes.tolist(), values.tolist(), strict=True):
            game.differences.append(material(game.board)[0])
            game.values.append(game.values[-1] if _is_forced(game.board) else value if game.board.turn else -value)
            game.board.push(move_of_code(code))

    def _seen(
        self, choices: HumanChoices, found: Analyses, elo: Array, games: Sequence[SimulatedGame]
    ) -> tuple[npt.NDArray[np.uint16], Array]:
        """Return what people play who see what the engine sees, and what it is worth to them."""
        search, weights = self.search, self.weights
        assert search is not None
        assert weights is not None

        def valued(moves: Sequence[tuple[int, int]]) -> list[float]:
            return values_after([games[row].board for row, _ in moves], [code for _, code in moves], search)

        return drawn_depth_limited(choices, found, elo, weights, [game.rng for game in games], valued)


def weighed(columns: Mapping[str, Array], line: Mapping[str, float]) -> Array:
    """Return the line: the sum of its columns by their weights."""
    return np.asarray(np.sum([line[name] * column for name, column in columns.items()], axis=0))


def values_after(boards: Sequence[chess.Board], codes: Sequence[int], search: Searching) -> list[float]:
    """Return what a move in each position is worth to who makes it, in pawns, by a search of what it leads to."""
    after = [board.copy() for board in boards]
    for board, code in zip(after, codes, strict=True):
        board.push(move_of_code(code))
    going = [any(board.legal_moves) for board in after]
    found = search([board for board, goes_on in zip(after, going, strict=True) if goes_on]) if any(going) else None
    values = iter([] if found is None else [-value_of(found.answer(row)) for row in range(sum(going))])
    # Where nobody can move it is stalemate: a move that mates is on every list.
    return [next(values) if goes_on else 0.0 for goes_on in going]


def _is_forced(board: chess.Board) -> bool:
    return board.legal_moves.count() == 1


def _levels(games: Sequence[SimulatedGame], pairing: Pairing) -> tuple[Array, Array]:
    first = np.array([game.first_moves for game in games])
    return np.where(first, pairing.elo, pairing.against), np.where(first, pairing.against, pairing.elo)


def _by_rule(board: chess.Board) -> tuple[chess.Color | None, str] | None:
    """Return winner and reason where the rules end the game; who may claim a draw does."""
    outcome = board.outcome()
    if outcome is not None:
        return outcome.winner, outcome.termination.name.lower().replace("_", " ")
    if board.is_repetition(3):
        return None, "threefold repetition"
    if board.halfmove_clock >= 100:
        return None, "fifty moves"
    return (None, "long") if board.ply() >= LAST_PLY else None
