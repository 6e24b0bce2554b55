"""Does `skilloscope profile` follow real ratings? People with rated years whom neither network nor effects have seen.

    cd tools && ../.venv/bin/python profile_check.py [--people 100]

The people are those of years_check.py's second half: three years with ten games each. Each person's games go through
the command's own study, `--effort instant`, all else by default. Printed: how often the interval of a year holds the
year's mean rating in the headers, and the slope of ratings on estimates, over all years and inside people.
"""

from __future__ import annotations

import argparse

import numpy as np

from axis_data import human_games
from forecast_fused import HALVES
from skilloscope.inputs.load import EngineJob
from skilloscope.inputs.pipeline import analysed_games, effort_settings
from skilloscope.inputs.request import RatingRequest
from skilloscope.studies.profile import elo_profile
from years_check import drawn_years, show_years


def main() -> None:
    """Print the figures under the prior of periods that is the default, and with every year alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100)
    drawn = drawn_years(*HALVES["report"], parser.parse_args().people)
    asked = RatingRequest.of(effort="instant")
    rows: dict[str, list[tuple[float, ...]]] = {"drift": [], "reset": []}
    for player in np.unique(drawn.player).tolist():
        own = drawn.player == player
        games = human_games(drawn.game[own], drawn.player[own]).games
        found = analysed_games(games, asked, EngineJob(settings=effort_settings(asked.effort)), players=[f"h{player}"])
        for prior, told in rows.items():
            study = elo_profile(found, [f"h{player}"], prior=prior)
            (one,) = study.as_dict()["players"]
            told += [
                (player, *(year[name] for name in ("header_elo", "elo", "elo_low", "elo_high", "elo_sd")))
                for year in one["periods"]
            ]
    for prior, told in rows.items():
        person, elo, mean, low, high, sd = np.array(told).T
        show_years(f"profile --prior {prior}", elo, person.astype(np.int64), mean, sd, (low <= elo) & (elo <= high))


if __name__ == "__main__":
    main()
