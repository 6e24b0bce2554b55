"""The analyses in measurements/ can be read, hold no names, are named in the README there, and stay small."""

from __future__ import annotations

from pathlib import Path

from skilloscope.chess.analysis.files import import_file
from skilloscope.store import Store

FOLDER = Path(__file__).resolve().parents[2] / "measurements"
LIMIT = 30_000_000
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.name != "README.md")


def test_all_measurements_together_stay_under_the_limit() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= LIMIT


def test_the_readme_names_every_file_and_no_other() -> None:
    rows = [row for row in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines() if row.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [str(path.relative_to(FOLDER)) for path in FILES]


def test_every_measurement_reads_whole_into_a_store_of_its_own(tmp_path: Path) -> None:
    for number, path in enumerate(FILES):
        with Store(tmp_path / f"{number}.sqlite") as store:
            seen = import_file(store, path)
        assert seen.tally.faults == [], path.name
        assert seen.new == seen.read > 0, path.name
        assert seen.settings["engine"], path.name
