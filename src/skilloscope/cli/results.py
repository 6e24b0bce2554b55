"""`skilloscope results`: ratings from results, for populations of any size."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.console import err, exit_code, print_json, report_faults, report_notes, show
from skilloscope.cli.options import Aliases, IntervalOutput, Json, Options, Output, argument, option
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.paths import check_outputs, check_writable

if TYPE_CHECKING:
    from skilloscope.inputs.results import ClusterWork
    from skilloscope.results.table import Results
    from skilloscope.studies.results.rating import Rated, RatingOptions, ResultsStudy

ResultFiles = Annotated[
    list[Path], argument("Tables of results (.csv, .parquet), PGN files, folders of them, or -.", metavar="RESULTS…")
]
OptionalFiles = Annotated[
    list[Path] | None, argument("Results to rate by; not needed with --state.", metavar="RESULTS…")
]
Columns = Annotated[
    list[str] | None, option("Columns with other names, such as player_1=white.", metavar="OURS=THEIRS")
]
AtDate = Annotated[str | None, option("Let time pass until this date's period.", metavar="DATE")]
ClusterAddress = Annotated[
    str | None, option("Read, or fit again, on the cluster of this scheduler.", "--scheduler", metavar="ADDR")
]
StateFile = Annotated[Path | None, option("Keep the ratings here; continue them where they exist.", "--state")]


@dataclass(frozen=True)
class ResultsOptions(Options):
    """How results are read and rated; what is not given is fitted, or none."""

    period: Annotated[
        str | None,
        option(
            "Length of a rating period: 1D, 1W, 1M, 1Y … (default: the shortest that the dates allow).",
            metavar="LENGTH",
        ),
    ] = None
    sigma0: Annotated[
        float | None, option("Standard deviation of new players' strength (default: fitted).", min=0.01)
    ] = None
    nu: Annotated[float | None, option("Standard deviation of its change in a period (default: fitted).", min=0.0)] = (
        None
    )
    advantage: Annotated[
        str | None,
        option(
            "First-player advantage in Elo (default: fitted from 500 games up, otherwise 0). Not in the paper.",
            metavar="ELO|fit",
        ),
    ] = None
    drift: Annotated[
        str | None,
        option(
            "How much higher newcomers enter with each period (default: as the advantage). Not in the paper.",
            metavar="ELO|fit",
        ),
    ] = None
    observed: Annotated[
        str | None,
        option(
            "Columns of published ratings, such as welo,belo; `header` for PGN. Not in the paper.",
            "--known-ratings",
            metavar="ONE,TWO",
        ),
    ] = None
    entry: Annotated[
        Path | None, option("Table player,rating of new players' first ratings. Not in the paper.", "--initial-ratings")
    ] = None
    columns: Columns = None
    date_format: Annotated[
        str | None, option("What 01/05/2024 means: dmy, the 1st of May, or mdy.", metavar="dmy|mdy")
    ] = None
    alias: Aliases = None
    allow_loss: Annotated[bool, option("Go on if more than a fifth of the rows cannot be used.")] = False
    drop_duplicates: Annotated[bool, option("Leave out games listed twice (default: keep them).")] = False
    strict: Annotated[bool, option("Exit with 1 for any row at fault (default: above 1 % or 1,000 rows).")] = False

    def rating(self) -> RatingOptions:
        """Return the options as the studies take them."""
        from skilloscope.inputs.results import pair_columns
        from skilloscope.results.aliases import aliases_given
        from skilloscope.results.reading import Reading
        from skilloscope.studies.results.rating import RatingOptions

        if self.date_format not in (None, "dmy", "mdy"):
            raise OptionError(f"no date format is called {self.date_format!r}", hint="dmy or mdy")
        columns = pair_columns(self.columns) if self.columns else {}
        reading = Reading(columns, self.observed, self.date_format, self.drop_duplicates)
        aliases = aliases_given(self.alias) if self.alias else {}
        given = {name: getattr(self, name) for name in ("period", "sigma0", "nu", "entry", "allow_loss")}
        given |= {name: getattr(self, name) or "auto" for name in ("advantage", "drift")}
        return RatingOptions(**given, reading=reading, aliases=aliases)

    def read(self, files: list[Path] | None) -> tuple[Results, RatingOptions]:
        """Return the results of the files, and how they are rated; rows at fault are shown before anything is rated."""
        from skilloscope.inputs.results import read_files

        if not files:
            raise OptionError("no results given", hint="name a table or PGN files")
        options = self.rating()
        results = read_files(files, options.reading, options.aliases)
        if results.tally.faults:
            report_faults(results.tally)
        if note := options.loss(results):
            report_notes([note])
        return results, options

    def rate(
        self,
        files: list[Path] | None,
        state: Path | None = None,
        rewind: str | None = None,
        *,
        adding: AddingOptions | None = None,
        save: bool = False,
    ) -> Rated:
        """Rate everybody, on the kept ratings of `state` if there are some; without files, take those as they are."""
        from skilloscope.ratings.periods.saved import SavedRatings, load_ratings, save_ratings
        from skilloscope.studies.results.rating import Rated, rated

        if state is not None and not files and not save:
            if not state.is_file():
                raise InputError(f"{state}: no such file", hint="`results rate --state` keeps ratings")
            return Rated.from_kept(load_ratings(state), self.rating())
        kept = load_ratings(state) if state is not None and state.is_file() else None
        results, options = self.read(files)
        adding = adding or AddingOptions()
        run = rated(results, options, kept=kept, rewind=rewind, corrected=adding.corrected, again=adding.again)
        if state is not None and save:
            save_ratings(SavedRatings(run.state, run.history, run.every), state)
            which = "ratings" if kept else "new ratings, from these games alone,"
            err().print(f"{which} up to {run.calendar.label(run.latest)} kept in {state}")
        return run


@dataclass(frozen=True)
class AddingOptions(Options):
    """How further games are added to kept ratings."""

    corrected: Annotated[bool, option("These games replace the kept ones of their day and players.")] = False
    again: Annotated[bool, option("Count games again that are in the ratings already.", "--allow-repeats")] = False


@dataclass(frozen=True)
class BoardOptions(IntervalOutput):
    """Who is in the leaderboard, when, and where it goes; what cannot be written is refused."""

    at: AtDate = None
    active: Annotated[
        str | None, option("Only players active in this many last periods, or in the last 6M, 1Y …", metavar="N|LENGTH")
    ] = None
    player: Annotated[
        list[str] | None, option("Show only this player, with its place; may be repeated.", metavar="NAME")
    ] = None
    top: Annotated[int, option("How many players the table shows.", metavar="N", min=1)] = 20
    history: Annotated[Path | None, option("Write all players' ratings by period: .csv or .parquet.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.history:
            _check_tables(self.history)

    def show(self, run: Rated, files: list[Path], how: ResultsOptions) -> int:
        """Show the leaderboard of a run, and write its history."""
        from skilloscope.core.table_files import write_table
        from skilloscope.studies.results.rating import leaderboard_study

        study = leaderboard_study(run, at=self.at, active=self.active, mass=self.mass, players=self.player)
        if self.history:
            write_table(run.history.to_arrow(), self.history)
            err().print(f"history written to {self.history}")
        return _show(study, self, files, how, run.state.games, top=self.top)


@dataclass(frozen=True)
class PopulationOptions(Options):
    """A population to simulate."""

    players: Annotated[int, option("How many players.", min=2)] = 100
    games: Annotated[int, option("How many games in all.", min=1)] = 5000
    periods: Annotated[int, option("How many rating periods.", min=1)] = 12
    sigma0: Annotated[float, option("Standard deviation of first strengths.", min=0.0)] = 300.0
    nu: Annotated[float, option("Standard deviation of their change.", min=0.0)] = 40.0


def results_fit(
    files: ResultFiles,
    *,
    how: ResultsOptions,
    method: Annotated[str, option("quick, or nelder-mead as in the paper; the same optimum.")] = "quick",
    intervals: Annotated[bool, option("Add intervals of the true values, from simulated games.")] = False,
    lengths: Annotated[
        str | None, option("Compare how well periods of these lengths predict: 1M,2M,1Y.", metavar="LIST")
    ] = None,
    scheduler: ClusterAddress = None,
    output: IntervalOutput,
) -> int:
    """Estimate how much new players differ (sigma0) and how fast strength changes (nu)."""
    from skilloscope.studies.results.forecasts import fit_results

    if (intervals or output.wanted) and not (how.sigma0 is None and how.nu is None):
        raise typer.BadParameter("intervals are of both parameters: leave --sigma0 and --nu out")
    if scheduler and not intervals:
        raise typer.BadParameter("a cluster fits simulated games: give --intervals too", param_hint="--scheduler")
    results, options = how.read(files)
    with _workers(scheduler) as cluster:
        study = fit_results(
            results,
            options,
            method=method,
            intervals=intervals,
            lengths=[length.strip() for length in (lengths or "").split(",") if length.strip()],
            posterior=output.wanted,
            mass=output.mass,
            each=cluster.each if cluster else map,
        )
    return _show(study, output, files, how, len(results))


def results_rate(
    files: ResultFiles,
    *,
    how: ResultsOptions,
    state: StateFile = None,
    rewind: Annotated[
        str | None,
        option("Rewind kept ratings to before this period, and rate all games from there.", "--from", metavar="PERIOD"),
    ] = None,
    stream: Annotated[bool, option("Read sorted Parquet period by period, in little memory.")] = False,
    scheduler: ClusterAddress = None,
    adding: AddingOptions,
    board: BoardOptions,
) -> int:
    """Rate all players from results: rating and standard deviation, period by period."""
    if state:
        check_writable(state)
        from skilloscope.ratings.periods.saved import games_file, history_file

        written = [state, history_file(state), games_file(state), *filter(None, (board.history, board.html))]
        check_outputs(written, files)
    if stream and (board.history or board.wanted or state or rewind):
        raise typer.BadParameter("a stream keeps no history: leave out --history, --html, --state and --from")
    if scheduler and not stream:
        raise typer.BadParameter("a cluster reads sorted Parquet: give --stream too", param_hint="--scheduler")
    if not stream:
        return board.show(how.rate(files, state, rewind, adding=adding, save=True), files, how)
    from skilloscope.studies.results.rating import rated_stream

    with _workers(scheduler) as cluster:
        paths = [file.resolve() for file in files] if cluster else files
        return board.show(rated_stream(paths, how.rating(), cluster.read if cluster else None), files, how)


def results_smooth(
    files: ResultFiles,
    *,
    how: ResultsOptions,
    method: Annotated[str, option("rts; eq14 as printed in the paper, which counts the past twice; whole.")] = "rts",
    from_last_active: Annotated[bool, option("Begin at each player's last active period.")] = False,
    board: BoardOptions,
) -> int:
    """Re-estimate past ratings using later results: smoothed ratings and each player's peak."""
    return board.show(how.rate(files).smoothed(method, from_last_active=from_last_active), files, how)


