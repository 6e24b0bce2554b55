"""Tables of results that several files of tests read; nobody writes to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from results_runs import run
from skilloscope.models.paired_comparison import davidson, elo_expected


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with simulated results and their truth."""
    made = tmp_path_factory.mktemp("results")
    sizes = ["--players", "40", "--games", "4000", "--periods", "10", "--seed", "3"]
    run("simulate", *sizes, "--out", made / "r.csv", "--truth", made / "truth.csv")
    return made


@pytest.fixture(scope="session")
def first_movers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in which the first player has 60 Elo more than his strength, and a third of the games are drawn."""
    rng = np.random.default_rng(4)
    strength = rng.normal(1500, 150, 20)
    one = rng.integers(0, 20, 6000)
    two = (one + rng.integers(1, 20, 6000)) % 20
    win, draw, _ = davidson(elo_expected(strength[one] + 60, strength[two]), 1.0)
    u = rng.random(6000)
    score = np.where(u < win, 1.0, np.where(u < win + draw, 0.5, 0.0))
    path = tmp_path_factory.mktemp("first") / "r.csv"
    lines = [f"{i // 1000 + 1},p{a:02d},p{b:02d},{s}" for i, (a, b, s) in enumerate(zip(one, two, score, strict=True))]
    path.write_text("\n".join(["period,player_1,player_2,score", *lines]) + "\n")
    return path
