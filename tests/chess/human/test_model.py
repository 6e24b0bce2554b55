"""The human model: probabilities, mirrors, the same bits however it is asked, and Elo given back."""

from __future__ import annotations

import sys

import chess
import numpy as np
import pytest

from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import BATCH, Human, Network, human, shipped_network
from skilloscope.core.errors import InputError, MissingExtraError
from skilloscope.models.joint import ELO_RANGE, HumanChoices, elo_basis, network_elo
from skilloscope.models.kernels.choices import add_choice_curves

from .positions import random_boards

ELOS = (1200.0, 1600.0, 2000.0, 2400.0)
GRID = np.linspace(*ELO_RANGE, 64)


@pytest.fixture(scope="module")
def model() -> Human:
    pytest.importorskip("onnxruntime")
    return human()


def played_positions(model: Human, n_games: int, seed: int, elo: float = 1900.0, plies: int = 50) -> list[chess.Board]:
    """Positions of games that the model plays against itself."""
    rng = np.random.default_rng(seed)
    going, seen = [chess.Board() for _ in range(n_games)], []
    for _ in range(plies):
        going = [board for board in going if not board.is_game_over()]
        choices = model.choices(Boards.from_boards(going))
        seen += [board.copy(stack=1) for board in going]
        for board, code in zip(going, drawn(choices, elo, rng), strict=True):
            board.push(chess.Move(code & 63, code >> 6 & 63, code >> 12 or None))
    return seen


def drawn(choices: HumanChoices, elo: float, rng: np.random.Generator) -> list[int]:
    """One move a position, drawn at an Elo (the largest of log p + Gumbel noise)."""
    noisy = choices.log_probabilities(elo)[:, 0] + rng.gumbel(size=len(choices.moves))
    spans = zip(choices.offsets, choices.offsets[1:], strict=False)
    return [int(choices.moves[begin + noisy[begin:end].argmax()]) for begin, end in spans]


