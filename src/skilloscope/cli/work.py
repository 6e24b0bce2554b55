"""Options that every command with an engine shares, and the work they describe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from skilloscope.chess.analysis import Progress
    from skilloscope.studies.judging import Work

__all__ = ["Depth", "EngineName", "HashMb", "Imports", "Json", "MultiPv", "Nodes", "StoreFolder", "working"]

StoreFolder = Annotated[
    Path | None, typer.Option(help="Folder of the analysis store (default: the user's data folder).", metavar="DIR")
]
EngineName = Annotated[str | None, typer.Option(help="Engine to run: a name or a path (default: Stockfish, found).")]
Depth = Annotated[int | None, typer.Option(help="Search depth in plies (default 10).")]
Nodes = Annotated[int | None, typer.Option(help="Search limit in nodes, in place of a depth.")]
MultiPv = Annotated[int | None, typer.Option(help="How many moves the engine lists (default 10).")]
HashMb = Annotated[int | None, typer.Option("--hash", help="Hash table of the engine in MB (default 16).")]
Imports = Annotated[
    list[Path] | None, typer.Option("--import", help="Exported analyses to use; may be repeated.", metavar="FILE")
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")]


@contextmanager
def working(flags: dict[str, Any], imports: list[Path] | None, what: str = "analysing") -> Iterator[Work]:
    """Give the work that the flags, the environment and the settings files describe, with a progress bar on stderr."""
    from skilloscope.chess.settings import Settings
    from skilloscope.cli.console import progress_bar
    from skilloscope.settings import effective_settings, store_file
    from skilloscope.studies.judging import Work

    found = {name: setting.value for name, setting in effective_settings(flags).items()}
    settings = Settings(
        depth=None if found["nodes"] else found["depth"],
        nodes=found["nodes"],
        multipv=found["multipv"],
        hash_mb=found["hash"],
    )
    with progress_bar(what) as show:

        def progress(now: Progress) -> None:
            show(now.done, now.total, f"{now.cached:,} cached, {_rate(now)}")

        yield Work(
            settings=settings,
            store=store_file(found["store"]),
            engine=found["engine"],
            imports=tuple(imports or ()),
            progress=progress,
        )


def _rate(now: Progress) -> str:
    return f"{now.searched / now.seconds:.1f} a second" if now.searched and now.seconds > 0 else "no search yet"
