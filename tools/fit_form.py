"""Fit how far a player's Elo moves from game to game (FORM), on people whom the network has not seen.

    .venv/bin/python tools/fit_form.py [--shared DATA] [--kept FOLDER] [--people 120]

In: ../shared/data, people of many events by what people play alone (`instant`), and persons/ with the engine (`full`).
For each sd of form the log-likelihood of every game of a person, given the person's other games:

    usual ~ prior · Π_j (L_j ∗ N(0, form²)),   log ∫ L_i(E)·(usual ∗ N(0, form²))(E) dE

L are the curves of games as the moves give them, before any tempering. Printed are the sums over two halves of the
people, with errors over people of the difference to the best.
"""

import argparse
from pathlib import Path

import numpy as np

import axis_data
from fit_people import GRID, STEP, Array, PlayerGames, evidence
from skilloscope.evidence.axis import blurred, elo_axis

FORMS = (0, 25, 50, 75, 90, 100, 125, 150, 175, 200, 250)
LEAST = 4


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=axis_data.SHARED)
    parser.add_argument("--kept", type=Path, help="a folder that keeps the curves of the moves")
    parser.add_argument("--people", type=int, default=120, help="how many of the people of many events")
    asked = parser.parse_args()
    axis_data.SHARED = asked.shared
    paths = {name: None if asked.kept is None else asked.kept / f"form-{name}.npz" for name in ("instant", "full")}
    table = np.load(asked.shared / "people" / "games.npz")
    some = np.random.default_rng(1).permutation(np.unique(table["person"]))[: asked.people]
    rows = np.flatnonzero(np.isin(table["person"], some))
    show(
        "instant",
        evidence(axis_data.people_of_events(rows), "instant", paths["instant"], table["event"][rows].tolist()),
    )
    show("full", evidence(axis_data.persons(), "full", paths["full"]))


def show(name: str, games: PlayerGames) -> None:
    """Print the likelihoods of both halves of the people, and of all."""
    people = np.random.default_rng(2).permutation(np.unique(games.person))
    found = np.array([likelihoods(games.take(np.flatnonzero(games.person == who))) for who in people])
    half = len(people) // 2
    for label, part in (("first half", found[:half]), ("second half", found[half:]), ("all", found)):
        part = part[~np.isnan(part).any(axis=1)]
        best = int(part.sum(axis=0).argmax())
        print(f"{name}, {label}, {len(part)} people: best {FORMS[best]}")
        for at, form in enumerate(FORMS):
            apart = part[:, at] - part[:, best]
            print(f"  {form:3d}  {apart.sum():+7.2f} ± {apart.std() * len(apart) ** 0.5:.2f}")


def likelihoods(own: PlayerGames) -> Array:
    """Return the log-likelihood of one person's games, each given the others, by the sd of form; NaN for few games."""
    axis = elo_axis()
    if len(own.elo) < LEAST or axis.opponents is None:
        return np.full(len(FORMS), np.nan)
    prior = axis.opponents.prior(own.opponent[np.isfinite(own.opponent)])
    before = np.nan_to_num(np.asarray(prior.log_density(GRID)), neginf=-1e9)
    curves = np.sum([*own.curves.values()], axis=0)
    found = np.zeros(len(FORMS))
    for at, form in enumerate(FORMS):
        wide = blurred(curves, form, STEP)
        for game, curve in enumerate(curves):
            usual = blurred(before + np.delete(wide, game, 0).sum(axis=0), form, STEP)
            p = np.exp(usual - usual.max())
            found[at] += np.log(np.exp(curve - curve.max()) @ (p / p.sum())) + curve.max()
    return found


if __name__ == "__main__":
    main()
