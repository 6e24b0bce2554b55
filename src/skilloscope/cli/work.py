"""Options that every command with an engine shares, and the work they describe."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from skilloscope.core.errors import InputError
from skilloscope.reports.words import duration

if TYPE_CHECKING:
    from skilloscope.chess.analysis.analyse import Progress
    from skilloscope.chess.engine.settings import Settings
    from skilloscope.sources.judge import Work

StoreFolder = Annotated[
    Path | None, typer.Option(help="Folder of the analysis store (default: the user's data folder).", metavar="DIR")
]
EngineName = Annotated[str | None, typer.Option(help="Engine to run: a name or a path (default: Stockfish, found).")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")]

EngineFlags = Mapping[str, Any]
"""What was said of the engine on the command line, by the names below; None where nothing was said."""

_ENGINE_OPTIONS: dict[str, Any] = {
    "store": StoreFolder,
    "engine": EngineName,
    "preset": Annotated[
        str | None,
        typer.Option(help="Settings of a paper: DFH13, RH11, RH11-single, FER12, full or nodes-50k.", metavar="NAME"),
    ],
    "depth": Annotated[int | None, typer.Option(help="Search depth in plies (default 10).")],
    "nodes": Annotated[int | None, typer.Option(help="Search limit in nodes, in place of a depth.")],
    "multipv": Annotated[int | None, typer.Option(help="How many moves the engine lists (default 10).")],
    "hash": Annotated[int | None, typer.Option(help="Hash table of the engine in MB (default 16).")],
    "workers": Annotated[int | None, typer.Option(help="Engine processes side by side.", metavar="N", min=1)],
    "scheduler": Annotated[str | None, typer.Option(help="Search on the cluster of this scheduler.", metavar="ADDR")],
    "import": Annotated[
        list[Path] | None, typer.Option(help="Analyses in files to use; may be repeated.", metavar="FILE")
    ],
}


def with_engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the engine in place of its parameter `engine_flags`, which gets them as a dict.

    typer reads options from a signature; written out, every command with an engine would repeat these ten.
    """

    @wraps(command)
    def with_flags(**given: Any) -> None:
        flags = {name: given.pop(f"engine_{name}") for name in _ENGINE_OPTIONS}
        command(**given, engine_flags=flags)

    signature = inspect.signature(command, eval_str=True)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name == "engine_flags":
            parameters += [_option(name, hint) for name, hint in _ENGINE_OPTIONS.items()]
        else:
            parameters.append(parameter)
    with_flags.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_flags


def _option(name: str, hint: Any) -> inspect.Parameter:
    """Return an option of the engine as a parameter `engine_NAME` that the command line knows as --NAME."""
    kind, info = get_args(hint)
    named = copy(info)
    named.param_decls = (f"--{name}",)
    return inspect.Parameter(
        f"engine_{name}", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, named]
    )


@contextmanager
def working(flags: EngineFlags, what: str = "analysing") -> Iterator[Work]:
    """Give the work that the flags, the environment and the settings files describe, with a progress bar on stderr."""
    from skilloscope.cli.console import progress_bar
    from skilloscope.core.configuration import effective_settings, store_file
    from skilloscope.sources.judge import Work

    known = {name: flag for name, flag in flags.items() if name not in ("preset", "scheduler", "import")}
    found = {name: setting.value for name, setting in effective_settings(known).items()}
    with progress_bar(what) as show:
        yield Work(
            settings=_settings(found, flags),
            store=store_file(found["store"]),
            engine=found["engine"],
            imports=tuple(flags.get("import") or ()),
            workers=found["workers"],
            scheduler=flags.get("scheduler"),
            progress=lambda now: show(now.done, now.total, _note(now)),
        )


def _settings(found: Mapping[str, Any], flags: Mapping[str, Any]) -> Settings:
    """Return the search's settings: those found; where a preset is asked for, its own with the flags over them."""
    from dataclasses import replace

    from skilloscope.chess.engine.settings import Settings, preset

    if flags.get("depth") and flags.get("nodes"):
        raise InputError("a search has one limit, not --depth and --nodes", hint="leave one of them out")
    if not flags.get("preset"):
        depth, nodes = found["depth"], found["nodes"] if not flags.get("depth") else None
        return Settings(None if nodes else depth, nodes, multipv=found["multipv"], hash_mb=found["hash"])
    settings = preset(flags["preset"])
    if flags.get("depth") or flags.get("nodes"):
        settings = replace(settings, depth=flags.get("depth"), nodes=flags.get("nodes"))
    return replace(settings, multipv=flags.get("multipv") or settings.multipv, hash_mb=found["hash"])


def _note(now: Progress) -> str:
    """Return what stands beside the bar: how fast, how long still, what was known already."""
    known = f"{now.cached + now.imported:,} known before" + (f", {now.failed:,} failed" if now.failed else "")
    if now.remaining_seconds is None or now.seconds <= 0:
        return known
    return f"{now.searched / now.seconds:.1f} a second, {duration(now.remaining_seconds)} left, {known}"
