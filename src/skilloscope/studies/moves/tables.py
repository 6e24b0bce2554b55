"""Tables of one position: the moves with their probabilities at each level, and who finds the best one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import engine_line


def moves_table(report: Mapping[str, Any], shown: int = 10) -> Sheet:
    """Return the likeliest moves and the engine's best, a column for each level; the rest are one row."""
    rows = shown_moves(report, shown)
    rest = [move for move in report["moves"] if move not in rows]
    cells = [[move["san"], *map(share_text, move["probability"]), *_value(report, move)] for move in rows]
    if rest:
        together = [sum(move["probability"][at] for move in rest) for at in range(len(report["elo"]))]
        cells.append([f"{len(rest)} others", *map(share_text, together), *([""] if report["engine"] else [])])
    columns = ["move", *(f"Elo {level:g}" for level in report["elo"]), *(["engine"] if report["engine"] else [])]
    faded = [len(rows)] if rest else []
    return Sheet(f"what people play: {report['fen']}", columns, cells, moves_notes(report), faded=faded)


def shown_moves(report: Mapping[str, Any], most: int) -> list[Mapping[str, Any]]:
    """Return the likeliest moves, and the engine's best wherever it stands."""
    best = report["best"]["moves"][:1] if report["best"] else []
    return [move for at, move in enumerate(report["moves"]) if at < most or move["move"] in best]


def moves_notes(report: Mapping[str, Any]) -> list[str]:
    """Return what stands below the table: who finds the best move, and whose values these are."""
    engine = [f"engine: pawns, the mover's view; {engine_line(report['engine'])}"] if report["engine"] else []
    return [*([difficulty_line(report)] if report["best"] else []), *engine]


def difficulty_line(report: Mapping[str, Any]) -> str:
    """Return at which strength half find the best move, in words."""
    best, (low, high) = report["best"], report["range"]
    name = " or ".join(best["san"])
    spans = [_span(begin, end, low, high) for begin, end in best["half_find"]]
    if not spans:
        return f"best {name}: found by half of the people at no level between {low:.0f} and {high:.0f}"
    return f"best {name}: found by half of the people {' and '.join(spans)}"


def share_text(probability: float) -> str:
    """Return a probability as a percentage with one decimal: rare moves are told apart.

    >>> share_text(0.4213), share_text(0.0002)
    ('42.1 %', '0.0 %')
    """
    return f"{100 * probability:.1f} %"


def _span(begin: float, end: float, low: float, high: float) -> str:
    if begin <= low:
        return f"at every level between {low:.0f} and {high:.0f}" if end >= high else f"up to Elo {end:.0f}"
    return f"from Elo {begin:.0f} on" if end >= high else f"between Elo {begin:.0f} and {end:.0f}"


def _value(report: Mapping[str, Any], move: Mapping[str, Any]) -> Sequence[str]:
    if not report["engine"]:
        return []
    if move["mate"] is not None:
        return [f"#{move['mate']}"]
    return ["–" if move["value_cp"] is None else f"{move['value_cp'] / 100:+.2f}"]
