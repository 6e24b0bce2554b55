"""Parts of a player: years, phases, colours, openings, sides of a date; on the Elo axis or by the papers' agent.

In: analysed games, and what divides them. Out: `RatedParts`, for each player the Elo of each part. Style bias is common
to all parts of a player, so differences are more precise than levels; `evidence.parts` has the sums. Without a prior of
the sd between parts each part is rated independently.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skilloscope.chess.human.played import ORDERS
from skilloscope.core.errors import InputError, Tally
from skilloscope.evidence import EvidenceTable, Posterior
from skilloscope.evidence.axis import Axis, Effects
from skilloscope.evidence.parts import PartBeliefs, PersonParts, SdBelief, fit_parts
from skilloscope.inputs.pipeline import AnalysedGames, GameEvidence, MoveKey, elo_evidence
from skilloscope.report.study import json_value
from skilloscope.report.table import CompetenceEstimate, DifferenceEstimate, EloAndSd, edge_mark
from skilloscope.studies.agent_ratings import AgentFigures, PlayerRating
from skilloscope.studies.basis import elo_warnings, left_out
from skilloscope.studies.elo_ratings import agent_figures, agents_by_move

EVERYBODY = "everybody"  # the name under which the moves of all players are taken together
Place = tuple[str, float]  # the name of a part, and when it was (or its rank)
SHARED_NOTE = (
    "style bias is common to all parts of a player, so differences are more precise than levels",
    "style biases count as independent between parts when all players are taken together, so differences look less "
    "precise than they are",
)
"""What is shared between the parts: of one player, and of all players together."""


@dataclass(frozen=True)
class FittedSpread:
    """A fitted sd, between the parts of a player or in a unit of time, with its interval."""

    spread_sd: float
    spread_low: float
    spread_high: float | None  # None where the data set no upper bound

    def text(self, mass: float) -> str:
        """Return it in words, e.g. `sd 0.031 (95 % interval 0.012 to 0.066)`."""
        high = "anything" if self.spread_high is None else f"{self.spread_high:.3f}"
        return f"sd {self.spread_sd:.3f} ({100 * mass:g} % interval {self.spread_low:.3f} to {high})"


@dataclass(frozen=True)
class EloSpread(FittedSpread):
    """A fitted sd in Elo, with its prior."""

    believed_median: float
    believed_source: str

    def text(self, mass: float) -> str:
        """Return it in words, e.g. `sd 287 Elo (95 % interval 82 to anything; prior median 50, …)`."""
        high = "anything" if self.spread_high is None else f"{self.spread_high:.0f}"
        interval = f"{100 * mass:g} % interval {self.spread_low:.0f} to {high}"
        prior = f"prior median {self.believed_median:.0f}, {self.believed_source}"
        return f"sd {self.spread_sd:.0f} Elo ({interval}; {prior})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One part of a player's moves: how much there is of it, and the posterior of its level."""

    decisions: int
    games: int | None = None
    mass: float  # of the intervals
    posterior: Posterior
    alone: Posterior | None = None  # from the moves of this part only; None where nobody asked
    change: DifferenceEstimate | None = None  # to the part before, or to what is common to all parts
    header_elo: float | None = None
    extrapolated: bool = False

    def text(self, digits: int, posterior: Posterior | None = None) -> str:
        """Return the level (that of a `posterior`, if given) with its interval, e.g. `1418 (770 to 1980) ↓`."""
        shown = posterior or self.posterior
        low, high = shown.interval(self.mass)
        marks = edge_mark(shown.edge) + (" *" if self.extrapolated else "")
        return f"{shown.mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f}){marks}"


@dataclass(frozen=True, eq=False)
class PlayedPart:
    """The evidence of one part of one player's play."""

    name: str
    time: float  # when it was, or its rank
    rows: EvidenceTable


