"""Figures: one style, and names in any writing."""

from __future__ import annotations

import re
import warnings

import pytest

from skilloscope.reports.style import plt, style, svg


def drawn(name: str) -> str:
    with style():
        figure, axes = plt.subplots()
        axes.set_title(name)
        return svg(figure)


def test_letters_that_fonts_have_are_shapes():
    assert "<text" not in drawn("Müller – Łukasz ±")


def test_a_name_that_no_font_has_stays_text_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = drawn("王小明 <b> 李")
    if "<text" in figure:  # where a font has the letters they are shapes as usual
        assert re.search(r"<text[^>]*>王小明 &lt;b&gt; 李</text>", figure)


def test_other_warnings_are_not_swallowed(monkeypatch):
    from skilloscope.reports import style as module

    honest = module._saved

    def loud(figure):
        warnings.warn("something else", UserWarning, stacklevel=2)
        return honest(figure)

    monkeypatch.setattr(module, "_saved", loud)
    with pytest.warns(UserWarning, match="something else"):
        drawn("A")
