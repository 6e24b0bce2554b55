"""The human model's memory: the same bits from the file, nothing computed twice, and no harm where it fails."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import CachedHuman, Network, cached_human, human, position_keys
from skilloscope.cli.app import app
from skilloscope.models.joint import HumanChoices
from skilloscope.store import Store
from skilloscope.web.jobs import Jobs

from .positions import random_boards

pytest.importorskip("onnxruntime")


@pytest.fixture
def boards() -> Boards:
    return Boards.from_boards(random_boards(1, seed=3)[:40])


def same(one: HumanChoices, other: HumanChoices) -> bool:
    names = ("offsets", "moves", "coefficients")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def count_maps(model: CachedHuman, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many positions the network is asked about."""
    asked: list[int] = []
    honest = model.network.maps
    monkeypatch.setattr(model.network, "maps", lambda planes, pool: asked.append(len(planes)) or honest(planes, pool))
    return asked


def test_what_is_read_back_is_what_was_computed_to_the_bit(tmp_path, boards, monkeypatch):
    model = cached_human(tmp_path / "analyses.sqlite")
    assert isinstance(model, CachedHuman)
    asked = count_maps(model, monkeypatch)
    plain = human().choices(boards)
    asked.clear()
    assert same(model.choices(boards), plain)
    assert sum(asked) == 40
    assert same(cached_human(tmp_path / "analyses.sqlite").choices(boards), plain)
    assert sum(asked) == 40
    order = np.random.default_rng(1).permutation(40)
    assert same(model.choices(boards[order]), human().choices(boards[order]))


def test_a_position_that_occurs_twice_is_computed_once(tmp_path, boards, monkeypatch):
    model = CachedHuman(human().network, tmp_path / "human.sqlite")
    asked = count_maps(model, monkeypatch)
    twice = boards[np.tile(np.arange(10), 2)]
    found = model.choices(twice)
    assert sum(asked) == 10
    assert same(found, human().choices(twice))


def test_another_model_has_answers_of_its_own(tmp_path, boards):
    path = tmp_path / "human.sqlite"
    CachedHuman(human().network, path).choices(boards)
    other = Network(human().network.weights + b" ", {})
    with Store(path) as shelf:
        assert len(shelf.get_many(CachedHuman(human().network, path).key, position_keys(boards))) == 40
        assert shelf.get_many(CachedHuman(other, path).key, position_keys(boards)) == {}


def test_a_file_that_cannot_be_used_costs_nothing_but_time(tmp_path, boards):
    path = tmp_path / "human.sqlite"
    path.write_text("no store")
    assert same(CachedHuman(human().network, path).choices(boards), human().choices(boards))
    assert path.read_text() == "no store"


def test_a_flipped_bit_changes_no_answer_and_is_counted(tmp_path, boards):
    plain, path = human().choices(boards), tmp_path / "analyses.sqlite"
    cached_human(path).choices(boards)
    bits = np.random.default_rng(5)
    clean, damaged = (tmp_path / "human.sqlite").read_bytes(), 0
    for _ in range(25):
        flipped = bytearray(clean)
        flipped[bits.integers(len(clean))] ^= 1 << int(bits.integers(8))
        (tmp_path / "human.sqlite").write_bytes(flipped)
        model = cached_human(path)
        assert isinstance(model, CachedHuman)
        assert same(model.choices(boards), plain)
        damaged += model.damaged
    assert damaged > 5


def test_the_check_of_the_cache_covers_what_people_play_and_the_queue(tmp_path, boards):
    Store(tmp_path / "analyses.sqlite").close()
    cached_human(tmp_path / "analyses.sqlite").choices(boards)
    (tmp_path / "web").mkdir()
    jobs = Jobs(tmp_path / "web" / "jobs.sqlite")
    jobs.add("games", "x", [("x", b"1. e4")])
    jobs.close()
    check = ["cache", "check", "--store", str(tmp_path), "--json"]
    assert CliRunner().invoke(app, check).exit_code == 0
    for path, change in (("human.sqlite", "analysis SET nodes = 1"), ("web/jobs.sqlite", "inputs SET body = x'31'")):
        with closing(sqlite3.connect(tmp_path / path)) as base, base:
            base.execute(f"UPDATE {change} WHERE rowid = 1" if "inputs" in change else f"UPDATE {change}")
    done = CliRunner().invoke(app, check)
    assert done.exit_code == 1
    found = [one["reason"] for one in json.loads(done.stdout)["damaged"]]
    assert found == ["damaged, to be computed again"] * 40 + ["damaged work"]


def test_whatever_the_network_sees_is_in_the_key(boards):
    rows = boards[np.arange(2)]
    for name in ("rights", "passant", "past", "ply", "black"):
        changed = rows[np.arange(2)]
        getattr(changed, name)[0] ^= 1
        keys, before = position_keys(changed), position_keys(rows)
        assert keys[0] != before[0], name
        assert keys[1] == before[1]


def test_nothing_is_kept_without_a_store_and_no_positions_are_no_error(tmp_path):
    assert cached_human(None).network is human().network
    nothing = Boards.from_boards([])
    assert len(CachedHuman(human().network, tmp_path / "human.sqlite").choices(nothing)) == 0
    assert position_keys(nothing) == []


def test_progress_counts_positions(tmp_path, boards):
    told: list[int] = []
    CachedHuman(human().network, tmp_path / "human.sqlite").choices(boards, progress=told.append)
    assert told == [40]
