"""Elo while a game goes on: what is added move by move is what the whole game says."""

from __future__ import annotations

import io

import numpy as np
import pytest

from skilloscope.chess.analysis.evaluations import evaluations_from_comments
from skilloscope.chess.human.played import move_evidence, move_losses, observed_evidence, played_moves
from skilloscope.chess.pgn.games import read_games
from skilloscope.evidence import EvidenceTable
from skilloscope.evidence.axis import EVALUATIONS, elo_axis
from skilloscope.inputs.running_elo import EloOfBoards
from skilloscope.studies.live.feed import read_boards

GAME = """[White "Ann"]
[Black "Bob"]

1. e4 {[%eval 0.3]} e5 {[%eval 0.3]} 2. Nf3 {[%eval 0.3]} f6 {[%eval 1.3]} 3. Nxe5 {[%eval 0.6]} fxe5 {[%eval 3.1]}
4. Qh5+ {[%eval 3.0]} Ke7 {[%eval 5.9]} 5. Qxe5+ {[%eval 5.8]} *
"""


def sides(values: bool) -> list[dict[str, float]]:
    board = next(iter(read_boards(GAME).values()))
    known = board.values if values else [None] * len(board.fens)
    return EloOfBoards().sides(board.moves, board.fens, known, board.first_ply)


@pytest.mark.parametrize("values", [True, False])
def test_move_by_move_gives_what_the_whole_game_gives(values):
    moves = played_moves(read_games(io.StringIO(GAME)))
    axis, labels = elo_axis(), moves.black.tolist()
    effort = axis.effort(EVALUATIONS if values else "instant")
    table = move_evidence(moves, labels, opening_moves=axis.opening_moves)
    if values:
        losses = move_losses(moves, evaluations_from_comments(moves.games))
        table = EvidenceTable.concat([table, observed_evidence(moves, losses, labels, effort.losses)])
    for side, found in enumerate(sides(values)):
        whole = axis.posterior(table.curves_of(bool(side)), effort.name, axis.prior())
        assert found["axis_elo"] == pytest.approx(whole.mean, abs=0.5)
        assert (found["axis_low"], found["axis_high"]) == pytest.approx(whole.interval(0.95), abs=1.0)


def test_values_tell_who_lost_much():
    (ann, bob), (_, blind) = sides(True), sides(False)
    assert bob["axis_elo"] < blind["axis_elo"] - 50
    assert bob["axis_elo"] < ann["axis_elo"]


def test_a_move_that_comes_back_is_not_asked_again():
    boards = EloOfBoards()
    board = next(iter(read_boards(GAME).values()))
    first = boards.sides(board.moves, board.fens, board.values, board.first_ply)
    boards.model = None  # whoever asks it now fails
    assert boards.sides(board.moves, board.fens, board.values, board.first_ply) == first
    assert np.isfinite(first[0]["axis_elo"])
