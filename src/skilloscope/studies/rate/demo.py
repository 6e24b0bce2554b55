"""The demo: famous players, masters and simulated club players of known Elo, all on the one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import elo_interval, percent, skipped_line
from skilloscope.sources.judge import Judged
from skilloscope.studies.rate.elo import EloRating, EloRatings
from skilloscope.studies.rate.elo_tables import axis_lines
from skilloscope.studies.rate.games import AxisRating, rate_on_axis

DEMO_NOTES = (
    "Famous games are famous for their brilliance, and most are wins of the better known: great hours, not careers.",
    "Opening moves are compared with what people play now: the gambits of 1851 look weaker than they were.",
    "The club players are simulated, with the Elo in their names: no private person's games ship with skilloscope. "
    "They choose as the model takes people of that Elo to choose, so they show that the method finds what was put in, "
    "not that people are so.",
    "One game says little of anybody, and the intervals say so.",
)


@dataclass(frozen=True, eq=False)
class DemoRatings:
    """Everybody of the demo on the Elo axis, who they are, and the true Elo of the simulated."""

    ratings: EloRatings
    known_as: Mapping[str, str]
    truth: Mapping[str, float]
    games: int

    @property
    def several(self) -> EloRatings:
        """Those with several games, strongest first."""
        return replace(self.ratings, players=[one for one in _by_elo(self.ratings.players) if one.games > 1])

    @property
    def single(self) -> EloRatings:
        """Those with one game, strongest first."""
        return replace(self.ratings, players=[one for one in _by_elo(self.ratings.players) if one.games == 1])

    @property
    def many_moves(self) -> EloRatings:
        """Those with a hundred moves, of whom shares can be drawn."""
        return replace(self.ratings, players=[one for one in self.several.players if one.decisions >= 100])

    def as_dict(self) -> dict[str, Any]:
        """Return the report of `rate`, who the players are, and the truth."""
        return {**self.ratings.as_dict(), "known_as": dict(self.known_as), "truth": dict(self.truth)}

    def sheets(self) -> list[Sheet]:
        """Return the tables: those with several games, and those with one."""
        report = self.ratings.as_dict()
        moves = sum(player.decisions for player in self.ratings.players)
        notes = [skipped_line(moves, report["skipped"], what="moves"), *axis_lines(report, report["players"])]
        return [
            self._sheet(self.several, f"Several games each. {self.ratings.scale.axis}", truth=True),
            replace(
                self._sheet(self.single, "One game each: the intervals are as wide as they should be"), notes=notes
            ),
        ]

    def _sheet(self, ratings: EloRatings, title: str, *, truth: bool = False) -> Sheet:
        columns = ["player", "", f"Elo ({100 * ratings.mass:g} % interval)", *(["true Elo"] if truth else [])]
        rows = [self._row(player, truth) for player in ratings.players]
        return Sheet(title, [*columns, "games", "moves", "move match", "mean loss"], rows, left=2)

    def _row(self, player: EloRating, truth: bool) -> list[str]:
        found, match = player.as_dict(), player.move_match
        return [
            player.player,
            self.known_as.get(player.player, ""),
            elo_interval(found),
            *([number(self.truth.get(player.player), 0)] if truth else []),
            f"{player.games:,}",
            f"{player.decisions:,}",
            "–" if match is None else percent(match[0]),
            number(player.mean_loss, 2),
        ]


def rate_demo(judged: Judged, known_as: Mapping[str, str], truth: Mapping[str, float]) -> DemoRatings:
    """Rate everybody in the games of the demo."""
    assert judged.analyses is not None  # they are games
    games = judged.analyses.games
    return DemoRatings(rate_on_axis(games, judged, AxisRating.of(method="joint")), known_as, truth, len(games))


def _by_elo(players: Sequence[EloRating]) -> list[EloRating]:
    return sorted(players, key=lambda one: -one.elo.mean)
