"""Rate the players of games on the Elo axis, by one method or several beside each other.

In: games, and what an engine said of their positions where one was asked. Out: EloRatings. The methods share the moves:
`joint` reads the engine's losses and what people play in one choice, `human` what people play alone, and the papers'
`agent`, `curves` and `gain` the losses alone, after the opening and in undecided positions, each along its own scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skilloscope.chess.human.kept import KeptHuman
from skilloscope.chess.human.model import Human
from skilloscope.chess.human.network import shipped_network
from skilloscope.chess.pgn.games import Games
from skilloscope.core.checks import check_mass
from skilloscope.core.columns import encode
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.inference import Normal, Posterior
from skilloscope.ratings.elo_axis.axis import Effort, EloAxis, elo_axis, elo_posterior
from skilloscope.ratings.elo_axis.effects import Effects
from skilloscope.ratings.elo_axis.more_games import game_precisions, games_for_sd
from skilloscope.ratings.scale import Scale
from skilloscope.ratings.scale import scale as agent_scale
from skilloscope.sources.judge import Judged, engine_of
from skilloscope.sources.labels import check_grouping
from skilloscope.sources.people import UNPLAYABLE, AxisEvidence, GroupEvidence, axis_evidence
from skilloscope.studies.rate.elo import GOAL, EloRating, EloRatings, in_order
from skilloscope.studies.rate.methods import effort_for, settings_warnings
from skilloscope.studies.rate.paper_methods import PAPER_METHODS, paper_effects, paper_groups, paper_warnings
from skilloscope.studies.rate.rate import NO_DECISION, PlayerRating, group_name, pool_warnings, rate_decisions

KEPT_GAMES = 2000
"""Games up to which what people play is kept beside the store: some 70 kB each."""
_UNASKED = ("not analysed", "not analysed (time)")


@dataclass(frozen=True)
class AxisRating:
    """How games are to be rated: the axis, the effort on it, the method, the prior, the groups and the intervals."""

    axis: EloAxis
    effort: Effort
    method: str
    prior: str = "population"
    by: str = "player"
    mass: float = 0.95
    agent_scale: Scale | None = None
    model: Human | None = None
    """What people play, with a memory where there is a store."""
    workers: int = 1
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        check_mass(self.mass)
        check_grouping(self.by)
        self.axis.prior(self.prior)

    @classmethod
    def of(
        cls, axis: EloAxis | None = None, method: str | None = None, effort: str | None = None, **more: Any
    ) -> AxisRating:
        """Return the rating that was asked for, the rest by default."""
        found = axis or elo_axis()
        chosen = effort_for(found, method, effort)
        return cls(found, chosen, method or ("joint" if chosen.weights else "human"), **more)

    @property
    def needs_engine(self) -> bool:
        """Whether an engine is asked."""
        return self.method != "human"

    def without_engine(self) -> AxisRating:
        """Return the same by what people play alone."""
        return replace(self, method="human", effort=effort_for(self.axis, "human", None))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The models of choice whose evidence is read, that of the main figure first."""
        return ("joint", "human", *PAPER_METHODS) if self.method == "all" else (self.method,)

    @property
    def effects(self) -> dict[str, Effects]:
        """How far each source is believed."""
        return {**self.effort.effects, **(paper_effects() if {*PAPER_METHODS} & {*self.kinds} else {})}


def model_for(asked: AxisRating, games: int) -> Human | None:
    """Return the human model to ask; one with a memory is not asked about more games than it should keep."""
    return None if isinstance(asked.model, KeptHuman) and games > KEPT_GAMES else asked.model


def rate_on_axis(
    games: Games,
    judged: Judged | None,
    asked: AxisRating,
    *,
    players: Sequence[str] = (),
    sample: Mapping[str, Any] | None = None,
) -> EloRatings:
    """Rate every player (or group) of games; `judged` holds what the engine said, None where none was asked."""
    found = _evidence(games, judged, asked, asked.by, players)
    for kind in (kind for kind in asked.kinds if kind in PAPER_METHODS):
        found.groups[kind] = {} if judged is None else paper_groups(kind, games, judged.decisions, found.labels)
    return _Rating(games, judged, asked, found, sample or {}).ratings(found)


def rate_each_by(
    games: Games, judged: Judged | None, asked: AxisRating, players: Sequence[str] = ()
) -> dict[str, EloRatings]:
    """Rate the groups of moves of each player (of all) apart, by one reading of the games; who has none is left out.

    What was skipped is told of all of them together.
    """
    found = _evidence(games, judged, asked, ("player", asked.by), players)
    rating = _Rating(games, judged, asked, found, {})
    own: dict[str, AxisEvidence] = {}
    for kind, groups in found.groups.items():
        for (player, label), group in groups.items():
            apart = own.setdefault(player, AxisEvidence({one: {} for one in found.groups}, {}, found.tally, {}))
            apart.groups[kind][label] = group
    return {player: rating.ratings(apart, player) for player, apart in own.items()}


