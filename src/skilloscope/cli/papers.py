"""`skilloscope papers`: intrinsic ratings, gain, likelihoods and pooled players as in the papers; their numbers."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from skilloscope.cli import options, request
from skilloscope.cli.console import report_faults, show
from skilloscope.cli.options import EngineOptions, GameFiles, IntervalOutput, Options, Output, argument, option
from skilloscope.cli.request import agent_of, analysed_decisions, analysed_for_elo, asked_elo, source_line, working
from skilloscope.core.errors import InputError, OptionError


@dataclass(frozen=True)
class CurveOptions(Options):
    """The model of the curves."""

    mapping: Annotated[str, option("shares, powers or third.")] = "shares"
    curve: Annotated[str, option("invexp, ipa, ipb, secha or sechb.")] = "invexp"
    scaling: Annotated[float, option("a of the evaluation scaling; 0 is none.", min=0.0)] = 1.0
    rule: Annotated[str, option("Choice-set rule: listed, bucket, sampled or full.")] = "listed"


@dataclass(frozen=True)
class WindowOptions(Options):
    """Which decisions count."""

    first_move: Annotated[int, option("The first move that counts; the paper's is 9.", min=1)] = 13
    cut_off: Annotated[float, option("Positions beyond ± this many pawns are decided.", metavar="PAWNS")] = 3.0
    years: Annotated[str | None, option("Only games of these years, by date: 1991-1994.", metavar="FIRST-LAST")] = None
    within: Annotated[float, option("Elo points between a rating and its milepost.", metavar="ELO")] = 20.0
    both: Annotated[bool, option("Both players near the milepost, as in the paper.")] = False


def papers_ipr(
    games: GameFiles,
    by: Annotated[str, option("What to group by: milepost (hundreds of Elo), player, year …")] = "milepost",
    *,
    curves: CurveOptions,
    fit: Annotated[
        str, option("likelihood, percentile (the paper's; predicts too many matches) or moments.")
    ] = "likelihood",
    counted: WindowOptions,
    single_pv: Annotated[bool, option("The paper's control: one line a position, match and mean loss alone.")] = False,
    output: Output,
    engine: EngineOptions,
) -> int:
    """Compute intrinsic performance ratings: Elo, s and c, with predicted and actual match and loss."""
    from skilloscope.models.curves import CurveModel
    from skilloscope.studies import ipr

    model = CurveModel(mapping=curves.mapping, curve=curves.curve, scaling=curves.scaling, rule=curves.rule)
    years = None if counted.years is None else ipr.years_from_text(counted.years)
    window = ipr.MilepostWindow(counted.first_move, counted.cut_off, years, counted.within, counted.both)
    if single_pv:
        from skilloscope.inputs.gains import gains_of_files  # loads what reads games, which tables do not need

        with working(options.gain_search(engine)) as work:
            gained = gains_of_files(games, work, values="engine")
        column = "decider" if by == "milepost" else by
        control = ipr.single_pv(gained.losses, window, by=column, scaling=model.scaling)
        return show(replace(control, engine=gained.about()), output, source=source_line(games))
    judged = analysed_decisions(games, engine, skip_moves=window.first_move - 1, max_abs_value=window.cut_off)
    batch = judged.decisions.at_depths()
    study = ipr.milepost_table(batch, model, fit, by=by, window=window)
    study = replace(ipr.with_intrinsic_elo(study, window.inside(batch)), head=str(judged))
    return show(study, output, source=source_line(games, judged))


@dataclass(frozen=True)
class EventOptions(Options):
    """What is one event, and how a player's gains are pooled."""

    pool: Annotated[str, option("Pool a player's gains by event, or by match (each opponent separately).")] = "event"
    events: Annotated[str, option("What makes games one event: file, event (the header) or all.")] = "file"
    surnames: Annotated[bool, option("Call players by surname, so that several spellings are one person.")] = False


