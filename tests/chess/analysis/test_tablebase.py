"""The judge that never errs: known endings, the order of the utility, and games played by it to the end."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from skilloscope.chess.analysis.tablebase import JudgedMove, Tablebase, syzygy_utility, tablebase_decisions
from skilloscope.chess.moves import move_uci
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.errors import InputError
from skilloscope.evidence import agent_evidence
from skilloscope.models.agent import Agent

ROOT = Path(__file__).resolve().parents[3]
WIN, CURSED, DRAW, BLESSED, LOSS = 2, 1, 0, -1, -2


@pytest.fixture(scope="module")
def syzygy() -> Path:
    """A folder of tables: `tools/setup.sh test` puts python-chess's small ones into .cache/syzygy."""
    folder = Path(os.environ.get("SKILLOSCOPE_SYZYGY", ROOT / ".cache" / "syzygy"))
    if not folder.is_dir():
        pytest.skip("no Syzygy tables")
    return folder


@pytest.fixture(scope="module")
def tables(syzygy: Path) -> Iterator[Tablebase]:
    with Tablebase(syzygy) as opened:
        yield opened


def judged(tables: Tablebase, fen: str) -> dict[str, JudgedMove]:
    """Return the judged moves by name, best first."""
    moves = tables.judge(chess.Board(fen))
    assert moves is not None
    return {move_uci(entry.move): entry for entry in sorted(moves, key=lambda entry: -entry.value)}


def best(tables: Tablebase, board: chess.Board) -> JudgedMove:
    moves = tables.judge(board)
    assert moves
    return max(moves, key=lambda entry: entry.value)


def push(board: chess.Board, entry: JudgedMove) -> None:
    board.push(chess.Move.from_uci(move_uci(entry.move)))


def test_a_better_outcome_is_worth_more_at_any_distance() -> None:
    distances = np.arange(0, 2000)
    ranges = [syzygy_utility(np.full(len(distances), outcome), distances) for outcome in (LOSS, BLESSED, CURSED, WIN)]
    lowest, highest = [values.min() for values in ranges], [values.max() for values in ranges]
    assert highest[0] < lowest[1] < highest[1] < 0 < lowest[2] < highest[2] < lowest[3]
    assert np.all(syzygy_utility(np.zeros(len(distances), dtype=int), distances) == 0)
    assert (lowest[0], highest[3]) == (-11, 11)
    assert np.all(np.isfinite(ranges))


@given(outcome=st.sampled_from([LOSS, BLESSED, CURSED, WIN]), near=st.integers(0, 1000), more=st.integers(1, 1000))
def test_nearer_wins_are_better_and_nearer_losses_worse(outcome: int, near: int, more: int) -> None:
    step = float(syzygy_utility(outcome, near) - syzygy_utility(outcome, near + more))
    assert step > 0 if outcome > 0 else step < 0
    assert abs(step) <= 0.01 * more + 1e-12, "one ply costs at most a hundredth of a pawn"


@given(outcome=st.sampled_from([LOSS, BLESSED, DRAW, CURSED, WIN]), distance=st.integers(0, 1000))
def test_the_other_sides_utility_is_the_opposite(outcome: int, distance: int) -> None:
    assert syzygy_utility(-outcome, distance) == -syzygy_utility(outcome, distance)


def test_a_win_in_range_is_worth_what_the_page_says() -> None:
    assert syzygy_utility([WIN, WIN], [0, 100]).tolist() == [11.0, 10.5]
    assert syzygy_utility(WIN, 0) - syzygy_utility(WIN, 10) == pytest.approx(0.1, abs=0.01)


