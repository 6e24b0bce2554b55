from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.chess.engine import engine as engine_module
from skilloscope.chess.engine.engine import Engine, find_engine
from skilloscope.chess.engine.lines import LINE, checked_answer, last_depth, pack_lines, read_answer, unpack_lines
from skilloscope.chess.engine.settings import DFH13, Settings, parse_option
from skilloscope.chess.moves import move_uci, value_pawns
from skilloscope.core.errors import EngineError, InputError

MIDDLEGAME = "2rq1rk1/p2nbppp/1p2p3/2pb4/3P1B2/5NP1/PPQ1PPBP/R2R2K1 w - - 0 13"
MATE_IN_ONE = "7k/R7/8/8/8/8/8/1R4K1 w - - 0 1"
SHALLOW = Settings(depth=2, multipv=3)
Fake = Callable[..., Path]


def test_an_answer_holds_every_depth_best_first(stockfish: Path) -> None:
    with Engine(stockfish, Settings(depth=6, multipv=5)) as engine:
        answer = engine.analyse(MIDDLEGAME)
    assert answer.n_legal == chess.Board(MIDDLEGAME).legal_moves.count()
    assert np.unique(answer.lines["depth"]).tolist() == [1, 2, 3, 4, 5, 6]
    for depth in range(1, 7):
        lines = answer.lines[answer.lines["depth"] == depth]
        assert lines["rank"].tolist() == [1, 2, 3, 4, 5]
        assert np.all(np.diff(value_pawns(lines["mate"], lines["score"])) <= 0)
    assert answer.nodes > 0
    assert answer.seconds > 0


def test_the_same_position_gives_the_same_answer_whatever_came_before(stockfish: Path) -> None:
    with Engine(stockfish, Settings(depth=7, multipv=4)) as engine:
        first = engine.analyse(MIDDLEGAME).lines
        engine.analyse(MIDDLEGAME.replace(" w ", " b "))
        assert np.array_equal(engine.analyse(MIDDLEGAME).lines, first)


def test_mates_come_back_raw(stockfish: Path) -> None:
    with Engine(stockfish, Settings(depth=5, multipv=2)) as engine:
        best = last_depth(engine.analyse(MATE_IN_ONE).lines)[0]
    assert (int(best["mate"]), int(best["score"])) == (1, 1)


def test_fewer_legal_moves_than_lines_is_complete(stockfish: Path) -> None:
    with Engine(stockfish, DFH13) as engine:
        answer = engine.analyse("k7/8/8/8/8/8/7r/K7 w - - 0 1")
    assert (answer.n_legal, len(last_depth(answer.lines))) == (1, 1)


def test_a_search_by_nodes_ends_at_a_complete_depth(stockfish: Path) -> None:
    with Engine(stockfish, Settings(depth=None, nodes=20_000, multipv=4)) as engine:
        answer = engine.analyse(MIDDLEGAME)
    assert len(last_depth(answer.lines)) == 4


def test_the_identity_and_the_key_name_everything_that_matters(stockfish: Path) -> None:
    settings = Settings(depth=3, options={"UCI_ShowWDL": True, "Move Overhead": 10})
    with Engine(stockfish, settings) as engine:
        assert engine.identity["engine"].startswith("Stockfish")
        assert str(engine.identity["net"]).endswith(".nnue")
        key = engine.key
    assert key["options"] == {"uci_showwdl": "true"}  # Move Overhead is at its default
    assert key["engine"] == engine.identity["engine"]
    assert (key["depth"], key["multipv"], key["hash_mb"], key["threads"], key["fen_rule"]) == (3, 10, 16, 1, "full")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Nonsense": 1}, "has no option 'Nonsense'"),
        ({"Skill Level": 99}, "cannot be '99'"),
        ({"UCI_ShowWDL": "maybe"}, "cannot be 'maybe'"),
    ],
)
def test_options_that_the_engine_does_not_take_are_refused(
    stockfish: Path, options: dict[str, int | str], message: str
) -> None:
    with pytest.raises(EngineError, match=message) as caught:
        Engine(stockfish, Settings(options=options))
    assert caught.value.hint


def test_more_lines_than_the_engine_lists_are_refused(fake_engine: Fake) -> None:
    with pytest.raises(EngineError, match="MultiPV cannot be '6'"):
        Engine(fake_engine(), Settings(multipv=6))


