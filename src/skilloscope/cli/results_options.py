"""Options that the commands of `skilloscope results` share, and the reading that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import Aliases, IntervalOutput, Options

if TYPE_CHECKING:
    from skilloscope.core.errors import Tally
    from skilloscope.results.reading import Reading
    from skilloscope.results.table import Results

ResultFiles = Annotated[
    list[Path],
    typer.Argument(help="Tables of results (.csv, .parquet), PGN files, folders of them, or -.", metavar="RESULTS…"),
]
AtDate = Annotated[str | None, typer.Option(help="Let time pass until this date's period.", metavar="DATE")]
ClusterAddress = Annotated[
    str | None,
    typer.Option("--scheduler", help="Read, or fit again, on the cluster of this scheduler.", metavar="ADDR"),
]
StateFile = Annotated[
    Path | None, typer.Option("--state", help="Keep the ratings here; continue them where they exist.", metavar="FILE")
]


@dataclass(frozen=True)
class ResultsOptions(Options):
    """How results are read and rated; what is not given is fitted, or none."""

    period: Annotated[
        str | None,
        typer.Option(
            help="Length of a rating period: 1D, 1W, 1M, 1Y …; without, the shortest that the dates tell.",
            metavar="LENGTH",
        ),
    ] = None
    sigma0: Annotated[
        float | None,
        typer.Option("--sigma0", help="Standard deviation of new players' strength; fitted without.", min=0.01),
    ] = None
    nu: Annotated[
        float | None,
        typer.Option("--nu", help="Standard deviation of its change in a period; fitted without.", min=0.0),
    ] = None
    advantage: Annotated[
        str | None,
        typer.Option(
            help="Beyond the paper: Elo that the first player has more; fitted without, 0 below 500 games.",
            metavar="ELO|fit",
        ),
    ] = None
    drift: Annotated[
        str | None,
        typer.Option(
            help="Beyond the paper: how much higher newcomers enter with each period; fitted as the advantage is.",
            metavar="ELO|fit",
        ),
    ] = None
    observed: Annotated[
        str | None,
        typer.Option(
            help="Beyond the paper: columns of published ratings to look at, as welo,belo; `header` for PGN.",
            metavar="ONE,TWO",
        ),
    ] = None
    entry: Annotated[
        Path | None,
        typer.Option(help="Beyond the paper: table player,rating of where new players enter.", metavar="FILE"),
    ] = None
    columns: Annotated[
        list[str] | None, typer.Option(help="Where a column has another name: player_1=white.", metavar="OURS=THEIRS")
    ] = None
    date_format: Annotated[
        str | None, typer.Option(help="What 01/05/2024 means: dmy, the 1st of May, or mdy.", metavar="dmy|mdy")
    ] = None
    alias: Aliases = None
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Go on where more than a fifth of the rows cannot be used.")
    ] = False
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Leave out games listed twice; they are kept without.")
    ] = False

    def read(self, files: list[Path]) -> tuple[Results, dict[str, float]]:
        """Return the results, and where some new players enter; faults of both files are shown and counted."""
        from dataclasses import replace

        from skilloscope.cli.console import report_faults
        from skilloscope.core.errors import OptionError
        from skilloscope.sources.results import read_files

        if not files:
            raise OptionError("no results given", hint="name a table or PGN files")
        enter, tally = self.entering()
        table = read_files(files, self.reading(), self.aliases())
        report_faults(table.tally + tally)
        self.check_loss(table.for_period(self.length(table)))
        table = replace(table, tally=table.tally + tally)
        return table, enter

    def length(self, table: Results) -> str:
        """Return the length of a period: the shortest that the dates tell, or a month where nu is given."""
        return self.period or (table.finest if self.nu is None or table.finest != "1D" else "1M")

    def reading(self) -> Reading:
        """Return how tables are read."""
        from skilloscope.core.errors import OptionError
        from skilloscope.results.reading import Reading
        from skilloscope.sources.results import pair_columns

        if self.date_format not in (None, "dmy", "mdy"):
            raise OptionError(f"no form of dates is called {self.date_format!r}", hint="dmy or mdy")
        pairs = pair_columns(self.columns or [])
        return Reading(pairs, self.observed, self.date_format, self.drop_duplicates)

    def aliases(self) -> dict[str, str]:
        """Return who is who, as was confirmed."""
        from skilloscope.results.names import aliases_given

        return aliases_given(self.alias or [])

    def check_loss(self, table: Results) -> None:
        """Say where more than one row in twenty is lost, and refuse to go on where it is more than one in five."""
        from skilloscope.cli.console import report_notes
        from skilloscope.core.errors import InputError

        share = table.share_lost
        said = f"{share:.0%} of the rows cannot be used: {table.lost}"
        if share > 0.2 and not self.allow_loss:
            raise InputError(said, hint="mend the table, or say --allow-loss to rate the rest")
        if share > 0.05:
            report_notes([said])

    def entering(self) -> tuple[dict[str, float], Tally]:
        """Return where some new players enter, and what was left out of that file."""
        from skilloscope.core.errors import Tally
        from skilloscope.sources.results import read_entry

        return read_entry(self.entry) if self.entry else ({}, Tally())


@dataclass(frozen=True)
class AddingOptions(Options):
    """What is to be known about further games of kept ratings."""

    corrected: Annotated[
        bool, typer.Option("--corrected", help="These games replace the kept ones of their day and players.")
    ] = False
    again: Annotated[
        bool, typer.Option("--again", help="Games that were already played were played a second time.")
    ] = False


@dataclass(frozen=True)
class BoardOptions(IntervalOutput):
    """Who is in the leaderboard, when, and where it goes; what cannot be written is refused."""

    at: AtDate = None
    active: Annotated[
        str | None,
        typer.Option(help="Only who played in the last so many periods, or in the last 6M, 1Y …", metavar="N|LENGTH"),
    ] = None
    player: Annotated[
        list[str] | None, typer.Option(help="Show only this player, at his place; may be repeated.", metavar="NAME")
    ] = None
    top: Annotated[int, typer.Option(help="How many players the table shows.", metavar="N", min=1)] = 20
    history: Annotated[
        Path | None,
        typer.Option("--history", help="Write everybody's ratings by period: .csv or .parquet.", metavar="FILE"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.history:
            from skilloscope.results.writing import check_table_format

            check_table_format(self.history)
