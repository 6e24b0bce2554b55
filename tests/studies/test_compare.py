"""Before and after: the probability that the second is stronger is exact, symmetric and calibrated."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.decision.align import split_by_column, split_by_date
from skilloscope.decision.text import write_decisions
from skilloscope.evidence import Grid, Posterior, agent_evidence
from skilloscope.evidence.posterior import difference, posterior_from_log_density, probability_greater
from skilloscope.evidence.scales import scale as load_scale
from skilloscope.inputs.bundled import demo_file
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices, simulated_deciders
from skilloscope.studies.compare import compare_sets
from spreads import fisher_information

means = st.floats(0.2, 3.8)
widths = st.floats(0.01, 1.5)


def normal(mean: float, sd: float) -> Posterior:
    """Return a normal posterior, cut to [0, 4]."""
    return posterior_from_log_density(lambda x: -0.5 * ((x - mean) / sd) ** 2, 0.0, 4.0)


class TestTheDifference:
    @given(means, widths, means, widths)
    @settings(max_examples=60, deadline=None)
    def test_one_order_and_the_other_make_one(self, mean, sd, other_mean, other_sd):
        one, other = normal(mean, sd), normal(other_mean, other_sd)
        assert probability_greater(one, other) + probability_greater(other, one) == pytest.approx(1, abs=1e-7)

    @given(means, widths)
    @settings(max_examples=30, deadline=None)
    def test_equal_posteriors_are_even(self, mean, sd):
        assert probability_greater(normal(mean, sd), normal(mean, sd)) == pytest.approx(0.5, abs=1e-7)

    @given(means, widths, means, widths)
    @settings(max_examples=60, deadline=None)
    def test_the_difference_has_the_difference_of_means_the_sum_of_variances_and_the_same_probability(
        self, mean, sd, other_mean, other_sd
    ):
        one, other = normal(mean, sd), normal(other_mean, other_sd)
        change = difference(one, other)
        assert change.mean == pytest.approx(one.mean - other.mean, abs=1e-3)
        assert change.sd == pytest.approx(np.hypot(one.sd, other.sd), rel=1e-2)
        above = change.at > 0
        mass = np.trapezoid(np.where(above, change.density, 0.0), change.at)
        assert mass == pytest.approx(probability_greater(one, other), abs=2e-3)

    @pytest.mark.parametrize(("gap", "sds"), [(0.1, (0.1, 0.1)), (0.05, (0.02, 0.2)), (-0.3, (0.2, 0.1))])
    def test_normal_posteriors_have_the_closed_form(self, gap, sds):
        one, other = normal(2.0 + gap, sds[0]), normal(2.0, sds[1])
        assert probability_greater(one, other) == pytest.approx(norm.cdf(gap / np.hypot(*sds)), abs=1e-7)

    def test_a_very_narrow_posterior_beside_a_wide_one_loses_nothing(self):
        flat = posterior_from_log_density(lambda x: np.zeros_like(x), 0.0, 4.0)
        sharp = normal(1.0, 0.0005)
        assert probability_greater(flat, sharp) == pytest.approx(0.75, abs=1e-7)
        assert probability_greater(sharp, flat) == pytest.approx(0.25, abs=1e-7)
        assert difference(flat, sharp).mean == pytest.approx(1.0, abs=1e-3)


def set_of(c: float, n: int, seed: int, **context) -> Decisions:
    """Return a simulated decider's decisions."""
    batch = simulated_deciders([c], n, rng=np.random.default_rng(seed))
    return replace(batch, deciders=("Ann",), context={name: cells * n for name, cells in context.items()} or None)


