"""`skilloscope tournament`: crosstables, matches, two events, the engine; intervals that cover; both sources alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.chess.pgn.games import read_games
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.models.gain import GainHistogram, elo_difference, expected_score
from skilloscope.ratings.gain.perceived import perceived_again, perceived_least_squares
from skilloscope.ratings.gain.resampling import GainTable, PairGames, differences, draw_weights, interval
from skilloscope.sources.gains import gains_of_games
from skilloscope.sources.judge import Work
from skilloscope.studies.game.game import game_study, written_moves
from skilloscope.studies.tournament.figures import strengths_figure
from skilloscope.studies.tournament.tournament import TournamentOptions, tournament, with_surnames

OPENING = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5", "Bb3", "d6"]
ELO = {"Ann, A": 2100, "Bob, B": 2000, "Cid, C": 1900, "Dora, D": None}


def game(white: str, black: str, values: Any, *, result: str = "1/2-1/2", start: bool = True) -> str:
    """Return a game with a value after every move, and before the first."""
    words = [f"{{[%eval {values[0]:.2f}]}}"] if start else []
    for ply, move in enumerate(OPENING[: len(values) - 1]):
        number = f"{ply // 2 + 1}. " if ply % 2 == 0 else ""
        words.append(f"{number}{move} {{[%eval {values[ply + 1]:.2f}]}}")
    elo = "".join(
        f'[{tag} "{ELO[name]}"]\n' for tag, name in (("WhiteElo", white), ("BlackElo", black)) if ELO.get(name)
    )
    return f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n{elo}\n{" ".join(words)} {result}\n\n'


def event(rng: np.random.Generator, *, rounds: int = 2, players: tuple[str, ...] = tuple(ELO)) -> str:
    """Return a round robin in which the players err differently."""
    text = ""
    for round_ in range(rounds):
        for i, white in enumerate(players):
            for j, black in enumerate(players[:i]):
                pair = (white, black) if (round_ + i + j) % 2 else (black, white)
                errors = rng.choice([0.0, 0.0, 0.05, -0.1, -0.2], (2, 7))
                steps = np.empty(14)
                steps[0::2], steps[1::2] = errors[0], -errors[1]
                text += game(*pair, np.round(np.concatenate([[0.2], 0.2 + np.cumsum(steps)]), 2))
    return text


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    path = tmp_path / "club.pgn"
    path.write_text(event(np.random.default_rng(4)))
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def report(*words: object) -> dict[str, Any]:
    done = run("tournament", *words, "--replicates", 40, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_both_directions_of_each_pair_share_one_point(pgn):
    pairs = {(row["player"], row["opponent"]): row for row in report(pgn)["pairs"]}
    assert len(pairs) == 12
    for (one, two), row in pairs.items():
        back = pairs[two, one]
        assert row["expected_score"] + back["expected_score"] == pytest.approx(1)
        assert row["elo_difference"] == pytest.approx(-back["elo_difference"])
        assert row["low"] == pytest.approx(-back["high"])
        assert row["low"] <= row["elo_difference"] <= row["high"]


def test_a_crosstable_is_algorithm_1_of_all_games_of_both_players(pgn):
    gained = gains_of_games(read_games(pgn), Work())
    own = {name: GainHistogram.from_gains(batch.gain) for name, batch in gained.losses.group_by().items()}
    for row in report(pgn)["pairs"]:
        assert row["expected_score"] == pytest.approx(expected_score(own[row["player"]], own[row["opponent"]]))


def test_pooled_by_match_each_pair_counts_its_own_games_only(pgn):
    gained = gains_of_games(read_games(pgn), Work())
    losses = gained.losses
    opponents = np.array(losses.context.column("opponent").to_pylist())
    names = np.array([losses.deciders[code] for code in losses.decider])

    def own(player: str, opponent: str) -> GainHistogram:
        return GainHistogram.from_gains(losses.gain[(names == player) & (opponents == opponent)])

    found = report(pgn, "--pool", "match")
    for row in found["pairs"]:
        wanted = expected_score(own(row["player"], row["opponent"]), own(row["opponent"], row["player"]))
        assert row["expected_score"] == pytest.approx(wanted)
    assert [player["decisions"] for player in found["players"]] == [42] * 4


def test_perceived_elo_keeps_the_mean_rating_and_everybody_is_placed(pgn):
    players = report(pgn)["players"]
    rated = [player for player in players if player["elo"] is not None]
    assert len(rated) == 3
    assert np.mean([player["perceived_elo"] for player in rated]) == pytest.approx(2000)
    assert all(player["low"] <= player["perceived_elo"] <= player["high"] for player in players)
    assert sum(player["points"] for player in players) == 12
    assert sum(player["expected_points"] for player in players) == pytest.approx(12)


def test_the_engines_strength_is_the_mean_over_the_rated_players(pgn):
    found = report(pgn)
    by_rating = [p["elo"] - p["elo_difference_to_engine"] for p in found["players"] if p["elo"] is not None]
    assert found["engine"]["elo"] == pytest.approx(np.mean(by_rating))
    assert found["engine"]["low"] <= found["engine"]["elo"] <= found["engine"]["high"]
    given = report(pgn, "--engine-elo", 2860)["players"]
    assert all(p["strength"] == pytest.approx(2860 + p["elo_difference_to_engine"]) for p in given)


def test_players_of_two_events_are_compared_across_them(tmp_path, pgn):
    other = tmp_path / "cup.pgn"
    other.write_text(event(np.random.default_rng(9), players=("Ann, A", "Bob, B")))
    found = report(pgn, other)
    assert [row["event"] for row in found["events"]] == ["club", "cup"]
    assert len(found["comparison"]) == 4
    assert {(row["event"], row["opponent_event"]) for row in found["comparison"]} == {("club", "cup")}
    text = run("tournament", pgn, other, "--replicates", 20).stdout
    assert "Ann, A @ cup" in text
    together = report(pgn, other, "--events", "all")
    assert together["comparison"] == []
    assert len(together["players"]) == 4
    assert len(report(pgn, "--events", "event")["events"]) == 1


def test_groups_that_never_met_are_anchored_apart(tmp_path):
    path = tmp_path / "two.pgn"
    values = [0.2, 0.2, 0.3, 0.2, 0.25, 0.25, 0.25]
    path.write_text(game("Ann, A", "Bob, B", values) * 2 + game("Cid, C", "Dora, D", values) * 2)
    found = report(path)
    assert {player["component"] for player in found["players"]} == {0, 1}
    by_name = {player["player"]: player for player in found["players"]}
    assert np.mean([by_name[name]["perceived_elo"] for name in ("Ann, A", "Bob, B")]) == pytest.approx(2050)
    assert by_name["Cid, C"]["perceived_elo"] == pytest.approx(1900)
    assert "never met" in run("tournament", path, "--replicates", 20).stdout


def test_an_infinite_difference_is_named_left_out_and_counted(tmp_path):
    path = tmp_path / "rout.pgn"
    path.write_text(game("Ann, A", "Bob, B", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) * 2)
    found = report(path)
    ann, bob = found["pairs"]
    assert (ann["infinite"], bob["infinite"]) == ("above", "below")
    assert ann["elo_difference"] is None
    assert found["skipped"]["infinite difference (expected score 0 or 1)"] == 1
    assert [player["perceived_elo"] for player in found["players"]] == [None, None]  # nothing finite connects them
    text = run("tournament", path, "--replicates", 20).stdout
    assert "+∞" in text
    assert "−∞" in text


def test_games_without_names_are_counted(tmp_path, pgn):
    path = tmp_path / "more.pgn"
    path.write_text(
        pgn.read_text() + '[White "?"]\n[Black "Bob, B"]\n\n{[%eval 0]} 1. e4 {[%eval 0.1]} e5 {[%eval 0.1]} *\n'
    )
    assert report(path)["skipped"]["game without two named players"] == 1
    assert len(report(path)["pairs"]) == 12


def test_one_game_has_no_interval(tmp_path):
    path = tmp_path / "one.pgn"
    path.write_text(game("Ann, A", "Bob, B", [0.2, 0.2, 0.3, 0.2, 0.25, 0.25, 0.25]))
    found = report(path)
    assert [row["low"] for row in found["pairs"]] == [None, None]
    assert "fewer than two games" in run("tournament", path, "--replicates", 20).stdout


@pytest.mark.parametrize("name", ["fake", "real"])
def test_the_same_values_from_an_engine_and_from_comments_give_the_same_output(name, tmp_path, fake_engine, request):
    engine = fake_engine() if name == "fake" else request.getfixturevalue("stockfish")
    plain = tmp_path / "plain" / "club.pgn"
    plain.parent.mkdir()
    text = "".join(
        f'[White "{a}"]\n[Black "{b}"]\n[WhiteElo "2000"]\n\n1. e4 e5 2. {move} 1-0\n\n'
        for a, b, move in (("Ann", "Bob", "Nf3"), ("Bob", "Cid", "f4"), ("Cid", "Ann", "Qh5"), ("Ann", "Cid", "a3"))
    )
    plain.write_text(text)
    searched = report(plain, "--engine", engine, "--depth", 2)
    from dataclasses import replace

    from skilloscope.chess.engine.settings import FER12

    work = Work(engine=str(engine), settings=replace(FER12, depth=2))
    evaluations = gains_of_games(read_games(plain), work).evaluations
    commented = ""
    for row, header in enumerate(evaluations.games.headers.to_pylist()):
        own = evaluations.games.select([row])
        values = evaluations.values[evaluations.starts[row] :][: len(own.moves) + 1]
        words = [f"{{[%eval {values[0]:.2f}]}}"]
        words += [
            f"{san} {{[%eval {value:.2f}]}}"
            for san, value in zip(written_moves(own.moves, None), values[1:], strict=True)
        ]
        tags = f'[White "{header["white"]}"]\n[Black "{header["black"]}"]\n[WhiteElo "2000"]\n\n'
        commented += tags + " ".join(words) + " 1-0\n\n"
    path = tmp_path / "club.pgn"
    path.write_text(commented)
    read = report(path)
    assert read["positions"]["searched"] == 0
    for part in ("pairs", "players", "comparison", "events", "skipped"):
        assert read[part] == searched[part]
    assert read["engine"]["elo"] == searched["engine"]["elo"]


def test_several_spellings_of_a_surname_can_be_one_player(tmp_path):
    path = tmp_path / "club.pgn"
    values = [0.2, 0.2, 0.3, 0.2, 0.25, 0.2, 0.25]
    path.write_text(game("Ann, A", "Bob,B", values) + game("Bob, Boris", "Ann, Anna", values))
    assert len(report(path)["players"]) == 4
    assert [player["player"] for player in report(path, "--surnames")["players"]] == ["Ann", "Bob"]


def test_the_page_holds_the_tables_and_the_figures(pgn, tmp_path):
    page = tmp_path / "page.html"
    assert run("tournament", pgn, "--html", page, "--replicates", 20).exit_code == 0
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "crosstable" in text


def test_a_field_too_large_for_the_screen_is_in_the_page(tmp_path):
    players = tuple(f"P{number}" for number in range(12))
    path = tmp_path / "open.pgn"
    path.write_text(event(np.random.default_rng(1), rounds=1, players=players))
    assert "too many for a screen" in run("tournament", path, "--replicates", 20).stdout


def test_studies_of_gain_can_be_drawn_in_a_reproduction(pgn):
    gained = gains_of_games(read_games(pgn), Work())
    study = tournament(gained, TournamentOptions(replicates=20))
    assert len(study.figures()) == 1
    assert strengths_figure(study, "club").startswith("<svg")
    assert len(game_study(gained, 1).figures()) == 1
    assert len(with_surnames(gained).losses.deciders) == 4


def test_what_cannot_be_computed_is_refused(pgn, tmp_path):
    for words in (["--pool", "tea"], ["--events", "tea"], ["--mass", 1.5], ["--curve", "tea"]):
        assert run("tournament", pgn, *words).exit_code == 1
    nameless = tmp_path / "nameless.pgn"
    nameless.write_text("{[%eval 0.1]} 1. e4 {[%eval 0.1]} e5 {[%eval 0.1]} *\n")
    assert "named players" in run("tournament", nameless).stderr
    unknown = tmp_path / "unknown.pgn"
    unknown.write_text('[White "A"]\n[Black "B"]\n\n1. e4 {[%eval 0.1]} *\n')
    assert "known gain" in run("tournament", unknown).stderr


class TestResampling:
    def table(self, rng: np.random.Generator, groups: int = 5, games: int = 12) -> GainTable:
        moves = 400
        return GainTable.from_gains(
            rng.integers(-60, 30, moves) / 100, rng.integers(0, groups, moves), rng.integers(0, games, moves)
        )

    def test_totals_are_the_groups_histograms_and_their_scores_algorithm_1(self):
        table = self.table(np.random.default_rng(1))
        totals = table.totals()
        for few in (False, True):
            first, second = (
                np.array(side) for side in (([0, 1], [2, 3]) if few else ([0, 1, 2, 3, 4], [4, 3, 1, 0, 2]))
            )
            wanted = [
                expected_score(table.histogram(a), table.histogram(b)) for a, b in zip(first, second, strict=True)
            ]
            np.testing.assert_allclose(totals.expected_scores(first, second), wanted)
        np.testing.assert_allclose(totals.engine_scores(), [expected_score(table.histogram(g)) for g in range(5)])

    def test_a_weight_of_zero_takes_a_game_out_and_nobody_has_no_score(self):
        table = self.table(np.random.default_rng(2))
        nothing = table.totals(np.zeros(12))
        assert np.all(np.isnan(nothing.engine_scores()))
        assert np.all(np.isnan(differences(nothing.expected_scores(np.array([0]), np.array([1])), "normal")))

    def test_pairs_of_games_give_what_whole_histograms_give(self):
        rng = np.random.default_rng(3)
        table = self.table(rng)
        first, second = np.array([0, 1, 3]), np.array([2, 4, 0])
        counted = PairGames.of(table, first, second)
        assert counted is not None
        for weight in (np.ones(12), draw_weights(12, rng), draw_weights(12, rng)):
            totals = table.totals(weight)
            np.testing.assert_allclose(counted.expected_scores(weight), totals.expected_scores(first, second))
            np.testing.assert_allclose(table.engine_scores(weight), totals.engine_scores())
            np.testing.assert_allclose(table.moves(weight), totals.moves)
        assert PairGames.of(table, first, second, most=10) is None

    def test_weights_leave_no_game_out(self):
        weights = draw_weights(1000, np.random.default_rng(3))
        assert weights.min() > 0
        assert weights.mean() == pytest.approx(1, abs=0.1)

    def test_a_tournament_too_large_to_count_by_games_gives_the_same(self, pgn, monkeypatch):
        gained = gains_of_games(read_games(pgn), Work())
        for pool in ("event", "match"):
            options = TournamentOptions(pool=pool, replicates=30)
            few = tournament(gained, options)
            monkeypatch.setattr(PairGames, "of", lambda *_, **__: None)
            many = tournament(gained, options)
            monkeypatch.undo()
            np.testing.assert_allclose(few.drawn.strengths, many.drawn.strengths)

    def test_nominal_intervals_cover_the_truth_as_often_as_they_say(self):
        rng = np.random.default_rng(7)
        covered = []
        for _ in range(120):
            games = 8
            level = rng.normal(-5, 4, (2, games))  # each game has its own level, so that moves are not independent
            gains = np.rint(level[:, :, None] + rng.normal(0, 15, (2, games, 40))) / 100
            group = np.repeat([0, 1], games * 40)
            game = np.tile(np.repeat(np.arange(games), 40), 2)
            table = GainTable.from_gains(gains.ravel(), group, game)
            one, two = np.array([0]), np.array([1])
            again = [table.totals(draw_weights(games, rng)).expected_scores(one, two) for _ in range(120)]
            low, high = interval(np.array([differences(p, "normal") for p in again]), 0.95, [games])
            covered.append(low[0] <= 0 <= high[0])
        assert 0.9 <= np.mean(covered) <= 0.995

    def test_few_replicates_or_games_give_no_interval(self):
        low, high = interval(np.zeros((40, 2)), 0.95, [1, 5])
        assert np.isnan(low[0])
        assert high[1] == 0
        assert np.isnan(interval(np.full((40, 1), np.nan), 0.95, [5])[0][0])
        assert interval(np.full((40, 1), -np.inf), 0.95, [5])[0][0] == -np.inf

    def test_moves_without_a_group_or_game_are_refused(self):
        with pytest.raises(InputError):
            GainTable.from_gains([0.1], [0, 1], [0])

    def test_solving_again_agrees_with_solving_once(self):
        rng = np.random.default_rng(11)
        first, second, elo = (
            np.array([0, 1, 2, 3]),
            np.array([1, 2, 0, 4]),
            np.array([2000.0, 1900, np.nan, 1800, 1700]),
        )
        solve = perceived_again(first, second, elo)
        for _ in range(5):
            d = rng.normal(0, 50, 4)
            wanted = perceived_least_squares(first, second, d, elo)
            np.testing.assert_allclose(solve(d), [wanted.elo, wanted.relative])


def test_elo_differences_follow_the_curve_that_is_named(pgn):
    rows = report(pgn, "--curve", "logistic")["pairs"]
    for row in rows:
        assert row["elo_difference"] == pytest.approx(elo_difference(row["expected_score"], "logistic"))
