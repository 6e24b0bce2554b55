"""Games by the name of an account: whole, newest first, and none twice, whatever the site does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from online_sites import Site, game, online_sites
from skilloscope.chess.pgn.games import read_games
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.web import safe_fetch
from skilloscope.web.library import accounts as online
from skilloscope.web.library.accounts import Fetching, is_account, started
from skilloscope.web.safe_fetch import checked_opener

ACCOUNTS = ("lichess:Ann", "chesscom:Ann")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with online_sites(monkeypatch) as found:
        yield found


def fetching(account: str, waits: list[float] | None = None, **more: object) -> Fetching:
    sleep = (waits if waits is not None else []).append
    return Fetching(account, checked_opener(private=True, follow=False), sleep=sleep, **more)  # type: ignore[arg-type]


def numbers(games: list[str]) -> list[int]:
    return [int(found[1]) for one in games if (found := re.search(r'Black "Opponent(\d+)"', one))]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_newest_games_come_first_and_as_many_as_were_asked_for(site, account):
    assert numbers(list(fetching(account).games())) == list(range(59, -1, -1))
    assert numbers(list(fetching(account, most=7).games())) == list(range(59, 52, -1))
    assert set(site.agents) == {"skilloscope"}


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_next_time_only_new_games_come(site, account):
    last = started(next(fetching(account).games()))
    assert list(fetching(account, since=last).games()) == []
    site.games += 5
    assert numbers(list(fetching(account, since=last).games())) == [64, 63, 62, 61, 60]
    if account.startswith("chesscom"):
        assert not any(path.endswith("2024/01") for path in site.asked[-3:])


@pytest.mark.parametrize("fault", ["cut", "chunks"])
@pytest.mark.parametrize("account", ACCOUNTS)
def test_a_stream_that_is_cut_goes_on_from_the_last_whole_game(site, account, fault):
    whole = [game(number, site=account.partition(":")[0]) for number in range(59, -1, -1)]
    site.faults = [f"{fault} {at}" for at in (3000, 1, 9000)]
    if account.startswith("chesscom"):  # a list of months, then the games of each
        site.faults = ["", f"{fault} 900", f"{fault} 1", "", "", f"{fault} 9000"]
    waits: list[float] = []
    assert [one.strip() for one in fetching(account, waits).games()] == [one.strip() for one in whole]
    assert len(waits) == 3
    assert max(waits) < 10


@pytest.mark.parametrize("account", ACCOUNTS)
def test_an_import_that_was_stopped_goes_on_with_what_was_kept(site, account):
    first = fetching(account)
    kept = "".join(one for one, _ in zip(first.games(), range(20), strict=False))
    rest = list(fetching(account, kept=kept).games())
    assert numbers(rest) == list(range(39, -1, -1))
    if account.startswith("lichess"):
        assert "until=" in site.asked[-1]
    assert numbers(list(fetching(account, kept=kept, most=25).games())) == list(range(39, 34, -1))


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_site_is_waited_for_as_long_as_it_asks_and_at_least_a_minute(site, account):
    site.faults = ["429", "429 300", "429 nonsense", "500"]
    waits: list[float] = []
    assert len(list(fetching(account, waits).games())) == 60
    assert waits[:3] == [60.0, 300.0, 60.0]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_who_is_not_there_and_who_is_refused_is_said(site, account):
    with pytest.raises(InputError, match="has no player Nobody"):
        list(fetching(account.replace("Ann", "Nobody")).games())
    site.faults = ["403"]
    with pytest.raises(InputError, match="refuses to send the games"):
        list(fetching(account).games())
    site.faults = ["500"] * 9
    with pytest.raises(InputError, match="stopped sending after 0 games"):
        list(fetching(account).games())


def test_no_other_address_is_asked(site):
    site.faults = ["redirect"]
    with pytest.raises(InputError, match="refuses"):
        list(fetching("lichess:Ann").games())
    with pytest.raises(InputError, match="cannot be reached"):  # an address of this machine, without `private`
        list(Fetching("lichess:Ann", checked_opener(follow=False)).games())
    assert len(site.asked) == 1


def test_without_a_network_the_message_is_plain(monkeypatch):
    monkeypatch.setattr(online, "SITES", {"lichess": "http://127.0.0.1:1", "chesscom": "http://no.such.host.invalid"})
    for account in ACCOUNTS:
        with pytest.raises(InputError, match="cannot be reached") as error:
            list(fetching(account).games())
        assert "upload the file" in error.value.hint


def test_a_reply_is_bounded_in_size_and_time(site, monkeypatch):
    monkeypatch.setattr(online, "_MOST_BYTES", 9000)
    with pytest.raises(InputError, match="more than an import may take"):
        list(fetching("lichess:Ann").games())
    monkeypatch.setattr(online, "_MOST_BYTES", 1 << 20)
    monkeypatch.setattr(online, "_LONGEST", 0.2)
    site.faults = ["slow 0.15"]
    with pytest.raises(InputError, match="more than an import may take"):
        list(fetching("lichess:Ann").games())
    site.faults = ["garbage"]
    with pytest.raises(InputError, match="what cannot be read"):
        list(fetching("chesscom:Ann").games())


@pytest.mark.parametrize("text", ["lichess:", "lichess:a b", "lichess:../x", "elsewhere:Ann", "lichess:" + "a" * 31])
def test_what_is_no_account_is_refused_before_anything_is_asked(text):
    with pytest.raises(InputError, match="is no account"):
        fetching(text)
    assert not is_account("games.pgn")
    with pytest.raises(InputError, match="cannot be fetched at once"):
        fetching("lichess:Ann", most=3001)


def test_the_command_fetches_into_a_file_and_goes_on_from_it(site, monkeypatch, tmp_path):
    monkeypatch.setattr(safe_fetch, "checked_opener", partial(checked_opener, private=True))
    monkeypatch.setattr(online.time, "sleep", lambda _: None)
    out = tmp_path / "games.pgn"

    def run(account: str, to: Path = out) -> str:
        result = CliRunner().invoke(app, ["export", account, "--out", str(to)])
        return f"{result.output}{result.exception or ''}"

    site.faults = ["cut 20000", *["500"] * 9]
    assert "stopped sending after" in run("lichess:Ann")
    begun = len(read_games(out))
    assert 0 < begun < 60
    site.games, site.faults = 65, []
    for line in (f"{65 - begun} new games", "0 new games"):
        assert line in run("lichess:Ann")
        found = read_games(out)
        assert (len(found), found.tally.counts) == (65, {})
    dates = found.headers["date"].to_pylist()
    assert dates == sorted(dates, reverse=True)
    assert "does not hold games of chesscom:Ann" in run("chesscom:Ann")
    assert "into a PGN file" in run("lichess:Ann", tmp_path / "x.parquet")
