"""`skilloscope live`: a pure follower fed with snapshots, feeds that misbehave, and a real engine against the clock."""

from __future__ import annotations

import http.server
import io
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from skilloscope.chess.engine import engine as quick_module
from skilloscope.chess.engine.engine import QuickAnswer, QuickEngine, find_engine
from skilloscope.chess.engine.settings import FER12, Settings
from skilloscope.cli import live as live_command
from skilloscope.cli.app import app
from skilloscope.core.errors import EngineError, InputError
from skilloscope.inputs.bundled import demo_file
from skilloscope.ratings.perceived import running_strength
from skilloscope.report.study import json_fields
from skilloscope.studies.live import following as following_module
from skilloscope.studies.live import live as live_module
from skilloscope.studies.live.feed import Feed, FileFeed, read_boards
from skilloscope.studies.live.following import POLL_SECONDS, Following, Stopping
from skilloscope.studies.live.live import Correction, Event, Follower, GameOver, Live, Problem, Task

CENTURY = demo_file("game_of_the_century.pgn")
RUY = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7".split()  # noqa: SIM905


def pgn(moves: list[str] | str, white: str = "Ann", black: str = "Bob", result: str = "*", **tags: str) -> str:
    words = moves.split() if isinstance(moves, str) else moves
    head = "".join(f'[{tag} "{value}"]\n' for tag, value in {"White": white, "Black": black, **tags}.items())
    return f"{head}\n{' '.join(words)} {result}\n\n"


def value_all(follower: Follower, score: int = 20) -> list[Event]:
    """Answer every task as an engine would that finds all positions alike."""
    events: list[Event] = []
    while (task := follower.wanted()) is not None:
        mover = 1 if task.fen.split(" ")[1] == "w" else -1
        events += follower.valued(task, mate=False, score=mover * score, depth=9, seconds=task.seconds)
    return events