def results_predict(
    files: OptionalFiles = None,
    pairs: Annotated[Path | None, option("Table player_1,player_2 to predict: .csv or .parquet.")] = None,
    out: Annotated[Path | None, option("Write the pairs with their expected score: .csv or .parquet.")] = None,
    holdout: Annotated[
        str | None, option("Predict this many last periods, or all since a date, and evaluate that.", metavar="N|DATE")
    ] = None,
    against: Annotated[
        str | None, option("With --holdout, compare with these: rating,elo,glicko2,trueskill.", metavar="LIST")
    ] = None,
    folds: Annotated[
        int | None, option("Predict this many stretches of time, each from all before it.", metavar="N", min=1)
    ] = None,
    *,
    how: ResultsOptions,
    draws: Annotated[bool, option("Separate probabilities of win, draw and loss. Not in the paper.")] = False,
    joint: Annotated[bool, option("Estimate all periods jointly. Not in the paper.")] = False,
    link: Annotated[
        bool, option("Learn slope and bias from past games; without, as in the paper.", "--link/--no-link")
    ] = True,
    at: AtDate = None,
    state: StateFile = None,
    output: Output,
) -> int:
    """Predict games: expected score of the first player, or prediction error in past periods."""
    from skilloscope.core.table_files import write_table
    from skilloscope.inputs.results import read_pairs
    from skilloscope.studies.results.forecasts import hold_out, predict_folds, predict_pairs

    if output.wanted and holdout is None:
        raise typer.BadParameter("--html goes with --holdout")
    if against and holdout is None:
        raise typer.BadParameter("--against goes with --holdout")
    if sum(asked is not None for asked in (pairs, holdout, folds)) != 1:
        raise typer.BadParameter("give --pairs, --holdout or --folds, one of the three")
    if holdout is not None:
        results, options = how.read(files)
        names = [name.strip() for name in (against or "").split(",") if name.strip()]
        study = hold_out(results, holdout, replace(options, link=link), draws=draws, against=names)
        return _show(study, output, files, how, len(results))
    if folds is not None:
        results, options = how.read(files)
        return _show(predict_folds(results, folds, replace(options, link=link)), output, files, how, len(results))
    assert pairs is not None
    _check_tables(out)
    wanted, *sides = read_pairs(pairs)  # what is wrong with them is said before anybody is rated
    run = how.rate(files, state)
    predictions = predict_pairs(run, *sides, at=at, draws=draws, joint=joint, link=link)
    if out:
        write_table(predictions.added_to(wanted), out)
        err().print(f"{len(wanted):,} predictions written to {out}")
    if output.as_json or not out:
        return _show(predictions, output, files, how, run.state.games)
    report_notes(filter(None, [*predictions.warnings, predictions.new_line]))
    report_faults(predictions.tally)
    return exit_code(predictions.tally, run.state.games, strict=how.strict)


