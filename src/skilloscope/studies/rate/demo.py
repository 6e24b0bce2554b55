"""The demo: simulated players by the papers' agent beside what they were given, and one real game on the Elo axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skilloscope.reports.sheet import Sheet
from skilloscope.sources.judge import Judged
from skilloscope.studies.rate.elo import EloRatings
from skilloscope.studies.rate.elo_tables import elo_sheets
from skilloscope.studies.rate.games import AxisRating, rate_on_axis
from skilloscope.studies.rate.rate import Ratings, rate_decisions
from skilloscope.studies.rate.tables import ratings_sheet


@dataclass(frozen=True, eq=False)
class DemoRatings:
    """The simulated players by the agent, the people on the Elo axis, and the true c of the simulated."""

    people: EloRatings
    simulated: Ratings
    truth: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the people's report, and that of the simulated players inside it."""
        return {**self.people.as_dict(), "simulated": {**self.simulated.as_dict(), "truth": dict(self.truth)}}

    def sheets(self) -> list[Sheet]:
        """Return the tables: first the simulated players beside what they were given."""
        own = ratings_sheet(self.simulated.as_dict(), self.truth, elo=False)
        return [replace(own, title="Simulated players of known competence"), *elo_sheets(self.people.as_dict())]


def rate_demo(judged: Judged, truth: Mapping[str, float]) -> DemoRatings:
    """Rate everybody in the games that ship, each in his own way."""
    assert judged.analyses is not None  # they are games
    games, batch = judged.analyses.games, judged.decisions
    made_up = np.isin(batch.decider, [code for code, name in enumerate(batch.deciders) if name in truth])
    names = {name for side in ("white", "black") for name in games.headers[side].to_pylist()}
    people = rate_on_axis(games, judged, AxisRating.of(method="joint"), players=sorted(names - set(truth)))
    return DemoRatings(people, rate_decisions(batch.select(made_up)), truth)
