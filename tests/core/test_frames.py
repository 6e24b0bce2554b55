"""Tables go out as frames and come back to the bit; a notebook shows what the terminal shows."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes

import skilloscope as sk
from skilloscope.core.errors import InputError
from skilloscope.core.frames import CARRIED, arrow_from_frame, table_of_rows, to_pandas, to_polars
from skilloscope.studies.agent_ratings import rate_decisions

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def batch() -> sk.Decisions:
    """Decisions with ten depths, with ratings missing in some games: as `analyse --out` writes them."""
    return sk.decisions(sk.analyse(sk.demo_games(), imports=[sk.analyses_file()]))


@pytest.mark.parametrize("out", [to_pandas, to_polars], ids=["pandas", "polars"])
def test_decisions_come_back_from_a_frame_to_the_bit(batch, out):
    back = sk.decisions_from_frame(out(batch.to_arrow()))
    assert back.depths == batch.depths
    assert back.about == batch.about
    assert back.values.dtype == batch.values.dtype
    assert np.array_equal(back.values, batch.values, equal_nan=True)
    for name in ("decider", "offsets", "chosen", "n_legal"):
        assert np.array_equal(getattr(back, name), getattr(batch, name))
    assert back.context.equals(batch.context)
    assert back.tally.as_dict() == batch.tally.as_dict()


def test_a_frame_may_lose_rows_and_gain_columns(batch):
    frame = batch.to_pandas()
    some = frame[frame["ply"] > 40].assign(mood="calm")
    back = sk.decisions_from_frame(some)
    assert len(back) == len(some)
    assert back.depths == batch.depths
    assert set(back.context.column("mood").to_pylist()) == {"calm"}


def test_whoever_speaks_arrow_takes_a_batch_as_it_is(batch):
    assert pa.table(batch).equals(batch.to_arrow()) or len(pa.table(batch)) == len(batch)
    assert polars.DataFrame(batch).height == len(batch)


def test_frames_of_several_tables_put_together_are_refused(batch):
    one, two = batch.to_polars(), batch.at_depths().to_polars()
    both = one.select("decider", CARRIED).vstack(
        two.select("decider", CARRIED).cast(one.select("decider", CARRIED).schema)
    )
    with pytest.raises(InputError, match="2 schemas"):
        arrow_from_frame(both)


def test_a_broken_schema_and_what_is_no_frame_are_refused(batch):
    with pytest.raises(InputError, match="broken"):
        arrow_from_frame(batch.to_pandas().assign(skilloscope="tea"))
    with pytest.raises(InputError, match="not a frame"):
        arrow_from_frame([1, 2])


def test_whole_numbers_with_gaps_stay_whole():
    table = pa.table({"elo": pa.array([1500, None], type=pa.int32())})
    frame = to_pandas(table)
    assert str(frame["elo"].dtype) == "Int32"
    assert arrow_from_frame(frame).equals(table)


def test_a_frame_of_decisions_is_rated_as_the_decisions_are(batch):
    own, framed = rate_decisions(batch), sk.rate(batch.to_polars())
    assert [one.elo.mean for one in own.players] == [one.elo.mean for one in framed.players]


def test_ratings_are_short_in_words_and_whole_in_a_frame(batch):
    rated = rate_decisions(batch)
    assert len(repr(rated)) < 300
    assert rated.to_pandas()["player"].tolist() == [one.player for one in rated.players]
    assert "<table>" in rated._repr_html_()
    axes = rated.plot()
    assert isinstance(axes, Axes)


def test_everybody_over_time_and_in_order_is_drawn_and_shown():
    names = [f"P{i}" for i in range(30)]
    pairs = [(a, b) for a in range(30) for b in range(30) if a != b]
    made = {"date": [f"20{10 + i % 9}-05-01" for i in range(len(pairs))], "player_1": [names[a] for a, _ in pairs]}
    made |= {"player_2": [names[b] for _, b in pairs], "score": [float(a < b) for a, b in pairs]}
    fitted = sk.Periods(sigma0=300, nu=30).fit(pa.table(made))
    for found in (fitted.history_, fitted.ratings_):
        assert len(repr(found)) < 100
        assert found._repr_html_().count("<tr>") == 21
        assert "more rows</small>" in found._repr_html_()
        assert "<svg" in found._repr_html_()
        assert isinstance(found.plot("P3", "P1"), Axes)
        with pytest.raises(InputError, match="no player is called 'Nobody'"):
            found.plot("Nobody")
    assert [text.get_text() for text in fitted.ratings_.plot("P3", "P1").get_yticklabels()] == ["P1", "P3"]
    assert [text.get_text() for text in fitted.history_.plot().get_legend().get_texts()][:3] == names[:3]
    assert len(fitted.ratings_.plot().get_yticks()) == 20
    plt.close("all")


def test_a_profile_is_short_in_words_drawn_and_whole_in_a_frame(batch):
    found = sk.profile(batch.to_pandas())
    assert found.prior == "reset"
    assert "estimated alone" in found.warnings[0]  # one year only, and the prior of two would be a drift
    assert len(repr(found)) < 100
    assert len(found.to_pandas()) == sum(len(one.periods) for one in found.players)
    assert "<table>" in found._repr_html_()
    assert isinstance(found.plot(), Axes)
    plt.close("all")


@pytest.mark.parametrize("what", [5, None, {"a": 1}, b"1. e4 *", [1, 2], "frame"])
def test_what_cannot_be_taken_is_refused_with_what_can(what):
    given = pa.table({"a": [1]}).to_pandas() if isinstance(what, str) else what
    for take in (sk.rate, sk.analyse, sk.read_games, sk.agent_evidence, sk.decisions, sk.profile, sk.Periods().fit):
        with pytest.raises(InputError) as refused:
            take(given)
        assert refused.value.hint


def test_rows_become_a_table_without_the_columns_that_nobody_fills():
    assert table_of_rows([{"a": 1, "b": None}, {"a": 2, "b": None}]).column_names == ["a"]


def test_a_path_is_analysed_as_its_games_are(tmp_path):
    from skilloscope.inputs.bundled import demo_file

    path = demo_file("simulated.pgn")
    own = sk.analyse(str(path), imports=[sk.analyses_file()])
    assert len(own) == len(sk.analyse(sk.read_games(path), imports=[sk.analyses_file()]))


def test_results_boards_and_histories_go_out_as_frames_and_results_come_in_as_one():
    results = sk.Results.from_columns(
        ["Ann", "Bo", "Ann", "Cy"],
        ["Bo", "Cy", "Cy", "Bo"],
        [1, 0.5, 1, 0],
        date=["2024-01-05"] * 2 + ["2024-02-07"] * 2,
    )
    own = sk.Periods(period="1M", sigma0=300, nu=30).fit(results)
    framed = sk.Periods(period="1M", sigma0=300, nu=30).fit(results.to_pandas())
    assert own.ratings_.to_polars()["player"].to_list() == [row.player for row in own.ratings_.rows()]
    assert np.array_equal(own.ratings_.rating, framed.ratings_.rating)
    assert len(own.history_.to_pandas()) == len(own.history_)
    assert len(repr(own.ratings_)) < 100
