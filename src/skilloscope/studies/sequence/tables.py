"""The table of `sequence`: each game's log-probability beside what an agent of that strength scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import probability_text, skipped_line

_COLUMNS = ("", "decisions", "log probability", "expected", "z", "percentile", "normal", "dispersed")


def sequence_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of a sequence, game by game and as a whole."""
    title = f"how probable the choices of {report['decider']} are for {_whom(report)}"
    notes = [
        skipped_line(report["total"]["decisions"], report["skipped"]),
        f"percentile: of {report['draws']:,} simulated sequences (seed {report['seed']}), the share that is less "
        f"probable; dispersed: with a variance {report['dispersion']:.2f} times the model's",
    ]
    if report["c"] is None:
        model = report["model"]
        low, high = model["scale"]["valid"]
        named = f"axis {model['scale']['name']!r}, effort {model['effort']['name']!r}, method {model['method']!r}"
        notes.append(f"{named}; {model['scale']['axis']}, fitted from {low:.0f} to {high:.0f}")
    if report["extreme_chance"] is not None and len(report["games"]) > 1:
        chance = probability_text(report["extreme_chance"])
        notes.append(f"the most extreme of {len(report['games']):,} games is so by chance in {chance} of such records")
    return Sheet(title, _COLUMNS, [_cells(part) for part in [*report["games"], report["total"]]], notes)


def _whom(report: Mapping[str, Any]) -> str:
    if report["c"] is None:
        return f"people of Elo {report['elo']:.0f}"
    return f"an agent of c = {report['c']:.3f}" + (f" (Elo {report['elo']:.0f})" if report["elo"] is not None else "")


def _cells(part: Mapping[str, Any]) -> list[str]:
    return [
        part["label"],
        f"{part['decisions']:,}",
        f"{part['log_probability']:.2f}",
        f"{part['expected']:.2f} ± {part['sd']:.2f}",
        f"{part['z']:+.2f}",
        _percentile(part),
        probability_text(part["normal"]),
        probability_text(part["dispersed"]),
    ]


def _percentile(part: Mapping[str, Any]) -> str:
    """Return the share of draws with its error; a share that no draw tells from 0 or 1 only as a bound."""
    if not 0.0005 <= part["percentile"] < 0.9995:
        return "< 0.1 %" if part["percentile"] < 0.5 else "> 99.9 %"
    return f"{100 * part['percentile']:.1f} ± {100 * part['percentile_se']:.1f} %"
