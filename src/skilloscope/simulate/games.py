"""Simulated games: whole games between people of given Elos, by the human model or by the joint one.

In: two Elos, how many games, a seed. Out: games with their results, as PGN. Openings are those that people of these
Elos play; clocks are left out; people resign and agree to draws as simulate.endings says.

All games are played side by side, a ply at a time, so that the network sees many positions at once. Every game draws
from a generator of its own: the same seed gives the same games, however many are asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import chess
import chess.pgn
import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import last_depth, move_of_code, value_of
from skilloscope.chess.human.encoding import Boards
from skilloscope.chess.human.model import HumanChoices, checked_elo, human
from skilloscope.core.errors import InputError, OptionError
from skilloscope.models.joint import JointWeights
from skilloscope.simulate.endings import Endings, material, shipped_endings, standing_of
from skilloscope.simulate.people import human_chances
from skilloscope.simulate.sighted import Sighted

LAST_PLY = 600
"""A game that is longer ends as a draw."""

EVENT = "simulated games"
_FIRST_END = 4  # nobody gives up before
_KNOWN_MOVES = 2  # made from memory, without what an engine sees

Searching = Callable[[Sequence[chess.Board]], Analyses]
"""What gives the engine's answers to positions."""


@dataclass(frozen=True)
class Assist:
    """Help by an engine: on one move in so many, drawn at random, its first choice is played."""

    one_in: int

    @classmethod
    def from_text(cls, text: str) -> Assist:
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

    number: int
    """Counted from 0; the first of the pairing has White in even ones."""
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


def summary(games: Sequence[SimulatedGame]) -> dict[str, Any]:
    """Return how the games went, from the view of the first of the pairing, how long they were and how they ended."""
    scores = Counter("draws" if g.result == "1/2-1/2" else _first_won(g) for g in games)
    return {
        "games": len(games),
        **{name: scores[name] for name in ("wins", "draws", "losses")},
        "mean_plies": sum(game.board.ply() for game in games) / max(len(games), 1),
        "ends": [{"end": end, "games": n} for end, n in Counter(game.end for game in games).most_common()],
        "helped_moves": sum(len(game.helped) for game in games),
    }


def _first_won(game: SimulatedGame) -> str:
    return "wins" if (game.result == "1-0") == (game.number % 2 == 0) else "losses"


@dataclass(frozen=True, eq=False)
class GameMaker:
    """How simulated games are made: the joint model's weights (none: the human model alone), and the engine."""

    weights: JointWeights | None = None
    search: Searching | None = None
    endings: Endings = field(default_factory=shipped_endings)

    def play(
        self, pairing: Pairing, games: int, *, seed: int = 1, progress: Callable[[int, int], None] | None = None
    ) -> list[SimulatedGame]:
        """Return so many games of the pairing; `progress` is told how many have ended."""
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
        """End the games that are over by rule, and those that people end."""
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
        """Make the next move in every game."""
        if not running:
            return
        boards = [game.board for game in running]
        elo, _ = _levels(running, pairing)
        choices = human().choices(Boards.from_boards(boards))
        codes = human_chances(choices, elo).drawn([game.rng for game in running])
        helped = [self._is_helped(game, pairing) for game in running]
        sees = [self._sees(board) for board in boards]
        asked = np.flatnonzero(np.array(helped) | np.array(sees))
        values = np.full(len(running), nan)
        if len(asked) and self.search is not None:
            found = self.search([boards[at] for at in asked.tolist()])
            if self.weights is not None:
                drawn, worth = self._seen(
                    choices.take(asked), found, elo[asked], [running[at] for at in asked.tolist()]
                )
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
        self, choices: HumanChoices, found: Analyses, elo: npt.NDArray[np.float64], games: Sequence[SimulatedGame]
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float64]]:
        """Return what people play who see what the engine sees, and what it is worth to them."""
        search, weights = self.search, self.weights
        assert search is not None
        assert weights is not None
        numbers = np.array([float(game.board.fullmove_number) for game in games])

        def valued(moves: Sequence[tuple[int, int]]) -> list[float]:
            return values_after([games[row].board for row, _ in moves], [code for _, code in moves], search)

        return Sighted.shipped(weights).drawn(choices, found, elo, numbers, [game.rng for game in games], valued)

    def _sees(self, board: chess.Board) -> bool:
        """Return whether the joint model chooses: not in the first moves, and not where there is no choice."""
        return self.weights is not None and board.fullmove_number > _KNOWN_MOVES and not _is_forced(board)

    def _is_helped(self, game: SimulatedGame, pairing: Pairing) -> bool:
        return pairing.assist is not None and game.first_moves and game.rng.random() * pairing.assist.one_in < 1.0


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


def _levels(
    games: Sequence[SimulatedGame], pairing: Pairing
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the Elo of the side to move, and of the other side."""
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
