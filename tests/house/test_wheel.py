"""The wheel holds everything: installed outside the checkout it runs the demo from its own data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def built(root: Path, folder: Path) -> dict[str, Path]:
    """Build the wheel and the source distribution of a tree; return them by their endings."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return {file.suffix: file for file in folder.iterdir()}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return built(ROOT, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def wheel(files: dict[str, Path]) -> Path:
    return files[".whl"]


def test_what_is_built_from_the_sources_that_ship_is_the_same_to_the_bit(files, tmp_path):
    with tarfile.open(files[".gz"]) as packed:
        packed.extractall(tmp_path, filter="data")
    again = built(next(tmp_path.iterdir()), tmp_path / "again")
    assert {kind: sha256(file.read_bytes()).hexdigest() for kind, file in again.items()} == {
        kind: sha256(file.read_bytes()).hexdigest() for kind, file in files.items()
    }


def test_the_wheel_carries_data_templates_and_types(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "data/demo/simulated.pgn",
        "data/demo/gallery.jsonl.gz",
        "data/demo/analyses.jsonl.gz",
        "data/scales/default.json",
        "py.typed",
    ):
        assert f"skilloscope/{name}" in names
    assert {"skilloscope/data/human.onnx", "skilloscope/data/human.json"} <= names
    assert "skilloscope/report/templates/page.html" in names
    assert {"skilloscope/web/templates/game.html", "skilloscope/web/static/vendor/chessground.min.js"} <= names
    assert not any("test" in name or "shared" in name for name in names)


def test_the_demo_runs_from_the_wheel_in_an_empty_environment(wheel, tmp_path):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    site = next((environment / "lib").glob("python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    # The dependencies come from this environment, appended behind: only skilloscope itself is under test.
    others = tmp_path / "others"
    others.mkdir()
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "skilloscope" not in entry.name:
            (others / entry.name).symlink_to(entry)
    (site / "others.pth").write_text(f"{others}\n")
    code = "import sys; from skilloscope.cli.app import main; sys.argv = ['skilloscope', 'demo', '--json']; main()"
    done = subprocess.run(
        [str(python), "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "STOCKFISH_EXECUTABLE": "/nowhere", "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["positions"]["imported"] > 300
    assert (tmp_path / "demo.html").is_file()


def test_the_bill_of_materials_names_every_pin_with_its_hashes() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "sbom.py"], check=True, capture_output=True, text=True)
    pins = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    parts = json.loads(done.stdout)["components"]
    assert len(parts) == len(re.findall(r"^[\w.-]+==", pins, re.MULTILINE))
    assert sum(len(part["hashes"]) for part in parts) == pins.count("--hash=")
    assert all(part["hashes"] for part in parts)
