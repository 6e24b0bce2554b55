"""A job that fetches the games of an account, and goes on as any other job of games does.

In: the account, how many games at most, and since when. Out: the games as the job's upload. What has come is kept every
few seconds, so that a server that is stopped goes on from there; imports of a server are made one after another.
"""

import os
import threading
import time
from collections.abc import Callable

from skilloscope.core.errors import InputError
from skilloscope.web.jobs import JobTask
from skilloscope.web.library.accounts import Fetching, started
from skilloscope.web.library.players import Libraries
from skilloscope.web.library.records import Import
from skilloscope.web.safe_fetch import checked_opener

_EVERY = 3.0  # seconds between two times that the games so far are kept
_ONE = threading.Lock()


def import_job(task: JobTask) -> None:
    """Fetch the games, and let the job go on with them."""
    options = task.job.options
    account, name = str(options["account"]), f"{str(options['account']).replace(':', '-')}.pgn"
    came = [body.decode() for _, body in task.jobs.inputs(task.job.id)]
    private = os.environ.get("SKILLOSCOPE_PRIVATE_FEEDS") == "1"
    task.tell("import", note=f"waiting for another import to end: {account}")
    while not _ONE.acquire(timeout=0.2):
        task.look()
    try:
        opener = checked_opener(private=private, follow=False)
        fetching = Fetching(account, opener, int(options["most"]), str(options["since"]), "".join(came), _waiting(task))
        last = time.monotonic()
        for number, pgn in enumerate(fetching.games(), start=1):
            came.append(pgn)
            task.tell("import", note=f"{number:,} games of {account}")
            if time.monotonic() - last > _EVERY:
                task.jobs.replace_inputs(task.job.id, [(name, "".join(came).encode())])
                last = time.monotonic()
    finally:
        _ONE.release()
    if not came:
        newer = f" after {options['since']}" if options["since"] else ""
        raise InputError(f"{fetching.title} has no rated games of {fetching.name}{newer}", hint="")
    task.jobs.replace_inputs(task.job.id, [(name, "".join(came).encode())])
    if library := Libraries(task.jobs.path.with_name("library.sqlite")).of(task.job.owner):
        library.put(Import(account, max(map(started, came)), int(options["most"])))
    task.go_on_in("quick")


def _waiting(task: JobTask) -> Callable[[float], None]:
    def wait(seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            task.look()
            task.tell("import", note=f"the site asks to wait: {left:.0f} s")
            time.sleep(min(left, 0.5))

    return wait