def kinds(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def table(follower: Follower) -> list[dict[str, Any]]:
    """Return all boards as JSON has them."""
    return [json_fields(board) for board in follower.state().boards]


class TestFollower:
    def test_a_new_board_is_said_and_its_positions_are_wanted_last_first(self):
        follower = Follower()
        (event,) = follower.snapshot(pgn(RUY[:3]))
        assert (event.type, event.board, event.what.moves) == ("board", "Ann – Bob", 3)
        task = follower.wanted()
        assert task is not None
        assert task.fen == follower.boards["Ann – Bob"].text.fens[-1]
        assert not task.fresh
        moves = value_all(follower)
        assert sorted(event.what.ply for event in moves) == [0, 1, 2]
        assert all(event.what.gain_cp == 0 for event in moves)
        assert follower.wanted() is None

    def test_a_new_move_is_wanted_at_once_with_the_whole_budget(self):
        follower = Follower(Live(budget_seconds=0.2))
        follower.snapshot(pgn(RUY[:4]))
        value_all(follower)
        assert follower.snapshot(pgn(RUY[:5])) == []
        task = follower.wanted()
        assert task is not None
        assert (task.fresh, task.seconds) == (True, 0.2)
        (move,) = follower.valued(task, mate=False, score=-30, depth=12)
        assert (move.what.san, move.what.value_cp, move.what.gain_cp, move.what.depth) == ("Bb5", 30, 10, 12)

    def test_its_strength_is_that_of_algorithm_4(self):
        follower, scores = Follower(Live(engine_elo=2860.0)), [20, 25, 5, 5, -30, 10]
        follower.snapshot(pgn(RUY[:5]))
        fens = follower.boards["Ann – Bob"].text.fens
        events: list[Event] = []
        while (task := follower.wanted()) is not None:
            white = scores[fens.index(task.fen)]
            events += follower.valued(
                task, mate=False, score=white if task.fen.split(" ")[1] == "w" else -white, depth=1
            )
        gains = np.diff(scores)[0::2] / 100
        running = running_strength(gains)
        assert json_fields(events[-1])["players"] == table(follower)[0]["players"]
        white = table(follower)[0]["players"][0]
        assert white["elo_difference"] == pytest.approx(running.elo_difference[-1])
        assert white["strength"] == pytest.approx(2860 + running.elo_difference[-1])

    def test_new_moves_come_before_what_is_to_be_caught_up_on(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:6]) + pgn(RUY[:6], "Cid", "Dora"))
        follower.snapshot(pgn(RUY[:6]) + pgn(RUY[:7], "Cid", "Dora"))
        tasks = []
        for _ in range(2):
            task = follower.wanted()
            assert task is not None
            tasks.append(task)
            follower.valued(task, mate=False, score=0, depth=1, seconds=task.seconds)
        assert all(task.fresh and task.board == "Cid – Dora" for task in tasks)
        fens = follower.boards["Cid – Dora"].text.fens
        assert {task.fen for task in tasks} == {fens[-1], fens[-2]}  # the value before the move is needed too
        task = follower.wanted()
        assert task is not None
        assert not task.fresh

    def test_boards_that_move_together_share_the_budget(self):
        names = [(f"W{n}", f"B{n}") for n in range(4)]
        openings = ["e4 e5", "d4 d5", "c4 c5", "f4 f5"]
        follower = Follower(Live(budget_seconds=0.2))
        follower.snapshot("".join(pgn(moves, *pair) for pair, moves in zip(names, openings, strict=True)))
        value_all(follower)
        follower.snapshot("".join(pgn(f"{moves} Nc3", *pair) for pair, moves in zip(names, openings, strict=True)))
        seconds: dict[str, float] = {}
        while (task := follower.wanted()) is not None and task.fresh:
            if not seconds:
                assert task.seconds == pytest.approx(0.05)
            seconds[task.board] = task.seconds
            follower.valued(task, mate=False, score=0, depth=1, seconds=task.seconds)
        assert len(seconds) == 4

    def test_catching_up_takes_the_boards_in_turn(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:8]) + pgn("d4 d5 c4 e6", "Cid", "Dora"))
        order = []
        for _ in range(4):
            task = follower.wanted()
            assert task is not None
            order.append(task.board)
            follower.valued(task, mate=False, score=0, depth=1, seconds=task.seconds)
        assert set(order[:2]) == set(order[2:]) == {"Ann – Bob", "Cid – Dora"}

    def test_a_feed_that_repeats_itself_says_nothing_new(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:5]))
        value_all(follower)
        for _ in range(3):
            assert follower.snapshot(pgn(RUY[:5])) == []
        assert follower.wanted() is None

    def test_an_older_text_once_more_is_not_believed_until_it_stands(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:6]))
        value_all(follower)
        assert follower.snapshot(pgn(RUY[:4])) == []
        assert table(follower)[0]["moves"] == 6
        assert follower.snapshot(pgn(RUY[:6])) == []
        follower.snapshot(pgn(RUY[:4]))
        (event,) = follower.snapshot(pgn(RUY[:4]))
        assert (event.type, event.what.ply, event.what.taken_back) == ("corrected", 4, 2)
        assert table(follower)[0]["moves"] == 4

    def test_a_corrected_move_is_said_and_what_follows_is_valued_anew(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:6]))
        value_all(follower)
        wrong = [*RUY[:4], "Bc4", "a6"]
        events = follower.snapshot(pgn(wrong))
        assert kinds(events) == ["corrected"]
        assert (events[0].what.ply, events[0].what.moves) == (4, 6)
        again = value_all(follower, 10)
        assert [event.what.san for event in sorted(again, key=lambda one: one.what.ply)] == ["Bc4", "a6"]
        back = follower.snapshot(pgn(RUY[:6]))
        assert kinds(back) == ["corrected", "move", "move"]  # what was known is known: no engine is needed
        assert follower.wanted() is None

    def test_games_that_are_switched_are_boards_of_their_own(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:4], Round="1"))
        value_all(follower)
        events = follower.snapshot(pgn("d4 d5", "Cid", "Dora", Round="2"))
        assert kinds(events) == ["board", "left"]
        assert [board["in_feed"] for board in table(follower)] == [False, True]
        assert kinds(follower.snapshot(pgn(RUY[:4], Round="1") + pgn("d4 d5", "Cid", "Dora", Round="2"))) == ["back"]

    def test_the_same_players_play_again_after_a_result(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:4], result="1-0") + pgn("d4 d5"))
        assert list(follower.boards) == ["Ann – Bob", "Ann – Bob #2"]

    def test_the_engines_own_choices_are_its_gains_once_there_are_enough(self):
        follower = Follower(Live(engine_gains="auto"))
        follower.snapshot(pgn(RUY))
        rng = np.random.default_rng(1)
        played = dict(
            zip(read_boards(pgn(RUY))["Ann – Bob"].fens, read_boards(pgn(RUY))["Ann – Bob"].moves, strict=False)
        )
        while (task := follower.wanted()) is not None:
            assert follower.engine()[0] == "peak"
            score = int(rng.integers(-20, 20))
            follower.valued(task, mate=False, score=score, depth=9, choice=played.get(task.fen, 0))
        kind, gains = follower.engine()
        assert (kind, gains.moves) == ("agreed", len(RUY))
        assert table(follower)[0]["engine_gains"] == "agreed"
        # Against one that gains as they do, both together are worth half a point.
        scores = [player["expected_score"] for player in table(follower)[0]["players"]]
        assert np.mean(scores) == pytest.approx(0.5)
        with pytest.raises(InputError, match="searched"):
            Live(engine_gains="searched")

    def test_a_players_total_is_over_all_boards_of_the_event(self):
        follower = Follower()
        rounds = [pgn(RUY[:8], white, "Bob", Event="Open", Round=str(at)) for at, white in enumerate(("Ann", "Cid"), 1)]
        follower.snapshot("".join(rounds) + pgn(RUY[:6], "Bob", "Ann", Event="Other"))
        value_all(follower)
        ann, bob = table(follower)[0]["players"]
        assert (ann["total"]["games"], ann["total"]["decisions"]) == (1, 4)
        assert (bob["total"]["games"], bob["total"]["decisions"]) == (2, 8)
        assert bob["total"]["high"] - bob["total"]["low"] < bob["high"] - bob["low"]
        assert table(follower)[0]["white_against_black"]["expected_score"] == 0.5

    def test_a_result_is_said_once(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:4]))
        value_all(follower)
        assert not follower.finished()
        (event,) = follower.snapshot(pgn(RUY[:4], result="1/2-1/2"))
        assert (event.type, event.what.result) == ("result", "1/2-1/2")
        assert follower.snapshot(pgn(RUY[:4], result="1/2-1/2")) == []
        assert follower.finished()

    def test_a_text_cut_anywhere_never_breaks_it(self):
        whole = pgn(RUY, Event="Cup") + pgn(RUY[:9], "Cid", "Dora", Event="Cup")
        follower = Follower()
        for end in range(0, len(whole) + 1, 3):
            follower.snapshot(whole[:end])
        follower.snapshot(whole)
        assert [board["moves"] for board in table(follower)] == [20, 9]

    def test_nothing_in_the_file_changes_nothing(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:4]))
        assert follower.snapshot("") == []
        assert table(follower)[0]["in_feed"]

    def test_what_cannot_be_read_is_said_when_it_stands(self):
        follower = Follower()
        follower.snapshot(pgn("e4 e5 Qxh9 Nc6"))
        assert kinds(follower.snapshot(pgn("e4 e5 Qxh9 Nc6"))) == ["problem"]
        assert follower.snapshot(pgn("e4 e5 Qxh9 Nc6")) == []
        assert table(follower)[0]["moves"] == 2

    def test_the_mating_move_needs_no_engine(self):
        follower = Follower()
        follower.snapshot(pgn("f3 e5 g4 Qh4#", result="0-1"))
        fens = []
        while (task := follower.wanted()) is not None:
            fens.append(task.fen)
            follower.valued(task, mate=False, score=0, depth=1)
        assert len(fens) == 4
        assert table(follower)[0]["white_value_cp"] == -3900

    def test_comments_of_the_feed_are_used_and_cut_at_the_cap(self):
        follower = Follower(Live(mate_cap=10.0))
        text = "{[%eval 0.2]} 1. e4 {[%eval 0.3]} e5 {[%eval 45]} 2. Nf3 {[%eval #3]}"
        events = follower.snapshot(pgn(text))
        assert [getattr(event.what, "gain_cp", None) for event in events] == [None, 10, -970, 0]
        assert follower.wanted() is None
        engine = Follower(Live(values="engine"))
        engine.snapshot(pgn(text))
        assert engine.wanted() is not None

    def test_a_missing_comment_is_waited_for(self):
        follower = Follower(Live(values="comments"))
        events = follower.snapshot(pgn("1. e4 {[%eval 0.3]} e5"))
        assert [getattr(event.what, "ply", None) for event in events] == [None, 0]
        assert events[1].what.gain_cp is None
        (event,) = follower.snapshot(pgn("1. e4 {[%eval 0.3]} e5 {[%eval 0.1]}"))
        assert (event.what.ply, event.what.gain_cp) == (1, 20)

    def test_a_position_that_is_given_up_leaves_its_gains_unknown(self):
        follower = Follower()
        follower.snapshot(pgn(RUY[:2]))
        task = follower.wanted()
        assert task is not None
        assert kinds(follower.gave_up(task, "no answer")) == ["problem"]
        value_all(follower)
        assert table(follower)[0]["players"][1]["decisions"] == 0


