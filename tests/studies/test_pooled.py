"""Composite players, the line to Elo, the split by result: simulated players, and the real games where they are."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, linregress
from typer.testing import CliRunner

from simulated import in_pairs
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import batch_to_parquet
from skilloscope.evidence import EvidenceTable, Grid, agent_evidence
from skilloscope.evidence.held_out import cluster_interval
from skilloscope.evidence.table import read_evidence, write_evidence
from skilloscope.papers.harness import paper_table, printed
from skilloscope.ratings.mileposts import beyond_reason, elo_line, fit_elo_line, with_mileposts
from skilloscope.simulate.deciders import simulated_deciders
from skilloscope.studies.player_games import means_and_sds, player_games, results_split
from skilloscope.studies.pooled import PooledRequest, PooledStudy, pooled_players

MILEPOSTS = [2000, 2100, 2200, 2300, 2400]
SLOPE, AT_2000 = 0.0006, 1.0
WINNERS_LEAD = 0.15
"""By so much the c of a game's winner is above that of its loser."""


def simulated(games: int = 20, each: int = 25, spread: float = 0.0, seed: int = 1) -> Decisions:
    """Return games between equals at five mileposts; c rises with Elo, winners choose a little better."""
    rng = np.random.default_rng(seed)
    post = np.repeat(MILEPOSTS, 2 * games)
    result = np.resize([1.0, 0.0, 0.5, 0.5], len(post))
    c = AT_2000 + SLOPE * (post - 2000) + WINNERS_LEAD * (result - 0.5) + spread * rng.standard_normal(len(post))
    batch = simulated_deciders(np.maximum(c, 0.0), each, rng=rng)
    offset = rng.integers(-15, 16, len(post))
    elo = (post + offset).astype(np.int32)
    swapped = elo[np.arange(len(elo)) ^ 1]
    return replace(in_pairs(batch, elo=elo, opponent_elo=swapped, result=result), about={"domain": "chess"})


class TestMileposts:
    def test_both_players_must_be_near_the_same_milepost_and_the_others_are_counted(self):
        values, chosen = [[0.0, -0.1]] * 5, [0] * 5
        ratings = {"elo": [2395, 2410, 2411, 2400, None], "opponent_elo": [2405, 2395, 2400, 2500, 2400]}
        batch = Decisions.from_lists(["a", "b", "c", "d", "e"], values, chosen, context=ratings)
        kept = with_mileposts(batch, 10)
        assert kept.names() == ["a", "b"]
        assert kept.column("milepost").to_pylist() == [2400, 2400]
        assert kept.skipped == {beyond_reason(10): 2, "no rating": 1}
        assert with_mileposts(batch, 10, both=False).names() == ["a", "b", "d"]

    @given(st.integers(1000, 2900), st.integers(0, 49))
    def test_an_elo_is_kept_exactly_where_it_is_within_the_tolerance(self, elo, tolerance):
        batch = Decisions.from_lists(["a"], [[0.0, -1.0]], [0], context={"elo": [elo]})
        kept = with_mileposts(batch, tolerance, both=False)
        assert len(kept) == (min(elo % 100, 100 - elo % 100) <= tolerance)

    def test_a_tolerance_beyond_half_a_step_is_refused(self):
        with pytest.raises(InputError, match="tolerance"):
            with_mileposts(simulated(2), 50)


@pytest.fixture(scope="module")
def study() -> PooledStudy:
    return pooled_players(simulated(60), PooledRequest(tolerance=15))


