"""Results: every row used, or counted and named; tables go out and come back unchanged."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.results import integrated_probability
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from skilloscope.core.errors import InputError
from skilloscope.core.frames import to_pandas, to_polars
from skilloscope.core.table_files import write_table
from skilloscope.models.paired_comparison import Q, win_probability
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.saved import SavedRatings, load_ratings, save_ratings
from skilloscope.results import Results, read_results
from skilloscope.results.aliases import NameCodes, renamed_players
from skilloscope.results.reading import OUT_OF_ORDER, TWICE, Reading, ResultStream, repeated_games, results_from_frame
from skilloscope.results.repeats import repeated_rows
from skilloscope.results.table import YOURSELF
from skilloscope.simulate.populations import Population, simulate_results, simulated_games
from skilloscope.studies.results.rating import RatingOptions, rated

HEADER = "date,player_1,player_2,score\n"


BAD = {
    "2024-02-30,Ann,Bob,1": "impossible date",
    "2024-13-01,Ann,Bob,1": "impossible date",
    ",Ann,Bob,1": "missing date",
    "????.??.??,Ann,Bob,1": "missing date",
    "2024-02-01,Ann,Ann,1": "a player against himself",
    "2024-02-01,Ann, Ann ,0": "a player against himself",
    "2024-02-01,Ann,Cy,7": "unknown score",
    "2024-02-01,Ann,Cy,nan": "unknown score",
    "2024-02-01,Ann,Cy,perhaps": "unknown score",
    "2024-02-01,Ann,Cy,": "no score",
    "2024-02-01,,Cy,1": "no player",
    "2024-02-01,Ann,Cy": "wrong number of cells",
    "2024-02-01,Ann,Cy,1,1": "wrong number of cells",
}


NO_GAME = {
    "2024-02-01,Ann,Cy,+/-": "forfeit",
    "2024-02-01,Ann,Cy,1F": "forfeit",
    "2024-02-01,Ann,Cy,W/O": "walkover",
    "2024-02-01,Ann,BYE,1": "bye",
    "2024-02-01,Ann,Cy,bye": "bye",
    "2024-02-01,Ann,Cy,*": "unfinished",
}


def table(tmp_path: Path, text: str, name: str = "results.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("row", "reason"), BAD.items())
def test_a_bad_row_is_counted_and_named_with_file_and_row_and_the_others_are_used(tmp_path, row, reason):
    path = table(tmp_path, f"{HEADER}2024-01-01,Ann,Bob,1\n{row}\n2024-03-01,Bob,Ann,0.5\n")
    results = read_results(path)
    assert len(results) == 2
    assert results.tally.counts == {reason: 1}
    assert [(f.file, f.place) for f in results.tally.faults] == [(str(path), "row 3")]


@pytest.mark.parametrize(("row", "reason"), NO_GAME.items())
def test_forfeits_byes_and_walkovers_are_counted_and_are_no_fault(tmp_path, row, reason):
    results = read_results(table(tmp_path, f"{HEADER}2024-01-01,Ann,Bob,1\n{row}\n"))
    assert (len(results), results.tally.counts, results.tally.faults) == (1, {reason: 1}, [])


def test_rows_after_odd_and_blank_ones_keep_their_number(tmp_path):
    path = table(tmp_path, HEADER + "2024-01-01,Ann,Bob\n\n2024-01-02,Ann,Bob,9\n")
    assert [str(fault) for fault in read_results(path).tally.faults] == [
        f"{path}, row 2: wrong number of cells (3 in place of 4)",
        f"{path}, row 4: unknown score (9)",
    ]


def test_every_row_is_a_game_or_counted(tmp_path):
    rows = [*BAD, *NO_GAME, "2024-01-01,Ann,Bob,1", "2024-01-01,Ann,Bob,1"] * 3
    results = read_results(table(tmp_path, HEADER + "\n".join(rows) + "\n"))
    assert len(results) + results.tally.total == len(rows)


def test_unsorted_dates_are_sorted_and_noted(tmp_path):
    results = read_results(table(tmp_path, HEADER + "2024-03-01,A,B,1\n2024-01-01,A,C,0\n2024-02-01,B,C,1\n"))
    assert results.date.astype(str).tolist() == ["2024-01-01", "2024-02-01", "2024-03-01"]
    assert results.noted.counts == {OUT_OF_ORDER: 1}
    assert results.tally.total == 0


def test_games_listed_twice_are_kept_and_noted_or_dropped_and_counted(tmp_path):
    rows = (
        "2024-03-01,A,B,1\n2024-03-01,A,B,1\n2024-03-01,B,A,1\n2024-03-01,A,B,0\n2024-03-02,A,B,1\n2024-03-01,A,B,1\n"
    )
    path = table(tmp_path, HEADER + rows)
    kept, dropped = read_results(path), read_results(path, drop_duplicates=True)
    assert (len(kept), kept.noted.counts[TWICE], kept.tally.total) == (6, 2, 0)
    assert (len(dropped), dropped.tally.counts) == (4, {TWICE: 2})


def test_dates_known_to_the_year_count_by_years_and_are_left_out_and_counted_by_months(tmp_path):
    results = read_results(
        table(tmp_path, HEADER + "1936.??.??,A,B,1\n1936.05.??,A,B,1\n1936.05.02,A,B,1\n1936,A,B,1\n")
    )
    assert len(results.by_period("1Y")) == 4
    assert len(results.by_period("2M")) == 2
    assert results.for_period("2M").tally.counts == {"date without a month (period 2M)": 2}
    assert results.for_period("1D").tally.counts == {"date without a day (period 1D)": 3}
    assert TWICE not in results.noted.counts


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("r.csv.gz", lambda text: gzip.compress(text.encode())),
        ("r.csv.bz2", lambda text: bz2.compress(text.encode())),
        ("r.csv", lambda text: b"\xef\xbb\xbf" + text.encode()),
        ("r.csv", lambda text: text.encode("latin-1")),
        ("r.csv", lambda text: text.replace("\n", "\r\n").encode()),
        ("r.csv", lambda text: text.replace(",", ";").encode()),
        ("r.tsv", lambda text: text.replace(",", "\t").encode()),
        ("r.csv", lambda text: text.rstrip("\n").encode()),
    ],
)
def test_packed_files_other_encodings_and_separators_read_alike(tmp_path, name, write):
    path = tmp_path / name
    path.write_bytes(write(HEADER + "2024-01-01,Ångström,Bo,1\n2024-01-02,Bo,Cy,1/2-1/2\n"))
    results = read_results(path)
    assert list(results.players) == ["Bo", "Cy", "Ångström"]
    assert results.score.tolist() == [1.0, 0.5]
    assert results.tally.total == 0


def test_other_column_names_are_mapped_and_a_missing_column_says_which_there_are(tmp_path):
    path = table(tmp_path, "day,white,black,result\n20240101,A,B,0-1\n")
    columns = {"date": "day", "player_1": "white", "player_2": "black", "score": "result"}
    assert read_results(path, columns=columns).score.tolist() == [0.0]
    assert read_results(path).score.tolist() == [0.0]
    path = table(tmp_path, "day,left,right,result\n20240101,A,B,0-1\n")
    with pytest.raises(InputError, match="which column is player_1 and which player_2") as error:
        read_results(path)
    assert "day, left, right, result" in error.value.hint
    assert "--columns player_1=…,player_2=…,date=day,score=result" in error.value.hint
    with pytest.raises(InputError, match="no column 'winner'"):
        read_results(path, columns={"winner": "white"})


def test_period_numbers_stand_in_place_of_dates(tmp_path):
    results = read_results(
        table(tmp_path, "period,player_1,player_2,score\n3,A,B,1\n5,A,B,0\nx,A,B,0\n,A,B,1\n4.5,A,B,1\n-1,A,B,1\n")
    )
    assert results.by_period().offsets.tolist() == [0, 1, 1, 2]
    assert results.by_period().first == 3
    assert results.tally.counts == {"period is not a whole number from 0 on": 3, "missing period": 1}
    with pytest.raises(InputError, match="period numbers, not dates"):
        results.by_period("1M")


def test_dates_run_together_as_period_numbers_are_refused(tmp_path):
    path = table(tmp_path, "period,player_1,player_2,score\n20000101,A,B,1\n20250101,A,B,0\n990101,A,B,1\n")
    with pytest.raises(InputError, match="periods between"):
        read_results(path).by_period()


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"nothing here"])
def test_a_file_that_is_no_table_is_refused_with_a_hint(tmp_path, content):
    path = tmp_path / "r.csv"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_results(path)


def test_the_order_of_rows_changes_neither_players_nor_periods():
    rng = np.random.default_rng(1)
    results = simulate_results(Population(20, 6, 300), rng=rng, period="1M").results
    shuffled = results.select(rng.permutation(len(results)))
    a, b = results.by_period("1M"), shuffled.by_period("1M")
    assert (a.offsets == b.offsets).all()
    for t in range(a.n_periods):
        part = slice(a.offsets[t], a.offsets[t + 1])
        rows = [sorted(zip(g.player_1[part], g.player_2[part], g.score[part], strict=True)) for g in (a, b)]
        assert rows[0] == rows[1]


def test_tables_put_together_match_names():
    one = Results.from_columns(["Bo"], ["Cy"], [1], date=["2024-01-01"])
    two = Results.from_columns(["Ann"], ["Bo"], [0], date=["2024-01-02"])
    both = Results.concat([one, two])
    assert list(both.players) == ["Ann", "Bo", "Cy"]
    assert both.player_1.tolist() == [1, 0]
    assert both.player_2.tolist() == [2, 1]


def test_results_go_through_frames_and_files_unchanged(tmp_path):
    results = simulate_results(Population(9, 4, 60), rng=np.random.default_rng(2), period="1W").results
    for name in ("r.csv", "r.parquet"):
        write_table(results.to_arrow(), tmp_path / name)
    back = [read_results(tmp_path / "r.csv"), read_results(tmp_path / "r.parquet")]
    back += [
        results_from_frame(to_pandas(results.to_arrow())),
        results_from_frame(to_polars(results.to_arrow())),
    ]
    for other in back:
        assert list(other.players) == list(results.players)
        for column in ("player_1", "player_2", "score", "date"):
            assert (getattr(other, column) == getattr(results, column)).all()


def test_frames_with_times_and_numbers_for_players_are_read():
    import pandas as pd
    import polars as pl

    columns = {"player_1": [7, 10], "player_2": [10, 3], "score": [1.0, 0.5]}
    times = pd.to_datetime(["2024-01-05 20:15:01.123456789", "2024-02-01 00:00:00.000000001"])
    for frame in (pd.DataFrame({"date": times, **columns}), pl.DataFrame({"date": times.to_numpy(), **columns})):
        results = results_from_frame(frame)
        assert list(results.players) == ["10", "3", "7"]
        assert results.date.astype(str).tolist() == ["2024-01-05", "2024-02-01"]


NAMES = ["=1+1", "+A", "-B", "@C", "'t Hart", "'=D", "plain", 'quo"te', "com,ma", "''x"]


def test_names_that_a_spreadsheet_would_run_are_written_as_text_and_read_back(tmp_path):
    results = Results.from_columns(NAMES, NAMES[::-1], [1] * len(NAMES), date=["2024-01-01"] * len(NAMES))
    write_table(results.to_arrow(), tmp_path / "r.csv")
    cells = [cell.strip('"') for line in (tmp_path / "r.csv").read_text().splitlines()[1:] for cell in line.split(",")]
    assert not [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell[:1]]
    assert sorted(read_results(tmp_path / "r.csv").players) == sorted(NAMES)


def test_a_stream_gives_every_game_once_in_whole_periods(tmp_path):
    results = simulate_results(Population(40, 12, 2000), rng=np.random.default_rng(3), period="1M").results
    pq.write_table(results.to_arrow(), tmp_path / "r.parquet", row_group_size=150)
    stream = ResultStream(tmp_path / "r.parquet", "1M", batch=170)
    parts = list(stream)
    whole = results.by_period("1M")
    assert stream.games == len(whole)
    assert sum(part.n_periods for part in parts) == whole.n_periods
    names = np.array(stream.players)
    played = np.concatenate([names[part.player_1] for part in parts])
    assert (played == np.array(whole.players)[whole.player_1]).all()
    assert [part.first for part in parts] == sorted({part.first for part in parts})


def test_a_stream_out_of_order_is_refused_and_its_bad_rows_are_named(tmp_path):
    dates = np.array(["2024-05-01"] * 4 + ["2024-01-01"] * 4, dtype="datetime64[D]")
    rows = {"date": dates, "player_1": list("ABABABAB"), "player_2": list("CCCCCCCC"), "score": [1.0] * 7 + [3.0]}
    pq.write_table(pa.table(rows), tmp_path / "r.parquet")
    with pytest.raises(InputError, match="not in the order of its dates"):
        list(ResultStream(tmp_path / "r.parquet", "1M", batch=2))
    sorted_rows = pa.table(rows).sort_by("date")
    pq.write_table(sorted_rows, tmp_path / "s.parquet")
    stream = ResultStream(tmp_path / "s.parquet", "1M", batch=3)
    assert sum(len(part) for part in stream) == 7
    assert [fault.place for fault in stream.tally.faults] == ["row 4"]


@given(st.integers(1, 400), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_the_fast_way_to_find_repeated_games_agrees_with_the_plain_one(games, players, seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, players, games).astype(np.int32)
    two = ((one + rng.integers(1, players, games)) % players).astype(np.int32)
    day = np.sort(rng.integers(-3, 4, games)).astype("datetime64[D]")
    table = Results([str(i) for i in range(players)], one, two, rng.choice([0.0, 0.5, 1.0, 0.25], games), day)
    fast = repeated_rows(table.player_1, table.player_2, table.score, day.astype(np.int64))
    assert np.array_equal(fast, repeated_games(table))


@given(st.lists(st.one_of(st.integers(0, 40), st.integers(-5, 2**40)), min_size=1), st.booleans())
def test_players_have_one_code_whether_they_come_as_numbers_texts_or_in_a_dictionary(ids, cut):
    numbers = pa.chunked_array([pa.array(ids, pa.int64())])
    forms = [numbers, numbers.cast(pa.string()), numbers.cast(pa.string()).dictionary_encode()]
    forms += [numbers.cast(pa.large_string()), pa.chunked_array([pa.array(ids[:1], pa.int64()), ids[1:]])]
    for form in forms[: 2 if cut else None]:
        names = NameCodes()
        codes = np.concatenate([names.of(part) for part in (form[: len(ids) // 2], form[len(ids) // 2 :])])
        assert [names.players[code] for code in codes] == [str(number) for number in ids]
        assert len(set(names.players)) == len(names.players)


def test_a_stream_puts_spellings_and_aliases_together_as_a_table_read_whole(tmp_path):
    sides = ["Bo, A", "BO,A.", "Cy", "Bo,  A", "Dee", "Cy"], ["Cy", "Dee", "Cyd", "Dee", "Cyd", "Bo, A"]
    rows = {"date": np.arange("2024-01-01", "2024-01-07", dtype="datetime64[D]"), "score": [1.0, 0.5, 1, 0, 1, 0]}
    pq.write_table(pa.table({**rows, "player_1": sides[0], "player_2": sides[1]}), tmp_path / "r.parquet")
    whole = renamed_players(read_results(tmp_path / "r.parquet"), {"Cyd": "Cy"})
    stream = ResultStream(tmp_path / "r.parquet", "1M", batch=2, aliases={"Cyd": "Cy"})
    model = Periods(sigma0=200.0, nu=30.0, smoothing=None)
    assert model.fit_stream(stream).state_.players == list(whole.players) == ["Bo, A", "Cy", "Dee"]
    assert np.array_equal(model.state_.lines, Periods(sigma0=200.0, nu=30.0, smoothing=None).fit(whole).state_.lines)
    assert stream.tally.counts == {YOURSELF: 1} == whole.tally.counts
    assert stream.noted.counts == whole.noted.counts


def test_a_rating_published_later_in_a_period_does_not_foretell_its_games(tmp_path):
    days = ["2024-01-20", "2024-01-20", "2024-01-05", "2024-02-03"]
    columns = {"date": days, "white": ["A", "A", "B", "A"], "black": ["B", "C", "A", "C"], "result": ["1-0"] * 4}
    ratings = {"welo": ["2300", "2302", "2100", "2400"], "belo": ["2150", "", "2200", "0"]}
    write_table(pa.table({**columns, **ratings}), tmp_path / "r.csv")
    games = read_results(tmp_path / "r.csv", how=Reading(observed="welo,belo")).by_period("1M")
    seen = {(games.players[i], t): r for side, own in zip((games.player_1, games.player_2), games.ratings, strict=True)
            for i, t, r in zip(side, games.period, own, strict=True)}  # fmt: skip
    assert seen == {("A", 0): 2200.0, ("B", 0): 2100.0, ("C", 0): 0.0, ("A", 1): 2400.0, ("C", 1): 0.0}


def test_simulated_strengths_spread_and_wander_as_told():
    population = Population(20_000, 5, 5, sigma0=200, nu=50)
    steps = np.column_stack([strength for *_, strength in simulated_games(population, rng=np.random.default_rng(4))])
    assert steps[:, 0].std() == pytest.approx(200, rel=0.03)
    assert np.diff(steps, axis=1).std() == pytest.approx(50, rel=0.03)


@given(st.floats(-1500, 1500), st.floats(1, 600))
def test_the_integrated_probability_is_the_integral(difference, sd):
    truth, _ = quad(lambda z: expit(Q * (difference + sd * z)) * norm.pdf(z), -10, 10, epsabs=1e-12, limit=200)
    found = integrated_probability(difference, sd**2, 0.0, 0.0)
    assert found == pytest.approx(truth, abs=1e-6)
    assert found == pytest.approx(float(win_probability(difference, sd**2, 0.0, 0.0)), abs=0.03)


def test_the_great_players_are_read_from_real_results(shared_data):
    path = shared_data / "results" / "chess_great_players_1857_1991.csv"
    results = read_results(path, columns={"player_1": "white", "player_2": "black", "score": "white_score"})
    assert len(results.by_period("1Y")) + results.tally.total == 26_352
    assert results.by_period("1Y").n_periods == 135


GOOD = "date,player_1,player_2,score\n2024-05-01,Müller,Bo,1\n2024-05-02,Bo,Cy,0\n2024-05-03,Cy,Ann,1\n"


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (b"\n\n" + GOOD.encode(), None),
        (GOOD.replace("\n", "\r").encode(), None),
        (GOOD.replace("\n", "\r\n").encode(), None),
        (GOOD.encode("latin-1"), None),
        (GOOD.encode() + b"2024-05-04,Caf\xe9,B,1,9,9\n", "row 5"),
        (GOOD.encode() + f"2024-05-04,{'x' * 200_000},B,1\n".encode(), ""),
        (GOOD.replace("score", "score,x,x").replace(",1\n", ",1,,\n").replace(",0\n", ",0,,\n").encode(), None),
    ],
    ids=["blank first lines", "CR", "CRLF", "Latin-1", "one ragged Latin-1 row", "a long name", "a column twice"],
)
def test_one_odd_thing_in_a_table_costs_at_most_its_row(data, row, tmp_path):
    (tmp_path / "r.csv").write_bytes(data)
    results = read_results(tmp_path / "r.csv")
    assert {"Müller", "Bo", "Cy", "Ann"} <= set(results.players)
    assert len(results) == (4 if row == "" else 3)
    assert [fault.place for fault in results.tally.faults] == ([row] if row else [])


def test_our_own_column_twice_is_refused_in_words(tmp_path):
    (tmp_path / "r.csv").write_text(
        GOOD.replace("score", "score,score").replace(",1\n", ",1,1\n").replace(",0\n", ",0,0\n")
    )
    with pytest.raises(InputError, match="the column score twice"):
        read_results(tmp_path / "r.csv")


@pytest.mark.parametrize("what", ["state", "history"])
def test_a_damaged_state_is_refused_in_words(what, tmp_path):
    table = Results.from_columns(["Ann", "Bo"] * 4, ["Cy", "Ann"] * 4, [1, 0] * 4, date=["2024-01-01"] * 8)
    run = rated(table, RatingOptions(period="1D", sigma0=100.0, nu=10.0))
    save_ratings(SavedRatings(run.state, run.history), tmp_path / "s")
    path = tmp_path / ("s" if what == "state" else "s.history")
    data = path.read_bytes()
    for damaged in (b"", b"PAR1", data[:200], data[:-20] + data[-19:], data.replace(b"sigma0", b"sigma1")):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=path.name):
            load_ratings(tmp_path / "s")
