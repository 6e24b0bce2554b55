"""`skilloscope calibrate`: an Elo axis for another pool."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from skilloscope.cli.console import progress_bar, report_faults, report_notes, show
from skilloscope.cli.options import Options, Output, argument, option
from skilloscope.cli.request import source_line
from skilloscope.core.errors import OptionError
from skilloscope.core.paths import check_writable, write_whole


@dataclass(frozen=True)
class PoolOptions(Options):
    """Which pool, how many of its games, and where the axis goes."""

    name: Annotated[str, option("What the pool is called.", metavar="NAME")]
    out: Annotated[Path | None, option("Where the axis goes (default: NAME.json).")] = None
    sample: Annotated[int, option("Use a random sample of this many games if there are more.", min=1)] = 2000
    seed: Annotated[int, option("Random seed of the sample of games.")] = 1
    check: Annotated[bool, option("Only count who is rated; fit and write nothing.")] = False

    @property
    def file(self) -> Path:
        """Where the axis goes."""
        return self.out or Path(f"{self.name}.json")


def calibrate(
    games: Annotated[list[Path], argument("PGN files with ratings in the headers.", metavar="GAMES…")],
    *,
    pool: PoolOptions,
    output: Output,
) -> int:
    """Fit an Elo axis to the ratings of another pool or time control, for --scale; needs no engine."""
    from skilloscope.chess.pgn.games import read_distinct
    from skilloscope.studies.calibrate import PoolCalibration, pool_census
    from skilloscope.studies.calibrate import calibrate as fit_axis

    if not pool.check:
        if pool.file.suffix != ".json":
            raise OptionError(f"{pool.file}: an axis is a JSON file", hint="let its name end in .json")
        check_writable(pool.file)
    batch = read_distinct(list(games))
    report_faults(batch.tally)
    if pool.check:
        study = PoolCalibration(pool.name, pool_census(batch), tally=batch.tally)
    else:
        with progress_bar("reading moves") as moved:
            study = fit_axis(batch, pool.name, most=pool.sample, seed=pool.seed, progress=moved)
    if study.axis:
        write_whole(pool.file, study.axis.to_json())
    code = show(study, output, source=source_line(games))
    if study.axis and not output.as_json:
        report_notes([f"axis written to {pool.file}; use it with --scale {pool.file}"])
    return code