class TestComposites:
    def test_the_competence_behind_the_choices_is_found_again(self, study):
        truth = AT_2000 + SLOPE * (np.array(MILEPOSTS) - 2000)
        z = [(group.c.mean - c) / group.c.sd for group, c in zip(study.groups, truth, strict=True)]
        assert np.abs(z).max() < 3
        assert [group.label for group in study.groups] == MILEPOSTS

    def test_the_line_is_the_one_behind_the_choices(self, study):
        assert study.line is not None
        assert study.line.slope == pytest.approx(1 / SLOPE, abs=4 * study.line.slope_sd)

    def test_sd_times_root_n_is_nearly_the_same_for_every_group(self, study):
        found = [group.sd_root_n for group in study.groups]
        assert max(found) / min(found) < 1.25  # it changes with c alone, here from 1.0 to 1.24

    def test_a_group_is_the_posterior_of_its_decisions_alone(self, study):
        batch = with_mileposts(simulated(60), 15)
        own = batch.select(batch.column("milepost").to_numpy() == 2200)
        group = study.named("2200")
        alone = agent_evidence(replace(own, decider=np.zeros_like(own.decider)), grid=group.evidence.grid).total()
        assert group.decisions == alone.decisions == len(own)
        assert group.c.mean == pytest.approx(alone.posterior().mean, abs=1e-9)
        assert group.games == len(own.groups("game")[0])

    @pytest.mark.parametrize(("n", "groups"), [(20, 400), (200, 200)])
    def test_the_regions_of_groups_cover_as_often_as_they_say(self, n, groups):
        """Several deciders of one c make a group; c comes from the prior. test_coverage_of_intervals has 20,000."""
        rng = np.random.default_rng(n)
        truth = rng.uniform(0, 4, groups)
        batch = simulated_deciders(np.repeat(truth, 4), n // 4, rng=rng)
        teams = replace(batch, context=pa.table({"team": pa.array(batch.decider // 4)}))
        study = pooled_players(teams, PooledRequest(by="team"))
        bounds = np.array([group.c.interval(0.95) for group in study.groups])
        hits = int(((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).sum())
        assert binomtest(hits, groups, 0.95).pvalue > 1e-3, f"{hits} of {groups} cover"

    def test_any_column_makes_groups_and_only_mileposts_a_line(self):
        study = pooled_players(simulated(4), PooledRequest(by="mover"))
        assert [group.group for group in study.groups] == ["black", "white"]
        assert study.line is None

    def test_nothing_left_is_an_error_with_a_hint(self):
        with pytest.raises(InputError, match="no decisions left") as error:
            pooled_players(simulated(1).select([0]), PooledRequest(tolerance=0))
        assert "--tolerance" in error.value.hint


class TestLine:
    def test_it_is_ordinary_least_squares_with_its_textbook_errors(self):
        rng = np.random.default_rng(3)
        c = rng.uniform(1, 1.5, 12)
        elo = 2000 * c + rng.normal(0, 50, 12)
        line, known = fit_elo_line(c, elo), linregress(c, elo)
        assert (line.slope, line.intercept) == pytest.approx((known.slope, known.intercept))
        assert (line.slope_sd, line.intercept_sd) == pytest.approx((known.stderr, known.intercept_stderr))

    def test_the_printed_table_gives_the_printed_line_within_its_rounding(self):
        table = paper_table("DFH13_table_III")
        elo = [2100 + 100 * i for i in range(7)]
        half = printed(table[0]["c"]).half_unit
        corners = product(*((float(row["c"]) - half, float(row["c"]) + half) for row in table))
        slopes, intercepts = zip(*(elo_line(c, elo) for c in corners), strict=True)
        assert min(slopes) < printed("1949.53").value < max(slopes)
        assert min(intercepts) < printed("32.39").value < max(intercepts)

    def test_a_further_group_falls_into_the_prediction_interval_as_often_as_it_says(self):
        rng = np.random.default_rng(5)
        hits = 0
        for _ in range(1000):
            c = rng.uniform(1, 1.5, 8)
            elo = 2000 * c + rng.normal(0, 50, 8)
            low, high = fit_elo_line(c[:-1], elo[:-1]).prediction_interval(c[-1], 0.9)
            hits += low <= elo[-1] <= high
        assert binomtest(hits, 1000, 0.9).pvalue > 1e-3, f"{hits} of 1000"

    def test_an_uncertain_c_widens_the_interval(self):
        line = fit_elo_line([1.0, 1.1, 1.3], [2000, 2250, 2600])
        exact, rough = line.prediction_interval(1.2), line.prediction_interval(1.2, sd=0.1)
        assert rough[0] < exact[0] < exact[1] < rough[1]

    def test_two_groups_are_too_few_for_errors(self):
        with pytest.raises(InputError, match="three groups"):
            fit_elo_line([1.0, 1.2], [2000, 2400])


@pytest.fixture(scope="module")
def split():
    return results_split(player_games(with_mileposts(simulated(80), 15), by="milepost"))


class TestSplit:
    def test_winners_show_more_than_losers_of_the_same_game(self, split):
        difference = split.differences[0]
        assert difference.of.startswith("won − lost")
        assert 0 < difference.low < WINNERS_LEAD
        assert difference.high > 0.8 * WINNERS_LEAD  # 25 decisions, and a prior that pulls both sides together

    def test_sd_and_variance_have_their_own_names(self, split):
        for row in split.results:
            assert row.variance == pytest.approx(row.sd**2)
            assert row.sd == pytest.approx(
                row.sampling_sd, rel=0.35
            )  # nothing but few decisions, and the mileposts, spread them
        assert sum(row.player_games for row in split.results) == split.player_games

    def test_the_papers_sigma_looks_like_a_variance(self):
        """25 decisions at c = 1.2 leave an sd of about 0.24: the printed 0.0686 cannot be an sd, its root can."""
        rng = np.random.default_rng(6)
        _, sds = means_and_sds(agent_evidence(simulated_deciders(np.full(300, 1.2), 25, rng=rng), grid=Grid()))
        implied = np.sqrt((sds**2).mean())
        for row in paper_table("DFHR09_table_III"):
            assert float(row["sd"]) < 0.5 * implied < np.sqrt(float(row["sd"]))

    def test_a_game_with_one_side_only_makes_no_pair_and_is_counted(self):
        batch = simulated(4)
        lone = (batch.column("game").to_numpy(zero_copy_only=False) == "g0") & (batch.decider == 1)
        split = results_split(player_games(batch.select(~lone), by="mover"))
        assert split.tally.counts == {"decisive game with one side's decisions only": 1}

    def test_decisions_without_games_cannot_be_split(self):
        batch = Decisions.from_lists(["a"], [[0.0, -1.0]], [0], context={"result": [1.0]})
        with pytest.raises(InputError, match="have no game"):
            results_split(player_games(batch, by="decider"))

    def test_the_bootstrap_covers_a_mean(self):
        rng = np.random.default_rng(7)
        hits = 0
        for _ in range(200):
            low, high = cluster_interval(rng.exponential(size=60), np.ones(60), rng=rng, repeats=200)
            hits += low <= 1.0 <= high
        # A percentile bootstrap of 60 skewed values covers a little less than the 95 % it says.
        assert binomtest(hits, 200, 0.93).pvalue > 1e-3, f"{hits} of 200"

    def test_a_single_game_has_neither_spread_nor_interval(self):
        context = {"game": ["g"] * 4, "mover": ["w", "b"] * 2, "result": [1.0, 0.0] * 2}
        batch = Decisions.from_lists(["a", "b"] * 2, [[0.0, -0.3]] * 4, [0, 1, 0, 1], context=context)
        split = results_split(player_games(batch, by="decider"))
        for row in (split["won"], split["lost"]):
            assert (row.sd, row.variance, row.low, row.high) == (None, None, None, None)
        assert [(found.low, found.high) for found in split.differences] == [(None, None)]
        assert "(" not in split.table().rows[0][3]

    def test_the_interval_of_draws_is_about_their_mean_also_where_one_side_is_missing(self):
        sides = [("g1", "w"), ("g1", "b"), ("g2", "w"), ("g2", "b"), ("g3", "w")]
        context = {"game": [g for g, _ in sides], "mover": [m for _, m in sides], "result": [0.5] * 5}
        batch = Decisions.from_lists(["a"] * 5, [[0.0, -0.3]] * 5, [0, 0, 0, 0, 1], context=context)
        row = results_split(player_games(batch, by="decider"))["drawn"]
        assert row.low < row.mean < row.high


class TestStoredEvidence:
    def test_a_file_gives_back_every_bit(self, tmp_path):
        table = player_games(simulated(3), by="elo").table
        write_evidence(table, tmp_path / "evidence.parquet")
        back = read_evidence(tmp_path / "evidence.parquet")
        assert back.labels == table.labels
        assert np.array_equal(back.curves, table.curves)
        assert np.array_equal(back.decisions, table.decisions)
        assert (back.grid, back.about, back.tally.counts) == (table.grid, table.about, table.tally.counts)

    def test_another_parquet_file_is_refused(self, tmp_path):
        batch_to_parquet(simulated(1), tmp_path / "decisions.parquet")
        with pytest.raises(InputError, match="holds no evidence"):
            read_evidence(tmp_path / "decisions.parquet")

    @given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
    def test_regrouping_adds_what_adding_one_by_one_adds(self, labels):
        rng = np.random.default_rng(len(labels))
        counts = np.arange(len(labels))
        table = EvidenceTable(Grid(0, 4, 8), list(range(len(labels))), rng.normal(size=(len(labels), 8)), counts)
        by_list, by_array = table.regrouped(labels), table.regrouped(np.array(labels))
        assert by_list.labels == by_array.labels == list(dict.fromkeys(labels))
        for label in by_list:
            own = [i for i, other in enumerate(labels) if other == label]
            assert by_list[label].curve == pytest.approx(table.curves[own].sum(axis=0), abs=1e-12)
            assert np.array_equal(by_list[label].curve, by_array[label].curve)
            assert by_list[label].decisions == counts[own].sum()

    def test_many_posteriors_at_once_equal_one_by_one(self):
        rng = np.random.default_rng(8)
        table = agent_evidence(simulated_deciders([0.3, 1.0, 2.0, 1.2], 30, rng=rng), grid=Grid())
        long = agent_evidence(simulated_deciders([1.2], 20_000, rng=rng), grid=Grid())
        for some in (table, long):
            means, sds = means_and_sds(some)
            posteriors = [some[label].posterior() for label in some]
            assert means == pytest.approx([posterior.mean for posterior in posteriors], abs=1e-5)
            assert sds == pytest.approx([posterior.sd for posterior in posteriors], abs=1e-5)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("composites") / "decisions.parquet"
    batch_to_parquet(simulated(6), path)
    return path


class TestCommand:
    def run(self, *words: str):
        return CliRunner().invoke(app, ["papers", "pooled", *words], catch_exceptions=False)

    def test_the_page_the_tables_and_the_json_agree(self, table, tmp_path):
        page = tmp_path / "page.html"
        words = [str(table), "--tolerance", "15", "--split", "result", "--convergence", "--html", str(page)]
        done, sent = self.run(*words), json.loads(self.run(*words, "--json").stdout)
        assert done.exit_code == 0, done.output
        c = f"{sent['groups'][0]['c']:.3f}"
        assert c in done.stdout
        text = page.read_text(encoding="utf-8")
        assert c in text
        assert text.count("<svg") == 4
        assert sent["line"]["groups"] == 5
        assert sent["convergence"]["steps"][-1]["decisions"] == max(g["decisions"] for g in sent["groups"])
        assert {row["result"] for row in sent["split"]["results"]} == {"won", "lost", "drawn"}

    def test_one_group_may_be_asked_for(self, table):
        words = [str(table), "--tolerance", "15", "--split", "result", "--convergence", "--group", "2300", "--json"]
        sent = json.loads(self.run(*words).stdout)
        assert (sent["split"]["group"], sent["convergence"]["group"]) == ("2300", "2300")
        assert self.run(str(table), "--convergence", "--group", "1000").exit_code == 1

    def test_a_split_by_something_else_is_refused(self, table):
        done = self.run(str(table), "--split", "colour")
        assert done.exit_code == 2
        assert "no split" in done.stderr


def test_the_same_study_draws_the_same_bytes_and_the_page_holds_everything():
    batch = with_mileposts(simulated(4), 15)
    rows = player_games(batch)
    study, split = pooled_players(batch, PooledRequest(tolerance=15)), results_split(rows)
    assert len(study.figures()) == 2
    for figure in (*study.figures(), *split.figures()):
        assert figure.svg() == figure.svg()
    page = replace(study, split=split).page("simulated")
    assert page.count("<svg") == 3
    assert "<script" not in page
    assert 'src="' not in page
    assert 'href="http' not in page