def papers_gain(
    games: Annotated[list[Path], argument("PGN files, or evaluated games (.ndjson).", metavar="GAMES…")],
    *,
    event: EventOptions,
    gain: options.EngineGainOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Compare the players of an event by gain: expected scores and differences, with their Elo."""
    from skilloscope.inputs.gains import engine_gains, gains_of_files
    from skilloscope.studies.gain import GainStudy, axis_elo
    from skilloscope.studies.gain_event import Field, GainRequest, event_gains, with_surnames

    wanted = GainRequest(event.pool, event.events, gain.elo_curve(), engine_elo=gain.engine_elo, mass=output.mass)
    with working(options.gain_search(engine)) as work:
        gained = gains_of_files(games, work, values=gain.values, mate_cap=gain.mate_cap)
        wanted = replace(wanted, engine=engine_gains(gained, gain.engine_gains, work))
    report_faults(gained.games.tally)
    gained = with_surnames(gained) if event.surnames else gained
    axis = axis_elo(gained.games, Field.of(gained.games, event.events).event_of_game, mass=output.mass)
    found = event_gains(gained, wanted)
    asked = gain.engine_gains != "auto" or gain.engine_elo is not None
    study = GainStudy(found, axis, gained.positions(), with_engine=asked, tally=found.tally)
    return show(study, output, source=", ".join(path.name for path in games))


@dataclass(frozen=True)
class GroupOptions(Options):
    """What is taken as one player, and what else is asked of it."""

    by: Annotated[str, option("What to group by: milepost (of Elo), or a column.")] = "milepost"
    tolerance: Annotated[float, option("How far from a milepost an Elo may be.")] = 10.0
    one_sided: Annotated[bool, option("Whatever the opponent's Elo.")] = False
    split: Annotated[str | None, option("Split the player-games too: by result.", metavar="result")] = None
    convergence: Annotated[bool, option("Show a group's c as decisions come in.")] = False
    group: Annotated[str | None, option("The group of --split (all) and --convergence (largest).", metavar="LABEL")] = (
        None
    )


def papers_pooled(
    games: Annotated[
        list[Path], argument("PGN files, or tables of decisions (.parquet, .jsonl, .csv).", metavar="GAMES…")
    ],
    *,
    group: GroupOptions,
    agent: options.AgentOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Pool players by Elo milepost or any column: c with credible region, and the line from c to Elo."""
    from skilloscope.studies.pooled import PooledRequest, pooled_players

    asked = {name: value for name, value in vars(group).items() if name != "one_sided"}
    wanted = PooledRequest(both=not group.one_sided, span=agent.c_range, mass=output.mass, **asked)
    model = agent.agent()
    judged = analysed_decisions(games, engine, any_domain=True)
    study = pooled_players(judged.decisions, wanted, model)
    study = replace(study, positions=judged.as_dict(), head=request.judge_line(judged))
    return show(study, output, source=source_line(games, judged))


def papers_likelihood(
    games: GameFiles,
    player: options.PlayerName,
    *,
    elo: Annotated[float | None, option("Strength of the people, or of the agent by its scale.")] = None,
    c: Annotated[float | None, option("Competence of the agent, in place of an Elo.")] = None,
    draws: Annotated[int, option("Simulated sequences.", min=100)] = 10_000,
    alias: options.Aliases = None,
    rule: Annotated[str | None, option("With --method agent: listed, bucket or full.")] = None,
    effort: options.EffortOptions,
    output: Output,
    engine: EngineOptions,
) -> int:
    """Compute how probable a player's moves are at given strengths, and how typical of that strength."""
    from skilloscope.studies.likelihood import Strength, agent_likelihood, elo_likelihood

    if (elo is None) == (c is None):
        raise OptionError("a sequence needs one strength, --elo or --c", hint="e.g. --elo 2100, or --c 1.2")
    strength = Strength(c, elo, draws=draws, seed=effort.seed)
    wanted = effort if c is None or effort.method is not None else replace(effort, method="agent")
    asked = asked_elo(games, wanted, rule=rule)
    if asked.by_agent or elo is None:
        scale, model = request.scale_of(), agent_of(rule)
        judged = analysed_decisions(games, engine, player=player, aliases=alias)
        study = agent_likelihood(judged, strength, scale, model)
    else:
        asked = replace(asked, pool="")
        found, (name,) = analysed_for_elo(games, asked, wanted, engine, players=[player], aliases=alias)
        study = elo_likelihood(found, name, strength)
    return show(study, output, source=source_line(games))


def papers_reproduce(
    key: Annotated[str, argument("A paper (DFH13) or one of its tables (DFH13.III); all without it.")] = "",
    data: Annotated[
        Path | None, option("Folder of real games and results; entries without it are empty.", metavar="DIR")
    ] = None,
    budget: Annotated[float, option("Engine time that may be spent, in minutes.", metavar="MINUTES")] = 0.0,
    seed: Annotated[int, option("Seed of whatever is sampled.")] = 1,
    *,
    output: Output,
    engine: EngineOptions,
) -> int:
    """Recompute the published numbers of the papers and show them next to the originals."""
    from skilloscope.papers import ENTRIES, reproduce
    from skilloscope.papers.harness import Budget

    if data is not None and not data.is_dir():
        raise InputError(f"{data}: no such folder", hint="--data takes the folder of games and results")
    with working(engine) as work:
        done = reproduce(ENTRIES, key, Budget(budget, seed, data, work))
    show(done, output, source=f"Budget {budget:g} minutes of engine time, seed {seed}.")
    return int(not done.agrees)
