"""Effective settings and where each came from: default < the user's skilloscope.toml < ./skilloscope.toml < environment
< flag.

A folder may come from anybody: a skilloscope.toml in the current one may set numbers and name files, but no program.
The engine comes from the user's own file, the environment or a flag.
"""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from skilloscope.core.errors import InputError

LOCAL = "skilloscope.toml"  # the file of settings, in the user's configuration folder and in the current one
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class KnownSetting:
    """A setting that exists: how its text is read, what it means, its default."""

    parse: Callable[[str], Any]
    default: Any
    meaning: str
    program: bool = False  # whether it names a program that will be run: a file of the current folder may not


@dataclass(frozen=True)
class EffectiveSetting:
    """The value of a setting and where it came from."""

    value: Any
    source: str


def _default_store() -> str:
    import platformdirs

    return platformdirs.user_data_dir("skilloscope")


_LARGEST = 2**63
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

KNOWN: dict[str, KnownSetting] = {
    "store": KnownSetting(str, _default_store, "folder of the analysis store"),
    "engine": KnownSetting(str, None, "engine to run: a name or a path", program=True),
    "depth": KnownSetting(int, 10, "search depth in plies"),
    "nodes": KnownSetting(int, None, "search limit in nodes, in place of a depth"),
    "multipv": KnownSetting(int, 10, "how many moves the engine lists"),
    "hash": KnownSetting(int, 16, "hash table of the engine in MB"),
    "workers": KnownSetting(int, lambda: _CORES, "engine processes side by side; default: one per core"),
    "scale": KnownSetting(str, "default", "the Elo axis, or the agent's scale: a name or a JSON file"),
    "prior": KnownSetting(str, "population", "prior of Elo: population, flat or header"),
    "effort": KnownSetting(str, None, "effort of `rate`: instant, quick or full; full where an engine is there"),
    "rule": KnownSetting(str, None, "choice-set rule: listed, bucket, sampled or full; default: the scale's"),
}


def effective_settings(flags: Mapping[str, object] | None = None) -> dict[str, EffectiveSetting]:
    """Return every setting with its value and source; a flag of None was not given."""
    found = {
        name: EffectiveSetting(known.default() if callable(known.default) else known.default, "default")
        for name, known in KNOWN.items()
    }
    given = os.environ.get("SKILLOSCOPE_CONFIG")
    if given and not Path(given).is_file():
        raise InputError(f"SKILLOSCOPE_CONFIG names {given}, which is not a file")
    own, named = user_file(), Path(given) if given else None
    for path in (own, named or Path(LOCAL)):
        for name, value in _read(path).items() if path.is_file() else ():
            if KNOWN[name].program and path not in (own, named) and path.resolve() != own.resolve():
                _refuse_program(name, str(value), str(path.absolute()), str(own))
                continue
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
    try:
        return Path(folder).expanduser() / "analyses.sqlite"
    except RuntimeError as error:
        raise InputError(f"{folder}: there is no such user", hint="write the folder out, without ~") from error


def user_file() -> Path:
    """Return the path of the user's own settings, whether there is a file or not."""
    import platformdirs

    return Path(platformdirs.user_config_dir("skilloscope")) / LOCAL


@cache  # the settings are asked for several times in one run
def _refuse_program(name: str, value: str, path: str, own: str) -> None:
    _LOG.warning(
        "%s names the %s %r, which is not used: a file of the current folder may not name programs; "
        "name it in %s, in SKILLOSCOPE_%s or by --%s",
        *(path, name, value, own, name.upper(), name),
    )


def _read(path: Path) -> dict[str, object]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of too many digits, too deep
        raise InputError(f"{path}: not readable as TOML ({error})") from error
    unknown = sorted(set(table) - set(KNOWN))
    if unknown:
        raise InputError(f"{path}: unknown setting {', '.join(unknown)}", hint=f"the settings: {', '.join(KNOWN)}")
    for name, value in table.items():
        if not isinstance(value, str | int | float) or (isinstance(value, int) and abs(value) > _LARGEST):
            raise InputError(f"{path}: {name} is neither a text nor a number of any use")
    return table


def _parsed(name: str, text: str, source: str) -> Any:
    try:
        return KNOWN[name].parse(text)
    except ValueError:
        raise InputError(f"{source}: {name} cannot be {text!r}") from None
