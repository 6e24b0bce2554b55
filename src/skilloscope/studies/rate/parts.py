"""Parts of players' play on the Elo axis: by period, phase, colour, opening, clock, opponents, or before and after.

In: judged games, and what divides them. Out: `EloParts`, for each player the Elo of each part. What a model says of a
person's style is shared between his parts, so differences are surer than levels; `ratings.elo_axis.parts` has the sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, Tally
from skilloscope.inference import Posterior
from skilloscope.inference.sd_fit import SdFit
from skilloscope.ratings.elo_axis.axis import EloAxis, elo_posterior
from skilloscope.ratings.elo_axis.effects import Effects
from skilloscope.ratings.elo_axis.parts import PartBeliefs, PersonParts, SdBelief, fit_parts
from skilloscope.sources.labels import ORDERS
from skilloscope.sources.people import AxisEvidence, GroupEvidence, axis_evidence
from skilloscope.studies.rate.elo import axis_fields
from skilloscope.studies.rate.front import JudgedGames
from skilloscope.studies.rate.games import agent_fields, agents_by_move, analysis_faults, axis_warnings, prior_fields

SCHEMA = 1
EVERYBODY = "everybody"
Place = tuple[str, float]
"""The name of a part, and when it was (or its rank)."""
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlayedPart:
    """One part of one player's play: the evidence, and how much there is of it."""

    name: str
    time: float
    group: GroupEvidence

    @property
    def moves(self) -> int:
        """How many moves count."""
        return sum(n for source, n in self.group.moves.items() if source != "evaluated")

    def curves(self) -> dict[str, list[Array]]:
        """Return the curves of all people in it by source, a row for each game."""
        found: dict[str, list[Array]] = {}
        for sources in self.group.people.values():
            for name, rows in sources.items():
                found.setdefault(name, []).extend(rows)
        return found


@dataclass(frozen=True, eq=False)
class PartRating:
    """The Elo of one part: by itself, and with the help of the player's other parts."""

    played: PlayedPart
    alone: Posterior
    elo: Posterior
    change: Posterior | None
    """To the part before, or in a star to what is common; None where there is nothing to compare with."""
    extrapolated: bool
    agent: Mapping[str, Any] | None

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return the fields of a part, as every report sends them."""
        group = self.played.group
        return {
            "games": len(group.games),
            "decisions": self.played.moves,
            "sources": dict(group.moves),
            **self.elo.elo_fields(mass),
            "elo_sd": self.elo.sd,
            "extrapolated": self.extrapolated,
            "header_elo": group.header_elo,
            "alone": {**self.alone.elo_fields(mass), "elo_sd": self.alone.sd},
            "change": None if self.change is None else change_fields(self.change, mass),
            "agent": None if self.agent is None else dict(self.agent),
        }


@dataclass(frozen=True, eq=False)
class PlayerParts:
    """One player's parts in their order, and what is common to them."""

    player: str
    parts: Sequence[PartRating]
    common: Posterior | None


@dataclass(frozen=True, eq=False)
class EloParts:
    """Some players' parts on the axis: how they hang together, the fitted sd, and what was left out."""

    by: str
    players: Sequence[PlayerParts]
    way: str
    sd: SdFit | None
    belief: SdBelief | None
    axis: EloAxis
    effort: str
    method: str
    prior: Mapping[str, Any]
    settings: Mapping[str, Any]
    mass: float
    tally: Tally
    warnings: Sequence[str]
    sample: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self, part: str) -> dict[str, Any]:
        """Return the dict that reports send; a part is called `part` (a group, a period) and stands in a list."""
        return {
            "schema": SCHEMA,
            "method": self.method,
            **axis_fields(self.axis, self.effort),
            "prior": dict(self.prior),
            "engine": dict(self.settings),
            "by": self.by,
            "mass": self.mass,
            "spread": self._spread(),
            "warnings": list(self.warnings),
            "skipped": self.tally.as_dict(),
            "players": [self._player(one, part) for one in self.players],
            **({"sample": dict(self.sample)} if self.sample else {}),
        }

    def _spread(self) -> dict[str, Any] | None:
        if self.sd is None or self.belief is None:
            return None
        fitted = {"spread_sd": self.sd.sd, "spread_low": self.sd.low, "spread_high": self.sd.high}
        return {**fitted, "believed_median": self.belief.median, "believed_source": self.belief.source}

    def _player(self, one: PlayerParts, part: str) -> dict[str, Any]:
        common = None if one.common is None else one.common.elo_fields(self.mass)
        return {
            "player": one.player,
            "games": len({game for rated in one.parts for game in rated.played.group.games}),
            "decisions": sum(rated.played.moves for rated in one.parts),
            "common": common,
            f"{part}s": [
                {part: rated.played.name, "time": rated.played.time, **rated.as_dict(self.mass)} for rated in one.parts
            ],
        }


