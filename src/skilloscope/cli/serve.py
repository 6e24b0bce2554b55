"""`skilloscope serve`: the web application."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from skilloscope.cli.console import out, print_json
from skilloscope.cli.options import Json, Options, StoreFolder, option
from skilloscope.core.errors import InputError, MissingExtraError
from skilloscope.core.paths import effective_settings


@dataclass(frozen=True)
class ListenOptions(Options):
    """The address of the server, its names, and what it allows."""

    host: Annotated[str, option("Address to listen on; any other than this machine's needs a password.")] = "127.0.0.1"
    port: Annotated[int, option("Port to listen on; 0 picks a free one.", min=0, max=65535)] = 8000
    name: Annotated[list[str] | None, option("Another host name of the server.", metavar="HOST")] = None
    password_file: Annotated[Path | None, option("Require the password in this file.")] = None
    private_feeds: Annotated[bool, option("Allow live games at private addresses.")] = False
    keep: Annotated[int, option("Remove finished work after this many days; 0 keeps it.", metavar="DAYS", min=0)] = 30
    seconds: Annotated[float | None, option("Stop after this many seconds.", min=0)] = None


def serve(*, listen: ListenOptions, store: StoreFolder = None, as_json: Json = False) -> int:
    """Start the web application: upload games, browse ratings, players and games."""
    try:
        from skilloscope.web.app import ServeOptions, Server
    except ImportError as error:
        raise MissingExtraError(
            f"the web application needs {error.name}", hint="pip install 'skilloscope[web]'"
        ) from error
    password = None
    if listen.password_file is not None:
        try:
            password = listen.password_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise InputError(
                f"{listen.password_file}: the password cannot be read", hint="a file with one line"
            ) from error
        if len(password) < 8:
            raise InputError(f"{listen.password_file}: a password of {len(password)} letters", hint="at least eight")
    folder = Path(effective_settings({"store": store})["store"].value).expanduser()
    options = ServeOptions(
        store=folder,
        host=listen.host,
        port=listen.port,
        names=tuple(listen.name or ()),
        password=password,
        private=listen.private_feeds,
        keep_days=listen.keep,
    )
    server = Server(options)
    if as_json:
        print_json({"schema": 1, "address": server.address, "store": str(folder), "jobs": server.jobs.counts()})
    else:
        out().print(f"skilloscope is at {server.address}; Ctrl-C stops it; interrupted work resumes at the next start")
    server.run(listen.seconds)
    return 0
