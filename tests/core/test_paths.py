"""Files that are written: whole or not at all, never over what is read, and refused before the work."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from skilloscope.core import paths
from skilloscope.core.errors import InputError
from skilloscope.core.paths import appearing, check_outputs, check_writable, write_whole
from skilloscope.core.table_files import write_table
from skilloscope.decision import Decisions
from skilloscope.decision.text import write_decisions
from skilloscope.evidence import agent_evidence
from skilloscope.evidence.table import write_evidence
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.saved import SavedRatings, save_ratings
from skilloscope.results.periods import PeriodGames
from skilloscope.simulate.deciders import made_up_spreads

SOURCE = Path(paths.__file__).resolve().parents[1]


def spreads() -> Decisions:
    return made_up_spreads(10, rng=np.random.default_rng(0))


def kept() -> SavedRatings:
    games = PeriodGames.build(
        np.array([0, 1]), np.array([1, 2]), np.array([1.0, 0.0]), np.array([0, 1]), players=("A", "B", "C")
    )
    model = Periods(sigma0=200, nu=30, smoothing=None).fit(games)
    assert isinstance(model.filtered_, History)
    return SavedRatings(model.state_, model.filtered_)


WRITERS = {
    "page.html": lambda path: write_whole(path, "<html>"),
    "table.csv": lambda path: write_table(pa.table({"a": [1]}), path),
    "table.parquet": lambda path: write_table(pa.table({"a": [1]}), path),
    "decisions.csv": lambda path: write_decisions(spreads(), path),
    "decisions.jsonl": lambda path: write_decisions(spreads(), path),
    "decisions.parquet": lambda path: write_decisions(spreads(), path),
    "evidence": lambda path: write_evidence(agent_evidence(spreads()), path),
    "state": lambda path: save_ratings(kept(), path),
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_good_file_as_it_was(tmp_path, monkeypatch, name):
    made: list[Path] = []

    def no_room(real: Path) -> Path:
        made.append(real.with_name("part"))
        made[-1].symlink_to("/dev/full")
        return made[-1]

    (tmp_path / name).write_text("good")
    monkeypatch.setattr(paths, "_part", no_room)
    monkeypatch.setattr(paths, "check_writable", lambda _: None)
    for module in ("skilloscope.decision.text", "skilloscope.core.table_files"):
        monkeypatch.setattr(f"{module}.check_writable", lambda _: None)
    with pytest.raises(InputError, match=r"cannot be written: .*No space left"):
        WRITERS[name](tmp_path / name)
    assert made
    assert (tmp_path / name).read_text() == "good"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_nothing_in_the_source_writes_a_file_in_its_place():
    """Whatever opens a file for writing takes the path of a part that `appearing` gives."""
    writing = ("write_text(", '.open("w', 'open(path, "w', "write_bytes(")
    found = {
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if any(word in line for word in writing) and "part." not in line and "devnull" not in line
    }
    assert found == set()


def broken_off(path: Path, error: type[BaseException]) -> None:
    with appearing(path) as part:
        part.write_text("half")
        raise error


def test_an_error_or_a_kill_by_the_keyboard_changes_nothing(tmp_path):
    (tmp_path / "page").write_text("old")
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            broken_off(tmp_path / "page", error)
    assert (tmp_path / "page").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_keeps_its_rights_and_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "fresh", "new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


def test_a_device_is_written_as_it_is():
    check_writable(Path("/dev/null"))
    write_whole("/dev/null", "nothing")
    assert not Path("/dev/null").is_file()


def test_a_name_as_long_as_the_disk_allows_can_be_written(tmp_path):
    write_whole(tmp_path / ("ж" * 127), "long")
    assert (tmp_path / ("ж" * 127)).read_text() == "long"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder in which nobody may write")
def test_a_folder_that_takes_no_file_is_refused_before_the_work():
    with pytest.raises(InputError, match="cannot be written") as caught:
        check_writable(Path("/proc/self/page.html"))
    assert caught.value.hint


def test_an_output_is_never_an_input_by_whatever_name(tmp_path):
    games = tmp_path / "games.pgn"
    games.write_text("1. e4 *")
    (tmp_path / "link").symlink_to(games)
    (tmp_path / "hard").hardlink_to(games)
    for name in (games, tmp_path / "x" / ".." / "games.pgn", tmp_path / "link", tmp_path / "hard"):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(InputError, match="written over what is read") as caught:
            check_outputs([name], [games])
        assert caught.value.hint
    with pytest.raises(InputError, match="written twice"):
        check_outputs([tmp_path / "new", tmp_path / "x" / ".." / "new"], [games])
    check_outputs([tmp_path / "new", Path("/dev/null"), Path("/dev/null")], [games, "no file"])
