"""Make the figures of README and docs from what ships and from simulation: no engine, the same bytes each time.

    .venv/bin/python tools/make_docs_figures.py

Out: docs/img/demo.svg and docs/img/profile.svg. The title of each says what it shows, so that somebody who cannot see
it can read it, and a test can tell when it is out of date.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from skilloscope.reports.words import elo_interval
from skilloscope.simulate.careers import simulate_career
from skilloscope.sources.judge import Work, judge_games
from skilloscope.sources.shipped import gallery_analyses_file, gallery_games, gallery_players
from skilloscope.studies.profile.figures import priors_figure
from skilloscope.studies.profile.profile import competence_profiles
from skilloscope.studies.rate.demo import DemoRatings, rate_demo
from skilloscope.studies.rate.elo import EloRatings
from skilloscope.studies.rate.figures import elo_figure

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "img"


def main() -> None:
    """Write the figures."""
    found = demo_ratings()
    FOLDER.mkdir(parents=True, exist_ok=True)
    write("demo.svg", elo_figure(found.several, found.truth), described(found.several))
    write("profile.svg", career_figure(), "A simulated career under the four priors, with its true competence")


def demo_ratings() -> DemoRatings:
    """Return the ratings of the demo, from the analyses that ship."""
    judged = judge_games(gallery_games(), Work(imports=(gallery_analyses_file(),)))
    return rate_demo(judged, **gallery_players())


def career_figure() -> str:
    """Return a simulated career under the four priors, beside the truth."""
    career = simulate_career(np.random.default_rng(5), years=(24, 24), games=(4, 30), drift=(0.06, 0.06))
    truth = {float(year): c for year, c in career.truth.items()}
    return priors_figure(competence_profiles(career.decisions, every="year"), truth)


def described(ratings: EloRatings) -> str:
    """Return what the figure of Elo shows, in words."""
    rows = [f"{player['player']}: {elo_interval(player)}" for player in ratings.as_dict()["players"]]
    return escape(f"{ratings.scale.axis}. {'; '.join(rows)}")


def write(name: str, svg: str, title: str) -> None:
    """Write one figure as a file of its own, with a title."""
    head, rest = svg.split(">", 1)
    (FOLDER / name).write_text(f"{head}>\n <title>{title}</title>{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