def change_fields(change: Posterior, mass: float) -> dict[str, float]:
    """Return a difference of Elo as every report sends it, with the probability that it is above 0."""
    low, high = change.interval(mass)
    above = 1.0 - float(np.interp(0.0, change.at, _cumulative(change)))
    return {"difference": change.mean, "sd": change.sd, "low": low, "high": high, "probability_above": above}


def played_parts(
    found: JudgedGames, by: str, players: Sequence[str], place: Callable[[int], Place | str] | None = None
) -> tuple[dict[str, list[PlayedPart]], AxisEvidence, dict[tuple[int, int], str]]:
    """Return the parts of each player, the evidence behind them, and the part of each move (by game and ply).

    Parts are the values of a column of moves; or, with a `place`, what it says of each game (by row): a part with its
    time, or why it has none. Without players everybody is taken together.
    """
    asked = found.asked
    analyses = None if found.judged is None else found.judged.analyses
    evidence = axis_evidence(
        found.games, analyses, asked.effort, by=("player", "game" if place else by), players=players,
        opening_moves=asked.axis.opening_moves, kinds=asked.kinds[:1], workers=asked.workers, progress=asked.progress,
    )  # fmt: skip
    groups = evidence.groups[asked.kinds[0]]
    if not groups:
        raise InputError(f"no move with a known {by}; skipped: {found.games.tally + evidence.tally}")
    ranks = _ranks(by, [label for _, label in groups])
    merged: dict[tuple[str, str], PlayedPart] = {}
    part_of: dict[Any, str] = {}
    for (player, value), group in groups.items():
        where = place(min(group.games)) if place else (str(value), float(ranks[value]))
        if isinstance(where, str):
            evidence.tally.count(where, sum(group.moves.values()))
            continue
        name = player if players else EVERYBODY
        part = merged.setdefault((name, where[0]), PlayedPart(*where, GroupEvidence()))
        merge_evidence(part.group, group)
        part_of[player, value] = part_key(name, where[0])
    labels = {key: part_of[label] for key, label in evidence.labels.items() if label in part_of}
    parts: dict[str, list[PlayedPart]] = {}
    for (name, _), part in sorted(merged.items(), key=lambda item: item[1].time):
        parts.setdefault(name, []).append(part)
    return {name: parts[name] for name in [*players, EVERYBODY] if name in parts}, evidence, labels


def rate_parts(
    found: JudgedGames,
    by: str,
    players: Sequence[str],
    way: str,
    belief: SdBelief | None,
    *,
    place: Callable[[int], Place | str] | None = None,
) -> EloParts:
    """Return the Elo of each player's parts; with no belief about an sd each part stands alone."""
    parts, evidence, labels = played_parts(found, by, players, place)
    tally = found.games.tally + evidence.tally
    if found.judged is not None and found.judged.analyses is not None:
        tally = tally + analysis_faults(found.judged.analyses.tally)
    if not parts:
        raise InputError(f"no move with a known {by}; skipped: {tally}")
    beliefs, sd = _believed(found, parts, way, belief)
    agents = _agents(found, labels)
    asked = found.asked
    rated = [
        PlayerParts(
            name,
            [_rated(found, name, part, beliefs.get(name), at, agents) for at, part in enumerate(own)],
            beliefs[name].common if name in beliefs else None,
        )
        for name, own in parts.items()
    ]
    warnings = axis_warnings(found.games, found.judged, asked, evidence, found.sample)
    return EloParts(
        by=by,
        players=rated,
        way=way,
        sd=sd,
        belief=belief if sd is not None else None,
        axis=asked.axis,
        effort=asked.effort.name,
        method=asked.method,
        prior=prior_fields(asked.axis, asked.prior),
        settings={} if found.judged is None else dict(found.judged.decisions.about.get("settings", {})),
        mass=asked.mass,
        tally=tally,
        warnings=[*found.told, *warnings],
        sample=found.sample,
    )