def results_report(
    files: OptionalFiles = None,
    since: Annotated[str | None, option("Since when: a date, a month or a year.", metavar="DATE")] = None,
    player: Annotated[str | None, option("One player: history and opponents.", metavar="NAME")] = None,
    *,
    how: ResultsOptions,
    state: StateFile = None,
    output: Output,
) -> int:
    """List who rose, fell, joined or left since a date, or one player's history and opponents."""
    from skilloscope.studies.results.changes import changes_since, member_study

    if since is None and player is None:
        raise typer.BadParameter("give --since, --player or both")
    run = how.rate(files, state)
    if player is not None:
        return _show(member_study(run, player, since), output, files or [state], how, run.state.games)
    return _show(changes_since(run, str(since)), output, files or [state], how, run.state.games, top=20)


def results_aliases(
    files: ResultFiles,
    *,
    alias: Annotated[
        list[str] | None, option("Aliases that are already confirmed.", metavar="SPELLING=NAME|FILE")
    ] = None,
    columns: Columns = None,
    out: Annotated[Path | None, option("Write the list to be confirmed: .csv or .parquet.")] = None,
    top: Annotated[int, option("How many names the table shows.", metavar="N", min=1)] = 40,
    output: Output,
) -> int:
    """List names that may belong to one person, with games and years, for use with --alias."""
    from skilloscope.core.table_files import write_table
    from skilloscope.report.table import plural
    from skilloscope.studies.aliases import alias_study

    _check_tables(out)
    study = alias_study(ResultsOptions(alias=alias, columns=columns).read(files)[0])
    code = show(study, output, source=", ".join(file.name for file in files), top=top)
    if out:
        write_table(study.to_confirm(), out)
        written = f"{plural(study.listed, 'name')} written to {out}"
        err().print(f"{written}: write yes into `confirmed` where they are one person")
    return code


