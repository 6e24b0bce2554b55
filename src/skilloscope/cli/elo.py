"""What the commands that speak Elo share: which axis and method, and games judged for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skilloscope.cli.options import EffortOptions, EngineOptions

if TYPE_CHECKING:
    from skilloscope.ratings.elo_axis.axis import EloAxis
    from skilloscope.ratings.scale import Scale
    from skilloscope.sources.judge import Work
    from skilloscope.studies.rate.front import JudgedGames
    from skilloscope.studies.rate.games import AxisRating


@dataclass(frozen=True)
class AskedElo:
    """What was asked for, settings counted in."""

    axis: EloAxis | None
    agents: Scale | None
    method: str | None
    effort: str | None
    prior: str
    rule: str | None
    strict: bool
    """Whether a missing engine is an error: the method or the effort was asked for by name."""

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
    from skilloscope.core.configuration import effective_settings
    from skilloscope.core.errors import OptionError

    found = effective_settings({"prior": prior, "effort": options.effort, "scale": scale})
    believed, effort, name = (found[key].value for key in ("prior", "effort", "scale"))
    axis, agents = _scales(name)
    method = _method(options.method, paths, agents is not None and axis is None, rule)
    if method == "agent" and (options.budget is not None or options.effort == "instant"):
        raise OptionError(
            "--budget and --effort instant are of the Elo axis, not of the papers' agent", hint="leave them out"
        )
    strict = options.method is not None or options.effort is not None
    return AskedElo(axis, agents, method, effort, prior=believed, rule=rule, strict=strict)


def _refuse_several(method: str | None) -> None:
    """Refuse methods that only `rate` puts beside each other."""
    from skilloscope.core.errors import OptionError

    if method in ("curves", "gain", "all"):
        raise OptionError(f"the method {method!r} is of `rate`", hint="joint, human or agent")


def judged_for_elo(
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
) -> tuple[JudgedGames, list[str]]:
    """Return games judged as the axis wants them, and the players' names written out; faults are shown on stderr."""
    from skilloscope.cli.console import progress_bar, report_faults
    from skilloscope.results.names import aliases_given
    from skilloscope.studies.rate.front import Limit, judged_files

    _refuse_several(asked.method)
    limit = Limit(options.budget, options.seed, asked.strict)
    with progress_bar("rating") as show:
        wanted, work = axis_work(asked, options, engine, show, by=by, mass=mass)
        found, names = judged_files(
            paths,
            wanted,
            work,
            players=players,
            aliases=aliases_given(aliases or []),
            both_sides=both_sides,
            limit=limit,
        )
    report_faults(found.games.tally)
    return found, names


def axis_work(
    asked: AskedElo,
    options: EffortOptions,
    engine: EngineOptions,
    show: Callable[[int, int, str], None],
    *,
    by: str,
    mass: float,
) -> tuple[AxisRating, Work]:
    """Return the rating that was asked for, and the engine's work for it."""
    from dataclasses import replace

    from skilloscope.cli.work import asked_depth, work_of
    from skilloscope.core.errors import InputError
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.studies.rate.games import AxisRating
    from skilloscope.studies.rate.methods import effort_for

    axis = asked.axis or elo_axis()
    effort = effort_for(axis, asked.method, asked.effort, asked_depth(engine))
    method = asked.method or ("joint" if effort.weights else "human")
    wanted = AxisRating(axis, effort, method, asked.prior, by, mass, agent_scale=asked.agents)
    work = work_of(engine, show, otherwise=effort.settings)
    if wanted.needs_engine:
        refuse_single_lines(work)
    elif options.budget is not None:
        raise InputError("--budget limits searches, and without an engine there are none", hint="leave it out")
    workers = work.workers or 1
    told = replace(wanted, workers=workers, progress=lambda done, total: show(done, total, "games, what people play"))
    return told, work


def refuse_single_lines(work: Work) -> None:
    """Refuse a search that lists one move: nobody can be rated from it."""
    from skilloscope.core.errors import OptionError

    if work.settings.multipv < 2:
        raise OptionError(
            "one line is no choice set: nobody can be rated from it",
            hint="let the engine list more moves, as --multipv 10 does; `analyse` takes single lines",
        )


def refuse_agents(**options: object) -> None:
    """Refuse options that are the agent's, where they were given."""
    from skilloscope.core.errors import OptionError

    given = [name for name, value in options.items() if value is not None]
    if given:
        raise OptionError(f"--{given[0]} is of the papers' agent, not of the Elo axis", hint="--method agent")


def _scales(name: str) -> tuple[EloAxis | None, Scale | None]:
    """Return the axis or the agent's scale of that name; a JSON file is one or the other by what it holds."""
    from skilloscope.core.errors import InputError
    from skilloscope.core.records import read_object
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.ratings.scale import scale

    if not name.endswith(".json"):
        return elo_axis(name), scale(name) if name == "default" else None
    try:
        held = read_object(Path(name).read_bytes())
    except (OSError, InputError) as error:
        raise InputError(f"{name}: not a scale that can be read ({error})", hint="a JSON file, or `default`") from error
    return (elo_axis(name), None) if "efforts" in held else (None, scale(name))


def _method(asked: str | None, paths: Sequence[Path], agents_only: bool, rule: str | None) -> str | None:
    """Return the method, where the input or the scale leaves no choice; None where it is still open."""
    from skilloscope.cli.console import report_notes
    from skilloscope.core.errors import InputError, OptionError
    from skilloscope.sources.kinds import Kind, by_kind

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
            "a choice-set rule is the agent's: the Elo axis stands on all legal moves", hint="--method agent"
        )
    return "agent" if why else asked