class TestBoards:
    def test_games_without_names_or_with_an_impossible_start_are_no_boards(self):
        assert read_boards("1. e4 e5 *") == {}
        assert read_boards(pgn("e4", FEN="tea")) == {}
        assert read_boards(pgn("e4", FEN="8/8/8/8/8/8/8/8 w - - 0 1")) == {}
        assert read_boards(pgn("e4", "?", "Bob")) == {}
        assert read_boards(pgn("e4", Variant="Atomic")) == {}

    def test_the_same_game_further_down_is_its_newer_state(self):
        (board,) = read_boards(pgn(RUY[:2]) + pgn(RUY[:4])).values()
        assert len(board.moves) == 4

    def test_a_game_from_a_later_position_counts_from_there(self):
        (board,) = read_boards(pgn("Kd3", FEN="8/8/8/8/8/4k3/4p3/4K3 b - - 0 60")).values()
        follower = Follower(Live(values="comments"))
        follower.snapshot(pgn("Kd3 {[%eval -3]}", FEN="8/8/8/8/8/4k3/4p3/4K3 b - - 0 60"))
        assert board.first_ply == 119
        assert [player["side"] for player in table(follower)[0]["players"]] == ["white", "black"]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Script(Feed):
    """A feed that gives its texts one after another, each at its time."""

    def __init__(self, clock: Clock, *texts: tuple[float, str]) -> None:
        super().__init__(clock)
        self.clock, self.texts, self.closed = clock, list(texts), False

    def changed(self) -> bool:
        return bool(self.texts) and self.clock.now >= self.texts[0][0]

    def poll(self) -> str | None:
        return self.texts.pop(0)[1] if self.changed() else None

    def problem(self) -> str | None:
        return "gone" if 5 < self.clock.now < 6 else None

    def close(self) -> None:
        self.closed = True


