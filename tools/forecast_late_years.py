"""Forecasts of chess games of 2010–2022 from published ratings and results, beside the published rating alone.

    .venv/bin/python tools/forecast_late_years.py

Of those games the year is known, not the day. So states step by years, and each game is foretold from the state after
the year before and from the ratings in its own header, each an observation: nothing of the same year is looked at.
Everything is fitted by years to the games of 1992–2009 from another file; of the later file nothing is fitted. That
parameters are fitted by years, and not by days and scaled, was chosen on 2006–2009. The rating alone has a slope and an
advantage, fitted to the same games of 1992–2009.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.inputs.results import read_files
from skilloscope.models.paired_comparison import Q, win_probability
from skilloscope.ratings.periods.prediction import evaluate
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import fit_variances
from skilloscope.results.reading import Reading
from skilloscope.results.table import Results

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
Array = npt.NDArray[np.float64]


def main() -> None:
    """Print the log-losses of the years on which was chosen, and of those that are reported."""
    early = read_files([DATA / "results" / "chess_rated_1992_2009.csv.gz"], Reading(observed="welo,belo"))
    early = early.for_period("1Y")
    for fit_until, table, since in ((2005, early, 2006), (2009, late_games(), 2010)):
        known = early.select(years(early) <= fit_until)
        fit = fit_variances(known.by_period("1Y"), advantage=None, drift=None)
        loss = evaluate(*foretold_by_years(table, fit.start(), since)).log_loss
        alone = rating_alone(known, table.select(years(table) >= since))
        print(f"since {since}, fitted to {fit_until}: log-loss {loss:.5f}; rating and advantage alone {alone:.5f}")


def late_games() -> Results:
    """Return the games of human/, their dates known to the year."""
    games = np.load(DATA / "human" / "games.npz")
    ended = (games["result"] < 3) & (games["white"] != games["black"])
    columns = {name: games[name][ended] for name in ("white", "black", "year", "result", "white_elo", "black_elo")}
    order = np.argsort(columns["year"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    players, codes = np.unique(np.concatenate([columns["white"], columns["black"]]), return_inverse=True)
    n = len(order)
    date = (columns["year"].astype(np.int64) - 1970).astype("datetime64[Y]").astype("datetime64[D]")
    return Results(
        players=[str(number) for number in players],
        player_1=codes[:n].astype(np.int32),
        player_2=codes[n:].astype(np.int32),
        score=columns["result"] / 2.0,
        date=date,
        rating_1=columns["white_elo"].astype(np.float64),
        rating_2=columns["black_elo"].astype(np.float64),
    )


def foretold_by_years(table: Results, state: State, since: int) -> tuple[Array, Array]:
    """Return the probability and the score of each game since a year, each from what was published before it."""
    names, found = np.asarray(table.players, dtype=object), list[tuple[Array, Array]]()
    for year in np.unique(years(table)).tolist():
        games = table.select(years(table) == year)
        if year >= since:
            sides = ((games.player_1, games.rating_1), (games.player_2, games.rating_2))
            beliefs = [state.beliefs(names[codes].tolist(), at=year, ratings=rating) for codes, rating in sides]
            p = win_probability(*beliefs[0], *beliefs[1], advantage=state.advantage)
            found.append((np.asarray(p), games.score))
        state, _ = state.play(games.by_period("1Y"))
    return np.concatenate([p for p, _ in found]), np.concatenate([score for _, score in found])


def rating_alone(known: Results, later: Results) -> float:
    """Return the log-loss of later games by the difference of ratings, with slope and advantage fitted before."""
    tables = [(gap[both], table.score[both]) for table in (known, later) for gap, both in [difference(table)]]
    best = minimize(lambda x: line_loss(x, *tables[0]), [35.0, 0.9]).x
    return line_loss(best, *tables[1])


def difference(table: Results) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the difference of ratings, and where both are known."""
    assert table.rating_1 is not None
    assert table.rating_2 is not None
    return table.rating_1 - table.rating_2, (table.rating_1 > 0) & (table.rating_2 > 0)


def line_loss(line: Array, gap: Array, score: Array) -> float:
    """Return the log-loss by advantage and slope."""
    x = Q * line[1] * (gap + line[0])
    return float(np.mean(np.logaddexp(0, x) - score * x))


def years(table: Results) -> npt.NDArray[np.int64]:
    """Return the year of each game."""
    return table.date.astype("datetime64[Y]").astype(np.int64) + 1970


if __name__ == "__main__":
    main()
