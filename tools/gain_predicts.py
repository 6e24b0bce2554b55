"""Does gain predict? Elo from one game by each method, on the same analysed games of rated players.

    cd tools && ../.venv/bin/python gain_predicts.py

In: the analysed games of rated players in ../shared/data, ten moves listed to depth 10 in every position after the
opening, and people of two tournaments. Out: one table, and a line on people. Each method makes one number of a player's
moves in one game; a line from that number to Elo is fitted to nine tenths of the games and tried on the rest. The Elo
axis was fitted to other people.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr

from axis_data import analysed, persons
from skilloscope.chess.analysis.analyses import Analyses, decisions
from skilloscope.chess.analysis.evaluations import evaluations_from_analyses
from skilloscope.chess.human.played import move_evidence, played_moves
from skilloscope.core.columns import encode
from skilloscope.evidence import agent_evidence
from skilloscope.evidence.axis import elo_axis
from skilloscope.models.agent import Agent
from skilloscope.models.gain import PEAK, GainHistogram, move_scores
from skilloscope.ratings.gain_table import GainTable

FOLDS = 10
FEWEST = 10
Numbers = dict[tuple[str, str], float]


def main() -> None:
    """Compute every method, and print the table."""
    analyses = analysed().analyses
    assert analyses is not None
    found = {**by_gain(analyses), "agent": by_agent(analyses), **by_axis(analyses)}
    ratings = rating_of(analyses)
    shared = sorted(set.intersection(*(set(own) for own in found.values())) & set(ratings))
    elo = np.array([ratings[key] for key in shared])
    games, fold = encode([key[0] for key in shared])
    print(
        f"{len(shared)} player-games of {len(games)} games, Elo {elo.min():.0f} to {elo.max():.0f}, sd {elo.std():.0f}"
    )
    for name, own in found.items():
        x = np.array([own[key] for key in shared])
        rank = spearmanr(x, elo).statistic
        print(f"{name:14s} rank correlation {rank:.3f}, RMSE {held_out_rmse(x, elo, fold % FOLDS):.0f}")
    what_intervals_leave_out()


def what_intervals_leave_out() -> None:
    """Print how far people of known rating are from the line that their ratings give, beyond their own intervals.

    Only their own moves are analysed there, so a gain is the value of the move played less that of the best one listed,
    both of one search, and everybody is compared with all of them together.
    """
    analyses = persons().analyses
    assert analyses is not None
    batch = decisions(analyses, all_depths=False)
    batch = batch.select(batch.listed)
    game = encode(batch.context.column("game").to_pylist())[1]
    own = [(name, at) for at, name in enumerate(batch.deciders) if (batch.decider == at).sum() >= FEWEST]
    gain, size = -batch.chosen_loss(), len(batch.deciders)
    group = np.concatenate([batch.decider, np.full(len(gain), size)])
    table = GainTable.from_gains(np.tile(gain, 2), group, np.tile(game, 2))
    who = np.array([at for _, at in own])
    who = who[table.games_of_group[who] >= 2]
    elo = batch.context.column("elo").to_numpy()
    rating = np.array([np.nanmean(elo[batch.decider == at]) for at in who])
    lead, slopes = table.leads(who, np.full(len(who), size), "normal")
    low, high, sd = slopes.interval(lead, 0.95)
    slope, at_zero = np.polyfit(rating, lead, 1)
    line = slope * rating + at_zero
    apart = rating - rating.mean()
    beyond = np.sqrt(max(0.0, np.mean((lead - line) ** 2) - np.mean(sd**2)))
    print(
        f"{len(who)} people, {table.games_of_group[who].mean():.1f} games each: difference to all of them by gain "
        f"grows by {slope:.3f} a point of rating; sd over games {np.sqrt(np.mean(sd**2)):.0f}, "
        f"of people beyond that {beyond:.0f}; "
        f"95 % intervals hold the line at the rating for {np.mean((low <= line) & (line <= high)):.3f}, "
        f"the rating's own difference to the mean for {np.mean((low <= apart) & (apart <= high)):.3f}"
    )


def by_gain(analyses: Analyses) -> dict[str, Numbers]:
    """Return the mean gain, and the expected score against the engine, by a single peak and by its agreed moves."""
    losses = evaluations_from_analyses(analyses).losses()
    keys = list(zip(*(losses.context.column(name).to_pylist() for name in ("game", "mover")), strict=True))
    names, code = encode([f"{game}\t{mover}" for game, mover in keys])
    agreed = losses.gain[losses.context.column("first_choice").fill_null(False).to_numpy()]
    print(
        f"mean gain {losses.gain.mean():.3f} of {len(losses)} moves, {agreed.mean():.3f} of {len(agreed)} agreed ones"
    )
    n = np.bincount(code)
    columns = {
        "mean gain": losses.gain,
        "gain, peak": move_scores(losses.gain, PEAK),
        "gain, agreed": move_scores(losses.gain, GainHistogram.from_gains(agreed)),
    }
    means = {name: np.bincount(code, column) / n for name, column in columns.items()}
    return {
        name: {_key(names[at]): float(own[at]) for at in np.flatnonzero(n >= FEWEST)} for name, own in means.items()
    }


def by_agent(analyses: Analyses) -> Numbers:
    """Return the agent's competence, as the papers have it."""
    batch = decisions(analyses, all_depths=False)
    keys = zip(*(batch.context.column(name).to_pylist() for name in ("game", "mover")), strict=True)
    names, codes = encode([f"{game}\t{mover}" for game, mover in keys])
    table = agent_evidence(replace(batch, deciders=names, decider=codes), Agent(k=0.1), by="decider")
    return {_key(str(name)): table[name].posterior().mean for name in table}


def by_axis(analyses: Analyses) -> dict[str, Numbers]:
    """Return Elo on the axis, by what people play alone and with the engine's answers."""
    axis, games = elo_axis(), analyses.games
    moves = played_moves(games)
    ids = games.headers["game"].to_pylist()
    labels = [(ids[game], "black" if black else "white") for game, black in zip(moves.game, moves.black, strict=True)]
    found: dict[str, Numbers] = {}
    for effort in ("instant", "full"):
        weights = axis.effort(effort).weights
        judged = moves if weights is None else moves.with_engine(analyses, len(weights.depths))
        table = move_evidence(judged, labels, weights=weights, opening_moves=axis.opening_moves)
        found["human" if weights is None else "joint"] = {
            name: axis.posterior(table.curves_of(name), effort, axis.prior()).mean for name in table
        }
    return found


def _key(label: str) -> tuple[str, str]:
    game, _, side = label.partition("\t")
    return game, side


def rating_of(analyses: Analyses) -> Numbers:
    """Return the ratings in the headers."""
    headers = analyses.games.headers
    found = {}
    for side in ("white", "black"):
        for game, elo in zip(headers["game"].to_pylist(), headers[f"{side}_elo"].to_pylist(), strict=True):
            if elo is not None:
                found[game, side] = float(elo)
    return found


def held_out_rmse(x: np.ndarray, elo: np.ndarray, fold: np.ndarray) -> float:
    """Return the error of a line from x to Elo on games that it was not fitted to."""
    error = np.empty(len(x))
    for one in range(FOLDS):
        new = fold == one
        slope, at_zero = np.polyfit(x[~new], elo[~new], 1)
        error[new] = slope * x[new] + at_zero - elo[new]
    return float(np.sqrt(np.mean(error**2)))


if __name__ == "__main__":
    main()
