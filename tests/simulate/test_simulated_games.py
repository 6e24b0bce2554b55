"""Simulated people: what they play by each style, whole games of theirs, and how these end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import chess
import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.boards import Boards
from skilloscope.chess.engine.lines import LINE, LineArray, value_of
from skilloscope.chess.human.model import human
from skilloscope.chess.moves import move_code, move_of_code
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions_of
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.evidence.axis import elo_axis
from skilloscope.evidence.scales import scale
from skilloscope.models.agent import probability
from skilloscope.models.joint import BENDS, CONTEXT, PARTS, elo_basis, log_choice, scaled_roots
from skilloscope.simulate.games import Assist, GameMaker, Pairing, Standing, bundled_resignations, material
from skilloscope.simulate.people import (
    agent_chances,
    drawn_depth_limited,
    human_chances,
    joint_chances,
    joint_of,
    unlisted_gain,
)

BOARDS = [
    chess.Board(),
    chess.Board("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 13"),
    chess.Board("8/5k2/8/8/8/2R5/4K3/8 w - - 0 60"),
]
WEIGHTS = elo_axis().effort("quick").weights


def searched(boards: Sequence[chess.Board], most: int = 10) -> Analyses:
    """Answers of an engine that likes moves in alphabetical order: 90, 80, 70 … centipawns at six depths."""
    answers = {board.fen(): _lines(board, most) for board in boards}
    return Analyses.from_answers(positions_of(boards), {"engine": "made up", "net": None, "fen_rule": "full"}, answers)


def _lines(board: chess.Board, most: int) -> LineArray:
    moves = sorted(board.legal_moves, key=chess.Move.uci)[:most]
    rows = [(d, i + 1, move_code(m), 0, 90 - 10 * i - d) for d in range(1, 7) for i, m in enumerate(moves)]
    return np.array(rows, dtype=LINE)


def test_people_play_by_the_human_model_at_their_own_elo():
    choices = human().choices(Boards.from_boards(BOARDS))
    chances = human_chances(choices, [1200, 1800, 2400])
    for row, elo in enumerate((1200, 1800, 2400)):
        own = slice(*choices.offsets[row : row + 2])
        assert np.allclose(chances.log_p[own], choices.log_probabilities(elo)[own, 0])


def test_the_joint_style_is_the_joint_model():
    choices, seen = human().choices(Boards.from_boards(BOARDS)), searched(BOARDS)
    chances = joint_chances(choices, seen, 1700.0, WEIGHTS)
    assert np.allclose(np.add.reduceat(np.exp(chances.log_p), chances.offsets[:-1]), 1.0)
    played = choices.moves[choices.offsets[:-1] + 1]
    joint = joint_of(choices, seen, WEIGHTS)
    joint = replace(joint, chosen=choices.index_of(played))
    level = np.full(3, 1700.0)
    assert np.allclose(
        chances.log_p[chances.offsets[:-1] + joint.chosen], log_choice(joint, WEIGHTS, level, elo_basis(level))
    )


def test_the_agent_chooses_among_the_listed_as_equation_6_says():
    chances, shipped = agent_chances(searched(BOARDS), 2100.0, scale()), scale()
    losses = 0.1 * np.arange(10)
    assert np.allclose(np.exp(chances.log_p[:10]), probability(losses, float(shipped.parameter(2100.0))))
    assert len(chances) == 3


def test_a_draw_follows_the_chances():
    chances = human_chances(human().choices(Boards.from_boards(BOARDS[:1])), 2000.0)
    rng = np.random.default_rng(4)
    drawn = np.array([chances.drawn([rng])[0] for _ in range(2000)])
    share = np.array([(drawn == move).mean() for move in chances.moves])
    assert np.abs(share - np.exp(chances.log_p)).max() < 4 * np.sqrt(0.25 / 2000)


@pytest.mark.parametrize("adjustments", [{}, {("root", "value 0"): 1.5, ("human", "move 13"): -0.3}])
def test_moves_are_drawn_as_people_lean_and_those_beyond_the_list_by_what_they_are_worth(adjustments):
    names = (*BENDS, *CONTEXT)
    rows = tuple(tuple(adjustments.get((part, name), 0.0) for name in names) for part in PARTS)
    board, weights = BOARDS[1], replace(WEIGHTS, adjustments=rows)
    choices, seen, elo = human().choices(Boards.from_boards([board])), searched([board]), np.array([1700.0])
    joint = joint_of(choices, seen, WEIGHTS)
    asked: set[int] = set()

    def valued(moves: Sequence[tuple[int, int]]) -> list[float]:
        asked.update(move for _, move in moves)
        return [-4.0 for _ in moves]

    rng = np.random.default_rng(12)
    draws = [drawn_depth_limited(choices, seen, elo, weights, [rng], valued) for _ in range(3000)]
    # What is left of the unlisted ones: all that counts losses, times the difference of the roots.
    best, worst = 0.84, -0.06
    by_loss = sum(a + b * (1700 - 2100) / 450 for a, b in WEIGHTS.losses)
    by_loss += (1 - best) * adjustments.get(("root", "value 0"), 0.0)
    less = by_loss * float(scaled_roots(best, worst) - scaled_roots(best, -4.0))
    z = joint_chances(choices, seen, 1700.0, weights).log_p
    expected = np.exp(z + np.where(joint.listed, 0.0, less + unlisted_gain(elo)[0]))
    expected /= expected.sum()
    share = np.array([np.mean([drawn[0] == move for drawn, _ in draws]) for move in choices.moves])
    assert np.abs(share - expected).max() < 4 * np.sqrt(0.25 / 3000)
    assert expected[~joint.listed].sum() > 0.005
    assert share[~joint.listed].sum() == pytest.approx(expected[~joint.listed].sum(), abs=0.01)
    assert asked <= set(choices.moves[~joint.listed].tolist())
    assert {value[0] for drawn, value in draws if drawn[0] in choices.moves[~joint.listed]} <= {-4.0}


def test_the_same_seed_gives_the_same_games_however_many_are_asked_for():
    pairing = Pairing(1500, 1900)
    few, many = GameMaker().play(pairing, 2, seed=5), GameMaker().play(pairing, 4, seed=5)
    for one, other in zip(few, many, strict=False):
        assert one.as_pgn(pairing, "") == other.as_pgn(pairing, "")
    assert len({game.board.fen() for game in many}) == 4
    assert all(game.end and game.result != "*" for game in many)


def test_a_helped_player_plays_the_engines_first_choice_and_the_other_does_not():
    (game,) = GameMaker(search=searched).play(Pairing(1500, 1500, Assist(1)), 1, seed=2)
    board = chess.Board()
    for move in game.board.move_stack:
        first = min(board.legal_moves, key=chess.Move.uci)
        if board.turn:
            assert move == first
        board.push(move)
    assert game.helped == list(range(0, game.board.ply(), 2))


def test_the_engine_is_asked_from_the_third_move_on():
    asked: list[int] = []

    def search(boards: Sequence[chess.Board]) -> Analyses:
        asked.extend(board.fullmove_number for board in boards)
        return searched(boards)

    made = GameMaker(WEIGHTS, search).play(Pairing(1500, 1500), 2, seed=8)
    longest = max(game.board.ply() for game in made)
    assert longest > 14, "the games are long enough to be asked about"
    assert min(asked) == 3
    with pytest.raises(InputError, match="need an engine"):
        GameMaker(WEIGHTS).play(Pairing(1500, 1500), 1)


def test_the_command_writes_games_that_say_they_are_simulated(tmp_path):
    line = ["simulate", "games", "--elo", "1600", "--against", "2100", "--games", "2", "--effort", "instant"]
    done = CliRunner().invoke(app, [*line, "--out", str(tmp_path / "g.pgn"), "--json"])
    assert done.exit_code == 0, done.stderr
    games = read_games([tmp_path / "g.pgn"])
    assert not games.tally.faults
    assert games.headers["white"].to_pylist() == ["simulated 1600", "simulated 2100"]
    assert games.headers["white_elo"].to_pylist() == [1600, 2100]
    assert set(games.headers["event"].to_pylist()) == {"simulated games"}


@pytest.mark.parametrize("text", ["engine on 1 move in 0", "engine", "engine on 2 moves in 5"])
def test_help_that_cannot_be_read_is_refused(text):
    with pytest.raises(InputError, match="no help"):
        Assist.from_text(text)


def standing(**columns: npt.ArrayLike) -> Standing:
    """Games of 2000 at move 30, level and unseen but for what is said."""
    usual = {
        "ply": 60.0,
        "pieces": 30.0,
        "elo": 2000.0,
        "opponent_elo": 2000.0,
        "value": np.nan,
        "value_before": np.nan,
    }
    given = {**dict.fromkeys((field.name for field in fields(Standing)), 0.0), **usual, **columns}
    length = max(np.size(column) for column in given.values())
    return Standing(**{name: np.broadcast_to(np.asarray(column, float), length) for name, column in given.items()})


def test_who_is_behind_resigns_sooner_and_who_is_level_agrees_to_draws():
    behind = np.array([0.0, -3.0, -9.0])
    resign, draw = bundled_resignations().chances(standing(material=behind, material_before=behind))
    assert np.all(np.diff(resign) > 0)
    assert np.all(np.diff(draw) < 0)
    stronger = standing(material=behind, material_before=behind, opponent_elo=2400.0)
    assert np.all(bundled_resignations().chances(stronger)[0] > resign)


def test_where_the_engine_looks_on_its_value_counts_more_than_the_material():
    behind, losing = standing(material=-3.0, material_before=-3.0, value=0.0), standing(value=[-3.0, -6.0, -39.0])
    sacrificed, lost = (bundled_resignations().chances(one)[0] for one in (behind, losing))
    assert sacrificed < lost[0] / 10
    assert np.all(np.diff(lost) > 0)
    level, decided = bundled_resignations().chances(standing(value=[0.0, 0.0], value_before=[0.0, 4.0]))[1]
    assert decided < level / 10


def test_the_value_of_a_position_is_that_of_the_move_that_led_to_it():
    (game,) = GameMaker(WEIGHTS, lambda boards: searched(boards, 300)).play(Pairing(1500, 1500), 1, seed=8)
    values = game.values[3:]
    assert len(values) == game.board.ply()
    assert np.isnan(values[:4]).all()
    board = chess.Board()
    for ply, move in enumerate(game.board.move_stack[:6]):
        if ply >= 4:
            white = 1 if board.turn else -1
            assert values[ply] == pytest.approx(white * value_of(_lines(board, 300), move_code(move)))
        board.push(move)


def test_material_counts_pawns_and_pieces():
    assert material(chess.Board("4k3/p7/8/8/8/8/PP6/Q3K3 w - - 0 1")) == (10, 9)


@pytest.mark.soak
def test_simulated_games_are_rated_where_they_belong(tmp_path):
    from skilloscope.studies.rate import rate

    person = elo_axis().effort("instant").person
    assert person is not None
    for elo in (1200, 1600, 2000, 2400):
        rated = elo - np.interp(elo, person.elo, person.mean)  # people differ by so much from the models, these do not
        pairing = Pairing(elo, elo)
        made = GameMaker().play(pairing, 200)
        (tmp_path / "games.pgn").write_text("\n".join(game.as_pgn(pairing, "") for game in made))
        ratings = rate(tmp_path / "games.pgn", effort="instant", prior="flat").as_dict()
        for row in ratings["players"]:
            assert row["elo"] == pytest.approx(rated, abs=60)


def test_moves_are_told_by_their_codes():
    board = chess.Board()
    assert all(move_of_code(move_code(move)) == move for move in board.legal_moves)


def test_help_and_the_joint_model_go_together():
    made = GameMaker(WEIGHTS, searched).play(Pairing(1500, 1500, Assist(2)), 2, seed=3)
    assert all(game.helped and game.end for game in made)
    for game in made:
        assert all(ply % 2 == game.number for ply in game.helped)
        assert np.isfinite(game.values[3:][game.helped[0]])