def test_a_queen_wins_and_mate_is_the_best_move(tables: Tablebase) -> None:
    moves = judged(tables, "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    first = next(iter(moves.values()))
    assert (first.outcome, first.distance, first.value) == (WIN, 0, 11.0)
    assert move_uci(first.move) == "f1f8"
    assert moves["f1f7"][1:] == (DRAW, 0), "stalemate"
    assert moves["f1e1"].outcome == WIN
    assert moves["f1e1"].distance > 1


def test_a_queen_or_a_rook_that_is_left_to_be_taken_draws(tables: Tablebase) -> None:
    queen = judged(tables, "8/8/8/8/2k5/8/8/K5Q1 w - - 0 1")
    assert (queen["g1d4"].outcome, queen["g1g4"].outcome) == (DRAW, WIN)
    rook = judged(tables, "8/8/8/8/6k1/8/8/K6R w - - 0 1")
    assert (rook["h1h4"].outcome, rook["h1h8"].outcome) == (DRAW, WIN)
    assert list(rook)[-2:] == ["h1h4", "h1h3"] or list(rook)[-2:] == ["h1h3", "h1h4"], "all others win"


@pytest.mark.parametrize("side", "wb")
def test_the_king_before_its_pawn_on_the_sixth_wins_with_either_side_to_move(tables: Tablebase, side: str) -> None:
    board = chess.Board(f"4k3/8/4K3/4P3/8/8/8/8 {side} - - 0 1")
    assert best(tables, board).outcome == (WIN if side == "w" else LOSS)


def test_in_zugzwang_the_right_to_move_costs_half_a_point(tables: Tablebase) -> None:
    assert best(tables, chess.Board("3k4/8/3KP3/8/8/8/8/8 w - - 0 1")).outcome == DRAW
    assert best(tables, chess.Board("3k4/8/3KP3/8/8/8/8/8 b - - 0 1")).outcome == LOSS
    opposition = judged(tables, "8/8/4k3/8/3K4/4P3/8/8 w - - 0 1")
    assert [name for name, entry in opposition.items() if entry.outcome == WIN] == ["d4e4"]


def test_a_rook_pawn_before_the_king_in_its_corner_is_a_draw(tables: Tablebase) -> None:
    assert best(tables, chess.Board("k7/8/8/K7/P7/8/8/8 w - - 0 1")).outcome == DRAW


def test_a_capture_or_a_pawn_move_is_one_ply_away(tables: Tablebase) -> None:
    moves = judged(tables, "8/4P3/8/8/8/2k5/8/K7 w - - 30 80")
    assert moves["e7e8q"][1:] == (WIN, 1)
    assert moves["e7e8n"][1:] == (DRAW, 0)
    assert moves["a1b1"].distance > 1


def test_the_fifty_move_rule_turns_a_late_win_into_a_cursed_one_and_then_into_a_draw(tables: Tablebase) -> None:
    fen = "8/8/4k3/8/8/3QK3/8/8 w - - {clock} 120"
    needed = best(tables, chess.Board(fen.format(clock=0))).distance
    outcomes = [best(tables, chess.Board(fen.format(clock=clock))).outcome for clock in range(99 - needed, 100)]
    assert outcomes == [WIN] + [CURSED] * (needed - 1) + [DRAW]
    black = fen.replace(" w ", " b ")
    assert best(tables, chess.Board(black.format(clock=0))).outcome == LOSS
    assert best(tables, chess.Board(black.format(clock=97))).outcome == BLESSED
    mate = chess.Board("7k/8/6K1/8/8/8/8/1Q6 w - - 99 120")
    assert best(tables, mate).value == 11, "mate on the hundredth ply is mate"


@pytest.mark.parametrize(
    "fen",
    ["8/8/4k3/8/8/3QK3/8/8 w - - 0 1", "8/8/4k3/8/8/3RK3/8/8 w - - 0 1", "8/8/4k3/8/8/2BNK3/8/8 w - - 0 1"],
    ids=["queen", "rook", "bishop and knight"],
)
def test_both_sides_by_utility_mate_in_the_plies_that_the_tables_say(tables: Tablebase, fen: str) -> None:
    board = chess.Board(fen)
    promised = best(tables, board).distance
    for ply in range(promised + 2):
        if board.is_game_over():
            break
        entry = best(tables, board)
        assert abs(entry.distance - (promised - ply)) <= 1
        push(board, entry)
    assert board.is_checkmate()
    assert promised <= len(board.move_stack) <= promised + 1


ENDINGS = ["Q", "R", "P", "BN", "RP", "Qr", "Rb", "Pp", "Rp", "QP"]


@st.composite
def ending(draw: st.DrawFn) -> chess.Board:
    """A legal position of an ending that the small tables hold."""
    pieces = "Kk" + draw(st.sampled_from(ENDINGS))
    squares = draw(st.lists(st.integers(0, 63), min_size=len(pieces), max_size=len(pieces), unique=True))
    board = chess.Board(None)
    for symbol, square in zip(pieces, squares, strict=True):
        assume(symbol not in "Pp" or 8 <= square < 56)
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    board.turn = draw(st.booleans())
    assume(board.is_valid() and any(board.legal_moves))
    return board


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(board=ending())
def test_the_best_move_by_utility_never_throws_away_the_value_of_the_game(
    tables: Tablebase, board: chess.Board
) -> None:
    moves = tables.judge(board)
    assert moves is not None
    assert {entry.move for entry in moves} == {
        m.from_square | m.to_square << 6 | (m.promotion or 0) << 12 for m in board.legal_moves
    }
    assert max(moves, key=lambda entry: entry.value).outcome == tables._tables.probe_wdl(board)
    assert all(np.isfinite(entry.value) for entry in moves)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(board=ending())
def test_the_distance_of_the_best_move_is_the_tables_distance(tables: Tablebase, board: chess.Board) -> None:
    entry = best(tables, board)
    plies = tables._tables.probe_dtz(board)
    assert np.sign(plies) == np.sign(entry.outcome)
    assert abs(abs(plies) - entry.distance) <= 1, "the tables may round by one; mate counts as its own ply"


PGN = """[White "Ann"]
[Black "Bob"]
[WhiteElo "2000"]
[Result "1-0"]
[FEN "8/8/4k3/8/3K4/4P3/8/8 w - - 0 60"]

60. Ke4 Kd6 61. Kf5 Ke7 62. Ke5 1-0

[White "Ann"]
[Black "Bob"]
[FEN "r3k3/8/8/8/8/8/8/4K3 b q - 0 60"]

60... Kd7 61. Kd2 *

[White "Cat"]

1. e4 e5 *
"""


def test_decisions_list_every_legal_move_and_count_what_is_not_in_the_tables(syzygy: Path) -> None:
    batch = positions(read_games(io.StringIO(PGN)), skip_moves=0)
    decisions = tablebase_decisions(batch, syzygy)
    assert decisions.skipped == {
        "not in the tablebase": 1,
        "not in the tablebase (castling)": 1,
        "unknown player": 1,
    }
    assert len(decisions) + decisions.tally.total == len(batch)
    assert np.array_equal(decisions.counts, decisions.n_legal)
    assert np.all(decisions.listed)
    assert decisions.names() == ["Ann", "Bob"]
    assert decisions.column("elo").to_pylist()[0] == 2000
    assert decisions.column("fen").to_pylist()[0] == "8/8/4k3/8/3K4/4P3/8/8 w - - 0 60"
    assert decisions.about["settings"]["utility"] == "syzygy-utility"
    assert decisions.chosen_loss()[0] == 0, "60. Ke4 takes the opposition"
    table = agent_evidence(decisions, Agent(rule="full"))
    assert table["Ann"].decisions == 4
    assert "full" not in str(table.tally)


def test_no_positions_give_no_decisions(tables: Tablebase) -> None:
    assert len(tablebase_decisions(positions(read_games([])), tables)) == 0


def test_positions_beyond_the_tables_have_no_judgement(tables: Tablebase) -> None:
    assert tables.judge(chess.Board()) is None
    assert tables.judge(chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")) is None
    assert len(tables.tables) >= 35
    assert "KQvK" in tables.tables


def test_an_ending_is_left_out_where_one_that_may_follow_is_missing(syzygy: Path, tmp_path: Path) -> None:
    for file in ("KRvK.rtbw", "KRvK.rtbz", "KPvK.rtbw", "KPvK.rtbz"):
        (tmp_path / file).symlink_to(syzygy / file)
    with Tablebase(tmp_path) as few:
        assert few.tables == ("KPvK", "KRvK")
        assert few.judge(chess.Board("8/8/4k3/8/8/3RK3/8/8 w - - 0 1")) is not None
        assert few.judge(chess.Board("8/4P3/8/8/8/2k5/8/K7 w - - 0 1")) is None, "the promotion needs KQvK"


def test_a_folder_without_tables_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Syzygy tables in") as caught:
        Tablebase(tmp_path)
    assert "KQvK.rtbw" in caught.value.hint
    (tmp_path / "KQvK.rtbw").write_bytes(b"")
    with pytest.raises(InputError, match="no Syzygy tables in"):
        Tablebase(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        Tablebase(tmp_path / "nowhere")


def test_a_damaged_table_is_an_error_that_says_which(tmp_path: Path) -> None:
    for name in ("KQvK.rtbw", "KQvK.rtbz"):
        (tmp_path / name).write_bytes(b"this is no table, and is long enough not to be one" * 10)
    with Tablebase(tmp_path) as tables, pytest.raises(InputError, match="cannot be read") as caught:
        tables.judge(chess.Board("8/8/4k3/8/8/3QK3/8/8 w - - 0 1"))
    assert "KQvK" in str(caught.value)
