"""Choices on early years, judged on late ones: what is known of simulated players must come out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import logsumexp

from simulated import in_pairs
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.evidence import agent_evidence
from skilloscope.models.agent import Agent
from skilloscope.papers import ENTRIES, reproduce
from skilloscope.papers.dfh13_choices import PAPERS, choose, elo_gain, judgement, predictive
from skilloscope.papers.harness import Budget
from skilloscope.simulate.deciders import simulated_deciders


def career(k: float = 0.1, games: int = 60, each: int = 30, seed: int = 1) -> Decisions:
    """Return games of 2006–2014 at five mileposts by agents of this k, c rising with Elo."""
    rng = np.random.default_rng(seed)
    post = np.resize([2000, 2100, 2200, 2300, 2400], games).repeat(2)
    scale = np.log1p(1 / 0.1) / np.log1p(1 / k)  # about the same choices whatever the k
    batch = simulated_deciders(scale * (0.4 + 0.002 * (post - 2000)), each, k=k, rng=rng)
    year = np.resize(np.arange(2006, 2015), games).repeat(2).astype(np.int32)
    return in_pairs(batch, elo=post.astype(np.int32), opponent_elo=post.astype(np.int32), year=year)


def test_the_k_behind_the_choices_is_chosen_and_holds_on_the_late_years():
    found = choose(career(0.4, games=120), ks=(0.05, 0.1, 0.4, 1.6), highs=(4.0,), filters=(3.0,))
    assert found.chosen.k == 0.4
    by_k = {score.option.k: score for score in found.scores if score.of == "k"}
    assert by_k[0.4].late_gain[0] == max(score.late_gain[0] for score in by_k.values())
    assert by_k[0.4].late_gain[0] > 2 * by_k[0.4].late_gain[1] > 0
    assert by_k[0.1].late_gain == (0.0, 0.0)


def test_prediction_is_the_likelihood_of_the_second_half_averaged_over_the_posterior_of_the_first():
    batch = career(games=1, each=8)
    score, sizes = predictive(batch, PAPERS)
    assert sizes.tolist() == [4, 4]
    own = batch.select(batch.decider == 0)
    halves = [agent_evidence(own.select(part), Agent()).total() for part in (slice(0, 4), slice(4, 8))]
    at = np.linspace(0, 4, 4001)
    first, second = (half.log_likelihood(at) for half in halves)
    assert score[0] == pytest.approx(logsumexp(first + second) - logsumexp(first), abs=1e-3)


def test_a_line_over_elo_gains_where_skill_rises_with_it_and_hardly_where_it_does_not():
    rising = career(games=80)
    assert elo_gain(rising, PAPERS).mean() > 0.3
    shuffled = np.random.default_rng(2).permutation(160)
    elo = rising.column("elo").to_numpy()[::30][shuffled][rising.decider]
    at = rising.context.schema.get_field_index("elo")
    other = replace(rising, context=rising.context.set_column(at, "elo", pa.array(elo)))
    assert 0 <= elo_gain(other, PAPERS).sum() < 5  # half a chi-square of one degree of freedom


def test_each_option_is_judged_on_the_late_years():
    found = choose(career(), ks=(0.1, 0.2), highs=(4.0, 8.0), filters=(3.0, 39.0))
    assert len(found.scores) == 6
    assert [option for option, _ in found.judged][-1] == PAPERS
    rank, error = judgement(found.judged[-1][1])
    assert rank is not None
    assert rank > 0.8
    assert error is not None
    assert error > 0


def test_a_span_without_games_is_refused():
    with pytest.raises(InputError, match="fewer than three games"):
        choose(career(), early=(1990, 1995))


NEED_GAMES = ["DFHR09.I", "DFHR09.II", "DFH13.III", "DFH13.line2", "DFH13.mileposts", "DFH13.choices"]


@pytest.mark.parametrize("key", [*NEED_GAMES, "DFHR09.III", "DFH13.IV", "DFH13.figure3"])
def test_without_games_the_papers_tables_are_printed_with_nothing_of_ours(key):
    [(entry, outcome)] = reproduce(ENTRIES, key).entries
    assert entry.key == key
    assert outcome.rows
    assert "--data" in outcome.notes[0]
    implied = [row for row in outcome.rows if row.ours is not None]
    assert all(row.within for row in implied)  # only what printed columns imply for each other
    assert all(row.ours is None for row in outcome.rows) or key in ("DFH13.III", "DFHR09.III", "DFH13.IV")


def test_the_analysed_games_come_within_a_two_hundredth_of_the_independent_figures(shared_data):
    """Twelve mileposts, about a thousand decisions each; every entry of the same games is filled."""
    budget = Budget(data=shared_data)
    found = {key: reproduce(ENTRIES, key, budget).entries[0][1] for key in [*NEED_GAMES, "DFH13.IV", "DFH13.figure3"]}
    rows = found["DFH13.mileposts"].rows
    assert len(rows) == 12
    assert all(row.within for row in rows)
    assert max(abs(row.difference or 0) for row in rows) < 0.001
    for key, outcome in found.items():
        assert all(row.ours is not None for row in outcome.rows), key
        assert any("positions" in note or "games" in note for note in outcome.notes)
    c = [row.ours for row in found["DFHR09.II"].rows if row.label.endswith("c̄")]
    assert np.corrcoef(c, np.arange(7))[0, 1] > 0.9


def test_what_entries_share_is_made_once_for_a_budget_and_anew_for_another():
    made: list[int] = []

    def make(budget: Budget) -> int:
        made.append(budget.seed)
        return len(made)

    one, other = Budget(seed=1), Budget(seed=1)
    assert (one.once(make), one.once(make), other.once(make)) == (1, 1, 2)
    assert replace(one, minutes=5.0).once(make) == 3  # more time may know more games
    assert made == [1, 1, 1]
