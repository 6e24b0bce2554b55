"""What an analysis will cost is said before it is spent, and a budget takes whole games by a seeded rule."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import human
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.core.paths import store_file
from skilloscope.inputs.budget import MEASURED, AnalysisPlan, game_order, plan, sample_games
from skilloscope.inputs.load import EngineJob
from skilloscope.report.table import duration
from skilloscope.store import Store

SHALLOW = Settings(depth=2, multipv=2)
Fake = Callable[..., Path]


def endings(count: int) -> str:
    """Return games of king and pawn: six decisions each, none of them in two games."""
    head = '[White "Ann"]\n[Black "Bob"]\n[FEN "7k/p7/8/8/8/8/P7/K7 w - - 0 {}"]\n\n'
    return "".join(head.format(50 + i) + "50. a4 Kg7 51. a5 Kf6 52. Kb2 Ke5 *\n\n" for i in range(count))


@pytest.fixture
def games() -> Games:
    return read_games(io.StringIO(endings(12)))


@pytest.fixture
def work(tmp_path: Path, fake_engine: Fake) -> EngineJob:
    return EngineJob(settings=SHALLOW, store=tmp_path / "s.sqlite", engine=str(fake_engine()))


def test_a_plan_counts_what_is_known_measures_a_few_and_keeps_them(games: Games, work: EngineJob) -> None:
    analyse(positions(games.select([3])), settings=SHALLOW, store=work.store, engine=work.engine)
    planned = plan(games, work)
    assert planned.as_dict()["positions"] == {
        "total": 72,
        "cached": 6,
        "imported": 0,
        "measured": MEASURED,
        "to_search": 66 - MEASURED,
    }
    assert planned.seconds_each is not None
    assert planned.expected_seconds == pytest.approx((66 - MEASURED) * planned.seconds_each)
    assert work.store is not None
    with Store(work.store) as store:
        assert store.statistics()["rows"] == 6 + MEASURED
    again = plan(games, work)
    assert (again.cached, again.measured) == (6 + MEASURED, MEASURED)


def test_a_plan_of_what_is_known_searches_nothing(games: Games, work: EngineJob) -> None:
    analyse(games, settings=SHALLOW, store=work.store, engine=work.engine)
    planned = plan(games, work)
    assert (planned.measured, planned.to_search, planned.expected_seconds) == (0, 0, 0.0)
    assert planned.seconds_each is None
    assert len(sample_games(games, planned, 0.001).rows) == len(games)


def test_the_order_of_the_games_depends_on_the_seed_and_on_nothing_else(games: Games) -> None:
    ids = np.array(games.headers["game"].to_pylist())
    order = ids[game_order(games, 1)].tolist()
    assert sorted(order) == sorted(ids)
    assert order == ids[game_order(games, 1)].tolist()
    assert order != ids[game_order(games, 2)].tolist()
    some = games.select(np.arange(0, 12, 2))
    chosen = np.array(some.headers["game"].to_pylist())[game_order(some, 1)].tolist()
    assert chosen == [game for game in order if game in chosen]


def planned_at(games: Games, work: EngineJob, seconds_each: float) -> AnalysisPlan:
    return replace(plan(games, work), seconds_each=seconds_each)


def test_a_larger_budget_takes_the_games_of_a_smaller_one_and_more(games: Games, work: EngineJob) -> None:
    planned = planned_at(games, work, 1.0)
    taken = [set(sample_games(games, planned, minutes).rows.tolist()) for minutes in (0.1, 0.2, 0.4, 0.8, 5)]
    assert all(small <= large for small, large in pairwise(taken))
    assert [len(rows) for rows in taken] == sorted(len(rows) for rows in taken)
    assert 0 < len(taken[0]) < len(taken[2]) < len(taken[4]) == 12
    slower = sample_games(games, replace(planned, seconds_each=1.7), 0.4)
    assert set(slower.rows.tolist()) <= taken[2]
    for minutes in (0.1, 0.2, 0.4):
        sample = sample_games(games, planned, minutes)
        assert sample.expected_seconds <= 60 * minutes
        assert sample.to_search == sum(len(planned.unknown.get(row, ())) for row in sample.rows.tolist())
    assert sample_games(games, planned, 0.3, seed=2).rows.tolist() != sample_games(games, planned, 0.3).rows.tolist()


def test_a_budget_that_fits_no_game_is_refused(games: Games, work: EngineJob) -> None:
    with pytest.raises(InputError, match=r"takes \d+\.\d minutes, more than the budget of 0\.5"):
        sample_games(games, planned_at(games, work, 1000.0), 0.5)
    with pytest.raises(InputError, match="a budget of 0 minutes"):
        sample_games(games, planned_at(games, work, 1.0), 0)


def command(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_the_dry_run_says_all_and_the_budget_does_it(
    tmp_path: Path, fake_engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "games.pgn").write_text(endings(12))
    words = ["analyse", tmp_path / "games.pgn", "--engine", fake_engine(), "--depth", 2, "--multipv", 2]
    words += ["--store", tmp_path / "store"]
    code, out, err = command(*words, "--dry-run", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["plan"]["positions"]["to_search"] == 72 - MEASURED
    assert report["engine"]["engine"] == "Fake 1.0"
    code, out, err = command(*words, "--dry-run", "--budget", 60)
    assert "72 different positions in 12 games: 20 from the cache, 0 imported, 20 measured now, 32 to search" in out
    assert re.search(r"expected: [^;]+ at \d+\.\d\d s a position; Fake 1.0, depth 2", out)
    assert "a budget of 60 minutes takes 12 of 12 games (seed 1), 32 positions to search" in out
    with Store(store_file(tmp_path / "store")) as store:
        assert store.statistics()["rows"] == 40
    from skilloscope.inputs import budget as planning

    monkeypatch.setattr(planning, "MEASURED", 4)
    honest = planning._measure
    monkeypatch.setattr(planning, "_measure", lambda *given: (honest(*given)[0], 1.0))  # one second each
    code, out, err = command(*words, "--budget", 0.15, "--seed", 3, "--json")
    assert code == 0, err
    report = json.loads(out)
    sample = report["sample"]
    assert 0 < sample["games"] < sample["games_in_all"] == 12
    assert report["skipped"]["not sampled (games beyond the budget)"] == 12 - sample["games"]
    assert report["positions"]["searched"] == sample["to_search"] <= 9
    assert f"takes {sample['games']} of 12 games (seed 3)" in err
    assert command("analyse", tmp_path / "nothing.pgn", "--dry-run")[0] == 1


def test_progress_says_positions_rate_time_left_and_what_was_known(
    tmp_path: Path, fake_engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "games.pgn").write_text(endings(2))
    words = ["analyse", tmp_path / "games.pgn", "--engine", fake_engine(), "--depth", 2, "--multipv", 2]
    _, _, err = command(*words)
    assert "analysing: 12 of 12; " in err
    assert re.search(r"\d a second, 0 s left, 0 known before", err)
    assert "analysing: 12 of 12; 12 known before" in command(*words)[2]


def test_workers_and_the_scheduler_reach_the_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from skilloscope.chess.analysis import analyse as analysis

    asked: list[tuple[int, str | None]] = []

    def refuse(engine: object, settings: Settings, *, workers: int, scheduler: str | None) -> None:
        asked.append((workers, scheduler))
        raise InputError("enough")

    monkeypatch.setattr(analysis, "start_runner", refuse)
    # The human model asks the same cluster, which is not there; tests/chess/engine has one that is.
    monkeypatch.setattr("skilloscope.inputs.pipeline.human_on", lambda _: nullcontext(human()))
    (tmp_path / "games.pgn").write_text(endings(1))
    for name in ("analyse", "rate"):
        command(name, tmp_path / "games.pgn", "--workers", 3, "--scheduler", "tcp://host:8786")
        monkeypatch.setenv("SKILLOSCOPE_WORKERS", "2")
        command(name, tmp_path / "games.pgn")
        monkeypatch.delenv("SKILLOSCOPE_WORKERS")
    assert asked == [(3, "tcp://host:8786"), (2, None)] * 2


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (89, "89 s"), (91, "2 min"), (5300, "88 min"), (12_000, "3 h 20 min")]
)
def test_times_are_said_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_strata_take_turns_and_an_unknown_one_is_left_out(games: Games) -> None:
    strata = ["a"] * 6 + ["b"] * 4 + [None] * 2
    order = game_order(games, 1, strata).tolist()
    assert sorted(order) == list(range(10))
    assert sorted(strata[row] or "" for row in order[:2]) == ["a", "b"]
    assert sorted(strata[row] or "" for row in order[:8]) == ["a"] * 4 + ["b"] * 4


def test_without_a_measurement_only_what_is_known_is_taken(games: Games, work: EngineJob) -> None:
    first = game_order(games, 1)[:3]
    analyse(positions(games.select(np.sort(first))), settings=SHALLOW, store=work.store, engine=work.engine)
    planned = plan(games, work, measure=False)
    assert planned.measured == 0
    sample = sample_games(games, planned, 0.0)
    assert set(sample.rows.tolist()) == set(first.tolist())
    assert sample.expected_seconds == 0.0


def test_games_that_are_wholly_known_count_though_one_before_them_in_the_order_is_not(
    games: Games, work: EngineJob
) -> None:
    order = game_order(games, 1)
    known = order[[0, 2, 5, 11]]
    analyse(positions(games.select(np.sort(known))), settings=SHALLOW, store=work.store, engine=work.engine)
    planned = plan(games, work, measure=False)
    assert sample_games(games, planned, 0.0).rows.tolist() == [order[0]]
    assert set(sample_games(games, planned, 0.0, known_too=True).rows.tolist()) == set(known.tolist())
    # With time for one more game, that is the first of the order that is not known.
    timed = replace(planned, seconds_each=10.0)
    sample = sample_games(games, timed, 1.0, known_too=True)
    assert set(sample.rows.tolist()) == {*known.tolist(), int(order[1])}
    assert sample.to_search == 6


def test_spellings_of_one_player_become_one_name() -> None:
    text = '[White "Ann B"]\n[Black "Cid"]\n\n1. e4 e5 *\n\n[White "Cid"]\n[Black "B, Ann"]\n\n1. d4 d5 *\n'
    games = read_games(io.StringIO(text)).renamed({"Ann B": "B, Ann"})
    assert games.headers["white"].to_pylist() == ["B, Ann", "Cid"]
    assert games.headers["black"].to_pylist() == ["Cid", "B, Ann"]
