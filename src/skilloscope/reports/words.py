"""How numbers are written in every report: one place, so that tables, pages and figures agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "EDGE_NOTE",
    "competence",
    "duration",
    "edge_mark",
    "elo_interval",
    "engine_line",
    "percent",
    "skipped_line",
]


EDGE_NOTE = "↑ ↓ the estimate leans on the end of its range: the truth may lie beyond"


def edge_mark(edge: str | None) -> str:
    """Return an arrow where an estimate leans on the end of its range: the truth may lie beyond."""
    return {"high": " ↑", "low": " ↓"}.get(edge or "", "")


def elo_interval(player: Mapping[str, Any]) -> str:
    """Return an Elo with its interval, e.g. `2310 (2105 to 2528)`."""
    outside = " *" if player["extrapolated"] else ""
    mark = edge_mark(player["elo_edge"])
    return f"{player['elo']:.0f} ({player['elo_low']:.0f} to {player['elo_high']:.0f}){mark}{outside}"


def competence(agent: Mapping[str, Any], digits: int = 2) -> str:
    """Return a competence with its sd, e.g. `1.21 ± 0.08`."""
    return f"{agent['c']:.{digits}f} ± {agent['sd']:.{digits}f}{edge_mark(agent.get('edge'))}"


def duration(seconds: float) -> str:
    """Return a time as people say it, e.g. `45 s`, `12 min` or `3 h 20 min`."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60:,} h {minutes % 60:02d} min"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f} %"


def engine_line(about: Mapping[str, Any]) -> str:
    """Return the engine and the settings that matter in one line."""
    if not about:
        return "engine unknown"
    parts = [
        str(about.get("engine", "engine unknown")),
        f"depth {about['depth']}" if about.get("depth") else "",
        f"{about['nodes']:,} nodes" if about.get("nodes") else "",
        f"{about['multipv']} moves listed" if "multipv" in about else "",
        f"hash {about['hash_mb']} MB" if "hash_mb" in about else "",
        f"mates at ±{about['mate_cap']:g} pawns" if "mate_cap" in about else "",
    ]
    return ", ".join(part for part in parts if part)


def skipped_line(decisions: int, skipped: Mapping[str, int]) -> str:
    """Return what was used and what was left out, e.g. `1,204 decisions; skipped: 22 forced, 9 decided`."""
    if not skipped:
        return f"{decisions:,} decisions; nothing skipped"
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in skipped.items())
    return f"{decisions:,} decisions; skipped: {reasons}"
