"""Options as typed objects: a group of options is a dataclass, and a command takes it as one parameter.

typer reads options from a signature. `command` spreads the fields of every parameter that is an `Options` into that
signature and puts them together again, so that what several commands share is written once and checked as types.
It also runs the command: errors become a message, a hint and an exit code. No command writes over what it reads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from skilloscope.core.errors import OptionError, check_mass
from skilloscope.core.paths import GAME_ENDINGS, RESULT_ENDINGS, checked_files

if TYPE_CHECKING:
    from skilloscope.models.agent import Agent
    from skilloscope.models.gain import Curve

_DEPTH = 13


def option(help: str, *names: str, **more: Any) -> Any:
    """Return an option for `Annotated`: it has the name of its parameter, unless other names are given."""
    return typer.Option(*names, help=help, **more)


def argument(help: str, metavar: str | None = None) -> Any:
    """Return an argument for `Annotated`."""
    return typer.Argument(help=help, metavar=metavar)


Json = Annotated[bool, option("Write JSON to stdout.", "--json")]
Mass = Annotated[float, option("Level of the credible intervals.", "--level")]
GameFiles = Annotated[
    list[Path],
    argument("PGN files, folders of them, or decisions that `analyse --out` wrote (.parquet).", metavar="GAMES…"),
]
PlayerName = Annotated[str, option("Whose games.", metavar="NAME")]
Aliases = Annotated[
    list[str] | None,
    option("Another spelling of a name, or a file of them; may be repeated.", metavar="SPELLING=NAME|FILE"),
]
Rule = Annotated[str | None, option("Choice-set rule: listed, bucket, sampled or full.")]
EloPrior = Annotated[str | None, option("Prior of Elo: opponents (default), file, population, flat or header.")]
Effort = Annotated[str | None, option("instant (no engine), quick or full (default with an engine).")]
Dispersion = Annotated[float | None, option("With --method agent: divide all evidence by this (default: the scale's).")]
Tables = Annotated[list[Path], argument("Tables of decisions: .csv, .jsonl or .parquet.", metavar="TABLE…")]
CRange = Annotated[tuple[float, float], option("Range of c.", "--range", metavar="LOW HIGH")]
StoreFolder = Annotated[
    Path | None, option("Folder of the analysis store (default: the user's data folder).", metavar="DIR")
]
EngineName = Annotated[str | None, option("Engine to run: a name or a path (default: Stockfish, found).")]

OUTPUTS = frozenset({"html", "out", "export", "history", "truth", "pdf", "figure"})
"""The options that name a file to write. Every other path or text that names a file is something to read."""
FIGURES = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Options:
    """A group of options: a frozen dataclass whose fields are options, `Annotated` as typer wants them."""


Pool = Annotated[
    str | None,
    option(
        "Whose ratings: auto (default, by each game's tags), fide, lichess-bullet, -blitz, -rapid, -classical, "
        "chesscom-bullet, -blitz, -rapid.",
        metavar="NAME",
    ),
]
PoolName = Annotated[str, option("Whose levels: fide, or a pool of a server.", "--pool", metavar="NAME")]


@dataclass(frozen=True)
class EngineOptions(Options):
    """The engine options given on the command line; None where there were none."""

    store: StoreFolder = None
    engine: EngineName = None
    preset: Annotated[
        str | None, option("Settings of a paper: DFH13, RH11, RH11-single, FER12, full or nodes-50k.", metavar="NAME")
    ] = None
    depth: Annotated[int | None, option("Search depth in plies, 1 to 245 (default 10).")] = None
    nodes: Annotated[int | None, option("Search limit in nodes, in place of a depth.")] = None
    multipv: Annotated[int | None, option("How many moves the engine lists (default 10).")] = None
    hash: Annotated[int | None, option("Hash table of the engine in MB (default 16).")] = None
    workers: Annotated[int | None, option("Engine processes side by side.", metavar="N", min=1)] = None
    scheduler: Annotated[str | None, option("Search on the cluster of this scheduler.", metavar="ADDR")] = None
    imports: Annotated[list[Path] | None, option("Analyses in files to use; may be repeated.", "--import")] = None


@dataclass(frozen=True)
class Output(Options):
    """Where a report goes: a page, the same as PDF, its figures alone, JSON."""

    html: Annotated[Path | None, option("Write a self-contained HTML page.")] = None
    pdf: Annotated[Path | None, option("Write the page as PDF (extra `pdf`).")] = None
    figure: Annotated[Path | None, option("Write the figures: .svg, .png or .pdf; several are numbered.")] = None
    title: Annotated[str, option("The title of the page.")] = ""
    as_json: Json = False

    def __post_init__(self) -> None:
        if self.figure is not None and self.figure.suffix.lower() not in FIGURES:
            raise OptionError(f"{self.figure}: a figure is {', '.join(FIGURES)}", hint="its name says which")
        if self.pdf is not None:
            from skilloscope.report.page import check_pdf

            check_pdf()

    @property
    def wanted(self) -> bool:
        """Whether a page or its figures are to be written."""
        return any((self.html, self.pdf, self.figure))


@dataclass(frozen=True)
class IntervalOutput(Output):
    """Where a report with intervals goes, and how much its intervals hold."""

    mass: Mass = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        check_mass(self.mass)


@dataclass(frozen=True)
class AxisOptions(Options):
    """How evidence is read as Elo; None where the settings decide."""

    scale: Annotated[str | None, option("Elo axis or agent's scale: a name or a JSON file (default: default).")] = None
    rule: Annotated[str | None, option("Choice-set rule: listed, bucket, sampled or full (default: the scale's).")] = (
        None
    )


@dataclass(frozen=True)
class EffortOptions(Options):
    """By which method moves are read as Elo, what is spent on it, and in how long; None where settings decide."""

    method: Annotated[
        str | None, option("joint (default with an engine), human (without), or agent; `rate` also curves, gain, all.")
    ] = None
    effort: Annotated[
        str | None,
        option("instant (no engine), evaluations ([%eval] comments), quick or full (default with an engine)."),
    ] = None
    budget: Annotated[
        float | None, option("Stop the engine after this many minutes, shared between players.", metavar="MINUTES")
    ] = None
    seed: Annotated[int, option("Random seed used to choose games when a budget is set.")] = 1
    pool: Pool = None


@dataclass(frozen=True)
class AgentOptions(Options):
    """The reference agent, and the range of its competence."""

    k: Annotated[float, option("The agent's constant, in units of the utilities.")] = 0.1
    rule: Annotated[str, option("Choice-set rule: listed, bucket, sampled or full.")] = "listed"
    c_range: CRange = (0.0, 4.0)

    def agent(self) -> Agent:
        """Return the agent that is described."""
        from skilloscope.models.agent import Agent

        return Agent(k=self.k, rule=self.rule)


@dataclass(frozen=True)
class GainOptions(Options):
    """Whose values the gains are computed from, and how strengths follow from them."""

    values: Annotated[
        str, option("Whose values: comments ([%eval]), engine, or auto: comments where most moves carry one.")
    ] = "auto"
    mate_cap: Annotated[float, option("Cut values at ± this many pawns; a mate is worth as much.")] = 39.0
    curve: Annotated[str, option("From expected score to Elo: normal (the paper's) or logistic.")] = "normal"
    engine_elo: Annotated[
        float | None, option("The engine's strength, if known; then strengths are shown.", metavar="ELO")
    ] = None

    def elo_curve(self) -> Curve:
        """Return the curve by its name; an unknown one is refused before the engine is asked."""
        from skilloscope.models.gain import elo_curve

        return elo_curve(self.curve)


@dataclass(frozen=True)
class EngineGainOptions(GainOptions):
    """The same, and the engine's own gains."""

    engine_gains: Annotated[
        str,
        option(
            "The engine's own gains: peak (none), agreed or searched (measured); auto: agreed where it can be.",
            metavar="KIND",
        ),
    ] = "auto"

    def given(self) -> dict[str, Any]:
        """Return all of it by name, the curve checked."""
        return {**vars(self), "curve": self.elo_curve()}


