"""The library: games kept once over uploads, players with their names, and a file that shows its damage."""

from __future__ import annotations

import io
import json
import random
import sqlite3
import stat
import zipfile
from pathlib import Path

import pytest

from skilloscope.chess.pgn.games import read_games
from skilloscope.core.errors import InputError
from skilloscope.web.library.kept_games import Kept, exported, keep_games, person_of
from skilloscope.web.library.players import Libraries, Library
from skilloscope.web.library.records import GameText, KeptGame, Mistake, Player, Snapshot, side_of
from skilloscope.web.uploads import NamedBytes
from web.conftest import ITALIAN, SLAV, pgn

SHORT = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#"


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    return Libraries(tmp_path / "web" / "library.sqlite")


@pytest.fixture
def library(libraries: Libraries) -> Library:
    return libraries.opened("a visitor")


def keep(library: Library, text: str, job: str = "first", name: str = "may.pgn") -> Kept:
    body = text.encode()
    games = read_games([NamedBytes(name, body)])
    numbers = {game: at + 1 for at, game in enumerate(games.headers["game"].to_pylist())}
    return keep_games(library, games, [(name, body)], job, numbers)


def own_games() -> str:
    return pgn("Ann", "Ben") + pgn("Cid", "Ann", SLAV, Date="2024.05.02") + pgn("Ann", "Dan", SLAV, Date="2024.05.03")


def with_clocks(text: str) -> str:
    return text.replace("1. e4 ", "1. e4 { [%eval 0.3] [%clk 0:05:00] } ").replace(
        "1. d4 ", "1. d4 { [%clk 0:05:00] } "
    )


def test_the_owner_of_an_export_becomes_a_player_and_a_tournament_makes_none(library):
    assert person_of(read_games(io.StringIO(own_games()))) == "Ann"
    kept = keep(library, own_games())
    assert [(one.called, one.me) for one in kept.players] == [("Ann", True)]
    assert (kept.new, kept.again, len(library.games())) == (3, 0, 3)
    other = library.libraries.opened("another visitor")
    kept = keep(other, pgn("Ann", "Ben") + pgn("Cid", "Dan", SLAV) + pgn("Ben", "Cid", SHORT))
    assert (kept.players, kept.keys, other.games()) == ([], {}, [])


@pytest.mark.parametrize("short", [False, True])
def test_a_game_counts_once_whichever_export_it_comes_from_and_the_richer_copy_is_kept(library, short):
    text = own_games() + pgn("Ann", "Eve", SHORT if short else ITALIAN, Site="https://lichess.org/abcdefgh")
    keep(library, text)
    for job, richer in (("second", 4), ("third", 0)):
        kept = keep(library, with_clocks(text).replace("Ann", "ANN"), job)
        assert (kept.new, kept.again, kept.richer, len(library.games())) == (0, 4, richer, 4)
        assert all(one.job == job and one.first_job == "first" for one in library.games())
    kept = keep(library, text, "fourth")
    assert (kept.richer, len(library.games())) == (0, 4)
    assert library.pgn(library.games()).count("%clk") == 4
    read = read_games(io.StringIO(library.pgn(library.games())))
    assert sorted(one.plies for one in library.games()) == sorted(read.counts.tolist())


def test_short_games_of_the_same_moves_are_several_where_day_or_address_differ(library):
    keep(library, own_games())
    for at, tags in enumerate((
        {"Date": "2024.06.01"},
        {"Date": "2024.06.02"},
        {"Date": "2024.06.02", "Site": "https://lichess.org/aaaaaaaa"},
        {"Date": "2024.06.02", "Site": "https://lichess.org/bbbbbbbb"},
    )):  # fmt: skip
        kept = keep(library, pgn("Ann", "Eve", SHORT, **tags), f"job {at}")
        assert (kept.new, kept.again) == ((0, 1) if at == 2 else (1, 0))
    kept = keep(library, pgn("Ann", "Ben", Date="2023.??.??"), "another year")
    assert kept.new == 1
    assert len(library.games()) == 3 + 3 + 1


def test_a_job_that_is_begun_again_brings_the_same_new_games(library):
    assert [keep(library, own_games(), "job").new for _ in range(2)] == [3, 3]


def test_no_game_of_a_player_is_lost_in_silence(library):
    keep(library, own_games())
    headless = own_games() + pgn("Ann", "?", SLAV, Date="2024.07.01")
    assert keep(library, headless, "second").new == 1  # an unknown opponent
    games = read_games([NamedBytes("may.pgn", (text := pgn("Ann", "Eve", ITALIAN, Date="2025.01.01")).encode())])
    kept = keep_games(library, games, [("june.pgn", text.encode())], "third", {})
    assert (kept.new, kept.unkept) == (0, 1)