def _evidence(
    games: Games, judged: Judged | None, asked: AxisRating, by: str | tuple[str, ...], players: Sequence[str]
) -> AxisEvidence:
    analyses = None if judged is None else judged.analyses
    read = [kind for kind in asked.kinds if kind not in PAPER_METHODS] or ["human"]
    return axis_evidence(
        games, analyses, asked.effort, by=by, opening_moves=asked.axis.opening_moves, kinds=read,
        players=players, model=model_for(asked, len(games)), workers=asked.workers,
        progress=asked.progress,
    )  # fmt: skip


class _Rating:
    """What all ratings of one reading of the games share: the agents, what was skipped, and what must be said."""

    def __init__(
        self, games: Games, judged: Judged | None, asked: AxisRating, found: AxisEvidence, sample: Mapping[str, Any]
    ) -> None:
        self.judged, self.asked, self.sample = judged, asked, sample
        analyses = None if judged is None else judged.analyses
        names = {key: group_name(label) for key, label in found.labels.items()}
        self.agents = {} if judged is None else agents_by_move(games, judged.decisions, names, asked)
        self.tally = games.tally + found.tally + (Tally() if analyses is None else analysis_faults(analyses.tally))
        self.warnings = axis_warnings(games, judged, asked, found, sample)

    def ratings(self, found: AxisEvidence, player: str | None = None) -> EloRatings:
        """Return the ratings of the groups; of one player's where the reading was of several."""
        asked, judged = self.asked, self.judged
        rated = []
        for label, group in found.groups[asked.kinds[0]].items():
            agent = self.agents.get(group_name(label if player is None else (player, label)))
            rated.append(_with_agent(_rated(label, group, found, asked), agent, judged, asked))
        if not rated:
            hint = "--method agent rates by the engine alone" if self.tally.counts.get(UNPLAYABLE) else ""
            raise InputError(f"no move left to rate; skipped: {self.tally}", hint=hint)
        idle = {**found.idle, **_unused(found, asked)}
        return EloRatings(
            in_order(_with_more_games(rated, found, asked)),
            idle if asked.by in ("player", "decider") else {},
            asked.axis,
            asked.method,
            asked.effort.name,
            prior=prior_fields(asked.axis, asked.prior),
            settings={} if judged is None else engine_of(judged.decisions),
            tally=self.tally,
            warnings=self.warnings,
            mass=asked.mass,
            by=asked.by,
            sample=self.sample,
        )


def prior_fields(axis: EloAxis, name: str) -> dict[str, Any]:
    """Return a prior as reports name it: its name, mean, sd and source."""
    prior = axis.prior(name)
    people = f"{axis.population['name']}: {axis.population['source']}"
    if name == "header":
        own = axis.prior(name, header_elo=0.5 * (prior.low + prior.high))
        sd = own.sd if isinstance(own, Normal) else None
        return {"name": name, "mean": None, "sd": sd, "source": f"the ratings in the games; who has none: {people}"}
    if not isinstance(prior, Normal):
        return {"name": name, "mean": None, "sd": None, "source": f"constant from {prior.low:g} to {prior.high:g}"}
    return {"name": name, "mean": prior.mean, "sd": prior.sd, "source": people}


def _rated(label: Any, group: GroupEvidence, found: AxisEvidence, asked: AxisRating) -> EloRating:
    prior = asked.axis.prior(asked.prior, header_elo=group.header_elo)
    own = {kind: found.groups[kind][label] for kind in asked.kinds if label in found.groups[kind]}
    posteriors = {kind: elo_posterior(one.curve(asked.effects), prior) for kind, one in own.items()}
    elo = posteriors[asked.kinds[0]]
    methods = {kind: _short(posterior, asked.mass) for kind, posterior in posteriors.items()}
    return EloRating(
        player=group_name(label),
        elo=elo,
        mass=asked.mass,
        games=len(group.games),
        moves=group.moves,
        searched=len(group.searched),
        header_elo=group.header_elo,
        extrapolated=asked.axis.extrapolates(elo.mean),
        methods=methods,
    )


def _with_agent(rated: EloRating, agent: PlayerRating | None, judged: Judged | None, asked: AxisRating) -> EloRating:
    """Return the rating with the agent's figures, and with match and loss in the decisions that the agent reads."""
    if agent is None or judged is None:
        return rated
    return replace(
        rated,
        methods={**rated.methods, "agent": agent_fields(agent, judged, asked)},
        move_match=(agent.move_match, agent.move_match_low, agent.move_match_high),
        mean_loss=agent.mean_loss,
    )


def _unused(found: AxisEvidence, asked: AxisRating) -> dict[str, str]:
    """Return who has moves, and none that the main method reads."""
    main = found.groups[asked.kinds[0]]
    return (
        {}
        if asked.kinds[0] not in PAPER_METHODS
        else {group_name(label): NO_DECISION for label in found.groups["human"] if label not in main}
    )


