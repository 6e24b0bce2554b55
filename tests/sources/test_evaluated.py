"""Games that bring their evaluations: what each side lost, as evidence beside the human model's."""

from __future__ import annotations

import io

import numpy as np
import pytest

from skilloscope.chess.evaluations import evaluations_from_comments
from skilloscope.chess.pgn.games import read_games
from skilloscope.core.errors import InputError
from skilloscope.models.losses import LOSS_EDGES, LOSS_FEATURES, LossWeights
from skilloscope.models.scaling import scaled_loss
from skilloscope.ratings.elo_axis.axis import EVALUATIONS, elo_axis
from skilloscope.ratings.elo_axis.effects import ELO
from skilloscope.sources.evaluated import evaluated_curves, move_losses, with_evaluations
from skilloscope.sources.strength import game_curves, played_moves

GAME = """[White "Ann"]
[Black "Bob"]

1. e4 {[%eval 0.3]} f6 {[%eval 1.1]} 2. d4 {[%eval 1.0]} g5 {[%eval #1]} 3. Qh5# 1-0
"""


@pytest.fixture(scope="module")
def moves():
    return played_moves(read_games(io.StringIO(GAME)))


def weights() -> LossWeights:
    bins = len(LOSS_EDGES) + 1
    slope = np.zeros((3, bins))
    slope[0] = np.linspace(1.0, -1.0, bins)
    return LossWeights(np.zeros((len(LOSS_FEATURES), bins)), slope, np.zeros((3, bins)), (1000.0, 2800.0))


def test_a_loss_is_the_movers_own_and_needs_a_value_before_and_after(moves):
    found = move_losses(moves, evaluations_from_comments(moves.games))
    assert found.at.tolist() == [1, 2, 3, 4]
    assert found.losses[0] == pytest.approx(scaled_loss(1.1, 0.3), abs=1e-5)
    assert found.losses[2] > 2
    assert found.losses[3] == pytest.approx(0, abs=0.1)


def test_who_loses_much_is_thought_weaker_and_the_source_stands_beside_the_others(moves):
    evaluations = evaluations_from_comments(moves.games)
    labels = ["Bob" if black else "Ann" for black in moves.black.tolist()]
    curves = with_evaluations(game_curves(moves, labels), moves, evaluations, labels, weights())
    ann, bob = curves.of(0)["evaluated"][0], curves.of(1)["evaluated"][0]
    assert ELO[ann.argmax()] > 2000 > ELO[bob.argmax()]
    assert set(curves.of(0)) == {"opening", "evaluated"}


def test_a_move_without_a_label_counts_for_nobody_and_other_games_are_refused(moves):
    found = move_losses(moves, evaluations_from_comments(moves.games))
    labels = [None if black else "Ann" for black in moves.black.tolist()]
    assert evaluated_curves(moves, found, labels, weights()).moves.tolist() == [2]
    with pytest.raises(InputError, match="games"):
        move_losses(moves, evaluations_from_comments(read_games([])))


def test_the_axis_that_ships_takes_evaluations_and_they_narrow_the_posterior(moves):
    axis = elo_axis()
    effort = axis.effort(EVALUATIONS)
    labels = ["Bob" if black else "Ann" for black in moves.black.tolist()]
    alone = game_curves(moves, labels)
    both = with_evaluations(alone, moves, evaluations_from_comments(moves.games), labels, effort.losses)
    bob, thought = (axis.posterior(curves.of(1), EVALUATIONS, axis.prior()) for curves in (both, alone))
    assert bob.mean < thought.mean - 20
    assert bob.sd < thought.sd
