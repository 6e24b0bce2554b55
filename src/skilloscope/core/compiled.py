"""numba with a folder of its own for what it compiles. Every compiled function of the package is made by this `njit`.

numba caches what it compiles next to the source or in the user's cache folder. Where neither can be written, it gets
a folder in the temporary directory, to which others may write too: it must be ours alone, or a planted file would run.
"""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def cache_folder(base: Path) -> Path:
    """Return a folder under `base` that only this user can read and write; a fresh one where the usual is not so."""
    usual = base / f"skilloscope-{os.getuid()}"
    with suppress(FileExistsError):
        usual.mkdir(mode=0o700)
    found = usual.lstat()
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
    return usual if private else Path(tempfile.mkdtemp(prefix="skilloscope-", dir=base))


if not any(os.access(folder, os.W_OK) for folder in (Path(__file__).parent, Path(os.path.expanduser("~")))):
    # numba reads this when it is imported.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder(Path(tempfile.gettempdir()))))

from numba import njit as njit  # noqa: E402
