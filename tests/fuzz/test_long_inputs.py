"""Long inputs take time in proportion to their length and a bounded memory; what is longer than any text is said."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Iterator

import chess
import pytest

from fuzz.harness import limited
from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.lines import MOST_ANSWER_BYTES, MOST_LINE_BYTES, check_output, read_answer
from skilloscope.chess.engine.settings import Settings, parse_option
from skilloscope.chess.pgn.facts import is_classical
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.results import read_pgn_results
from skilloscope.chess.pgn.text import MainLine, header_from_tags, main_line, split_games
from skilloscope.core.dates import read_date
from skilloscope.core.errors import EngineError, InputError
from skilloscope.core.files import MOST_LINE
from skilloscope.decision.text import read_decisions, read_long_csv
from skilloscope.results.columns import parse_score
from skilloscope.results.reading import read_results

LONG = 300_000


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """A quadratic pattern takes hours for such inputs; CPU-seconds do not depend on what else the machine does."""
    read_games(io.StringIO('[Event "E"]\n\n1. e4 *'))  # what is compiled is compiled before time counts
    with limited():
        yield


@pytest.mark.parametrize(
    "text",
    [
        "{[%eval " + "1" * LONG + "}",
        "{[%eval 1." + "1" * LONG + "}",
        "{" + "[%eval 1" * (LONG // 8) + "}",
        "{[%eval" + " " * LONG + "}",
        "{[%clk 0:0:" + "1" * LONG + "}",
        "{[%clk" + " " * LONG + "}",
        "{" + "[%clk 1:" * (LONG // 8) + "}",
        "1" * LONG + "x",
        "." * LONG,
        "8" * LONG,
        "$" * LONG,
        "(" * LONG,
        "{}" * LONG,
        "+" * LONG,
    ],
)
def test_movetext_of_any_kind_is_read_in_linear_time(text):
    line = main_line(f"1. e4 {text}", chess.Board())
    assert len(line.moves) == 1


@pytest.mark.parametrize(
    "tag", ['[a "' * LONG, "[" * LONG, '[White "' + '" ' * LONG, "[" + "a" * LONG, "[" + " " * LONG]
)
def test_a_tag_of_any_length_is_read_in_linear_time(tag):
    assert len(list(split_games([tag, "1. e4 *"]))) == 1


def test_games_without_tags_are_read_in_linear_time():
    games = read_games(io.StringIO("e4 * " * 2000 + "{" + "x" * 5_000_000 + "}"))
    assert len(games) == 2000


def test_texts_of_tags_tables_and_engines_are_read_in_linear_time():
    blanks, digits = " " * LONG + "x", "1" * LONG
    header = header_from_tags({"Date": blanks, "WhiteElo": digits, "BlackElo": blanks}, MainLine(), "f", 1)
    assert header["white_elo"] is None
    assert is_classical(digits) is None
    assert read_date("2024" + "-" * LONG) is None
    assert parse_score("0.5" + "f" * LONG)[1] == "forfeit"
    assert parse_score(digits)[1] == "unknown score"
    option = parse_option(f"option name A type string default{blanks}")
    assert option is not None
    assert option.default == "x"
    with pytest.raises(EngineError, match="nonsense"):
        read_answer(f"info depth {digits} score cp 1 pv e2e4".encode())


def test_binary_data_after_what_looks_like_tags_is_found_in_linear_time():
    games = read_games(io.BytesIO(b'[a "' * 20_000 + b"\x01"))
    assert games.tally.total


def test_text_without_games_is_searched_for_results_in_linear_time(monkeypatch):
    monkeypatch.setattr("skilloscope.chess.pgn.results._CHUNK", 100)
    results = read_pgn_results(io.BytesIO(b"no game at all\n" * 200_000))
    assert results.tally.counts == {"no game in the file": 1}


@pytest.mark.parametrize("megabytes", [200, pytest.param(6000, marks=pytest.mark.soak)])
def test_a_packed_line_without_an_end_is_neither_read_whole_nor_passed_over(tmp_path, megabytes):
    head = b'[White "A"]\n[Black "B"]\n[Date "2024.05.01"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(head)
        for _ in range(megabytes):
            file.write(b"x" * 1_000_000)
    tracemalloc.start()
    games, results = read_games(path), read_pgn_results(path)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(games), len(results)) == (1, 1)
    assert games.tally.counts == results.tally.counts == {"damaged file": 1}
    assert "a line of more than" in games.tally.faults[0].detail
    assert used < 200_000_000


def test_a_table_with_a_line_without_an_end_is_refused(tmp_path):
    for head, read in (
        ("decider,problem,utility,chosen", read_decisions),
        ("date,player_1,player_2,score", read_results),
    ):
        with gzip.open(tmp_path / "bomb.csv.gz", "wb", 1) as file:
            file.write(f"{head}\n".encode() + b"x" * (MOST_LINE + 10))
        with pytest.raises(InputError, match="a line of more than"):
            read(tmp_path / "bomb.csv.gz")


def test_a_cell_without_an_end_costs_one_row():
    good = "Ann,{n},a,0.1,0\nAnn,{n},b,0.3,1\n"
    text = (
        "decider,problem,alternative,utility,chosen\n"
        + good.format(n=1)
        + f"Bo,2,{'x' * 200_000},1,1\n"
        + good.format(n=3)
    )
    batch = read_long_csv(io.StringIO(text), name="t.csv")
    assert len(batch) == 2
    assert batch.tally.counts == {"a row that is not CSV": 1}
    assert batch.tally.faults[0].place == "line 4"


def test_an_engine_that_ends_no_line_or_never_answers_is_stopped():
    check_output(b"info string x\n" * 1000)
    with pytest.raises(EngineError, match="a line of more than"):
        check_output(b"info\n" + b"x" * (MOST_LINE_BYTES + 1))
    with pytest.raises(EngineError, match="without an answer"):
        check_output(b"info string x\n" * (MOST_ANSWER_BYTES // 10))


def test_the_lines_of_an_engine_without_line_ends_are_not_kept(fake_engine):
    engine = fake_engine("no line ends")
    with (
        pytest.raises(EngineError, match="a line of more than"),
        Engine(engine, Settings(depth=2, multipv=2)) as running,
    ):
        running.analyse(chess.STARTING_FEN)
