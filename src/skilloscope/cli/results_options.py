"""Options that the commands of `skilloscope results` share, and the reading that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import IntervalOutput, Options

if TYPE_CHECKING:
    from skilloscope.core.errors import Tally
    from skilloscope.results.table import Results

ResultFiles = Annotated[
    list[Path],
    typer.Argument(help="Tables date,player_1,player_2,score (.csv, .parquet), or PGN files.", metavar="RESULTS…"),
]
AtDate = Annotated[str | None, typer.Option(help="Let time pass until this date's period.", metavar="DATE")]
StateFile = Annotated[
    Path | None, typer.Option("--state", help="Keep the ratings here; continue them where they exist.", metavar="FILE")
]


@dataclass(frozen=True)
class ResultsOptions(Options):
    """How results are read and rated; what is not given is fitted, or none."""

    period: Annotated[
        str | None, typer.Option(help="Length of a rating period: 1D, 1W, 1M (default), 2M, 1Y …", metavar="LENGTH")
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
            help="Beyond the paper: Elo that the first player has more, or fit. None without.", metavar="ELO|fit"
        ),
    ] = None
    entry: Annotated[
        Path | None,
        typer.Option(help="Beyond the paper: table player,rating of where new players enter.", metavar="FILE"),
    ] = None
    columns: Annotated[
        list[str] | None, typer.Option(help="Where a column has another name: player_1=white.", metavar="OURS=THEIRS")
    ] = None
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Leave out games listed twice; they are kept without.")
    ] = False

    def read(self, files: list[Path]) -> tuple[Results, dict[str, float]]:
        """Return the results, and where some new players enter; faults of both files are shown and counted."""
        from dataclasses import replace

        from skilloscope.cli.console import report_faults
        from skilloscope.core.errors import InputError
        from skilloscope.sources.results import read_files

        if not files:
            raise InputError("no results given", hint="name a table or PGN files")
        enter, tally = self.entering()
        table = read_files(files, columns=self.renamed(), drop_duplicates=self.drop_duplicates)
        table = replace(table, tally=table.tally + tally)
        report_faults(table.tally)
        return table, enter

    def renamed(self) -> dict[str, str]:
        """Return our names of columns with theirs."""
        from skilloscope.sources.results import pair_columns

        return pair_columns(self.columns or [])

    def entering(self) -> tuple[dict[str, float], Tally]:
        """Return where some new players enter, and what was left out of that file."""
        from skilloscope.core.errors import Tally
        from skilloscope.sources.results import read_entry

        return read_entry(self.entry) if self.entry else ({}, Tally())


@dataclass(frozen=True)
class BoardOptions(IntervalOutput):
    """Who is in the leaderboard, when, and where it goes; what cannot be written is refused."""

    at: AtDate = None
    active: Annotated[
        int | None, typer.Option(help="Only who played in the last so many periods.", metavar="N", min=1)
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