def results_simulate(
    out: Annotated[Path, option("Results to write: .csv or .parquet.")],
    *,
    sizes: PopulationOptions,
    period: Annotated[str, option("Length of a period; dates are drawn in it.", metavar="LENGTH")] = "1M",
    start: Annotated[str, option("A date in the first period.", metavar="DATE")] = "2020-01-01",
    truth: Annotated[Path | None, option("Write the true strengths by period: .csv or .parquet.")] = None,
    seed: Annotated[int, option("Random seed.", min=0)] = 1,
    as_json: Json = False,
) -> int:
    """Simulate players whose strength changes over time: results and true strengths."""
    import numpy as np

    from skilloscope.core.table_files import write_table
    from skilloscope.report.table import plural
    from skilloscope.simulate.populations import Population, simulate_results, truth_table

    _check_tables(out, truth)
    population = Population(sizes.players, sizes.periods, sizes.games, sizes.sigma0, sizes.nu)
    made = simulate_results(population, rng=np.random.default_rng(seed), period=period, start=start)
    write_table(made.results.to_arrow(), out)
    if truth:
        write_table(truth_table(population, made), truth)
    if as_json:
        known = {name: getattr(sizes, name) for name in ("players", "periods", "games", "sigma0", "nu")}
        print_json({"schema": 1, **known, "period": period, "seed": seed})
    else:
        counts = f"{plural(sizes.games, 'game')} of {sizes.players:,} players in {sizes.periods:,} periods of {period}"
        err().print(f"{counts} (σ0 = {sizes.sigma0:g}, ν = {sizes.nu:g}, seed {seed}) written to {out}")
    return 0


def _show(
    study: ResultsStudy,
    output: Output,
    files: Sequence[Path | None] | None,
    how: ResultsOptions,
    games: int,
    top: int | None = None,
) -> int:
    """Show a study of so many games; its warnings are on stderr under --json too."""
    if output.as_json:
        report_notes(study.warnings)
    show(study, output, source=", ".join(file.name for file in files or () if file), top=top)
    return exit_code(study.tally, games, strict=how.strict)


def _check_tables(*files: Path | None) -> None:
    """Refuse a table to write whose name does not say how."""
    from skilloscope.core.table_files import check_table_format

    for file in filter(None, files):
        check_table_format(file)


def _workers(scheduler: str | None) -> contextlib.AbstractContextManager[ClusterWork | None]:
    """Give the workers of a cluster, or nobody where no scheduler was named."""
    if scheduler is None:
        return contextlib.nullcontext()
    from skilloscope.inputs.results import cluster_work

    return cluster_work(scheduler)
