"""The typer application: the global options and one table of commands, each loaded when it is asked for."""

import csv
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from skilloscope.__about__ import __version__

_TABLE = Path(__file__).parents[1] / "data" / "commands.csv"
_UsageError: Any = typer.BadParameter.__mro__[1]


@dataclass(frozen=True)
class Entry:
    """A command: the function of cli that runs it, the arguments of its example, and its line in --help."""

    home: str
    example: str
    help: str


@dataclass(frozen=True)
class Group:
    """A group of commands, and its line in --help."""

    help: str
    entries: Mapping[str, Entry]


def _commands() -> dict[str, dict[str, Entry | Group]]:
    panels: dict[str, dict[str, Entry | Group]] = {}
    groups: dict[str, dict[str, Entry]] = {}
    for row in csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines()):
        panel, (group, _, name) = panels.setdefault(row["purpose"], {}), row["command"].rpartition(" ")
        entry = Entry(row["function"], row["example"], row["help"])
        if group:
            groups[group][name] = entry
        else:
            panel[name] = entry if entry.home else Group(entry.help, groups.setdefault(name, {}))
    return panels


COMMANDS = _commands()
"""The commands as --help shows them, by purpose. The help of an entry is the first line of its function."""


class _Commands(Mapping[str, Any]):
    """The commands of a group by name. Only the one asked for is loaded, so that --help starts fast."""

    def __init__(self, entries: Mapping[str, Entry | Group], path: str, panels: Mapping[str, str]) -> None:
        self._entries, self._path, self._panels = entries, path, panels

    def __getitem__(self, name: str) -> Any:
        entry, path = self._entries[name], f"{self._path} {name}"
        if isinstance(entry, Group):
            return _CommandGroup(
                name=name,
                help=entry.help,
                no_args_is_help=True,
                rich_help_panel=self._panels.get(name),
                panels={"Commands": entry.entries},
                path=path,
            )
        from skilloscope.cli.options import command

        module, function = entry.home.split(":")
        run = command(getattr(import_module(f"skilloscope.cli.{module}"), function))
        alone = typer.Typer(add_completion=False)
        panel, epilog = self._panels.get(name), f"Example: {path} {entry.example}"
        alone.command(name, cls=_OneValue, epilog=epilog, rich_help_panel=panel)(run)
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class _CommandGroup(TyperGroup):
    """The commands by purpose, those of the application or of one of its groups."""

    def __init__(
        self,
        *,
        commands: Any = None,
        panels: Mapping[str, Mapping[str, Entry | Group]] = COMMANDS,
        path: str = "skilloscope",
        **attributes: Any,
    ) -> None:
        super().__init__(**attributes)
        homes = {name: title for title, entries in panels.items() for name in entries}
        entries = {name: entry for own in panels.values() for name, entry in own.items()}
        self._panels = panels
        self.commands: Any = _Commands(entries, path, homes)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help as plain text: neither rich nor a command is loaded for it."""
        super(TyperGroup, self).format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands))
        for title, entries in self._panels.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", entry.help) for name, entry in entries.items()])


class _Application(_CommandGroup):
    """All commands. Messages about wrong options are made safe for a terminal."""

    def invoke(self, ctx: Any) -> Any:
        with _visible_errors():
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _visible_errors():
            return super().parse_args(ctx, args)


@contextmanager
def _visible_errors() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        from skilloscope.core.text import visible

        error.message = visible(error.message)
        raise error from None


_LARGEST = 1e6


class _OneValue(TyperCommand):
    """A command that refuses a second value of an option that takes one, and numbers of no use."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        order: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        single = [one for one in order if one.param_type_name == "option" and not (one.multiple or one.count)]
        twice = next((one for place, one in enumerate(single) if one in single[:place] and not one.is_flag), None)
        if twice is not None:
            raise typer.BadParameter(f"{twice.opts[0]} is given twice, and takes one value", ctx=ctx)
        rest = super().parse_args(ctx, args)
        for one in order:
            value = ctx.params.get(one.name)
            for number in value if isinstance(value, tuple | list) else (value,):
                if isinstance(number, float) and not abs(number) <= _LARGEST:
                    raise typer.BadParameter(f"{one.opts[0]} {number:g} is no finite number up to 1e6", ctx=ctx)
        return rest


app = typer.Typer(
    cls=_Application,
    name="skilloscope",
    help="Estimates playing strength from the moves themselves, as Elo with a credible interval.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"skilloscope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
    verbose: Annotated[
        int, typer.Option("-v", "--verbose", count=True, help="Say more on stderr; -vv everything.")
    ] = 0,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Estimates playing strength from the moves themselves, as Elo with a credible interval."""
    from skilloscope.cli.console import set_verbosity

    set_verbosity(verbose, quiet)


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.exit("error: standard output is closed: there is nowhere to write results to")

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show ± still shows the rest
    try:
        app()
    except SystemExit as end:
        sys.exit(_flushed(end.code))


def _flushed(code: str | int | None) -> str | int | None:
    """Return the exit code once all is written: only then is it known whether it could be."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again when it ends
        if not isinstance(error, BrokenPipeError):  # a reader that has gone, e.g. `| head`, has what it wanted
            return f"error: standard output cannot be written: {error.strerror}"
    return code
