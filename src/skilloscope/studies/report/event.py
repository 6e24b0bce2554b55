"""A whole event: crosstable, every game with the Elo of both in it, the best played game, turning points, finds.

In: games, how to rate. Out: EventReport. Elo in a single game is what the game's moves say under the prior: its
interval is wide, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skilloscope.chess.pgn.games import Games
from skilloscope.ratings.elo_axis.axis import elo_posterior
from skilloscope.ratings.elo_axis.effects import combined
from skilloscope.sources.costs import LEVELS
from skilloscope.sources.judge import Judged, Work
from skilloscope.sources.people import GroupEvidence, axis_evidence
from skilloscope.studies.rate.elo import EloRatings
from skilloscope.studies.rate.front import Limit, modelled, rate_read_games
from skilloscope.studies.rate.games import AxisRating, model_for
from skilloscope.studies.report.player import MOST, SCHEMA, costs_of
from skilloscope.studies.report.told import told_moves

SIDES = ("white", "black")
_POINTS = {"1-0": (1.0, 0.0), "0-1": (0.0, 1.0), "1/2-1/2": (0.5, 0.5)}


@dataclass(frozen=True, eq=False)
class EventReport:
    """What is told of an event."""

    ratings: EloRatings
    games: Sequence[Mapping[str, Any]]
    """Each game with both players' Elo in it."""
    table: Sequence[Mapping[str, Any]]
    """The players by points, with what each scored against each."""
    turning: Sequence[Mapping[str, Any]] = ()
    """The moves that lost most, whoever made them."""
    finds: Sequence[Mapping[str, Any]] = ()
    """The best moves that people of the player's level find least easily."""

    @property
    def best_played(self) -> Mapping[str, Any] | None:
        """The game whose two players were strongest in it, on average."""
        both = [game for game in self.games if all(game[side]["elo"] is not None for side in SIDES)]
        return max(both, key=lambda game: sum(game[side]["elo"] for side in SIDES), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return what `report --json` sends."""
        best = self.best_played
        return {
            "schema": SCHEMA,
            "kind": "event",
            "ratings": self.ratings.as_dict(),
            "games": [dict(game) for game in self.games],
            "best_played": None if best is None else best["game"],
            "table": [dict(row) for row in self.table],
            "levels": list(LEVELS),
            "turning": [dict(move) for move in self.turning],
            "finds": [dict(move) for move in self.finds],
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.report.figures import event_figures

        return event_figures(self)


def event_report(
    games: Games, asked: AxisRating, work: Work, *, budget: float | None = None, strict: bool = False
) -> tuple[EventReport, Judged | None]:
    """Return the report of all games together, and what the engine was asked for it."""
    with modelled(asked, work) as modelled_once:
        return _event_report(games, modelled_once, work, Limit(budget, strict=strict))


def _event_report(games: Games, asked: AxisRating, work: Work, limit: Limit) -> tuple[EventReport, Judged | None]:
    ratings, judged = rate_read_games(games, asked, work, limit=limit)
    used = asked if judged is not None else replace(asked, method="human", effort=asked.axis.effort(ratings.effort))
    told = _games(games, judged, used)
    levels = {one.player: one.elo.mean for one in ratings.players}
    costs = costs_of(games, judged, used, levels)
    if costs is None or judged is None or judged.analyses is None:
        return EventReport(ratings, told, crosstable(games)), judged
    lost = costs.select(np.argsort(-costs.loss, kind="stable")[:MOST])
    found = EventReport(
        ratings,
        told,
        crosstable(games),
        turning=told_moves(lost, games, judged.analyses),
        finds=told_moves(costs.best_finds(MOST), games, judged.analyses),
    )
    return found, judged


def crosstable(games: Games) -> list[dict[str, Any]]:
    """Return the players by points, each with what he scored against each; a game without a result counts nothing."""
    met: dict[str, dict[str, list[float]]] = {}
    for white, black, result in zip(*(games.headers[name].to_pylist() for name in (*SIDES, "result")), strict=True):
        if white and black and result in _POINTS:
            for one, other, points in zip((white, black), (black, white), _POINTS[result], strict=True):
                met.setdefault(one, {}).setdefault(other, []).append(points)
    rows = [
        {
            "player": name,
            "points": sum(map(sum, own.values())),
            "games": sum(map(len, own.values())),
            "against": [{"opponent": other, "scores": scores} for other, scores in own.items()],
        }
        for name, own in met.items()
    ]
    return sorted(rows, key=lambda row: (-float(row["points"]), str(row["player"])))


def _games(games: Games, judged: Judged | None, asked: AxisRating) -> list[dict[str, Any]]:
    analyses = None if judged is None else judged.analyses
    found = axis_evidence(
        games, analyses, asked.effort, by="game", opening_moves=asked.axis.opening_moves, kinds=asked.kinds,
        model=model_for(asked, len(games)), workers=asked.workers,
    ).groups[asked.kinds[0]]  # fmt: skip
    names = ("game", "event", "round", "date", "white", "black", "result", "white_elo", "black_elo")
    columns = [games.headers[name].to_pylist() for name in names]
    counts = games.counts.tolist()
    rows = []
    for at, values in enumerate(zip(*columns, strict=True)):
        header = dict(zip(names, values, strict=True))
        group = found.get(header["game"], GroupEvidence())
        sides = {side: _side(group, header, side, asked) for side in SIDES}
        rows.append({**{name: header[name] for name in names[:4]}, "result": header["result"], **sides,
                     "moves": (counts[at] + 1) // 2})  # fmt: skip
    return sorted(rows, key=_when)


def _when(game: Mapping[str, Any]) -> tuple[str, list[int]]:
    """Order by date, then by round as numbers are ordered: 2 before 10, 3.1 before 3.2."""
    return str(game["date"] or ""), [int(part) for part in re.findall(r"\d{1,9}", str(game["round"] or ""))]


def _side(group: GroupEvidence, header: Mapping[str, Any], side: str, asked: AxisRating) -> dict[str, Any]:
    """Return one player's Elo in one game; None where none of his moves counts."""
    name, rating = header[side], header[f"{side}_elo"]
    empty = {"player": name, "header_elo": rating, "elo": None, "elo_low": None, "elo_high": None}
    if name not in group.people:
        return empty
    curves = {source: np.array(rows) for source, rows in group.people[name].items()}
    prior = asked.axis.prior(asked.prior, header_elo=rating)
    elo = elo_posterior(combined(curves, asked.effort.effects), prior)
    low, high = elo.interval(asked.mass)
    return {**empty, "elo": elo.mean, "elo_low": low, "elo_high": high}
