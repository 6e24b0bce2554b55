"""How far a command walks: what reading a table imports, and how often rating a game builds a board."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.decision.text import write_decisions
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices

GAME = '[White "Ann"]\n[Black "Bob"]\n[FEN "7k/p7/8/8/8/8/P7/K7 w - - 0 50"]\n\n50. a4 Kg7 51. a5 Kf6 52. Kb2 Ke5 *\n'
PLIES = 6
LOOKS_AT_A_START = 4

ASKED_OF_AN_ENGINE = {"skilloscope.chess", "skilloscope.chess.engine", "skilloscope.chess.engine.settings"}


def test_a_table_is_read_without_anything_of_games_or_engines(tmp_path: Path) -> None:
    table = tmp_path / "d.parquet"
    rng = np.random.default_rng(1)
    batch = simulate_choices(made_up_spreads(60, rng=rng), 1.0, rng=rng)
    write_decisions(replace(batch, about={"domain": "chess"}), table)
    code = (
        "import sys\nfrom skilloscope.cli.app import app\n"
        f"app(['papers', 'ipr', {str(table)!r}, '--by', 'player', '--json'], standalone_mode=False)\n"
        "print(*(name for name in sys.modules if name == 'chess' or name.startswith(('chess.', 'skilloscope.chess'))),"
        " 'skilloscope.store' in sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)
    assert ran.returncode == 0, ran.stderr
    *loaded, store = ran.stderr.splitlines()[-1].split()
    assert set(loaded) <= ASKED_OF_AN_ENGINE
    assert store == "False"


@pytest.fixture
def rate_again(tmp_path: Path, fake_engine: Callable[[str], Path]) -> Callable[[], Any]:
    """Rate a small game once, so that its answers are known, and give a way to rate it again."""
    (tmp_path / "games.pgn").write_text(GAME)
    engine = ["--engine", str(fake_engine("")), "--depth", "2", "--multipv", "2", "--workers", "1"]

    def run() -> Any:
        ran = CliRunner().invoke(app, ["rate", str(tmp_path / "games.pgn"), *engine, "--json"])
        assert ran.exit_code == 0, ran.stderr
        return ran

    run()
    return run


def test_rate_builds_every_board_once(rate_again: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    built: Counter[str] = Counter()
    begin, push = chess.Board.__init__, chess.Board.push

    def counted_begin(board: chess.Board, *given: Any, **named: Any) -> None:
        built["begun"] += 1
        begin(board, *given, **named)

    def counted_push(board: chess.Board, move: chess.Move) -> None:
        built["pushed"] += 1
        push(board, move)

    monkeypatch.setattr(chess.Board, "__init__", counted_begin)
    monkeypatch.setattr(chess.Board, "push", counted_push)
    rate_again()
    # The human model looks at the position that a game starts from, once for all games that start there.
    assert built["pushed"] == PLIES
    assert built["begun"] <= 1 + LOOKS_AT_A_START
