"""Whole settings of a store travel through files and come back the same; what is not an answer stays out."""

from __future__ import annotations

import gzip
import io
import json
import multiprocessing
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from skilloscope.chess.analysis.analyse import Progress, analyse
from skilloscope.chess.analysis.analyses import decisions
from skilloscope.chess.analysis.files import (
    Imported,
    choose_settings,
    export_analyses,
    export_store,
    import_file,
    read_analysed,
    read_export,
)
from skilloscope.chess.engine.lines import AnalysedPosition, lines_from_lists
from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.chess.moves import move_uci
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.cli.app import app
from skilloscope.core import paths
from skilloscope.core.errors import InputError, StoreError
from skilloscope.core.paths import store_file
from skilloscope.inputs.bundled import analyses_file
from skilloscope.papers.harness import SHARED_ANALYSES
from skilloscope.store import Store, StoredAnalysis

SHALLOW = Settings(depth=2, multipv=3)
PGN = '[White "Ann"]\n[Black "Bob"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 *\n'
ENDINGS = (".parquet", ".jsonl", ".jsonl.gz")
Fake = Callable[..., Path]


@pytest.fixture
def batch() -> Positions:
    return positions(read_games(io.StringIO(PGN)), skip_moves=0)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return store_file(tmp_path / "store")