class TestComparing:
    def test_a_change_is_found_and_its_absence_too(self):
        found = compare_sets(set_of(0.8, 400, 1), set_of(1.6, 400, 2)).comparisons[0]
        assert found.second_stronger > 0.999
        low, high = found.difference.interval(0.999)
        assert low < 0.8 < high
        same = compare_sets(set_of(1.2, 400, 3), set_of(1.2, 400, 4)).comparisons[0]
        assert 0.01 < same.second_stronger < 0.99

    def test_the_sides_are_the_posteriors_of_each_set_alone(self):
        before, after = set_of(0.8, 60, 5), set_of(1.6, 80, 6)
        found = compare_sets(before, after, labels=("before", "after")).comparisons[0]
        assert (found.first.label, found.first.part.decisions, found.second.part.decisions) == ("before", 60, 80)
        assert found.first.part.posterior.mean == pytest.approx(
            agent_evidence(before)["Ann"].posterior().mean, abs=1e-7
        )
        assert found.second.part.posterior.mean == pytest.approx(
            agent_evidence(after)["Ann"].posterior().mean, abs=1e-7
        )

    def test_the_other_order_gives_the_opposite(self):
        one = compare_sets(set_of(0.9, 50, 7), set_of(1.1, 50, 8)).comparisons[0]
        other = compare_sets(set_of(1.1, 50, 8), set_of(0.9, 50, 7)).comparisons[0]
        assert one.second_stronger + other.second_stronger == pytest.approx(1, abs=1e-7)
        assert one.difference.mean == pytest.approx(-other.difference.mean, abs=1e-6)

    def test_everybody_in_both_sets_is_compared_and_the_others_are_named(self):
        rng = np.random.default_rng(9)
        first = replace(simulated_deciders([1.0, 1.0, 1.0], 20, rng=rng), deciders=("Ann", "Bob", "Cid"))
        second = replace(simulated_deciders([1.0, 1.0, 1.0], 20, rng=rng), deciders=("Ann", "Bob", "Dan"))
        found = compare_sets(first, second)
        assert [one.decider for one in found.comparisons] == ["Ann", "Bob"]
        assert found.sides.unpaired == ["Cid", "Dan"]
        assert any("2 comparisons" in line for line in found.caution)

    def test_a_dispersion_widens_and_pulls_the_probability_to_the_middle(self):
        sets = set_of(0.9, 100, 10), set_of(1.3, 100, 11)
        plain, wide = compare_sets(*sets).comparisons[0], compare_sets(*sets, dispersion=4.0).comparisons[0]
        assert wide.difference.sd > 1.8 * plain.difference.sd
        assert 0.5 < wide.second_stronger < plain.second_stronger

    def test_the_dispersion_of_games_is_recovered(self):
        rng = np.random.default_rng(12)

        def games(spread: float) -> Decisions:
            parts = []
            for game in range(300):
                c = np.full(25, max(0.05, rng.normal(1.2, spread)))
                part = simulate_choices(made_up_spreads(25, rng=rng, name="Ann"), c, rng=rng)
                parts.append(replace(part, context={"game": [f"g{game}"] * 25}))
            return Decisions.concat(parts)

        steady = compare_sets(games(0.0), games(0.0), dispersion=None).basis.dispersion
        restless = compare_sets(games(0.3), games(0.3), dispersion=None).basis.dispersion
        assert 1.0 <= steady < 1.15
        information = fisher_information(made_up_spreads(25 * 400, rng=rng), 1.2) / 400  # of a game, on average
        assert restless == pytest.approx(1 + 0.3**2 * information, rel=0.25)

    def test_games_must_be_known_for_their_dispersion(self):
        with pytest.raises(InputError, match="column `game`"):
            compare_sets(set_of(1, 20, 1), set_of(1, 20, 2), dispersion=None)
        with pytest.raises(InputError, match="positive"):
            compare_sets(set_of(1, 20, 1), set_of(1, 20, 2), dispersion=0.0)

    def test_what_is_said_beside_it_is_never_a_verdict(self):
        found = compare_sets(set_of(1.0, 30, 13), set_of(1.4, 30, 14))
        said = " ".join(found.caution)
        assert "never a verdict" in said
        assert "no dispersion was allowed for" in said
        assert found.as_dict()["comparisons"][0]["elo"] is None
        (figure,) = found.figures()
        assert figure.svg() == figure.svg()
        page = found.page("two tables")
        assert "never a verdict" in page

    def test_a_scale_says_what_the_difference_is_worth(self):
        worth = replace(load_scale(), slope=1 / 2500)
        sent = compare_sets(set_of(1.0, 30, 13), set_of(1.4, 30, 14), scale=worth).as_dict()["comparisons"][0]
        assert sent["elo"]["difference"] == pytest.approx(2500 * sent["difference"])


def calibration(pairs: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of pairs drawn from the prior, and whether the second was in truth stronger."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 4, (pairs, 2))
    table = agent_evidence(simulated_deciders(truth.ravel(), n, rng=rng), grid=Grid())
    posteriors = [table[name].posterior() for name in table]
    found = np.array([probability_greater(posteriors[2 * i + 1], posteriors[2 * i]) for i in range(pairs)])
    return found, truth[:, 1] > truth[:, 0]


@pytest.mark.parametrize("pairs", [500, pytest.param(5000, marks=pytest.mark.soak)])
def test_the_probability_is_calibrated_on_pairs_from_the_prior(pairs):
    found, stronger = calibration(pairs, 12, seed=15)
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.9), (0.9, 1.0)):
        inside = (found >= low) & (found <= high)
        expected = float(found[inside].mean())
        assert inside.sum() > 20
        assert binomtest(int(stronger[inside].sum()), int(inside.sum()), expected).pvalue > 1e-3, (low, high)


