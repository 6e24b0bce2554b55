"""`skilloscope serve`, `analyse`, `export`, `cache`, `calibrate`, `demo` and `doctor`: engine and upkeep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from skilloscope.cli import console
from skilloscope.cli.console import err, print_json, report_faults, report_notes, show, show_done
from skilloscope.cli.options import EngineName, EngineOptions, Json, Options, Output, StoreFolder, argument, option
from skilloscope.cli.request import judge_line, source_line, working
from skilloscope.core.errors import EngineError, InputError, MissingExtraError, OptionError, Tally
from skilloscope.core.paths import check_writable, effective_settings, store_file, write_whole
from skilloscope.report.table import Table, engine_line, plan_lines, plural, sample_line, skipped_line
from skilloscope.store import Store

if TYPE_CHECKING:
    from skilloscope.inputs.load import AnalysedDecisions, EngineJob

_MOST_SECONDS = 30.0  # of searching: the whole demo, with the first compilation, stays under a minute


@dataclass(frozen=True)
class ListenOptions(Options):
    """The address of the server, its names, and what it allows."""

    host: Annotated[str, option("Address to listen on; any other than this machine's needs a password.")] = "127.0.0.1"
    port: Annotated[int, option("Port to listen on; 0 picks a free one.", min=0, max=65535)] = 8000
    name: Annotated[list[str] | None, option("Another host name of the server.", metavar="HOST")] = None
    password_file: Annotated[Path | None, option("Require the password in this file.")] = None
    private_feeds: Annotated[bool, option("Allow live games at private addresses.")] = False
    keep: Annotated[int, option("Remove finished work after this many days; 0 keeps it.", metavar="DAYS", min=0)] = 30
    seconds: Annotated[float | None, option("Stop after this many seconds.", min=0)] = None


def serve(*, listen: ListenOptions, store: StoreFolder = None, as_json: Json = False) -> int:
    """Start the web application: upload games, browse ratings, players and games."""
    try:
        from skilloscope.web.app import ServeOptions, Server
    except ImportError as error:
        raise MissingExtraError(
            f"the web application needs {error.name}", hint="pip install 'skilloscope[web]'"
        ) from error
    password = None
    if listen.password_file is not None:
        try:
            password = listen.password_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise InputError(
                f"{listen.password_file}: the password cannot be read", hint="a file with one line"
            ) from error
        if len(password) < 8:
            raise InputError(f"{listen.password_file}: a password of {len(password)} letters", hint="at least eight")
    folder = Path(effective_settings({"store": store})["store"].value).expanduser()
    options = ServeOptions(
        store=folder,
        host=listen.host,
        port=listen.port,
        names=tuple(listen.name or ()),
        password=password,
        private=listen.private_feeds,
        keep_days=listen.keep,
    )
    server = Server(options)
    if as_json:
        print_json({"schema": 1, "address": server.address, "store": str(folder), "jobs": server.jobs.counts()})
    else:
        console.out().print(
            f"skilloscope is at {server.address}; Ctrl-C stops it; interrupted work resumes at the next start"
        )
    server.run(listen.seconds)
    return 0


@dataclass(frozen=True)
class PlanOptions(Options):
    """Whether anything is searched, and how much."""

    dry_run: Annotated[bool, option("Say how many positions there are, how many are known, and the time.")] = False
    budget: Annotated[
        float | None, option("Analyse a sample of the games that takes about this long.", metavar="MINUTES")
    ] = None
    seed: Annotated[int, option("Seed of the sample and of the measurement.")] = 1


def analyse(
    games: Annotated[list[Path], argument("PGN files.", metavar="GAMES…")],
    out: Annotated[Path | None, option("Write the decisions: .parquet, .jsonl or .csv.")] = None,
    *,
    planning: PlanOptions,
    export: Annotated[Path | None, option("Write the engine's answers: .parquet, .jsonl or .jsonl.gz.")] = None,
    player: Annotated[str | None, option("Analyse this player's moves only.", metavar="NAME")] = None,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Analyse games with an engine: each position once, all listed moves and depths kept."""
    from skilloscope.chess.analysis.files import check_export
    from skilloscope.decision.text import check_format, write_decisions
    from skilloscope.inputs.load import EngineBudget, load_decisions

    if out:
        check_format(out)
    if export:
        check_export(export)
    if planning.dry_run:
        with working(engine, "measuring") as work:
            return _dry_run(games, work, planning, player, as_json)
    budget = None if planning.budget is None else EngineBudget(planning.budget, planning.seed)
    with working(engine) as work:
        judged = load_decisions(games, replace(work, export=export), player=player, budget=budget)
    if judged.sample:
        err().print(sample_line(judged.sample))
    if out:
        write_decisions(judged.decisions, out)
    return _report(judged, as_json)