def gain_search(asked: EngineOptions) -> EngineOptions:
    """Return what was asked, with FER12's search under it: one line, every position; depth 13 by default."""
    said = asked.preset or asked.depth or asked.nodes
    return replace(asked, preset=asked.preset or "FER12", depth=asked.depth if said else _DEPTH)


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """Make a typer command of a function: its groups of options spread, its errors turned into messages."""

    @wraps(function)
    def run_command(**given: Any) -> None:
        from skilloscope.cli.console import run

        def checked() -> int | None:
            values = dict(given)
            for name, group in groups.items():  # a group may refuse its own
                values[name] = group(**{one.name: values.pop(f"{name}_{one.name}") for one in fields(group)})
            return function(**values | checked_files(given, files, writes))

        raise typer.Exit(run(checked))

    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Options)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=_named(hints[name], name)))
        else:  # the field FIELD of a group becomes the parameter NAME_FIELD, on the command line --FIELD
            for own, default, hint in _options_of(groups[name]):
                kind = inspect.Parameter.KEYWORD_ONLY
                parameters.append(inspect.Parameter(f"{name}_{own}", kind, default=default, annotation=hint))
    writes = {one.name for one in parameters if one.name.rpartition("_")[2] in OUTPUTS}
    files = {one.name: found for one in parameters if (found := _files_named(one.annotation))}
    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    run_command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    run_command.__annotations__ = {one.name: one.annotation for one in keywords}
    return run_command


def _files_named(hint: Any) -> tuple[str, ...]:
    """Return how the files end that a folder stands for, where it is an argument that takes files."""
    kind, *about = get_args(hint) or (hint,)
    arguments = [one for one in about if isinstance(one, typer.models.ArgumentInfo)]
    if kind != list[Path] or not arguments:
        return ()
    return RESULT_ENDINGS if arguments[0].metavar == "RESULTS…" else GAME_ENDINGS


@cache
def _options_of(group: Any) -> list[tuple[str, Any, Any]]:
    """Return name, default and hint of each field of a group: many commands share one, and hints are slow to read."""
    hints = get_type_hints(group, include_extras=True)
    empty = inspect.Parameter.empty
    return [
        (one.name, empty if one.default is MISSING else one.default, _named(hints[one.name], one.name))
        for one in fields(group)
    ]


def _named(hint: Any, name: str) -> Any:
    """Return the hint with the option's own name in it, unless it has one or is an argument; a path is a FILE."""
    kind, info = get_args(hint)
    if isinstance(info, typer.models.ArgumentInfo):
        return hint
    named = copy(info)
    if not (info.param_decls or isinstance(info.default, str)):  # typer takes a first name for a default at first
        named.param_decls = (f"--{name.replace('_', '-')}",)
    if "Path" in str(kind):
        named.metavar = info.metavar or "FILE"
    return Annotated[kind, named]
