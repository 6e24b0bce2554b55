"""Breakdown by the agent: groups are shrunk towards each other as far as the evidence says, and no more."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from skilloscope.chess.pgn.facts import PHASES, phases_of, piece_value
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.evidence import Evidence, Grid
from skilloscope.evidence.lattice import pool_groups
from skilloscope.inputs.bundled import analyses_file, demo_file
from skilloscope.models.agent import probability
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices
from skilloscope.studies.breakdown import EVERYBODY, breakdown, entropies

GRID = Grid(0.0, 4.0, 96)


def normal_evidence(mean: float, sd: float) -> Evidence:
    return Evidence(GRID, -0.5 * ((GRID.nodes - mean) / sd) ** 2, 10)


def groups_of(players: int, spread: float, rng: np.random.Generator, sd: float = 0.1) -> tuple[list, np.ndarray]:
    """Return the evidence of four groups of each player, and their true competence."""
    truth = rng.uniform(1.0, 3.0, (players, 1)) + rng.normal(0, spread, (players, 4))
    seen = truth + rng.normal(0, sd, truth.shape)
    return [[normal_evidence(mean, sd) for mean in row] for row in seen.tolist()], truth


class TestPooling:
    def test_the_sd_between_groups_is_recovered(self):
        sets, _ = groups_of(25, 0.15, np.random.default_rng(1))
        _, fit = pool_groups(sets)
        assert fit.high is not None
        assert fit.low < 0.15 < fit.high
        assert fit.sd == pytest.approx(0.15, rel=0.25)

    def test_pooled_estimates_are_nearer_the_truth_and_their_intervals_cover(self):
        sets, truth = groups_of(30, 0.05, np.random.default_rng(2))
        found, _ = pool_groups(sets)
        alone = np.array([[one.mean for one in player.alone] for player in found])
        pooled = np.array([[one.mean for one in player.pooled] for player in found])
        assert ((pooled - truth) ** 2).mean() < 0.7 * ((alone - truth) ** 2).mean()
        bounds = np.array([[one.interval(0.8) for one in player.pooled] for player in found])
        cover = ((bounds[..., 0] <= truth) & (truth <= bounds[..., 1])).mean()
        assert 0.68 < cover < 0.92

    def test_groups_that_are_the_same_are_as_good_as_one_and_those_far_apart_stay_apart(self):
        (same,), fit = pool_groups([[normal_evidence(1.2, 0.1)] * 6])
        assert fit.low == 0.0
        assert same.pooled[0].sd < 0.06
        (apart,), _ = pool_groups(
            [[normal_evidence(1.0, 0.05), normal_evidence(2.0, 0.05), normal_evidence(3.0, 0.05)]]
        )
        assert [one.mean for one in apart.pooled] == pytest.approx([1.0, 2.0, 3.0], abs=0.02)

    def test_a_group_with_little_evidence_goes_to_the_others(self):
        (found,), _ = pool_groups(
            [[normal_evidence(1.0, 0.05), normal_evidence(1.02, 0.05), normal_evidence(2.0, 0.8)]]
        )
        assert found.alone[2].mean > 1.8
        assert found.pooled[2].mean < 1.4

    def test_one_group_tells_nothing_of_what_lies_between(self):
        with pytest.raises(InputError, match="single group"):
            pool_groups([[normal_evidence(1.0, 0.1)]])


class TestPhases:
    def test_the_start_is_a_full_board_and_bare_kings_are_an_endgame(self):
        assert phases_of([chess.STARTING_FEN, "8/8/4k3/8/8/4K3/8/8 w - - 0 1", None]).tolist() == [
            PHASES[0],
            PHASES[2],
            None,
        ]

    @given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60))
    def test_material_only_falls_but_by_promotion_so_phases_follow_each_other(self, picks):
        board, last = chess.Board(), 0
        for pick in picks:
            legal = [move for move in board.legal_moves if not move.promotion]
            if not legal:
                break
            board.push(legal[pick % len(legal)])
            now = PHASES.index(str(phases_of([board.fen()])[0]))
            assert now >= last
            last = now
        assert piece_value(board.fen()) <= 62


def batch_of(c: dict[str, float], n: int, seed: int = 4) -> Decisions:
    """Return simulated decisions whose competence depends on the column `kind`."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(list(c), n)
    batch = simulate_choices(made_up_spreads(len(kinds), rng=rng), np.repeat(list(c.values()), n), rng=rng)
    clock = rng.uniform(0, 2000, len(kinds)).astype(np.float32)
    return replace(batch, context={"kind": kinds, "mover": np.where(kinds == "a", "white", "black"), "clock": clock})


