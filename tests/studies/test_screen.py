"""Screening: scores that are normal, a baseline of others, what help shows, and reports that say the same twice."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, kstest, norm
from typer.testing import CliRunner

import skilloscope as sk
from fit_screen import fit_spread
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.bundled import demo_file
from skilloscope.studies.screen.baseline import (
    FairSpread,
    group_sums,
    pool_scatter,
    pool_shift,
    shipped_baseline,
)
from skilloscope.studies.screen.moves import GivenRatings, ScreenedMoves, screened_moves
from skilloscope.studies.screen.power import LEVELS, drawn_places, likelihood_ratio, longest_streak
from skilloscope.studies.screen.saddlepoint import Draws, score_table
from skilloscope.studies.screen.screen import CANNOT_TELL, digests, screened
from skilloscope.studies.screen.statistics import WITH_ENGINE, WITHOUT_ENGINE, Statistic

VERDICTS = re.compile(r"cheat|guilt|innocen|suspect|suspicious|fraud|culprit|offend", re.IGNORECASE)
BASELINE = shipped_baseline("full")
GAMES = [str(demo_file("simulated.pgn")), "--import", str(demo_file("analyses.jsonl.gz"))]


@pytest.fixture(scope="module")
def moves() -> ScreenedMoves:
    """The simulated games that ship, everybody taken for 2000."""
    games = sk.read_games(demo_file("simulated.pgn"))
    analyses = sk.analyse(games, imports=[demo_file("analyses.jsonl.gz")])
    return screened_moves(games, analyses, elo_axis().effort("full"), GivenRatings.from_text("2000"))


def screen(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["screen", *map(str, words)])
    assert done.exit_code == code, done.stderr
    return done.stdout if code == 0 else done.stderr


# Scores


def _of_two(p, yes: float, no: float) -> Draws:
    """Draws of one of two values, the first with probability p."""
    values = np.tile([yes, no], len(p))
    return Draws(np.arange(len(p) + 1) * 2, np.stack([p, 1.0 - p], axis=1).ravel(), values)


def test_the_score_of_a_count_is_that_of_the_binomial():
    n, p = 60, 0.1
    table = score_table(_of_two(np.full(n, p), 1.0, 0.0), np.zeros(n, int), 1, dispersion=1.0, effect=np.zeros(1))
    for k in (1, 3, 6, 10, 16):
        middle = binom.sf(k, n, p) + 0.5 * binom.pmf(k, n, p)
        assert table.z([k - n * p])[0] == pytest.approx(norm.isf(middle), abs=0.08)


def test_sums_of_rare_losses_have_normal_scores_where_their_z_has_not():
    rng = np.random.default_rng(3)
    p = np.tile([0.9, 0.07, 0.03], 40)
    x = np.tile([0.0, -0.3, -2.0], 40)
    draws = Draws(np.arange(0, 121, 3), p, x)
    sums = draws.x[drawn_places(draws.offsets, p, 4000, rng)].sum(axis=1) - draws.mean.sum()
    table = score_table(draws, np.zeros(40, int), 1, dispersion=1.0, effect=np.array([0.8]))
    z = table.of(0, sums + 0.8 * rng.standard_normal(4000))
    assert abs(z.mean()) < 0.06
    assert z.std() == pytest.approx(1.0, abs=0.04)
    assert kstest(z, "norm").statistic < 0.03
    plain = sums / sums.std()
    assert ((plain - plain.mean()) ** 3).mean() < -0.5


def test_scores_rise_with_the_sum_and_a_certain_draw_has_none():
    draws = _of_two(np.array([0.3, 0.5, 1.0]), 1.0, 0.0)
    table = score_table(draws, np.array([0, 0, 1]), 2, dispersion=1.2, effect=np.array([0.1, 0.0]))
    assert (np.diff(table.score[0]) >= 0).all()
    assert np.isnan(table.z([0.0, 0.0])[1])


# The baseline


def test_dispersion_and_person_effect_are_recovered():
    rng = np.random.default_rng(4)
    person = np.repeat(np.arange(1500), 6)
    variance = rng.uniform(3, 9, len(person))
    unit = np.sqrt(30 * variance)
    effect = 0.06 * rng.standard_normal(1500)[person] + 0.02
    difference = effect * unit + np.sqrt(1.4 * variance) * rng.standard_normal(len(person))
    found = fit_spread(difference, variance, unit, person)
    assert found.dispersion == pytest.approx(1.4, rel=0.08)
    assert found.person_sd == pytest.approx(0.06, rel=0.2)
    assert found.offset == pytest.approx(0.02, abs=0.01)


def test_the_baseline_of_a_player_never_holds_the_players_own_games():
    unit, variance = np.full(5, 10.0), np.full(5, 4.0)
    player = np.array([0, 0, 1, 2, 3])
    plain = pool_shift(np.array([1.0, 1.0, 1.0, 1.0, 1.0]), variance, unit, player, 0.1)[0]
    moved = pool_shift(np.array([50.0, -9.0, 1.0, 1.0, 1.0]), variance, unit, player, 0.1)[0]
    assert moved[:2] == pytest.approx(plain[:2])
    assert moved[2] != pytest.approx(plain[2])


def test_somebody_far_out_moves_the_baseline_of_the_others_no_further_than_two_sigma():
    unit, variance, player = np.full(3, 10.0), np.full(3, 4.0), np.arange(3)
    far = pool_shift(np.array([4.0, 0.0, 0.0]), variance, unit, player, 0.1)[0]
    further = pool_shift(np.array([400.0, 0.0, 0.0]), variance, unit, player, 0.1)[0]
    assert further[1:] == pytest.approx(far[1:])


def test_nobody_is_a_wonder_for_no_blunders_in_a_pool_that_scatters_little():
    draws = _of_two(np.full(20, 0.09), -1.0, 0.0)  # 1.8 blunders are to be expected; none: once in seven games
    table = score_table(draws, np.zeros(20, int), 1, dispersion=1.0, effect=np.array([0.1]))
    little = np.array([0.85])
    none = -draws.mean.sum()
    assert float(table.scored_over(little).z([none])[0]) == pytest.approx(float(table.z([none])[0]) / 0.85)
    assert float(table.scored_over(little).z([none])[0]) < 2.0
    assert float(table.scaled(little).z([none])[0]) > 2.0, "what is not done with counts"


def test_the_scatter_of_a_pool_is_read_from_the_other_players_alone():
    rng = np.random.default_rng(6)
    z, player = 0.8 * rng.standard_normal(3000), np.arange(3000) // 2
    found = pool_scatter(z, player)
    assert found == pytest.approx(0.81, abs=0.03)  # a hundred players' worth of 1 among them
    moved = pool_scatter(np.concatenate([[50.0, -9.0], z[2:]]), player)
    assert moved[:2] == pytest.approx(found[:2])
    assert (moved[2:] > found[2:]).all()
    assert moved[2:].max() < 1.01 * found[2:].max()
    assert pool_scatter(np.full(4, np.nan), np.arange(4)) == pytest.approx(1.0)


def test_players_who_scatter_less_than_the_baseline_says_still_have_scores_of_unit_spread(moves):
    rng = np.random.default_rng(7)
    one = moves.statistics["match"]
    group, player = np.tile(np.arange(len(moves)) % 12, 40), np.arange(12 * 40)
    group += 12 * np.repeat(np.arange(40), len(moves))
    drawn = one.draws.x[drawn_places(one.draws.offsets, one.draws.p, 40, rng)].ravel()
    many = Statistic.concat([one] * 40)
    often = replace(many, actual=drawn, by_weights=many.by_weights[:, :0])
    pool = replace(moves, elo_sd=np.zeros(len(group)), statistics={"match": often})
    own = group_sums(pool, "match", group, player, BASELINE)
    assert own.scatter == pytest.approx(own.scatter[0], abs=0.02)
    assert own.scatter[0] < 0.95
    assert own.z.std() == pytest.approx(1.0, abs=0.07)


def test_who_is_alone_has_no_pool_to_be_compared_with_and_a_wider_sigma(moves):
    half = (np.arange(len(moves)) % 2).astype(np.int64)
    alone, beside = (group_sums(moves, "match", half, player, BASELINE) for player in (np.zeros(2, int), np.arange(2)))
    assert (alone.sd > beside.sd).all()


def test_the_error_of_a_rating_and_of_the_weights_widen_sigma(moves):
    baseline = BASELINE
    group = np.zeros(len(moves), dtype=np.int64)
    plain, unsure = (
        group_sums(
            replace(moves, elo_sd=np.full(len(moves), sd)), "match", group, np.zeros(1, dtype=np.int64), baseline
        )
        for sd in (0.0, 150.0)
    )
    sharp = replace(baseline, covariance=np.zeros_like(baseline.covariance))
    known = group_sums(moves, "match", group, np.zeros(1, dtype=np.int64), sharp)
    assert known.sd < plain.sd < unsure.sd


# What a screening says


def test_fair_players_raise_no_more_flags_than_promised(moves):
    rng = np.random.default_rng(8)
    group = np.arange(len(moves)) % 12
    own = group_sums(moves, "index", group, np.arange(12), BASELINE)
    draws, z = moves.statistics["index"].draws, []
    for chosen in drawn_places(draws.offsets, draws.p, 100, rng):
        z += own.table.z(np.bincount(group, draws.x[chosen], 12) - own.expected).tolist()
    p = norm.sf(np.array(z))
    for level in LEVELS:
        assert (p <= level).mean() <= level + 2 * np.sqrt(level / len(p))


def test_an_engine_is_seen_more_the_more_it_helps(moves):
    found = screened(moves, BASELINE)
    seen = [row.seen for row in found.power if row.statistic == "index" and row.level == 0.01]
    assert seen == sorted(seen)
    assert seen[-1] > 0.9
    assert [player.p for player in found.players] == sorted(player.p for player in found.players)
    assert all(player.q >= player.p for player in found.players)


def test_who_always_plays_the_engines_first_choice_is_far_out(moves):
    own = moves.player == sorted(set(moves.player))[0]
    match = moves.statistics["match"]
    first = replace(match, actual=np.where(own, 1.0, match.actual))
    found, before = (
        group_sums(replace(moves, statistics={"match": one}), "match", own.astype(int), np.arange(2), BASELINE).z
        for one in (first, match)
    )
    assert found[1] > before[1] + 5
    assert abs(found[0] - before[0]) < 1  # two sigma of one player are all that moves the baseline of the other


def test_nobody_is_taken_to_have_had_help_at_prevalence_0(moves):
    found = screened(moves, BASELINE, prevalence=0.0)
    assert {player.posterior_odds for player in found.players} == {0.0}


def test_a_score_of_zero_speaks_against_help():
    assert likelihood_ratio(0.0, {"some": 2.0}) < 1 < likelihood_ratio(3.0, {"some": 2.0})
    assert likelihood_ratio(5.0, {"none": -1.0}) == 1.0


def test_a_streak_somewhere_is_less_surprising_than_the_same_streak_alone(moves):
    one, n = moves.statistics["match"], len(moves)
    rng = np.random.default_rng(1)
    found = longest_streak(one, moves.game, np.arange(n), 0.0, rng=rng)
    assert found is not None
    assert found.p > found.probability
    none = replace(one, actual=np.zeros(n))
    assert longest_streak(none, moves.game, np.arange(n), 0.0, rng=rng) is None


def test_positions_come_with_what_people_of_that_level_play(moves):
    found = screened(moves, BASELINE)
    for place in found.players[0].positions:
        assert 0 < sum(one.probability for one in place.people) <= 1 + 1e-9
        assert place.move.split()[-1] == place.people[-1].move
        assert place.weight > 0


# Ratings


def test_ratings_come_from_a_number_a_file_or_the_headers(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("player,elo,sd\nAnn,1850,40\nBob,2100,\n")
    assert GivenRatings.from_text("1900").everybody == 1900.0
    assert GivenRatings.from_text(str(file)).by_player == {"Ann": (1850.0, 40.0), "Bob": (2100.0, 0.0)}
    assert GivenRatings.from_text("header").by_player == {}


@pytest.mark.parametrize("text", ["4000", "nowhere.csv"])
def test_ratings_that_cannot_be_are_refused(text):
    with pytest.raises(InputError):
        GivenRatings.from_text(text)


def test_who_has_no_rating_is_named_and_not_screened(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text('player,elo\n"simulated, c = 2.0",2000\n')
    report = json.loads(screen(*GAMES, "--store", tmp_path / "store", "--elo", file, "--json"))
    assert [player["player"] for player in report["players"]] == ["simulated, c = 2.0"]
    assert {row["reason"] for row in report["not_screened"]} == {"no rating"}


def test_games_without_ratings_are_refused_with_what_to_do(tmp_path):
    assert "--elo" in screen(*GAMES, "--store", tmp_path, code=1)


def test_a_prevalence_is_a_share(tmp_path):
    assert "prevalence" in screen(*GAMES, "--store", tmp_path, "--prevalence", "1.5", code=2)


# Reports


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """JSON and page of two runs; the second finds the answers in its store."""
    folder, made = tmp_path_factory.mktemp("screen"), []
    for turn in range(2):
        page = folder / f"{turn}.html"
        text = screen(*GAMES, "--store", folder / "store", "--elo", 2000, "--json", "--html", page)
        made.append((text, page.read_text(encoding="utf-8")))
    return made


def test_two_runs_give_the_same_bytes(reports):
    assert reports[0] == reports[1]


def test_a_report_names_its_inputs_settings_and_versions(reports):
    report = json.loads(reports[0][0])
    assert re.fullmatch(r"[0-9a-f]{64}", report["inputs"][0]["sha256"])
    assert report["engine"]["depth"] == 10
    assert report["versions"]["skilloscope"]
    assert report["statistics"] == list(WITH_ENGINE)
    assert report["baseline"]["spreads"]["index"]["person_sd"] > 0


def test_a_page_says_what_it_cannot_tell_and_uses_no_word_of_a_verdict(reports):
    for line in CANNOT_TELL:
        assert line[:60] in reports[0][1].replace("&#39;", "'")
    assert not VERDICTS.search(reports[0][0])
    assert not VERDICTS.search(reports[0][1])


def test_without_an_engine_what_people_play_decides_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    page = tmp_path / "page.html"
    report = json.loads(
        screen(demo_file("simulated.pgn"), "--elo", 2000, "--effort", "instant", "--json", "--html", page)
    )
    assert report["statistics"] == list(WITHOUT_ENGINE)
    assert report["engine"] == {}
    assert all(player["streak"] is None for player in report["players"])
    # Nobody knows what an engine would have played.
    assert report["power"] == []
    assert all(player["posterior_odds"] is None for player in report["players"])
    assert "Streaks" not in page.read_text()


def test_python_and_the_command_give_the_same_screening():
    found = sk.screen(demo_file("simulated.pgn"), elo=2000, effort="instant")
    told = screen(demo_file("simulated.pgn"), "--elo", 2000, "--effort", "instant", "--json")
    assert json.loads(told) == json.loads(json.dumps(found.as_dict()))
    assert "All players, by p-value" in found._repr_html_()


def test_each_event_is_a_group_of_its_own(tmp_path):
    report = json.loads(screen(*GAMES, "--store", tmp_path, "--elo", 2000, "--event", "--json"))
    assert all(player["event"] for player in report["players"])


def test_what_ships_was_fitted_for_every_statistic():
    for effort, names in (("full", WITH_ENGINE), ("quick", WITH_ENGINE), ("instant", WITHOUT_ENGINE)):
        own = shipped_baseline(effort)
        assert set(own.spreads) == set(names)
        assert all(isinstance(spread, FairSpread) and spread.dispersion > 0 for spread in own.spreads.values())
    assert np.linalg.eigvalsh(shipped_baseline("full").covariance).min() > -1e-9


def test_two_files_of_one_name_are_both_named(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "games.pgn").write_text(folder)
    found = digests([tmp_path / "a" / "games.pgn", tmp_path / "b" / "games.pgn"])
    assert [one.file for one in found] == ["games.pgn", "games.pgn"]
    assert len({one.sha256 for one in found}) == 2
