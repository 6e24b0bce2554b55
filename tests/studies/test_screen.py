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
from fit_screen import KNOTS, offset_and_style, scatter_within
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError, OptionError
from skilloscope.inputs.bundled import demo_file
from skilloscope.studies.screen.baseline import FairSpread, TrueStrength, group_sums, pool_shift, shipped_baseline
from skilloscope.studies.screen.moves import GivenRatings, ScreenedMoves, screened_moves
from skilloscope.studies.screen.own import STRENGTHS, OwnStrength
from skilloscope.studies.screen.player import player_screening
from skilloscope.studies.screen.players import Rarity
from skilloscope.studies.screen.power import (
    HELP,
    LEVELS,
    Help,
    drawn_places,
    helped_moves,
    likelihood_ratio,
    longest_streak,
    people_places,
)
from skilloscope.studies.screen.saddlepoint import Cumulants, Draws, mixed, score_table
from skilloscope.studies.screen.screen import CANNOT_TELL, READ, digests, screened
from skilloscope.studies.screen.statistics import ENGINE, STRONGER, WITH_ENGINE, WITHOUT_ENGINE

VERDICTS = re.compile(r"cheat|guilt|innocen|suspect|suspicious|fraud|culprit|offend", re.IGNORECASE)
BASELINE = shipped_baseline("full")
GAMES = [str(demo_file("simulated.pgn")), "--import", str(demo_file("analyses.jsonl.gz"))]


@pytest.fixture(scope="module")
def moves() -> ScreenedMoves:
    """The simulated games that ship, everybody taken for 2000."""
    games = sk.read_games(demo_file("simulated.pgn"))
    analyses = sk.analyse(games, imports=[demo_file("analyses.jsonl.gz")])
    return screened_moves(games, analyses, BASELINE.weights, GivenRatings.from_text("2000"))


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


def test_dispersion_style_and_offset_are_recovered():
    rng = np.random.default_rng(4)
    person = np.repeat(np.arange(1500), 6)
    variance = rng.uniform(3, 9, len(person))
    unit = np.sqrt(30 * variance)
    effect = 0.06 * rng.standard_normal(1500)[person] + 0.02
    difference = effect * unit + np.sqrt(1.4 * variance) * rng.standard_normal(len(person))
    phi = scatter_within(difference, variance, unit, person)
    sums = [np.bincount(person, column) for column in (difference, phi * variance, unit)]
    found = offset_and_style(*sums, rng.uniform(1300, 2500, 1500), phi)
    assert found.dispersion == pytest.approx(1.4, rel=0.08)
    assert found.person_sd == pytest.approx(0.06, rel=0.2)
    assert found.offset == pytest.approx([0.02] * len(KNOTS), abs=0.015)


def test_the_score_under_a_mixture_is_that_of_its_tail():
    draws = _of_two(np.full(200, 0.5), 0.5, -0.5)
    cumulants = Cumulants.of(draws, np.zeros(200, int), 1, dispersion=1.0)
    parts = [cumulants.table(np.array([sd]), np.array([mean])) for mean, sd in ((0.0, 5.0), (20.0, 10.0))]
    found = mixed(parts, np.array([[0.95, 0.05]]))
    for at in (-12.0, 0.0, 9.0, 30.0, 45.0):
        tail = 0.95 * norm.sf(at / np.hypot(5.0, np.sqrt(50))) + 0.05 * norm.sf((at - 20) / np.hypot(10.0, np.sqrt(50)))
        assert norm.sf(found.z([at])[0]) == pytest.approx(tail, rel=0.1)


def test_a_wider_upper_tail_of_strength_makes_an_under_rated_player_less_unusual(moves):
    strength = BASELINE.strength
    group, one = np.zeros(len(moves), dtype=np.int64), np.zeros(1, dtype=np.int64)
    few, many = (
        group_sums(moves, STRONGER, group, one, replace(BASELINE, strength=replace(strength, tail=(share,) * 4)))
        for share in (0.001, 0.2)
    )
    up = few.sd[0] * 4
    assert norm.sf(many.table.z([up])[0]) > 3 * norm.sf(few.table.z([up])[0])
    assert many.table.z([up])[0] < -many.table.z([-up])[0], "the tail is of people stronger than rated"


def test_the_density_of_strength_is_that_of_its_parts():
    strength = TrueStrength((1400.0, 2400.0), (0.0, 0.0), (100.0, 100.0), (0.1, 0.1), 300.0, 100.0, 0.0)
    at = np.arange(0.0, 4000.0, 5.0)
    density = np.exp(strength.log_density(2000.0, at)) / np.sqrt(2 * np.pi) * 5.0
    assert density.sum() == pytest.approx(1.0, abs=1e-6)
    assert density @ at == pytest.approx(2030.0, abs=0.1)
    assert density[at > 2400].sum() > 100 * density[at < 1600].sum()


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