class TestDimensions:
    def test_competence_by_any_column_is_recovered(self):
        found = breakdown(batch_of({"a": 0.8, "b": 1.6}, 1500), by="kind")
        player = found.players[0]
        assert player.player == EVERYBODY
        assert [group.group for group in player.groups] == ["a", "b"]
        assert player.groups[0].part.posterior.mean == pytest.approx(0.8, abs=0.12)
        assert player.groups[1].part.posterior.mean == pytest.approx(1.6, abs=0.15)
        json.dumps(found.as_dict(), allow_nan=False)

    def test_colour_clock_and_complexity_are_dimensions_and_what_is_unknown_is_counted(self):
        batch = batch_of({"a": 1.0, "b": 1.0}, 300)
        assert [g.group for g in breakdown(batch, by="colour").players[0].groups] == ["white", "black"]
        clock = breakdown(batch, by="time-left").players[0].groups
        assert sum(group.part.decisions for group in clock) == 600
        quarters = breakdown(batch, by="complexity").players[0].groups
        assert [group.part.decisions for group in quarters] == [150] * 4
        unknown = replace(batch, context={"clock": [None] * 300 + [20.0, 400.0] * 150})
        assert breakdown(unknown, by="time-left").as_dict()["skipped"] == {"no time-left": 300}
        with pytest.raises(InputError, match="no column 'phase of the moon'"):
            breakdown(batch, by="phase of the moon")
        with pytest.raises(InputError, match="Eve"):
            breakdown(batch, by="colour", players=["Eve"])

    def test_the_agents_own_choices_have_the_same_competence_at_every_complexity(self):
        found = breakdown(batch_of({"a": 1.2}, 4000), by="complexity")
        for group in found.players[0].groups:
            assert abs(group.part.alone.mean - 1.2) < 4 * group.part.alone.sd

    def test_entropy_is_that_of_the_agents_probabilities(self):
        batch = Decisions.from_lists(["Ann", "Ann"], [[0.0, -0.1, -2.0], [0.0, 0.0]], [0, 1])
        p = probability([0.0, 0.1, 2.0], 1.3)
        assert entropies(batch, 1.3) == pytest.approx([-(p * np.log(p)).sum(), np.log(2)])
        assert entropies(batch, 1e4)[0] == pytest.approx(0.0, abs=1e-12)

    def test_the_page_shows_every_group(self):
        found = breakdown(batch_of({"a": 0.8, "b<": 1.6}, 200), by="kind")
        page = found.page("simulated")
        assert "Competence by kind" in page
        assert "b&lt;" in page
        assert "between parts: sd" in page
        assert len(found.tables()[0].rows) == 2
        assert found.to_arrow().column("group").to_pylist() == ["a", "b<"]

    def test_independent_parts_are_the_groups_alone_and_the_heading_says_so(self):
        batch = batch_of({"a": 0.8, "b": 1.6}, 200)
        pooled, alone = breakdown(batch, "kind"), breakdown(batch, "kind", parts="independent")
        assert "pooled towards the common level" in pooled.tables()[0].title
        assert "each part rated independently" in alone.tables()[0].title
        assert alone.spread is None
        for one, other in zip(pooled.groups, alone.groups, strict=True):
            assert other.part.posterior.mean == pytest.approx(one.part.alone.mean)
        with pytest.raises(InputError, match="no model of parts"):
            breakdown(batch, "kind", parts="separate")


def test_the_command_tells_the_phases_of_shipped_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    page = tmp_path / "page.html"
    common = ["breakdown", str(demo_file("simulated.pgn")), "--import", str(analyses_file()), "--method", "agent"]
    done = CliRunner().invoke(app, [*common, "--by", "phase", "--json", "--html", str(page)], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    groups = json.loads(done.stdout)["players"][0]["groups"]
    assert [group["group"] for group in groups] == list(PHASES)
    assert "full board" in page.read_text()
    for wrong in (["--by", "weather"], ["--level", "1"], ["--dispersion", "0"]):
        assert CliRunner().invoke(app, [*common, *wrong], catch_exceptions=False).exit_code == 2
