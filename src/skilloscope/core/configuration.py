"""Effective settings and where each came from.

The order: default < the user's skilloscope.toml < ./skilloscope.toml < environment < flag.

In: what a command was given. Out: values with their source, so that `doctor` can show both. Nothing here reads the
network or writes a file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilloscope.core.errors import InputError


@dataclass(frozen=True)
class KnownSetting:
    """A setting that exists: how its text is read, what it means, its default."""

    parse: Callable[[str], Any]
    default: Any
    meaning: str


@dataclass(frozen=True)
class EffectiveSetting:
    """The value of a setting and where it came from."""

    value: Any
    source: str


def _default_store() -> str:
    import platformdirs

    return platformdirs.user_data_dir("skilloscope")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


KNOWN: dict[str, KnownSetting] = {
    "store": KnownSetting(str, _default_store, "folder of the analysis store"),
    "engine": KnownSetting(str, None, "engine to run: a name or a path"),
    "depth": KnownSetting(int, 10, "search depth in plies"),
    "nodes": KnownSetting(int, None, "search limit in nodes, in place of a depth"),
    "multipv": KnownSetting(int, 10, "how many moves the engine lists"),
    "hash": KnownSetting(int, 16, "hash table of the engine in MB"),
    "workers": KnownSetting(int, _cores, "engine processes side by side; one per core unless told"),
    "scale": KnownSetting(str, "default", "the Elo axis, or the agent's scale: a name or a JSON file"),
    "prior": KnownSetting(str, "population", "prior of Elo: population, flat or header"),
    "effort": KnownSetting(str, None, "effort of `rate`: instant, quick or full; full where an engine is there"),
    "rule": KnownSetting(
        str, None, "choice-set rule: listed, bucket, sampled or full; the scale's where none is named"
    ),
}


def effective_settings(flags: Mapping[str, Any] | None = None) -> dict[str, EffectiveSetting]:
    """Return every setting with its value and source; a flag of None was not given."""
    found = {name: _default(known) for name, known in KNOWN.items()}
    for path in _files():
        for name, value in _read(path).items():
            found[name] = EffectiveSetting(_parsed(name, str(value), str(path)), str(path))
    for name in KNOWN:
        variable = f"SKILLOSCOPE_{name.upper()}"
        if os.environ.get(variable):
            found[name] = EffectiveSetting(_parsed(name, os.environ[variable], variable), f"environment {variable}")
    for name, value in (flags or {}).items():
        if value is not None:
            found[name] = EffectiveSetting(value, f"flag --{name}")
    return found


def store_file(folder: str | Path) -> Path:
    """Return the SQLite file inside a store folder."""
    return Path(folder).expanduser() / "analyses.sqlite"


def _default(known: KnownSetting) -> EffectiveSetting:
    return EffectiveSetting(known.default() if callable(known.default) else known.default, "default")


def _files() -> list[Path]:
    import platformdirs

    user = Path(platformdirs.user_config_dir("skilloscope")) / "skilloscope.toml"
    named = os.environ.get("SKILLOSCOPE_CONFIG")
    if named and not Path(named).is_file():
        raise InputError(f"SKILLOSCOPE_CONFIG names {named}, which is not a file")
    here = Path(named) if named else Path("skilloscope.toml")
    return [path for path in (user, here) if path.is_file()]


def _read(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as TOML ({error})") from error
    unknown = sorted(set(table) - set(KNOWN))
    if unknown:
        raise InputError(f"{path}: unknown setting {', '.join(unknown)}", hint=f"the settings: {', '.join(KNOWN)}")
    return table


def _parsed(name: str, text: str, source: str) -> Any:
    try:
        return KNOWN[name].parse(text)
    except ValueError:
        raise InputError(f"{source}: {name} cannot be {text!r}") from None
