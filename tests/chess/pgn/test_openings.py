"""Openings are told by positions, from a table that ships."""

from __future__ import annotations

import io
import random
from importlib.resources import files
from pathlib import Path

import chess

from skilloscope.chess.pgn.facts import game_facts, opening_families, opening_keys, openings_of
from skilloscope.chess.pgn.games import read_games


def names(*movetexts: str) -> list[str | None]:
    return openings_of(read_games([io.StringIO(f"{text} *") for text in movetexts]))[1]


def test_transpositions_have_one_name():
    assert len(set(names("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4", "1. c4 e6 2. Nc3 Nf6 3. d4 Bb4"))) == 1


def test_the_last_named_position_counts_and_later_moves_change_nothing():
    first, later = names(
        "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6",
        "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Rb1 Rg8",
    )
    assert first == later == "Sicilian Defense: Najdorf Variation"


def test_the_keys_that_ship_are_those_of_the_positions_in_which_the_moves_end():
    text = (files("skilloscope") / "data" / "openings.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    games = read_games(io.StringIO("".join(f'[Event "{at}"]\n\n{row[2]} *\n\n' for at, row in enumerate(rows))))
    assert len(games) == len(rows)
    keys, _ = opening_keys(games.moves, games.offsets)
    assert [f"{key:016x}" for key in keys[games.offsets[1:] - 1]] == [row[3] for row in rows]


def test_keys_tell_positions_apart_as_python_chess_does():
    rng, texts, boards = random.Random(1), [], []
    for _ in range(60):
        board, words = chess.Board(), []
        for _ in range(rng.randrange(1, 40)):
            words.append(board.san_and_push(rng.choice(list(board.legal_moves))))
            boards.append(" ".join(board.epd(en_passant="xfen").split()[:3]))
            if board.is_game_over():
                break
        texts.append(f"{' '.join(words)} *")
    games = read_games([io.StringIO(text) for text in texts])
    keys, game = opening_keys(games.moves, games.offsets)
    assert len(set(zip(boards, keys.tolist(), strict=True))) == len(set(boards)) == len(set(keys.tolist()))
    assert game.tolist() == games.game_of_move.tolist()


def test_another_start_has_no_opening():
    fen = chess.STARTING_FEN.replace("KQkq", "-")
    games = read_games(io.StringIO(f'[FEN "{fen}"]\n\n1. e4 *'))
    assert openings_of(games) == ([None], [None])


def test_a_tag_goes_before_the_moves_and_moves_before_nothing():
    text = '[ECO "A12"]\n[TimeControl "180+2"]\n\n1. e4 e5 *\n\n[Event "x"]\n\n1. e4 c6 *\n\n'
    text += '[Event "y"]\n[ECO "?"]\n\n1. d4 *'
    facts = game_facts(read_games(io.StringIO(text)))
    assert facts == {
        "eco": ["A1", "B1", "A4"],
        "opening": ["King's Pawn Game", "Caro-Kann Defense", "Queen's Pawn Game"],
        "time_class": ["blitz", None, None],
    }


def test_families_of_real_games_agree_with_their_tags(shared_data: Path):
    games = read_games(shared_data / "bands" / "2300_2010-2014.pgn")
    told, found = games.headers["eco"].to_pylist(), openings_of(games)
    pairs = [(tag, code) for tag, code in zip(told, found[0], strict=True) if tag and code]
    assert sum(tag[0] == code[0] for tag, code in pairs) > 0.9 * len(pairs)
    assert len(set(opening_families(found[1]))) > 20
