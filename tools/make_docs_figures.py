"""Make the figures of README and docs from what ships and from simulation: no engine, the same bytes each time.

    .venv/bin/python tools/make_docs_figures.py

Out: docs/img/demo.svg and docs/img/profile.svg. The title of each says what it shows, so that somebody who cannot see
it can read it, and a test can tell when it is out of date.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from skilloscope.inputs.bundled import gallery_analyses_file, gallery_players
from skilloscope.inputs.load import EngineJob
from skilloscope.report.charts import Figure
from skilloscope.simulate.deciders import simulate_career
from skilloscope.studies.demo import DemoRatings, judge_famous, rate_demo
from skilloscope.studies.profile import competence_profile, priors_chart

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "img"


def main() -> None:
    """Write the figures."""
    found = demo_ratings()
    FOLDER.mkdir(parents=True, exist_ok=True)
    write("demo.svg", found.figures()[0].svg(), described(found))
    write("profile.svg", career_figure(), "A simulated career under the four priors, with its true competence")


def demo_ratings() -> DemoRatings:
    """Return the ratings of the demo, from the analyses that ship."""
    judged = judge_famous(EngineJob(imports=(gallery_analyses_file(),)))
    return rate_demo(judged, **gallery_players())


def career_figure() -> str:
    """Return a simulated career under the four priors, with the truth."""
    career = simulate_career(np.random.default_rng(5), years=(24, 24), games=(4, 30), drift=(0.06, 0.06))
    truth = {float(year): c for year, c in career.truth.items()}
    profiles = competence_profile(career.decisions, every="year").under_every_prior()
    return Figure("", priors_chart(profiles, truth)).svg()


def described(found: DemoRatings) -> str:
    """Return what the figure of Elo shows, in words."""
    rows = [f"{one.player}: {one.estimate}" for one in found.simulated]
    return escape(f"{found.ratings.basis.axis}. {'; '.join(rows)}")


def write(name: str, svg: str, title: str) -> None:
    """Write one figure as a file of its own, with a title."""
    head, rest = svg.split(">", 1)
    (FOLDER / name).write_text(f"{head}>\n <title>{title}</title>{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
