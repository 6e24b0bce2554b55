"""`skilloscope rate`, `breakdown`, `compare` and `profile`, also of decisions: players' strength from their moves.

By default on the Elo axis; with --method agent, or for decisions, by the papers' agent.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from skilloscope.cli import options, request
from skilloscope.cli.console import show
from skilloscope.cli.options import AgentOptions, EffortOptions, EngineOptions, GameFiles, IntervalOutput, option
from skilloscope.cli.request import analysed_decisions, analysed_for_elo, asked_elo, refuse_agents, source_line
from skilloscope.core.errors import OptionError

PeriodPrior = Annotated[str, option("Prior of each period: drift or reset; by the agent also carry or widen.")]
Values = Annotated[tuple[str, str] | None, option("Two values of the column.", metavar="FIRST SECOND")]


@dataclass(frozen=True)
class RateOptions(options.Options):
    """What is rated and how; None where the settings decide, or what is at hand."""

    player: Annotated[str | None, option("Rate this player only.", metavar="NAME")] = None
    by: Annotated[
        str, option("What to rate: player, event, game; or parts of the play, as `breakdown --by` has them.")
    ] = "player"
    parts: Annotated[
        str, option("With parts: pooled (towards the player's own level) or independent.", metavar="MODEL")
    ] = "pooled"
    prior: options.EloPrior = None
    with_results: Annotated[
        Path | None, option("Count the results of this file, games (PGN) or a table, in place of those of the games.")
    ] = None


def rate(
    games: GameFiles,
    *,
    rating: RateOptions,
    effort: EffortOptions,
    axis: options.AxisOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Estimate each player's Elo from the moves, with credible interval, move match and mean loss."""
    asked = asked_elo(games, effort, prior=rating.prior, scale=axis.scale, rule=axis.rule)
    if asked.by_agent:
        if rating.with_results is not None:
            raise OptionError("--with-results is of the Elo axis, not of the papers' agent", hint="leave it out")
        return _rate_by_agent(games, rating, asked, output, engine)

    from skilloscope.studies.breakdown import rate_analysed
    from skilloscope.studies.fusion import read_counted_results

    results = None if rating.with_results is None else read_counted_results(rating.with_results)
    wanted = [] if rating.player is None else [rating.player]
    found, names = analysed_for_elo(games, asked, effort, engine, by=rating.by, mass=output.mass, players=wanted)
    source = source_line(games, found.judged) if output.wanted else ""
    found = replace(found, results=results)
    return show(rate_analysed(found, names, rating.parts), output, source=source)


def _rate_by_agent(
    paths: list[Path], rating: RateOptions, asked: request.AskedElo, output: IntervalOutput, engine: EngineOptions
) -> int:
    """Rate as the papers do: by the agent, after the opening, in undecided positions."""
    from skilloscope.decision.text import table_kind
    from skilloscope.evidence.axis import elo_axis
    from skilloscope.evidence.scales import elo_prior
    from skilloscope.evidence.scales import scale as agent_scale
    from skilloscope.inputs.load import load_decisions, players
    from skilloscope.studies.agent_ratings import rate_decisions

    own, by = asked.agents or agent_scale(), rating.by
    request.check_column(by, paths, ("player", "decider"), what="column")  # refused before the engine is asked
    model = request.scaled_agent(own, asked.rule)
    elo_prior(asked.prior, own)
    settings = {} if asked.effort is None else elo_axis().effort(asked.effort).settings
    with request.working(engine, otherwise=settings) as work:
        if not all(table_kind(path) for path in paths):
            work.refuse_single_lines()
        judged = load_decisions(paths, work, player=rating.player)
    everybody = players(judged.analyses.games) if judged.analyses and by == "player" and not rating.player else ()
    ratings = rate_decisions(
        judged.decisions, own, model=model, by=by, prior=asked.prior, mass=output.mass, everybody=everybody
    )
    return show(replace(ratings, analysed=judged), output, source=source_line(paths))


