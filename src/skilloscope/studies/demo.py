"""The demo: famous players, masters and simulated club players of known Elo, all on the one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skilloscope.inputs.bundled import gallery_games, gallery_players, game_of_the_century
from skilloscope.inputs.gains import gains_of_games
from skilloscope.inputs.load import AnalysedDecisions, EngineJob, analyse_games
from skilloscope.inputs.pipeline import AnalysedGames, with_priors
from skilloscope.inputs.request import RatingRequest
from skilloscope.report.charts import Figure
from skilloscope.report.page import Section
from skilloscope.report.study import Study, json_fields
from skilloscope.report.table import Column, Table, number, plural, skipped_line
from skilloscope.studies.agent_ratings import CANNOT_TELL, elo_forest, loss_lines
from skilloscope.studies.elo_ratings import EloRating, EloRatings, rate_on_axis
from skilloscope.studies.game import game_study

DEMO_NOTES = (
    "Famous games are famous for their brilliance, and most are wins of the better known: great hours, not careers.",
    "Opening moves are compared with what people play now: the gambits of 1851 look weaker than they were.",
    "The club players are simulated, with the Elo in their names: no private person's games are bundled. "
    "They choose as the model takes people of that Elo to choose, so they show that the method finds what was put in, "
    "not that people are so. They are rated without an engine; the seed was fixed before any game was seen.",
    "One game carries little information, as the intervals show.",
)
_ENOUGH = 100  # moves of somebody whose shares can be drawn


@dataclass(frozen=True, eq=False, kw_only=True)
class DemoRatings(Study):
    """Everybody of the demo on the Elo axis, who they are, and the true Elo of the simulated."""

    ratings: EloRatings
    known_as: Mapping[str, str]
    truth: Mapping[str, float]
    games: int

    title: ClassVar = "From the Immortal Game to Reykjavik, on one Elo axis"
    caveats: ClassVar = (*CANNOT_TELL, *DEMO_NOTES)

    @property
    def simulated(self) -> Sequence[EloRating]:
        """Those whose Elo is known, strongest first."""
        return sorted((one for one in self.ratings.players if one.player in self.truth), key=lambda one: -one.elo.mean)

    @property
    def famous(self) -> Sequence[EloRating]:
        """The others: those with more games first, then the strongest."""
        others = [one for one in self.ratings.players if one.player not in self.truth]
        return sorted(others, key=lambda one: (one.games == 1, -one.elo.mean))

    def as_dict(self) -> dict[str, Any]:
        """Return the report of `rate`, who the players are, and the truth."""
        known = {"known_as": dict(self.known_as), "truth": dict(self.truth)}
        return {"schema": self.SCHEMA, **json_fields(self.ratings), **known}

    @property
    def head(self) -> str:
        """Where the engine's answers came from."""
        return self.ratings.head

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the simulated players with their true Elo, and the famous ones."""
        columns: list[Column[EloRating]] = [
            Column("player", lambda one: one.player, label=True),
            Column("", lambda one: self.known_as.get(one.player, ""), label=True),
            Column(f"Elo ({100 * self.ratings.basis.mass:g} % interval)", lambda one: str(one.estimate)),
            Column("true Elo", lambda one: number(self.truth.get(one.player), 0)),
            Column("without results", lambda one: str(one.methods.get("moves", "–"))),
            Column("games", lambda one: f"{one.games:,}"),
            Column("moves", lambda one: f"{one.decisions:,}"),
            Column("move match", lambda one: one.statistics.cells(one.judged)[0]),
            Column("mean loss", lambda one: one.statistics.cells(one.judged)[1]),
        ]
        used = sum(one.decisions for one in self.ratings.players)
        notes = [skipped_line(used, self.skipped, what="moves"), *self.ratings.basis_notes]
        famous = "Famous games, few of each player: the intervals are as wide as they should be"
        known = f"Simulated players, by moves and results. {self.ratings.basis.axis}"
        return [
            Table.of(known, self.simulated[:top], [columns[0], *columns[2:7]]),
            Table.of(famous, self.famous[:top], [*columns[:3], *columns[5:]], notes=notes),
        ]

    def figures(self) -> Sequence[Figure]:
        """Return everybody's Elo, with the truth where it is known."""
        rows = [(one.player, one.estimate) for one in (*self.simulated, *self.famous)]
        return [elo_forest(rows, self.ratings.basis.axis, self.ratings.basis.scale.valid, truth=self.truth)]

    def sections(self) -> Sequence[Section]:
        """Return the tables, everybody's Elo, one famous game, and how often they lost how much."""
        simulated, famous = map(Section.from_table, self.tables())
        analysed = self.ratings.basis.analysed
        names = [one.player for one in self.famous if one.decisions >= _ENOUGH]
        game = game_study(gains_of_games(game_of_the_century(), EngineJob()))
        (chart, *_) = game.figures()
        century = Figure("Byrne against Fischer, 1956, move by move", chart.chart, chart.caption)
        figures = [century, *([loss_lines(analysed.decisions, names)] if analysed else [])]
        return [simulated, *map(Section.from_figure, self.figures()), famous, *map(Section.from_figure, figures)]

    def page(self, source: str = "", *, title: str = "") -> str:
        """Return the page; it says how many games it has read."""
        return super().page(
            f"{plural(self.games, 'game')} bundled with skilloscope, read move by move; {source}", title=title
        )


def judge_famous(work: EngineJob) -> AnalysedDecisions:
    """Return all games of the demo, the famous ones with the engine's answers."""
    games, simulated = gallery_games(), gallery_players()["truth"]
    famous = [row for row, white in enumerate(games.headers["white"].to_pylist()) if white not in simulated]
    return analyse_games(games, work, rows=np.array(famous))


def rate_demo(judged: AnalysedDecisions, known_as: Mapping[str, str], truth: Mapping[str, float]) -> DemoRatings:
    """Rate everybody in the games of the demo."""
    assert judged.analyses is not None  # they are games
    games = judged.analyses.games
    found = AnalysedGames(games, judged, with_priors(RatingRequest.of(method="joint"), games))
    ratings = rate_on_axis(found)
    return DemoRatings(
        ratings=ratings, known_as=known_as, truth=truth, games=len(found.games), tally=ratings.tally,
        warnings=ratings.warnings,
    )  # fmt: skip
