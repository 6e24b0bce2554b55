"""How good the Elo of the axis is, on people whom the network has not seen: docs/accuracy.md, "One person".

    .venv/bin/python tools/accuracy_people.py [--kept FOLDER] [--folds 4]

Three sets. People of many events, each judged by effects and a prior fitted to people of other events; the people of
two strong opens (persons/), whom nothing was fitted to, as the axis ships; and people with forty games within 120 Elo.
For every figure an error of one standard deviation over people, and for the prior that ships the figures of each 200
Elo with at least 20 people. Beside it, like for like: the mean of the population, the opponents' ratings alone, and the
moves under the prior of the population.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import axis_data
from fit_people import (
    DEPTHS,
    HEAD,
    Estimates,
    Fitted,
    PlayerGames,
    Sample,
    effort_of,
    evidence,
    known_opponents,
    own_rows,
    parts_of,
    used,
)
from skilloscope.evidence.axis import elo_axis


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, help="a folder that keeps the curves of the moves")
    parser.add_argument("--folds", type=int, default=4)
    asked = parser.parse_args()
    opponents, alone = known_opponents(), parts_of("instant", asked.kept)
    for name in DEPTHS:
        effort = effort_of(name, opponents, elo_axis(), asked.kept)
        show(f"{name}, people of many events, held out", effort.held_out(asked.folds))
        if name != "instant":
            evenly = effort.held_out(asked.folds, 1)
            show(f"{name}, as many people of each 100 Elo, held out", evenly)
            show("the same, weighted as the ratings of all are", {n: like(e, alone[0]) for n, e in evenly.items()})
        path = None if asked.kept is None else asked.kept / f"persons-{name}.npz"
        show(f"{name}, two strong opens, as it ships", as_it_ships(evidence(axis_data.persons(), name, path), name))
    path = None if asked.kept is None else asked.kept / "many-instant.npz"
    many = evidence(axis_data.forty_games(), "instant", path)
    show("instant, forty games of one person, as it ships", as_it_ships(many, "instant", sizes=(1, 10, 20, 40)))


def like(found: Estimates, everybody: PlayerGames) -> Estimates:
    """Return people weighted so that their ratings are spread as those of everybody are."""
    ratings = everybody.elo[[rows[0] for rows in own_rows(everybody)]]
    there, here = (np.bincount((elo // 200).astype(np.int64), minlength=20) for elo in (ratings, found.elo))
    return replace(found, weight=(there / np.maximum(here, 1))[(found.elo // 200).astype(np.int64)])


def as_it_ships(games: PlayerGames, name: str, sizes: tuple[int, ...] = (1, 4, 7)) -> dict[str, Estimates]:
    """Return posteriors by the axis that ships."""
    axis = elo_axis()
    effort = axis.effort(name)
    assert effort.person is not None
    assert axis.opponents is not None
    fit = Fitted(effort.effects, effort.person)
    found = {}
    for size in sizes:
        sample = Sample.of(games, size, axis.opponents)
        for label, logs in used(sample, fit).items():
            found[f"{size} game{'s' * (size > 1)}, {label}"] = Estimates(sample.elo, logs)
    return found


def show(title: str, found: dict[str, Estimates]) -> None:
    """Print a table."""
    print(f"\n{title}\n{HEAD}")
    for label, one in found.items():
        print("\n".join(one.row(label, bands=label.endswith("and results"))), flush=True)


if __name__ == "__main__":
    main()
