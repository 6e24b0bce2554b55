"""`skilloscope profile` and `skilloscope decisions profile`: strength over time."""

from typing import Annotated

from skilloscope.cli.console import show
from skilloscope.cli.options import (
    AgentOptions,
    Aliases,
    AxisOptions,
    Dispersion,
    EffortOptions,
    EngineOptions,
    GameFiles,
    IntervalOutput,
    Tables,
    option,
)
from skilloscope.cli.request import (
    analysed_decisions,
    analysed_for_elo,
    asked_elo,
    read_batch,
    refuse_agents,
    scale_of,
    scaled_agent,
    source_line,
)

PeriodPrior = Annotated[str, option("Prior of each period: drift or reset; by the agent also carry or widen.")]


def profile(
    games: GameFiles,
    player: Annotated[list[str], option("The player to follow; may be repeated.", metavar="NAME")],
    alias: Aliases = None,
    every: Annotated[str, option("Length of a period: year, month or event.", "--per")] = "year",
    prior: PeriodPrior = "drift",
    dispersion: Dispersion = None,
    *,
    effort: EffortOptions,
    axis: AxisOptions,
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
        scale = scale_of(axis.scale)
        model = scaled_agent(scale, axis.rule)
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
    tables: Tables,
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
    batch = read_batch(tables)
    study = competence_profile(
        batch, agent.agent(), every=every, prior=prior, players=decider or (), span=agent.c_range,
        dispersion=dispersion, mass=output.mass,
    )  # fmt: skip
    return show(study, output, source=source_line(tables))
