"""A cluster of real processes on this machine: a scheduler and workers, some of which are killed."""

from __future__ import annotations

import asyncio
import itertools
import shlex
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import chess
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import skilloscope as sk
from real_cluster import MARK, PATIENCE, ROOT, Cluster, marked, wait_until
from simulated import wandering_games
from skilloscope.chess.analysis.analyse import Progress, analyse
from skilloscope.chess.boards import Boards
from skilloscope.chess.engine import cluster as cluster_module
from skilloscope.chess.engine.cluster import AHEAD, ClusterRunner
from skilloscope.chess.engine.pool import start_runner
from skilloscope.chess.engine.runner import HOPELESS
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human import model as human_cluster
from skilloscope.chess.human.model import Network, human, human_on
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.core.errors import EngineError, InputError, MissingExtraError
from skilloscope.inputs.results import cluster_work
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.variances import fit_variances, simulated_intervals
from skilloscope.results.reading import Reading, ReadShards, ResultStream, Shard
from skilloscope.simulate.populations import Population, simulate_results
from skilloscope.store import Store

DEMO = Path(cluster_module.__file__).parents[2] / "data" / "demo" / "simulated.pgn"
SHALLOW = Settings(depth=2, multipv=3)
Fake = Callable[..., Path]


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that the tests share; none of them harms it."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster.with_workers(2)


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster to harm, without workers at first."""
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.fixture
def batch() -> Positions:
    """Thirty positions of the games that ship."""
    games = read_games(DEMO)
    return positions(games).select(slice(0, 30))


@pytest.fixture
def counting(stockfish: Path, tmp_path: Path) -> tuple[Path, Callable[[], list[str]]]:
    """A real engine whose searches are written down, and the positions that it has been asked."""
    path, folder = tmp_path / "counting engine", tmp_path / "asked"
    folder.mkdir()
    path.write_text(f'#!/bin/sh\ntee "{folder}/$$" | {shlex.quote(str(stockfish))}\n')
    path.chmod(0o755)

    def asked() -> list[str]:
        rows = [row for file in folder.iterdir() for row in file.read_text().splitlines()]
        return [row.removeprefix("position fen ") for row in rows if row.startswith("position")]

    return path, asked


def fens(count: int) -> list[str]:
    """Return different positions: the move numbers make them so."""
    return [f"6k1/8/8/8/8/8/8/K6R w - - 0 {number}" for number in range(1, count + 1)]


def contents(path: Path) -> list[dict[str, object]]:
    """Return all that a store holds but the times, by problem."""
    with Store(path) as store:
        (key,) = store.all_settings()
        rows = sorted(store.iterate(key), key=lambda row: row.problem)
    return [key, *({**asdict(row), "seconds": 0, "created": 0} for row in rows)]


def test_a_scheduler_ends_with_a_test_run_that_is_ended_by_a_signal(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys, time; sys.path.insert(0, sys.argv[1]); from real_cluster import Cluster\n"
        "print(Cluster(pathlib.Path(sys.argv[2])).__enter__().scheduler.pid, flush=True); time.sleep(300)"
    )
    command = [sys.executable, "-c", script, str(ROOT / "tests"), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        scheduler = psutil.Process(int(run.stdout.readline()))
        run.terminate()
    wait_until(lambda: not scheduler.is_running() or scheduler.status() == psutil.STATUS_ZOMBIE)


def test_serial_and_a_cluster_with_a_killed_worker_agree_to_the_bit(
    own_cluster: Cluster, batch: Positions, counting: tuple[Path, Callable[[], list[str]]], tmp_path: Path
) -> None:
    engine, asked = counting
    settings = Settings(depth=7, multipv=5)
    serial = analyse(batch, settings=settings, store=tmp_path / "serial.sqlite", engine=engine)
    total = len(set(batch.fen.to_pylist()))
    assert serial.searched == len(asked()) == total
    victim, survivor = own_cluster.with_workers(2).workers

    def kill_one(progress: Progress) -> None:
        if progress.searched == total // 3 and victim.poll() is None:
            victim.kill()

    spread = analyse(
        batch,
        settings=settings,
        store=tmp_path / "cluster.sqlite",
        engine=engine,
        progress=kill_one,
        scheduler=own_cluster.address,
    )
    assert victim.wait(PATIENCE) == -9
    assert survivor.poll() is None
    assert (spread.searched, spread.cached, spread.failed) == (total, 0, 0)
    repeated = len(asked()) - 2 * total
    assert 0 <= repeated <= AHEAD, "only what the killed worker had and had not handed back is searched again"
    assert set(asked()) == set(batch.fen.to_pylist())
    assert contents(tmp_path / "cluster.sqlite") == contents(tmp_path / "serial.sqlite")
    assert spread.lines.tobytes() == serial.lines.tobytes()
    wait_until(lambda: own_cluster.engines() == [])


def test_no_engine_outlives_a_run_or_its_worker(own_cluster: Cluster, stockfish: Path) -> None:
    own_cluster.with_workers(2)
    with ClusterRunner(own_cluster.address, SHALLOW, stockfish) as runner:
        assert len(own_cluster.engines(stockfish)) == 2
        own_cluster.workers[0].terminate()
        own_cluster.workers[0].wait(PATIENCE)
        wait_until(lambda: len(own_cluster.engines(stockfish)) == 1)
        assert len(list(runner.search(fens(5)))) == 5
    wait_until(lambda: own_cluster.engines() == [])


def test_only_the_positions_that_keep_the_engines_busy_are_under_way(two_workers: Cluster, fake_engine: Fake) -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for fen in itertools.cycle(fens(1000)):
            taken += 1
            yield fen

    with ClusterRunner(two_workers.address, SHALLOW, fake_engine()) as runner:
        outcomes = runner.search(endless())
        for received in range(1, 31):
            assert next(outcomes).answer
            assert taken - received < 2 * 2 * AHEAD
        outcomes.close()
        assert [outcome.problem for outcome in runner.search(fens(1))] == fens(1), "the runner can be used again"
    wait_until(lambda: two_workers.engines() == [])


def test_after_the_deadline_no_search_begins_and_what_was_begun_is_kept(
    two_workers: Cluster, counting: tuple[Path, Callable[[], list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, asked = counting
    problems = (chess.Board().fen().replace(" 0 1", f" 0 {number}") for number in itertools.count(1))
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(cluster_module, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=time.sleep))
    with ClusterRunner(two_workers.address, Settings(depth=6, multipv=5), engine) as runner:
        assert list(runner.search(problems, until=clock.now)) == []
        outcomes = []
        for outcome in runner.search(problems, until=60.0):
            outcomes.append(outcome)
            clock.now = 10.0 * len(outcomes)
    assert 6 <= len(outcomes) <= 6 + 2 * 2 * AHEAD
    assert all(outcome.answer for outcome in outcomes)
    assert sorted(asked()) == sorted(outcome.problem for outcome in outcomes)


def test_a_worker_with_another_engine_is_an_error_that_says_which(
    own_cluster: Cluster, stockfish: Path, fake_engine: Fake
) -> None:
    own_cluster.with_workers(1)
    with ClusterRunner(own_cluster.address, SHALLOW) as runner:
        assert runner.key["engine"].startswith("Stockfish")
        own_cluster.start_worker(STOCKFISH_EXECUTABLE=fake_engine())  # joins later
        with pytest.raises(EngineError, match=r"worker tcp://\S+ searches differently .*'Fake 1.0', not 'Stockfish"):
            list(runner.search(itertools.cycle(fens(1000))))
    with pytest.raises(EngineError, match=r"worker tcp://\S+ searches differently from the others: engine") as caught:
        start_runner(None, SHALLOW, scheduler=own_cluster.address)
    assert "same engine" in caught.value.hint
    wait_until(lambda: own_cluster.engines() == [])


def test_a_worker_without_the_engine_is_an_error_that_says_which(two_workers: Cluster) -> None:
    with pytest.raises(EngineError, match=r"worker tcp://\S+ cannot search: no engine 'komodo'"):
        ClusterRunner(two_workers.address, SHALLOW, "komodo")


def test_a_worker_without_skilloscope_is_an_error_with_a_hint(own_cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "skilloscope.py").write_text("raise ModuleNotFoundError('skilloscope is not here')")
    own_cluster.start_worker(PYTHONPATH=tmp_path)
    with pytest.raises(EngineError, match=r"a worker does not accept the work: .*skilloscope is not here") as caught:
        ClusterRunner(own_cluster.address, SHALLOW)
    assert "the same skilloscope" in caught.value.hint


def test_what_fails_has_a_reason_and_a_hopeless_engine_is_given_up(two_workers: Cluster, fake_engine: Fake) -> None:
    with ClusterRunner(two_workers.address, SHALLOW, fake_engine("incomplete")) as runner:
        outcomes = list(runner.search([*fens(3), "no FEN"]))
        assert {outcome.problem for outcome in outcomes} == {*fens(3), "no FEN"}
        reasons = {outcome.reason for outcome in outcomes if outcome.answer is None}
        assert any("is not complete" in reason for reason in reasons)
        assert any("not a FEN" in reason for reason in reasons)
        with pytest.raises(EngineError, match=rf"worker tcp://\S+ failed on {HOPELESS} positions in a row"):
            list(runner.search([f"no FEN {number}" for number in range(100)]))


def test_a_position_on_which_workers_die_has_failed_and_the_others_are_done(
    tmp_path: Path, fake_engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    with Cluster(tmp_path / "cluster") as cluster:
        cluster.with_workers(2)
        with ClusterRunner(cluster.address, SHALLOW, fake_engine()) as runner:
            outcomes = runner.search(fens(60))
            some = [next(outcomes) for _ in range(5)]
            cluster.workers[0].kill()
            everything = some + list(outcomes)
    assert sorted(outcome.problem for outcome in everything) == sorted(fens(60))
    failed = [outcome for outcome in everything if outcome.answer is None]
    assert len(failed) <= AHEAD
    assert {outcome.reason for outcome in failed} <= {"a worker that had this position has ended, 1 times"}


def test_a_scheduler_that_dies_is_an_error_and_what_was_finished_is_kept(
    own_cluster: Cluster, fake_engine: Fake
) -> None:
    own_cluster.with_workers(1)
    with ClusterRunner(own_cluster.address, SHALLOW, fake_engine()) as runner:
        runner._client._timeout = 1.0  # so long a lost scheduler is looked for
        outcomes = runner.search(itertools.cycle(fens(1000)))
        assert next(outcomes).answer
        own_cluster.scheduler.kill()
        with pytest.raises(EngineError, match=r"scheduler at .* has gone") as caught:
            list(outcomes)
        assert "is kept" in caught.value.hint


def test_without_a_scheduler_or_workers_the_hint_says_how_to_start_them(
    own_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "WORKER_SECONDS", 0.5)
    with monkeypatch.context() as impatient:
        impatient.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
        refuse_absent_schedulers()
    with pytest.raises(EngineError, match=r"no worker for 0\.5 seconds") as caught:
        start_runner(None, SHALLOW, scheduler=own_cluster.address)
    assert f"dask worker {own_cluster.address}" in caught.value.hint


def refuse_absent_schedulers() -> None:
    with pytest.raises(EngineError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9") as caught:
        start_runner(None, SHALLOW, scheduler="tcp://127.0.0.1:9")
    assert "dask scheduler" in caught.value.hint
    with pytest.raises(EngineError, match="no scheduler answers at nonsense://"):
        start_runner(None, SHALLOW, scheduler="nonsense://")


def test_an_engine_that_nobody_uses_is_ended(fake_engine: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(cluster_module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(cluster_module, "IDLE_SECONDS", 0.2)
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)

    async def live() -> None:
        engines = cluster_module._WorkerEngines(str(fake_engine()), SHALLOW)
        worker = SimpleNamespace(address="tcp://here")
        engines.setup(worker)
        for _ in range(2):
            reply = await asyncio.to_thread(engines.search, fens(1)[0], 1)
            assert reply.outcome.answer
            await asyncio.sleep(0.2)
            assert marked(mark), "no time has passed"
            clock.now += 1.0
            while marked(mark):  # the time limit is outside
                await asyncio.sleep(0.05)
        await engines.teardown(worker)

    asyncio.run(asyncio.wait_for(live(), PATIENCE))


def test_the_human_model_says_the_same_on_two_workers(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human_cluster, "_TASK", 50)
    games = read_games(DEMO).select(slice(0, 4))
    boards = Boards.from_moves(games.moves, games.offsets)
    told: list[int] = []
    with human_on(two_workers.address) as model:
        there, none = model.choices(boards, progress=told.append), model.choices(boards[slice(0, 0)])
    here = human().choices(boards)
    for name in ("offsets", "moves", "coefficients"):
        assert getattr(there, name).tobytes() == getattr(here, name).tobytes()
    assert told[-1] == len(boards)
    assert len(none.moves) == 0


def test_games_are_rated_on_a_cluster_without_an_engine_as_on_one_machine(two_workers: Cluster) -> None:
    games = read_games(DEMO).select(slice(0, 4))
    there, here = (sk.rate(games, effort="instant", scheduler=where) for where in (two_workers.address, None))
    assert there.as_dict() == here.as_dict()


def test_a_worker_with_another_human_model_is_an_error(two_workers: Cluster) -> None:
    with human_on(two_workers.address) as model:
        model.network = Network(b"another", model.network.card)
        with pytest.raises(EngineError, match="another human model"):
            model.choices(Boards.from_fens([chess.STARTING_FEN]))


def test_without_dask_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "skilloscope.chess.engine.cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match="distributed is not installed") as caught:
        start_runner(None, SHALLOW, scheduler="tcp://127.0.0.1:9")
    assert caught.value.hint == "pip install 'skilloscope[cluster]'"


def test_dask_is_loaded_only_when_a_scheduler_is_given() -> None:
    code = (
        "import sys, skilloscope.chess.analysis.analyse; print('distributed' in sys.modules or 'dask' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_results_read_by_two_workers_are_those_read_here_to_the_bit(two_workers: Cluster, tmp_path: Path) -> None:
    made = simulate_results(Population(80, 30, 6000), rng=np.random.default_rng(1), period="1D").results
    table = made.to_arrow()
    scores = ["?" if row % 997 == 0 else str(score) for row, score in enumerate(made.score)]  # some at fault
    table = table.set_column(table.column_names.index("score"), "score", pa.array(scores))
    halves = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for path, part in zip(halves, (table.slice(0, 2900), table.slice(2900)), strict=True):
        pq.write_table(part, path, row_group_size=130)
    aliases = {made.players[3]: made.players[5]}

    def rated(read: ReadShards | None) -> tuple[str, ResultStream]:
        stream = ResultStream(halves, "1D", batch=500, read=read, aliases=aliases)
        return Periods(sigma0=300.0, nu=20.0, smoothing=None).fit_stream(stream).state_.mark, stream

    mark, here = rated(None)
    with cluster_work(two_workers.address) as workers:
        other, there = rated(workers.read)
    assert mark == other
    assert here.tally.counts == there.tally.counts
    assert here.noted.counts == there.noted.counts
    assert here.tally.counts["unknown score"] == 7


def test_intervals_fitted_by_two_workers_are_those_fitted_here_to_the_bit(two_workers: Cluster) -> None:
    games, _ = wandering_games(np.random.default_rng(3), 0, 20, 5, 200, 40, each=100)
    fit = fit_variances(games)
    here = simulated_intervals(games, fit, rng=np.random.default_rng(1), replays=4)
    with cluster_work(two_workers.address) as workers:
        there = simulated_intervals(games, fit, rng=np.random.default_rng(1), replays=4, each=workers.each)
    assert here == there


def test_a_shard_that_a_worker_cannot_read_is_named(two_workers: Cluster, tmp_path: Path) -> None:
    with cluster_work(two_workers.address) as workers, pytest.raises(InputError, match=r"gone\.parquet"):
        list(workers.read([Shard(tmp_path / "gone.parquet", (0,), 1, Reading(), 1000)]))
