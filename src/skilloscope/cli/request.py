"""What the options of a command ask for: the request, the engine's job, and files analysed accordingly.

What belongs to games or engines is imported where there are games: a table of decisions needs nothing of it, and the
help of a command needs nothing of either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilloscope.cli.console import progress_bar, report_faults, report_notes
from skilloscope.cli.options import EffortOptions, EngineOptions
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.paths import effective_settings, store_file
from skilloscope.report.table import duration, engine_line

if TYPE_CHECKING:
    from skilloscope.chess.analysis.analyse import Progress
    from skilloscope.chess.engine.settings import Settings
    from skilloscope.decision import Decisions
    from skilloscope.evidence.axis import EloAxis
    from skilloscope.evidence.scales import Scale
    from skilloscope.inputs.load import AnalysedDecisions, EngineJob
    from skilloscope.inputs.pipeline import AnalysedGames
    from skilloscope.inputs.request import RatingRequest
    from skilloscope.models.agent import Agent


@dataclass(frozen=True)
class AskedElo:
    """What was asked for, with the settings files taken into account."""

    axis: EloAxis | None
    agents: Scale | None
    method: str | None
    effort: str | None
    prior: str
    rule: str | None
    pool: str  # whose ratings: `auto`, a name, or nothing where a scale was asked for
    strict: bool  # whether a missing engine is an error: the method or the effort was asked for by name

    @property
    def by_agent(self) -> bool:
        """Whether the papers' agent rates, along its own line."""
        return self.method == "agent"


def asked_elo(
    paths: Sequence[Path],
    options: EffortOptions,
    *,
    prior: str | None = None,
    scale: str | None = None,
    rule: str | None = None,
) -> AskedElo:
    """Return which axis, method, effort and prior were asked for; what contradicts itself is refused."""
    from skilloscope.evidence.scales import axis_or_scale

    found = effective_settings({"prior": prior, "effort": options.effort, "scale": scale})
    axis, agents = axis_or_scale(found["scale"].value)
    method = _method(options.method, paths, agents is not None and axis is None, rule)
    if method == "agent" and (options.budget is not None or options.effort == "instant"):
        raise OptionError(
            "--budget and --effort instant are of the Elo axis, not of the papers' agent", hint="leave them out"
        )
    pool = pool_asked(options.pool, found["scale"].value) if method in (None, "human") or options.pool else ""
    strict = options.method is not None or options.effort is not None
    effort, believed = found["effort"].value, found["prior"].value
    return AskedElo(axis, agents, method, effort, prior=believed, rule=rule, pool=pool, strict=strict)


def pool_asked(pool: str | None, scale: str) -> str:
    """Return whose ratings were asked for: `auto` unless said; nothing where a scale was asked for by name."""
    if pool and scale != "default":
        raise OptionError("--pool and --scale both name an axis", hint="leave one out")
    return pool or ("auto" if scale == "default" else "")


def analysed_for_elo(
    paths: Sequence[Path],
    asked: AskedElo,
    options: EffortOptions,
    engine: EngineOptions,
    *,
    by: str = "player",
    mass: float = 0.95,
    players: Sequence[str] = (),
    aliases: Sequence[str] | None = None,
    both_sides: bool = False,
) -> tuple[AnalysedGames, list[str]]:
    """Return games analysed as the axis wants them, and the players' full names; faults are shown on stderr."""
    from skilloscope.evidence.axis import elo_axis
    from skilloscope.inputs.load import EngineBudget
    from skilloscope.inputs.pipeline import analysed_files

    limit, spellings = EngineBudget(options.budget, options.seed, asked.strict), _aliases(aliases)
    asking = {"prior": asked.prior, "by": by, "mass": mass, "agent_scale": asked.agents, "pool": asked.pool}
    chosen = asked.axis or elo_axis(), asked.method, asked.effort
    with progress_bar("rating") as bar:
        wanted, work = requested(engine, bar, *chosen, depth=asked_depth(engine), **asking)
        if wanted.needs_engine:
            work.refuse_single_lines()
        elif options.budget is not None:
            raise InputError("--budget limits searches, and without an engine there are none", hint="leave it out")
        found, names = analysed_files(
            paths, wanted, work, players=players, aliases=spellings, both_sides=both_sides, limit=limit
        )
    report_faults(found.games.tally)
    return found, names


