"""The typer application: the global options and one table of commands, each loaded when it is asked for."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from skilloscope.__about__ import __version__

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


# fmt: off
COMMANDS: dict[str, dict[str, Entry | Group]] = {
    "From moves": {
        "rate": Entry("rate:rate", "games.pgn --html report.html",
            "Estimate each player's Elo from the moves, with credible interval, move match and mean loss."),
        "report": Entry("report:report", "games.pgn --player Ann --html ann.html",
            "Report on a player or an event: Elo, strength by part of the game, most costly decisions."),
        "game": Entry("game:game", "games.pgn --index 3 --html game.html",
            "Analyse one game move by move: evaluation, gain, strength, and how likely people find each move."),
        "moves": Entry("game:moves", "'r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3' --top 5",
            "Show what players of each strength play in a position, and at which Elo half find the best move."),
        "profile": Entry("profile:profile", 'games.pgn --player "Fischer, Robert James" --html profile.html',
            "Track players over time: Elo by year, month or event, next to the Elo in the PGN."),
        "compare": Entry("rate:compare", 'games.pgn --player "Ann" --player "Bob" --html compared.html',
            "Compare two players, or one before and after a date: both Elos, the difference, who is stronger."),
        "breakdown": Entry("rate:breakdown", "games.pgn --by phase --html breakdown.html",
            "Break down players' Elo by phase, colour, opening, clock or opponent."),
        "by-game": Entry("game:by_game", 'games.pgn --player "Ann" --highlight "Bob" --html chart.html',
            "Show one player's Elo in each game, with the opponent's."),
        "screen": Entry("screen:screen", "event.pgn --prevalence 0.001 --html report.html",
            "Compare match, loss and blunders with what each player's rating predicts: z, p, odds; never a verdict."),
        "live": Entry("live:live", "broadcast.pgn --budget 200",
            "Follow games in progress: both players' strength after every move, on every board."),
        "play": Entry("game:play", "--elo 1800",
            "Play chess like people of a given Elo: a UCI engine for any chess program."),
    },
    "From results": {
        "results": Group("Ratings from game results: who played whom, when, and the score.", {
            "fit": Entry("results:results_fit", "results.csv --period 2M",
                "Estimate how much new players differ (sigma0) and how fast strength changes (nu)."),
            "rate": Entry("results:results_rate", "results.csv --at 2024-12-31 --active 4 --html ratings.html",
                "Rate all players from results: rating and standard deviation, period by period."),
            "smooth": Entry("results:results_smooth", "results.csv --period 1Y --history history.csv",
                "Re-estimate past ratings using later results: smoothed ratings and each player's peak."),
            "predict": Entry("results:results_predict", "results.csv --pairs pairs.csv --out predicted.csv",
                "Predict games: expected score of the first player, or prediction error in past periods."),
            "report": Entry("results:results_report", "--state ratings.state --since 2024-03",
                "List who rose, fell, joined or left since a date, or one player's history and opponents."),
            "simulate": Entry("results:results_simulate", "--players 100 --games 5000 --out results.csv",
                "Simulate players whose strength changes over time: results and true strengths."),
            "aliases": Entry("results:results_aliases", "results.csv --out aliases.csv",
                "List names that may belong to one person, with games and years, for use with --alias."),
        }),
    },
    "Any decisions": {
        "decisions": Group("Decisions in any domain: rate deciders from a table of utilities.", {
            "rate": Entry("decisions:decisions_rate", "backgammon.jsonl --k 0.05 --json",
                "Rate deciders from the utilities of their options: competence c with credible interval."),
            "live": Entry("live:decisions_live", "answers.jsonl --once --json",
                "Follow deciders as decisions arrive: c with credible interval after every line."),
            "profile": Entry("profile:decisions_profile", "backgammon.jsonl --per season --json",
                "Track deciders over time: the competence c of each by period, with credible interval."),
            "compare": Entry("rate:decisions_compare", "before.jsonl after.jsonl --k 5",
                "Compare two sets of decisions of the same deciders: both competences, and which is greater."),
            "convert": Entry("decisions:convert", "backgammon 0-ply.jsonl.gz 2-ply.jsonl.gz --out plays.parquet",
                "Convert files of another domain to a table of decisions, reporting every fault and exclusion."),
            "compare-engines": Entry("decisions:compare_engines", "0-ply.parquet 2-ply.parquet --json",
                "Compare two engines on the same choices: k fitted for each, held-out log-likelihood."),
            "sensitivity": Entry("decisions:sensitivity", "games.pgn --depths 6,10 --k 0.05,0.1,fit",
                "Show how depth, number of lines, k, rule and engine change c, the ranking and the likelihood."),
        }),
    },
    "Papers": {
        "papers": Group("Methods of the papers: performance ratings, gain, likelihoods, pooled players, tables.", {
            "ipr": Entry("papers:papers_ipr", "games.pgn --by milepost",
                "Compute intrinsic performance ratings: Elo, s and c, with predicted and actual match and loss."),
            "gain": Entry("papers:papers_gain", "event.pgn --pool match --html event.html",
                "Compare the players of an event by gain: expected scores and differences, with their Elo."),
            "likelihood": Entry("papers:papers_likelihood", 'games.pgn --player "Ann" --elo 2100',
                "Compute how probable a player's moves are at given strengths, and how typical of that strength."),
            "pooled": Entry("papers:papers_pooled", "games.pgn --tolerance 15 --html pooled.html",
                "Pool players by Elo milepost or any column: c with credible region, and the line from c to Elo."),
            "reproduce": Entry("papers:papers_reproduce", "DFH13.line",
                "Recompute the published numbers of the papers and show them next to the originals."),
        }),
    },
    "Engine and upkeep": {
        "serve": Entry("serve:serve", "--port 8000",
            "Start the web application: upload games, browse ratings, players and games."),
        "analyse": Entry("analyse:analyse", "games.pgn --depth 10 --multipv 10 --out decisions.parquet",
            "Analyse games with an engine: each position once, all listed moves and depths kept."),
        "export": Entry("export:export", "archive.pgn.zst --out games.parquet",
            "Export games as a table: headers, opening, speed and moves; duplicates are left out."),
        "cache": Group("The cache of engine analyses: contents, export and import.", {
            "info": Entry("cache:cache_info", "--json",
                "Show how many answers are cached, by engine and settings, and the file size."),
            "vacuum": Entry("cache:cache_vacuum", "--json",
                "Check the file and return unused space to the disk."),
            "check": Entry("cache:cache_check", "--mend",
                "Check the files of the store for damage: answers of engines, what people play, web jobs."),
            "export": Entry("cache:cache_export", "analyses.parquet --settings 1",
                "Write all answers of one engine and search to a file, without names or games."),
            "import": Entry("cache:cache_import", "analyses.parquet",
                "Add the answers of files to the cache, under the settings named in each file."),
        }),
        "calibrate": Entry("calibrate:calibrate", "games.pgn --name my-pool",
            "Fit an Elo axis to the ratings of another pool or time control, for --scale; needs no engine."),
        "simulate": Group("Simulated deciders of known skill: choices from a table, or whole games of chess.", {
            "choices": Entry("simulate:simulate_table", "spreads.jsonl --c 1.2 --seed 7 --out chosen.jsonl",
                "Let the reference agent choose among the options of a table; recorded choices are ignored."),
            "games": Entry("simulate:simulate_games", "--elo 1600 --against 1800 --games 100 --out games.pgn",
                "Let simulated people of given Elos play games with human openings, errors and resignations."),
        }),
        "demo": Entry("demo:demo", "--html demo.html",
            "Rate the bundled games: famous players, masters, and simulated club players of known Elo."),
        "doctor": Entry("doctor:doctor", "--warm",
            "Show versions, the engine, the cache, every setting with its source, and what is missing."),
    },
}
"""The commands as --help shows them, by purpose. The help of an entry is the first line of its function."""
# fmt: on


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
