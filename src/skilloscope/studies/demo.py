"""The demo: famous players, masters and simulated club players of known Elo, all on the one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from skilloscope.inputs.bundled import game_of_the_century
from skilloscope.inputs.gains import gains_of_games
from skilloscope.inputs.load import AnalysedDecisions, EngineJob
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
    "not that people are so.",
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
    def several(self) -> Sequence[EloRating]:
        """Those with several games, strongest first."""
        return sorted((one for one in self.ratings.players if one.games > 1), key=lambda one: -one.elo.mean)

    @property
    def single(self) -> Sequence[EloRating]:
        """Those with one game, strongest first."""
        return sorted((one for one in self.ratings.players if one.games == 1), key=lambda one: -one.elo.mean)

    def as_dict(self) -> dict[str, Any]:
        """Return the report of `rate`, who the players are, and the truth."""
        known = {"known_as": dict(self.known_as), "truth": dict(self.truth)}
        return {"schema": self.SCHEMA, **json_fields(self.ratings), **known}

    @property
    def head(self) -> str:
        """Where the engine's answers came from."""
        return self.ratings.head

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return those with several games, and those with one."""
        columns: list[Column[EloRating]] = [
            Column("player", lambda one: one.player, label=True),
            Column("", lambda one: self.known_as.get(one.player, ""), label=True),
            Column(f"Elo ({100 * self.ratings.basis.mass:g} % interval)", lambda one: str(one.estimate)),
            Column("true Elo", lambda one: number(self.truth.get(one.player), 0)),
            Column("games", lambda one: f"{one.games:,}"),
            Column("moves", lambda one: f"{one.decisions:,}"),
            Column("move match", lambda one: one.statistics.cells(one.judged)[0]),
            Column("mean loss", lambda one: one.statistics.cells(one.judged)[1]),
        ]
        used = sum(one.decisions for one in self.ratings.players)
        notes = [skipped_line(used, self.skipped, what="moves"), *self.ratings.basis_notes]
        single = "One game each: the intervals are as wide as they should be"
        return [
            Table.of(f"Several games each. {self.ratings.basis.axis}", self.several[:top], columns),
            Table.of(single, self.single[:top], [*columns[:3], *columns[4:]], notes=notes),
        ]

    def figures(self) -> Sequence[Figure]:
        """Return everybody's Elo, with the truth where it is known."""
        rows = [(one.player, one.estimate) for one in (*self.several, *self.single)]
        return [elo_forest(rows, self.ratings.basis.axis, self.ratings.basis.scale.valid, truth=self.truth)]

    def sections(self) -> Sequence[Section]:
        """Return the tables, everybody's Elo, one famous game, and how often they lost how much."""
        several, single = map(Section.from_table, self.tables())
        analysed = self.ratings.basis.analysed
        names = [one.player for one in self.several if one.decisions >= _ENOUGH]
        game = game_study(gains_of_games(game_of_the_century(), EngineJob()))
        (chart, *_) = game.figures()
        century = Figure("Byrne against Fischer, 1956, move by move", chart.chart, chart.caption)
        figures = [century, *([loss_lines(analysed.decisions, names)] if analysed else [])]
        return [several, *map(Section.from_figure, self.figures()), single, *map(Section.from_figure, figures)]

    def page(self, source: str = "", *, title: str = "") -> str:
        """Return the page; it says how many games it has read."""
        return super().page(
            f"{plural(self.games, 'game')} bundled with skilloscope, read move by move; {source}", title=title
        )


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
