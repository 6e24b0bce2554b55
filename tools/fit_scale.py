"""Fit the provisional scale that ships, from analysed games, without any engine time.

    .venv/bin/python tools/fit_scale.py ../shared/data/analysed/bands_sf151_mpv10_depths.jsonl.gz \
        --population ../shared/data/results/chess_rated_1992_2009.csv.gz

In: games of rated players with every alternative valued. Out: src/skilloscope/data/scales/default.json: the line from
Elo to the agent's c, its covariance (sandwich over games), and the dispersion of the player-games about it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from line_fitting import fit_line
from skilloscope.chess.analysis.analyses import decisions
from skilloscope.chess.analysis.files import read_analysed
from skilloscope.decision import Decisions
from skilloscope.evidence import Grid, agent_evidence
from skilloscope.evidence.scales import Scale
from skilloscope.models.agent import Agent
from skilloscope.papers.harness import SHARED_ANALYSES

ORIGIN = 2100.0
TARGET = Path(__file__).parent.parent / "src" / "skilloscope" / "data" / "scales" / "default.json"


def main() -> None:
    """Fit the scale, say what came out, write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analysed", type=Path)
    parser.add_argument("--population", type=Path, required=True, help="results with ratings, for the population prior")
    arguments = parser.parse_args()
    batch = decisions(read_analysed(arguments.analysed, SHARED_ANALYSES)).at_depths()
    scale = fit_scale(batch, population(arguments.population))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(scale.to_json(), encoding="utf-8")
    print(scale.to_json())
    print(f"one point of c is {1 / scale.slope:.0f} Elo; the line's sd at 2100 and 2700: ", end="")
    print(f"{scale.line_sd(2100):.0f} and {scale.line_sd(2700):.0f} Elo; written to {TARGET.name}")


def fit_scale(batch: Decisions, people: dict[str, object]) -> Scale:
    """Return the scale of player-games: rows are (game, mover), both rows of a game depend on each other."""
    model = Agent(k=0.1, rule="listed")
    rated = batch.select(pc.is_valid(batch.column("elo")).to_numpy(), reason="no rating")
    table = agent_evidence(rated, model, Grid(), by=["game", "mover"])
    labels, codes = rated.groups(["game", "mover"])
    first = np.unique(codes, return_index=True)[1]
    elo = rated.column("elo").to_numpy()[first].astype(float)
    games = {game: i for i, game in enumerate(dict.fromkeys(game for game, _ in labels))}
    clusters = np.array([games[game] for game, _ in labels])
    line = fit_line(table, elo - ORIGIN, clusters)
    years = [year for year in rated.column("year").to_pylist() if year]
    return Scale(
        name="default",
        provisional=True,
        model=model.about(),
        settings=dict(rated.about["settings"]),
        data=f"{line.games} games between players of equal rating, {min(years)}–{max(years)}, "
        f"{int(table.decisions.sum()):,} decisions",
        pool="FIDE-rated over-the-board games, both players within 15 points of a 100-point milepost",
        origin=ORIGIN,
        intercept=line.intercept,
        slope=line.slope,
        covariance=tuple(tuple(float(x) for x in row) for row in line.covariance),  # type: ignore[arg-type]
        dispersion=max(line.dispersion, 1.0),
        valid=(float(np.round(elo.min(), -2)), float(np.round(elo.max(), -2))),
        population=people,
        fit={
            "log_likelihood": line.log_likelihood,
            "player_games": len(table),
            "unlisted_choices_left_out": table.tally.counts.get("unlisted choice", 0),
            "filters": {"skip_moves": 12, "max_abs_value": 3.0, "mate_cap": 39.0},
        },
    )


def population(path: Path) -> dict[str, object]:
    """Return mean and sd of the last known ratings of the players of a results file."""
    table = pacsv.read_csv(path)
    last: dict[str, tuple[str, float]] = {}
    for side, rating in (("white", "welo"), ("black", "belo")):
        for name, elo, date in zip(*(table[c].to_pylist() for c in (side, rating, "date")), strict=True):
            if elo and str(date) >= last.get(name, ("", 0.0))[0]:
                last[name] = (str(date), float(elo))
    ratings = np.array([elo for _, elo in last.values()])
    return {
        "mean": round(float(ratings.mean()), 1),
        "sd": round(float(ratings.std()), 1),
        "players": len(ratings),
        "source": "last known ratings of the players of rated games 1992–2009",
    }


if __name__ == "__main__":
    main()