def test_names_and_aliases_make_one_player(library):
    keep(library, own_games())
    keep(library, pgn("ann_1990", "X") + pgn("ann_1990", "Y", SLAV) + pgn("Z", "ann_1990", SHORT), "online")
    ann, online = library.players()
    assert (ann.called, ann.me, online.called, online.me) == ("Ann", True, "ann_1990", False)
    with pytest.raises(InputError, match="no further name"):
        library.add_alias(ann.number, " !")
    own = library.add_alias(ann.number, "ann_1990")
    assert [one.called for one in library.players()] == ["Ann"]
    assert own.aliases == ("ann_1990",)
    assert len(library.games(own)) == 6
    assert {side_of(one, own) for one in library.games()} == {"white", "black"}
    assert keep(library, pgn("Ann-1990", "New", Date="2025.01.01"), "next").players == [own]
    library.drop_alias(own.number, "ann_1990")
    assert len(library.games(library.player(own.number))) == 3
    eve = library.add_player("Eve")
    assert eve == library.add_player("EVE")
    library.set_me(eve.number)
    assert [(one.called, one.me) for one in library.players()] == [("Eve", True), ("Ann", False)]


def test_a_player_who_is_removed_takes_games_along_that_are_nobody_elses(library):
    keep(library, own_games())
    ben = library.add_player("Ben")
    library.put(Snapshot(1, "2024", "fide", "instant", 3, 90, 1500.0, 1400.0, 1600.0, "job"), mistake(1), mistake(2))
    library.remove_player(1)
    assert [(one.white, one.black) for one in library.games()] == [("Ann", "Ben")]
    assert (library.records(Snapshot), library.records(Mistake), library.players()) == ([], [mistake(2)], [ben])
    assert len(library.records(GameText)) == 1


def mistake(player: int) -> Mistake:
    moves = {"played": "e2e4", "played_san": "e4", "best": "d2d4", "best_san": "d4", "line": "d4 d5"}
    chances = {"chances": 0.5, "chances_after": 0.25, "cost": 0.2, "mark": "?", "number": 3}
    return Mistake(player, "abc", 4, "white", "8/8 w - - 0 1", **moves, **chances, phase="endgame", spent=None)


def test_a_library_is_its_visitors_and_of_whoever_has_its_key(libraries, library):
    keep(library, own_games())
    assert libraries.of("nobody") is None
    assert libraries.opened("nobody").games() == []
    with pytest.raises(InputError, match="no library with this key"):
        libraries.adopted("other", "guess")
    assert len(libraries.adopted("other", library.key).games()) == 3
    library.forget()
    assert libraries.of("a visitor") is libraries.of("other") is None
    assert b"Ann" not in b"".join(path.read_bytes() for path in library.libraries.path.parent.iterdir())


def test_everything_can_be_taken_along(library):
    keep(library, own_games())
    library.put(mistake(1))
    with zipfile.ZipFile(io.BytesIO(exported(library))) as archive:
        games = read_games([io.StringIO(archive.read("games.pgn").decode())])
        rest = json.loads(archive.read("library.json"))
    assert len(games) == 3
    assert [len(rest[kind]) for kind in ("players", "games", "mistakes", "snapshots")] == [1, 3, 1, 0]
    assert "key" not in rest


def test_nobody_else_may_read_the_file(library):
    keep(library, own_games())
    for path in library.libraries.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_every_flipped_bit_in_a_record_is_found_and_the_others_are_read(libraries, library):
    keep(library, own_games())
    assert list(libraries.damaged()) == []
    rng, base = random.Random(20), sqlite3.connect(libraries.path)
    rows = base.execute("SELECT rowid, kind, body FROM records").fetchall()
    for rowid, kind, body in rng.choices(rows, k=40):
        at = rng.randrange(len(body))
        flipped = body[:at] + chr(ord(body[at]) ^ 1 << rng.randrange(7)) + body[at + 1 :]
        base.execute("UPDATE records SET body = ? WHERE rowid = ?", (flipped, rowid))
        base.commit()
        assert [place.split()[0] for place, _ in libraries.damaged()] == [kind]
        again, what = Library(libraries, library.key), {"player": Player, "game": KeptGame, "text": GameText}[kind]
        assert len(again.records(what)) == sum(one[1] == kind for one in rows) - 1
        assert again.lost == 1
        base.execute("UPDATE records SET body = ? WHERE rowid = ?", (body, rowid))
        base.commit()
    base.close()