def _report(judged: AnalysedDecisions, as_json: bool) -> int:
    batch = judged.decisions
    report_faults(batch.tally)
    about = batch.about.get("settings", {})
    if as_json:
        sample = {"sample": dict(judged.sample)} if judged.sample else {}
        report = {"schema": 1, "engine": dict(about), "positions": judged.as_dict(), **sample}
        print_json({**report, "decisions": len(batch), "skipped": batch.tally.as_dict()})
    else:
        console.out().print(f"{judged}; {engine_line(about)}", highlight=False)
        console.out().print(skipped_line(len(batch), batch.tally.as_dict()), highlight=False)
    return console.exit_code(batch.tally)


def _dry_run(paths: list[Path], work: EngineJob, planning: PlanOptions, player: str | None, as_json: bool) -> int:
    """Say what the analysis would cost; with a budget also which part of it would be done."""
    from skilloscope.chess.pgn.games import read_distinct
    from skilloscope.inputs.budget import MEASURED, plan, sample_games
    from skilloscope.inputs.load import games_of, players, resolve_player

    err().print("reading the games")
    games = read_distinct(list(paths))
    if player:
        player = resolve_player(player, players(games))
        games = games.select(games_of(games, [player]))
    err().print(
        f"{plural(len(games), 'game')} read; looking up what is known, then measuring up to {MEASURED} positions"
    )
    planned = plan(games, work, seed=planning.seed, player=player)
    report = {"schema": 1, "engine": dict(planned.settings), "plan": planned.as_dict()}
    if planning.budget is not None:
        report["sample"] = sample_games(games, planned, planning.budget, seed=planning.seed).as_dict()
    report_faults(games.tally)
    if as_json:
        print_json({**report, "skipped": games.tally.as_dict()})
    else:
        for line in plan_lines(report):
            console.out().print(line, highlight=False)
    return console.exit_code(games.tally)


def export(
    files: Annotated[
        list[Path],
        argument("PGN files, folders, or lichess:NAME, chesscom:NAME.", metavar="GAMES…"),
    ],
    out: Annotated[Path, option("Write one row a game: .parquet or .arrow; .pgn for an account.")],
    positions_out: Annotated[
        Path | None, option("Write one row a position, too: .parquet or .arrow.", "--positions")
    ] = None,
    comments: Annotated[bool, option("Keep the texts of comments too; reading takes fifty times as long.")] = False,
    most: Annotated[int, option("Of an account the newest games, so many.", min=1, max=3000)] = 1000,
    *,
    as_json: Json = False,
) -> int:
    """Export games as a table: headers, opening, speed and moves; duplicates are left out. Or fetch an account's."""
    from skilloscope.web.library.accounts import fetch_to, is_account

    if accounts := [str(file) for file in files if is_account(str(file))]:
        from skilloscope.web.safe_fetch import checked_opener

        if len(files) > 1 or out.suffix != ".pgn" or positions_out:
            raise OptionError("an account is fetched alone, into a PGN file", hint=f"{accounts[0]} --out games.pgn")
        new = fetch_to(out, accounts[0], most, checked_opener(follow=False))
        return show_done({"account": accounts[0], "new": new}, f"{out}: {plural(new, 'new game')}", as_json=as_json)
    from skilloscope.chess.pgn.game_tables import check_table, write_games

    for path in (out, positions_out):
        if path:
            check_table(path)
    with console.progress_bar("exporting") as bar:
        done = write_games(files, out, positions_out, comments=comments, progress=lambda n: bar(n, 0, "games read"))
    noted = f", {positions_out}: {plural(done.positions, 'position')}" if positions_out else ""
    line = f"{out}: {plural(done.games, 'game')}, {plural(done.moves, 'move')}{noted}; skipped: {done.tally}"
    return show_done(done.as_dict(), line, done.tally, as_json=as_json)


