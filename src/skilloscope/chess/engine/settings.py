"""Settings of an analysis: everything that changes an engine's answer, and the key that stands for it.

Two searches with the same key give the same answer to the bit; the store holds answers under that key.
One thread, always: an engine with more threads gives another answer every time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skilloscope.core.errors import InputError, OptionError

FenRule = Literal["full", "normalised"]
Scope = Literal["decisions", "every position"]
OptionValue = str | int | bool

LIMITS = {"depth": 245, "nodes": 10**15, "multipv": 500, "hash_mb": 1 << 25}
"""The most that can be asked for. A depth is stored in one byte and no engine goes deeper than 245; no position has as
many as 500 moves; Stockfish takes no larger hash."""

_OWN_FIELDS = {"multipv", "hash", "threads"}


@dataclass(frozen=True)
class Settings:
    """How positions are searched: to a depth or for a number of nodes, with so many lines.

    >>> Settings(depth=None, nodes=50_000).limit
    'nodes 50000'
    >>> DFH13.key({"engine": "Stockfish 15.1", "net": None})["multipv"]
    10
    """

    depth: int | None = 10
    nodes: int | None = None
    multipv: int = 10
    hash_mb: int = 16
    threads: int = field(default=1, init=False)
    fen_rule: FenRule = "full"
    """`full` gives the engine the FEN as it is; `normalised` sets its last two fields to `0 1` (more found again)."""
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)
    """Further options of the engine, by the engine's own names."""
    scope: Scope = "decisions"
    """Which positions of a game are searched: those with a decision in them, or every one, before and after every move.
    It changes no answer, so it is no part of the key."""

    def __post_init__(self) -> None:
        if (self.depth is None) == (self.nodes is None):
            raise OptionError(
                "a search needs one limit: a depth or a number of nodes", hint="Settings(depth=None, nodes=N)"
            )
        for name, most in LIMITS.items():
            value = getattr(self, name)
            if value is not None and not 1 <= value <= most:
                raise OptionError(f"{name} is {value}", hint=f"it must be at least 1 and at most {most:,}")
        if self.fen_rule not in ("full", "normalised"):
            raise OptionError(f"no FEN rule {self.fen_rule!r}", hint="the rules are 'full' and 'normalised'")
        if self.scope not in ("decisions", "every position"):
            raise OptionError(f"no scope {self.scope!r}", hint="the scopes are 'decisions' and 'every position'")
        own = [name for name in self.options if name.lower() in _OWN_FIELDS]
        if own:
            raise InputError(
                f"the option {own[0]} is a setting of its own", hint="multipv=, hash_mb=; one thread always"
            )

    @property
    def limit(self) -> str:
        """The limit as UCI's `go` takes it."""
        return f"depth {self.depth}" if self.depth is not None else f"nodes {self.nodes}"

    def key(self, identity: Mapping[str, Any], defaults: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return everything that changes the answer, for an engine of this identity.

        An option at the engine's own default (`defaults`, by lower-case name) is left out: it changes nothing.
        """
        known = defaults or {}
        options = {name.lower(): option_text(value) for name, value in self.options.items()}
        return {
            "engine": identity["engine"],
            "net": identity.get("net"),
            **self._without_engine(),
            "options": {name: text for name, text in sorted(options.items()) if known.get(name) != text},
        }

    @classmethod
    def from_key(cls, key: Mapping[str, Any]) -> Settings:
        """Return the settings that a key was made of; what only the engine knows (its defaults) is not among them."""
        try:
            fields = {name: key[name] for name in ("depth", "nodes", "multipv", "hash_mb", "fen_rule")}
            return cls(**fields, options=dict(key.get("options") or {}))
        except (KeyError, TypeError) as error:
            raise InputError(f"these are not the settings of an analysis: {dict(key)!r} ({error!r})") from error

    def matches(self, key: Mapping[str, Any]) -> bool:
        """Return whether the key is of these settings, for any engine."""
        options = {name.lower(): option_text(value) for name, value in self.options.items()}
        return all(key.get(name) == value for name, value in self._without_engine().items()) and (
            dict(key.get("options", {})) == options
        )

    def problem(self, fen: str) -> str:
        """Return the FEN as the engine gets it under these settings."""
        return problem_text(fen, self.fen_rule)

    def _without_engine(self) -> dict[str, Any]:
        return {
            "depth": self.depth,
            "nodes": self.nodes,
            "multipv": self.multipv,
            "hash_mb": self.hash_mb,
            "threads": self.threads,
            "fen_rule": self.fen_rule,
        }


def problem_text(fen: str, rule: FenRule) -> str:
    """Return the FEN as the engine gets it under a rule, which is the position's key in the store.

    >>> problem_text("8/8/8/8/8/4k3/4p3/4K3 w - - 17 80", "normalised")
    '8/8/8/8/8/4k3/4p3/4K3 w - - 0 1'
    """
    return fen if rule == "full" else " ".join([*fen.split(" ")[:4], "0", "1"])


def option_text(value: OptionValue) -> str:
    """Return an option's value as UCI writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


DFH13 = Settings(depth=10, multipv=10)
"""The settings of the experiments of DFH13: depth 10, ten lines."""

RH11 = Settings(depth=13, multipv=50)
"""The settings of RH11's training sets: depth 13, up to fifty lines."""

RH11_SINGLE = Settings(depth=13, multipv=1)
"""RH11's settings for the many games of a rough look: depth 13, one line."""

FER12 = Settings(depth=20, multipv=1, scope="every position")
"""FER12: one line to depth 20, before and after every move, the last one too; no move is skipped."""

FULL = Settings(depth=10, multipv=500)
"""Every legal move listed: no position has as many as 500, and Stockfish takes no larger number."""

PRESETS: Mapping[str, Settings] = {
    "DFH13": DFH13,
    "RH11": RH11,
    "RH11-single": RH11_SINGLE,
    "FER12": FER12,
    "full": FULL,
    "nodes-50k": Settings(depth=None, nodes=50_000),
    "nodes-200k": Settings(depth=None, nodes=200_000),
    "nodes-1M": Settings(depth=None, nodes=1_000_000),
}
"""Settings by name; `nodes-…` takes any number, these are the usual ones."""

_NODES = re.compile(r"nodes-([1-9]\d*)(k|M)?")


def preset(name: str) -> Settings:
    """Return the settings of a paper, or of `nodes-NUMBER` (ten lines; `k` and `M` stand for thousands and millions).

    >>> preset("RH11").multipv, preset("nodes-20k").limit
    (50, 'nodes 20000')
    """
    if name in PRESETS:
        return PRESETS[name]
    match = _NODES.fullmatch(name)
    if match is None:
        raise OptionError(
            f"no preset {name!r}", hint=f"the presets: {', '.join(PRESETS)}, or nodes- and any number, as in nodes-20k"
        )
    return Settings(depth=None, nodes=int(match[1]) * {"k": 1_000, "M": 1_000_000}.get(match[2], 1))
