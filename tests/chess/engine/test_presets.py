"""The settings of the papers by name, and which positions each of them searches."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skilloscope as sk
from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.analysis.analyses import decisions
from skilloscope.chess.engine.settings import PRESETS, Settings, preset
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.errors import InputError

# A fool's mate, and a game that stops where there are moves left.
PGN = """[White "Ann"]
[Black "Bob"]

1. f3 e5 2. g4 Qh4# 0-1

[White "Bob"]
[Black "Ann"]

1. e4 {[%clk 0:05:00]} e5 2. Nf3 {[%clk 0:04:00]} *
"""


@pytest.mark.parametrize(
    ("name", "limit", "multipv"),
    [
        ("DFH13", "depth 10", 10),
        ("RH11", "depth 13", 50),
        ("RH11-single", "depth 13", 1),
        ("FER12", "depth 20", 1),
        ("full", "depth 10", 500),
        ("nodes-50k", "nodes 50000", 10),
        ("nodes-1M", "nodes 1000000", 10),
        ("nodes-1234", "nodes 1234", 10),
    ],
)
def test_a_preset_is_what_its_paper_says(name: str, limit: str, multipv: int) -> None:
    settings = preset(name)
    assert (settings.limit, settings.multipv, settings.hash_mb) == (limit, multipv, 16)
    assert settings.scope == ("every position" if name == "FER12" else "decisions")


def test_the_presets_are_at_the_top() -> None:
    named = (sk.DFH13, sk.RH11, sk.RH11_SINGLE, sk.FER12, sk.FULL)
    assert named == tuple(sk.preset(name) for name in ("DFH13", "RH11", "RH11-single", "FER12", "full"))
    assert sk.Settings() == sk.DFH13


@pytest.mark.parametrize("name", ["dfh13", "nodes-", "nodes-0", "nodes-5G", "RH12"])
def test_an_unknown_preset_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match="no preset") as caught:
        preset(name)
    assert all(known in caught.value.hint for known in PRESETS)


def test_the_scope_is_no_part_of_the_key_and_a_key_gives_its_settings_back() -> None:
    identity = {"engine": "X", "net": None}
    assert sk.FER12.key(identity) == Settings(depth=20, multipv=1).key(identity)
    for settings in (sk.RH11, preset("nodes-7"), Settings(depth=3, fen_rule="normalised", options={"ponder": "true"})):
        assert Settings.from_key(settings.key(identity)) == settings
    with pytest.raises(InputError, match="not the settings"):
        Settings.from_key({"engine": "X"})
    with pytest.raises(InputError, match="no scope"):
        Settings(scope="some")  # type: ignore[arg-type]


def test_every_position_is_before_and_after_every_move_where_there_is_a_move_left() -> None:
    batch = positions(read_games(io.StringIO(PGN)), scope="every position")
    assert batch.game.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert batch.ply.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert (batch.played == 0).tolist() == [False] * 7 + [True]
    assert batch.mover.tolist() == [0, 1] * 4
    assert batch.tally.as_dict() == {"game over": 1}
    assert batch.clock[4] == 300
    assert np.isnan(batch.clock[-1])


def test_a_players_positions_are_those_before_and_after_that_players_moves() -> None:
    batch = positions(read_games(io.StringIO(PGN)), scope="every position", player="Ann")
    assert list(zip(batch.game.tolist(), batch.ply.tolist(), strict=True)) == [
        *((0, ply) for ply in range(4)),
        *((1, ply) for ply in (1, 2)),
    ]
    bobs = positions(read_games(io.StringIO(PGN)), scope="every position", player="Bob")
    assert [ply for game, ply in zip(bobs.game.tolist(), bobs.ply.tolist(), strict=True) if game == 1] == [0, 1, 2, 3]


def test_the_position_after_the_last_move_is_analysed_but_no_decision(fake_engine: Callable[..., Path]) -> None:
    settings = Settings(depth=2, multipv=2, scope="every position")
    analyses = analyse(read_games(io.StringIO(PGN)), settings=settings, engine=fake_engine())
    assert len(analyses) == 8
    assert analyses.answered.all()
    batch = decisions(analyses)
    assert len(batch) == 7
    assert batch.tally.as_dict() == {"game over": 1}


def test_a_forced_move_is_a_position_but_no_decision(fake_engine: Callable[..., Path]) -> None:
    forced = '[White "Ann"]\n[Black "Bob"]\n[FEN "k7/8/8/8/8/8/1r6/K7 w - - 0 50"]\n\n50. Kxb2 *\n'
    settings = Settings(depth=2, multipv=2, scope="every position")
    analyses = analyse(read_games(io.StringIO(forced)), settings=settings, engine=fake_engine())
    assert analyses.positions.n_legal.tolist() == [1, 3]
    assert len(decisions(analyses)) == 0
    assert decisions(analyses).tally.as_dict() == {"forced": 1}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"preset": "RH11"}, Settings(depth=13, multipv=50)),
        ({"preset": "RH11", "multipv": 20, "hash": 64}, Settings(depth=13, multipv=20, hash_mb=64)),
        ({"preset": "RH11", "nodes": 500}, Settings(depth=None, nodes=500, multipv=50)),
        ({"preset": "nodes-50k", "depth": 4}, Settings(depth=4)),
        ({}, Settings(depth=7, multipv=3)),
    ],
)
def test_a_preset_goes_over_the_settings_file_and_a_flag_over_the_preset(
    flags: dict[str, Any], expected: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skilloscope.cli.options import EngineOptions
    from skilloscope.cli.request import working

    (tmp_path / "skilloscope.toml").write_text("depth = 7\nmultipv = 3\nworkers = 4\n")
    monkeypatch.chdir(tmp_path)
    with working(EngineOptions(**flags)) as work:
        assert work.settings == expected
        assert work.workers == 4
    with pytest.raises(InputError, match="one limit"), working(EngineOptions(depth=3, nodes=5)):
        pass


def test_the_command_line_knows_the_presets(tmp_path: Path, fake_engine: Callable[..., Path]) -> None:
    from typer.testing import CliRunner

    from skilloscope.cli.app import app

    (tmp_path / "games.pgn").write_text(PGN)
    command = ["analyse", str(tmp_path / "games.pgn"), "--engine", str(fake_engine()), "--json"]
    report = json.loads(CliRunner().invoke(app, [*command, "--preset", "FER12", "--depth", "2"]).stdout)
    assert (report["engine"]["depth"], report["engine"]["multipv"], report["positions"]["searched"]) == (2, 1, 7)
    single = CliRunner().invoke(app, ["rate", *command[1:], "--preset", "RH11-single"])
    assert single.exit_code == 2
    assert "one line is not a choice set" in single.stderr
    refused = CliRunner().invoke(app, [*command, "--preset", "RH99"])
    assert refused.exit_code == 2
    assert "nodes-20k" in refused.stderr
