"""Paths: the files that users name, files written whole or not at all, resources to close, and the user's settings.

An output file is written next to its place under another name and then replaces the old one; an input is never
overwritten. Effective settings and where each came from: default < the user's skilloscope.toml < ./skilloscope.toml <
environment < flag. A folder may come from anybody: a skilloscope.toml in the current one may name no program.
"""

import atexit
import functools
import glob
import logging
import os
import shutil
import stat
import sys
import tempfile
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from skilloscope.core.errors import InputError

STDIN = "-"  # the name of what comes in
_PACKED = ("", ".gz", ".bz2", ".xz", ".zst", ".zip")
GAME_ENDINGS = tuple(f".pgn{packed}" for packed in _PACKED)  # how files of games end
_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pgn")
RESULT_ENDINGS = (".zip", *(f"{table}{packed}" for table in _TABLES for packed in _PACKED))
"""How files end that may hold results: tables and games."""


def named_files(paths: Sequence[str | os.PathLike[str]], endings: tuple[str, ...] = GAME_ENDINGS) -> list[Path]:
    """Return the files that are named: a folder stands for all in it that end so, a pattern for those it fits."""
    found: list[Path] = []
    for path in paths:
        named = Path(path)
        if named.is_dir():
            files = (file for file in named.rglob("*") if file.is_file() and not file.name.startswith("."))
            inside = sorted(file for file in files if file.name.lower().endswith(endings))
            if not inside:
                what = "PGN file" if endings is GAME_ENDINGS else "table and no games"
                plain = ", ".join(one for one in endings if one.count(".") == 1)
                hint = f"files in it should end in {plain}, packed or not"
                raise InputError(f"no {what} in the folder {named}", hint=hint)
            found += inside
        elif glob.has_magic(str(named)) and not named.exists():
            fitting = sorted(Path(name) for name in glob.glob(str(named), recursive=True) if os.path.isfile(name))
            if not fitting:
                raise InputError(f"no file fits {named}", hint="check the pattern")
            found += fitting
        else:
            found.append(named)
    return given_once(found)


def given_once(paths: Sequence[Path]) -> list[Path]:
    """Return the files; one that is given twice, under whatever name, would count twice and is refused."""
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(f"{path} is given twice", hint="put each file in once")
        seen.add(path.resolve())
    return list(paths)


@functools.cache
def standard_input() -> Path:
    """Return where what comes in was copied to: many read it more than once."""
    with tempfile.NamedTemporaryFile(prefix="skilloscope-", delete=False) as copy:
        atexit.register(Path(copy.name).unlink, missing_ok=True)
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return Path(copy.name)


_LONGEST = 60  # letters of a name that its part repeats: with them the part's name is never too long for a disk


@contextmanager
def appearing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the path to write to; at the end of the block the file appears in its place, on an error nothing changes.

    A link stays a link: what it points to is replaced. What is no file (a pipe, /dev/stdout) is written as it is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "page.html"
    ...     with appearing(page) as part:
    ...         _ = part.write_text("all of it")
    ...         print(page.exists())
    ...     print(page.read_text())
    False
    all of it
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        with _speaking(target):
            yield target
        return
    real = Path(os.path.realpath(target))
    with _speaking(target):
        part = _part(real)
        try:
            yield part
            with part.open("rb") as file:  # a power failure must not leave an empty file under the name
                os.fsync(file.fileno())
            part.replace(real)
        finally:
            part.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a text, or bytes, to a file, whole or not at all."""
    with appearing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def check_writable(path: Path | None) -> None:
    """Raise where a file cannot be written, before hours of work are spent on what goes into it; None is no file."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder", hint="give the name of a file in it")
    if path.exists() and not path.is_file():
        return  # a pipe or a device: whether it takes anything shows when it is written
    real = Path(os.path.realpath(path))
    if not real.parent.is_dir():
        raise InputError(f"{path}: there is no folder {real.parent}", hint="make the folder first")
    with _speaking(path):
        _part(real).unlink()


def check_outputs(outputs: Iterable[Path], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise where a file that is to be written is read too, or is written twice, under whatever name."""
    read = {_identity(Path(path)): path for path in inputs if os.path.isfile(path)}
    written: dict[object, Path] = {}
    for path in outputs:
        same = _identity(path)
        if same in read:
            raise InputError(f"{path} would be written over what is read from it", hint="write to another file")
        if same in written and (path.is_file() or not path.exists()):
            raise InputError(f"{path} would be written twice", hint="give each output a file of its own")
        written[same] = path


def checked_files(
    given: Mapping[str, Any], read: Mapping[str, tuple[str, ...]], written: Collection[str]
) -> dict[str, list[Path]]:
    """Return the files that the values of `read` name, by how they end; refuse an output that is an input, by whatever
    name, and one that cannot be written.
    """
    named = {name: named_files(given[name], endings) for name, endings in read.items()}
    values = {name: own if isinstance(own, list | tuple) else [own] for name, own in {**given, **named}.items()}
    outputs = [Path(one) for name in sorted(written) for one in values[name] if one is not None]
    inputs = [one for name in values.keys() - written for one in values[name] if isinstance(one, str | Path)]
    check_outputs(outputs, inputs)
    for path in outputs:
        check_writable(path)
    return named


def _identity(path: Path) -> object:
    """Return what two names of one file share: hard links too, where there is a file."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def _part(real: Path) -> Path:
    """Make the empty file that will take the place; nobody else can have made it, and its rights are the old file's."""
    descriptor, name = tempfile.mkstemp(prefix=f".{real.name[:_LONGEST]}.", suffix=".part", dir=real.parent)
    os.close(descriptor)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o666 & ~mask)
    return Path(name)


@contextmanager
def _speaking(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path} cannot be written: {reason}", hint="check the folder and the disk") from error


class Closing(ABC):
    """Something that is closed at the end of a `with` block.

    >>> class Door(Closing):
    ...     def close(self):
    ...         print("shut")
    >>> with Door():
    ...     print("open")
    open
    shut
    """

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; closing twice does no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


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
    "prior": KnownSetting(str, "opponents", "prior of Elo: opponents, file, population, flat or header"),
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


def store_file(store: str | os.PathLike[str]) -> Path:
    """Return the SQLite file of a store, which is named by its folder or by the file itself.

    >>> store_file("chess").name, store_file("chess/of_may.sqlite").name
    ('analyses.sqlite', 'of_may.sqlite')
    """
    try:
        path = Path(store).expanduser()
    except RuntimeError as error:
        raise InputError(f"{store}: there is no such user", hint="write the folder out, without ~") from error
    return path if path.is_file() or path.suffix == ".sqlite" else path / "analyses.sqlite"


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
            raise InputError(f"{path}: {name} is neither a text nor a valid number")
    return table


def _parsed(name: str, text: str, source: str) -> Any:
    try:
        return KNOWN[name].parse(text)
    except ValueError:
        raise InputError(f"{source}: {name} cannot be {text!r}") from None