class TestSplitting:
    DATES = ("1999.12.31", "2000.01.01", "2000.??.??", "1999.??.??", None, "2000-06-30", "????.??.??")

    def dated(self) -> Decisions:
        n = len(self.DATES)
        return Decisions.from_lists(["Ann"] * n, [[0.0, -1.0]] * n, [0] * n, context={"date": list(self.DATES)})

    def test_dates_are_read_as_far_as_they_are_known(self):
        before, after = split_by_date(self.dated(), "2000-01-01")
        assert before.column("date").to_pylist() == ["1999.12.31", "1999.??.??"]
        assert after.column("date").to_pylist() == ["2000.01.01", "2000.??.??", "2000-06-30"]
        assert (before.tally + after.tally).as_dict() == {"date not known well enough for the split": 2}
        before, after = split_by_date(self.dated(), "2000.06")
        assert len(before) == 3
        assert (before.tally + after.tally).total == 3

    def test_a_split_with_an_empty_side_says_which_dates_there_are(self):
        with pytest.raises(InputError, match="from 2001 on") as late:
            split_by_date(self.dated(), "2001")
        assert late.value.hint == "the dates reach from 1999-01-01 to 2000-12-31; split between them"
        with pytest.raises(InputError, match="is not a date"):
            split_by_date(self.dated(), "July")

    @pytest.mark.parametrize("day", ["2001-13", "2001-02-30", "2001-00-01"])
    def test_a_day_that_no_calendar_has_is_no_split(self, day):
        with pytest.raises(InputError, match="is not a date"):
            split_by_date(self.dated(), day)

    def test_a_column_has_two_values_or_it_is_said_which(self):
        batch = Decisions.from_lists(
            ["Ann"] * 4, [[0.0, -1.0]] * 4, [0] * 4, context={"year": [2001, 2000, None, 2002]}
        )
        with pytest.raises(InputError, match="3 values") as three:
            split_by_column(batch, "year")
        assert "2000; 2001; 2002" in three.value.hint
        first, second, values = split_by_column(batch, "year", ("2002", "2000"))
        assert (len(first), len(second), values) == (1, 1, ("2002", "2000"))
        assert first.tally.as_dict() == {"year is neither 2002 nor 2000": 2}
        with pytest.raises(InputError, match="1999"):
            split_by_column(batch, "year", ("1999", "2000"))


class TestTheCommands:
    def invoke(self, *words: object):
        return CliRunner().invoke(app, [str(word) for word in words])

    def test_games_are_split_at_a_day(self, tmp_path, monkeypatch):
        monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
        games, page = tmp_path / "games.pgn", tmp_path / "page.html"
        rounds = demo_file("simulated.pgn").read_text(encoding="utf-8").split('[Date "????.??.??"]')
        dated = [f'[Date "200{5 if number < 10 else 7}.03.01"]{rest}' for number, rest in enumerate(rounds[1:], 1)]
        games.write_text(rounds[0] + "".join(dated), encoding="utf-8")
        options = ["--player", "simulated, c = 1.4", "--import", demo_file("analyses.jsonl.gz"), "--method", "agent"]
        done = self.invoke("compare", games, *options, "--split-on", "2006-07-01", "--html", page, "--json")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)["comparisons"][0]
        assert (found["first"]["label"], found["second"]["label"]) == ("before 2006-07-01", "from 2006-07-01 on")
        assert found["first"]["decisions"] + found["second"]["decisions"] == 120
        assert found["first"]["games"] + found["second"]["games"] == 9
        assert found["elo"]["difference"] == pytest.approx(found["difference"] / load_scale().slope)
        assert "never a verdict" in page.read_text(encoding="utf-8")
        assert self.invoke("compare", games, *options).exit_code == 2
        assert self.invoke("compare", games, *options, "--split-on", "2030").exit_code == 1
        assert self.invoke("compare", games, *options, "--split-on", "2006", "--dispersion", "wide").exit_code == 2

    def test_two_tables_or_one_with_a_column(self, tmp_path):
        one, two = tmp_path / "one.csv", tmp_path / "two.csv"
        write_decisions(set_of(1.0, 30, 13, half=["a"]), one)
        write_decisions(set_of(1.4, 30, 14, half=["b"]), two)
        both = tmp_path / "both.jsonl"
        write_decisions(Decisions.concat([set_of(1.0, 30, 13, half=["a"]), set_of(1.4, 30, 14, half=["b"])]), both)
        tables = json.loads(self.invoke("decisions", "compare", one, two, "--json").stdout)["comparisons"][0]
        split = json.loads(self.invoke("decisions", "compare", both, "--by", "half", "--json").stdout)["comparisons"][0]
        assert tables["second_stronger"] == pytest.approx(split["second_stronger"], abs=1e-9)
        assert (split["first"]["label"], tables["first"]["label"]) == ("a", "one.csv")
        assert "stronger" in self.invoke("decisions", "compare", one, two).stdout
        assert self.invoke("decisions", "compare", one).exit_code == 2


def test_games_of_nothing_but_ties_have_no_scatter():
    batch = Decisions.from_lists(["Ann"] * 4, [[0.0, 0.0]] * 4, [0] * 4, context={"game": ["a", "b", "c", "d"]})
    assert compare_sets(batch, batch, dispersion=None).basis.dispersion == 1.0
