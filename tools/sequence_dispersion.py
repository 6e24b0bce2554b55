"""How much people's games scatter around what the axis predicts at their rating: the dispersion of `papers likelihood`.

    .venv/bin/python tools/sequence_dispersion.py

In: people of human/ whom the network has not seen, 150 of their games that were searched. Out: mean and variance of z =
(log Π p − expected)/sd over games, each at the player's own rating, by effort.
"""

from __future__ import annotations

import numpy as np

import axis_data
from skilloscope.inputs.pipeline import AnalysedGames
from skilloscope.inputs.request import RatingRequest
from skilloscope.studies.likelihood import move_logs, sequence_moments

GAMES = 150
DEPTHS = {"instant": 0, "quick": 6, "full": 10}


def main() -> None:
    """Print one line an effort."""
    known = axis_data.people()
    assert known.analyses is not None
    rows = np.sort(np.random.default_rng(1).choice(len(known.games), GAMES, replace=False))
    some = axis_data.Known(known.games.select(rows), known.analyses.of_games(rows))
    people = axis_data.judged(some)
    for effort, depth in DEPTHS.items():
        batch = people.at_depth(depth)
        moves, offsets = batch.moves, batch.moves.choices.offsets
        logs = move_logs(moves, AnalysedGames(some.games, None, RatingRequest.of(effort=effort)), batch.elo)
        mean, variance = sequence_moments(logs, offsets)
        chosen = logs[offsets[:-1] + moves.chosen]
        actual, expected, spread = (np.bincount(moves.game, column) for column in (chosen, mean, variance))
        z = (actual - expected)[spread > 0] / np.sqrt(spread[spread > 0])
        print(f"{effort:8s} {len(z)} games: mean of z {z.mean():+.2f}, variance {z.var():.2f}")


if __name__ == "__main__":
    main()