def test_who_is_alone_has_no_pool_to_be_compared_with_and_a_wider_sigma(moves):
    half = (np.arange(len(moves)) % 2).astype(np.int64)
    pools = replace(BASELINE, strength=replace(BASELINE.strength, pool_sd=60.0))
    alone, beside = (group_sums(moves, "match", half, player, pools) for player in (np.zeros(2, int), np.arange(2)))
    assert (alone.sd > beside.sd).all()


def test_ten_players_do_not_set_their_own_scatter(moves):
    group, player = np.arange(len(moves)) % 10, np.arange(10)
    usual = group_sums(moves, "match", group, player, BASELINE)
    one = moves.statistics["match"]
    wild = replace(one, actual=np.where(group % 2, 1.0, 0.0))
    assert group_sums(replace(moves, statistics={"match": wild}), "match", group, player, BASELINE).sd == pytest.approx(
        usual.sd
    )


def test_the_error_of_a_rating_widens_sigma(moves):
    group, one = np.zeros(len(moves), dtype=np.int64), np.zeros(1, dtype=np.int64)
    plain, unsure = (
        group_sums(replace(moves, elo_sd=np.full(len(moves), sd)), "match", group, one, BASELINE) for sd in (0.0, 150.0)
    )
    assert plain.sd < unsure.sd


# Agreement with the engine beyond the player's own strength


@pytest.fixture(scope="module")
def own(moves) -> OwnStrength:
    found = OwnStrength.of(moves, BASELINE)
    assert found is not None
    return found


@pytest.mark.parametrize("elo", [1600.0, 2050.0, 2500.0])
def test_people_of_any_strength_agree_with_the_engine_as_expected_and_show_that_strength(own, elo):
    at = int(np.abs(STRENGTHS - elo).argmin())
    rng = np.random.default_rng(3)
    places = drawn_places(own.offsets, np.exp(own.logs[:, at]), 400, rng)
    offset = np.interp(elo, BASELINE.strength.elo, BASELINE.spreads[ENGINE].offset)
    z, found = own.z(places, style=offset)
    assert abs(z.mean()) < 0.35
    assert z.std() == pytest.approx(1 / np.sqrt(BASELINE.spreads[ENGINE].dispersion), rel=0.12)
    assert found.mean() == pytest.approx(STRENGTHS[at], abs=100)  # the rating of 2000 draws it in


def test_a_stronger_player_is_stronger_than_the_rating_but_no_more_like_an_engine(moves, own):
    rng, at = np.random.default_rng(5), int(np.abs(STRENGTHS - 2500).argmin())
    group, one = np.zeros(len(moves), dtype=np.int64), np.zeros(1, dtype=np.int64)
    sums = group_sums(moves, STRONGER, group, one, BASELINE)
    places = drawn_places(own.offsets, np.exp(own.logs[:, at]), 200, rng)
    total = moves.statistics[STRONGER].draws.x[places].sum(axis=1) - sums.expected[0]
    assert sums.table.of(0, total).mean() > 2  # rated 2000
    offset = np.interp(2500, BASELINE.strength.elo, BASELINE.spreads[ENGINE].offset)
    assert abs(own.z(places, style=offset)[0].mean()) < 0.6


def test_an_engine_among_the_moves_is_seen_by_agreement_beyond_strength(moves, own):
    rng = np.random.default_rng(6)
    played = people_places(own, BASELINE, 2000.0, 200, rng)
    helped = rng.random(played.shape) < 0.3
    first = own.offsets[:-1] + moves.helpers[:, 0]
    fair, other = own.z(played)[0], own.z(np.where(helped, first, played))[0]
    assert other.mean() > fair.mean() + 2


def test_kinds_of_help_touch_the_moves_that_they_say(moves):
    rng = np.random.default_rng(2)
    shares = {kind: float(helped_moves(moves, how, 50, rng).mean()) for kind, how in HELP.items()}
    assert shares["1 move in 5"] == pytest.approx(0.2, abs=0.02)
    assert shares["1 critical move in 5"] == pytest.approx(0.2, abs=0.02)
    assert shares["usual critical moves, 3 in 10"] <= 0.3
    late = helped_moves(moves, Help(1.0, "late"), 1, rng)[0]
    assert late.tolist() == (moves.ply >= 28).tolist()
    critical = helped_moves(moves, Help(0.2, "critical"), 1, rng)[0]
    loss = -moves.statistics["loss"].draws.mean
    assert loss[critical].min() >= loss[~critical].max()


