"""Gains by group and game: expected scores, slopes that are derivatives, intervals that cover when games are dealt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtrit

from skilloscope.chess.pgn.games import read_games
from skilloscope.core.errors import InputError
from skilloscope.inputs.gains import AFFORDABLE, Gained, gains_of_games
from skilloscope.inputs.load import EngineJob
from skilloscope.models.gain import PEAK, GainHistogram, elo_difference, elo_slope, expected_score, move_scores
from skilloscope.ratings.gain_table import GainTable, differences, t_mixture_quantile
from skilloscope.ratings.perceived import between_interval, perceived_least_squares, perceived_weights, running_interval

NAMES = ("london_classic_2011", "tal_memorial_2011", "candidates_2011")
KEPT = Path(__file__).resolve().parents[2] / "measurements" / "events_depth13_sf151.parquet"
Schedule = Sequence[tuple[int, int]]
Sides = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


def random_table(rng: np.random.Generator, groups: int = 5, games: int = 12) -> GainTable:
    moves = 400
    return GainTable.from_gains(
        rng.integers(-60, 30, moves) / 100, rng.integers(0, groups, moves), rng.integers(0, games, moves)
    )


def test_scores_between_groups_are_algorithm_1_of_their_histograms():
    table = random_table(np.random.default_rng(1))
    for first, second in (([0, 1], [2, 3]), ([0, 1, 2, 3, 4], [4, 3, 1, 0, 2])):
        wanted = [expected_score(table.histogram(a), table.histogram(b)) for a, b in zip(first, second, strict=True)]
        np.testing.assert_allclose(table.expected_scores(np.array(first), np.array(second)), wanted)


def test_nobody_has_no_score_and_no_difference():
    table = GainTable.from_gains([0.1], [0], [0], groups=2)
    lead, slopes = table.leads(np.array([0]), np.array([1]), "normal")
    assert np.isnan(lead[0])
    assert np.isnan(slopes.sd()[0])
    assert np.isnan(differences(np.array([np.nan]), "normal")[0])
    with pytest.raises(InputError):
        GainTable.from_gains([0.1], [0, 1], [0])


@given(st.integers(0, 10_000), st.sampled_from(["normal", "logistic"]))
def test_slopes_say_what_a_game_that_counts_a_little_more_changes(seed, curve):
    rng = np.random.default_rng(seed)
    table = random_table(rng, games=4)
    first, second = np.array([0, 3]), np.array([1, 2])
    lead, slopes = table.leads(first, second, curve)
    row = int(rng.integers(len(table.group)))
    many = 20_000  # the counts so many times over, with one row counted once more
    counts = table.counts.toarray() * many
    counts[row] += table.counts.toarray()[row]
    moved = GainTable(table.bins, type(table.counts)(counts), table.group, table.game, table.groups, table.games)
    change = (moved.leads(first, second, curve)[0] - lead) * many
    np.testing.assert_allclose(slopes.by_row.toarray()[:, row], change, atol=0.01 + 0.01 * np.abs(change).max())


@pytest.mark.parametrize("curve", ["normal", "logistic"])
def test_the_slope_of_the_curve_is_its_derivative(curve):
    p = np.linspace(0.02, 0.98, 25)
    step = (elo_difference(p + 1e-6, curve) - elo_difference(p - 1e-6, curve)) / 2e-6
    np.testing.assert_allclose(elo_slope(p, curve), step, rtol=1e-6)


def test_strengths_are_sums_of_differences_with_the_weights_that_are_given():
    rng = np.random.default_rng(11)
    first, second = np.array([0, 1, 2, 3]), np.array([1, 2, 0, 4])
    elo = np.array([2000.0, 1900, np.nan, 1800, 1700])
    anchored, relative = perceived_weights(first, second, elo)
    nothing = perceived_least_squares(first, second, np.zeros(4), elo)
    for _ in range(5):
        d = rng.normal(0, 50, 4)
        wanted = perceived_least_squares(first, second, d, elo)
        np.testing.assert_allclose(anchored @ d + nothing.elo, wanted.elo)
        np.testing.assert_allclose(relative @ d, wanted.relative, atol=1e-9)


def test_a_match_has_the_freedom_of_its_games_though_it_has_two_sides():
    rng = np.random.default_rng(4)
    game, group = np.tile(np.repeat(np.arange(6), 20), 2), np.repeat([0, 1], 120)
    table = GainTable.from_gains(rng.integers(-40, 20, 240) / 100, group, game)
    _, slopes = table.leads(np.array([0]), np.array([1]), "normal")
    assert t_mixture_quantile(*slopes.parts(), 0.95)[0] == pytest.approx(stdtrit(5, 0.975))


@given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(1, 40)), min_size=1, max_size=5), st.floats(0.5, 0.99))
def test_the_quantile_of_parts_lies_between_the_normal_one_and_that_of_the_fewest_games(parts, mass):
    shares, freedom = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
    found = t_mixture_quantile(csr_array(shares[None, :]), freedom, mass)[0]
    assert ndtri((1 + mass) / 2) - 1e-6 <= found <= stdtrit(freedom.min(), (1 + mass) / 2) + 1e-6
    alone = t_mixture_quantile(csr_array(np.eye(len(shares))), freedom, mass)
    np.testing.assert_allclose(alone, stdtrit(freedom, (1 + mass) / 2), rtol=1e-6)


@pytest.mark.parametrize("parts", [[(0.85, 1), (0.15, 13)], [(1, 1)] * 6, [(3, 2), (1, 5), (0.2, 40)]])
def test_the_quantile_of_parts_holds_the_mass_of_what_is_drawn(parts):
    rng, n = np.random.default_rng(3), 200_000
    shares, freedom = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
    variance = (rng.chisquare(freedom, (n, len(parts))) * shares / freedom).sum(axis=1) / shares.sum()
    reach = t_mixture_quantile(csr_array(shares[None, :]), freedom, 0.95)[0]
    assert np.mean(np.abs(rng.standard_normal(n)) <= reach * np.sqrt(variance)) == pytest.approx(0.95, abs=0.002)


def test_what_has_no_part_has_no_quantile():
    assert np.isnan(t_mixture_quantile(csr_array(np.zeros((1, 2))), np.ones(2), 0.95)[0])


# ── Coverage: whole games are dealt at random to players who are thus all alike; what they all are is known. ──


def covered(sides: Sides, schedule: Schedule, deals: int, seed: int = 1) -> dict[str, float]:
    """Return how often 95 % intervals hold the truth, by what they are of, as games are dealt to a schedule."""
    rng = np.random.default_rng(seed)
    players = 1 + max(max(pair) for pair in schedule)
    pairs = sorted({(min(pair), max(pair)) for pair in schedule})
    first, second = (np.array(end) for end in zip(*pairs, strict=True))
    weights = perceived_weights(first, second, np.full(players, 2500.0))[1]
    every = [np.concatenate(column) for column in zip(*sides, strict=True)]
    pool, engine = GainHistogram.from_gains(np.concatenate(every[:2])), GainHistogram.from_gains(every[2])
    truth = {"peak": elo_difference(expected_score(pool)), "agreed": elo_difference(expected_score(pool, engine))}
    hits: dict[str, list[float]] = {}

    def note(name: str, ends: tuple[np.ndarray, ...], wanted: float = 0.0) -> None:
        hits.setdefault(name, []).append(float(np.mean((ends[0] <= wanted) & (wanted <= ends[1]))))

    who = np.arange(players)
    for _ in range(deals):
        by_event, by_match = (_dealt(sides, schedule, pairs, pool=name, rng=rng) for name in ("event", "match"))
        lead, slopes = by_event.leads(first, second, "normal")
        note("event, pairs", slopes.interval(lead, 0.95))
        note("event, players", slopes.combined(weights).interval(weights @ lead, 0.95))
        for at, name in enumerate(("agreed", "peak")):
            lead, slopes = by_event.leads(who, np.full(players, players + at), "normal")
            note(name, slopes.interval(lead, 0.95), truth[name])
        lead, slopes = by_match.leads(2 * np.arange(len(pairs)), 2 * np.arange(len(pairs)) + 1, "normal")
        note("match, pairs", slopes.interval(lead, 0.95))
        note("match, players", slopes.combined(weights).interval(weights @ lead, 0.95))
    return {name: float(np.mean(own)) for name, own in hits.items()}


def _dealt(sides: Sides, schedule: Schedule, pairs: Schedule, *, pool: str, rng: np.random.Generator) -> GainTable:
    """Return the table of one deal: a game drawn for each of the schedule, sides by lot, the engine's gains last."""
    players = 1 + max(max(pair) for pair in schedule)
    number = {pair: at for at, pair in enumerate(pairs)}
    last = players if pool == "event" else 2 * len(pairs)
    gains, groups, games = [np.zeros(1)], [np.array([last + 1])], [np.array([0])]
    for game, (one, two) in enumerate(schedule):
        drawn = sides[int(rng.integers(len(sides)))]
        places = [one, two] if pool == "event" else [2 * number[min(one, two), max(one, two)] + (one > two)] * 2
        if pool == "match":
            places[1] = places[0] ^ 1
        for own, group in zip(drawn, [*rng.permutation(places), last], strict=True):
            gains.append(own)
            groups.append(np.full(len(own), group))
            games.append(np.full(len(own), game))
    return GainTable.from_gains(np.concatenate(gains), np.concatenate(groups), np.concatenate(games))