def test_options_are_parsed_with_their_ranges_and_choices() -> None:
    combo = parse_option("option name Style type combo default Solid var Solid var Very Wild")
    assert combo is not None
    assert (combo.default, combo.choices, combo.checked("very wild")) == (
        "Solid",
        ("Solid", "Very Wild"),
        "Style value very wild",
    )
    with pytest.raises(EngineError, match="cannot be 'Mild'") as caught:
        combo.checked("Mild")
    assert caught.value.hint == "it takes one of Solid, Very Wild"
    string = parse_option("option name Debug Log File type string default ")
    assert string is not None
    assert (string.name, string.default) == ("Debug Log File", "")
    assert parse_option("id name Stockfish") is None


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"depth": None}, {"nodes": 100}, {"depth": 0}, {"fen_rule": "short"}, {"options": {"threads": 4}}):
        with pytest.raises(InputError):
            Settings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("fen", ["nonsense", "8/8/8/8/8/8/8/8 w - - 0 1", "R6k/6pp/8/8/8/8/8/K7 b - - 0 1"])
def test_positions_that_cannot_be_searched_are_refused_before_the_engine_sees_them(fake_engine: Fake, fen: str) -> None:
    with Engine(fake_engine("crash"), SHALLOW) as engine, pytest.raises(InputError):
        engine.analyse(fen)


def test_a_sound_fake_is_read(fake_engine: Fake) -> None:
    with Engine(fake_engine(), SHALLOW) as engine:
        answer = engine.analyse(chess.STARTING_FEN)
    assert [move_uci(code) for code in last_depth(answer.lines)["move"]] == ["a2a3", "a2a4", "b1a3"]
    assert (answer.nodes, answer.n_legal) == (200, 20)


