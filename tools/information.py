"""What a search is worth: information about Elo by depth, and in positions where people agree what to play.

    cd tools && python information.py

In: ../shared/data/analysed, persons and measurements/people_depth10_sf151.parquet; one search holds all its depths. The
weights of each depth are fitted to the first and the last, without adjustments; information is that of persons/, whom
nothing was fitted to: how sharply the log-likelihood of their moves after the twelfth bends at the true rating, a game.
Seconds are those of a search of 150 of these positions to that depth alone, with ten lines.
"""

from __future__ import annotations

import time

import numpy as np

import axis_data
from fit_axis import weights_of
from skilloscope.chess.engine.engine import Engine, find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.models.joint import JointChoices, JointWeights, elo_basis, log_choice, log_people

DEPTHS = (2, 4, 5, 6, 7, 8, 9, 10)
AGREED = (0.5, 0.7, 0.8, 0.9, 0.95)
TIMED = 150
_STEP = 60.0


def main() -> None:
    """Print both tables."""
    fitted = [axis_data.judged(known) for known in (axis_data.analysed(), axis_data.people())]
    persons = axis_data.judged(axis_data.persons())
    elo = persons.at_depth(10).judged_elo
    alone = bend(without_engine(persons.at_depth(10).moves.joint), JointWeights((), ()), elo)
    found = {}
    for depth in DEPTHS:
        joint = persons.at_depth(depth).moves.joint
        assert joint is not None
        weights = weights_of([batch.at_depth(depth) for batch in fitted], depth)
        found[depth] = bend(joint, weights, elo), log_choice(joint, weights, elo, elo_basis(elo)).mean()
    games = len(set(zip(persons.names, persons.moves.game.tolist(), strict=True)))
    full, seconds = found[10][0].sum(), seconds_by_depth(persons)
    print(f"{len(elo):,} moves of {games} player-games\ndepth  log p  sd of a game  of full's  seconds  of full's")
    print(f"    0         {sd(alone, games):12.0f} {alone.sum() / full:9.2f}")
    for depth, (own, log_p) in found.items():
        share = own.sum() / full, seconds[depth] / seconds[10]
        print(f"{depth:5d} {log_p:7.3f} {sd(own, games):12.0f} {share[0]:9.2f} {seconds[depth]:9.3f} {share[1]:9.2f}")
    print("likeliest move at least  positions  information of full's there  without an engine there")
    joint = persons.at_depth(10).moves.joint
    assert joint is not None
    top = np.exp(np.maximum.reduceat(log_people(joint, elo_basis(elo)), joint.offsets[:-1]))
    for least in AGREED:
        inside = top >= least
        shares = inside.mean(), found[10][0][inside].sum() / full, alone[inside].sum() / full
        print(f"{least:23.2f} {shares[0]:10.3f} {shares[1]:29.3f} {shares[2]:24.3f}")


def bend(joint: JointChoices | None, weights: JointWeights, elo: np.ndarray) -> np.ndarray:
    """Return how sharply the log-likelihood of each move bends at the true rating."""
    assert joint is not None
    low, middle, high = (log_choice(joint, weights, e, elo_basis(e)) for e in (elo - _STEP, elo, elo + _STEP))
    return np.asarray(2 * middle - low - high) / _STEP**2


def without_engine(joint: JointChoices | None) -> JointChoices:
    """Return the same choices with no loss known."""
    assert joint is not None
    every = np.ones(len(joint.listed), dtype=bool)
    return JointChoices(joint.offsets, joint.chosen, joint.human, joint.roots[:, :0], every)


def sd(information: np.ndarray, games: int) -> float:
    """Return the standard deviation of Elo from one game with that information."""
    return float(np.sqrt(games / information.sum()))


def seconds_by_depth(persons: axis_data.JudgedPeople) -> dict[int, float]:
    """Return the seconds of a search to each depth alone, a position."""
    assert persons.analyses is not None
    fens = np.random.default_rng(1).choice(persons.analyses.positions.fen.to_pylist(), TIMED, replace=False).tolist()
    found = {}
    for depth in DEPTHS:
        with Engine(find_engine(), Settings(depth=depth)) as engine:
            begin = time.process_time() + _children()
            for fen in fens:
                engine.analyse(fen)
        found[depth] = (time.process_time() + _children() - begin) / TIMED
    return found


def _children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