@dataclass(frozen=True, eq=False, kw_only=True)
class EloPart(Part):
    """A part on the Elo axis."""

    played: PlayedPart
    alone: Posterior
    agent: AgentFigures | None = None  # what the papers' agent says of the same moves

    def as_dict(self) -> dict[str, object]:
        """Return the fields of a part in JSON; its name has another key in every study."""
        return {
            "games": self.games,
            "decisions": self.decisions,
            "sources": dict(self.played.rows.by_source),
            **json_value(EloAndSd.of(self.posterior, self.mass)),
            "extrapolated": self.extrapolated,
            "header_elo": self.header_elo,
            "alone": json_value(EloAndSd.of(self.alone, self.mass)),
            "change": json_value(self.change),
            "agent": json_value(self.agent),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class AgentPart(Part):
    """A part by the papers' agent."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields of a part in JSON; what was not asked for is left out."""
        alone = self.alone and {"c": self.alone.mean, "sd": self.alone.sd, "edge": self.alone.edge}
        return {
            **({} if self.games is None else {"games": self.games}),
            "decisions": self.decisions,
            **json_value(CompetenceEstimate.of(self.posterior, self.mass)),
            **({"alone": alone} if alone else {}),
        }


@dataclass(frozen=True, eq=False)
class PlayerParts:
    """One player's parts in their order, and the level that is common to them."""

    player: str
    parts: Sequence[EloPart]
    common: Posterior | None


@dataclass(frozen=True, eq=False)
class RatedParts:
    """Some players' parts on the axis, the fitted sd, and what was left out."""

    players: Sequence[PlayerParts]
    spread: EloSpread | None
    tally: Tally
    warnings: Sequence[str]


def rate_parts(
    found: AnalysedGames,
    by: str,
    players: Sequence[str],
    way: str,
    belief: SdBelief | None,
    *,
    place: Callable[[int], Place | str] | None = None,
) -> RatedParts:
    """Return the Elo of players' parts, or everybody's, in a `chain` or `star`; without `belief` independently."""
    evidence = elo_evidence(found, ("player", "game" if place else by), players)
    played, labels = _played_parts(evidence, by, players, place)
    tally = left_out(found, evidence)
    if not played:
        raise InputError(f"no move with a known {by}; skipped: {tally}")
    beliefs, spread = _pooled(found, played, way, belief)
    agents = agents_by_move(found, labels)
    rated = []
    for name, own in played.items():
        pooled = beliefs.get(name)
        parts = [
            _rated(found, part, pooled, place, agents.get(_label(name, part.name))) for place, part in enumerate(own)
        ]
        rated.append(PlayerParts(name, parts, None if pooled is None else pooled.common))
    return RatedParts(rated, spread, tally, elo_warnings(found, evidence, by))


def person_parts(own: Sequence[PlayedPart], axis: Axis) -> PersonParts:
    """Return the parts of one person for the sums; those of many people together, each with an effect of their own."""
    times, within = [part.time for part in own], (axis.prior.low, axis.prior.high)
    if all(len({*part.rows.people}) == 1 for part in own):
        curves = [sources for part in own for sources in part.rows.by_person().values()]
        return PersonParts.of(curves, axis.effects, times, axis.person, within)
    whole = [{"all": [axis.curve(part.rows)]} for part in own]
    return PersonParts.of(whole, {"all": Effects()}, times, within=within)


def difference_estimate(change: Posterior, mass: float) -> DifferenceEstimate:
    """Return a difference with its interval, and the probability that it is above 0."""
    steps = 0.5 * (change.density[1:] + change.density[:-1]) * np.diff(change.at)
    cumulative = np.concatenate([[0.0], np.cumsum(steps)])
    above = 1.0 - float(np.interp(0.0, change.at, cumulative / cumulative[-1]))
    return DifferenceEstimate.of(change, mass, above)


def _by_number(value: object) -> tuple[str, float, object]:
    """Return what labels are sorted by.

    >>> sorted(["1000 to 1199", "800 to 999", "A0"], key=_by_number)
    ['800 to 999', '1000 to 1199', 'A0']
    """
    number = re.match(r"\d+", value) if isinstance(value, str) else None
    return str(type(value)), float(number[0]) if number else np.inf, value


def _played_parts(
    evidence: GameEvidence, by: str, players: Sequence[str], place: Callable[[int], Place | str] | None
) -> tuple[dict[str, list[PlayedPart]], dict[MoveKey, str]]:
    """Return the evidence of the parts of each player, and the part of each move; moves without one are counted."""
    groups = evidence.main.groups()
    values = {value for _, value in groups}
    order = [one for one in ORDERS.get(by, ()) if one in values]
    order = order or sorted(values, key=_by_number)
    ranks = {value: rank for rank, value in enumerate(order)}
    tables: dict[tuple[str, str], list[EvidenceTable]] = {}
    times: dict[tuple[str, str], float] = {}
    part_of: dict[Any, str] = {}
    for (player, value), rows in groups.items():
        where = place(int(rows.games.min())) if place else (str(value), float(ranks[value]))
        if isinstance(where, str):
            evidence.tally.count(where, int(rows.decisions.sum()))
            continue
        key = player if players else EVERYBODY, where[0]
        tables.setdefault(key, []).append(rows)
        times.setdefault(key, where[1])
        part_of[player, value] = _label(*key)
    parts: dict[str, list[PlayedPart]] = {}
    for name, part in sorted(tables, key=lambda key: times[key]):
        rows = EvidenceTable.concat(tables[name, part])
        parts.setdefault(name, []).append(PlayedPart(part, times[name, part], rows))
    labels = {move: part_of[label] for move, label in evidence.labels.items() if label in part_of}
    return {name: parts[name] for name in [*players, EVERYBODY] if name in parts}, labels


def _label(player: str, part: str) -> str:
    """Return one text for a player's part, by which the agent knows its moves."""
    return repr((player, part))


def _pooled(
    found: AnalysedGames, played: Mapping[str, Sequence[PlayedPart]], way: str, belief: SdBelief | None
) -> tuple[dict[str, PartBeliefs], EloSpread | None]:
    """Return the posteriors of those with several parts, and the fitted sd; others are rated from their own moves."""
    several = [name for name, own in played.items() if len(own) > 1]
    if belief is None or not several:
        return {}, None
    asked = found.asked
    people = [person_parts(played[name], asked.elo) for name in several]
    whole = [EvidenceTable.concat([part.rows for part in played[name]]) for name in several]
    beliefs, fit = fit_parts(people, [asked.prior_of(rows) for rows in whole], way, belief, mass=asked.mass)
    spread = EloSpread(fit.sd, fit.low, fit.high, belief.median, belief.source)
    return dict(zip(several, beliefs, strict=True)), spread


def _rated(
    found: AnalysedGames, part: PlayedPart, pooled: PartBeliefs | None, place: int, agent: PlayerRating | None
) -> EloPart:
    asked, rows = found.asked, part.rows
    alone = asked.posterior(rows)
    posterior = alone if pooled is None else pooled.parts[place]
    change = None if pooled is None else pooled.changes[place]
    return EloPart(
        decisions=rows.moves,
        games=len(np.unique(rows.games)),
        mass=asked.mass,
        posterior=posterior,
        alone=alone,
        change=None if change is None else difference_estimate(change, asked.mass),
        header_elo=rows.header_elo,
        extrapolated=asked.axis.extrapolates(posterior.mean),
        played=part,
        agent=None if agent is None or found.judged is None else agent_figures(agent, found.judged, asked),
    )
