"""One player in some games: Elo, Elo by part of the play, the decisions that cost most for the level, the best finds.

In: games, a name, how to rate. Out: PlayerReport. What people of the player's own level would have lost in the same
positions is the measure of a decision: a hard position forgives, an easy one does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError
from skilloscope.sources.costs import LEVELS, MoveCosts, move_costs
from skilloscope.sources.judge import Judged, Work
from skilloscope.studies.rate.elo import EloRating, EloRatings
from skilloscope.studies.rate.front import Limit, modelled, rate_read_games
from skilloscope.studies.rate.games import AxisRating, model_for, rate_each_by
from skilloscope.studies.report.told import told_moves

SCHEMA = 1
PARTS = ("phase", "colour", "eco", "spent", "opposition", "year")
"""What the play is divided by."""
MOST = 10
"""Decisions of each kind that are told."""


@dataclass(frozen=True, eq=False)
class PlayerReport:
    """What is told of one player."""

    player: str
    ratings: EloRatings
    parts: Mapping[str, EloRatings]
    """By PARTS, those that divide the play at all."""
    costliest: Sequence[Mapping[str, Any]] = ()
    finds: Sequence[Mapping[str, Any]] = ()
    beside: Mapping[str, float] = field(default_factory=dict)
    """Loss and first moves, of the player and of people of the level in the same positions; empty without an engine."""

    @property
    def rating(self) -> EloRating:
        """The player's own."""
        return self.ratings[self.player]

    def as_dict(self) -> dict[str, Any]:
        """Return what `report --json` sends."""
        return {
            "schema": SCHEMA,
            "kind": "player",
            "player": self.player,
            "ratings": self.ratings.as_dict(),
            "parts": {name: part.as_dict() for name, part in self.parts.items()},
            "levels": list(LEVELS),
            "costliest": [dict(move) for move in self.costliest],
            "finds": [dict(move) for move in self.finds],
            "beside": dict(self.beside),
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.report.figures import player_figures

        return player_figures(self)


def player_report(
    games: Games, player: str, asked: AxisRating, work: Work, *, budget: float | None = None, strict: bool = False
) -> tuple[PlayerReport, Judged | None]:
    """Return the report of one player, and what the engine was asked for it."""
    with modelled(asked, work) as modelled_once:
        return _player_report(games, player, modelled_once, work, Limit(budget, strict=strict))


def _player_report(
    games: Games, player: str, asked: AxisRating, work: Work, limit: Limit
) -> tuple[PlayerReport, Judged | None]:
    ratings, judged = rate_read_games(games, asked, work, player=player, limit=limit)
    if not any(one.player == player for one in ratings.players):
        raise InputError(f"nothing of {player!r} can be rated", hint=ratings.unrated.get(player, ""))
    used = asked if judged is not None else replace(asked, method="human", effort=asked.axis.effort(ratings.effort))
    several = parts_of_play(games, judged, used, [player]).get(player, {})
    costs = costs_of(games, judged, used, {player: ratings[player].elo.mean})
    if costs is None or judged is None or judged.analyses is None:
        return PlayerReport(player, ratings, several), judged
    found = PlayerReport(
        player,
        ratings,
        several,
        costliest=told_moves(costs.costliest(MOST), games, judged.analyses),
        finds=told_moves(costs.best_finds(MOST), games, judged.analyses),
        beside=beside_people(costs),
    )
    return found, judged


def costs_of(games: Games, judged: Judged | None, asked: AxisRating, levels: Mapping[str, float]) -> MoveCosts | None:
    """Return what the judged moves cost; None where no engine judged any."""
    weights = asked.effort.weights
    if judged is None or judged.analyses is None or weights is None or not judged.analyses.answered.any():
        return None
    return move_costs(games, judged.analyses, weights, levels, model=model_for(asked, len(games)))


def beside_people(costs: MoveCosts) -> dict[str, float]:
    """Return the player's mean scaled loss and share of first moves, beside those of people of the level there.

    The standard errors are of the differences, game by game.
    """
    first = (costs.played == costs.best).astype(float)
    return {
        "moves": len(costs),
        "loss": float(costs.loss.mean()),
        "expected_loss": float(costs.expected.mean()),
        "loss_se": _clustered(costs.cost, costs.game),
        "first": float(first.mean()),
        "expected_first": float(costs.p_best[:, 0].mean()),
        "first_se": _clustered(first - costs.p_best[:, 0], costs.game),
    }


def _clustered(values: Any, game: Any) -> float:
    """Return the standard error of a mean whose terms hang together within a game."""
    sums = np.bincount(np.unique(game, return_inverse=True)[1], values - values.mean())
    n = len(sums)
    return float(np.sqrt((sums**2).sum() * n / max(n - 1, 1)) / len(values))


def parts_of_play(
    games: Games, judged: Judged | None, asked: AxisRating, players: Sequence[str] = ()
) -> dict[str, dict[str, EloRatings]]:
    """Return each player's Elo by every part that divides his play; of some, as of time spent, games may say nothing.

    Without players: of everybody.
    """
    found: dict[str, dict[str, EloRatings]] = {}
    for name in PARTS:
        for player, part in rate_each_by(games, judged, replace(asked, by=name, progress=None), players).items():
            if len(part.players) > 1:
                found.setdefault(player, {})[name] = part
    return found
