"""Calibrate: a pool whose ratings lie elsewhere gets an axis of its own; what cannot carry one is refused."""

from __future__ import annotations

from types import SimpleNamespace

import chess
import chess.pgn
import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import Human
from skilloscope.chess.human.played import move_evidence, played_moves
from skilloscope.chess.moves import move_of_code
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.evidence.axis import EloAxis, elo_axis
from skilloscope.inputs.bundled import demo_file
from skilloscope.models.joint import HumanChoices, elo_basis
from skilloscope.studies.calibrate import calibrate, pool_census, rated_evidence

DEFLATED = 150.0
"""Players of the simulated pool play like people whose rating is so much higher."""


class Tastes(Human):
    """A model in which every move has a taste that depends on Elo, whatever the position."""

    def __init__(self) -> None:
        self.network = SimpleNamespace(sha256="tastes")
        self.table = np.random.default_rng(0).normal(size=(1 << 15, 4)) * [0.5, 1.2, 0.0, 0.0]

    def _chunk(self, boards):
        counts, places = boards.legal_places()
        codes = boards.move_codes(counts, places)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return HumanChoices(offsets, codes, self.table[codes].astype(np.float32))


def simulated_pool(games: int, players: int, plies: int = 24) -> str:
    """Return the PGN of games in which players choose by their taste."""
    rng, model = np.random.default_rng(7), Tastes()
    elo = rng.normal(1700, 250, players).round()
    pairs = np.array([rng.choice(players, 2, replace=False) for _ in range(games)])
    boards = [chess.Board() for _ in range(games)]
    for ply in range(plies):
        alive = [game for game in range(games) if any(boards[game].legal_moves)]
        choices = model.choices(Boards.from_boards([boards[game] for game in alive]))
        for row, game in enumerate(alive):
            own = slice(choices.offsets[row], choices.offsets[row + 1])
            z = choices.coefficients[own] @ elo_basis(elo[pairs[game, ply % 2]] + DEFLATED)[0]
            chosen = int((z + rng.gumbel(size=len(z))).argmax())
            boards[game].push(move_of_code(int(choices.moves[own][chosen])))
    return "\n\n".join(str(_written(board, pair, elo)) for board, pair in zip(boards, pairs, strict=True))


def _written(board: chess.Board, pair: np.ndarray, elo: np.ndarray) -> chess.pgn.Game:
    game = chess.pgn.Game.from_board(board)
    for colour, player in zip(("White", "Black"), pair.tolist(), strict=True):
        game.headers[colour], game.headers[f"{colour}Elo"] = f"player {player}", f"{elo[player]:.0f}"
    return game


@pytest.fixture(scope="module")
def pool(tmp_path_factory) -> Games:
    file = tmp_path_factory.mktemp("pool") / "pool.pgn"
    file.write_text(simulated_pool(150, 60), encoding="utf-8")
    return read_games(file)


def test_the_axis_of_a_pool_knows_where_its_ratings_lie_and_foretells_held_out_players(pool):
    found = calibrate(pool, "deflated", model=Tastes())
    effects = found.axis.effort("instant").effects["opening"]
    at = found.census.mean
    assert effects.shift + (effects.stretch - 1) * (at - 2000) == pytest.approx(DEFLATED, abs=60)
    assert found.one_year.rmse < 0.75 * found.one_year.constant_rmse
    assert found.one_year.rmse < found.one_game.rmse
    assert found.one_game.covers > 0.88
    assert EloAxis.from_json(found.axis.to_json()).to_json() == found.axis.to_json()
    report = found.as_dict()
    assert report["reasons"] == []
    assert found.tables()[0].title == "rated players of deflated"
    assert len(found.tables()) == 3


def test_the_axis_of_a_pool_rates_its_players_on_their_own_ratings(pool):
    axis = calibrate(pool, "deflated", model=Tastes()).axis
    moves = played_moves(pool, model=Tastes())
    names = [pool.headers[side].to_pylist() for side in ("white", "black")]
    labels = [names[int(b)][g] for g, b in zip(moves.game.tolist(), moves.black.tolist(), strict=True)]
    table = move_evidence(moves, labels)
    header = dict(zip(names[0], pool.headers["white_elo"].to_pylist(), strict=True))
    errors = [
        axis.posterior(table.curves_of(name), "instant", axis.prior()).mean - header[name]
        for name in table
        if name in header
    ]
    assert abs(np.mean(errors)) < 60


def test_too_few_players_games_or_ratings_alike_are_refused_with_the_reason(pool):
    few = pool.select(np.arange(20))
    with pytest.raises(InputError, match=r"40 rated player-games, 200 are needed.*players, 50"):
        calibrate(few, "few", model=Tastes())
    assert len(pool_census(few).reasons) == 2
    drawn = calibrate(pool, "drawn", most=120, model=Tastes())
    assert drawn.census.player_games == 240
    assert drawn.tally.counts["game not drawn"] == 30


def test_people_are_players_in_one_year_with_the_rating_of_their_games(pool):
    rated = rated_evidence(pool, Tastes())
    assert len(rated.evidence) == 300
    assert len(rated.by_person()) == len(np.unique(rated.player)) <= 60
    assert set(rated.evidence.curves) == {"opening"}


def test_the_command_counts_without_fitting_and_refuses_other_files(tmp_path):
    games = str(demo_file("simulated.pgn"))
    counted = CliRunner().invoke(app, ["calibrate", games, "--name", "demo", "--check"])
    assert counted.exit_code == 0
    assert "no axis" in counted.stdout
    refused = CliRunner().invoke(app, ["calibrate", games, "--name", "demo", "--out", str(tmp_path / "axis.json")])
    assert refused.exit_code != 0
    assert "cannot carry an axis" in refused.stderr
    assert not (tmp_path / "axis.json").exists()
    other = CliRunner().invoke(app, ["calibrate", games, "--name", "demo", "--out", str(tmp_path / "axis.txt")])
    assert "JSON" in other.stderr
    assert elo_axis().name == "default"