# What a screening says


def test_fair_players_raise_no_more_flags_than_promised(moves):
    rng = np.random.default_rng(8)
    group = np.arange(len(moves)) % 12
    own = group_sums(moves, STRONGER, group, np.arange(12), BASELINE)
    draws, z = moves.statistics[STRONGER].draws, []
    for chosen in drawn_places(draws.offsets, draws.p, 100, rng):
        z += own.table.z(np.bincount(group, draws.x[chosen], 12) - own.expected).tolist()
    p = norm.sf(np.array(z))
    for level in LEVELS:
        assert (p <= level).mean() <= level + 2 * np.sqrt(level / len(p))


def test_an_engine_is_seen_more_the_more_it_helps(moves):
    found = screened(moves, BASELINE)
    kinds = ("1 move in 10", "1 move in 5", "1 move in 3", "1 move in 2")
    known = {(row.statistic, row.help): row.seen for row in found.power if row.level == 0.01}
    for name in (ENGINE, STRONGER):
        seen = [known[name, kind] for kind in kinds]
        assert seen == sorted(seen)
    # Who plays every move by an engine looks like one of the strongest people: far stronger than the rating.
    assert known[STRONGER, "every move"] > 0.9
    assert [player.engine.p for player in found.players] == sorted(player.engine.p for player in found.players)
    for player in found.players:
        assert player.engine.q >= player.engine.p
        assert player.stronger.q >= player.stronger.p


def test_who_always_plays_the_engines_first_choice_is_far_out(moves):
    own = moves.player == sorted(set(moves.player))[0]
    match = moves.statistics["match"]
    first = replace(match, actual=np.where(own, 1.0, match.actual))
    found, before = (
        group_sums(replace(moves, statistics={"match": one}), "match", own.astype(int), np.arange(2), BASELINE).z
        for one in (first, match)
    )
    assert found[1] > before[1] + 3
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
        assert place.engine
        assert place.seconds is None  # these games have no clocks


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
    assert set(report["baseline"]["spreads"]) == {*WITH_ENGINE, ENGINE}
    assert report["baseline"]["strength"]["above"] > 0


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
    assert all(player["streak"] is None and player["engine"] is None for player in report["players"])
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
    judged = (*WITH_ENGINE, ENGINE)
    for effort, names in (("full", judged), ("quick", judged), ("instant", WITHOUT_ENGINE)):
        own = shipped_baseline(effort)
        assert set(own.spreads) == set(names)
        assert all(isinstance(spread, FairSpread) and spread.dispersion > 0 for spread in own.spreads.values())
        assert (own.weights is None) == (effort == "instant")
        weight, mean, sd = own.strength.parts(np.arange(1000.0, 2800.0, 50.0))
        assert weight.sum(axis=1) == pytest.approx(1.0)
        assert (mean[:, 1] > mean[:, 0]).all(), "the tail is of under-rated people"
        assert (sd > 0).all()


def test_two_files_of_one_name_are_both_named(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "games.pgn").write_text(folder)
    found = digests([tmp_path / "a" / "games.pgn", tmp_path / "b" / "games.pgn"])
    assert [one.file for one in found] == ["games.pgn", "games.pgn"]
    assert len({one.sha256 for one in found}) == 2


def test_error_rates_come_in_plain_words():
    assert Rarity(2.46, 0.007, 0.3).words == "of 1,000 fair players in events like this, about 7 look this unusual"
    assert "fewer than 1 looks" in Rarity(3.5, 0.0002, 0.02).words
    assert "about 1 looks" in Rarity(3.1, 0.001, 0.1).words


def test_one_player_has_a_page_with_positions_results_and_error_rates(moves, tmp_path):
    page = tmp_path / "one.html"
    found = json.loads(screen(*GAMES, "--store", tmp_path, "--elo", 2000, "--player", "1.4", "--json", "--html", page))
    text = page.read_text(encoding="utf-8")
    assert found["player"]["player"] == "simulated, c = 1.4"
    assert found["screened"] == 4
    assert text.count('class="card"') == len(found["player"]["positions"]) > 3
    assert text.count("of 1,000 fair players") >= 2
    assert "Only this number speaks of help" in text
    assert "people play" in text
    assert not VERDICTS.search(text)


def test_the_page_of_somebody_unknown_or_of_each_event_is_refused(moves):
    found = screened(moves, BASELINE)
    with pytest.raises(InputError, match="nobody at all"):
        player_screening(found, "nobody at all")
    with pytest.raises(OptionError, match="each event"):
        player_screening(replace(found, by_event=True), "1.4")
    assert not VERDICTS.search(READ)
