"""Pools: what a game's tags say, files of several pools, and one network that is told the pool."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import skilloscope as sk
from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import Human, human, shipped_network
from skilloscope.chess.pgn.facts import FIDE, POOLS, pool_of, split_pools
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import OptionError
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import EloAxis, elo_axis
from skilloscope.evidence.posterior import posterior_from_log_density
from skilloscope.inputs.pipeline import pools_told
from skilloscope.studies.moves import moves_study

MOVES = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O"
TAGS = '[Event "{event}"]\n[Site "{site}"]\n[White "stranger"]\n[Black "other {n}"]\n[TimeControl "{time}"]\n'
LICHESS = "https://lichess.org/abcdefg"


def export(*games: tuple[str, str, str], more: str = "") -> Games:
    """Games with these events, sites and time controls, as a server exports them."""
    texts = [
        TAGS.format(event=event, site=site, time=time, n=n) + more + f"\n{MOVES} *\n"
        for n, (event, site, time) in enumerate(games)
    ]
    return read_games(io.StringIO("\n".join(texts)))


@pytest.mark.parametrize(
    ("site", "event", "time", "pool"),
    [
        (LICHESS, "Rated Rapid game", "600+5", "lichess-rapid"),
        (LICHESS, "rated bullet game", "60+0", "lichess-bullet"),
        (LICHESS, "Rated Blitz tournament https://lichess.org/tournament/x", "180+0", "lichess-blitz"),
        (LICHESS, "Some team battle", "480+0", "lichess-rapid"),
        (LICHESS, "Rated game", "1500+0", "lichess-classical"),
        ("Chess.com", "Live Chess", "60", "chesscom-bullet"),
        ("Chess.com", "Live Chess", "300+5", "chesscom-rapid"),
        ("Chess.com", "Live Chess", "3600", "chesscom-rapid"),
        ("Chess.com", "Let's Play", "1/86400", FIDE),
        (LICHESS, "Rated Correspondence game", "-", FIDE),
        ("https://lichess.org/broadcast/x/y/z", "Candidates", "-", FIDE),
        ("Bled SLO", "Candidates", "-", FIDE),
        (None, None, None, FIDE),
        (LICHESS, "Casual Blitz game", "180+0", None),
        (LICHESS, "Rated Chess960 game", "180+0", None),
    ],
)
def test_tags_say_the_pool(site: str, event: str, time: str, pool: str | None) -> None:
    assert pool_of(site, event, time) == pool


def test_a_set_up_position_of_a_server_has_no_pool() -> None:
    assert pool_of(LICHESS, "Rated Blitz game", "180+0", "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1") is None


@pytest.mark.parametrize(
    ("date", "pool"),
    [("2013.01.05", "lichess-blitz-2013"), ("2015.01.01", "lichess-blitz"), ("????.??.??", "lichess-blitz")],
)
def test_lichess_until_2014_is_a_pool_of_its_own(date: str, pool: str) -> None:
    games = export(("Rated Blitz game", LICHESS, "180+0"), more=f'[Date "{date}"]\n')
    assert split_pools(games)[0][0] == pool
    assert pool_of("Chess.com", "Live Chess", "300", date=date) == "chesscom-blitz"


def test_ratings_of_servers_have_their_own_range_and_a_prior_of_their_own_shape() -> None:
    prior = elo_axis("chesscom-blitz").prior()
    assert (prior.low, prior.high) == (400.0, 3300.0)
    low, between, high = prior.log_density([1000.0, 2000.0, 2900.0])
    assert between < low, "there are two humps"
    assert between < high
    assert (elo_axis().prior().low, elo_axis().prior().high) == (700.0, 3000.0)


def test_evaluations_in_the_comments_are_used_where_the_pool_knows_them() -> None:
    tags = TAGS.format(event="Rated Rapid game", site=LICHESS, time="600+0", n=1)
    moves = MOVES.split()
    values = " ".join(
        f"{move} {{ [%eval {0.3 if at % 3 < 2 else -0.9}] }}"
        for at, move in enumerate(m for m in moves if m[-1] != ".")
    )
    bare, judged = (read_games(io.StringIO(f"{tags}\n{text} *\n")) for text in (MOVES, values))
    plain, found = sk.rate(bare).players, sk.rate(judged).players
    assert any("no engine; evaluations in comments" in note for note in sk.rate(judged).notes())
    assert "evaluated" in found[0].sources
    assert "evaluated" not in plain[0].sources
    instant = sk.rate(bare, effort="instant").players
    assert [one.elo.mean for one in plain] == [one.elo.mean for one in instant]
    assert {one.player: one.elo.mean for one in found} != {one.player: one.elo.mean for one in plain}


def test_the_most_frequent_pool_comes_first_and_what_is_unrated_is_counted() -> None:
    games = export(
        ("Rated Blitz game", LICHESS, "180+0"), ("Rated Rapid game", LICHESS, "600+0"),
        ("Casual Rapid game", LICHESS, "600+0"), ("Rated Rapid game", LICHESS, "600+0"),
    )  # fmt: skip
    parts = split_pools(games)
    assert [(pool, len(own)) for pool, own in parts] == [("lichess-rapid", 2), ("lichess-blitz", 1)]
    assert parts[0][1].tally.counts == {"unrated game or variant of a server": 1}
    assert not parts[1][1].tally.counts
    assert pools_told(parts) == [
        "several pools, each with ratings of its own: first lichess-rapid (2 games); then lichess-blitz (1 games)"
    ]


def test_games_over_the_board_are_left_as_they_are() -> None:
    games = export(("Candidates", "Bled", "-"), ("Open", "Biel", "5400+30"))
    assert split_pools(games) == [(FIDE, games)]


def test_a_pool_that_is_asked_for_takes_its_games_or_else_all() -> None:
    mixed = export(("Rated Blitz game", LICHESS, "180+0"), ("Rated Rapid game", LICHESS, "600+0"))
    ((pool, own),) = split_pools(mixed, "lichess-blitz")
    assert (pool, len(own), own.tally.counts) == ("lichess-blitz", 1, {"game of another pool": 1})
    ((pool, own),) = split_pools(export(("Club evening", "?", "-")), "lichess-blitz")
    assert (pool, len(own)) == ("lichess-blitz", 1)


def test_ratings_of_pools_are_never_mixed() -> None:
    games = export(*[("Rated Rapid game", LICHESS, "600+0")] * 2, ("Rated Blitz game", LICHESS, "180+0"))
    ratings = sk.rate(games, effort="instant", player="stranger")
    assert ratings.scale.pool == "lichess-rapid"
    assert [other.scale.pool for other in ratings.others] == ["lichess-blitz"]
    assert [ratings.players[0].games, ratings.others[0].players[0].games] == [2, 1]
    titles = [table.title for table in ratings.tables()]
    assert titles[0].startswith("Lichess rapid rating")
    assert titles[-1].startswith("Lichess blitz rating")
    sent = ratings.as_dict()
    assert (sent["scale"]["pool"], sent["others"][0]["scale"]["pool"]) == ("lichess-rapid", "lichess-blitz")


def test_the_axis_decides_and_an_unknown_pool_is_refused() -> None:
    games = export(("Rated Rapid game", LICHESS, "600+0"))
    assert sk.rate(games, elo_axis(), effort="instant").scale.pool == FIDE
    assert sk.rate(games, effort="instant", pool="chesscom-rapid").scale.pool == "chesscom-rapid"
    with pytest.raises(OptionError, match="no pool 'icc'"):
        sk.rate(games, effort="instant", pool="icc")


@pytest.mark.parametrize("pool", POOLS)
def test_every_pool_ships_an_axis_for_the_network_that_ships(pool: str) -> None:
    axis = elo_axis(pool)
    assert axis.pool == pool
    assert axis.model == shipped_network(pool).sha256
    assert EloAxis.from_json(axis.to_json()).to_json() == axis.to_json()
    assert axis.across is None or pool != FIDE


def test_the_network_is_told_the_pool_whatever_the_size_of_the_batch() -> None:
    boards = Boards.from_moves(read_games(io.StringIO(f"{MOVES} *")).moves, np.array([0, 16]), [""])
    blitz, rapid = (human(pool).choices(boards).coefficients for pool in ("lichess-blitz", "lichess-rapid"))
    assert not np.allclose(blitz, rapid)
    one = human("lichess-blitz").choices(boards[:3]).coefficients
    assert np.array_equal(one, blitz[: len(one)])


def test_both_networks_fit_into_five_megabytes() -> None:
    assert sum(len(shipped_network(pool).weights) for pool in (FIDE, "lichess-rapid")) < 5_000_000


def test_moves_and_opponents_are_of_the_pool_that_is_asked_for() -> None:
    study = moves_study("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3", pool="lichess-blitz")
    assert study.pool == "lichess-blitz"
    assert study.tables()[0].title.startswith("what people of lichess-blitz play")
    assert not any("blitz people play differently" in line for line in study.caveats)


def test_across_pools_the_interval_has_both_uncertainties() -> None:
    across = elo_axis("lichess-rapid").across
    assert across is not None
    known = posterior_from_log_density(Normal(1700, 120, 700, 3000).log_density, 700.0, 3000.0)
    found = across.fide(known, 0.95)
    assert found is not None
    mean, low, high = found
    assert across.elo[0] < mean < across.elo[-1]
    assert (low + high) / 2 == pytest.approx(mean)
    assert high - low > 2 * 1.96 * across.sd
    assert all(np.diff(across.elo) > 0)
    beyond = posterior_from_log_density(Normal(2950, 20, 700, 3000).log_density, 700.0, 3000.0)
    assert across.fide(beyond, 0.95) is None


def test_the_model_of_a_pool_is_cached_apart(tmp_path: Path) -> None:
    from skilloscope.chess.human.model import CachedHuman

    file = tmp_path / "human.sqlite"
    boards = Boards.from_moves(read_games(io.StringIO(f"{MOVES} *")).moves, np.array([0, 16]), [""])
    own = CachedHuman(shipped_network("lichess-blitz"), file, "lichess-blitz")
    other = CachedHuman(shipped_network("lichess-rapid"), file, "lichess-rapid")
    first, second = own.choices(boards), other.choices(boards)
    assert np.array_equal(first.coefficients, own.choices(boards).coefficients)
    assert np.array_equal(second.coefficients, Human(other.network, "lichess-rapid").choices(boards).coefficients)