def follow(feed: Any, clock: Clock, find: Any, stopping: Stopping, **how: Any) -> list[Event]:
    with Following(
        feed,
        Follower(Live(**how)),
        Settings(depth=4, multipv=1),
        find=find,
        stopping=stopping,
        clock=clock,
        sleep=clock.sleep,
    ) as following:
        return list(following.events())


class TestFollowing:
    def no_engine(self) -> Path:
        raise EngineError("no chess engine was found")

    def test_a_feed_that_stalls_is_said_to_and_is_still_followed(self):
        clock = Clock()
        text = "{[%eval 0.1]} 1. e4 {[%eval 0.2]}"
        feed = Script(clock, (0, pgn(text)), (100, pgn(f"{text} e5 {{[%eval 0.2]}}")))
        events = follow(feed, clock, self.no_engine, Stopping(seconds=200, stall_seconds=30))
        # The feed's own trouble is said once, when it begins.
        assert kinds(events) == ["board", "move", "problem", "stalled", "resumed", "move", "stalled"]
        assert feed.closed

    def test_it_stops_when_every_game_has_a_result(self):
        clock = Clock()
        text = "{[%eval 0.1]} 1. e4 {[%eval 0.2]}"
        feed = Script(clock, (0, pgn(text)), (2, pgn(text, result="1-0")))
        events = follow(feed, clock, self.no_engine, Stopping(finished=True))
        assert kinds(events)[-1] == "result"
        assert clock.now < 3

    def test_without_any_engine_it_ends_with_an_error(self):
        clock = Clock()
        with pytest.raises(EngineError):
            follow(Script(clock, (0, pgn("e4"))), clock, self.no_engine, Stopping(once=True))

    def test_an_engine_that_crashes_once_is_started_anew(self, fake_engine):
        clock = Clock()
        engine = fake_engine("crash once")
        events = follow(Script(clock, (0, pgn("e4 e5"))), clock, lambda: engine, Stopping(once=True))
        assert kinds(events) == ["board", "move", "move"]

    def test_an_engine_that_always_crashes_is_said_to(self, fake_engine):
        clock = Clock()
        engine = fake_engine("crash")
        events = follow(Script(clock, (0, pgn("e4"))), clock, lambda: engine, Stopping(once=True))
        assert "ended without an answer" in events[1].what.problem

    def test_what_the_store_knows_is_not_searched(self, tmp_path, stockfish):
        from dataclasses import replace

        from skilloscope.chess.analysis.analyse import analyse
        from skilloscope.chess.pgn.games import read_games

        path, settings = tmp_path / "game.pgn", replace(FER12, depth=3)
        path.write_text(pgn(RUY[:3]))
        analyse(read_games(path), settings=settings, store=tmp_path / "store.sqlite", engine=stockfish)
        follower = Follower()
        with Following(
            FileFeed(path),
            follower,
            settings,
            find=lambda: stockfish,
            store=tmp_path / "store.sqlite",
            stopping=Stopping(once=True),
        ) as following:
            events = list(following.events())
        assert all(event.what.depth == 3 for event in events if event.type == "move")
        assert follower.boards["Ann – Bob"].seconds == 0

    def test_a_new_position_is_searched_at_once_for_the_whole_budget(self, fake_engine, monkeypatch):
        clock, engine, asked = Clock(), fake_engine(), []

        def answer(self: QuickEngine, fen: str, seconds: float, **_: Any) -> QuickAnswer:
            asked.append((clock.now, fen, seconds))
            clock.now += seconds
            return QuickAnswer(False, 0, 9, seconds)

        monkeypatch.setattr(QuickEngine, "analyse_within", answer)
        feed = Script(clock, (0, pgn(RUY[:8])), (5, pgn(RUY[:9])))
        events = follow(feed, clock, lambda: engine, Stopping(seconds=8), budget_seconds=0.2)
        (board,) = read_boards(pgn(RUY[:9])).values()
        at, fen, seconds = asked[-1]
        assert (fen, seconds) == (board.fens[-1], 0.2)
        assert at == pytest.approx(5, abs=2 * POLL_SECONDS)
        moves = [event for event in events if event.type == "move"]
        assert (moves[-1].what.ply, moves[-1].what.gain_cp) == (8, 0)
        assert len(moves) == 9

    def test_a_new_move_makes_room_for_the_next_after_half_of_its_time(self, fake_engine, monkeypatch):
        clock, engine, asked = Clock(), fake_engine(), []

        def answer(self: QuickEngine, fen: str, seconds: float, interrupted: Any = None) -> QuickAnswer:
            begin = clock.now
            while clock.now < begin + seconds and not (interrupted and interrupted()):
                clock.now += 0.01
            asked.append((round(begin, 2), round(clock.now - begin, 2)))
            return QuickAnswer(False, 0, 9, seconds)

        monkeypatch.setattr(QuickEngine, "analyse_within", answer)
        one, other = pgn(RUY[:2]), pgn("d4 d5", "Cid", "Dora")
        news = (5.0, pgn(RUY[:3]) + other), (5.04, pgn(RUY[:3]) + pgn("d4 d5 c4", "Cid", "Dora"))
        follow(Script(clock, (0, one + other), *news), clock, lambda: engine, Stopping(seconds=8), budget_seconds=0.2)
        (first, cut), (second, whole) = asked[-2:]
        assert first == pytest.approx(5, abs=0.03)
        assert cut == pytest.approx(0.1, abs=0.015)
        assert whole == pytest.approx(0.2, abs=0.015)
        assert second == pytest.approx(first + cut, abs=0.03)

    @pytest.mark.soak
    def test_half_of_all_new_positions_are_answered_within_the_budget_and_100_ms(self, tmp_path, stockfish):
        path = tmp_path / "game.pgn"
        path.write_text(pgn(RUY[:8]))
        follower = Follower(Live(budget_seconds=0.2))
        delays, written, played = [], 0.0, 8
        with Following(FileFeed(path), follower, FER12, find=find_engine, stopping=Stopping(seconds=60)) as following:
            following.warm_up()
            for event in following.events():
                now = time.monotonic()
                if event.type == "move" and event.what.ply == played - 1 and written:
                    delays.append(now - written)
                    written = 0.0
                if event.type == "move" and not written and follower.wanted() is None:
                    if played == len(RUY):
                        break
                    played += 1
                    path.write_text(pgn(RUY[:played]))
                    written = time.monotonic()
        assert len(delays) == len(RUY) - 8
        assert np.median(delays) <= 0.3, f"seconds: {np.round(delays, 3)}"


