"""A job that follows games while they are played: what `live` sends of every board, with the Elo of the moves so far.

In: an address. Out, as the report `live` of the job: all boards, again after every change.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace

from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import preset
from skilloscope.chess.moves import move_of_code
from skilloscope.core.paths import effective_settings, store_file
from skilloscope.inputs.pipeline import engine_found
from skilloscope.inputs.running_elo import elo_of_sides
from skilloscope.report.study import json_fields
from skilloscope.studies.live.feed import UrlFeed
from skilloscope.studies.live.following import Following, Stopping
from skilloscope.studies.live.live import SCHEMA, Follower, Live
from skilloscope.web.jobs import JobTask, Json
from skilloscope.web.safe_fetch import checked_opener

LONGEST = 12 * 3600.0  # seconds after which nobody is likely to look any more
MOST_BOARDS = 64
_EVERY = 0.5  # seconds between two reports
_LOOK = 2.0  # seconds between two looks at the address
_STALLED = "no news of the feed for a minute; it is still followed"
_BUDGET = 0.2  # seconds of the engine for new moves


def follow_job(task: JobTask) -> None:
    """Follow an address until all games have a result, the job is cancelled, or the day is over."""
    address = str(task.job.options["address"])
    private = os.environ.get("SKILLOSCOPE_PRIVATE_FEEDS") == "1"
    feed = _JobFeed(address, _LOOK, opener=checked_opener(private=private))
    feed.task = task
    settings, engine = replace(preset("FER12"), multipv=1, depth=10), engine_found(None)
    follower = Follower(Live(_BUDGET, values="auto" if engine else "comments"), elo_of_sides())
    name, store = effective_settings()["engine"].value, store_file(task.store)
    stopping = Stopping(finished=True, seconds=LONGEST)
    feed.keep = lambda: task.keep(_reports(address, follower, feed.problem() or feed.silence, engine))
    task.tell("live", 0, 0)
    with Following(feed, follower, settings, find=lambda: find_engine(name), store=store, stopping=stopping) as loop:
        for event in loop.events():
            feed.news = True
            feed.silence = _STALLED if event.type == "stalled" else "" if event.type == "resumed" else feed.silence
    feed.keep()


class _JobFeed(UrlFeed):
    """An address that is followed until the job is cancelled; news and troubles are kept for those who look."""

    task: JobTask
    keep: Callable[[], None]
    news, silence, _trouble, _kept = False, "", "", 0.0

    def poll(self) -> str | None:
        """Return the text if there is something new; raise where the job was cancelled."""
        self.task.look()
        trouble, now = self.problem() or "", time.monotonic()
        if (self.news or trouble != self._trouble) and now - self._kept > _EVERY:
            self.news, self._trouble, self._kept = False, trouble, now
            self.keep()
        return super().poll()


def _reports(address: str, follower: Follower, problem: str, engine: bool) -> Json:
    """Return all boards as they are now, and each with its moves."""
    boards, found = [], {}
    for number, row in enumerate(follower.state().boards[:MOST_BOARDS], start=1):
        text = follower.boards[row.names.board].text
        last = move_of_code(text.moves[-1]).uci() if text.moves else None
        boards.append({**json_fields(row), "number": number, "fen": text.fens[-1], "last_uci": last})
        values = follower.values(row.names.board)
        found[f"board/{number}"] = {"fens": text.fens, "san": text.san, "first_ply": text.first_ply, "values": values}
    live = {"schema": SCHEMA, "address": address, "boards": boards, "problem": problem, "engine": engine}
    return {"live": live, **found}
