"""The compiled reader of PGN against python-chess: the same games, move by move, and nothing lost."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.readers import plain, scanned
from pgn_oracle import difference, games_of_python_chess, plain_games, plainly
from skilloscope.chess.pgn import blocks
from skilloscope.chess.pgn.games import Games, iter_games, read_games
from skilloscope.chess.pgn.kernel import LEFT, READ, scan_games
from skilloscope.inputs.bundled import demo_file

HEADER = '[Event "Open"]\n[Site "?"]\n[Date "2024.05.{day:02d}"]\n[White "W{n}"]\n[Black "B"]\n[Result "*"]\n'


def random_game(rng: random.Random, plies: int) -> tuple[str, list[chess.Board]]:
    """Return the movetext of a game of random moves, with everything that programs write, and its boards."""
    board, words, boards = chess.Board(), [], []
    for ply in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        boards.append(board.copy(stack=False))
        # Captures, promotions and checks are rare among all moves, and the hard ones.
        sharp = [m for m in moves if board.is_capture(m) or m.promotion or board.is_castling(m)]
        move = rng.choice(sharp if sharp and rng.random() < 0.4 else moves)
        if ply % 2 == 0 or rng.random() < 0.1:
            words.append(f"{board.fullmove_number}{'.' if board.turn else '...'}")
        words.append(board.san_and_push(move) + rng.choice(["", "", "", "!", "?!"]))
        words.append(
            rng.choice(["", "", "$14", "{[%clk 0:01:23.4]}", "{ [%eval -1.25] [%clk 1:00:00] }", "(d4 {x} d5)"])
        )
    return " ".join(word for word in words if word), boards


def collection(games: int, plies: int, seed: int) -> str:
    rng = random.Random(seed)
    texts = [HEADER.format(n=n, day=n % 28 + 1) + f"\n{random_game(rng, plies)[0]} *\n\n" for n in range(games)]
    return "".join(texts)


def both(text: str | bytes) -> tuple[Games, Games]:
    data = text.encode() if isinstance(text, str) else text
    return read_games(io.BytesIO(data)), plain_games(io.BytesIO(data))


def assert_same(text: str | bytes) -> Games:
    games, plain = both(text)
    assert not difference(games, plain)
    with plainly():
        assert not difference(both(text)[0], plain)
    return games


def test_random_games_are_read_as_python_chess_reads_them():
    text = collection(60, 160, seed=1)
    games = assert_same(text)
    assert len(games) == 60
    assert games.tally.total == 0
    assert (scan_games(text.encode(), final=True).status == READ).all()


def test_a_few_games_are_read_without_compiled_code_and_many_with_it(monkeypatch, tmp_path):
    text = collection(40, 40, seed=7)
    want, sizes = read_games(io.StringIO(text)), []
    monkeypatch.setattr(
        blocks, "scan_games", lambda data, final: sizes.append(len(data)) or scan_games(data, final=final)
    )
    with plainly():
        assert not difference(read_games(io.StringIO(text)), want)
        assert not sizes
        assert [len(batch) for batch in iter_games(io.StringIO(text))] == [40]
        assert [len(batch) for batch in iter_games(io.BytesIO(b""))] == [0]
        for at in range(8):  # many small files are together a large one
            (tmp_path / f"{at}.pgn").write_text(text)
        whole = read_games(tmp_path)
    assert sizes
    assert len(sizes) < 8
    assert not difference(whole, read_games(tmp_path))


def test_the_games_that_ship_stay_in_the_kernel():
    for name in ("simulated.pgn", "game_of_the_century.pgn"):
        data = demo_file(name).read_bytes()
        assert (scan_games(data, final=True).status == READ).all()
        assert_same(data)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [97, 1024, 5000])
def test_blocks_of_any_size_give_the_same_games(monkeypatch, ends, size):
    text = collection(12, 40, seed=2).replace("\n", ends)
    text += ends.join(["words", "", '[Event "late"]', "[Odd", "1. e4 e5 2. Ke3 *", "", '[Event "x"]', "", "1. c4 *"])
    whole = assert_same(text)
    monkeypatch.setattr(blocks, "BLOCK", size)
    assert not difference(read_games(io.BytesIO(text.encode())), whole)


ODD = [
    "1. e4 e5 2. Nf3 ; a comment {not opened\n2... Nc6 *",
    "1. e4 {open\n[Event \"y\"]\n\n1. d4 *",
    "1. e4 e5 1-0 {resigned} 1. d4 d5 *",
    "1. e4 e5 1-0 {resigned}",
    "1. e4 e5 1-0 (1. d4) $5",
    "1. e4 (1. d4 (1. c4 ) d5 *",
    "1. e4 ) e5 } $ 2. Nf3 $14$3Nc6 *",
    "1.e4! e5!? 2.Nf3+- Nc6 +- 3. Bb5 a6 N 4. Ba4 *",
    "1. e2e4 e7-e5 2. Ng1f3 Nb8xc6 *",
    "1. Nf3 Nf6 2. Nc3 Nc6 3. Ne5 Ne4 4. Ncxe4 *",
    "1. e4 e5 2. Ke2 Ke7 3. O-O *",
    "1. Nf3 d5 2. g3 c5 3. Bg2 Nc6 4. 0-0 e5 *",
    "1. e4 d5 2. e5 f5 3. exf6e.p. exf6 *",
    "1. e4 d5 2. e5 f5 3. exf6 exf6 *",
    "1. e4 d5 2. e5 f5 3. ef6 ef6 *",
    "1. a4 b5 2. axb5 a6 3. bxa6 Bb7 4. axb7 Nf6 5. bxa8Q *",
    "1. a4 b5 2. axb5 a6 3. bxa6 Bb7 4. axb7 Nf6 5. bxa8=N c5 *",
    "1. a4 b5 2. axb5 a6 3. bxa6 Bb7 4. axb7 Nf6 5. bxa8 *",
    "1. a4 b5 2. axb5 a6 3. bxa6 Bb7 4. axb7 Nf6 5. bxa8=K *",
    "0000 1. e4 *",
    "1. e4 0000 *",
    "{[%eval 0.17]} 1. e4 {[%eval #-3]} {[%clk 0:00:01]} e5 {[%eval +.5]} 2. Nf3 {[%eval -0.30,22]} *",
    "{[%eval #4]} {[%eval 1]} 1. e4 {[%clk 9999999999:00:00]} {[%clk 1:2]} {[%clk\n0:01:02.75 ]} *",
    "1. e4 {[%eval 123456789.123456789]} e5 {[%eval #99999]} *",
    "1. e4 e5 ½-½",
    "1… e4 e5 *",
    "1. e4 é5 {ça va\né\n} *",
    "1. e4 {\u00a0\n\u00a0[Event \"no\"]\n} e5 *",
    "% a line\n1. e4 e5\n%e6\n2. Nf3 *",
    "1. e4 {a\n% b\n} e5 *",
    "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# Kd8",
    "1. e4 e5 2. Bb5 d6",
    "1. d4 e6 2. c4 Bb4 3. Nc3 d5 4. Ne4 *",
    "1. e4 --",
    "*",
    "",
]  # fmt: skip


@pytest.mark.parametrize("movetext", ODD)
def test_odd_movetext_is_read_or_left_but_never_read_otherwise(movetext):
    assert_same(f'[Event "E"]\n[White "A"]\n\n{movetext}\n\n{HEADER.format(n=1, day=1)}\n1. d4 d5 1/2-1/2\n')


@pytest.mark.parametrize(
    "tags",
    [
        '[White "A"]\n[White "B"]',
        '[White "A"]\n[Odd "x"]\n[Odd "y"]',
        '[White "A"] [Black "B"]',
        '[White "The "Big" Open"]',
        '[White "A]"]\n[Black "\\"B\\" \\\\"]',
        '[White "A"\n[Black "B"]',
        '[ White   "A" ] \n\t[Black\t"B"]',
        '[Wéiß "A"]',
        '[Variant "Standard"]',
        '[Variant "standard"]',
        '[Variant "Atomic"]',
        '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]',
        '[FEN ""]',
        '[Date "????.??.??"]\n[UTCDate "2020.01.02"]\n[WhiteElo "12345"]\n[BlackElo "1800?"]\n[Result "½-½"]',
        '[Date " 1999 "]\n[Result "1-0 "]',
        "\ufeff" + '[White "A"]',
        "\x00",
        "words",
    ],
)
def test_odd_tags_are_read_or_left_but_never_read_otherwise(tags):
    for text in (f"{tags}\n\n1. e4 e5 *\n", f'[Event "E"]\n{tags}\n1. e4 *\n\n[Event "F"]\n\n1. d4 1-0\n\n{tags}\n'):
        assert_same(text)


@given(st.text(alphabet='[]{}();%$.\n "\\abcdefgh12345678NBRQKOx=+#-*/Event!?½\r\ufeff\0', max_size=120))
def test_text_near_pgn_is_read_as_the_plain_reader_reads_it(text):
    assert_same(f'[Event "E"]\n\n1. e4 e5 {text}\n\n[Event "F"]\n\n1. d4 d5 *\n')


def parted_games(rng: random.Random, games: int) -> str:
    """Return games with blank lines, and lines that are no moves, at random places among the moves."""
    between = ["\n\n", "\n \t\n", "\n\n\n", "\n", "\n% no move\n", "\n; no move\n", "\n\n; no move\n\n", " {a\n\nb}\n"]
    texts = []
    for n in range(games):
        words = re.sub(r"\([^)]*\)|\{[^}]*\}", "", random_game(rng, 24)[0]).split()
        words.append(rng.choice(["*", ""]))
        words = [word + (rng.choice(between) if rng.random() < 0.1 else " ") for word in words]
        start = rng.choice(["\n", "", "\n{first}\n", "\n{first}\n\n", "; first\n\n"])
        texts.append(HEADER.format(n=n, day=n + 1) + start + "".join(words) + "\n\n")
    return "".join(texts)


def found(games: Games) -> list[tuple[str | None, list[int]]]:
    parts = np.split(games.moves, games.offsets[1:-1])
    return [(name, part.tolist()) for name, part in zip(games.headers["white"].to_pylist(), parts, strict=True)]


@pytest.mark.parametrize("seed", range(12))
def test_a_blank_line_among_the_moves_ends_a_game_as_in_python_chess(seed):
    text = parted_games(random.Random(seed), 20)
    assert found(assert_same(text)) == games_of_python_chess(text)
    both = scanned(text.encode()), plain(text.encode())
    assert both[0] in (None, both[1])


def test_what_a_blank_line_cuts_off_is_counted_at_its_place():
    text = '[White "Ann"]\n\n1. e4 e5\n2. Nf3 Nc6\n\n3. Bb5 a6 1-0\n\n[White "Bo"]\n\n1. d4 {a\n\nb} d5 *\n\n{end}\n'
    games = assert_same(text)
    assert games.counts.tolist() == [4, 2]
    assert [(one.reason, one.place) for one in games.tally.faults] == [
        ("blank line among the moves", "game 1, line 6"),
        ("text outside any game", "after game 1"),
    ]
    assert assert_same("1. e4 *\n\n1. d4 d5 *\n\n[Odd\n1. c4 *").counts.tolist() == [1, 2, 1]


def test_a_second_way_for_a_piece_is_ambiguous_unless_it_is_pinned():
    free = '[FEN "4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1"]\n\n1. Nge4 *'
    assert len(assert_same(free).moves) == 1
    text = HEADER.format(n=1, day=1) + "\n1. d4 e6 2. Nf3 Bb4+ 3. Nc3 Nf6 4. {} *"
    assert assert_same(text.format("Nd2")).tally.total == 0  # the knight on c3 is pinned
    assert assert_same(text.format("Nc3d5")).tally.as_dict() == {"illegal move": 1}


def mutants(texts: list[str], seed: int) -> list[tuple[str, str, str]]:
    """Return games with one move made illegal: the text, the place of that move, and what stands there."""
    rng, made = random.Random(seed), []
    for text in texts:
        head, _, movetext = text.partition("\n\n")
        words = [
            word for word in re.sub(r"\{[^}]*\}|\([^)]*\)", " ", movetext).split() if re.match(r"[a-hKQRBNO]", word)
        ]
        board, at = chess.Board(), rng.randrange(len(words))
        for word in words[:at]:
            board.push_san(word.rstrip("!?"))
        wrong = illegal_san(board, rng)
        place = f"game 1, move {board.fullmove_number}, {'white' if board.turn else 'black'}"
        made.append((head + "\n\n" + " ".join([*words[:at], wrong, *words[at + 1 :]]) + " *\n", place, wrong))
    return made


def illegal_san(board: chess.Board, rng: random.Random) -> str:
    legal = {re.sub(r"[+#x]", "", board.san(move)) for move in board.legal_moves}
    while True:
        square = chess.square_name(rng.randrange(64))
        san = rng.choice(["", "N", "B", "R", "Q", "K"]) + square
        try:
            board.parse_san(san)
        except chess.IllegalMoveError:
            if san not in legal:
                return san
        except ValueError:
            continue


def assert_every_mutant_is_found(texts: list[str], seed: int) -> None:
    for text, place, wrong in mutants(texts, seed):
        (fault,) = read_games(io.StringIO(text)).tally.faults
        assert (fault.reason, fault.place, fault.detail) == ("illegal move", place, wrong)


def games_as_texts(seed: int, n: int) -> list[str]:
    return [text.strip() + "\n" for text in re.split(r"(?=\[Event )", collection(n, 60, seed)) if text.strip()]


def test_an_illegal_move_is_found_at_its_place():
    assert_every_mutant_is_found(games_as_texts(3, 100), 3)


@pytest.mark.soak
def test_an_illegal_move_in_each_of_ten_thousand_games_is_found_at_its_place():
    assert_every_mutant_is_found(games_as_texts(4, 10_000), 4)


def test_games_come_in_batches_with_the_same_ids_and_tallies(monkeypatch, tmp_path):
    paths = [tmp_path / folder / "games.pgn" for folder in ("a", "b")]
    for seed, path in enumerate(paths):
        path.parent.mkdir()
        path.write_text(collection(20, 30, seed) + "1. e4 e5 2. Ke3 *\n")
    whole = read_games(paths)
    monkeypatch.setattr(blocks, "BLOCK", 3000)
    batches = list(iter_games(paths))
    assert len(batches) >= 8
    assert not difference(Games.concat(batches), whole)


def test_what_is_left_is_counted_and_the_rest_of_the_block_is_not():
    text = collection(30, 40, seed=5)
    text = text.replace('[White "W7"]', '[White "W7"]\n[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]')
    status = scan_games(text.encode(), final=True).status
    assert (status == LEFT).sum() == 1
    games = assert_same(text)
    assert games.headers["index"].to_pylist() == [n for n in range(1, 31) if n != 8]


def test_shared_games_stay_in_the_kernel(shared_data: Path):
    left = games = 0
    for path in sorted(shared_data.rglob("*.pgn")):
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
        status = scan_games(data, final=True).status
        left, games = left + int((status == LEFT).sum()), games + len(status)
    assert games > 30_000
    assert left <= 0.005 * games


def test_shared_games_are_read_as_python_chess_reads_them(shared_data: Path):
    for name in ("bands/1600_2010-2014.pgn", "evals/lichess_strong_blitz_12games_5eval_clk.pgn"):
        assert not difference(read_games(shared_data / name), plain_games(shared_data / name))


@pytest.mark.soak
def test_all_shared_games_are_read_as_python_chess_reads_them(shared_data: Path):
    for path in sorted(shared_data.rglob("*.pgn")):
        assert not difference(read_games(path), plain_games(path)), path


def test_columns_that_no_game_has_take_no_memory():
    games = read_games(io.StringIO("1. e4 e5 *"))
    assert games.clocks.strides == (0,)
    assert np.isnan(games.clocks).all()
