"""`skilloscope live`: strength after every move of games that are being played."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.gain_options import EngineGainOptions
from skilloscope.cli.options import EngineOptions, Json, Options, command

if TYPE_CHECKING:
    from skilloscope.studies.live.live import Event, Follower

GRACE_SECONDS = 2.0
"""So long after its time `live` may still be at work, on a feed of many games, before it is ended."""


@dataclass(frozen=True)
class FollowOptions(Options):
    """How much time the engine has, how often an address is looked at, and when to stop."""

    budget: Annotated[
        float, typer.Option(help="Engine time for new moves, shared by the boards that moved.", metavar="MS", min=1)
    ] = 200.0
    every: Annotated[float, typer.Option(help="Seconds between two looks at an address.", min=0.1)] = 2.0
    once: Annotated[bool, typer.Option("--once", help="Stop when all is valued that the feed holds now.")] = False
    finish: Annotated[bool, typer.Option("--finish", help="Stop when every game has a result.")] = False
    seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.", min=0)] = None
    stall: Annotated[float, typer.Option(help="Say so where there is no news for so many seconds.")] = 60.0


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope live broadcast.pgn --budget 200")(command(live))


def live(
    feed: Annotated[str, typer.Argument(help="A PGN file that grows, or an http address.", metavar="FILE|URL")],
    *,
    follow: FollowOptions,
    gain: EngineGainOptions,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Follow games while they are played: both players' strength after every move, on every board."""
    from dataclasses import replace
    from functools import partial

    from skilloscope.chess.engine.engine import find_engine
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.core.errors import InputError
    from skilloscope.sources.gains import check_values
    from skilloscope.sources.running_elo import elo_of_sides
    from skilloscope.studies.live.feed_sources import open_feed
    from skilloscope.studies.live.following import Following, Stopping
    from skilloscope.studies.live.live import Follower, Live

    curve = gain.elo_curve()
    check_values(gain.values, gain.mate_cap)
    with working(gain_search(engine)) as work:
        settings = replace(work.settings, multipv=1)
    how = Live(
        follow.budget / 1000,
        values=gain.values,
        mate_cap=gain.mate_cap,
        engine_gains=gain.engine_gains,
        engine_elo=gain.engine_elo,
        curve=curve,
    )
    follower = Follower(how, elo_of_sides())
    following = Following(
        open_feed(feed, every_seconds=follow.every),
        follower,
        settings,
        find=partial(find_engine, work.engine),
        store=work.store,
        stopping=Stopping(follow.once, follow.finish, follow.seconds, follow.stall),
    )
    with following, contextlib.suppress(KeyboardInterrupt), _bounded(follow.seconds):
        _show(following.events(), follower, as_json)  # Ctrl-C is how one stops following
    if follow.once and not follower.boards:
        late = follow.seconds is not None and not following.was_read
        reason = f"it could not be read in {follow.seconds:g} seconds" if late else "no game that could be followed"
        hint = "give it more --seconds, or fewer games" if late else "is it PGN, with both players named?"
        raise InputError(f"{feed}: {reason}", hint=hint)
    return 0


@contextlib.contextmanager
def _bounded(seconds: float | None) -> Iterator[None]:
    """End the block, as Ctrl-C does, where it does not end by itself a little after its time: a feed may be huge."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, end)
    # Again and again: whatever is at work may take the first for its own.
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS, GRACE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _show(events: Iterable[Event], follower: Follower, as_json: bool) -> None:
    """Write JSON lines, draw one table that is kept up to date, or print a line for each event."""
    import sys

    from skilloscope.cli.console import out, show
    from skilloscope.core.plain import json_text
    from skilloscope.reports.terminal import drawn
    from skilloscope.studies.live.live import SCHEMA
    from skilloscope.studies.live.tables import event_line, live_sheet

    if as_json:
        for event in events:
            sys.stdout.write(json_text({"schema": SCHEMA, **event}) + "\n")
            sys.stdout.flush()
        return
    console = out()
    if not console.is_terminal:
        for event in events:
            console.print(event_line(event), soft_wrap=True)
        show(live_sheet(follower.table()))
        return
    from rich.live import Live as Screen

    with Screen(drawn(live_sheet([])), console=console, auto_refresh=False) as screen:
        for event in events:
            note = "" if event["type"] == "move" else event_line(event)
            screen.update(drawn(live_sheet(follower.table(), note)), refresh=True)
