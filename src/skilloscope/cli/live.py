"""`skilloscope live` and `skilloscope decisions live`: games and decisions followed while they arrive."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from skilloscope.cli import options
from skilloscope.cli.console import err, out, show_tables
from skilloscope.cli.options import AgentOptions, EngineGainOptions, EngineOptions, Json, Mass, argument, option
from skilloscope.cli.request import working
from skilloscope.core.errors import InputError
from skilloscope.core.text import json_text

if TYPE_CHECKING:
    from skilloscope.studies.live.live import Event, Follower

GRACE_SECONDS = 2.0  # how long `live` may go on after its time, on a feed of many games, before it is ended


@dataclass(frozen=True)
class FollowOptions(options.Options):
    """The engine's time, how often an address is fetched, and when to stop."""

    budget: Annotated[
        float, option("Engine time for new moves, shared by the boards that moved.", metavar="MS", min=1)
    ] = 200.0
    every: Annotated[float, option("Seconds between two fetches of an address.", min=0.1)] = 2.0
    once: Annotated[bool, option("Stop when all moves in the feed are evaluated.")] = False
    finish: Annotated[bool, option("Stop when every game has a result.")] = False
    seconds: Annotated[float | None, option("Stop after this many seconds.", min=0)] = None
    stall: Annotated[float, option("Report a feed without news for this many seconds.")] = 60.0


def live(
    feed: Annotated[str, argument("A PGN file that grows, or an http address.", metavar="FILE|URL")],
    *,
    follow: FollowOptions,
    gain: EngineGainOptions,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Follow games in progress: both players' strength after every move, on every board."""
    from skilloscope.chess.engine.engine import find_engine
    from skilloscope.inputs.gains import check_values
    from skilloscope.inputs.running_elo import elo_of_sides
    from skilloscope.studies.live.feed import open_feed
    from skilloscope.studies.live.following import Following, Stopping
    from skilloscope.studies.live.live import Follower, Live

    how = Live(follow.budget / 1000, **gain.given())
    check_values(gain.values, gain.mate_cap)
    with working(options.gain_search(engine)) as work:
        settings = replace(work.settings, multipv=1)
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
    """End the block, as Ctrl-C does, if it has not ended by itself a little after its time: a feed may be huge."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, end)
    # Repeatedly, since the running code may catch the first one.
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS, GRACE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _show(events: Iterable[Event], follower: Follower, as_json: bool) -> None:
    """Write JSON lines, draw one table that is kept up to date, or print a line for each event."""
    from rich.live import Live as Screen

    from skilloscope.report.study import json_fields
    from skilloscope.report.table import drawn
    from skilloscope.studies.live.live import SCHEMA

    console = out()
    if as_json:
        for event in events:
            _write_line({"schema": SCHEMA, **json_fields(event)})
    elif not console.is_terminal:
        for event in events:
            console.print(str(event), soft_wrap=True)
        show_tables(*follower.state().tables())
    else:
        with Screen(drawn(follower.state().tables()[0]), console=console, auto_refresh=False) as screen:
            for event in events:
                note = "" if event.type == "move" else str(event)
                screen.update(drawn(follower.state(note).tables()[0]), refresh=True)


def _write_line(value: object) -> None:
    sys.stdout.write(json_text(value) + "\n")
    sys.stdout.flush()


def decisions_live(
    source: Annotated[str, argument("JSON lines of decisions: a file that grows, or - for stdin.")],
    *,
    agent: AgentOptions,
    prior: Annotated[str, option("Prior of c: uniform, or normal:MEAN,SD.")] = "uniform",
    mass: Mass = 0.95,
    once: Annotated[bool, option("Stop at the end of what the file holds now.")] = False,
    seconds: Annotated[float | None, option("Stop after this many seconds.", min=0)] = None,
    as_json: Json = False,
) -> int:
    """Follow deciders as decisions arrive: c with credible interval after every line."""
    from skilloscope.evidence import prior_from_text
    from skilloscope.report.study import json_fields
    from skilloscope.studies.deciders import DeciderStream, LineFault

    stream = DeciderStream(agent.agent(), prior_from_text(prior, *agent.c_range), mass)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how one stops following
        for number, text in enumerate(_lines(source, once, seconds), start=1):
            if not text.strip():
                continue
            event = stream.line(text, number)
            if as_json:
                _write_line(json_fields(event))
            elif isinstance(event, LineFault):
                err().print(f"bad input: line {number}: {event.reason}", style="yellow")
            else:
                out().print(str(event))
    if not as_json:
        show_tables(stream.table())
    return 1 if stream.faults else 0


def _lines(source: str, once: bool, seconds: float | None) -> Iterator[str]:
    from skilloscope.core.files import MOST_LINE
    from skilloscope.studies.deciders import growing_lines

    if source == "-":
        yield from iter(partial(sys.stdin.readline, MOST_LINE), "")
    elif not Path(source).is_file():
        raise InputError(f"{source}: no such file", hint="give a file of JSON lines, or - for stdin")
    else:
        yield from growing_lines(Path(source), once=once, seconds=seconds)
