"""Games that bring their evaluations: what each side lost, as evidence beside the human model's."""

from __future__ import annotations

import io

import numpy as np
import pytest

from skilloscope.chess.analysis.evaluations import evaluations_from_comments
from skilloscope.chess.human.played import move_evidence, move_losses, observed_evidence, played_moves
from skilloscope.chess.pgn.games import read_games
from skilloscope.core.errors import InputError
from skilloscope.evidence import EvidenceTable
from skilloscope.evidence.axis import ELO, EVALUATIONS, elo_axis
from skilloscope.models.bins import LOSS_EDGES, LOSS_FEATURES, BinWeights
from skilloscope.models.joint import scaled_loss

GAME = """[White "Ann"]
[Black "Bob"]

1. e4 {[%eval 0.3]} f6 {[%eval 1.1]} 2. d4 {[%eval 1.0]} g5 {[%eval #1]} 3. Qh5# 1-0
"""


@pytest.fixture(scope="module")
def moves():
    return played_moves(read_games(io.StringIO(GAME)))


def weights() -> BinWeights:
    bins = len(LOSS_EDGES) + 1
    slope = np.zeros((len(LOSS_FEATURES), bins))
    slope[0] = np.linspace(1.0, -1.0, bins)
    return BinWeights(0 * slope, slope, 0 * slope, (1000.0, 2800.0), LOSS_EDGES, LOSS_FEATURES)


def with_losses(moves, evaluations, labels, weights):
    rows = observed_evidence(moves, move_losses(moves, evaluations), labels, weights)
    return EvidenceTable.concat([move_evidence(moves, labels), rows])


def test_a_loss_is_the_movers_own_and_needs_a_value_before_and_after(moves):
    found = move_losses(moves, evaluations_from_comments(moves.games))
    assert found.at.tolist() == [1, 2, 3, 4]
    assert found.values[0] == pytest.approx(scaled_loss(1.1, 0.3), abs=1e-5)
    assert found.values[2] > 2
    assert found.values[3] == pytest.approx(0, abs=0.1)


def test_who_loses_much_is_thought_weaker_and_the_source_stands_beside_the_others(moves):
    evaluations = evaluations_from_comments(moves.games)
    labels = ["Bob" if black else "Ann" for black in moves.black.tolist()]
    table = with_losses(moves, evaluations, labels, weights())
    ann, bob = (table.curves_of(name)["evaluated"][0] for name in ("Ann", "Bob"))
    assert ELO[ann.argmax()] > 2000 > ELO[bob.argmax()]
    assert set(table.curves_of("Ann")) == {"opening", "evaluated"}


def test_a_move_without_a_label_counts_for_nobody_and_other_games_are_refused(moves):
    found = move_losses(moves, evaluations_from_comments(moves.games))
    labels = [None if black else "Ann" for black in moves.black.tolist()]
    assert observed_evidence(moves, found, labels, weights()).decisions.tolist() == [2]
    with pytest.raises(InputError, match="games"):
        move_losses(moves, evaluations_from_comments(read_games([])))


def test_the_axis_that_ships_takes_evaluations_and_they_narrow_the_posterior(moves):
    axis = elo_axis()
    effort = axis.effort(EVALUATIONS)
    labels = ["Bob" if black else "Ann" for black in moves.black.tolist()]
    alone = move_evidence(moves, labels)
    both = with_losses(moves, evaluations_from_comments(moves.games), labels, effort.losses)
    bob, thought = (axis.posterior(table.curves_of("Bob"), EVALUATIONS, axis.prior()) for table in (both, alone))
    assert bob.mean < thought.mean - 20
    assert bob.sd < thought.sd
