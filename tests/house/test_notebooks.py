"""The notebooks of the documentation run, from the first cell to the last, in an empty folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_is_a_notebook_for_each_of_four_readers():
    assert [path.stem for path in NOTEBOOKS] == ["domain", "event", "federation", "player"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    for package in ("pandas", "polars"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    space: dict[str, Any] = {}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        assert not cell.get("outputs"), "notebooks are kept without outputs"
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), space)
    plt.close("all")
    if path.stem == "federation":
        assert space["share"] > 0.8
    if path.stem == "domain":
        means = {name: found.mean for name, found in space["posteriors"].items()}
        assert means["Ann"] > means["Bo"] > means["Cy"]
