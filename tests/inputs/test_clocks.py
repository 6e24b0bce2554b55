"""Clocks as evidence: how long moves took, given the time control and what was left."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest

import skilloscope as sk
from skilloscope.chess.human.played import TIMED, move_times, observed_evidence, played_moves
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.evidence.axis import CLOCKS, elo_axis
from skilloscope.models.bins import TIME_FEATURES

POOL = "chesscom-bullet"
_SPANISH = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7 Nbd2 Bb7 Bc2 Re8 Nf1 Bf8 Ng3 g6 Bg5 h6 "
    "Bd2 Bg7"
)
MOVES = _SPANISH.split(" ")


def game(white: float, black: float, control: str = "120+1", *, clocks: bool = True) -> str:
    """A game of Chess.com in which both sides take so many seconds for each move."""
    left, text = [120.0, 120.0], []
    for at, move in enumerate(MOVES):
        left[at % 2] += 1.0 - (white, black)[at % 2]
        said = f" {{[%clk 0:{int(left[at % 2] // 60)}:{left[at % 2] % 60:04.1f}]}}" if clocks else ""
        text.append(f"{at // 2 + 1}{'...' if at % 2 else '.'} {move}{said}")
    tags = {"Event": "Live Chess", "Site": "Chess.com", "White": "ann", "Black": "bob", "TimeControl": control}
    return "\n".join(f'[{name} "{value}"]' for name, value in tags.items()) + f"\n\n{' '.join(text)} 1-0\n\n"


def read(text: str) -> Games:
    return read_games(io.StringIO(text))


def test_a_time_needs_both_clocks_before_the_move_and_a_time_control_of_one_stage() -> None:
    moves = played_moves(read(game(3.0, 6.0)))
    found = move_times(moves)
    assert found.at.tolist() == list(range(2, len(MOVES)))
    assert found.values[:2] == pytest.approx([3 * 40 / 160, 6 * 40 / 160], rel=1e-3)
    assert found.features.shape == (len(found), len(TIME_FEATURES))
    left = dict(zip(TIME_FEATURES, found.features[0], strict=True))
    assert left["left"] == pytest.approx(118 / 120 - 0.5, abs=1e-3)
    assert left["ahead"] == pytest.approx(-3 / 120, abs=1e-3)
    assert len(move_times(played_moves(read(game(3.0, 6.0, "40/7200:1800"))))) == 0
    assert len(move_times(played_moves(read(game(3.0, 6.0, "-"))))) == 0
    assert len(move_times(played_moves(read(game(3.0, 6.0, clocks=False))))) == 0


def test_a_clock_that_was_turned_back_is_no_time_below_zero() -> None:
    turned = re.sub(r"(5\. O-O \{\[%clk )[0-9:.]+", r"\g<1>0:01:59.0", game(3.0, 6.0))
    assert move_times(played_moves(read(turned))).values.min() == 0


def test_each_side_has_a_row_of_its_own_and_moves_without_a_label_count_for_nobody() -> None:
    weights = elo_axis(POOL).effort(CLOCKS).times
    assert weights is not None
    moves = played_moves(read(game(2.0, 5.0)))
    labels = [None if black else "ann" for black in moves.black.tolist()]
    rows = observed_evidence(moves, move_times(moves), labels, weights, TIMED)
    assert (rows.sources, rows.decisions.tolist()) == (["clocks"], [len(MOVES) // 2 - 1])
    assert np.ptp(rows.curves) > 0


def test_clocks_are_evidence_in_pools_and_games_without_them_get_the_same_answer_as_before(tmp_path: Path) -> None:
    timed, bare = (read(game(2.0, 5.0, clocks=known)) for known in (True, False))
    found, plain, instant = sk.rate(timed), sk.rate(bare), sk.rate(timed, effort="instant")
    assert found.players[0].sources["clocks"] == len(MOVES) // 2 - 1
    assert found.players[0].decisions == plain.players[0].decisions, "a second reading of moves that count already"
    assert any("no engine; clocks in comments" in note for note in found.notes())
    by_name = [{one.player: one.elo.mean for one in study.players} for study in (found, plain, instant)]
    assert by_name[1] == by_name[2]
    assert all(abs(by_name[0][name] - by_name[1][name]) > 1 for name in ("ann", "bob"))
    path = tmp_path / "games.pgn"
    path.write_text(game(2.0, 5.0))
    assert {one.player: one.elo.mean for one in sk.rate([path]).players} == by_name[0]


def test_parts_that_are_chosen_by_the_time_spent_are_rated_without_the_clocks() -> None:
    games = read(game(2.0, 5.0) * 3)
    by_time, by_colour = (sk.breakdown(games, by=by) for by in ("time-spent", "colour"))
    assert not any("clocks" in group.part.played.rows.by_source for one in by_time.players for group in one.groups)
    assert all("clocks" in group.part.played.rows.by_source for one in by_colour.players for group in one.groups)


def test_parts_of_weak_players_are_within_the_range_of_the_pool() -> None:
    weak = "f3 e5 g4 d6 Kf2 h5 h3 hxg4 hxg4 Rxh1 Bg2 Rh2 a4 Qf6 a5 Qf4 b4 Rxg2+ Kxg2 Qxg4+ fxg4 Bxg4 Qf1 a6 Qf3 Bxf3+"
    text = game(2.0, 5.0, clocks=False)
    head, moves = text[: text.index("\n\n")], weak.split()
    numbered = " ".join(f"{at // 2 + 1}. {move}" if at % 2 == 0 else move for at, move in enumerate(moves))
    games = read(f"{head}\n\n{numbered} 0-1\n\n" * 12)
    groups = sk.breakdown(games, by="phase", players="ann").players[0].groups
    assert min(group.part.posterior.low for group in groups) == pytest.approx(400.0, abs=10)
    assert max(group.part.posterior.high for group in groups) == pytest.approx(3300.0, abs=10)