class TestQuickEngine:
    FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"

    def test_it_answers_in_its_time_or_when_interrupted_and_says_how_deep(self, stockfish):
        with QuickEngine(stockfish, FER12) as engine:
            engine.analyse_within(self.FEN, 0.01)
            answer = engine.analyse_within(self.FEN, 0.1)
            assert answer.depth >= 1
            assert -100 < answer.score < 200
            assert not answer.mate
            stopped = engine.analyse_within(self.FEN, 600.0, interrupted=lambda: True)
            assert stopped.seconds < 600
            mate = engine.analyse_within("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 0.05)
            assert mate.mate
            assert mate.score == 1
            with pytest.raises(InputError):
                engine.analyse_within("tea", 0.05)


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_json_lines_end_with_the_printed_strengths():
    done = run("live", CENTURY, "--once", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert events[0]["type"] == "board"
    assert [round(player["elo_difference"]) for player in events[-1]["players"]] == [-185, -43]
    assert (events[-1]["number"], events[-1]["san"]) == (41, "Rc2#")


def test_without_a_screen_there_is_a_line_for_each_event_and_a_table():
    text = run("live", CENTURY, "--once", "--engine-elo", 2860).stdout
    assert "41... Rc2# -39.00 (gain +0.00)" in text
    assert "= 2817" in text


def test_on_a_screen_one_table_is_kept_up_to_date(monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=160)
    monkeypatch.setattr("skilloscope.cli.live.out", lambda: console)
    assert run("live", CENTURY, "--once").exit_code == 0
    assert "Rc2#" in screen.getvalue()


def test_a_growing_file_is_followed_until_ctrl_c(tmp_path, stockfish):
    path = tmp_path / "feed.pgn"
    path.write_text(pgn(RUY[:2]) + pgn("d4 d5", "Cid", "Dora"))
    command = [sys.executable, "-m", "skilloscope", "live", str(path), "--budget", "50", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = []
        while len(seen) < 6:
            seen.append(json.loads(process.stdout.readline()))
        path.write_text(pgn(RUY[:3]) + pgn("d4 d5 c4", "Cid", "Dora"))
        seen += [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert rest == ""
    assert [event["type"] for event in seen] == ["board"] * 2 + ["move"] * 6
    assert {event["san"] for event in seen[6:]} == {"Nf3", "c4"}
    assert all(event["gain_cp"] is not None for event in seen[6:])


class Endless(http.server.BaseHTTPRequestHandler):
    """Sends a game that never ends, fails, or says nothing."""

    def do_GET(self) -> None:
        if self.path == "/500":
            self.send_error(500, "ow\x1b]0;ned")
            return
        self.send_response(200)
        self.end_headers()
        text = pgn([f"{{[%eval 0.1]}} {move} {{[%eval 0.1]}}" for move in RUY])
        while self.path != "/silence":
            try:
                self.wfile.write(text.encode())
            except OSError:
                return
            time.sleep(0.001)
        time.sleep(20)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endless() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class TestItEnds:
    """A run that would go on for ever fails by pytest's patience: each of these ends in seconds."""

    def ends(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("skilloscope")), "live", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    @pytest.mark.parametrize("mishap", ["chatter", "babble", "hang", "mute", "does not quit"])
    def test_after_its_seconds_whatever_the_engine_does(self, tmp_path, fake_engine, mishap):
        (tmp_path / "feed.pgn").write_text(pgn(RUY))
        done = self.ends(tmp_path / "feed.pgn", "--seconds", 1, "--engine", fake_engine(mishap))
        assert done.returncode == 0, done.stderr
        assert "Ann" in done.stdout

    @pytest.mark.parametrize("path", ["/stream", "/500", "/silence"])
    def test_after_its_seconds_whatever_the_address_does(self, endless, path):
        done = self.ends(endless + path, "--seconds", 1)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout

    @pytest.mark.parametrize("path", ["/500", "/nothing at all"])
    def test_once_where_there_is_nothing_to_follow(self, endless, path):
        done = self.ends(endless + path if path != "/nothing at all" else "http://127.0.0.1:1/", "--once")
        assert done.returncode == 1
        assert "no game" in done.stderr

    def test_once_with_an_empty_file(self, tmp_path):
        (tmp_path / "feed.pgn").write_text("")
        done = self.ends(tmp_path / "feed.pgn", "--once")
        assert done.returncode == 1
        assert "no game" in done.stderr

    def test_once_with_a_stream_that_never_holds_still(self, endless, monkeypatch):
        monkeypatch.setattr(following_module, "ONCE_SECONDS", 1.0)
        done = CliRunner().invoke(app, ["live", f"{endless}/stream", "--once", "--json"])
        assert done.exit_code == 0, done.output
        assert "Ann" in done.stdout

    def test_once_with_an_engine_that_talks_without_answering(self, tmp_path, fake_engine, monkeypatch):
        monkeypatch.setattr(quick_module, "_PATIENCE", 0.1)
        (tmp_path / "feed.pgn").write_text(pgn(RUY[:2]))
        done = CliRunner().invoke(
            app, ["live", str(tmp_path / "feed.pgn"), "--once", "--engine", str(fake_engine("chatter"))]
        )
        assert done.exit_code == 0, done.output
        assert "did not answer with 'bestmove' in time" in done.stdout

    def test_once_with_a_feed_that_takes_longer_than_its_seconds(self, tmp_path, monkeypatch):
        tries = []

        def deaf(_: str) -> dict[str, Any]:
            """Take the first interruption for its own, as the loading of a library may."""
            while True:
                try:
                    tries.append(1)
                    time.sleep(300)
                except KeyboardInterrupt:
                    if len(tries) > 1:
                        raise

        monkeypatch.setattr(live_command, "GRACE_SECONDS", 0.2)
        monkeypatch.setattr(live_module, "read_boards", deaf)
        (tmp_path / "feed.pgn").write_text(pgn(RUY))
        done = CliRunner().invoke(app, ["live", str(tmp_path / "feed.pgn"), "--once", "--seconds", "0.1"])
        assert done.exit_code == 1
        assert "could not be read in 0.1 seconds" in done.stderr

    def test_a_feed_that_takes_long_to_read_is_left_in_the_middle(self, tmp_path, monkeypatch):
        monkeypatch.setattr(live_command, "GRACE_SECONDS", 0.2)
        monkeypatch.setattr(live_module, "read_boards", lambda _: time.sleep(300))
        (tmp_path / "feed.pgn").write_text(pgn(RUY))
        done = CliRunner().invoke(app, ["live", str(tmp_path / "feed.pgn"), "--seconds", "0.1"])
        assert done.exit_code == 0
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_cannot_be_followed_is_refused():
    assert run("live", "/nowhere.pgn").exit_code == 1
    for words in (
        [CENTURY, "--values", "tea"],
        [CENTURY, "--curve", "tea"],
        [CENTURY, "--mate-cap", -1],
    ):
        assert run("live", *words).exit_code == 2


def test_every_kind_of_event_has_a_line():
    follower = Follower()
    events = [*follower.snapshot(pgn(RUY[:2])), *value_all(follower)]
    events += [Event("stalled"), Event("problem", None, Problem("x")), Event("result", "A – B", GameOver("1-0"))]
    events.append(Event("corrected", "A – B", Correction(3, 1, 2)))
    assert [str(event) for event in events[-4:]] == [
        "feed: stalled",
        "feed: x",
        "A – B: 1-0",
        "A – B: corrected from ply 3 on, 1 move taken back",
    ]
    assert all(str(event) for event in events)
    assert [len(one.state().tables()[0].rows) for one in (Follower(), follower)] == [0, len(follower.boards)]
    assert Task("A – B", "fen", 0.1, True).fresh
