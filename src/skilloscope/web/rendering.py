"""Templates, and how names and numbers are written in them.

A name may hold anything: it is escaped, what a screen would obey is taken out of it, and it is kept from turning the
text around it (a <bdi> of its own).
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from skilloscope.__about__ import __version__
from skilloscope.chess.engine.lines import MATE_CAP
from skilloscope.core.plain import visible
from skilloscope.reports.page import ANALYSIS_BOARD
from skilloscope.reports.words import edge_mark, probability_text, share

_PERIODS = {"1W": "one week", "1M": "one month", "2M": "two months", "1Y": "one year"}
_SCORES = {1.0: "1", 0.5: "½", 0.0: "0"}


def rendered(template: str, **values: Any) -> str:
    """Return a page, or a part of one."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("skilloscope.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "name": name_markup,
        "plain": lambda text: visible(str(text)),
        "elo": lambda value: "–" if value is None else f"{value:.0f}",
        "interval": interval_text,
        "percent": lambda share: probability_text(share).replace(" ", "\u00a0"),
        "share": lambda p: share(p).replace(" ", "\u00a0"),
        "pawns": pawns_text,
        "signed": lambda value: f"{value:+.0f}".replace("-", "−"),
        "score": lambda value: "–" if value is None else _SCORES.get(value, f"{value:g}"),
        "points": lambda value: f"{value:g}".replace("0.5", "½").replace(".5", "½"),
        "query": lambda values: urlencode({k: v for k, v in values.items() if v not in ("", None)}),
        "ago": ago_text,
        "period": lambda text: _PERIODS.get(text, text),
        "day": lambda moment: time.strftime("%Y-%m-%d", time.localtime(moment)),
        "date": lambda text: (text or "").replace(".??", "").replace(".", "-"),
        "edge": edge_mark,
        "sentence": lambda text: visible(text[:1].upper() + text[1:]),
        "counted": counted_text,
    }
    found.globals |= {"version": __version__, "analysis_board": ANALYSIS_BOARD}
    return found


def name_markup(text: str | None, unknown: str = "?") -> Markup:
    """Return a name as it may stand in a page.

    >>> name_markup("<b>Ann</b>")
    Markup('<bdi>&lt;b&gt;Ann&lt;/b&gt;</bdi>')
    """
    return Markup("<bdi>{}</bdi>").format(escape(visible(text or unknown)))


def counted_text(number: int, one: str, many: str = "") -> str:
    """Return a number with its word, e.g. `1 game` or `2 games`.

    >>> counted_text(1, "game"), counted_text(1200, "game")
    ('1 game', '1,200 games')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def interval_text(fields: Any) -> str:
    """Return the interval of an Elo, e.g. `1540 to 1820`."""
    return "–" if fields["elo"] is None else f"{fields['elo_low']:.0f} to {fields['elo_high']:.0f}"


def pawns_text(value: float | None) -> str:
    """Return an evaluation; a mate is no number of pawns.

    >>> pawns_text(1.254), pawns_text(-39.0)
    ('+1.25', 'Black mates')
    """
    if value is None:
        return "–"
    return f"{value:+.2f}" if abs(value) < MATE_CAP else f"{'White' if value > 0 else 'Black'} mates"


def ago_text(then: float) -> str:
    """Return how long ago a moment is, in words."""
    seconds = max(time.time() - then, 0.0)
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted_text(int(seconds // size), word)} ago"
    return "just now"