def breakdown(
    games: GameFiles,
    player: Annotated[
        list[str] | None, option("A player; may be repeated. Default: all players together.", metavar="NAME")
    ] = None,
    by: Annotated[str, option("phase, colour, eco, time-left, time-spent, opponent-rating, year, event …")] = "phase",
    parts: Annotated[
        str, option("pooled (towards the player's own level) or independent.", metavar="MODEL")
    ] = "pooled",
    dispersion: options.Dispersion = None,
    *,
    effort: EffortOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Break down players' Elo by phase, colour, opening, clock or opponent."""
    from skilloscope.models.agent import Agent
    from skilloscope.studies.breakdown import DIMENSIONS, check_parts
    from skilloscope.studies.breakdown import breakdown as break_down

    check_parts(parts)
    asked = asked_elo(games, effort)
    if asked.by_agent:
        request.check_column(by, games, DIMENSIONS, what="dimension")
        scale = request.scale_of()
        judged = analysed_decisions(games, engine, player=player)
        model, allowed = Agent.from_about(scale.model), scale.dispersion if dispersion is None else dispersion
        study = break_down(judged, by, judged.players, parts, model=model, dispersion=allowed, mass=output.mass)
        return show(study, output, source=source_line(games, judged))
    if by == "complexity":
        raise OptionError("complexity is defined by the agent's choices", hint="--method agent")
    refuse_agents(dispersion=dispersion)
    found, names = analysed_for_elo(games, asked, effort, engine, by=by, mass=output.mass, players=player or ())
    return show(break_down(found, by, names, parts), output, source=source_line(games, found.judged))


def compare(
    games: GameFiles,
    player: Annotated[list[str], option("A player, or a part of the name; twice to compare two.", metavar="NAME")],
    *,
    at: Annotated[str | None, option("Split before this day: YYYY-MM-DD.", "--split-on", metavar="DATE")] = None,
    by: Annotated[str | None, option("Split by the two values of a column.", metavar="COLUMN")] = None,
    values: Values = None,
    alias: options.Aliases = None,
    dispersion: Annotated[
        str | None, option("With --method agent: scale (default), games, or a number.", metavar="NUMBER")
    ] = None,
    rule: options.Rule = None,
    prior: options.EloPrior = None,
    effort: EffortOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Compare two players, or one before and after a date: both Elos, the difference, who is stronger."""
    from skilloscope.studies.compare import check_sides
    from skilloscope.studies.compare import compare as compare_sides

    check_sides(player, at, by)
    asked = asked_elo(games, effort, prior=prior, rule=rule)
    if asked.by_agent:
        if len(player) != 1:
            raise OptionError(
                "the papers' agent compares two sets of one player", hint="one --player, or another method"
            )
        model, scale = request.agent_of(rule), request.scale_of()
        allowed = scale.dispersion if dispersion in (None, "scale") else _dispersion(str(dispersion))
        judged = analysed_decisions(games, engine, player=player, aliases=alias)
        study = compare_sides(
            judged, split_on=at, by=by, values=values, model=model, scale=scale, dispersion=allowed, mass=output.mass
        )
        return show(study, output, source=source_line(games, judged))
    refuse_agents(dispersion=dispersion)
    found, names = analysed_for_elo(
        games, asked, effort, engine, by=by or "player", mass=output.mass, players=player, aliases=alias
    )
    study = compare_sides(found, players=names, split_on=at, by=by, values=values)
    return show(study, output, source=source_line(games, found.judged))


def decisions_compare(
    tables: Annotated[
        list[Path], options.argument("Two tables of decisions, or one with --by.", metavar="TABLE [TABLE]")
    ],
    by: Annotated[str | None, option("Split one table by the two values of a column.")] = None,
    values: Values = None,
    dispersion: Annotated[str, option("Scatter to allow for: a number, or games to fit it to a column `game`.")] = "1",
    prior: Annotated[str, option("Prior of each c: uniform, or normal:MEAN,SD.")] = "uniform",
    *,
    agent: AgentOptions,
    output: IntervalOutput,
) -> int:
    """Compare two sets of decisions of the same deciders: both competences, and which is greater."""
    from skilloscope.decision.align import split_by_column
    from skilloscope.evidence import prior_from_text
    from skilloscope.inputs.load import told_tables
    from skilloscope.studies.compare import compare_sets

    if len(tables) != (1 if by else 2):
        given = f"{len(tables)} tables {'with' if by else 'without'} --by"
        raise OptionError(given, hint="give two tables, or one with --by COLUMN")
    chosen, allowed = prior_from_text(prior, *agent.c_range), _dispersion(dispersion)
    batches = told_tables(tables)
    if by:
        first, second, labels = split_by_column(batches[0], by, values)
    else:
        (first, second), labels = batches, (tables[0].name, tables[1].name)
    study = compare_sets(
        first, second, agent.agent(), labels=labels, prior=chosen, dispersion=allowed, mass=output.mass
    )
    return show(study, output, source=source_line(tables))


def _dispersion(text: str) -> float | None:
    """Return the dispersion asked for; None is to be fitted to the games."""
    if text == "games":
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"no dispersion {text!r}", hint="a positive number, or games to fit it") from None


def profile(
    games: GameFiles,
    player: Annotated[list[str], option("The player to follow; may be repeated.", metavar="NAME")],
    alias: options.Aliases = None,
    every: Annotated[str, option("Length of a period: year, month or event.", "--per")] = "year",
    prior: PeriodPrior = "drift",
    dispersion: options.Dispersion = None,
    *,
    effort: EffortOptions,
    axis: options.AxisOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Track players over time: Elo by year, month or event, next to the Elo in the PGN."""
    from skilloscope.evidence.lattice import check_period_prior
    from skilloscope.evidence.periods import check_every
    from skilloscope.studies.profile import agent_profile, check_axis_prior, elo_profile

    check_period_prior(prior)
    check_every(every)
    asked = asked_elo(games, effort, scale=axis.scale, rule=axis.rule)
    if asked.by_agent:
        scale = request.scale_of(axis.scale)
        model = request.scaled_agent(scale, axis.rule)
        judged = analysed_decisions(games, engine, player=player, aliases=alias)
        study = agent_profile(
            judged, scale, model=model, every=every, prior=prior, players=judged.players, dispersion=dispersion,
            mass=output.mass,
        )  # fmt: skip
    else:
        check_axis_prior(prior)
        refuse_agents(dispersion=dispersion)
        found, names = analysed_for_elo(games, asked, effort, engine, mass=output.mass, players=player, aliases=alias)
        study = elo_profile(found, names, every=every, prior=prior)
    return show(study, output, source=source_line(games, study.basis.analysed))


def decisions_profile(
    tables: options.Tables,
    every: Annotated[str, option("The column of periods: numbers, dates or names.", "--per", metavar="COLUMN")],
    decider: Annotated[list[str] | None, option("Only this decider; may be repeated.")] = None,
    prior: PeriodPrior = "drift",
    dispersion: Annotated[float, option("Divide all evidence by this; 1 leaves it as it is.")] = 1.0,
    *,
    agent: AgentOptions,
    output: IntervalOutput,
) -> int:
    """Track deciders over time: the competence c of each by period, with credible interval."""
    from skilloscope.evidence.lattice import check_period_prior
    from skilloscope.studies.profile import competence_profile

    check_period_prior(prior)
    batch = request.read_batch(tables)
    study = competence_profile(
        batch, agent.agent(), every=every, prior=prior, players=decider or (), span=agent.c_range,
        dispersion=dispersion, mass=output.mass,
    )  # fmt: skip
    return show(study, output, source=source_line(tables))
