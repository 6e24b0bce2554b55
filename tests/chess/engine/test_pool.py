"""Several engines side by side give what one gives, lose nothing to bad engines, and leave nothing behind."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from skilloscope.chess.analysis.analyse import Progress, analyse
from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.engine import engine as engine_module
from skilloscope.chess.engine import runner as runner_module
from skilloscope.chess.engine.engine import SearchStopped
from skilloscope.chess.engine.pool import EnginePool, start_runner
from skilloscope.chess.engine.runner import Runner
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.core.errors import EngineError, InputError
from skilloscope.store import Store, StoredAnalysis

SHALLOW = Settings(depth=2, multipv=3)
PGN = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 *"
MISHAPS = {
    " 0 2": ("hang", "did not answer with 'bestmove' in time"),
    " 1 2": ("twice", "listed a move twice"),
    " 2 3": ("crash", "ended without an answer (exit status 3)"),
    " 3 3": ("garbage", "printed nonsense"),
    " 1 4": ("noise", "printed nonsense"),
    " 2 5": ("half a line", "did not answer with 'bestmove' in time"),
    " 3 5": ("cut short", "stopped at depth 1 of 2"),
    " 5 6": ("illegal", "not legal"),
}
"""How the FENs end of the positions at which something goes wrong, what, and what is said of it."""

DEMO = Path(engine_module.__file__).parents[2] / "data" / "demo" / "analyses.jsonl.gz"
Fake = Callable[..., Path]
Ends = Callable[[str], None]
Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def batch() -> Positions:
    """Twelve positions, all different."""
    return positions(read_games(io.StringIO(PGN)), skip_moves=0)


@pytest.fixture
def fens(batch: Positions) -> list[str]:
    return [str(fen) for fen in batch.fen.to_pylist()]


@pytest.fixture
def counted(stockfish: Path, tmp_path: Path) -> Path:
    """A real engine that writes down what it is told, a file for each process."""
    path = tmp_path / "counted"
    path.write_text(f'#!/bin/sh\ntee "{tmp_path}/told.$$" | "{stockfish}"\n')
    path.chmod(0o755)
    return path


def searches(folder: Path) -> list[int]:
    """Return how many searches each engine process made, and forget them."""
    told = [path.read_text() for path in sorted(folder.glob("told.*"))]
    for path in folder.glob("told.*"):
        path.unlink()
    return [text.count("\ngo ") for text in told]


def test_one_worker_two_workers_and_reversed_order_agree_to_the_bit(counted: Path, tmp_path: Path) -> None:
    settings = Settings(depth=6, multipv=5)
    fens = [row.fen for row in read_export(DEMO).rows[::27]]
    assert len(fens) >= 24
    kept: dict[str, dict[str, tuple[bytes, int]]] = {}
    for name, workers, order in (("one", 1, fens), ("two", 2, fens), ("reversed", 2, fens[::-1])):
        with start_runner(counted, settings, workers=workers) as runner:
            answers = {outcome.problem: outcome.answer for outcome in runner.search(order)}
        assert sum(searches(tmp_path)) == len(fens)
        kept[name] = {fen: (a.lines.tobytes(), a.nodes) for fen, a in answers.items() if a is not None}
    assert len(kept["one"]) == len(fens)
    assert kept["one"] == kept["two"] == kept["reversed"]


def test_the_reversed_order_fills_an_empty_store_with_the_same_answers(
    batch: Positions, counted: Path, tmp_path: Path
) -> None:
    stored = []
    for name, order in (("there", slice(None)), ("back", slice(None, None, -1))):
        with Store(tmp_path / f"{name}.sqlite") as store:
            found = analyse(batch.select(order), settings=SHALLOW, store=store, engine=counted, workers=2)
            assert found.searched == len(batch)
            stored.append({row.problem: row.lines for row in store.iterate(found.settings)})
    assert stored[0] == stored[1]
    assert sum(searches(tmp_path)) == 2 * len(batch)


@pytest.mark.parametrize("workers", [2, 3])
def test_every_position_is_searched_once_by_however_many(
    batch: Positions, counted: Path, tmp_path: Path, workers: int
) -> None:
    stored: list[dict[str, StoredAnalysis]] = []
    for number in (1, workers):
        with Store(tmp_path / f"{number}.sqlite") as store:
            made = analyse(batch, settings=Settings(depth=4), store=store, engine=counted, workers=number)
            assert sum(searches(tmp_path)) == made.searched == 12
            stored.append({row.problem: row for row in store.iterate(made.settings)})
    assert {p: row.lines for p, row in stored[0].items()} == {p: row.lines for p, row in stored[1].items()}
    assert {row.nodes > 0 for row in stored[1].values()} == {True}


def test_all_workers_work_at_the_same_time(fens: list[str], fake_engine: Fake, tmp_path: Path) -> None:
    with EnginePool(fake_engine("meets"), SHALLOW, 2) as pool:
        assert {outcome.problem for outcome in pool.search(fens) if outcome.answer} == set(fens)
    assert len(list((tmp_path / "state").iterdir())) == 2


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_mishap_costs_its_position_and_no_other(
    batch: Positions, fake_engine: Fake, tmp_path: Path, workers: int
) -> None:
    engine = fake_engine(", ".join(f"{mishap} on{end}" for end, (mishap, _) in MISHAPS.items()))
    with Store(tmp_path / "s.sqlite") as store:
        made = analyse(batch, settings=SHALLOW, store=store, engine=engine, workers=workers)
        rows = list(store.iterate(made.settings))
    assert (made.searched, made.failed) == (4, 8)
    assert made.tally.as_dict() == {"engine failed": 8}
    failed = {row.problem: row.reason for row in rows if row.status == "failed"}
    assert len(failed) == len(MISHAPS)
    for problem, reason in failed.items():
        assert MISHAPS[problem[-4:]][1] in reason


@pytest.mark.parametrize("workers", [1, 2])
def test_an_engine_that_crashes_at_its_7th_position_loses_none(
    batch: Positions, fake_engine: Fake, workers: int
) -> None:
    made = analyse(batch, settings=SHALLOW, engine=fake_engine("crash at the 7th"), workers=workers)
    assert (made.searched, made.failed, made.tally.total) == (12, 0, 0)


def test_an_engine_on_which_nothing_works_is_given_up(
    fens: list[str], fake_engine: Fake, monkeypatch: pytest.MonkeyPatch, all_end: Ends
) -> None:
    monkeypatch.setattr(runner_module, "HOPELESS", 2)
    engine = fake_engine("crash")
    seen = []
    with EnginePool(engine, SHALLOW, 2) as pool, pytest.raises(EngineError, match="failed on 2 positions in a row"):
        seen.extend(pool.search(fens))
    assert 2 <= len(seen) <= 4
    all_end(str(engine))


def test_closing_ends_engines_in_the_middle_of_a_search(
    fens: list[str], fake_engine: Fake, tmp_path: Path, wait_until: Wait, all_end: Ends
) -> None:
    engine, threads = fake_engine("hang"), threading.active_count()

    def close() -> None:
        wait_until(lambda: list(tmp_path.glob("silent.*")))
        pool.close()

    with EnginePool(engine, SHALLOW, 3) as pool:
        closing = threading.Thread(target=close)
        closing.start()
        with pytest.raises(SearchStopped):
            list(pool.search(fens))
        closing.join()
    all_end(str(engine))
    wait_until(lambda: threading.active_count() <= threads)
    with pytest.raises(EngineError, match="closed"):
        list(pool.search(fens))


def test_an_interrupt_leaves_neither_process_nor_thread_and_keeps_what_is_finished(
    batch: Positions, fake_engine: Fake, tmp_path: Path, wait_until: Wait, all_end: Ends
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.searched == 5:
            raise KeyboardInterrupt

    engine, store, threads = fake_engine(), tmp_path / "s.sqlite", threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        analyse(batch, settings=SHALLOW, store=store, engine=engine, progress=interrupt, workers=2)
    all_end(str(engine))
    wait_until(lambda: threading.active_count() <= threads)
    again = analyse(batch, settings=SHALLOW, store=store, engine=engine, workers=2)
    assert (again.cached, again.searched) == (5, 7)


def test_a_search_that_is_left_in_the_middle_does_not_disturb_the_next(fens: list[str], fake_engine: Fake) -> None:
    with EnginePool(fake_engine(), SHALLOW, 2) as pool:
        left = pool.search(fens)
        next(left)
        assert {outcome.problem for outcome in pool.search(fens)} == set(fens)
        left.close()  # type: ignore[attr-defined]
        assert {outcome.problem for outcome in pool.search(fens) if outcome.answer} == set(fens)


def test_no_search_begins_after_the_deadline(fens: list[str], fake_engine: Fake) -> None:
    with EnginePool(fake_engine(), SHALLOW, 2) as pool:
        assert list(pool.search(fens, until=time.monotonic())) == []
        assert len(list(pool.search(fens, until=time.monotonic() + 3600))) == len(fens)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_engine_that_becomes_another_is_refused(fens: list[str], fake_engine: Fake, workers: int) -> None:
    with start_runner(fake_engine("changes"), SHALLOW, workers=workers) as runner:
        if isinstance(runner, Runner):
            runner.close()  # as after a crash
        with pytest.raises(EngineError, match="is another engine than before") as caught:
            list(runner.search(fens))
    assert "is kept" in caught.value.hint


def test_a_fault_in_the_problems_reaches_the_consumer(fens: list[str], fake_engine: Fake) -> None:
    def problems() -> Iterator[str]:
        yield from fens[:3]
        raise ZeroDivisionError

    with EnginePool(fake_engine(), SHALLOW, 2) as pool, pytest.raises(ZeroDivisionError):
        list(pool.search(problems()))


def test_fewer_problems_than_workers_start_fewer_engines(counted: Path, tmp_path: Path, fens: list[str]) -> None:
    with EnginePool(counted, SHALLOW, 8) as pool:
        assert len(list(pool.search(fens[:2]))) == 2
    assert len(searches(tmp_path)) <= 3


def test_no_workers_are_refused(fake_engine: Fake) -> None:
    for workers in (0, -1):
        with pytest.raises(InputError, match="workers"):
            start_runner(fake_engine(), SHALLOW, workers=workers)


def test_the_lines_of_a_pool_are_those_of_a_runner(fens: list[str], fake_engine: Fake) -> None:
    engine = fake_engine()
    with Runner(engine, SHALLOW) as one, EnginePool(engine, SHALLOW, 2) as two:
        assert one.key == two.key
        alone = {outcome.problem: outcome.answer for outcome in one.search(fens)}
        for outcome in two.search(fens):
            answer = alone[outcome.problem]
            assert answer is not None
            assert outcome.answer is not None
            assert np.array_equal(outcome.answer.lines, answer.lines)