def choice_curves(choices: HumanChoices, moves: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The sum of log p of each group's moves at every Elo of the grid."""
    curves = np.zeros((int(groups.max()) + 1, len(GRID)))
    add_choice_curves(choices.coefficients, choices.offsets, choices.index_of(moves), groups, elo_basis(GRID), curves)
    return curves


def test_probabilities_of_the_legal_moves_sum_to_one(model: Human) -> None:
    boards = random_boards(2, seed=5)
    choices = model.choices(Boards.from_boards(boards))
    p = np.exp(choices.log_probabilities(ELOS))
    assert np.add.reduceat(p, choices.offsets[:-1]) == pytest.approx(1.0)
    assert np.diff(choices.offsets).tolist() == [board.legal_moves.count() for board in boards]


def test_mirrored_positions_give_mirrored_answers(model: Human) -> None:
    fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
    here = model.choices(Boards.from_fens([fen]))
    there_boards = Boards.from_boards([chess.Board(fen).mirror()])
    there_boards.ply[:] = Boards.from_fens([fen]).ply  # the clock tells White from Black, nothing else does
    there = model.choices(there_boards)
    assert np.array_equal(here.coefficients, there.coefficients)
    assert (here.moves ^ (56 | 56 << 6)).tolist() == there.moves.tolist()


def test_answers_are_the_same_bits_for_any_batch(model: Human) -> None:
    boards = Boards.from_boards(random_boards(2, seed=6))[: 5 * BATCH + 3]
    whole = model.choices(boards)
    for size in (1, 7, BATCH, 33):
        parts = [model.choices(boards[at : at + size]).coefficients for at in range(0, len(boards), size)]
        assert np.array_equal(np.concatenate(parts), whole.coefficients), size
    order = np.random.default_rng(0).permutation(len(boards))
    shuffled = model.choices(boards[order])
    rows = np.split(shuffled.coefficients, shuffled.offsets[1:-1])
    back = np.concatenate([rows[at] for at in np.argsort(order)])
    assert np.array_equal(back, whole.coefficients)


def test_moves_are_listed_likeliest_first(model: Human) -> None:
    answer = model.moves(chess.STARTING_FEN, [1500, 2500])
    assert set(answer.san[:2]) == {"e4", "d4"}
    assert answer.probability.shape == (20, 2)
    assert (np.diff(answer.probability.mean(axis=1)) <= 0).all()


def test_the_strong_avoid_a_known_trap_more_often(model: Human) -> None:
    after_nxe5 = "rnbqkb1r/pppp1ppp/5n2/4N3/4P3/8/PPPP1PPP/RNBQKB1R b KQkq - 0 3"
    answer = model.moves(after_nxe5, [1200, 2400])
    retreat, trap = (answer.probability[answer.san.index(move)] for move in ("d6", "Nxe4"))
    assert retreat[1] > retreat[0]
    assert trap[1] < trap[0]


@pytest.mark.parametrize("elo", [100, 4000, float("nan")])
def test_unknown_elo_is_refused(model: Human, elo: float) -> None:
    with pytest.raises(InputError, match="knows Elo"):
        model.moves(chess.STARTING_FEN, elo)


def test_curves_are_the_sums_of_log_probabilities(model: Human) -> None:
    boards = random_boards(1, seed=7)
    choices = model.choices(Boards.from_boards(boards))
    rng = np.random.default_rng(1)
    moves = np.array(drawn(choices, 1500.0, rng), dtype=np.uint16)
    labels = ["white" if board.turn else "black" for board in boards]
    groups = np.array([label == "black" for label in labels], dtype=np.int64)
    curves = choice_curves(choices, moves, groups)
    logs = choices.log_probabilities(GRID)[choices.offsets[:-1] + choices.index_of(moves)]
    for group in (0, 1):
        assert curves[group] == pytest.approx(logs[groups == group].sum(axis=0))


def test_illegal_moves_have_no_place_among_the_choices(model: Human) -> None:
    choices = model.choices(Boards.from_fens([chess.STARTING_FEN] * 2))
    places = choices.index_of(np.array([12 | 28 << 6, 12 | 36 << 6], dtype=np.uint16))
    assert choices.moves[places[0]] == 12 | 28 << 6
    assert places[1] == -1


def test_drawn_choices_give_their_elo_back(model: Human) -> None:
    choices = model.choices(Boards.from_boards(played_positions(model, 20, seed=8)))
    rng = np.random.default_rng(2)
    for elo in (1400.0, 2000.0, 2500.0):
        moves = np.array(drawn(choices, elo, rng), dtype=np.uint16)
        curve = choice_curves(choices, moves, np.zeros(len(choices), dtype=np.int64))[0]
        weight = np.exp(curve - curve.max())
        mean, square = (np.average(GRID**power, weights=weight) for power in (1, 2))
        sd = np.sqrt(square - mean**2)
        assert abs(mean - elo) < 3.5 * sd
        assert sd < 150


def test_the_basis_is_the_one_of_the_training() -> None:
    assert elo_basis([2100, 2550]) == pytest.approx(np.array([[1, 0, -0.5, 0], [1, 1, 0.5, 0]]), abs=1e-4)


def test_the_card_names_the_weights_and_meets_its_goals() -> None:
    network = shipped_network()
    held_out = network.card["held_out"]
    assert network.card["weights"]["sha256"] == network.sha256
    assert len(network.weights) <= 5_000_000
    assert held_out["nats"] >= -1.52
    assert held_out["top1"] >= 0.495
    assert all(abs(row["p"] - row["share"]) <= 0.015 for row in held_out["calibration"])
    best = {band: row["best"] for band, row in held_out["best_elo"].items()}
    best |= network.card["axis"]["cross_fitted_best_elo"]
    assert len(best) == 16
    assert all(abs(elo - int(band)) <= 100 for band, elo in best.items())


def test_the_axis_rises_and_is_the_networks_own_where_the_games_are() -> None:
    elo = np.arange(700.0, 3001.0, 50.0)
    assert (np.diff(network_elo(elo)) > 0).all()
    assert network_elo([1800, 2400]) == pytest.approx([1800, 2400], abs=2)


def test_without_onnxruntime_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match="onnxruntime") as caught:
        Human(Network(b"", {})).moves(chess.STARTING_FEN)
    assert caught.value.hint
