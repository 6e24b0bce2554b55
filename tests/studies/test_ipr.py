"""What (s, c) predict, the table of section 7, the scale of the curves, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import skilloscope as sk
from curve_scale import ParameterError, error_rating, fit_curve_scale, measure_dispersion, predict_with_error
from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.analysis.analyses import decisions
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.evidence import Uniform
from skilloscope.evidence.scales import MINUS_LOG_S, Scale
from skilloscope.evidence.scales import scale as shipped_scale
from skilloscope.evidence.sources.curves import curve_evidence
from skilloscope.inputs.bundled import demo_file
from skilloscope.models.curves import CurveModel
from skilloscope.papers import ENTRIES, reproduce
from skilloscope.papers.harness import Budget
from skilloscope.papers.rh11 import inflation
from skilloscope.ratings.curve_fits import fit_curves
from skilloscope.simulate.deciders import made_up_spreads, simulate_curve_choices, simulate_elo_choices
from skilloscope.studies.agent_ratings import rate_decisions
from skilloscope.studies.ipr import intrinsic_elo, milepost_table, predict, with_intrinsic_elo

MODEL = CurveModel(scaling=0.0, rule="full")
TRUTH = Scale(
    name="truth",
    model={**MODEL.about(), "parameter": MINUS_LOG_S},
    settings={},
    data="made up",
    pool="nobody",
    origin=2100.0,
    intercept=-np.log(0.12),
    slope=0.0006,
    covariance=((1e-6, 0.0), (0.0, 1e-12)),
    dispersion=1.0,
    valid=(1600.0, 2700.0),
    population={"mean": 2100.0, "sd": 300.0},
    also={"c": (0.5, 0.00002)},
)


@pytest.fixture(scope="module")
def games() -> Decisions:
    """12,000 decisions: 12 mileposts, 25 games each, 20 decisions a side; twenty years."""
    return rated_games(12_000, seed=11)


def rated_games(n: int, seed: int, drift: float = 0.0) -> Decisions:
    rng = np.random.default_rng(seed)
    spreads = made_up_spreads(n, rng=rng)
    game = np.arange(n) // 40
    elo = 1600 + 100 * (game % 12)
    year = 1990 + game % 20
    names = [f"player {g} {m}" for g, m in zip(game, np.arange(n) % 2, strict=True)]
    context = pa.table(
        {
            "game": [f"game {g}" for g in game],
            "mover": np.where(np.arange(n) % 2 == 0, "white", "black").tolist(),
            "elo": elo,
            "year": year,
        }
    )
    deciders = tuple(dict.fromkeys(names))
    codes = {name: i for i, name in enumerate(deciders)}
    batch = simulate_elo_choices(spreads, elo - drift * (year - 2000) / 10, TRUTH, rng=rng)
    return replace(batch, deciders=deciders, decider=np.array([codes[x] for x in names], np.int32), context=context)


def test_predictions_at_the_truth_scatter_as_their_variances_say(games):
    columns, _ = MODEL.columns(games)
    at = TRUTH.parameters(games.column("elo").to_numpy().astype(float)[columns.row])
    labels, codes = games.groups(["game", "mover"])
    found = predict(columns, MODEL, at["s"], at["c"], codes[columns.row], labels)
    for name in ("match", "loss", "blunders"):
        z = found.z(name)
        assert abs(z.mean()) < 4 / np.sqrt(len(z))
        assert z.std() == pytest.approx(1.0, abs=0.12)
    assert found.decisions.sum() == len(games)
    assert found.means(0).match_predicted == pytest.approx(found.expected["match"][0] / found.decisions[0])


def test_predictions_add_up_over_groups(games):
    columns, _ = MODEL.columns(games)
    _, codes = games.groups("year")
    parts = predict(columns, MODEL, 0.1, 0.5, codes[columns.row], sorted(set(codes.tolist())))
    whole = predict(columns, MODEL, 0.1, 0.5)
    for name in ("match", "loss", "blunders"):
        assert parts.expected[name].sum() == pytest.approx(whole.expected[name][0])
        assert (parts.sd[name] ** 2).sum() == pytest.approx(whole.sd[name][0] ** 2)


def test_the_scale_of_the_curves_is_recovered_and_is_a_scale_like_any_other(games, tmp_path):
    scale = fit_curve_scale(games, MODEL)
    for elo in (1600, 2100, 2700):
        true, found = TRUTH.parameters(elo), scale.parameters(elo)
        assert found["s"] == pytest.approx(float(true["s"]), rel=0.12)
        assert found["c"] == pytest.approx(float(true["c"]), abs=0.04)
    assert 1.0 <= scale.dispersion < 1.3
    assert Scale.from_json(scale.to_json()).parameters(2000)["s"] == pytest.approx(float(scale.parameters(2000)["s"]))
    assert scale.line_sd(2100) < 60


def test_the_elo_of_a_set_is_recovered_by_likelihood_and_by_expected_error(games):
    rng = np.random.default_rng(3)
    spreads = made_up_spreads(4000, rng=rng)
    for elo in (1800.0, 2400.0):
        batch = simulate_elo_choices(spreads, elo, TRUTH, rng=rng)
        posterior = TRUTH.posterior(curve_evidence(batch, TRUTH).total(), Uniform(1000, 3400))
        assert abs(posterior.mean - elo) < 4 * posterior.sd
        assert posterior.sd < 80
        fit = fit_curves(MODEL.columns(batch)[0], MODEL)
        rating = error_rating(fit, TRUTH, games)
        assert abs(rating.elo - elo) < 4 * rating.sd
    with pytest.raises(InputError, match="outside the scale"):
        error_rating(replace(fit, s=1.9), TRUTH, games)


def test_evidence_along_the_scale_is_the_likelihood_along_it(games):
    few = games.select(slice(0, 200))
    table = curve_evidence(few, TRUTH, by="game")
    at = TRUTH.parameters(2222.0)
    columns, _ = MODEL.columns(few)
    direct = fit_curves(columns, MODEL)  # only to show that the columns are usable
    assert direct.decisions == 200
    from skilloscope.models.kernels.curves import scores

    log_p = scores(columns, "shares", "invexp", np.log(float(at["s"])), float(at["c"])).log_p
    found = table.total().log_likelihood(TRUTH.parameter(2222.0))
    assert float(found) == pytest.approx(log_p.sum(), abs=1e-6)


def test_independent_choices_have_no_dispersion(games):
    for row in measure_dispersion(games, MODEL):
        assert row.sd == pytest.approx(1.0, abs=0.15)
        assert abs(row.checked - 1) < 4 * row.checked_error
        assert row.covered > 0.9


def test_inflation_is_found_where_it_is_and_not_where_it_is_not(games):
    none = inflation(games, MODEL)
    assert none.low < 0 < none.high
    assert none.years == (1990, 2009)
    drifting = inflation(rated_games(12_000, seed=12, drift=300.0), MODEL)
    assert drifting.p_value < 0.01
    assert drifting.low < 300 < drifting.high
    with pytest.raises(InputError, match="years"):
        inflation(games.select(games.column("year").to_numpy() == 1990), MODEL)


def test_the_milepost_table_has_the_papers_columns_for_any_grouping(games):
    table = milepost_table(games, MODEL, "likelihood")
    assert [row.elo for row in table.groups] == list(range(2700, 1500, -100))
    first = table.as_dict()["groups"][0]
    assert {"s", "c", "c_fit", "s_fit", "match_predicted", "match_actual", "loss_predicted", "score"} <= set(first)
    assert table.c_line is not None
    # s falls along the Elo line, as in the printed table.
    s = [row.s_fit for row in table.groups if row.s_fit]
    assert np.corrcoef(s, [row.elo for row in table.groups])[0, 1] < -0.8
    by_year = milepost_table(games, MODEL, "likelihood", by="year")
    assert len(by_year.groups) == 20


def test_ratings_far_from_a_hundred_are_counted(games):
    odd = games.context.set_column(2, "elo", pa.array(np.where(np.arange(len(games)) < 40, 2150, 2100)))
    table = milepost_table(replace(games, context=odd).select(slice(0, 400)), MODEL, "likelihood")
    assert table.tally.counts == {"no rating within 20 points of a hundred": 40}


@pytest.mark.parametrize("key", ["RH11.closed", "RH11.cfit", "RH11.section5"])
def test_what_the_paper_prints_is_reproduced(key):
    done = reproduce(ENTRIES, key)
    rows = [row for entry in done.as_dict()["entries"] for row in entry["rows"]]
    assert [row for row in rows if row["within"] is False] == []
    assert sum(row["within"] is True for row in rows) >= 3


def test_the_papers_own_table_says_little_or_no_inflation():
    (entry,) = reproduce(ENTRIES, "RH11.inflation").as_dict()["entries"]
    assert abs(entry["rows"][0]["ours"]) < 2 * entry["rows"][0]["sd"]


def test_the_table_of_section_7_stands_beside_ours_on_real_games(shared_data):
    (entry,) = reproduce(ENTRIES, "RH11.table", Budget(data=shared_data)).as_dict()["entries"]
    ours = {row["label"]: row["ours"] for row in entry["rows"]}
    assert len(ours) == 22 * 9 + 12 * 9
    assert all(row["within"] is None for row in entry["rows"])
    s_fit = [ours[f"2006-2014 {elo} s_fit (printed: 2006-2009)"] for elo in (2700, 2100, 1600)]
    assert s_fit == sorted(s_fit)
    assert ours["1976-1979 2500 s"] is None


@pytest.mark.parametrize("fit", ["likelihood", "percentile", "moments"])
def test_decisions_rate_by_curves_sends_s_and_c_of_each_decider(fit, tmp_path: Path):
    from skilloscope.cli.app import app
    from skilloscope.decision.text import write_decisions

    rng = np.random.default_rng(2)
    batch = simulate_curve_choices(made_up_spreads(600, rng=rng), 0.1, 0.6, model=MODEL, rng=rng)
    path = tmp_path / "table.jsonl"
    write_decisions(replace(batch, deciders=("Ann", "Bob"), decider=(np.arange(600) % 2).astype(np.int32)), path)
    line = ["decisions", "rate", str(path), "--method", "curves", "--fit", fit, "--mapping", "third", "--json"]
    result = CliRunner().invoke(app, [*line, "--curve", "sechb", "--rule", "full"])
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["model"] == {"model": "curves", "mapping": "third", "curve": "sechb", "scaling": 0.0, "rule": "full"}
    assert {row["decider"] for row in report["deciders"]} == {"Ann", "Bob"}
    for row in report["deciders"]:
        assert {"s", "c", "s_sd", "c_sd", "log_likelihood", "score"} <= set(row)
        assert row["decisions"] == 300


def test_the_error_of_the_parameters_widens_a_prediction(games):
    half = np.arange(len(games)) < len(games) // 2
    fit = fit_curves(MODEL.columns(games.select(half))[0], MODEL)
    columns, _ = MODEL.columns(games.select(~half))
    plain = predict(columns, MODEL, fit.s, fit.c)
    wide = predict_with_error(columns, MODEL, fit.s, fit.c, ParameterError.of_fit(fit))
    for name in ("match", "loss", "blunders"):
        assert wide.expected[name] == pytest.approx(plain.expected[name])
        # Half the decisions predict the other half: their own scatter is about as large as that of the fit.
        assert 1.1 < wide.sd[name][0] / plain.sd[name][0] < 2.5


def test_predictions_from_few_decisions_scatter_as_the_error_of_the_fit_says():
    z = []
    for seed in range(60):
        batch = rated_games(400, seed=900 + seed)
        own = batch.select(batch.column("elo").to_numpy() == 2100)
        columns, _ = MODEL.columns(own)
        first = np.arange(len(columns)) % 2 == 0
        fit = fit_curves(columns.take(np.flatnonzero(first)), MODEL, "likelihood")
        rest = columns.take(np.flatnonzero(~first))
        if fit.edge is None and np.isfinite(fit.covariance).all():
            found = predict_with_error(rest, MODEL, fit.s, fit.c, ParameterError.of_fit(fit))
            z.append(float(found.z("match")[0]))
    assert len(z) > 20
    assert np.std(z) == pytest.approx(1.0, abs=0.3)


def test_a_table_of_mileposts_says_nothing_of_z_on_its_own_data(games):
    rows = milepost_table(games, MODEL, "moments").as_dict()["groups"]
    assert not [name for row in rows for name in row if name.endswith("_z")]


def test_the_match_rate_is_over_all_moves_as_in_rate():
    batch = decisions(analyse(sk.read_games(demo_file("simulated.pgn")), imports=[demo_file("analyses.jsonl.gz")]))
    unlisted = replace(batch, chosen=np.where(np.arange(len(batch)) % 7 == 0, -1, batch.chosen)).at_depths()
    rows = milepost_table(unlisted, CurveModel(), "likelihood", by="decider").as_dict()["groups"]
    rated = {one.player: one.statistics.move_match for one in rate_decisions(unlisted).players}
    for row in rows:
        assert row["unlisted"] > 0
        assert row["match_actual"] == pytest.approx(rated[row["group"]])


def test_groups_get_an_elo_along_the_scale_that_ships():
    rng, line = np.random.default_rng(21), shipped_scale("curves")
    elo = np.repeat([1500.0, 2500.0], 900)
    batch = simulate_elo_choices(made_up_spreads(1800, rng=rng), elo, line, rng=rng)
    names = {"game": [f"g{at // 30}" for at in range(1800)], "level": np.where(elo < 2000, "low", "high").tolist()}
    people = replace(batch, context=names, deciders=("Ann", "Bob"), decider=(elo > 2000).astype(np.int32))
    found = intrinsic_elo(people, by="level")
    assert found["low"].mean + 400 < found["high"].mean
    low, high = found["low"].interval()
    assert low < 1500 < high
    model = CurveModel.from_about(line.model)
    bare = milepost_table(people, model, "likelihood", by="level")
    study = with_intrinsic_elo(bare, people)
    assert {row["group"] for row in study.as_dict()["groups"] if row["ipr"]} == {"low", "high"}
    (table,) = study.tables()
    assert "IPR (95 % interval)" in table.columns
    assert any("prior: population" in note and "fitted from" in note for note in table.notes)
    assert study.page().count("<svg") == 1
    other = with_intrinsic_elo(replace(bare, model=CurveModel(curve="ipa").about()), people)
    assert all(row.ipr is None for row in other.groups)
    assert "no Elo" in other.intrinsic_notes[0]
    assert "IPR (95 % interval)" not in other.tables()[0].columns
