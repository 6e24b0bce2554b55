"""Kept ratings month by month: late games, corrections, repeats and new names end where one run over all games ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skilloscope.core.errors import InputError
from skilloscope.ratings.periods.saved import SavedRatings, games_file, history_file, load_ratings, save_ratings
from skilloscope.results import Results
from skilloscope.simulate.populations import Population, simulate_results
from skilloscope.studies.results.rating import RatingOptions, rated

GIVEN = {"sigma0": 250.0, "nu": 12.0, "advantage": 30.0, "drift": 0.0}


@pytest.fixture(scope="module")
def year() -> Results:
    """A club's year: 600 games of 25 members."""
    population = Population(25, 12, 600, sigma0=250, nu=40)
    made = simulate_results(population, rng=np.random.default_rng(5), period="1M", start="2024-01-01").results
    return replace(made, noted=type(made.noted)())


def keep(
    games: Results,
    path: Path,
    period: str | None = None,
    aliases: dict[str, str] | None = None,
    *,
    corrected: bool = False,
    again: bool = False,
) -> None:
    """Rate further games on what is kept, and keep it: what `results rate --state` does."""
    kept = load_ratings(path) if path.exists() else None
    given = RatingOptions(aliases=aliases or {}) if kept else RatingOptions(period=period, **GIVEN)
    found = rated(games, given, kept=kept, corrected=corrected, again=again)
    save_ratings(SavedRatings(found.state, found.history, found.every), path)


def by_hand(games: Results, rows: np.ndarray) -> Results:
    return games.select(rows).of_players()


def renamed(games: Results, old: str, new: str) -> Results:
    names = np.array([new if name == old else name for name in games.players], dtype=object)
    return Results.from_columns(names[games.player_1], names[games.player_2], games.score, date=games.date)


def same_files(one: Path, two: Path) -> bool:
    return all(
        name(one).read_bytes() == name(two).read_bytes() for name in (lambda path: path, history_file, games_file)
    )


@pytest.mark.parametrize("period", ["1D", "1W", "1M"])
def test_an_administrators_year_ends_bit_identical_to_one_run_over_the_corrected_file(year, tmp_path, period):
    month = year.date.astype("datetime64[M]").astype(int) % 12
    at = np.arange(len(year))
    late = np.array([at[month == m][3] for m in (1, 4, 8)])  # they come in December
    wrong = np.array([at[month == m][7] for m in (2, 6)])
    recorded = replace(year, score=np.where(np.isin(at, wrong), 1 - year.score, year.score))
    path = tmp_path / "months"
    for m in range(12):
        games = by_hand(recorded, (month == m) & ~np.isin(at, late))
        keep(games, path, period)
        if m == 5:
            before = path.read_bytes()
            with pytest.raises(InputError, match="already played"):
                keep(games, path)
            assert path.read_bytes() == before
    keep(by_hand(year, late), path)
    for game in wrong:
        keep(by_hand(year, np.array([game])), path, corrected=True)
    last = by_hand(year, at[month == 11][:1])
    keep(last, path, aliases={"player 7": "player seven"}, corrected=True)
    keep(renamed(year, "player 7", "player seven"), tmp_path / "once", period)
    assert same_files(path, tmp_path / "once")


def test_games_played_a_second_time_count_where_that_is_said(year, tmp_path):
    keep(year, tmp_path / "kept", "1M")
    keep(by_hand(year, np.array([3])), tmp_path / "kept", again=True)
    assert load_ratings(tmp_path / "kept").state.games == len(year) + 1


def test_a_correction_of_a_game_that_is_not_there_is_refused(year, tmp_path):
    keep(by_hand(year, np.arange(100)), tmp_path / "kept", "1M")
    with pytest.raises(InputError, match="no game of"):
        keep(by_hand(year, np.array([500])), tmp_path / "kept", corrected=True)


def test_published_ratings_are_kept_with_the_games(year, tmp_path):
    rng = np.random.default_rng(1)
    rated_year = replace(year, rating_1=2000 + 400 * rng.random(len(year)), rating_2=np.zeros(len(year)))
    month = year.date.astype("datetime64[M]").astype(int) % 12
    for part in (month != 4, month == 4):
        keep(by_hand(rated_year, part), tmp_path / "parts", "1M")
    found = load_ratings(tmp_path / "parts")
    assert found.games is not None
    assert found.games.rating_1 is not None
    once = rated(rated_year, RatingOptions(period="1M", **GIVEN))
    assert replace(once.state, published=found.state.published, mean=found.state.mean).games == found.state.games
