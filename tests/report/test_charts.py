"""Figures: one style, and names in any writing."""

from __future__ import annotations

import re
import warnings
from xml.etree import ElementTree

import pytest

from skilloscope.core.text import visible
from skilloscope.report import charts
from skilloscope.report.charts import Figure, Histogram


def drawn(name: str) -> str:
    return Figure("", Histogram([0, 1], [0.5, 0.5], x_axis=name)).svg()


def test_letters_that_fonts_have_are_shapes():
    assert "<text" not in drawn("Müller – Łukasz ±")


def test_a_name_that_no_font_has_stays_text_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = drawn("王小明 <b> 李")
    if "<text" in figure:  # where a font has the letters they are shapes as usual
        assert re.search(r"<text[^>]*>王小明 &lt;b&gt; 李</text>", figure)


def test_other_warnings_are_not_swallowed(monkeypatch):
    honest = charts._saved

    def loud(*given):
        warnings.warn("something else", UserWarning, stacklevel=2)
        return honest(*given)

    monkeypatch.setattr(charts, "_saved", loud)
    with pytest.warns(UserWarning, match="something else"):
        drawn("A")


@pytest.mark.parametrize("name", ["Kas\x1b[31mparov", "\x9bm", "\u202egro.live", "\ufffe", "a\x00b", "王\x1b\u202e小"])
def test_a_name_obeys_nobody_in_a_figure_and_leaves_it_well_formed(name: str):
    figure = drawn(name)
    assert figure == visible(figure)
    assert ElementTree.fromstring(figure).tag.endswith("svg")
