"""`skilloscope serve`: the web application."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import Json, Options, StoreFolder, command


@dataclass(frozen=True)
class ListenOptions(Options):
    """Where the server listens, what it is called, and what it allows."""

    host: Annotated[str, typer.Option(help="Address to listen on; others than this machine's need a password.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any that is free.", min=0, max=65535)] = 8000
    name: Annotated[
        list[str] | None,
        typer.Option(help="A further name that the server goes by, as in its address.", metavar="HOST"),
    ] = None
    password_file: Annotated[
        Path | None, typer.Option(help="Ask for the password that this file holds.", metavar="FILE")
    ] = None
    private_feeds: Annotated[
        bool, typer.Option("--private-feeds", help="Let live games be followed at private addresses too.")
    ] = False
    keep: Annotated[
        int, typer.Option(help="Remove work so long after its end; 0 keeps it for ever.", metavar="DAYS", min=0)
    ] = 30
    seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.", min=0)] = None


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope serve --port 8000")(command(serve))


def serve(*, listen: ListenOptions, store: StoreFolder = None, as_json: Json = False) -> int:
    """Open the web application: upload games, look at ratings, players and games in a browser."""
    from skilloscope.cli.console import out, print_json
    from skilloscope.core.configuration import effective_settings
    from skilloscope.core.errors import MissingExtraError

    try:
        from skilloscope.web.app import ServeOptions, Server
    except ImportError as error:
        raise MissingExtraError(
            f"the web application needs {error.name}", hint="pip install 'skilloscope[web]'"
        ) from error
    folder = Path(effective_settings({"store": store})["store"].value).expanduser()
    options = ServeOptions(
        store=folder,
        host=listen.host,
        port=listen.port,
        names=tuple(listen.name or ()),
        password=_password(listen.password_file),
        private=listen.private_feeds,
        keep_days=listen.keep,
    )
    server = Server(options)
    if as_json:
        print_json({"schema": 1, "address": server.address, "store": str(folder), "jobs": server.jobs.counts()})
    else:
        out().print(f"skilloscope is at {server.address}; Ctrl-C stops it, and its work goes on at the next start")
    server.run(listen.seconds)
    return 0


def _password(file: Path | None) -> str | None:
    from skilloscope.core.errors import InputError

    if file is None:
        return None
    try:
        password = file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: the password cannot be read", hint="a file with one line") from error
    if len(password) < 8:
        raise InputError(f"{file}: a password of {len(password)} letters", hint="at least eight")
    return password
