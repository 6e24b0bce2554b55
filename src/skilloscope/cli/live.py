"""`skilloscope live`: strength after every move of games that are being played."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.gain_options import CurveName, EngineElo, MateCap, ValuesName
from skilloscope.cli.options import EngineOptions, Json, command

if TYPE_CHECKING:
    from skilloscope.studies.live.live import Event, Follower


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope live broadcast.pgn --budget 200")(command(live))


def live(
    feed: Annotated[str, typer.Argument(help="A PGN file that grows, or an http address.", metavar="FILE|URL")],
    budget: Annotated[
        float, typer.Option(help="Engine time for new moves, shared by the boards that moved.", metavar="MS", min=1)
    ] = 200.0,
    every: Annotated[float, typer.Option(help="Seconds between two looks at an address.", min=0.1)] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Stop when all is valued that the feed holds now.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Stop when every game has a result.")] = False,
    seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.", min=0)] = None,
    stall: Annotated[float, typer.Option(help="Say so where there is no news for so many seconds.")] = 60.0,
    values: ValuesName = "auto",
    mate_cap: MateCap = 39.0,
    curve: CurveName = "normal",
    engine_elo: EngineElo = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Follow games while they are played: both players' strength after every move, on every board."""
    from skilloscope.cli.console import run

    how = {"budget_seconds": budget / 1000, "values": values, "mate_cap": mate_cap}
    how |= {"curve": curve, "engine_elo": engine_elo}
    stop = {"once": once, "finished": finish, "seconds": seconds, "stall_seconds": stall}
    raise typer.Exit(run(lambda: _live(feed, every, how, stop, engine, as_json)))


def _live(
    source: str, every: float, how: dict[str, Any], stop: dict[str, Any], engine: EngineOptions, as_json: bool
) -> int:
    import contextlib
    from dataclasses import replace

    from skilloscope.chess.engine.engine import find_engine
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.core.errors import InputError
    from skilloscope.models.gain import elo_difference
    from skilloscope.sources.gains import VALUES
    from skilloscope.studies.live.feed_sources import open_feed
    from skilloscope.studies.live.following import Following, Stopping
    from skilloscope.studies.live.live import Follower, Live

    elo_difference(0.5, how["curve"])
    if how["values"] not in VALUES:
        raise InputError(f"no values {how['values']!r}", hint=f"whose values: {', '.join(VALUES)}")
    if not how["mate_cap"] > 0:
        raise InputError(f"a mate of {how['mate_cap']} pawns", hint="give more than 0; 39 is the paper's")
    with working(gain_search(engine)) as work:
        settings, named, store = replace(work.settings, multipv=1), work.engine, work.store
    follower = Follower(Live(**how))
    with (
        Following(
            open_feed(source, every_seconds=every),
            follower,
            settings,
            find=lambda: find_engine(named),
            store=store,
            stopping=Stopping(**stop),
        ) as following,
        contextlib.suppress(KeyboardInterrupt),
    ):  # Ctrl-C is how one stops following
        _show(following.events(), follower, as_json)
    return 0


def _show(events: Iterable[Event], follower: Follower, as_json: bool) -> None:
    """Write JSON lines, draw one table that is kept up to date, or print a line for each event."""
    import json
    import sys

    from skilloscope.cli.console import out
    from skilloscope.studies.live.live import SCHEMA
    from skilloscope.studies.live.tables import event_line, live_table

    if as_json:
        for event in events:
            sys.stdout.write(json.dumps({"schema": SCHEMA, **event}, ensure_ascii=False, allow_nan=False) + "\n")
            sys.stdout.flush()
        return
    console = out()
    if not console.is_terminal:
        for event in events:
            console.print(event_line(event), soft_wrap=True)
        console.print(live_table(follower.table()))
        return
    from rich.live import Live as Screen

    with Screen(live_table([]), console=console, auto_refresh=False) as screen:
        for event in events:
            note = "" if event["type"] == "move" else event_line(event)
            screen.update(live_table(follower.table(), note), refresh=True)
