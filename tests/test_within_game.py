"""Competence inside games: the running posterior ends where the whole game's stands, the chart holds every game."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.decision import Decisions
from skilloscope.errors import InputError
from skilloscope.inference import Uniform, evidence
from skilloscope.models.agent import Agent, probability
from skilloscope.studies.simulation import cut_lists, simulated_deciders
from skilloscope.studies.within_game import running_competence


def a_game(seed: int, n: int = 15, *, unlisted: bool = False) -> Decisions:
    """Return a simulated game: two deciders who decide in turn."""
    rng = np.random.default_rng(seed)
    both = simulated_deciders(rng.uniform(0.3, 2.0, 2), n, alternatives=14, rng=rng)
    both = cut_lists(both, 10, rng=rng) if unlisted else both
    turns = both.select(np.arange(2 * n).reshape(2, n).T.ravel())
    context = {"game": ["g"] * (2 * n), "ply": list(range(24, 24 + 2 * n))}
    return Decisions(
        turns.deciders, turns.decider, turns.values, turns.offsets, turns.chosen, turns.n_legal, context=context
    )


class TestRunningCompetence:
    @given(st.integers(0, 2**32 - 1), st.booleans())
    @settings(max_examples=10, deadline=None)
    def test_it_ends_where_the_posterior_of_the_whole_game_stands(self, seed, unlisted):
        batch = a_game(seed, unlisted=unlisted)
        running = running_competence(batch)
        whole = evidence(batch)
        for name in whole:
            last = running.rows_of(name)[-1]
            posterior = whole[name].posterior()
            assert running.decisions[last] == whole[name].decisions
            assert running.c[last] == pytest.approx(posterior.mean, abs=1e-7)
            assert running.sd[last] == pytest.approx(posterior.sd, abs=1e-7)
            assert (running.low[last], running.high[last]) == pytest.approx(posterior.interval(), abs=1e-6)

    def test_the_probabilities_multiply_to_the_evidence_averaged_over_the_prior(self):
        running = running_competence(a_game(3))
        curve = evidence(a_game(3))["decider 0"]
        at = np.linspace(0, 4, 20_001)
        averaged = np.trapezoid(np.exp(curve.log_likelihood(at)), at) / 4
        own = running.probability[running.rows_of("decider 0")]
        assert np.log(own).sum() == pytest.approx(np.log(averaged), abs=1e-6)

    def test_the_first_choice_has_the_agents_probability_averaged_over_the_prior(self):
        batch = Decisions.from_lists(["Ann"], [[0.0, -0.3, -0.5]], [1])
        averaged = np.mean([probability([0.0, 0.3, 0.5], c)[1] for c in (np.arange(4000) + 0.5) / 1000])
        assert running_competence(batch).probability[0] == pytest.approx(averaged, abs=1e-7)

    def test_an_unlisted_choice_changes_nothing_and_is_counted(self):
        lists = [[0.0, -0.2], [0.0, -0.2], [0.0, -0.2]]
        batch = Decisions.from_lists(["Ann"] * 3, lists, [0, -1, 0], n_legal=[5, 5, 5])
        running = running_competence(batch, Agent(rule="listed"))
        assert running.decisions.tolist() == [1, 1, 2]
        assert running.c[0] == running.c[1] != running.c[2]
        assert np.isnan(running.probability[1])
        assert running.tally.as_dict() == {"unlisted choice": 1}
        sent = running.as_dict()["moves"][1]
        assert (sent["probability"], sent["loss"], sent["place"]) == (None, None, None)

    def test_decisions_are_followed_in_the_order_of_their_plies(self):
        batch = a_game(5)
        shuffled = batch.select(np.random.default_rng(1).permutation(len(batch)))
        one, other = running_competence(batch), running_competence(shuffled)
        assert other.ply.tolist() == sorted(other.ply)
        np.testing.assert_allclose(one.c, other.c, atol=1e-9)

    def test_a_move_has_its_name(self):
        fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
        batch = Decisions.from_lists(
            ["Ann"], [[0.3, 0.1]], [0], n_legal=[20], context={"fen": [fen], "move": ["g1f3"], "ply": [0]}
        )
        assert running_competence(batch).move == ["Nf3"]

    def test_two_games_are_refused(self):
        batch = Decisions.from_lists(["Ann"] * 2, [[0.0, -1.0]] * 2, [0, 0], context={"game": ["a", "b"]})
        with pytest.raises(InputError, match="2 games"):
            running_competence(batch)

    def test_the_prior_is_used_and_named(self):
        running = running_competence(a_game(6), prior=Uniform(0.0, 2.0))
        assert running.prior == "uniform on [0, 2]"
        assert running.c.max() < 2
