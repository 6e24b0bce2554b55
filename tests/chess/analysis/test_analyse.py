from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skilloscope.chess.analysis.analyse import Analyses, Progress, analyse
from skilloscope.chess.analysis.files import export_analyses, read_analysed, read_export
from skilloscope.chess.engine import engine as engine_module
from skilloscope.chess.engine import runner as runner_module
from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.lines import AnalysedPosition, last_depth, lines_from_lists
from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.chess.moves import move_uci
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.core.errors import EngineError, InputError
from skilloscope.papers.harness import SHARED_ANALYSES
from skilloscope.store import Store

SHALLOW = Settings(depth=2, multipv=3)
PGN = """[White "Ann"]
[Black "Bob"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 1-0

[White "Bob"]
[Black "Cat"]

1. e4 e5 2. Nf3 d6 *
"""
DEMO = Path(engine_module.__file__).parents[2] / "data" / "demo"
Fake = Callable[..., Path]


@pytest.fixture
def batch() -> Positions:
    """Twelve positions, four of them twice: eight to search."""
    return positions(read_games(io.StringIO(PGN)), skip_moves=0)


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine_module, "ENGINE_DIRECTORIES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STOCKFISH_EXECUTABLE", raising=False)


def counts(analyses: Analyses) -> tuple[int, int, int, int]:
    return analyses.searched, analyses.cached, analyses.imported, analyses.failed


def test_every_position_is_searched_once_and_a_second_run_searches_nothing(
    batch: Positions, stockfish: Path, tmp_path: Path
) -> None:
    settings = Settings(depth=3, multipv=3)
    first = analyse(batch, settings=settings, store=tmp_path / "s.sqlite", engine=stockfish)
    assert counts(first) == (8, 0, 0, 0)
    assert np.all(first.answered)
    assert first.row.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]
    again = analyse(batch, settings=settings, store=tmp_path / "s.sqlite", engine=stockfish)
    assert counts(again) == (0, 8, 0, 0)
    assert np.array_equal(again.lines, first.lines)
    assert again.settings == first.settings
    assert first.identity["engine"].startswith("Stockfish")


