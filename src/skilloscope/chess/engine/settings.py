"""Settings of an analysis: everything that changes an engine's answer, the key that identifies it, and engines' quirks.

Two searches with the same key give the same answer to the bit; the store holds answers under that key. An engine with
more than one thread gives another answer every time, so there is always one.

Quirks are what known engines do differently from UCI, each found by running the engine; docs/engines.md lists them.
Toga II and GNU Chess stop at depth 4 where there is one legal move. Stockfish 11 flags the last line of a list as a
bound where another move's window was passed, though it was searched to the end; so it counts, except in a search by
nodes, which may stop anywhere. Toga II flags its last line of a depth only where it is a mate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from skilloscope.core.errors import EngineError, InputError, OptionError

if TYPE_CHECKING:  # settings load no games
    from skilloscope.chess.pgn.positions import Scope

FenRule = Literal["full", "normalised"]


OptionValue = str | int | bool

LIMITS = {"depth": 245, "nodes": 10**15, "multipv": 500, "hash_mb": 1 << 25}
"""The most that can be asked for. A depth is stored in one byte and no engine goes deeper than 245; no position has as
many as 500 moves; Stockfish takes no larger hash."""

ListMethod = Literal["list", "ranked", "children"]
"""How the values of several moves are had: from the engine's list as it is, from its list ranked again by value, or
from a search of the position after each move."""

_OWN_FIELDS = {"multipv", "hash", "threads"}
_NODES = re.compile(r"nodes-([1-9]\d*)(k|M)?")
ARGUMENTS = {"gnuchess": ["-u"]}  # the arguments without which a program would not speak UCI
_OPTION = re.compile(r"option name (?P<name>.+?) type (?P<type>check|spin|combo|button|string)\b(?P<rest>.*)")
_WORDS = ("default", "min", "max", "var")
_MOST_DIGITS, _MOST = 18, 10**18


class SearchKey(TypedDict, total=False):
    """Everything that changes an engine's answer. Plain JSON: the store and exports keep it as it is."""

    engine: str | None
    net: str | None
    depth: int | None
    nodes: int | None
    multipv: int | None
    hash_mb: int | None
    threads: int | None
    fen_rule: FenRule
    options: Mapping[str, str]
    method: ListMethod  # how several moves were valued, where not by the engine's list as it is


UNKNOWN: SearchKey = {
    "engine": None, "net": None, "depth": None, "nodes": None, "multipv": None, "hash_mb": None, "threads": None
}  # fmt: skip
"""The key of a search of which nothing is known."""


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
            if value is not None and not (isinstance(value, int) and 1 <= value <= most):
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

    def key(self, identity: SearchKey, defaults: Mapping[str, str] | None = None) -> SearchKey:
        """Return everything that changes the answer, for an engine of this identity (`engine` and `net`).

        An option at the engine's own default (`defaults`, by lower-case name) is left out: it changes nothing.
        """
        known = defaults or {}
        options = {name.lower(): option_text(value) for name, value in self.options.items()}
        return {
            "engine": identity["engine"],
            "net": identity.get("net"),
            "depth": self.depth,
            "nodes": self.nodes,
            "multipv": self.multipv,
            "hash_mb": self.hash_mb,
            "threads": self.threads,
            "fen_rule": self.fen_rule,
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

    def matches(self, key: SearchKey) -> bool:
        """Return whether the key is of these settings, for any engine."""
        whole: SearchKey = {**UNKNOWN, "options": {}, **key}
        return whole == {**whole, **self.key(whole)}

    def problem(self, fen: str) -> str:
        """Return the FEN as the engine gets it under these settings."""
        return problem_text(fen, self.fen_rule)


def problem_text(fen: str, rule: FenRule) -> str:
    """Return the FEN as the engine gets it under a rule, which is the position's key in the store.

    >>> problem_text("8/8/8/8/8/4k3/4p3/4K3 w - - 17 80", "normalised")
    '8/8/8/8/8/4k3/4p3/4K3 w - - 0 1'
    """
    return fen if rule == "full" else " ".join([*fen.split(" ")[:4], "0", "1"])


def option_text(value: OptionValue) -> str:
    """Return an option's value as UCI writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


DFH13 = Settings(depth=10, multipv=10)  # the settings of the experiments of DFH13: depth 10, ten lines
RH11 = Settings(depth=13, multipv=50)  # the settings of RH11's training sets: depth 13, up to fifty lines
RH11_SINGLE = Settings(depth=13, multipv=1)  # RH11's settings for the many games of a rough look: depth 13, one line
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


@dataclass(frozen=True)
class Quirks:
    """How an engine is asked, and read."""

    method: ListMethod = "list"
    nodes: bool = True  # whether it can be held to a number of nodes
    flags_values: bool = False  # whether it flags lines as bounds that are none


_BY_NAME = {
    "Fairy-Stockfish 11": Quirks(flags_values=True),
    "Ethereal 12": Quirks("ranked", nodes=False),
    "Toga II": Quirks("children", nodes=False, flags_values=True),
    "GNU Chess 6": Quirks("children", nodes=False),
}


def quirks_of(engine: str) -> Quirks:
    """Return the quirks of the engine that greets by this name; an unknown one is taken to have none.

    >>> quirks_of("Toga II 3.0").method
    'children'
    """
    return next((quirks for start, quirks in _BY_NAME.items() if engine.startswith(start)), Quirks())


@dataclass(frozen=True)
class EngineOption:
    """An option as the engine declares it, which can check a value for it."""

    name: str
    type: str
    default: str
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    def checked(self, value: OptionValue) -> str:
        """Return `NAME value VALUE` for setoption, or raise where the engine would not take it."""
        text = option_text(value)
        if self.type == "button":
            return self.name
        if self.type == "check" and text not in ("true", "false"):
            raise self._refuse(text, "true or false")
        low, high = (self.low if self.low is not None else -_MOST), (self.high if self.high is not None else _MOST)
        if self.type == "spin" and not (_is_whole(text) and low <= int(text) <= high):
            raise self._refuse(text, f"a whole number from {self.low} to {self.high}")
        if self.type == "combo" and text.lower() not in [choice.lower() for choice in self.choices]:
            raise self._refuse(text, "one of " + ", ".join(self.choices))
        return f"{self.name} value {text}"

    def _refuse(self, text: str, wanted: str) -> EngineError:
        return EngineError(f"the engine's option {self.name} cannot be {text!r}", hint=f"it takes {wanted}")


def parse_option(row: str) -> EngineOption | None:
    """Return the option that a row of the engine's greeting declares, if it does.

    >>> parse_option("option name MultiPV type spin default 1 min 1 max 500").checked(10)
    'MultiPV value 10'
    """
    match = _OPTION.match(row)
    if match is None:
        return None
    found: list[tuple[str, list[str]]] = []
    for word in match["rest"].split(" "):  # what follows each of the words default, min, max and var
        if word in _WORDS:
            found.append((word, []))
        elif found:
            found[-1][1].append(word)
    rest = [(word, " ".join(values).strip()) for word, values in found]
    one = dict(rest)
    limits = [int(one[word]) if _is_whole(one.get(word, "")) else None for word in ("min", "max")]
    choices = tuple(value for word, value in rest if word == "var")
    return EngineOption(match["name"], match["type"], one.get("default", ""), limits[0], limits[1], choices)


def _is_whole(text: str) -> bool:
    return len(text) <= _MOST_DIGITS and re.fullmatch(r"-?[0-9]+", text) is not None
