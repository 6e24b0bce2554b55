"""A game that comes again counts once."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from skilloscope.chess.pgn.games import SAME_GAME, Games, KnownGames, distinct_games, read_games

LINE = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5"


def game(white: str, black: str = "Bob", date: str = "?", moves: str = LINE) -> str:
    return f'[Event "E"]\n[White "{white}"]\n[Black "{black}"]\n[Date "{date}"]\n\n{moves} *\n\n'


def distinct(*texts: str) -> Games:
    return distinct_games(read_games(io.StringIO("".join(texts))))


def test_the_same_moves_of_the_same_people_are_one_game():
    games = distinct(game("Müller, Ann"), game("MÜLLER,  ann", "bob"), game("Müller, Ann", date="2001.01.01"))
    assert len(games) == 1
    assert games.tally.as_dict() == {SAME_GAME: 2}
    assert games.headers["index"].to_pylist() == [1]


def test_other_people_years_moves_or_colours_make_another_game():
    texts = [
        game("Ann", date="2001"),
        game("Ann", date="2002"),
        game("Cy", date="2001"),
        game("Bob", "Ann", date="2001"),
        game("Ann", date="2001", moves=LINE + " 11. d4"),
    ]
    assert len(distinct(*texts)) == 5


def test_short_games_are_played_again_and_again():
    short = LINE[: LINE.index(" 10.")]
    assert len(distinct(game("Ann", moves=short), game("Ann", moves=short))) == 2


ONE = st.tuples(st.sampled_from(["Ann", "Bob", "ANN "]), st.sampled_from(["?", "2001", "2002"]), st.sampled_from("345"))


@given(st.lists(ONE, min_size=1, max_size=24), st.integers(1, 8))
def test_games_that_come_in_blocks_are_compared_with_all_before(drawn: list[tuple[str, str, str]], size: int) -> None:
    texts = [game(who, date=year, moves=f"{LINE} 11. {'abc'[int(move) - 3]}3") for who, year, move in drawn]
    known, found = KnownGames(), []
    for at in range(0, len(texts), size):
        found += known.first_time(read_games(io.StringIO("".join(texts[at : at + size])))).tolist()
    seen: dict[tuple[str, str], set[str]] = {}
    wanted = []
    for who, year, move in drawn:
        years = seen.setdefault((who.strip().lower(), move), set())
        wanted.append(not (years and (year == "?" or "?" in years or year in years)))
        years.add(year)
    assert found == wanted