def cache_info(store: StoreFolder = None, as_json: Json = False) -> int:
    """Show how many answers are cached, by engine and settings, and the file size."""
    with Store(_store_path(store), read_only=True) as shelf:
        numbers = shelf.statistics()
    rows = []
    for number, one in enumerate(numbers["settings"], start=1):
        counts = {(count["status"], count["origin"]): count["rows"] for count in one["counts"]}
        failed = sum(n for (status, _), n in counts.items() if status == "failed")
        done = [counts.get(("done", origin), 0) for origin in ("searched", "imported")]
        rows.append([str(number), engine_line(one["settings"]), *(f"{n:,}" for n in (*done, failed))])
    size = f"{numbers['rows']:,} positions in {numbers['bytes']:,} bytes; schema {numbers['schema']}"
    columns = ["settings", "engine", "searched", "imported", "failed"]
    return show_done({"store": numbers}, Table(numbers["path"], columns, rows, [size], labels=(1,)), as_json=as_json)


def cache_vacuum(store: StoreFolder = None, as_json: Json = False) -> int:
    """Check the file and return unused space to the disk."""
    Store(_store_path(store), read_only=True).close()  # vacuuming does not create a store
    with Store(_store_path(store)) as shelf:
        sizes, path = shelf.vacuum(), str(shelf.path)
    line = f"{path}: {sizes['bytes_before']:,} bytes before, {sizes['bytes_after']:,} after"
    return show_done({"path": path, **sizes}, line, as_json=as_json)


