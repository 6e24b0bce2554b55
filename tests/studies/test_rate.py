"""Scales and ratings: the line is recovered, Elo intervals cover, and every mismatch is a warning."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from line_fitting import fit_line
from skilloscope.core.errors import InputError
from skilloscope.decision import UNLISTED, Decisions
from skilloscope.evidence import Evidence, Grid, Uniform, agent_evidence
from skilloscope.evidence.scales import Scale, elo_prior, scale
from skilloscope.inputs.load import resolve_player
from skilloscope.models.agent import Agent
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices
from skilloscope.studies.agent_ratings import rate_decisions as rate

DEFAULT = scale("default")


def player_games(elo: np.ndarray, decisions: int, rng: np.random.Generator, spread: float = 0.0) -> Decisions:
    """Return one decider per Elo with competence on the default line, varied from game to game by `spread`."""
    c = np.maximum(DEFAULT.parameter(elo) + spread * rng.normal(size=len(elo)), 0.0)
    simulated = simulate_choices(made_up_spreads(len(elo) * decisions, rng=rng), np.repeat(c, decisions), rng=rng)
    codes = np.repeat(np.arange(len(elo), dtype=np.int32), decisions)
    names = tuple(f"game {i}" for i in range(len(elo)))
    about = {"settings": dict(DEFAULT.settings)}
    return replace(simulated, deciders=names, decider=codes, context={"game": codes, "elo": elo[codes]}, about=about)


def test_a_line_is_recovered_with_honest_standard_errors():
    rng = np.random.default_rng(5)
    elo = rng.uniform(1600, 2700, 600)
    line = fit_line(agent_evidence(player_games(elo, 40, rng), grid=Grid()), elo - DEFAULT.origin, np.arange(600))
    sd = np.sqrt(np.diag(line.covariance))
    assert abs(line.intercept - DEFAULT.intercept) < 3 * sd[0]
    assert abs(line.slope - DEFAULT.slope) < 3 * sd[1]
    assert line.dispersion == pytest.approx(1.0, abs=0.15)


def test_games_that_scatter_more_than_the_model_raise_the_dispersion():
    rng = np.random.default_rng(6)
    elo = rng.uniform(1600, 2700, 600)
    batch = player_games(elo, 40, rng, spread=0.25)
    line = fit_line(agent_evidence(batch, grid=Grid()), elo - DEFAULT.origin, np.arange(600))
    assert line.dispersion > 1.5


def test_a_line_needs_two_distinct_points():
    rng = np.random.default_rng(7)
    table = agent_evidence(player_games(np.array([2000.0, 2000.0]), 5, rng), grid=Grid())
    with pytest.raises(InputError, match="two distinct"):
        fit_line(table, [0.0, 0.0], np.arange(2))


def test_elo_intervals_cover_when_elo_comes_from_the_prior_and_are_wider_by_the_dispersion():
    rng = np.random.default_rng(8)
    elo = rng.uniform(400, 3600, 400)
    exact = replace(DEFAULT, dispersion=1.0, covariance=((0.0, 0.0), (0.0, 0.0)))
    table = agent_evidence(player_games(elo, 60, rng))
    bounds = np.array([exact.posterior(table[name], Uniform(400, 3600)).interval() for name in table])
    covered = ((bounds[:, 0] <= elo) & (elo <= bounds[:, 1])).mean()
    assert covered == pytest.approx(0.95, abs=0.035)
    name = "game 0"
    narrow = exact.posterior(table[name], Uniform(400, 3600)).sd
    assert DEFAULT.posterior(table[name], Uniform(400, 3600)).sd > narrow


def test_the_line_reads_both_ways():
    assert DEFAULT.elo(DEFAULT.parameter([1700.0, 2500.0])) == pytest.approx([1700.0, 2500.0])


def test_a_scale_goes_through_json_and_another_schema_is_refused(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(DEFAULT.to_json())
    assert scale(str(path)) == DEFAULT
    path.write_text(json.dumps({**json.loads(DEFAULT.to_json()), "schema": 99}))
    with pytest.raises(InputError, match="schema 99"):
        scale(str(path))
    path.write_text("{}")
    with pytest.raises(InputError):
        scale(str(path))
    with pytest.raises(InputError, match="no such file"):
        scale("nowhere.json")
    with pytest.raises(InputError, match="no scale 'other'"):
        scale("other")


def test_the_shipped_scale_is_provisional_and_says_what_it_stands_on():
    assert DEFAULT.provisional
    assert DEFAULT.dispersion > 1
    assert DEFAULT.valid == (1600.0, 2700.0)
    assert "decisions" in DEFAULT.data


@pytest.mark.parametrize(
    ("change", "said"),
    [({"depth": 12}, "depth is 12"), ({"engine": "Other 1"}, "engine is 'Other 1'"), ({"multipv": 5}, "multipv is 5")],
)
def test_other_settings_than_the_scales_are_a_warning(change, said):
    warnings = DEFAULT.warnings(DEFAULT.model, {**DEFAULT.settings, **change})
    assert len(warnings) == 1
    assert said in warnings[0]
    assert DEFAULT.warnings(DEFAULT.model, DEFAULT.settings) == []
    assert "unknown" in DEFAULT.warnings(DEFAULT.model, {})[0]
    assert "k is 0.2" in DEFAULT.warnings(Agent(k=0.2).about(), DEFAULT.settings)[0]


def test_the_headers_rating_is_used_only_when_asked_for():
    rng = np.random.default_rng(9)
    batch = player_games(np.array([2000.0]), 30, rng)
    other = replace(batch, context={"game": batch.decider, "elo": np.full(30, 2600.0)})
    for prior in ("flat", "population"):
        one, two = (rate(b, prior=prior).players[0].elo for b in (batch, other))
        assert one.mean == two.mean
    helped = rate(other, prior="header").players[0].elo
    assert abs(helped.mean - 2600) < 150
    assert "2600" in helped.prior
    assert isinstance(elo_prior("header", DEFAULT), Uniform)
    with pytest.raises(InputError, match="no prior"):
        elo_prior("best", DEFAULT)


def test_a_rating_outside_the_scales_range_is_marked():
    rng = np.random.default_rng(10)
    ratings = rate(player_games(np.array([1000.0, 2100.0]), 4000, rng))
    marks = {player.player: player.extrapolated for player in ratings.players}
    assert marks == {"game 0": True, "game 1": False}
    assert [player.player for player in ratings.players] == ["game 1", "game 0"]


def test_evidence_that_says_nothing_leaves_the_whole_range():
    posterior = DEFAULT.posterior(Evidence.zero(Grid()), Uniform(400, 3600))
    assert posterior.interval(0.9) == pytest.approx((560, 3440), abs=20)
    assert posterior.edge is not None


def test_move_match_and_mean_loss_count_unlisted_choices():
    batch = Decisions.from_lists(["a"] * 4, [[0.0, -0.3, -1.0]] * 4, [0, 0, 1, UNLISTED], n_legal=[20] * 4)
    assert batch.loss_with_floor().tolist() == pytest.approx([0, 0, 0.3, 1.0])
    player = rate(batch).players[0]
    assert player.statistics.move_match == 0.5
    assert player.statistics.mean_loss == pytest.approx(1.3 / 4)
    assert player.decisions == 3
    assert player.unlisted == 1


def test_grouping_by_another_column_and_choosing_a_player():
    rng = np.random.default_rng(12)
    batch = player_games(np.array([2000.0, 2400.0]), 50, rng)
    assert len(rate(batch, by="elo").players) == 2
    resolve_player("game 1", batch.names())
    with pytest.raises(InputError, match="no decisions of a player") as error:
        resolve_player("gam 1", batch.names())
    assert "game 1" in error.value.hint


def test_the_shipped_line_comes_out_of_the_analysed_games(shared_data):
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
    try:
        from fit_scale import fit_scale
    finally:
        sys.path.pop(0)
    from skilloscope.chess.analysis.analyses import decisions
    from skilloscope.chess.analysis.files import read_analysed

    batch = decisions(read_analysed(shared_data / "analysed" / "bands_sf151_mpv10_depths.jsonl.gz")).at_depths()
    fitted = fit_scale(batch, dict(DEFAULT.population))
    assert isinstance(fitted, Scale)
    assert fitted.intercept == pytest.approx(DEFAULT.intercept, abs=1e-6)
    assert fitted.slope == pytest.approx(DEFAULT.slope, abs=1e-9)
    assert fitted.dispersion == pytest.approx(DEFAULT.dispersion, abs=1e-6)


def test_competence_rises_with_elo_as_an_independent_calculation_found(shared_data):
    from skilloscope.chess.analysis.analyses import decisions
    from skilloscope.chess.analysis.files import read_analysed

    batch = decisions(read_analysed(shared_data / "analysed" / "bands_sf151_mpv10_depths.jsonl.gz")).at_depths()
    milepost = np.round(batch.column("elo").to_numpy().astype(float), -2)
    expected = {1600: 0.963, 1700: 1.093, 1800: 1.040, 1900: 1.101, 2000: 1.108, 2100: 1.138, 2200: 1.185, 2300: 1.270}
    expected |= {2400: 1.252, 2500: 1.406, 2600: 1.381, 2700: 1.398}
    for elo, c in expected.items():
        found = agent_evidence(batch.select(milepost == elo)).total().posterior().mean
        assert found == pytest.approx(c, abs=0.005), elo
