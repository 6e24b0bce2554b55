"""`report`: a player's and an event's page, from Elo to the single decision; and what each move cost for its level."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.human.played import played_moves
from skilloscope.chess.pgn.games import Games
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.costs import (
    DECIDED,
    JUDGES,
    LEVELS,
    MARKS,
    MoveCosts,
    MoveJudgement,
    accuracy,
    move_costs,
    winning_chances,
)
from skilloscope.inputs.deep import confirmed
from skilloscope.inputs.load import EngineJob, players, resolve_player
from skilloscope.inputs.pipeline import analysed_games, effort_settings
from skilloscope.inputs.request import RatingRequest
from skilloscope.models.joint import elo_basis, log_alternatives, log_choice
from skilloscope.report.board import board_svg
from skilloscope.report.page import ANALYSIS_BOARD
from skilloscope.report.table import share
from skilloscope.studies.breakdown import breakdown
from skilloscope.studies.game import GameTags
from skilloscope.studies.report import report_on
from skilloscope.studies.report.event import EventReport
from skilloscope.studies.report.player import Decision, PeerComparison, PlayerReport, pawns
from skilloscope.studies.report.standings import MOST_ACROSS, Meeting, PlayerStanding, crosstable, standings

FULL = RatingRequest.of(None, None, "full")
WORK = EngineJob(settings=effort_settings(FULL.effort), imports=(Path(sk.analyses_file()),))


@pytest.fixture(scope="module")
def told() -> PlayerReport:
    """A player of the games that ship, with the analyses that ship."""
    games = sk.demo_games()
    found = report_on(analysed_games(games, FULL, WORK, players=players(games)[:1]), players(games)[:1])
    assert isinstance(found, PlayerReport)
    return found


@pytest.fixture(scope="module")
def event() -> EventReport:
    found = report_on(analysed_games(sk.demo_games(), FULL, WORK))
    assert isinstance(found, EventReport)
    return found


def engine_costs(games: Games, found: Analyses, levels: dict[str, float]) -> MoveCosts:
    costs = move_costs(games, levels, analyses=found, weights=FULL.effort.weights)
    return costs.select(costs.judge == JUDGES.index("engine"))


@pytest.fixture(scope="module")
def costs() -> MoveCosts:
    games = sk.demo_games()
    found = sk.analyse(games, settings=WORK.settings, imports=list(WORK.imports))
    assert FULL.effort.weights is not None
    return engine_costs(games, found, dict.fromkeys(players(games), 1800.0))


def test_the_expected_loss_is_the_mean_over_what_people_of_the_level_choose():
    games = sk.demo_games().select(np.arange(3))
    weights = FULL.effort.weights
    assert weights is not None
    found = sk.analyse(games, settings=WORK.settings, imports=list(WORK.imports))
    ours = engine_costs(games, found, dict.fromkeys(players(games), 1500.0))
    moves = played_moves(games).with_engine(found, len(weights.depths))
    assert moves.joint is not None
    level = np.full(len(moves.joint), 1500.0)
    p = np.exp(log_alternatives(moves.joint, weights, level, elo_basis(level)))
    for row, (first, last) in enumerate(zip(moves.joint.offsets[:-1], moves.joint.offsets[1:], strict=True)):
        loss = moves.joint.roots[first:last, -1].astype(float) ** 2
        assert p[first:last].sum() == pytest.approx(1)
        assert ours.expected[row] == pytest.approx(float(p[first:last] @ loss))
        assert ours.loss[row] == pytest.approx(loss[moves.joint.chosen[row]])


def test_the_likelihood_of_a_choice_is_that_of_its_alternative(costs):
    assert np.all((costs.p_played > 0) & (costs.p_played <= 1))
    assert costs.p_best.shape == (len(costs), 1 + len(LEVELS))
    same = costs.played == costs.best
    assert np.allclose(costs.p_played[same], costs.p_best[same])


def test_log_choice_picks_from_all_alternatives():
    games = sk.demo_games().select(np.arange(1))
    weights = FULL.effort.weights
    assert weights is not None
    found = sk.analyse(games, settings=WORK.settings, imports=list(WORK.imports))
    joint = played_moves(games).with_engine(found, len(weights.depths)).joint
    assert joint is not None
    level = np.linspace(1200, 2400, len(joint))
    every = log_alternatives(joint, weights, level, elo_basis(level))
    assert np.array_equal(log_choice(joint, weights, level, elo_basis(level)), every[joint.offsets[:-1] + joint.chosen])


def test_the_costliest_are_no_best_moves_and_the_finds_are(costs):
    dear, finds = costs.costliest(8), costs.best_finds(8)
    assert len(dear) == 8
    assert np.all(dear.played != dear.best)
    assert np.all(np.diff(dear.cost) <= 0)
    assert np.all(finds.played == finds.best)
    assert np.all(finds.lost < 1e-9)
    assert np.all(np.diff(finds.hard) <= 0)


def test_a_cost_is_winning_chances_lost_times_the_share_who_avoid_the_move(costs):
    before, after = winning_chances(costs.value), winning_chances(costs.played_value)
    undecided = (before >= DECIDED) & (before <= 1 - DECIDED)
    lost = np.maximum(before - after, 0) * (1 - costs.p_played[:, 0])
    assert costs.cost == pytest.approx(np.where(undecided, lost, 0.0))
    decided = replace(costs, value=np.full(len(costs), 9.0))
    assert not decided.cost.any()
    assert not len(decided.costliest())


def test_winning_chances_and_accuracy_are_those_of_lichess():
    assert winning_chances([0.0, 1.0, -39.0]) == pytest.approx([0.5, 0.591, 0.0], abs=1e-3)
    assert accuracy([0.0, 0.05, 1.0]) == pytest.approx([100.0, 79.8, 0.0], abs=0.1)


def test_a_plain_recapture_is_no_find(costs):
    games, finds = sk.demo_games(), costs.best_finds(10_000)
    assert len(finds)
    for game, ply, played in zip(finds.game.tolist(), finds.ply.tolist(), finds.played.tolist(), strict=True):
        before = int(games.moves[games.offsets[game] + ply - 1])
        assert before >> 6 & 63 != played >> 6 & 63


def test_a_deep_search_drops_what_a_cheap_one_has_called_a_mistake(stockfish):
    """The value of the best move is falsified: the move played then seems to lose three pawns."""
    games = sk.demo_games().select(np.arange(1))
    found = sk.analyse(games, settings=WORK.settings, imports=list(WORK.imports))
    true = engine_costs(games, found, dict.fromkeys(players(games), 1800.0))
    good = int(np.flatnonzero((true.played == true.best) & true.open & (true.p_played[:, 0] < 0.5))[0])
    bad = int(np.argmax(true.cost))
    value = true.value.copy()
    value[good] += 3.0
    false = replace(true, value=value, best=np.where(np.arange(len(true)) == good, 1, true.best))
    false = replace(false, suspect=false.cost)
    assert {good, bad} <= set(false.candidates(15).tolist())
    assert true.played[good] in false.costliest(50).played
    told = confirmed(false, games, 15, replace(WORK, imports=()))
    assert told.checked[bad]
    assert not told.trusted[good] or told.cost[good] < min(MARKS)
    shown = told.costliest(50)
    assert shown.checked.all()
    assert (told.game[good], told.ply[good]) not in zip(shown.game, shown.ply, strict=True)
    assert (told.game[bad], told.ply[bad]) in zip(shown.game, shown.ply, strict=True)
    assert len(told.line[bad].split()) > 2
    assert not told.trusted[~told.checked].any()
    again = confirmed(false, games, 15, None)
    assert np.array_equal(again.value, false.value)
    alone = confirmed(false.select(np.array([good])), games, 15, replace(WORK, imports=()))
    assert not len(alone.costliest(50))  # also where the first look leaves nothing for a deep search


def test_a_level_that_is_given_decides_whose_moves_count(costs):
    games = sk.demo_games()
    found = sk.analyse(games, settings=WORK.settings, imports=list(WORK.imports))
    assert FULL.effort.weights is not None
    name = players(games)[0]
    own = engine_costs(games, found, {name: 1800.0})
    assert 0 < len(own) < len(costs)


def test_people_at_their_own_level_lose_what_is_expected_of_it(costs):
    """The level that the moves themselves give is one at which the expected loss is near to the actual one."""
    beside = PeerComparison.of(costs)
    assert beside.moves == len(costs)
    assert beside.loss_se > 0
    assert 0 < beside.expected_first < 1


def test_a_player_is_told_from_elo_to_decisions(told):
    report = told.as_dict()
    assert report["kind"] == "player"
    assert {"phase", "colour"} <= set(report["parts"])
    assert report["costliest"]
    assert all(move["player"] == told.player for move in report["costliest"] + report["finds"])
    for move in report["costliest"]:
        board = chess.Board(move["fen"])
        assert board.parse_san(move["played"]).uci() == move["played_uci"]
        assert board.parse_san(move["better"]).uci() == move["better_uci"]
    json.dumps(report)


def test_the_page_of_a_player_has_boards_with_words_and_loads_nothing(told):
    page = told.page("games.pgn")
    assert page.count('<article class="card">') == len(told.costliest) + len(told.finds)
    assert page.count(" to move; played ") >= len(told.costliest)
    assert f"{told.rating.elo.mean:.0f}" in page
    assert "<script" not in page
    assert 'src="http' not in page
    assert page.count('href="http') == page.count(f'href="{ANALYSIS_BOARD}')


def test_boards_of_one_page_have_names_of_their_own():
    one, two = board_svg(chess.STARTING_FEN), board_svg("8/8/8/4k3/8/8/4K2P/8 b - - 0 1")
    names = [{part.split('"')[0] for part in text.split('id="')[1:]} for text in (one, two)]
    assert names[0]
    assert not names[0] & names[1]


def test_an_event_has_every_game_with_both_in_it(event):
    report = event.as_dict()
    assert len(report["games"]) == len(sk.demo_games())
    for game in report["games"]:
        for side in ("white", "black"):
            own = game[side]
            assert own["elo"] is None or own["elo_low"] < own["elo"] < own["elo_high"]
    strengths = {game.tags.game: game.strength for game in event.games if game.strength is not None}
    assert strengths[report["best_played"]] == max(strengths.values())
    assert report["best_games"][0] == next(game.number for game in event.best_first)
    assert "Turning points" in event.page("games.pgn")
    assert {table.title for table in event.tables()} >= {"Crosstable", "Every game"}


def test_a_crosstable_counts_points_both_ways():
    pgn = "".join(
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n1. e4 {result}\n\n'
        for white, black, result in (("A", "B", "1-0"), ("B", "A", "1/2-1/2"), ("A", "C", "*"), ("C", "B", "0-1"))
    )
    rows = {row.player: row for row in standings(sk.read_games(io.StringIO(pgn)))}
    assert {name: (row.points, row.games) for name, row in rows.items()} == {
        "A": (1.5, 2),
        "B": (1.5, 3),
        "C": (0.0, 1),
    }
    assert rows["A"].against == [Meeting("B", [1.0, 0.5], [1, 2])]


def test_a_part_of_a_name_is_enough_where_only_one_has_it():
    assert resolve_player("ann", ["Anna Bo", "Cy"]) == "Anna Bo"
    assert resolve_player("Cy", ["Cy", "Cyd"]) == "Cy"
    with pytest.raises(InputError, match="2 players"):
        resolve_player("c", ["Cy", "Cyd"])
    with pytest.raises(InputError, match="no decisions"):
        resolve_player("x", ["Cy"])


def test_without_an_engine_the_report_says_what_is_missing(tmp_path):
    page, data = report("--player", players(sk.demo_games())[0], "--effort", "instant", tmp_path=tmp_path)
    assert data["judge"] == "people"
    assert all(move["chances"] is None and move["better"] is None for move in data["costliest"])
    assert "No engine analysed these games" in page


def test_a_pdf_that_cannot_be_made_is_refused_before_anything_is_read(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    done = CliRunner().invoke(app, ["rate", str(tmp_path / "nowhere.pgn"), "--pdf", str(tmp_path / "page.pdf")])
    assert done.exit_code != 0
    assert "PDF needs WeasyPrint" in done.stderr
    assert "nowhere" not in done.stderr


def test_the_command_writes_page_pdf_and_figures(tmp_path):
    pytest.importorskip("weasyprint", reason="WeasyPrint is not installed", exc_type=ImportError)
    page, data = report(
        "--effort",
        "instant",
        "--pdf",
        tmp_path / "r.pdf",
        "--figure",
        tmp_path / "f.png",
        "--title",
        "A <b>",
        tmp_path=tmp_path,
    )
    assert data["kind"] == "event"
    assert "A &lt;b&gt;" in page
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "f-1.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_of_an_unknown_kind_is_refused(tmp_path):
    done = CliRunner().invoke(app, ["report", str(pgn_file(tmp_path)), "--effort", "instant", "--figure", "x.bmp"])
    assert done.exit_code == 2
    assert ".svg, .png, .pdf" in done.stderr


def test_hostile_names_are_shown_as_text(tmp_path):
    path = tmp_path / "h.pgn"
    path.write_text('[White "<script>alert(1)</script>"]\n[Black "=1+1"]\n\n' + "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n")
    done = CliRunner().invoke(app, ["report", str(path), "--effort", "instant", "--html", str(tmp_path / "h.html")])
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "h.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_words_of_a_decision():
    assert pawns(-0.001) == "+0.00"
    assert share(0.0) == "< 1 %"
    tags = GameTags("x#1", "?", None, None, None, "Ann", None, None, None, None, None, None)
    judged = MoveJudgement(
        "e4",
        0.5,
        "engine",
        0.05,
        0.55,
        0.12,
        "?",
        True,
        3.1,
        "d4",
        "d2d4",
        "1. d4 d5",
        "e5",
        {"1200": 0.1, "2400": 0.4},
    )
    card = Decision(
        tags=tags, player="Ann", side="white", ply=0, number="1.", fen=chess.STARTING_FEN, played="e4",
        played_uci="e2e4", better="d4", better_uci="d2d4", value=0.54, played_value=-5.4, level=1500.0,
        p_played=0.5, p_better=0.4, p_played_by_level=[], judgement=judged,
    ).card()  # fmt: skip
    assert dict(card.lines)["winning chances"] == "55 %, +0.54 pawns → 12 %, -5.40"
    assert dict(card.lines)["best line"] == "1. d4 d5"
    assert judged.verdict == "winning chances 55 % → 12 %: better 1. d4 d5"
    assert card.link.startswith(ANALYSIS_BOARD)
    assert " " not in card.link


def test_the_tables_of_a_player_are_those_of_the_page(told):
    titles = [table.title for table in told.tables()]
    assert "Elo by phase: parts pooled towards the player's own level" in titles
    assert "The decisions that cost most for this level" in titles


def test_the_parts_of_a_report_are_those_of_a_breakdown(told):
    for by in ("phase", "colour"):
        options = {"effort": "full", "imports": WORK.imports}
        alone = breakdown(sk.demo_games(), by, told.player, **options)
        assert told.as_dict()["parts"][by]["players"] == alone.as_dict()["players"]


def test_turning_points_are_the_moves_that_cost_most_for_their_level(event):
    assert event.judge == "engine"
    costs = [move.judgement.cost for move in event.turning]
    assert costs == sorted(costs, reverse=True)
    for move in event.turning:
        judged = move.judgement
        assert judged.checked or judged.judge == "evaluations"
        assert judged.mark
        assert judged.cost == pytest.approx((judged.chances - judged.chances_after) * (1 - move.p_played))


def test_without_an_engine_evaluations_in_comments_say_what_a_move_cost():
    found = sk.report(demo_file("game_of_the_century.pgn"), effort="instant")
    assert isinstance(found, EventReport)
    assert found.judge == "evaluations"
    costly = next(move for move in found.turning if move.side == "white")
    assert (costly.played, costly.judgement.pawns_lost) == ("Bxb6", pytest.approx(5.56, abs=0.01))
    assert found.finds == []


def test_the_name_of_the_function_is_not_hidden_by_the_folder():
    import skilloscope.report.table

    assert callable(sk.report)
    assert sk.report is skilloscope.studies.report.report


def pgn_file(folder: Path) -> Path:
    path = folder / "games.pgn"
    path.write_bytes(demo_file("game_of_the_century.pgn").read_bytes())
    return path


def report(*words: object, tmp_path: Path) -> tuple[str, dict[str, Any]]:
    html = tmp_path / "r.html"
    source = demo_file("simulated.pgn")
    done = CliRunner().invoke(app, ["report", str(source), *map(str, words), "--html", str(html), "--json"])
    assert done.exit_code == 0, done.stderr
    return html.read_text(), json.loads(done.stdout)


def test_a_crosstable_of_many_names_those_who_were_met():
    names = [f"Member {at:02d}" for at in range(MOST_ACROSS + 1)]
    met = [Meeting(names[3], [0.5, 1.0], [1, 2]), Meeting(names[2], [0.0], [3])]
    table = [PlayerStanding(name, 0.5, 1, [] if name != names[0] else met) for name in names]
    sheet = crosstable(table)
    assert sheet.columns == ["player", "opponent: score", "points"]
    assert sheet.rows[0] == ["1 Member 00", "3: 0, 4: ½ 1", "0.5 / 1"]
    few = crosstable(table[:MOST_ACROSS])
    assert len(few.columns) == MOST_ACROSS + 2
