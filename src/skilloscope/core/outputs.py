"""Files that are written: whole or not at all, and never over what is read.

A file is written beside its place under another name and then takes the place of the old one, so that a full disk, a
kill or an error leaves the old file as it was.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from skilloscope.core.errors import InputError

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
            _settle(part)
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
    os.chmod(name, stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o666 & ~_umask())
    return Path(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _settle(part: Path) -> None:
    """Wait until the disk has the file, so that a power failure cannot leave an empty one under the name."""
    with part.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _speaking(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path} cannot be written: {reason}", hint="check the folder and the disk") from error