def command(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_exported_comes_back_the_same_and_gives_the_same_bytes(ending: str, tmp_path: Path) -> None:
    rows = read_export(analyses_file()).rows[:40]
    key = DFH13.key({"engine": "X", "net": None})
    for name in ("a", "b"):
        assert export_analyses(tmp_path / f"{name}{ending}", key, rows) == 40
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
    export = read_export(tmp_path / f"a{ending}")
    assert (export.settings, export.tally.total) == (key, 0)
    assert [row[:2] for row in export.rows] == [row[:2] for row in rows]
    assert all(np.array_equal(one.lines, other.lines) for one, other in zip(export.rows, rows, strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a{ending}", f"b{ending}"]


def test_parquet_takes_at_most_three_hundred_bytes_a_position_and_reads_as_columns(tmp_path: Path) -> None:
    export = read_export(analyses_file())
    export_analyses(tmp_path / "x.parquet", export.settings, export.rows)
    assert (tmp_path / "x.parquet").stat().st_size < 300 * len(export.rows)
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column_names == ["fen", "n_legal", "depth", "rank", "move", "mate", "score"]
    assert {len(move) for move in table["move"][0].as_py()} <= {4, 5}
    assert json.loads(table.schema.metadata[b"skilloscope"])["settings"]["engine"] == "Stockfish 15.1"


def test_an_empty_export_is_an_export(tmp_path: Path) -> None:
    for ending in ENDINGS:
        assert export_analyses(tmp_path / f"x{ending}", DFH13.key({"engine": "X"}), []) == 0
        assert read_export(tmp_path / f"x{ending}").rows == []


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def rows() -> Any:
        yield AnalysedPosition("fen", 2, lines_from_lists({"1": [["e2e4", 1]]}))
        raise KeyboardInterrupt

    for ending in ENDINGS:
        path = tmp_path / f"x{ending}"
        path.write_text("before")
        with pytest.raises(KeyboardInterrupt):
            export_analyses(path, {}, rows())
        assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == len(ENDINGS)
    with pytest.raises(InputError, match=r"not written as \.csv"):
        export_analyses(tmp_path / "x.csv", {}, [])
    with pytest.raises(InputError, match="there is no folder"):
        export_analyses(tmp_path / "absent" / "x.parquet", {}, [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_while_exporting_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = read_export(analyses_file()).rows
    full = tmp_path / "part"

    def no_room(_: Path) -> Path:
        full.symlink_to("/dev/full")
        return full

    monkeypatch.setattr(paths, "_part", no_room)
    for ending in ENDINGS:
        with pytest.raises(InputError, match=r"cannot be written: .*No space left") as caught:
            export_analyses(tmp_path / f"x{ending}", {}, rows)
        assert "disk" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_or_foreign_parquet_file_is_an_error(tmp_path: Path) -> None:
    export = read_export(analyses_file())
    export_analyses(tmp_path / "x.parquet", export.settings, export.rows[:20])
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "x.parquet").read_bytes()[:900])
    with pytest.raises(InputError, match="is damaged"):
        read_export(tmp_path / "cut.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    pq.write_table(table.replace_schema_metadata({}), tmp_path / "foreign.parquet")
    with pytest.raises(InputError, match="not an export of analyses"):
        read_export(tmp_path / "foreign.parquet")
    pq.write_table(table.drop_columns(["rank"]), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="the columns are not those"):
        read_export(tmp_path / "other.parquet")


def test_a_bad_row_of_a_parquet_export_is_a_fault_with_its_place(tmp_path: Path) -> None:
    export = read_export(analyses_file())
    export_analyses(tmp_path / "x.parquet", export.settings, export.rows[:3])
    table = pq.read_table(tmp_path / "x.parquet")
    moves = table["move"].to_pylist()
    moves[1][0] = "e9e4"
    column = pa.array(moves, type=table.schema.field("move").type)
    pq.write_table(table.set_column(4, table.schema.field("move"), column), tmp_path / "bad.parquet")
    bad = read_export(tmp_path / "bad.parquet")
    assert len(bad.rows) == 2
    assert [(fault.reason, fault.place) for fault in bad.tally.faults] == [("unreadable analysis", "row 2")]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_store_goes_through_a_file_into_another_store(
    ending: str, batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    with Store(tmp_path / "a.sqlite") as one, Store(tmp_path / "b.sqlite") as other:
        made = analyse(batch, settings=SHALLOW, store=one, engine=fake_engine())
        one.put_many(made.settings, [StoredAnalysis("failed", 2, b"", "failed", "crash")])
        assert export_store(one, choose_settings(one), tmp_path / f"x{ending}") == 8
        seen = import_file(other, tmp_path / f"x{ending}")
        assert (seen.read, seen.new, seen.tally.total, seen.settings) == (8, 8, 0, made.settings)
        assert import_file(other, tmp_path / f"x{ending}").new == 0
        assert {row.origin for row in other.iterate(made.settings)} == {"imported"}
        again = analyse(batch, settings=SHALLOW, store=other, engine=fake_engine())
    assert (again.searched, again.cached) == (0, 8)
    assert np.array_equal(again.lines, made.lines)


def test_answers_that_no_engine_can_have_given_stay_out(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    made = analyse(batch, settings=SHALLOW, engine=fake_engine())
    rows = list(made.rows())
    bad = [
        rows[0]._replace(lines=rows[0].lines[:-1]),
        rows[1]._replace(lines=rows[2].lines),
        rows[3]._replace(n_legal=7),
        rows[4]._replace(fen="nonsense"),
    ]
    export_analyses(tmp_path / "x.jsonl", made.settings, [*bad, rows[5]])
    with Store(tmp_path / "s.sqlite") as store:
        seen = import_file(store, tmp_path / "x.jsonl")
        assert (seen.read, seen.new) == (5, 1)
        assert seen.tally.as_dict() == {"unusable analysis": 4}
        export_analyses(tmp_path / "y.jsonl", made.settings | {"fen_rule": "normalised"}, rows)
        assert import_file(store, tmp_path / "y.jsonl").tally.counts["unusable analysis"] >= 6
        export_analyses(tmp_path / "z.jsonl", {"engine": "X"}, rows)
        with pytest.raises(InputError, match="not the settings of an analysis"):
            import_file(store, tmp_path / "z.jsonl")


def test_of_several_settings_one_must_be_chosen(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(InputError, match="answers of one kind") as caught:
            choose_settings(store)
        assert "there are none" in caught.value.hint
        for depth in (2, 3):
            store.put_many(Settings(depth=depth).key({"engine": "X"}), [StoredAnalysis("fen", 2, b"")])
        with pytest.raises(InputError, match="answers of one kind") as caught:
            choose_settings(store)
        assert "2: X, depth 3, 10 lines" in caught.value.hint
        assert choose_settings(store, 2)["depth"] == 3
        with pytest.raises(InputError, match="no settings with the number 3"):
            choose_settings(store, 3)


def analysed_games(folder: Path, **stated: Any) -> Path:
    """Write three positions as a file of analysed games has them, with what it states of its judge."""
    rows = []
    for ply, row in enumerate(read_export(analyses_file()).rows[:3]):
        values: dict[str, list[list[Any]]] = {}
        for depth, _, move, mate, score in row.lines.tolist():
            values.setdefault(str(depth), []).append([move_uci(move), "mate" if mate else "cp", score])
        played = values["1"][0][0]
        rows.append({"ply": ply, "fen": row.fen, "n_legal": row.n_legal, "played": played, "values": values})
    path = folder / "analysed.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps({"white": "A", "black": "B", **stated, "rows": rows}).encode()))
    return path


def shipped_settings() -> dict[str, Any]:
    return dict(read_export(analyses_file()).settings)


def test_analysed_games_are_read_into_the_store_under_their_key(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        seen = import_file(store, analysed_games(tmp_path, settings=shipped_settings()))
        assert (seen.read, seen.new, seen.tally.total) == (3, 3, 0)
        shipped = read_export(analyses_file())
        assert seen.settings == shipped.settings
        found = store.get_many(shipped.settings, [row.fen for row in shipped.rows])
        assert set(found) == {row.fen for row in shipped.rows[:3]}


def test_analysed_games_of_another_engine_are_stored_as_that_engines(tmp_path: Path) -> None:
    settings = {**shipped_settings(), "engine": "Glaurung 2.2", "net": None}
    with Store(tmp_path / "s.sqlite") as store:
        assert import_file(store, analysed_games(tmp_path, settings=settings)).new == 3
        assert store.all_settings() == [settings]


@pytest.mark.parametrize("stated", [{}, {"engine": "Glaurung 2.2"}])
def test_analysed_games_that_do_not_say_how_they_were_judged_are_never_stored(
    stated: dict[str, str], tmp_path: Path
) -> None:
    path = analysed_games(tmp_path, **stated)
    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(InputError, match="does not say whose answers it holds"):
            import_file(store, path)
        assert store.all_settings() == []
    told = read_analysed(path)
    assert (told.settings["engine"], told.settings["depth"]) == (stated.get("engine"), 10)
    assert decisions(told).about["settings"]["engine"] == stated.get("engine")


def test_who_knows_whose_answers_they_are_may_state_it_but_not_against_the_file(tmp_path: Path) -> None:
    known = shipped_settings()
    assert import_stated(tmp_path, known).settings == known
    with pytest.raises(InputError, match="is not what its answers are said to be"):
        import_stated(tmp_path, known, engine="Glaurung 2.2")


def import_stated(folder: Path, known: dict[str, Any], **stated: Any) -> Imported:
    with Store(folder / "s.sqlite") as store:
        return import_file(store, analysed_games(folder, **stated), known)


@pytest.mark.parametrize("form", ["analysed games", "parquet"])
def test_an_analysis_takes_its_answers_from_any_form_of_file(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/engine")
    path = analysed_games(tmp_path, settings=shipped_settings())
    wanted = read_analysed(path)
    if form == "parquet":
        path = tmp_path / "x.parquet"
        export_analyses(path, wanted.settings, wanted.rows())
    seen = analyse(wanted.positions, imports=[path], store=tmp_path / "s.sqlite")
    assert (seen.searched, seen.cached, seen.imported) == (0, 0, 3)
    assert np.array_equal(seen.lines, wanted.lines)
    assert analyse(wanted.positions, store=tmp_path / "s.sqlite").cached == 3


def test_the_shared_analyses_are_read_into_the_store(shared_data: Path, tmp_path: Path) -> None:
    (path,) = (shared_data / "analysed").glob("*.jsonl.gz")
    with Store(tmp_path / "s.sqlite") as store:
        seen = import_file(store, path, SHARED_ANALYSES)
        assert seen.tally.total == 0
        assert seen.new == seen.read > 10_000


def test_the_group_of_commands_goes_round(tmp_path: Path, fake_engine: Fake) -> None:
    (tmp_path / "games.pgn").write_text('[FEN "7k/p7/8/8/8/8/P7/K7 w - - 0 50"]\n\n50. a4 Kg7 51. a5 Kf6 *\n')
    one, other = ["--store", tmp_path / "one"], ["--store", tmp_path / "other"]
    engine = ["--engine", fake_engine(), "--depth", 2, "--multipv", 2]
    code, _, err = command("analyse", tmp_path / "games.pgn", *engine, *one, "--export", tmp_path / "a.parquet")
    assert code == 0, err
    assert len(read_export(tmp_path / "a.parquet").rows) == 4
    code, out, _ = command("cache", "export", tmp_path / "b.jsonl", *one, "--json")
    assert json.loads(out)["written"] == 4
    code, out, _ = command("cache", "import", tmp_path / "a.parquet", tmp_path / "b.jsonl", *other, "--json")
    assert [(file["read"], file["new"]) for file in json.loads(out)["files"]] == [(4, 4), (4, 0)]
    numbers = json.loads(command("cache", "info", *other, "--json")[1])["store"]
    assert numbers["rows"] == 4
    assert "4" in command("cache", "info", *other)[1]
    sizes = json.loads(command("cache", "vacuum", *other, "--json")[1])
    assert 0 < sizes["bytes_after"] <= sizes["bytes_before"]
    code, out, err = command("analyse", tmp_path / "games.pgn", *engine, *other, "--json")
    assert json.loads(out)["positions"] == {"searched": 0, "cached": 4, "imported": 0, "failed": 0}


@pytest.mark.parametrize("words", [["info"], ["vacuum"], ["export", "x.parquet"]])
def test_a_store_that_is_not_there_is_said_and_not_made(words: list[str], tmp_path: Path) -> None:
    code, out, err = command("cache", *words, "--store", tmp_path / "absent")
    assert (code, out) == (1, "")
    assert "no store at" in err
    assert not (tmp_path / "absent").exists()


def test_vacuum_gives_room_back_and_loses_nothing(shelf: Path) -> None:
    key = {"engine": "X"}
    with Store(shelf) as store:
        store.put_many(key, [StoredAnalysis(f"fen {i}", 2, bytes(2000)) for i in range(200)])
        store._connection.execute("DELETE FROM analysis WHERE problem > 'fen 2'")
        left = len(list(store.iterate(key)))
        sizes = store.vacuum()
        assert sizes["bytes_after"] < sizes["bytes_before"] / 2
        assert sizes["bytes_after"] == shelf.stat().st_size
        assert len(list(store.iterate(key))) == left
    with Store(shelf, read_only=True) as store, pytest.raises(StoreError, match="cannot be written"):
        store.vacuum()


def test_vacuum_says_where_the_file_is_damaged(shelf: Path) -> None:
    with Store(shelf) as store:
        store.put_many({"engine": "X"}, [StoredAnalysis(f"fen {i}", 2, os.urandom(3000)) for i in range(100)])
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    data = bytearray(shelf.read_bytes())
    data[40_960:61_440] = bytes(20_480)
    shelf.write_bytes(data)
    with Store(shelf) as store, pytest.raises(StoreError, match="is damaged"):
        store.vacuum()


def _write(path: Path, count: int) -> None:
    """Write so many rows; half-way wait until somebody has read."""
    with Store(path) as store:
        for i in range(count):
            while i == count // 2 and not path.with_suffix(".read").exists():
                time.sleep(0.01)
            store.put_many({"engine": "X"}, [StoredAnalysis(f"fen {i:06d}", 2, bytes(300))])


def test_a_reader_in_another_process_sees_whole_answers_while_a_writer_writes(shelf: Path) -> None:
    Store(shelf).close()
    writer = multiprocessing.get_context("spawn").Process(target=_write, args=(shelf, 1500))
    writer.start()
    seen = [0]
    while writer.is_alive() or seen[-1] < 1500:
        with Store(shelf, read_only=True) as reader:
            rows = list(reader.iterate({"engine": "X"}))
        assert [row.problem for row in rows] == [f"fen {i:06d}" for i in range(len(rows))]
        assert all(len(row.lines) == 300 for row in rows)
        seen.append(len(rows))
        if rows:
            shelf.with_suffix(".read").touch()
    writer.join()
    assert writer.exitcode == 0
    assert seen == sorted(seen)
    assert any(0 < count < 1500 for count in seen), "it read while the other wrote"


def test_a_full_disk_stops_the_analysis_with_a_message_and_the_next_run_goes_on(
    batch: Positions, fake_engine: Fake, shelf: Path
) -> None:
    engine, seen = fake_engine(), [0]
    with Store(shelf) as store:
        key = analyse(batch.select([0]), settings=SHALLOW, store=store, engine=engine).settings
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        store.put_many(key, [StoredAnalysis(f"filler {i}", 2, bytes(300), "failed") for i in range(5)])
        with pytest.raises(StoreError, match="the disk is full") as caught:
            fill(store, batch, engine, seen)
        assert "is kept" in caught.value.hint
        last = Settings.from_key(store.all_settings()[-1])
        kept = store.get_many(store.all_settings()[-1], batch.fen.to_pylist())
        assert len(kept) == seen[-1] < 8
        store._connection.execute("PRAGMA max_page_count = 1000000")
        again = analyse(batch, settings=last, store=store, engine=engine)
    assert (again.searched, again.cached) == (8 - seen[-1], seen[-1])
    assert_sound(shelf)


def fill(store: Store, batch: Positions, engine: Path, seen: list[int]) -> None:
    """Analyse under one key after another, until there is no room."""
    for hash_mb in range(1, 100):
        settings = Settings(depth=2, multipv=3, hash_mb=hash_mb)
        analyse(batch, settings=settings, store=store, engine=engine, progress=lambda now: seen.append(now.done))


def assert_sound(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_store_that_may_only_be_read_answers_and_says_at_once_that_nothing_can_be_kept(
    batch: Positions, fake_engine: Fake, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse(batch.select([0, 1]), settings=SHALLOW, store=shelf, engine=fake_engine())
    before = shelf.read_bytes()
    may = os.access  # the tests may run as root, who may do everything
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and may(path, mode))
    again = analyse(batch.select([0, 1]), settings=SHALLOW, store=shelf, engine=fake_engine())
    assert (again.searched, again.cached) == (0, 2)
    seen: list[Progress] = []
    with pytest.raises(StoreError, match="cannot be written") as caught:
        analyse(batch, settings=SHALLOW, store=shelf, engine=fake_engine(), progress=seen.append)
    assert "permissions" in caught.value.hint
    assert [now.searched for now in seen] == [0]
    assert shelf.read_bytes() == before
