"""The work that the options of the engine describe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilloscope.cli.options import EngineOptions
from skilloscope.core.errors import OptionError
from skilloscope.reports.words import duration

if TYPE_CHECKING:
    from skilloscope.chess.analysis.analyse import Progress
    from skilloscope.chess.engine.settings import Settings
    from skilloscope.sources.judge import Judged, Work


@contextmanager
def working(
    asked: EngineOptions, what: str = "analysing", *, otherwise: Mapping[str, Any] | None = None
) -> Iterator[Work]:
    """Give the work that options, environment and settings files describe, with a progress bar on stderr.

    What nobody asked for is as `otherwise` says (a search's settings), or the default.
    """
    from skilloscope.cli.console import progress_bar

    with progress_bar(what) as show:
        yield work_of(asked, show, otherwise=otherwise)


def work_of(
    asked: EngineOptions, show: Callable[[int, int, str], None], *, otherwise: Mapping[str, Any] | None = None
) -> Work:
    """Return the work, as `working` gives it, with a bar that somebody else has opened."""
    from skilloscope.core.configuration import store_file
    from skilloscope.sources.judge import Work

    found = _found(asked, otherwise or {})
    return Work(
        settings=_settings(found, asked),
        store=store_file(found["store"]),
        engine=found["engine"],
        imports=tuple(asked.imports or ()),
        workers=found["workers"],
        scheduler=asked.scheduler,
        progress=lambda now: show(now.done, now.total, _note(now)),
    )


def judge_files(
    paths: Sequence[Path],
    engine: EngineOptions,
    *,
    player: str | Sequence[str] | None = None,
    aliases: Sequence[str] | None = None,
    both_sides: bool = False,
    any_domain: bool = False,
    skip_moves: int | None = None,
    max_abs_value: float = 3.0,
) -> Judged:
    """Return the decisions in files, games judged by the engine asked for; faults are shown on stderr."""
    from dataclasses import replace

    from skilloscope.cli.console import report_faults
    from skilloscope.results.names import aliases_given
    from skilloscope.sources.judge import judge

    names = aliases_given(aliases or [])
    with working(engine) as asked:
        work = replace(asked, skip_moves=skip_moves, max_abs_value=max_abs_value)
        judged = judge(paths, work, player=player, aliases=names, both_sides=both_sides, any_domain=any_domain)
    report_faults(judged.decisions.tally)
    return judged


def asked_depth(asked: EngineOptions) -> int | None:
    """Return the depth that was asked for, by flag, preset, environment or settings file; None where none was."""
    from skilloscope.chess.engine.settings import preset

    if asked.preset and not asked.depth:
        return preset(asked.preset).depth
    depth: int | None = _found(asked, {"depth": None})["depth"]
    return depth


def _found(asked: EngineOptions, otherwise: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the engine; in place of a default what `otherwise` says."""
    from skilloscope.core.configuration import effective_settings

    known = {name: getattr(asked, name) for name in ("store", "engine", "depth", "nodes", "multipv", "hash", "workers")}
    own = {"depth": "depth", "nodes": "nodes", "multipv": "multipv", "hash": "hash_mb"}
    return {
        name: otherwise[own[name]] if one.source == "default" and own.get(name) in otherwise else one.value
        for name, one in effective_settings(known).items()
    }


def _settings(found: Mapping[str, Any], asked: EngineOptions) -> Settings:
    """Return the search's settings: those found; where a preset is asked for, its own with what was asked over them."""
    from dataclasses import replace

    from skilloscope.chess.engine.settings import Settings, preset

    if asked.depth and asked.nodes:
        raise OptionError("a search has one limit, not --depth and --nodes", hint="leave one of them out")
    if not asked.preset:
        depth, nodes = found["depth"], found["nodes"] if not asked.depth else None
        return Settings(None if nodes else depth, nodes, multipv=found["multipv"], hash_mb=found["hash"])
    settings = preset(asked.preset)
    if asked.depth or asked.nodes:
        settings = replace(settings, depth=asked.depth, nodes=asked.nodes)
    return replace(settings, multipv=asked.multipv or settings.multipv, hash_mb=found["hash"])


def _note(now: Progress) -> str:
    """Return what stands beside the bar: how fast, how long still, what was known already."""
    known = f"{now.cached + now.imported:,} known before" + (f", {now.failed:,} failed" if now.failed else "")
    if now.remaining_seconds is None or now.seconds <= 0:
        return known
    return f"{now.searched / now.seconds:.1f} a second, {duration(now.remaining_seconds)} left, {known}"