def _short(posterior: Posterior, mass: float) -> dict[str, Any]:
    fields = posterior.elo_fields(mass)
    return {name: fields[name] for name in ("elo", "elo_low", "elo_high")}


def _with_more_games(rated: Sequence[EloRating], found: AxisEvidence, asked: AxisRating) -> list[EloRating]:
    """Return the players with how many more games each needs; groups of moves have no such number."""
    if asked.by not in ("player", "decider"):
        return list(rated)
    groups, effects = found.groups[asked.kinds[0]], asked.effects
    worth = game_precisions(
        ((one.elo.mean, sources) for one in rated for sources in groups[one.player].people.values()), effects
    )

    def more(one: EloRating) -> int | None:
        prior = asked.axis.prior(asked.prior, header_elo=one.header_elo)
        own = {name: p for name, p in worth.items() if name in one.moves}
        return 0 if one.elo.sd <= GOAL else games_for_sd(GOAL, own, effects, prior, one.games)

    return [replace(one, more_games=more(one)) for one in rated]


def agents_by_move(
    games: Games, batch: Decisions, labels: Mapping[tuple[int, int], str], asked: AxisRating
) -> dict[str, PlayerRating]:
    """Return the papers' agent for each group of moves (by row of the game and ply), with statistics of the same."""
    rows = {name: row for row, name in enumerate(games.headers["game"].to_pylist())}
    if not len(batch) or not {"game", "ply"} <= set(batch.context.column_names):
        return {}
    keys = zip(*(batch.context.column(name).to_pylist() for name in ("game", "ply")), strict=True)
    own_labels = [labels.get((rows[game], ply)) for game, ply in keys]
    known = np.array([label is not None for label in own_labels], dtype=bool)
    if not known.any():
        return {}
    names, codes = encode([label for label in own_labels if label is not None])
    own = replace(batch.select(known), deciders=names, decider=codes)
    line = replace(asked.agent_scale or agent_scale(), population=asked.axis.population)  # one prior for all methods
    ratings = rate_decisions(own, line, prior=asked.prior, mass=asked.mass)
    return {player.player: player for player in ratings.players}


def agent_fields(agent: PlayerRating, judged: Judged, asked: AxisRating) -> dict[str, Any]:
    """Return the agent's figures; its Elo only where its scale fits the search, or where it was asked for by name."""
    fields: dict[str, Any] = agent.as_dict()["methods"]["agent"]
    kept = asked.method == "all" or not _agent_warnings(judged, asked)
    return fields if kept else {name: value for name, value in fields.items() if not name.startswith("elo")}


def _agent_warnings(judged: Judged, asked: AxisRating) -> list[str]:
    line = asked.agent_scale or agent_scale()
    return [f"agent: {said}" for said in line.warnings(line.model, judged.decisions.about.get("settings", {}))]


def analysis_faults(tally: Tally) -> Tally:
    """Return what was at fault in the analyses; positions nobody asked about count by what people play."""
    left = {reason: n for reason, n in tally.counts.items() if reason not in (*_UNASKED, "engine failed")}
    return Tally(left, tally.faults)


def axis_warnings(
    games: Games, judged: Judged | None, asked: AxisRating, found: AxisEvidence, sample: Mapping[str, Any]
) -> list[str]:
    """Return what must be known beside Elo: other settings than the axis's, moves without an engine's answer, pools."""
    told = []
    if judged is not None:
        settings = judged.decisions.about.get("settings", {})
        told += settings_warnings(asked.effort, settings)
        told += [said for kind in asked.kinds if kind in PAPER_METHODS for said in paper_warnings(kind, settings)]
        told += judged.decisions.about.get("notes", [])
        told += _missing(games, judged, found, sample)
        told += _agent_warnings(judged, asked) if asked.method == "all" else []
    if shipped_network().sha256 != asked.axis.model:
        told.append(f"the human model is not the one that the axis {asked.axis.name!r} was fitted with")
    counts = games.counts.tolist()
    speeds, sites = (games.headers[name].to_pylist() for name in ("time_control", "site"))
    return [*told, *pool_warnings(speeds, sites, counts, what="moves")]


def _missing(games: Games, judged: Judged, found: AxisEvidence, sample: Mapping[str, Any]) -> list[str]:
    """Return what the engine was not asked, or did not get to: those moves count by what people play alone."""
    told = []
    if sample:
        groups = found.groups.get("joint", {}).items()
        none = [group_name(label) for label, group in groups if not group.searched and not isinstance(label, tuple)]
        without = f"; without any: {'; '.join(none[:8])}{' and others' if len(none) > 8 else ''}" if none else ""
        told.append(
            f"the budget of {sample['budget_minutes']:g} minutes took {sample['games']:,} games "
            f"of {sample['games_in_all']:,}; the moves of the others count by what people play alone{without}"
        )
    unasked = 0 if judged.analyses is None else sum(judged.analyses.tally.counts.get(name, 0) for name in _UNASKED)
    if unasked:
        told.append(f"{unasked:,} moves have no answer of the engine: they count by what people play alone")
    return told
