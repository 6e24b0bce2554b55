"""The typer application: the global options and one module per group of commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from skilloscope.__about__ import __version__
from skilloscope.cli import (
    analyse,
    calibrate,
    compare,
    composites,
    decisions,
    demo,
    dimensions,
    doctor,
    game,
    games,
    intrinsic,
    live,
    moves,
    names,
    play,
    profile,
    rate,
    report,
    reproduce,
    results,
    screen,
    sensitivity,
    sequence,
    serve,
    simulate,
    store,
    tournament,
    within,
)
from skilloscope.core.plain import visible

_UsageError: Any = typer.BadParameter.__mro__[1]


class _Group(TyperGroup):
    """The commands by what they are for; what is said of a wrong option passes the filter of texts for a terminal."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            error.message = visible(error.message)
            raise

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            error.message = visible(error.message)
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands as plain text: nothing is loaded for it, so that it is there at once."""
        super(TyperGroup, self).format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands: list[tuple[str, Any]] = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        width = max(len(name) for name, _ in commands)
        for title in dict.fromkeys(one.rich_help_panel for _, one in commands):
            own = [(name, one) for name, one in commands if one.rich_help_panel == title]
            rows = [(f"{name:{width}}", one.get_short_help_str(500)) for name, one in own]
            with formatter.section(title):
                formatter.write_dl(rows)


class _OneValue(TyperCommand):
    """A command that refuses a second value of what takes one: the first would be lost in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        order: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        single = [one for one in order if one.param_type_name == "option" and not (one.multiple or one.count)]
        twice = next((one for place, one in enumerate(single) if one in single[:place] and not one.is_flag), None)
        if twice is not None:
            raise typer.BadParameter(f"{twice.opts[0]} is given twice, and takes one value", ctx=ctx)
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group,
    name="skilloscope",
    help="Measures how well somebody decides: Elo with honest intervals, from the moves themselves.",
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
    """Measures how well somebody decides: Elo with honest intervals, from the moves themselves."""
    from skilloscope.cli.console import set_verbosity

    set_verbosity(verbose, quiet)


_GROUPS: dict[str, tuple[Any, ...]] = {
    "From moves": (
        rate,
        report,
        game,
        moves,
        profile,
        compare,
        within,
        dimensions,
        sequence,
        tournament,
        screen,
        live,
        play,
    ),
    "From results": (results, names),
    "Any decisions": (decisions, sensitivity),
    "Papers": (composites, intrinsic, reproduce),
    "Engine and upkeep": (serve, analyse, games, store, calibrate, simulate, demo, doctor),
}
"""The commands as --help shows them."""

for title, modules in _GROUPS.items():
    for module in modules:
        known = len(app.registered_commands), len(app.registered_groups)
        module.register(app)
        added: Any
        for added in (*app.registered_commands[known[0] :], *app.registered_groups[known[1] :]):
            added.rich_help_panel = title
            inner = getattr(added, "typer_instance", None)
            for one in (added,) if inner is None else inner.registered_commands:
                one.cls = _OneValue
