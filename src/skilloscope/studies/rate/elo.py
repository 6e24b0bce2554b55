"""Ratings on the Elo axis: the evidence of games becomes a posterior of Elo for each player or group.

In: games, what an engine said of them if one was asked, and the axis. Out: EloRatings. The well known come first, by
the lower bound of their interval; those of whom little is known stand apart; those of whom nothing could be used are
named with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from skilloscope.core.errors import Tally
from skilloscope.core.frames import Framed, table_of_rows
from skilloscope.inference import Posterior
from skilloscope.ratings.elo_axis.axis import EloAxis
from skilloscope.reports.sheet import Sheet
from skilloscope.reports.shown import Shown

SCHEMA = 1
WIDE = 350.0
"""Half the width of an interval, in Elo, beyond which little is known: that of about three games."""
FEW_MOVES = 20
"""Moves below which little is known, whatever the interval."""
GOAL = 100.0
"""The standard deviation, in Elo, for which `more_games` says how many games are missing."""


@dataclass(frozen=True)
class PlayerResults:
    """The results that stand in an Elo beside the moves."""

    games: int
    score: float
    opponents: float
    """The opponents' mean Elo, as far as it is known."""


@dataclass(frozen=True, eq=False)
class EloRating:
    """One player's (or group's) Elo, and what stands behind it."""

    player: str
    elo: Posterior
    mass: float
    games: int
    moves: Mapping[str, int]
    """How many moves count, by source."""
    searched: int
    """In how many of the games an engine judged moves."""
    header_elo: float | None
    """The mean rating in the games' headers; it is used by the prior `header` only."""
    extrapolated: bool
    methods: Mapping[str, Mapping[str, Any]]
    move_match: tuple[float, float, float] | None = None
    """The share of the engine's first moves, with its interval, in undecided positions after the opening."""
    mean_loss: float | None = None
    more_games: int | None = None
    """About how many more games bring the standard deviation to GOAL; None where games alone do not, or for groups."""
    results: PlayerResults | None = None
    """The results that are in the Elo as well; None where moves alone are."""

    @property
    def decisions(self) -> int:
        """How many moves count."""
        return sum(n for source, n in self.moves.items() if source != "evaluated")  # those are among the others

    @property
    def little_evidence(self) -> bool:
        """Whether so little is known that the row stands apart."""
        low, high = self.elo.interval(self.mass)
        return high - low > 2 * WIDE or self.decisions < FEW_MOVES

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of `rate --json` for this player."""
        match = self.move_match or (None, None, None)
        return {
            "player": self.player,
            **self.elo.elo_fields(self.mass),
            "elo_sd": self.elo.sd,
            "extrapolated": self.extrapolated,
            "little_evidence": self.little_evidence,
            "more_games": self.more_games,
            "games": self.games,
            "searched_games": self.searched,
            "decisions": self.decisions,
            "sources": dict(self.moves),
            "header_elo": self.header_elo,
            "prior": self.elo.prior,
            "move_match": match[0],
            "move_match_low": match[1],
            "move_match_high": match[2],
            "mean_loss": self.mean_loss,
            "results": None if self.results is None else vars(self.results),
            "methods": {name: dict(found) for name, found in self.methods.items()},
        }


@dataclass(frozen=True, eq=False, repr=False)
class EloRatings(Framed, Shown):
    """Everybody's Elo: the well known first, by the lower bound, then those of whom little is known."""

    players: Sequence[EloRating]
    unrated: Mapping[str, str]
    """Players of whom no move could be used, with the reason."""
    scale: EloAxis
    method: str
    effort: str
    prior: Mapping[str, Any]
    """The prior by name, with mean, sd and source."""
    settings: Mapping[str, Any]
    tally: Tally
    warnings: Sequence[str]
    mass: float
    by: str = "player"
    sample: Mapping[str, Any] = field(default_factory=dict)
    """What a budget took."""
    fusion: Mapping[str, Any] = field(default_factory=dict)
    """How results were fused with the moves, where they were."""

    def __repr__(self) -> str:
        rated = f"{len(self.players):,} by {self.by}"
        return f"<EloRatings: {rated}, effort {self.effort}, method {self.method}; skipped: {self.tally}>"

    def to_arrow(self) -> pa.Table:
        """Return a row a player, as the JSON has them."""
        return table_of_rows([player.as_dict() for player in self.players])

    def sheets(self) -> list[Sheet]:
        """Return the tables of `rate`."""
        from skilloscope.studies.rate.elo_tables import elo_sheets

        return elo_sheets(self.as_dict(), by=self.by)

    def figures(self) -> list[tuple[str, str]]:
        """Return everybody's Elo with its interval, as SVG."""
        from skilloscope.studies.rate.figures import elo_figure

        return [(elo_figure(self), "Point: posterior mean; line: interval.")]

    def __getitem__(self, player: str) -> EloRating:
        return next(one for one in self.players if one.player == player)

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that every report of these ratings sends."""
        return {
            "schema": SCHEMA,
            "method": self.method,
            **axis_fields(self.scale, self.effort),
            "prior": dict(self.prior),
            "engine": dict(self.settings),
            "by": self.by,
            "mass": self.mass,
            "warnings": list(self.warnings),
            "skipped": self.tally.as_dict(),
            "players": [player.as_dict() for player in self.players],
            "unrated": [{"player": name, "reason": reason} for name, reason in self.unrated.items()],
            **({"fusion": dict(self.fusion)} if self.fusion else {}),
            **({"sample": dict(self.sample)} if self.sample else {}),
        }


def axis_fields(axis: EloAxis, effort: str) -> dict[str, Any]:
    """Return the axis and the effort on it, as every report of Elo names them."""
    used = axis.effort(effort)
    scale = {name: getattr(axis, name) for name in ("name", "axis", "data", "opening_moves")}
    return {
        "effort": {
            "name": used.name,
            "effects": {source: vars(numbers) for source, numbers in used.effects.items()},
            "settings": dict(used.settings),
        },
        "scale": {**scale, "valid": list(axis.valid), "human_model": axis.model},
    }


def in_order(players: Sequence[EloRating]) -> list[EloRating]:
    """Return the players as they are shown: first the well known, each block by the lower bound."""
    return sorted(players, key=lambda one: (one.little_evidence, -one.elo.interval(one.mass)[0]))
