"""Positions for the tests of the human model: games at random from a seed, and the rare cases by name."""

from __future__ import annotations

import random

import chess

RARE = {
    "en passant pinned along the rank": "8/8/8/K2pP2r/8/8/8/7k w - d6 0 1",
    "en passant pinned along the rank, from the left": "8/8/8/r2Pp2K/8/8/8/k7 w - e6 0 1",
    "en passant pinned on a diagonal": "7k/2b5/8/3pP3/5K2/8/8/8 w - d6 0 1",
    "en passant takes the checking pawn": "7k/8/8/3pP3/4K3/8/8/8 w - d6 0 1",
    "two pawns may take in passing": "7k/8/8/2PpP3/8/8/8/4K3 w - d6 0 1",
    "en passant for Black": "4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1",
    "double check": "4k3/8/8/8/8/5n2/4r3/R3K2R w KQ - 0 1",
    "castling both ways": "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "castling through an attacked square": "r3k2r/8/8/8/8/8/5r2/R3K2R w KQkq - 0 1",
    "castling with the rook attacked on b1": "1r2k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "castling out of check": "4r1k1/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "promotion with and without taking": "3r1n2/4P3/8/8/8/8/k7/4K3 w - - 0 1",
    "promotion by a pinned pawn": "4b1nk/3P4/2K5/8/8/8/8/8 w - - 0 1",
    "pinned queen": "4r2k/8/8/8/4Q3/8/8/4K3 w - - 0 1",
    "king steps back along the ray": "7k/8/8/8/r3K3/8/8/8 w - - 0 1",
    "most moves": "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
}


def random_boards(n_games: int, seed: int, longest: int = 120) -> list[chess.Board]:
    """Every position of games of random legal moves in which somebody is to move."""
    draw = random.Random(seed)
    boards = []
    for _ in range(n_games):
        board = chess.Board()
        while len(board.move_stack) < longest and not board.is_game_over():
            boards.append(board.copy(stack=1))
            board.push(draw.choice(list(board.legal_moves)))
    return boards


def random_games(n_games: int, seed: int, longest: int = 120) -> list[list[chess.Move]]:
    """Games of random legal moves."""
    draw = random.Random(seed)
    games = []
    for _ in range(n_games):
        board = chess.Board()
        while len(board.move_stack) < longest and not board.is_game_over():
            board.push(draw.choice(list(board.legal_moves)))
        games.append(board.move_stack)
    return games