@pytest.mark.parametrize(
    ("mishap", "message"),
    [
        ("hang", "did not answer with 'bestmove' in time"),
        ("babble", "did not answer with 'bestmove' in time"),
        ("crash", r"ended without an answer \(exit status 3\)"),
        ("garbage", "printed nonsense"),
        ("illegal", "not legal"),
        ("incomplete", "is not complete"),
        ("stops early", "stopped at depth 1 of 2"),
        ("twice", "listed a move twice"),
    ],
)
def test_a_misbehaving_engine_is_an_error_and_leaves_no_process(
    fake_engine: Fake, mishap: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mishap in ("hang", "babble"):
        monkeypatch.setattr(engine_module, "SEARCH_SECONDS", 1.0)
    with Engine(fake_engine(mishap), SHALLOW) as engine:
        process = engine._process
        with pytest.raises(EngineError, match=message):
            engine.analyse(chess.STARTING_FEN)
    assert process.poll() is not None


def test_an_engine_that_says_nothing_for_so_long_is_taken_to_hang(
    fake_engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "SILENCE_SECONDS", 7.0)
    asked: list[float] = []

    class Silence:
        """Nothing to read, however long one waits."""

        def poll(self, milliseconds: float) -> list[tuple[int, int]]:
            asked.append(milliseconds)
            return []

    with Engine(fake_engine(), SHALLOW) as engine:
        engine._poll = Silence()  # type: ignore[assignment]
        with pytest.raises(EngineError, match="did not answer with 'readyok' in time"):
            engine.analyse(chess.STARTING_FEN)
    assert asked == [pytest.approx(7000, rel=0.01)]


def test_a_program_that_is_no_engine_is_an_error(fake_engine: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineError, match=r"ended without an answer \(exit status 7\)"):
        Engine(fake_engine("dies at once"), SHALLOW)
    monkeypatch.setattr(engine_module, "START_SECONDS", 0.3)
    monkeypatch.setattr(engine_module, "_QUIT_SECONDS", 0.1)
    with pytest.raises(EngineError, match="did not answer with 'uciok' in time"):
        Engine(fake_engine("mute"), SHALLOW)


def test_an_engine_that_does_not_quit_is_killed(fake_engine: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "_QUIT_SECONDS", 0.1)
    engine = Engine(fake_engine("does not quit"), SHALLOW)
    process = engine._process
    engine.close()
    engine.close()
    assert process.poll() in (-9, 128 + 9)  # killed with its guard, or the guard lived to say so
    with pytest.raises(EngineError, match="has ended"):
        engine.analyse(chess.STARTING_FEN)


def test_a_forgotten_engine_is_ended(stockfish: Path) -> None:
    process = Engine(stockfish, SHALLOW)._process
    assert process.poll() is not None


def test_the_engine_is_found_by_path_name_variable_and_folder(
    fake_engine: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = fake_engine()
    assert find_engine(fake) == fake
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_engine(fake.name) == fake
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", str(fake))
    assert find_engine() == fake
    monkeypatch.delenv("STOCKFISH_EXECUTABLE")
    fake.rename(tmp_path / "stockfish")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(engine_module, "ENGINE_DIRECTORIES", (str(tmp_path),))
    assert find_engine() == tmp_path / "stockfish"


def test_other_engines_are_found_by_their_common_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(engine_module, "ENGINE_DIRECTORIES", (str(tmp_path),))
    for name in ("toga2", "ethereal-chess", "gnuchess"):
        (tmp_path / name).touch(0o755)
    for asked, found in (("toga2", "toga2"), ("toga", "toga2"), ("ethereal", "ethereal-chess"), ("gnu", "gnuchess")):
        assert find_engine(asked) == tmp_path / found
    with pytest.raises(EngineError, match="STOCKFISH_EXECUTABLE"):
        find_engine("stockfish")


def test_an_absent_engine_is_an_error_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "ENGINE_DIRECTORIES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STOCKFISH_EXECUTABLE", raising=False)
    for asked in (None, "komodo", tmp_path / "absent"):
        with pytest.raises(EngineError, match="no ") as caught:
            find_engine(asked)
        assert "install Stockfish" in caught.value.hint
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere")
    with pytest.raises(EngineError, match="STOCKFISH_EXECUTABLE"):
        find_engine()


def test_bounds_are_no_values_and_a_deeper_depth_closes_the_shallower() -> None:
    lines, nodes = read_answer(
        b"info string pv of nothing pv e2e4\n"
        b"info depth 1 multipv 1 score cp 30 nodes 10 pv e2e4\n"
        b"info depth 1 multipv 2 score cp 20 nodes 10 pv d2d4\n"
        b"info depth 2 currmove e2e4 currmovenumber 1\n"
        b"info depth 2 multipv 1 score cp 90 lowerbound nodes 30 pv d2d4\n"
        b"info depth 1 multipv 2 score cp 30 nodes 30 pv e2e4\n"  # the old list, shifted by the new best move
        b"info depth 2 multipv 1 score mate 7 nodes 44 pv d2d4 d7d5\n"
        b"info depth 2 multipv 2 score cp 25 nodes 55 pv e2e4\n"
        b"bestmove d2d4\n"
    )
    assert [(d, r, move_uci(m), mate, s) for d, r, m, mate, s in lines.tolist()] == [
        (1, 1, "e2e4", 0, 30),
        (1, 2, "d2d4", 0, 20),
        (2, 1, "d2d4", 1, 7),
        (2, 2, "e2e4", 0, 25),
    ]
    assert nodes == 55


def test_an_engine_may_stop_early_with_a_mate_in_hand() -> None:
    lines = np.array([(1, 1, 796, 1, 2)], dtype=LINE)
    assert len(checked_answer(lines, {796}, Settings(depth=9, multipv=1))) == 1


@given(
    st.lists(
        st.tuples(
            st.integers(0, 255),
            st.integers(0, 255),
            st.integers(0, 65535),
            st.integers(0, 1),
            st.integers(-(2**31), 2**31 - 1),
        )
    )
)
def test_packing_loses_nothing(rows: list[tuple[int, int, int, int, int]]) -> None:
    lines = np.array(rows, dtype=LINE)
    assert np.array_equal(unpack_lines(pack_lines(lines)), lines)


def test_damaged_lines_are_refused() -> None:
    with pytest.raises(InputError, match="damaged"):
        unpack_lines(b"nonsense")


@given(st.integers(0, 1), st.integers(-(10**6), 10**6), st.floats(1, 100))
def test_a_value_never_passes_the_cap_and_keeps_its_sign(mate: int, score: int, cap: float) -> None:
    value = float(value_pawns(mate, score, cap))
    assert abs(value) <= cap
    assert value == (cap if score > 0 else -cap) if mate else np.sign(value) == np.sign(score)
