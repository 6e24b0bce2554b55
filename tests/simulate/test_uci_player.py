"""The UCI engine: what it says, what it survives, and that it answers in time."""

from __future__ import annotations

import sys
import threading

import chess
import chess.engine
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.core.errors import EngineError, InputError
from skilloscope.simulate.opponent import OUT_OF_TIME, Opponent, Persona, Reply, ThinkingTime, UciPlayer

MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"


def talk(*lines: str, persona: Persona | None = None) -> list[str]:
    """Return what the engine says to these lines; searches are waited for."""
    said: list[str] = []
    with UciPlayer(persona or Persona(1500, "human", 7), said.append) as player:
        for line in lines:
            player.run([line])
            if line.startswith("go") and "infinite" not in line and "ponder" not in line and player._answering:
                player._answering.join()
    return said


def best(said: list[str]) -> list[str]:
    return [line.split()[1] for line in said if line.startswith("bestmove")]


def test_it_introduces_itself_with_its_options():
    said = talk("uci", "isready")
    assert said[0].startswith("id name skilloscope")
    assert {line.split()[2] for line in said if line.startswith("option")} == {
        "Elo", "UCI_LimitStrength", "UCI_Elo", "Style", "Seed"
    }  # fmt: skip
    assert said[-2:] == ["uciok", "readyok"]


def test_the_same_seed_plays_the_same_and_another_game_does_not():
    moves = ["position startpos moves e2e4", "go wtime 60000 btime 60000"]
    one, two = best(talk(*moves)), best(talk(*moves))
    assert one == two
    assert (
        chess.Move.from_uci(one[0])
        in chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").legal_moves
    )
    many = {best(talk(f"setoption name Seed value {seed}", *moves))[0] for seed in range(1, 13)}
    assert len(many) > 2


def test_a_chess_program_sets_the_strength_by_the_options_that_uci_has_for_it():
    with UciPlayer(Persona(1500, "human", 7), lambda _: None) as player:
        for line, elo in (
            ("setoption name UCI_Elo value 1320", 1320),
            ("setoption name UCI_LimitStrength value false", 3000),
            ("setoption name UCI_Elo value 1900", 3000),
            ("setoption name UCI_LimitStrength value true", 1900),
            ("setoption name uci_limitstrength value maybe", 1900),
            ("setoption name Elo value 1400", 1400),
        ):
            player.run([line])
            assert player.opponent.persona.elo == elo


def test_an_infinite_search_answers_when_it_is_stopped():
    assert best(talk("go infinite")) != []  # closing stops it
    said = talk("go infinite", "isready", "stop", "isready")
    assert [line.split()[0] for line in said] == ["readyok", "bestmove", "readyok"]


def test_pondering_is_refused_and_answered_at_the_hit():
    said = talk("go ponder wtime 1000 btime 1000", "ponderhit")
    assert "no pondering" in said[0]
    assert len(best(said)) == 1


def test_bad_input_is_told_and_survived():
    said = talk(
        "nonsense", "position fen x y", "position startpos moves e2e5", "position", "setoption name Elo value 9",
        "setoption name Elo value abc", "setoption name Hash value 16", "setoption", "go wtime abc", "",
        "setoption name Style value drunk",
    )  # fmt: skip
    assert len([line for line in said if line.startswith("info string")]) == 10
    assert len(best(said)) == 1


def test_a_game_that_is_over_has_no_move():
    assert best(talk(f"position fen {MATED}", "go movetime 100")) == ["0000"]


@settings(max_examples=60)
@given(
    st.lists(st.text(max_size=40) | st.sampled_from(["stop", "ucinewgame", "position fen", "setoption name", "debug"]))
)
def test_no_text_ends_the_conversation(lines):
    said: list[str] = []
    with UciPlayer(Persona(), said.append) as player:
        player.run([line for line in lines if line.split()[:1] not in (["quit"], ["isready"], ["go"])])
        player.run(["uci"])
    assert said[-1] == "uciok"
    assert all("\n" not in line for line in said)


def test_when_no_thought_comes_in_time_any_legal_move_is_played(monkeypatch):
    never = threading.Event()
    monkeypatch.setattr(Opponent, "reply", lambda *_, **__: never.wait())
    monkeypatch.setattr("skilloscope.simulate.opponent._PATIENCE", 0.01)
    said = talk("go movetime 60", "go wtime 80 btime 10", "position startpos moves e2e4", "go btime 1 wtime 1")
    assert said.count(f"info string {OUT_OF_TIME}") == 3
    assert len(best(said)) == 3
    never.set()


def test_an_engine_that_fails_does_not_cost_the_game(monkeypatch):
    def fails(*_: object, **__: object) -> Reply:
        raise EngineError("the engine is gone")

    monkeypatch.setattr(Opponent, "reply", fails)
    said = talk("go movetime 60000")
    assert "info string the engine is gone" in said
    assert len(best(said)) == 1
    assert "any legal move" not in " ".join(said)


@given(
    left=st.integers(0, 10**7),
    gain=st.integers(0, 10**5),
    togo=st.integers(0, 100),
    movetime=st.none() | st.integers(0, 10**6),
)
def test_no_more_time_is_taken_than_there_is(left, gain, togo, movetime):
    clock = {"wtime": left, "winc": gain, "movestogo": togo} | ({} if movetime is None else {"movetime": movetime})
    allowed = ThinkingTime.from_go(clock, chess.WHITE)
    assert allowed.latest is not None
    assert 0 <= allowed.given <= allowed.latest <= max((left if movetime is None else movetime) / 1000 - 0.05, 0)


@pytest.mark.parametrize("persona", [{"elo": 300}, {"style": "drunk"}, {"seed": -1}])
def test_nobody_plays_as_what_cannot_be(persona):
    with pytest.raises(InputError):
        Persona(**persona)


def test_a_chess_program_plays_a_game_with_it(stockfish):
    command = [sys.executable, "-m", "skilloscope", "play", "--elo", "1800", "--seed", "3"]
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 13")
    with chess.engine.SimpleEngine.popen_uci(command, timeout=300) as engine:
        engine.configure({"Style": "joint", "Elo": 2400})
        for style in ("joint", "human", "agent", "curves"):
            engine.configure({"Style": style})
            for _ in range(2):
                played = engine.play(board, chess.engine.Limit(time=20), info=chess.engine.INFO_ALL)
                assert "string" not in played.info  # nothing went wrong
                assert ("score" in played.info) or style in ("joint", "human")  # joint may play what is not listed
                assert played.move in board.legal_moves
                board.push(played.move)
