"""Who played better, on the Elo axis: two players, or one player's games on two sides of a split.

In: judged games. Out: `EloComparison`: both Elos, the difference with its interval, and how probably the second is
stronger. Two players are judged apart. One player's two sides share what a model says of his style: the difference is
surer than either Elo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skilloscope.core.dates import read_date
from skilloscope.core.errors import InputError, OptionError
from skilloscope.inference import Posterior
from skilloscope.inference.posterior import difference
from skilloscope.ratings.elo_axis.parts import pair_beliefs
from skilloscope.studies.compare.splitting import UNDATED, chosen_values, first_day
from skilloscope.studies.rate.front import JudgedGames
from skilloscope.studies.rate.parts import EloParts, PartRating, Place, change_fields, person_parts, rate_parts

_CAUTION = (
    "Other things differ between two sets of games: opponents, positions, time controls, age and health. The figure "
    "says that the moves differ, not why.",
    "It is a probability under this model and prior. It is evidence, never a verdict on a person.",
)
_SPLIT = (
    "The split must be chosen before the games are looked at. A date that was picked because play seemed to change "
    "there finds a change in records of pure chance."
)


@dataclass(frozen=True, eq=False)
class EloComparison:
    """Two sides on the axis: `parts` holds both with all that stands behind them."""

    who: str
    parts: EloParts
    first: tuple[str, PartRating]
    second: tuple[str, PartRating]
    """The label of each side, and its Elo."""
    difference: Posterior
    """Of second minus first."""
    shared: bool
    """Whether both sides are one person's."""

    @property
    def caution(self) -> list[str]:
        """What must be said beside the figures."""
        return [*([_SPLIT] if self.shared else []), *_CAUTION]

    def as_dict(self) -> dict[str, Any]:
        """Return what `compare --json` sends."""
        mass = self.parts.mass
        found = {name: value for name, value in self.parts.as_dict("side").items() if name not in ("players", "spread")}
        sides = {
            name: {"label": label, **rated.as_dict(mass)}
            for name, (label, rated) in (("first", self.first), ("second", self.second))
        }
        change = change_fields(self.difference, mass)
        stronger = change.pop("probability_above")
        return {
            **found,
            "comparisons": [{"decider": self.who, **sides, **change, "second_stronger": stronger}],
            "shared_effects": self.shared,
            "sides_sd": float(self.parts.axis.population["sd"]) if self.shared else None,
            "caution": self.caution,
        }


def compare_players(found: JudgedGames, names: Sequence[str]) -> EloComparison:
    """Return the second player compared with the first."""
    if len(names) != 2:
        raise OptionError(f"{len(names)} players, and a comparison has two", hint="--player A --player B")
    study = rate_parts(found, "player", names, "star", None)
    rated = {one.player: one.parts[0] for one in study.players}
    if missing := [name for name in names if name not in rated]:
        raise InputError(f"no move of {missing[0]!r} that counts; skipped: {study.tally}")
    first, second = ((name, rated[name]) for name in names)
    apart = difference(second[1].elo, first[1].elo)
    return EloComparison(f"{names[1]} and {names[0]}", study, first, second, apart, shared=False)


def compare_split(
    found: JudgedGames,
    player: str,
    *,
    at: str | None = None,
    by: str | None = None,
    values: Sequence[str] | None = None,
) -> EloComparison:
    """Return one player's games from a day on compared with those before, or two values of a column."""
    if at is not None:
        study = rate_parts(found, "date", [player], "star", None, place=_sides_of_day(found, at))
        names, labels = ["before", "after"], [f"before {at}", f"from {at} on"]
    else:
        study = rate_parts(found, by or "", [player], "star", None)
        there = [one.played.name for one in study.players[0].parts]
        names = chosen_values(there, values, by or "")
        labels = [f"{by} {name}" for name in names]
    rated = {one.played.name: one for one in study.players[0].parts}
    if missing := [label for name, label in zip(names, labels, strict=True) if name not in rated]:
        raise InputError(f"no move of {player!r} {missing[0]}; skipped: {study.tally}", hint="split elsewhere")
    return _shared(found, player, study, [rated[name] for name in names], labels)


def _shared(
    found: JudgedGames, player: str, study: EloParts, sides: Sequence[PartRating], labels: Sequence[str]
) -> EloComparison:
    asked = found.asked
    header = sides[0].played.group.header_elo
    prior = asked.axis.prior(asked.prior, header_elo=header)
    person = person_parts([side.played for side in sides], asked.effort.effects)
    # As far apart as two people: the sides are not drawn together, and the prior is counted once.
    beliefs = pair_beliefs(person, prior, float(asked.axis.population["sd"]))
    first, second = (replace(side, elo=elo) for side, elo in zip(sides, beliefs.parts, strict=True))
    change = beliefs.changes[1]
    assert change is not None
    return EloComparison(player, study, (labels[0], first), (labels[1], second), change, shared=True)


def _sides_of_day(found: JudgedGames, at: str) -> Callable[[int], Place | str]:
    day = first_day(at)
    dates = [read_date(str(date)) if date else None for date in found.games.headers["date"].to_pylist()]

    def place(game: int) -> Place | str:
        date = dates[game]
        if date is not None and date.last < day:
            return "before", 0.0
        return ("after", 1.0) if date is not None and date.first >= day else UNDATED

    return place
