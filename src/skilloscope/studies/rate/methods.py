"""Which method and effort a rating takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.core.errors import InputError, OptionError
from skilloscope.ratings.elo_axis.axis import Effort, EloAxis

METHODS = ("joint", "human", "agent", "curves", "gain", "all")
_INSTANT = "instant"
COMPARED = ("engine", "net", "depth", "nodes", "multipv", "hash_mb", "fen_rule", "options")
"""What of a search changes its answers."""


def check_method(method: str | None, effort: str | None, axis: EloAxis) -> None:
    """Refuse a method or an effort that does not exist or contradicts the other."""
    if method is not None and method not in METHODS:
        raise OptionError(f"no method {method!r}", hint=f"the methods: {', '.join(METHODS)}")
    if effort is not None:
        needs = axis.effort(effort).weights is not None
        if method == "human" and needs:
            raise OptionError(f"the method 'human' asks no engine, the effort {effort!r} does", hint="leave one out")
        if method not in (None, "human") and not needs:
            raise OptionError(
                f"the method {method!r} needs an engine, the effort {effort!r} has none", hint="quick or full"
            )


def effort_for(axis: EloAxis, method: str | None, effort: str | None, depth: int | None = None) -> Effort:
    """Return the effort: the one asked for; else by the method; else the deepest whose depth was asked for."""
    check_method(method, effort, axis)
    if effort is not None:
        return axis.effort(effort)
    if method == "human":
        return axis.effort(_INSTANT)
    searching = [one for one in axis.efforts.values() if one.weights is not None]
    if not searching:
        if method is not None:
            raise InputError(f"the axis {axis.name!r} has no effort with an engine", hint="--method human")
        return axis.effort(_INSTANT)
    searching.sort(key=lambda one: one.settings.get("depth") or 0)
    reached = [one for one in searching if depth is None or (one.settings.get("depth") or 0) <= depth]
    return (reached or searching[:1])[-1]


def settings_warnings(effort: Effort, settings: Mapping[str, Any]) -> list[str]:
    """Return how a search differs from the one that the effort was fitted with, in words."""
    return [
        f"{name} is {settings.get(name)!r}, the effort {effort.name!r} was fitted with {effort.settings[name]!r}: "
        "no scale was fitted for this"
        for name in COMPARED
        if name in effort.settings and settings.get(name) != effort.settings[name]
    ]
