"""What people name where files are wanted: files, folders, patterns, and `-` for what comes in.

In: names. Out: the files, each once, in a fixed order.
"""

from __future__ import annotations

import atexit
import functools
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from skilloscope.core.errors import InputError

STDIN = "-"
"""The name of what comes in."""

_PACKED = ("", ".gz", ".bz2", ".xz", ".zst", ".zip")
GAME_ENDINGS = tuple(f".pgn{packed}" for packed in _PACKED)
"""How files of games end."""
_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pgn")
RESULT_ENDINGS = (".zip", *(f"{table}{packed}" for table in _TABLES for packed in _PACKED))
"""How files end that may hold results: tables and games."""


def named_files(paths: Sequence[str | os.PathLike[str]], endings: tuple[str, ...] = GAME_ENDINGS) -> list[Path]:
    """Return the files that are named: a folder stands for all in it that end so, a pattern for those it fits.

    A file that has the pattern as its name is that file; what is not there stays, and whoever opens it says so.
    """
    found: list[Path] = []
    for path in paths:
        named = Path(path)
        if named.is_dir():
            found += _in_folder(named, endings)
        elif glob.has_magic(str(named)) and not named.exists():
            found += _fitting(str(named))
        else:
            found.append(named)
    return found


def given_once(paths: Sequence[Path]) -> list[Path]:
    """Return the files; one that is given twice, under whatever name, would count twice and is refused."""
    real = [path.resolve() for path in paths]
    seen: set[Path] = set()
    for path, place in zip(paths, real, strict=True):
        if place in seen:
            raise InputError(f"{path} is given twice", hint="put each file in once")
        seen.add(place)
    return list(paths)


def real_path(path: Path) -> Path:
    """Return where a file really lies: what comes in is copied to disk, for many read it more than once."""
    return _standard_input() if str(path) == STDIN else path


def _in_folder(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    found = sorted(path for path in files if path.name.lower().endswith(endings))
    if not found:
        what = "PGN file" if endings is GAME_ENDINGS else "table and no games"
        hint = f"files in it should end in {', '.join(one for one in endings if one.count('.') == 1)}, packed or not"
        raise InputError(f"no {what} in the folder {folder}", hint=hint)
    return found


def _fitting(pattern: str) -> list[Path]:
    found = sorted(Path(name) for name in glob.glob(pattern, recursive=True) if os.path.isfile(name))
    if not found:
        raise InputError(f"no file fits {pattern}", hint="check the pattern")
    return found


@functools.cache
def _standard_input() -> Path:
    with tempfile.NamedTemporaryFile(prefix="skilloscope-", delete=False) as copy:
        atexit.register(Path(copy.name).unlink, missing_ok=True)
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return Path(copy.name)
