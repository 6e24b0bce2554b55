"""How numbers are written in every report: one place, so that tables, pages and figures agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["bound_mark", "competence", "elo_interval", "engine_line", "percent", "skipped_line"]


def bound_mark(edge: str | None) -> str:
    """Return ≥ or ≤ where an estimate leans on the end of its range: it is a bound, not a value."""
    return {"high": "≥ ", "low": "≤ "}.get(edge or "", "")


def elo_interval(player: Mapping[str, Any]) -> str:
    """Return an Elo with its interval, e.g. `2310 (2105 to 2528)`."""
    mark = bound_mark(player["elo_edge"])
    outside = " *" if player["extrapolated"] else ""
    return f"{mark}{player['elo']:.0f} ({player['elo_low']:.0f} to {player['elo_high']:.0f}){outside}"


def competence(agent: Mapping[str, Any], digits: int = 2) -> str:
    """Return a competence with its sd, e.g. `1.21 ± 0.08`."""
    return f"{bound_mark(agent.get('edge'))}{agent['c']:.{digits}f} ± {agent['sd']:.{digits}f}"


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
    """Return what was used and what was left out, e.g. `1,204 decisions; 31 skipped: 22 forced, 9 decided`."""
    if not skipped:
        return f"{decisions:,} decisions; nothing skipped"
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in skipped.items())
    return f"{decisions:,} decisions; {sum(skipped.values()):,} skipped: {reasons}"