def test_a_store_is_named_by_its_folder_or_its_file(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    folder, engine = tmp_path / "my.store", fake_engine()
    assert counts(analyse(batch, settings=SHALLOW, store=folder, engine=engine)) == (8, 0, 0, 0)
    for store in (str(folder), folder / "analyses.sqlite"):
        assert counts(analyse(batch, settings=SHALLOW, store=store, engine=engine)) == (0, 8, 0, 0)


def test_other_settings_do_not_answer_from_the_store(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    engine = fake_engine()
    with Store(tmp_path / "s.sqlite") as store:
        analyse(batch, settings=SHALLOW, store=store, engine=engine)
        assert counts(analyse(batch, settings=Settings(depth=2, multipv=4), store=store, engine=engine)) == (8, 0, 0, 0)
        assert len(store.all_settings()) == 2


def test_progress_counts_only_what_is_stored(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    seen: list[Progress] = []
    with Store(tmp_path / "s.sqlite") as store:

        def watch(progress: Progress) -> None:
            seen.append(progress)
            assert store.statistics()["rows"] == progress.done

        analyse(batch, settings=SHALLOW, store=store, engine=fake_engine(), progress=watch)
    assert [progress.done for progress in seen] == list(range(9))
    assert {progress.total for progress in seen} == {8}
    assert seen[0].remaining_seconds is None
    assert seen[-1].remaining_seconds == 0


def test_an_interrupt_keeps_what_is_finished(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.searched == 3:
            raise KeyboardInterrupt

    engine = fake_engine()
    with pytest.raises(KeyboardInterrupt):
        analyse(batch, settings=SHALLOW, store=tmp_path / "s.sqlite", engine=engine, progress=interrupt)
    assert counts(analyse(batch, settings=SHALLOW, store=tmp_path / "s.sqlite", engine=engine)) == (5, 3, 0, 0)


def test_a_kill_keeps_what_is_finished(stockfish: Path, tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(PGN)
    script = f"""
from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
batch = positions(read_games({str(tmp_path / "games.pgn")!r}), skip_moves=0)
say = lambda progress: print(progress.searched, flush=True)
analyse(batch, store={str(tmp_path / "s.sqlite")!r}, engine={str(stockfish)!r}, progress=say)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == 2:
                process.kill()
    batch = positions(read_games(tmp_path / "games.pgn"), skip_moves=0)
    rest = analyse(batch, store=tmp_path / "s.sqlite", engine=stockfish)
    assert rest.cached >= 2
    assert rest.cached + rest.searched == 8


def test_a_crash_is_tried_again(batch: Positions, fake_engine: Fake) -> None:
    analyses = analyse(batch, settings=SHALLOW, engine=fake_engine("crash once"))
    assert counts(analyses) == (8, 0, 0, 0)
    assert analyses.tally.total == 0


def test_what_fails_twice_is_recorded_and_a_later_run_tries_again(
    batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        failed = analyse(batch, settings=SHALLOW, store=store, engine=fake_engine("incomplete"))
        assert counts(failed) == (0, 0, 0, 8)
        assert failed.tally.as_dict() == {"engine failed": 12}
        assert not failed.answered.any()
        reasons = {row.reason for row in store.iterate(failed.settings)}
        assert reasons == {"the engine's list at its last depth, 2, is not complete"}
        assert counts(analyse(batch, settings=SHALLOW, store=store, engine=fake_engine())) == (8, 0, 0, 0)
        assert {row.status for row in store.iterate(failed.settings)} == {"done"}


@pytest.mark.usefixtures("impatient")
def test_a_hang_costs_one_position(fake_engine: Fake) -> None:
    rooks = '[FEN "6k1/8/8/8/8/8/1r6/K6R w - - 0 50"]\n\n50. Kxb2 Kg7 *\n\n'
    none = '[FEN "7k/p7/8/8/8/8/P7/K7 w - - 0 50"]\n\n50. a4 *'
    batch = positions(read_games(io.StringIO(rooks + none)), skip_moves=0)
    assert len(batch) == 3
    analyses = analyse(batch, settings=SHALLOW, engine=fake_engine("hang on rooks"))
    assert counts(analyses) == (1, 0, 0, 2)
    assert analyses.tally.as_dict() == {"engine failed": 2}


def test_an_engine_on_which_nothing_works_is_given_up(
    batch: Positions, fake_engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "HOPELESS", 3)
    with pytest.raises(EngineError, match="failed on 3 positions in a row") as caught:
        analyse(batch, settings=SHALLOW, engine=fake_engine("crash"))
    assert "is kept" in caught.value.hint


def test_the_deadline_ends_the_search_and_the_rest_is_counted(batch: Positions, fake_engine: Fake) -> None:
    analyses = analyse(batch, settings=SHALLOW, engine=fake_engine(), deadline_seconds=0)
    assert counts(analyses) == (0, 0, 0, 0)
    assert analyses.tally.as_dict() == {"not analysed (time)": 12}


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_a_full_store_answers_and_an_empty_one_is_an_error(
    batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    with pytest.raises(EngineError, match="no chess engine was found, and 8 positions are not analysed yet") as caught:
        analyse(batch, settings=SHALLOW, store=tmp_path / "s.sqlite")
    assert "install Stockfish" in caught.value.hint
    made = analyse(batch, settings=SHALLOW, store=tmp_path / "s.sqlite", engine=fake_engine())
    found = analyse(batch, settings=SHALLOW, store=tmp_path / "s.sqlite")
    assert counts(found) == (0, 8, 0, 0)
    assert found.settings == made.settings
    with pytest.raises(EngineError, match="8 positions"):
        analyse(batch, settings=Settings(depth=2, multipv=4), store=tmp_path / "s.sqlite")
    with pytest.raises(EngineError, match="komodo"):
        analyse(batch, settings=SHALLOW, store=tmp_path / "s.sqlite", engine="komodo")


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_imports_answer_and_the_rest_is_counted(
    batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    made = analyse(batch, settings=SHALLOW, engine=fake_engine())
    rows = list(made.rows())
    assert export_analyses(tmp_path / "some.jsonl.gz", made.settings, rows[:3]) == 3
    some = analyse(batch, settings=SHALLOW, imports=[tmp_path / "some.jsonl.gz"], store=tmp_path / "s.sqlite")
    assert counts(some) == (0, 0, 3, 0)
    assert some.tally.as_dict() == {"not analysed": 6}
    with Store(tmp_path / "s.sqlite") as store:
        assert {row.origin for row in store.iterate(made.settings)} == {"imported"}
    assert counts(analyse(batch, settings=SHALLOW, store=tmp_path / "s.sqlite", engine=fake_engine())) == (5, 3, 0, 0)


def test_imports_that_hold_everything_need_no_engine(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    made = analyse(batch, settings=SHALLOW, engine=fake_engine())
    export_analyses(tmp_path / "all.jsonl.gz", made.settings, made.rows())
    seen = analyse(batch, settings=SHALLOW, imports=[tmp_path / "all.jsonl.gz"])
    assert counts(seen) == (0, 0, 8, 0)
    assert seen.identity == {"engine": "Fake 1.0", "net": None}
    assert np.array_equal(seen.lines, made.lines)


def test_imports_of_another_engine_are_not_mixed_in(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    made = analyse(batch, settings=SHALLOW, engine=fake_engine())
    export_analyses(tmp_path / "other.jsonl.gz", made.settings | {"engine": "Other 2"}, made.rows())
    seen = analyse(batch, settings=SHALLOW, engine=fake_engine(), imports=[tmp_path / "other.jsonl.gz"])
    assert counts(seen) == (8, 0, 0, 0)
    assert seen.about["notes"] == ["imported answers of Other 2 are not used: their key is another"]


@pytest.mark.usefixtures("no_engine")
def test_imported_answers_that_no_engine_can_have_given_are_faults(
    batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    made = analyse(batch, settings=SHALLOW, engine=fake_engine())
    rows = list(made.rows())
    short, swapped = rows[0]._replace(lines=rows[0].lines[:-1]), rows[1]._replace(lines=rows[2].lines)
    export_analyses(tmp_path / "bad.jsonl.gz", made.settings, [short, swapped, *rows[2:]])
    seen = analyse(batch, settings=SHALLOW, imports=[tmp_path / "bad.jsonl.gz"], store=tmp_path / "s.sqlite")
    assert seen.imported == 6
    assert seen.tally.as_dict() == {"not analysed": 4, "unusable analysis": 2}
    assert "not complete" in seen.tally.faults[0].detail
    assert "not legal" in seen.tally.faults[1].detail


@pytest.mark.usefixtures("no_engine")
def test_of_several_engines_the_one_with_the_most_answers_is_used(
    batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    made = analyse(batch, settings=SHALLOW, engine=fake_engine())
    rows = list(made.rows())
    export_analyses(tmp_path / "1.jsonl.gz", made.settings | {"engine": "One"}, rows[:2])
    export_analyses(tmp_path / "2.jsonl.gz", made.settings | {"engine": "Two"}, rows[:5])
    seen = analyse(batch, settings=SHALLOW, imports=[tmp_path / "1.jsonl.gz", tmp_path / "2.jsonl.gz"])
    assert (seen.identity["engine"], seen.imported) == ("Two", 5)
    assert seen.about["notes"] == ["answers of Two are used, the most; others are of One"]


@pytest.mark.usefixtures("no_engine")
def test_no_positions_need_no_engine() -> None:
    analyses = analyse(read_games([]))
    assert len(analyses) == 0
    assert list(analyses.rows()) == []


def test_the_normalised_fen_is_what_the_engine_and_the_store_get(
    batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    settings = Settings(depth=2, multipv=3, fen_rule="normalised")
    with Store(tmp_path / "s.sqlite") as store:
        analyses = analyse(batch, settings=settings, store=store, engine=fake_engine())
        assert all(row.problem.endswith(" 0 1") for row in store.iterate(analyses.settings))
    assert np.all(analyses.answered)
    assert batch.fen[3].as_py().endswith(" 1 2")


def test_an_export_gives_back_what_was_put_in_and_is_the_same_every_time(tmp_path: Path) -> None:
    lines = lines_from_lists({"1": [["e2e4", 31], ["e7e8q", "#3"]], "2": [["e2e4", "#0"], ["d2d4", -5]]})
    key = DFH13.key({"engine": "X", "net": None})
    for name in ("a.gz", "b.gz"):
        export_analyses(tmp_path / name, key, [AnalysedPosition("fen", 2, lines)])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    export = read_export(tmp_path / "a.gz")
    assert export.settings == key
    assert [(row.fen, row.n_legal) for row in export.rows] == [("fen", 2)]
    assert np.array_equal(export.rows[0].lines, lines)


def test_a_bad_row_of_an_export_is_a_fault_and_another_file_an_error(tmp_path: Path) -> None:
    key = DFH13.key({"engine": "X", "net": None})
    export_analyses(tmp_path / "a.gz", key, [])
    first = json.loads(gzip.decompress((tmp_path / "a.gz").read_bytes()).splitlines()[0])
    del first["checked"]
    head = json.dumps(first).encode() + b"\n"  # as others write it: no checksums, no last line
    (tmp_path / "b.jsonl").write_bytes(head + b'{"fen": "x", "n_legal": 1, "lines": {"1": [["e9e4", 1]]}}\nnonsense\n')
    export = read_export(tmp_path / "b.jsonl")
    assert [fault.place for fault in export.tally.faults] == ["line 2", "line 3"]
    (tmp_path / "new.jsonl").write_bytes(head.replace(b'"version": 1', b'"version": 9'))
    with pytest.raises(InputError, match="version 9"):
        read_export(tmp_path / "new.jsonl")
    (tmp_path / "c.pgn").write_text(PGN)
    with pytest.raises(InputError, match="not an export of analyses"):
        read_export(tmp_path / "c.pgn")
    (tmp_path / "d.bin").write_bytes(bytes(100))
    with pytest.raises(InputError, match="binary data"):
        read_export(tmp_path / "d.bin")


def test_analysed_games_are_read_with_their_context(tmp_path: Path) -> None:
    fen = "7k/8/8/8/8/8/P7/K7 b - - 0 30"
    row = {
        "ply": 59,
        "fen": fen,
        "n_legal": 3,
        "played": "h8g8",
        "values": {"1": [["h8h7", "cp", -3], ["h8g8", "mate", -9]]},
    }
    record = {"file": "2000.pgn", "index": 4, "white": "A", "black": "B", "white_elo": "2001", "black_elo": "",
              "result": "1-0", "date": "2012.02.01", "rows": [row]}  # fmt: skip
    (tmp_path / "x.jsonl").write_text(json.dumps(record) + "\nnonsense\n")
    analyses = read_analysed(tmp_path / "x.jsonl")
    assert (analyses.identity["engine"], analyses.settings["depth"]) == (None, 1)  # nobody says whose answers
    assert analyses.answer(0).tolist() == [(1, 1, 63 | 55 << 6, 0, -3), (1, 2, 63 | 62 << 6, 1, -9)]
    assert (analyses.positions.mover.tolist(), analyses.positions.ply.tolist()) == ([1], [59])
    header = analyses.games.headers.to_pylist()[0]
    assert (header["game"], header["white_elo"], header["black_elo"], header["year"]) == ("x.jsonl#1", 2001, None, 2012)
    assert [fault.place for fault in analyses.games.tally.faults] == ["line 2"]


def test_a_search_repeats_the_shared_analyses_to_the_bit(shared_data: Path, stockfish: Path) -> None:
    (path,) = (shared_data / "analysed").glob("*.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file, Engine(stockfish) as engine:
        if engine.identity["engine"] != "Stockfish 15.1":
            pytest.skip("the shared analyses are those of Stockfish 15.1")
        for _ in range(10):
            record = json.loads(next(file))
            row = record["rows"][len(record["rows"]) // 2]
            answer = engine.analyse(row["fen"])
            lists = {
                depth: [[m, s if kind == "cp" else f"#{s}"] for m, kind, s in lines]
                for depth, lines in row["values"].items()
            }
            assert np.array_equal(answer.lines, lines_from_lists(lists))
            assert answer.n_legal == row["n_legal"]


@pytest.mark.soak
def test_five_hundred_shared_positions_are_analysed_again_to_the_bit(shared_data: Path, stockfish: Path) -> None:
    (path,) = (shared_data / "analysed").glob("*.jsonl.gz")
    shared = read_analysed(path, SHARED_ANALYSES)
    at = np.linspace(0, len(shared) - 1, 500).astype(int)
    again = analyse(shared.positions.select(at), settings=DFH13, engine=stockfish)
    if again.settings != shared.settings:
        pytest.skip(f"the shared analyses are those of Stockfish 15.1, not of {again.identity['engine']}")
    different = [
        shared.positions.fen[int(there)].as_py()
        for here, there in enumerate(at)
        if not np.array_equal(again.answer(here), shared.answer(int(there)))
    ]
    assert different == []
    assert counts(again)[1:] == (0, 0, 0)
    assert again.searched > 490  # the same position may occur twice


def test_the_best_moves_of_a_fake_are_the_first_of_the_alphabet(batch: Positions, fake_engine: Fake) -> None:
    analyses = analyse(batch, settings=SHALLOW, engine=fake_engine())
    assert [move_uci(code) for code in last_depth(analyses.answer(0))["move"]] == ["a2a3", "a2a4", "b1a3"]
    assert isinstance(analyses.games, Games)


@pytest.mark.usefixtures("no_engine")
def test_the_shipped_analyses_answer_every_decision_of_the_shipped_games() -> None:
    games = read_games([DEMO / "simulated.pgn", DEMO / "game_of_the_century.pgn"])
    assert games.tally.total == 0
    analyses = analyse(games, imports=[DEMO / "analyses.jsonl.gz"])
    assert counts(analyses) == (0, 0, 655, 0)
    assert analyses.answered.all()
    competences = json.loads((DEMO / "players.json").read_text())
    assert {*competences, "Byrne, Donald", "Fischer, Robert James"} == {
        *games.headers["white"].to_pylist(),
        *games.headers["black"].to_pylist(),
    }
    assert [games.clocks.size, np.isfinite(games.eval_values()).sum()] == [games.moves.size, 82]


def test_the_shipped_analyses_are_what_the_engine_says(stockfish: Path) -> None:
    export = read_export(DEMO / "analyses.jsonl.gz")
    with Engine(stockfish) as engine:
        if engine.key != export.settings:
            pytest.skip(f"the shipped analyses are those of {export.settings['engine']}")
        for row in export.rows[::100]:
            answer = engine.analyse(row.fen)
            assert answer.n_legal == row.n_legal
            assert np.array_equal(answer.lines, row.lines)
