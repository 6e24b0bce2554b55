"""A job that follows games while they are played: what `live` tells of every board, and the Elo of the moves so far.

In: an address. Out, as the report `live` of the job: all boards as they stand, again after every change.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import preset
from skilloscope.core.configuration import effective_settings, store_file
from skilloscope.sources.running_elo import elo_of_sides
from skilloscope.studies.live.feed_sources import FeedSource, UrlFeed
from skilloscope.studies.live.following import Following, Stopping
from skilloscope.studies.live.live import SCHEMA, Follower, Live
from skilloscope.studies.rate.front import engine_found
from skilloscope.web.addresses import checked_opener
from skilloscope.web.workers import JobTask

LONGEST = 12 * 3600.0
"""Seconds after which nobody is likely to look any more."""
MOST_BOARDS = 64
_EVERY = 0.5  # seconds between two reports
_LOOK = 2.0  # seconds between two looks at the address
_BUDGET = 0.2  # seconds of the engine for new moves


def follow_job(task: JobTask) -> None:
    """Follow an address until all games have a result, somebody cancels, or the day is over."""
    address = str(task.job.options["address"])
    private = os.environ.get("SKILLOSCOPE_PRIVATE_FEEDS") == "1"
    feed = _Heard(UrlFeed(address, _LOOK, opener=checked_opener(private=private)), task)
    settings, engine = replace(preset("FER12"), multipv=1, depth=10), engine_found(None)
    follower = Follower(Live(_BUDGET, values="auto" if engine else "comments"), elo_of_sides())
    name, store = effective_settings()["engine"].value, store_file(task.store)
    stopping = Stopping(finished=True, seconds=LONGEST)
    last, problem = 0.0, ""
    task.tell("live", 0, 0)
    with Following(feed, follower, settings, find=lambda: find_engine(name), store=store, stopping=stopping) as loop:
        for event in loop.events():
            problem = event.get("problem", "") if event["type"] == "problem" else ("" if event["board"] else problem)
            if time.monotonic() - last > _EVERY:
                last = time.monotonic()
                task.keep({"live": _report(address, follower, problem, engine)})
    task.keep({"live": _report(address, follower, problem, engine)})


class _Heard:
    """A feed that ends the work where somebody has cancelled the job."""

    def __init__(self, feed: FeedSource, task: JobTask) -> None:
        self._feed, self._task, self._checked = feed, task, 0.0

    def changed(self) -> bool:
        return self._feed.changed()

    def poll(self) -> str | None:
        if time.monotonic() - self._checked > _EVERY:
            self._checked = time.monotonic()
            self._task.check()
        return self._feed.poll()

    def problem(self) -> str | None:
        return self._feed.problem()

    def close(self) -> None:
        self._feed.close()


def _report(address: str, follower: Follower, problem: str, engine: bool) -> dict[str, Any]:
    boards = []
    for row in follower.table()[:MOST_BOARDS]:
        board = follower.boards[row["board"]].text
        last = board.moves[-1] if board.moves else None
        squares = None if last is None else [last & 63, last >> 6 & 63]
        players = [{**one, "elo": _elo(one)} for one in row["players"]]
        boards.append({**row, "fen": board.fens[-1], "squares": squares, "players": players})
    return {"schema": SCHEMA, "address": address, "boards": boards, "problem": problem, "engine": engine}


def _elo(player: dict[str, Any]) -> dict[str, float] | None:
    """Return the Elo of a player's moves so far as pages have it; nothing before the first."""
    names = {"elo": "axis_elo", "elo_low": "axis_low", "elo_high": "axis_high"}
    return None if player["axis_elo"] is None else {own: player[name] for own, name in names.items()}