def requested(
    engine: EngineOptions, bar: Callable[..., None], *chosen: Any, **asking: Any
) -> tuple[RatingRequest, EngineJob]:
    """Return what is asked of games, as `RatingRequest.of` takes it, and the engine's job for it, on one bar."""
    from skilloscope.inputs.request import RatingRequest

    wanted = RatingRequest.of(*chosen, progress=partial(bar, note="games, what people play"), **asking)
    work = work_of(engine, bar, otherwise=wanted.effort.settings)
    return replace(wanted, workers=work.workers or 1), work


def analysed_decisions(
    paths: Sequence[Path],
    engine: EngineOptions,
    *,
    player: str | Sequence[str] | None = None,
    aliases: Sequence[str] | None = None,
    both_sides: bool = False,
    any_domain: bool = False,
    skip_moves: int | None = None,
    max_abs_value: float = 3.0,
) -> AnalysedDecisions:
    """Return the decisions in files, games analysed by the engine asked for; faults are shown on stderr."""
    from skilloscope.inputs.load import load_decisions

    names = _aliases(aliases)
    with working(engine) as asked:
        work = replace(asked, skip_moves=skip_moves, max_abs_value=max_abs_value)
        judged = load_decisions(paths, work, player=player, aliases=names, both_sides=both_sides, any_domain=any_domain)
    report_faults(judged.decisions.tally)
    return judged


@contextmanager
def working(
    asked: EngineOptions, what: str = "analysing", *, otherwise: Mapping[str, Any] | None = None
) -> Iterator[EngineJob]:
    """Give the job that options and settings describe, with a bar on stderr; defaults are those of `otherwise`."""
    with progress_bar(what) as bar:
        yield work_of(asked, bar, otherwise=otherwise)


def work_of(
    asked: EngineOptions, bar: Callable[[int, int, str], None], *, otherwise: Mapping[str, Any] | None = None
) -> EngineJob:
    """Return the job, as `working` gives it, with a bar that somebody else has opened."""
    from skilloscope.inputs.load import EngineJob

    found = _engine_settings(asked, otherwise or {})
    return EngineJob(
        settings=_search(found, asked),
        store=store_file(found["store"]),
        engine=found["engine"],
        imports=tuple(asked.imports or ()),
        workers=found["workers"],
        scheduler=asked.scheduler,
        progress=lambda now: bar(now.done, now.total, _note(now)),
    )


def refuse_agents(**options: object) -> None:
    """Refuse options that are the agent's, where they were given."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise OptionError(f"--{given[0]} is of the papers' agent, not of the Elo axis", hint="--method agent")


def agent_of(rule: str | None) -> Agent:
    """Return the agent under the rule asked for, that of the settings, or `listed`."""
    from skilloscope.models.agent import Agent

    return Agent(rule=effective_settings({"rule": rule})["rule"].value or "listed")


def scale_of(name: str | None = None) -> Scale:
    """Return the scale asked for, or that of the settings."""
    from skilloscope.evidence.scales import scale

    return scale(effective_settings({"scale": name})["scale"].value)


def scaled_agent(scale: Scale, rule: str | None = None) -> Agent:
    """Return the agent of a scale, under the rule asked for, that of the settings, or the scale's own."""
    from skilloscope.models.agent import Agent

    return Agent.from_about(scale.model, rule=effective_settings({"rule": rule})["rule"].value)


