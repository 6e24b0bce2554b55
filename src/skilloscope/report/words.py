"""How numbers are written in every report: one place, so that tables, pages and figures agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

EDGE_NOTE = "↑ ↓ ↕ the estimate is at the edge of the allowed range; the true value may lie outside it"
STAR_NOTE = "* at the edge of the allowed range; the true value may lie outside it"


def edge_mark(edge: str | None) -> str:
    """Return an arrow for an estimate at the edge of the allowed range."""
    return {"high": " ↑", "low": " ↓", "both": " ↕"}.get(edge or "", "")


def duration(seconds: float) -> str:
    """Return a time as people say it, e.g. `45 s`, `12 min` or `3 h 20 min`."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60:,} h {minutes % 60:02d} min"


def plural(n: int, one: str) -> str:
    """Return a number with its noun: one or many.

    >>> plural(1, "player"), plural(1200, "player")
    ('1 player', '1,200 players')
    """
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f} %"


def share(p: float) -> str:
    """Return how many do it, never rounded to nobody.

    >>> share(0.254), share(0.0004)
    ('25 %', '< 1 %')
    """
    return "< 1 %" if p < 0.01 else f"{100 * p:.0f} %"


def probability_text(probability: float) -> str:
    """Return a probability as a percentage that is never rounded to certainty, e.g. `97.3 %` or `> 99.9 %`."""
    if probability < 0.001:  # 0 and 1 too: what a float cannot hold is still no certainty
        return "< 0.1 %"
    if probability > 0.999:
        return "> 99.9 %"
    return f"{100 * probability:.1f} %"


def engine_line(about: Mapping[str, Any]) -> str:
    """Return the engine and the settings that matter in one line."""
    if not about:
        return "engine unknown"
    parts = [
        str(about.get("engine") or "engine unknown"),
        f"depth {about['depth']}" if about.get("depth") else "",
        f"{about['nodes']:,} nodes" if about.get("nodes") else "",
        f"{about['multipv']} moves listed" if about.get("multipv") else "",
        f"hash {about['hash_mb']} MB" if about.get("hash_mb") else "",
        f"mates at ±{about['mate_cap']:g} pawns" if "mate_cap" in about else "",
    ]
    return ", ".join(part for part in parts if part)


def plan_lines(report: Mapping[str, Any]) -> list[str]:
    """Return what `analyse --dry-run` says: how many positions, what is known of them, and the time."""
    planned = report["plan"]
    counts = planned["positions"]
    known = f"{counts['cached']:,} from the cache, {counts['imported']:,} imported, {counts['measured']:,} measured now"
    whole = f"{counts['total']:,} different positions in {planned['games']:,} games"
    lines = [f"{whole}: {known}, {counts['to_search']:,} to search"]
    if planned["seconds_each"] is not None:
        each = f"{planned['seconds_each']:.2f} s a position"
        lines.append(f"expected: {duration(planned['expected_seconds'])} at {each}; {engine_line(report['engine'])}")
    return [*lines, *([sample_line(report["sample"])] if "sample" in report else [])]


def sample_line(sample: Mapping[str, Any]) -> str:
    """Return what a budget takes, e.g. `12 of 18 games (seed 1), 402 positions to search, expected 56 s`."""
    games = f"{sample['games']:,} of {sample['games_in_all']:,} games (seed {sample['seed']})"
    return (
        f"a budget of {sample['budget_minutes']:g} minutes takes {games}, "
        f"{sample['to_search']:,} positions to search, expected {duration(sample['expected_seconds'])}"
    )


def sentences(notes: Iterable[str]) -> str:
    """Return notes as running text, e.g. `3 decisions; nothing skipped. Prior: flat.`"""
    return " ".join(note if note.endswith(".") else f"{note}." for note in notes if note)


def skipped_line(decisions: int, skipped: Mapping[str, int], what: str = "decisions") -> str:
    """Return what was used and what was left out, e.g. `1,204 decisions; skipped: 22 forced, 9 decided`."""
    used = plural(decisions, what.removesuffix("s"))
    if not skipped:
        return f"{used}; nothing skipped"
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in skipped.items())
    return f"{used}; skipped: {reasons}"


def group_name(label: Any) -> str:
    """Return the name of a group; what a column leaves null is unknown."""
    return "unknown" if label is None else str(label)
