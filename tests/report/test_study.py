"""A study is declared once: JSON, frames, tables, pages and notebooks come from its fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from skilloscope.cli.console import show
from skilloscope.cli.options import Output
from skilloscope.core.errors import InputError, Tally
from skilloscope.report.charts import Bars, Densities, Dot, Figure, Forest, Histogram, Lines, Panels, Series
from skilloscope.report.study import Study, json_value
from skilloscope.report.table import Column, EloEstimate, Table


@dataclass(frozen=True)
class Player:
    player: str
    elo: EloEstimate | None
    or_: str = ""

    FIELDS: ClassVar = ("player", "*elo", "games", "or_")

    @property
    def games(self) -> int:
        return 3


@dataclass(frozen=True, eq=False)
class Ratings(Study):
    mass: float
    players: Sequence[Player]

    FIELDS: ClassVar = ("mass", "players", "warnings", "skipped")
    ROWS: ClassVar = "players"
    title = "Ratings of <two>"
    caveats = ("Anything else.",)

    def tables(self, top: int | None = None) -> Sequence[Table]:
        columns: list[Column[Player]] = [
            Column("player", lambda row: row.player, label=True),
            Column("Elo", lambda row: str(row.elo or "–")),
        ]
        return [Table.of("ratings", self.players[:top], columns, notes=["", "a note"], faded=lambda row: not row.elo)]

    def figures(self) -> Sequence[Figure]:
        rows = [(row.player, [Dot(row.elo.elo, row.elo.elo_low, row.elo.elo_high)]) for row in self.players if row.elo]
        return [Figure("Elo", Forest(rows, "Elo"), "Line: interval.")]


def study() -> Ratings:
    rows = [Player("Ann", EloEstimate(2000.4, 1900, 2100, "high")), Player("Bob", None, "Ann")]
    return Ratings(0.95, rows, warnings=["little"], tally=Tally({"forced": 2, "book": 5}))


def test_json_sends_the_named_fields_and_spreads_what_is_marked():
    assert study().as_dict() == {
        "schema": 1,
        "mass": 0.95,
        "players": [
            {
                "player": "Ann",
                "elo": 2000.4,
                "elo_low": 1900,
                "elo_high": 2100,
                "elo_edge": "high",
                "games": 3,
                "or": "",
            },
            {"player": "Bob", "games": 3, "or": "Ann"},
        ],
        "warnings": ["little"],
        "skipped": {"book": 5, "forced": 2},
    }


def test_numbers_of_numpy_become_plain_and_what_is_unknown_is_refused():
    sent = json_value({1: np.arange(2), "x": [np.float64(0.5), np.bool_(True)], "none": None})
    assert json.dumps(sent) == '{"1": [0, 1], "x": [0.5, true], "none": null}'
    with pytest.raises(TypeError, match="object cannot be sent"):
        json_value(object())


def test_the_rows_are_a_frame_as_json_has_them():
    assert study().to_arrow().column("elo").to_pylist() == [2000.4, None]
    assert study().to_pandas()["player"].tolist() == ["Ann", "Bob"]


def test_tables_page_and_notebook_show_the_same_cells():
    (table,) = study().tables()
    assert (table.rows, table.notes, table.faded) == ([["Ann", "2000 (1900 to 2100) ↑"], ["Bob", "–"]], ["a note"], [1])
    page, notebook = study().page("a file"), study()._repr_html_()
    for text in (page, notebook):
        assert "2000 (1900 to 2100) ↑" in text
        assert text.count("<svg") == 1
    assert "Ratings of &lt;two&gt;" in page
    assert "Anything else." in page
    assert study().page(title="Mine").count("<h1>Mine</h1>") == 1
    assert study().plot().get_xlabel() == "Elo"


def test_a_study_without_a_figure_or_a_table_says_so():
    bare = Study()
    with pytest.raises(InputError, match="no figure"):
        bare.plot()
    with pytest.raises(InputError, match="no single table"):
        bare.to_arrow()


def test_show_writes_what_was_asked_for(tmp_path, capsys):
    output = Output(html=tmp_path / "page.html", figure=tmp_path / "elo.png", title="Mine")
    assert show(study(), output, source="games.pgn", top=1) == 0
    out, err = capsys.readouterr()
    assert "Ann" in out
    assert "Bob" not in out
    assert "note: little" in err
    assert "<h1>Mine</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (tmp_path / "elo.png").read_bytes().startswith(b"\x89PNG")
    show(study(), Output(as_json=True))
    assert json.loads(capsys.readouterr().out) == study().as_dict()


def test_input_at_fault_is_named_once_and_gives_exit_code_1(capsys):
    tally = Tally()
    tally.fault("illegal move", "games.pgn", "game 2")
    faulty = Ratings(0.95, [], tally=tally)
    assert (show(faulty, Output()), show(faulty, Output())) == (1, 1)
    assert capsys.readouterr().err.count("illegal move") == 1


class Bump:
    at = np.linspace(0, 4, 401)
    density = np.exp(-0.5 * (at - 2) ** 2 / 0.04)

    def interval(self, mass: float = 0.95, /) -> tuple[float, float]:
        return 1.2, 2.8


@pytest.mark.parametrize(
    "chart",
    [
        Forest([("a", [Dot(1, 0, 2, name="own", pale=(0, 3)), Dot(1.5, marker="x", thin=True)])], "c", [1], (0, 2)),
        Lines(
            [Series("a", [1, 2], [3, 4], [2, 3], [4, 5]), Series("b", [1, 2], [1, 1], step=True)], "x", "y", levels=[1]
        ),
        Lines([Series("a", [1, 10], [3, 4], [2, 3], [4, 5], look="o", bars=True)], "x", "y", log_x=True),
        Bars(["a", "b"], [("one", [1, 2]), ("two", [2, 1])], "share"),
        Histogram([0, 1, 2], [0.2, 0.5, 0.3], "gain"),
        Densities([("a", Bump()), ("b", Bump())], "c", marks=[2.0, None], ordered=True),
        Panels(
            [Histogram([0], [1], "x"), Bars(["a"], [("one", [1])], "y"), Histogram([0], [1], "x")], "abc", columns=2
        ),
    ],
    ids=lambda chart: type(chart).__name__,
)
def test_every_shape_of_chart_is_drawn(chart):
    drawn = Figure("A chart", chart).svg()
    assert drawn.startswith("<svg")
    assert drawn == Figure("A chart", chart).svg()