def knock_out(games: int) -> Schedule:
    pairs = ((0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (4, 6), (0, 4))
    return [pair for pair in pairs for _ in range(games)]


def round_robin(players: int, times: int = 1) -> Schedule:
    return [(i, j) for _ in range(times) for i in range(players) for j in range(i)]


SCHEDULES: dict[str, Schedule] = {
    "round robin": round_robin(8),
    "knock-out, matches of 4": knock_out(4),
    "match of 12": [(0, 1)] * 12,
}
MORE: dict[str, Schedule] = {
    "round robin of 9": round_robin(9),
    "four players twice": round_robin(4, 2),
    "five players four times": round_robin(5, 4),
    "knock-out, matches of 4": knock_out(4),
    "knock-out, matches of 2": knock_out(2),
    **{f"match of {games}": [(0, 1)] * games for games in (6, 12, 24)},
}


@pytest.fixture(scope="module")
def sides(shared_data: Path) -> Sides:
    """Return the games of three events of 2011: both sides' gains, and those of the engine's own moves."""
    files = [shared_data / "events" / f"{name}.pgn" for name in NAMES]
    work = EngineJob(settings=AFFORDABLE, imports=[KEPT], deadline_seconds=0.0)
    return sides_of(gains_of_games(read_games(files), work, values="engine"))


def sides_of(gained: Gained) -> Sides:
    game, losses = gained.game_of_move(), gained.losses
    own = losses.context.column("first_choice").fill_null(False).to_numpy()
    white = losses.context.column("ply").to_numpy() % 2 == 0
    return [
        (losses.gain[at & white], losses.gain[at & ~white], losses.gain[at & own])
        for at in (game == row for row in range(len(gained.games)))
    ]


@pytest.mark.parametrize("name", SCHEDULES)
def test_real_games_dealt_at_random_are_covered_as_often_as_the_intervals_say(sides: Sides, name: str):
    found = covered(sides, SCHEDULES[name], 60 if name == "round robin" else 120)
    single = name == "round robin"  # no interval for a match of one game
    for what, share in found.items():
        if not (single and what.startswith("match")):
            assert 0.91 <= share <= 0.985, f"{what}: {share:.3f}"


@pytest.mark.soak
@pytest.mark.parametrize("name", MORE)
def test_the_shares_of_the_documentation_come_out_again(sides: Sides, name: str):
    found = covered(sides, MORE[name], 3000 if name.startswith("match") else 1000, seed=2)
    for what, share in found.items():
        if not (name == "round robin of 9" and what.startswith("match")):
            assert 0.93 <= share <= 0.97, f"{what}: {share:.3f}"


def test_a_games_own_moves_cover_what_all_games_say(sides: Sides):
    every = [np.concatenate(column) for column in zip(*sides, strict=True)]
    pool = np.concatenate(every[:2])
    for engine in (PEAK, GainHistogram.from_gains(every[2])):
        truth = elo_difference(expected_score(GainHistogram.from_gains(pool), engine))
        for moves in (10, 30, 200):
            held = []
            for own in (side[:moves] for game in sides for side in game[:2] if len(side) >= min(moves, 30)):
                low, high = running_interval(move_scores(own, engine), 0.95)
                held.append(low[-1] <= truth <= high[-1])
            assert np.mean(held) >= 0.93, f"{moves} moves: {np.mean(held):.3f}"
    between = [between_interval(white, black, 0.95) for white, black, _ in sides]
    assert np.mean([low <= 0 <= high for low, high in between]) >= 0.93


def test_an_expected_score_of_0_has_one_infinite_end():
    low, high = running_interval([np.nan, 0.0, 0.0], 0.95)
    assert np.isnan(low[0])
    assert np.all(low[1:] == -np.inf)
    assert np.all(np.isfinite(high[1:]))
    assert running_interval([1.0], 0.95)[1][0] == np.inf