def cache_check(
    mend: Annotated[bool, option("Turn damaged answers into failures, so that they are searched again.")] = False,
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Check the files of the store for damage: answers of engines, what people play, web jobs."""
    from skilloscope.chess.analysis.files import damaged_answers
    from skilloscope.web.jobs import Jobs
    from skilloscope.web.library.players import Libraries

    tally, path = Tally(), _store_path(store)
    with Store(path, read_only=not mend) as shelf:
        for place, reason in shelf.damaged():
            tally.fault("damaged", str(path), place, reason)
        named = {fault.place.partition(", ")[2] for fault in tally.faults}
        for key, problem, reason in list(damaged_answers(shelf)):
            if repr(problem) not in named:
                tally.fault("damaged answer", str(path), problem or "settings", reason)
            if mend and problem:
                shelf.condemn(key, [problem], reason)
        rows = shelf.statistics()["rows"]
    if (people := path.with_name("human.sqlite")).exists():
        with Store(people, read_only=True) as shelf:
            for place, reason in shelf.damaged():
                tally.fault("damaged, to be computed again", str(people), place, reason)
    if (queue := path.parent / "web" / "jobs.sqlite").exists():
        jobs = Jobs(queue)
        for place, reason in jobs.damaged():
            tally.fault("damaged work", str(queue), place, reason)
        jobs.close()
    if (kept := path.parent / "web" / "library.sqlite").exists():
        for place, reason in Libraries(kept).damaged():
            tally.fault("damaged record", str(kept), place, reason)
    faults = [{"place": one.place, "reason": one.reason, "detail": one.detail} for one in tally.faults]
    damage = f"{len(faults):,} damaged" if faults else "nothing damaged"
    report = {"path": str(path), "rows": rows, "damaged": faults, "mended": mend}
    return show_done(report, f"{path}: {rows:,} positions, {damage}", tally, as_json=as_json)


def cache_export(
    out: Annotated[Path, argument("File to write: .parquet, .jsonl or .jsonl.gz.", metavar="FILE")],
    settings: Annotated[
        int | None,
        option("Number of the settings, as `cache info` shows it; not needed for a single one.", metavar="N"),
    ] = None,
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Write all answers of one engine and search to a file, without names or games."""
    from skilloscope.chess.analysis.files import check_export, choose_settings, export_store

    check_export(out)
    tally = Tally()
    with Store(_store_path(store), read_only=True) as shelf:
        key = choose_settings(shelf, settings)
        written = export_store(shelf, key, out, tally)
    size = out.stat().st_size
    line = f"{written:,} answers written to {out} ({size:,} bytes); {engine_line(key)}"
    report = {"file": str(out), "settings": dict(key), "written": written, "bytes": size}
    return show_done(report, line, tally, as_json=as_json)


def cache_import(
    files: Annotated[list[Path], argument("Exported analyses, or analysed games.", metavar="FILE…")],
    store: StoreFolder = None,
    as_json: Json = False,
) -> int:
    """Add the answers of files to the cache, under the settings named in each file."""
    from skilloscope.chess.analysis.files import import_file
    from skilloscope.inputs.load import Kind, by_kind

    by_kind(files, Kind.ANALYSES, Kind.ANALYSED)
    with Store(_store_path(store)) as shelf:
        shelf.check_writable()
        found = [import_file(shelf, file) for file in files]
    tally = Tally.sum(one.tally for one in found)
    lines = (f"{one.file}: {one.read:,} answers, {one.new:,} of them new; {engine_line(one.settings)}" for one in found)
    report = {"files": [one.as_dict() for one in found], "skipped": tally.as_dict()}
    return show_done(report, "\n".join(lines), tally, as_json=as_json)


def _store_path(folder: Path | None) -> Path:
    return store_file(effective_settings({"store": folder})["store"].value)


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
        with console.progress_bar("reading moves") as moved:
            study = fit_axis(batch, pool.name, most=pool.sample, seed=pool.seed, progress=moved)
    if study.axis:
        write_whole(pool.file, study.axis.to_json())
    code = show(study, output, source=source_line(games))
    if study.axis and not output.as_json:
        report_notes([f"axis written to {pool.file}; use it with --scale {pool.file}"])
    return code


def demo(
    html: Annotated[Path, option("The page to write.")] = Path("demo.html"),
    store: StoreFolder = None,
    engine: EngineName = None,
    as_json: Json = False,
) -> int:
    """Rate the bundled games: famous players, masters, and simulated club players of known Elo."""
    from skilloscope.inputs.bundled import gallery_players
    from skilloscope.studies.demo import DEMO_NOTES, rate_demo

    with working(EngineOptions(store=store, engine=engine)) as work:
        judged = _judged(work)
    found = rate_demo(judged, **gallery_players())
    write_whole(html, found.page(f"{judged}."))
    if as_json:
        print_json(found.as_dict())
        return 0
    console.out().print(judge_line(judged))
    console.show_tables(*found.tables())
    report_notes([*found.warnings, *DEMO_NOTES])
    console.out().print(f"The page with figures: {html.resolve()}", highlight=False)
    return 0


def _judged(work: EngineJob) -> AnalysedDecisions:
    """Return the decisions of the bundled games: by the engine, or from the bundled analyses if it fails."""
    from skilloscope.chess.engine.settings import DFH13
    from skilloscope.inputs.bundled import gallery_analyses_file
    from skilloscope.inputs.pipeline import engine_found
    from skilloscope.studies.demo import judge_famous

    work = replace(work, settings=DFH13)  # those of the bundled analyses
    shipped = replace(work, imports=(gallery_analyses_file(),), engine=None)
    if not engine_found(work.engine):
        why = "no engine found: using the bundled analyses (apt-get install stockfish for your own)"
    else:
        try:
            judged = judge_famous(replace(work, deadline_seconds=_MOST_SECONDS))
            if "not analysed (time)" not in judged.decisions.tally.counts:
                return judged
            why = "the engine needs longer than the demo may take: using the bundled analyses; run again to continue"
        except EngineError as error:
            why = f"the engine failed ({error}): using the bundled analyses"
    err().print(why)
    return judge_famous(shipped)


def doctor(
    warm: Annotated[bool, option("Compile the kernels now, so that the first run is fast.")] = False,
    fix: Annotated[bool, option("Install what is missing if that needs no password; list the rest.")] = False,
    as_json: Json = False,
) -> int:
    """Show versions, the engine, the cache, every setting with its source, and what is missing."""
    from skilloscope.studies.installation import fixed, installation, warm_up

    found = installation()
    if fix and found.missing:
        report_notes(fixed(found.missing))
        found = installation()
    return show(replace(found, warmed_seconds=warm_up()) if warm else found, Output(as_json=as_json))
