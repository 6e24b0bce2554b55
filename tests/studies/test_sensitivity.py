"""Sensitivity: one thing varied at a time, the order of the groups, and likelihoods only where they compare."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from simulated import in_games, seen_through_noise
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision.decisions import LABELS
from skilloscope.decision.text import write_decisions
from skilloscope.evidence import agent_evidence
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.load import EngineJob
from skilloscope.models.agent import Agent
from skilloscope.ratings.mileposts import with_mileposts
from skilloscope.studies.sensitivity import Varied, read_judged, searched_again, sensitivity


def played(seed=1, n=250, noise=0.3, alternatives=8):
    """Return four deciders in 40 games; depth 4 made the choices, depth 2 sees them through noise."""
    batch = seen_through_noise([0.6, 0.9, 1.2, 1.6], n, alternatives=alternatives, noise=noise, seed=seed)
    names = [[f"m{at}" for at in range(alternatives)]] * len(batch)
    return in_games(batch, 40, ply=np.arange(len(batch)), **{LABELS: names})


@pytest.fixture(scope="module")
def study():
    batch = played()
    plan = Varied((2, 4), (3, 8), (0.05, 0.1, None), ("listed", "bucket"), {"engine other": batch})
    return sensitivity(batch, plan)


def found(study, name):
    return next(setting for setting in study.settings if setting.setting.startswith(name))


def test_the_base_is_what_a_rating_gives(study):
    batch = played().at_depths()
    table = agent_evidence(batch, Agent(k=0.1))
    assert study.base == "base: depth 4, whole lists, k 0.1, rule listed"
    for name in table:
        assert study.settings[0].groups[name].c == table[name].posterior().mean


def test_every_setting_is_there_once_and_the_base_is_not_repeated(study):
    names = [setting.setting for setting in study.settings]
    assert names[1:4] == ["depth 2", "list cut to 3", "k 0.05"]
    assert names[4].startswith("k fitted: ")
    assert names[5:] == ["rule bucket", "engine other"]


def test_values_that_did_not_make_the_choices_foresee_them_worse_and_noise_pulls_c_down(study):
    shallow = found(study, "depth 2")
    assert shallow.comparison.gain_high < 0
    assert shallow.comparison.compared == 1000
    assert shallow.c < study.settings[0].c - 3 * study.settings[0].sd


def test_a_judge_who_says_the_same_gains_nothing_and_keeps_the_order(study):
    other = found(study, "engine other")
    assert (other.comparison.gain, other.comparison.gain_low, other.comparison.gain_high) == (0.0, 0.0, 0.0)
    assert other.rank_correlation == 1.0
    assert other.c == pytest.approx(study.settings[0].c)


def test_likelihoods_of_other_events_are_not_compared(study):
    for name in ("list cut to 3", "rule bucket"):
        assert found(study, name).comparison.gain is None
        assert found(study, name).comparison.not_comparable
    assert found(study, "list cut to 3").skipped["unlisted choice"] > 0


def test_another_k_moves_c_and_keeps_the_order(study):
    smaller = found(study, "k 0.05")
    assert smaller.c < study.settings[0].c
    assert smaller.rank_correlation == 1.0
    assert found(study, "k fitted").k_low < 0.1 < found(study, "k fitted").k_high


def test_groups_are_strongest_first_and_numbers_ascending():
    batch = played(n=60)
    assert sensitivity(batch, Varied()).names[0] == "decider 3"
    posts = replace(batch, context=batch.context.append_column("level", pa.array(batch.decider * 100)))
    by_level = sensitivity(posts, Varied(), by="level")
    assert list(by_level.names) == ["0", "100", "200", "300"]
    assert by_level.settings[0].rank_with_label == 1.0


def test_what_is_not_there_is_refused_with_a_hint():
    batch = played(n=20)
    for plan, message in (
        (Varied(depths=(3,)), "no values at depth 3"),
        (Varied(rules=("best",)), "no choice-set rule"),
        (Varied(lists=(1,)), "not a choice set"),
    ):
        with pytest.raises(InputError, match=message):
            sensitivity(batch, plan)


def test_the_base_takes_the_papers_constants_or_the_first_given():
    assert (Varied().base_k, Varied().base_rule) == (0.1, "listed")
    assert Varied(ks=(0.05, 0.1)).base_k == 0.1
    assert Varied(ks=(None, 5.0, 6.0), rules=("full", "bucket")).base_k == 5.0
    assert Varied(rules=("full", "bucket")).base_rule == "full"


def test_likelihoods_under_another_base_rule_are_compared_only_for_k():
    batch = played(n=40)
    study = sensitivity(batch, Varied((2,), (), (0.1, 0.2), ("full",)))
    assert found(study, "depth 2").comparison.gain is None
    assert found(study, "k 0.2").comparison.gain is not None
    bucket = sensitivity(batch, Varied((), (), (0.1, 0.2), ("bucket",)))
    assert found(bucket, "k 0.2").comparison.not_comparable


def test_figures_and_page_hold_every_setting(study):
    assert [figure.svg().startswith("<svg") for figure in study.figures()] == [True, True]
    page = study.page("simulated")
    for setting in study.settings:
        assert setting.setting in page
    assert "<script" not in page


def run(line):
    result = CliRunner().invoke(app, line.split(), catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    shutil.copy(demo_file("simulated.pgn"), tmp_path / "games.pgn")
    shutil.copy(demo_file("analyses.jsonl.gz"), tmp_path / "analyses.jsonl.gz")
    return tmp_path


def test_the_command_varies_games_with_values_that_are_at_hand(shipped):
    varied = "--depths 6,10 --lists 5 --k 0.1,0.2"
    code, out, err = run(f"decisions sensitivity games.pgn --import analyses.jsonl.gz {varied} --json --html s.html")
    assert code == 0, err
    report = json.loads(out)
    assert [row["kind"] for row in report["settings"]] == ["base", "depth", "list", "k"]
    assert (shipped / "s.html").is_file()
    code, out, err = run("decisions sensitivity games.pgn --import analyses.jsonl.gz --by milepost")
    assert code == 0, err
    assert "by milepost" in out


def test_a_table_of_another_engine_is_another_judge(shipped):
    work = EngineJob(imports=(shipped / "analyses.jsonl.gz",), store=shipped / "s.sqlite")
    batch = read_judged([shipped / "games.pgn"], work)
    noisy = batch.values + np.random.default_rng(1).normal(0, 0.2, batch.values.shape).astype(np.float32)
    order = np.lexsort((-noisy[:, -1], np.repeat(np.arange(len(batch)), batch.counts)))
    where = np.argsort(order)
    listed = batch.chosen >= 0
    chosen = batch.chosen.copy()
    chosen[listed] = (where[batch.offsets[:-1][listed] + batch.chosen[listed]] - batch.offsets[:-1][listed]).astype(int)
    names = pa.LargeListArray.from_arrays(
        pa.array(batch.offsets), batch.context[LABELS].combine_chunks().flatten().take(pa.array(order))
    )
    at = batch.context.schema.get_field_index(LABELS)
    other = replace(batch, values=noisy[order], chosen=chosen, context=batch.context.set_column(at, LABELS, names))
    write_decisions(other, shipped / "weak.parquet")
    code, out, err = run("decisions sensitivity games.pgn --engines weak.parquet --import analyses.jsonl.gz --json")
    assert code == 0, err
    weak = json.loads(out)["settings"][1]
    assert (weak["setting"], weak["kind"]) == ("engine weak", "engine")
    assert weak["gain"] < 0
    assert 300 < weak["compared"] <= len(batch)


def test_a_table_cannot_be_searched_again(tmp_path):
    with pytest.raises(InputError, match="cannot be searched again"):
        searched_again([tmp_path / "t.parquet"], EngineJob(), lines=5)


def test_a_file_given_twice_and_a_depth_that_is_no_number_are_refused(shipped):
    assert run("decisions sensitivity games.pgn games.pgn")[0] == 1
    code, _, err = run("decisions sensitivity games.pgn --import analyses.jsonl.gz --depths four")
    assert (code, "whole numbers" in err) == (2, True)


def test_a_search_with_fewer_lines_is_another_judge_than_a_cut_list(tmp_path, fake_engine):
    shutil.copy(demo_file("simulated.pgn"), tmp_path / "games.pgn")
    first = (tmp_path / "games.pgn").read_text().split("\n\n[Event")[0]
    (tmp_path / "one.pgn").write_text(first + "\n")
    line = f"decisions sensitivity {tmp_path}/one.pgn --depth 2 --multipv 4 --lists 2 --searches 2 --store {tmp_path}"
    result = CliRunner().invoke(app, [*line.split(), "--engine", str(fake_engine("")), "--json"])
    assert result.exit_code == 0, result.stderr
    rows = {row["kind"]: row for row in json.loads(result.stdout)["settings"]}
    assert list(rows) == ["base", "list", "search"]
    assert rows["list"]["gain"] is None
    assert rows["search"]["setting"] == "search with 2 lines"
    assert rows["search"]["not_comparable"]  # one short game cannot be split


def test_the_mileposts_of_analysed_games_come_out_as_an_independent_calculation_has_them(shared_data):
    file = shared_data / "analysed" / "bands_sf151_mpv10_depths.jsonl.gz"
    batch = with_mileposts(read_judged([file], EngineJob()), None)
    study = sensitivity(batch, Varied(), by="milepost")
    expected = {
        "1600": 0.963,
        "1700": 1.093,
        "1800": 1.040,
        "1900": 1.101,
        "2000": 1.108,
        "2100": 1.138,
        "2200": 1.185,
        "2300": 1.270,
        "2400": 1.252,
        "2500": 1.406,
        "2600": 1.381,
        "2700": 1.398,
    }
    assert list(study.names) == list(expected)
    for name, c in expected.items():
        assert study.settings[0].groups[name].c == pytest.approx(c, abs=0.005)