def part_key(player: str, part: str) -> str:
    """Return one text for a player's part."""
    return repr((player, part))


def person_parts(own: Sequence[PlayedPart], effects: Mapping[str, Effects]) -> PersonParts:
    """Return the parts of one person for the sums; those of many people together, each with an effect of his own."""
    times = [part.time for part in own]
    if all(len(part.group.people) == 1 for part in own) and len({*own[0].group.people}) == 1:
        return PersonParts.of([part.curves() for part in own], effects, times)
    whole = [{"all": [part.group.curve(effects)]} for part in own]
    return PersonParts.of(whole, {"all": Effects()}, times)


def _believed(
    found: JudgedGames, parts: Mapping[str, Sequence[PlayedPart]], way: str, belief: SdBelief | None
) -> tuple[dict[str, PartBeliefs], SdFit | None]:
    """Return what is believed of those with several parts; who has one stands alone."""
    several = [name for name, own in parts.items() if len(own) > 1]
    if belief is None or not several:
        return {}, None
    asked = found.asked
    people = [person_parts(parts[name], asked.effort.effects) for name in several]
    headers = [_header(parts[name]) for name in several]
    priors = [asked.axis.prior(asked.prior, header_elo=header) for header in headers]
    beliefs, sd = fit_parts(people, priors, way, belief, mass=asked.mass)
    return dict(zip(several, beliefs, strict=True)), sd


def _rated(
    found: JudgedGames,
    name: str,
    part: PlayedPart,
    beliefs: PartBeliefs | None,
    at: int,
    agents: Mapping[str, Mapping[str, Any]],
) -> PartRating:
    asked = found.asked
    prior = asked.axis.prior(asked.prior, header_elo=part.group.header_elo)
    alone = elo_posterior(part.group.curve(asked.effort.effects), prior)
    elo = alone if beliefs is None else beliefs.parts[at]
    change = None if beliefs is None else beliefs.changes[at]
    return PartRating(
        part, alone, elo, change, asked.axis.extrapolates(elo.mean), agents.get(part_key(name, part.name))
    )


def _agents(found: JudgedGames, labels: Mapping[tuple[int, int], str]) -> dict[str, Mapping[str, Any]]:
    judged = found.judged
    if judged is None:
        return {}
    rated = agents_by_move(found.games, judged.decisions, labels, found.asked)
    return {name: agent_fields(one, judged, found.asked) for name, one in rated.items()}


def merge_evidence(into: GroupEvidence, group: GroupEvidence) -> None:
    """Put the evidence of one group of moves to another's."""
    for person, sources in group.people.items():
        for source, rows in sources.items():
            into.people.setdefault(person, {}).setdefault(source, []).extend(rows)
    into.moves.update(group.moves)
    into.games.update(group.games)
    into.searched.update(group.searched)
    into.headers.update(group.headers)


def _ranks(by: str, labels: Sequence[Any]) -> dict[Any, int]:
    known = Counter(labels)
    told = ORDERS.get(by)
    order = [one for one in told if one in known] if told else sorted(known, key=lambda one: (str(type(one)), one))
    return {label: rank for rank, label in enumerate(order)}


def _header(own: Sequence[PlayedPart]) -> float | None:
    headers = {key: elo for part in own for key, elo in part.group.headers.items()}
    return float(np.mean(list(headers.values()))) if headers else None


def _cumulative(change: Posterior) -> Array:
    total = np.concatenate([[0.0], np.cumsum(0.5 * (change.density[1:] + change.density[:-1]) * np.diff(change.at))])
    return np.asarray(total / total[-1])