def read_batch(tables: Sequence[Path], columns: Sequence[str] = ()) -> Decisions:
    """Return tables of any domain as one batch, at one depth; `columns` are texts such as decider=player."""
    from skilloscope.decision import Decisions
    from skilloscope.decision.text import read_decisions
    from skilloscope.inputs.load import told_decisions
    from skilloscope.inputs.results import pair_columns

    if columns:  # a table with names of its own cannot be recognised by its header
        names = pair_columns(columns)
        batch = Decisions.concat([read_decisions(path, columns=names).at_depths() for path in tables])
    else:
        batch = told_decisions(tables)
    report_faults(batch.tally)
    return batch


def check_column(by: str, paths: Sequence[Path], more: Iterable[str], what: str) -> None:
    """Refuse a column that games do not have before they are analysed; a table's are known when it is read."""
    from skilloscope.decision.text import table_kind

    if any(table_kind(path) for path in paths):
        return
    from skilloscope.chess.analysis.analyses import CONTEXT

    known = (*more, *CONTEXT)
    if by not in known:
        raise OptionError(f"no {what} {by!r}", hint=f"the {what}s: {', '.join(known)}")


def judge_line(judged: AnalysedDecisions) -> str:
    """Return what judged the moves, and where the answers came from, in words."""
    from skilloscope.inputs.load import engine_of

    return f"{judged}; {engine_line(engine_of(judged.decisions))}"


def source_line(paths: Sequence[Path], judged: AnalysedDecisions | None = None) -> str:
    """Return the files of a page in words, and what judged the moves in them."""
    files = ", ".join(p.name for p in paths[:5]) + (f" and {len(paths) - 5} more files" if len(paths) > 5 else "")
    return files if judged is None else f"{files}; {judge_line(judged)}"


def _aliases(texts: Sequence[str] | None) -> dict[str, str]:
    if not texts:
        return {}
    from skilloscope.results.aliases import aliases_given

    return aliases_given(texts)


def _method(asked: str | None, paths: Sequence[Path], agents_only: bool, rule: str | None) -> str | None:
    """Return the method, where the input or the scale leaves no choice; None where it is still open."""
    from skilloscope.inputs.load import Kind, by_kind

    found = by_kind(paths, Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED)
    tables = [*found[Kind.DECISIONS], *found[Kind.ANALYSED]]
    why = f"{tables[0]} holds no games" if tables else "the scale is the agent's" if agents_only else ""
    if why and asked not in (None, "agent"):
        raise InputError(
            f"{why}: only the papers' agent can rate here, not the method {asked!r}", hint="--method agent"
        )
    if why and asked is None:
        report_notes([f"{why}: rated by the papers' agent"])
    if rule is not None and asked != "agent" and not why:
        raise OptionError(
            "a choice-set rule is the agent's: the Elo axis is based on all legal moves", hint="--method agent"
        )
    return "agent" if why else asked


def asked_depth(asked: EngineOptions) -> int | None:
    """Return the depth that was asked for, by flag, preset, environment or settings file; None where none was."""
    from skilloscope.chess.engine.settings import preset

    if asked.preset and not asked.depth:
        return preset(asked.preset).depth
    depth: int | None = _engine_settings(asked, {"depth": None})["depth"]
    return depth


def _engine_settings(asked: EngineOptions, otherwise: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the engine; in place of a default what `otherwise` says."""
    known = {name: getattr(asked, name) for name in ("store", "engine", "depth", "nodes", "multipv", "hash", "workers")}
    own = {"depth": "depth", "nodes": "nodes", "multipv": "multipv", "hash": "hash_mb"}
    return {
        name: otherwise[own[name]] if one.source == "default" and own.get(name) in otherwise else one.value
        for name, one in effective_settings(known).items()
    }


def _search(found: Mapping[str, Any], asked: EngineOptions) -> Settings:
    """Return the search's settings: those found; where a preset is asked for, its own with what was asked over them."""
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
    """Return what is shown next to the bar: how fast, how long still, what was known already."""
    known = f"{now.cached + now.imported:,} known before" + (f", {now.failed:,} failed" if now.failed else "")
    if now.remaining_seconds is None or now.seconds <= 0:
        return known
    return f"{now.searched / now.seconds:.1f} a second, {duration(now.remaining_seconds)} left, {known}"
