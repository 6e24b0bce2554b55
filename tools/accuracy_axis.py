"""How good the Elo of the axis is for games of like rating, of people whom neither the network nor the fit has seen.

    .venv/bin/python tools/accuracy_axis.py

For every effort: RMSE, MAE, coverage of the 95 % interval, posterior sd, slope of truth on estimate, for 1, 5 and 18
games of like rating (analysed/, weights cross-fitted by connected players), under the prior of the population and under
the smoothed ratings of the set. accuracy_people.py has the figures of people.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import axis_data
from effects_fitting import KnownPerson
from fit_axis import EFFORT_DEPTHS, weights_of
from model_fits import fit_weights
from skilloscope.evidence.axis import EFFORTS, ELO, Effects, EloAxis, PersonEffect, combined, elo_axis
from skilloscope.models.joint import JointChoices, JointWeights, elo_basis, log_choice

Array = npt.NDArray[np.float64]
_HEAD = f"{'':44s} n     rmse  mae   sd  covers slope  bias"


def main() -> None:
    """Print the tables."""
    axis = elo_axis()
    begin = time.process_time()
    analysed = axis_data.judged(axis_data.analysed())
    seconds = time.process_time() - begin
    moves = len(analysed.moves)
    print(f"axis {axis.name!r}: {axis.data}; human model on {moves:,} moves in {seconds:.0f} CPU-s")
    evidence_alone(axis, analysed)
    for effort in EFFORTS:
        depth = EFFORT_DEPTHS.get(effort, 0)
        print(f"\n{effort} (depth {depth or 'none'})\n{_HEAD}")
        by_band(axis, effort, analysed.at_depth(depth), depth)


def by_band(axis: EloAxis, effort: str, batch: axis_data.JudgedPeople, depth: int) -> None:
    """Print the figures of 1, 5 and 18 player-games of like rating, the weights cross-fitted by connected players."""
    effects = axis.effort(effort).effects
    found = cross_fitted(batch, depth)
    own = smoothed([person.elo for person in found])
    ships = np.asarray(axis.prior().log_density(ELO))
    rng = np.random.default_rng(1)
    strangers = {name: replace(one, person_sd=0.0) for name, one in effects.items()}
    person = axis.effort(effort).person
    for games, sample in ((1, found), (5, alike(found, 5, rng)), (18, alike(found, 18, rng))):
        for name, prior in (("ratings of the set", own), ("population", ships)):
            believed = effects if games == 1 else strangers  # games of many people: what stays with one averages out
            shared = person if games == 1 else None
            show(f"bands, {games} games of like rating, {name}", sample, believed, prior, shared)


def evidence_alone(axis: EloAxis, analysed: axis_data.JudgedPeople) -> None:
    """Print what the opening alone says of one game, and how likely listed moves are under each kind of evidence."""
    games = analysed.at_depth(0).people(each_game=True)
    opening = [KnownPerson(person.elo, {"opening": person.sources["opening"]}) for person in games]
    print(f"\nhuman model, first 12 moves\n{_HEAD}")
    show("bands, 1 game, ratings of the set", opening, axis.effort("instant").effects, smoothed([p.elo for p in games]))
    batch = analysed.at_depth(10)
    print("\nlog-likelihood per listed move, folds by connected players")
    for name, depths, people in (
        ("depth 10", (10,), False),
        ("depths", tuple(range(1, 11)), False),
        ("human+depth10", (10,), True),
        ("human+depths", tuple(range(1, 11)), True),
    ):
        print(f"{name:44s} {listed_likelihood(batch, depths, people):.4f}", flush=True)


def listed_likelihood(batch: axis_data.JudgedPeople, depths: tuple[int, ...], people: bool, folds: int = 5) -> float:
    """Return the mean log-likelihood of the choices among the listed moves, under weights that saw neither player."""
    fold = fold_of_people(batch, folds)
    total, n = 0.0, 0
    for number in range(folds):
        inside = {name for name, own in fold.items() if own == number}
        fitted, elo = listed_only(batch.of(set(fold) - inside), depths, people)
        weights = fit_weights(fitted, elo, elo_basis(elo), depths)
        choices, own = listed_only(batch.of(inside), depths, people)
        found = log_choice(choices, weights, own, elo_basis(own))
        total, n = total + float(found.sum()), n + len(found)
    return total / n


def listed_only(
    batch: axis_data.JudgedPeople, depths: tuple[int, ...], people: bool
) -> tuple[JointChoices, npt.NDArray[np.float64]]:
    """Return the choices among listed moves with the losses of some depths, and who made them, by rating."""
    choices = batch.moves.joint
    assert choices is not None
    kept = choices.listed[choices.offsets[:-1] + choices.chosen]
    some, elo = choices.select(kept), batch.judged_elo[kept]
    before = np.concatenate([[0], np.cumsum(some.listed)])
    first = some.offsets[:-1]
    human = some.human if people else np.zeros_like(some.human)
    place = before[first + some.chosen] - before[first]
    roots = some.roots[:, [depth - 1 for depth in depths]]
    own = some.listed
    return JointChoices(before[some.offsets], place, human[own], roots[own], np.ones(int(own.sum()), dtype=bool)), elo


def cross_fitted(batch: axis_data.JudgedPeople, depth: int, folds: int = 5) -> list[KnownPerson]:
    """Return every player-game, judged by weights that saw neither the player nor anybody he is connected with."""
    if not depth:
        return batch.people(each_game=True)
    fold = fold_of_people(batch, folds)
    found: list[KnownPerson] = []
    for number in range(folds):
        inside = {name for name, own in fold.items() if own == number}
        weights: JointWeights = weights_of([batch.of(set(fold) - inside)], depth)
        found += batch.of(inside).people(weights, each_game=True)
    return found


def fold_of_people(batch: axis_data.JudgedPeople, folds: int) -> dict[str, int]:
    """Return a fold for each person; people who met, and so all who are connected, share one."""
    names = {name: at for at, name in enumerate(sorted({name for name in batch.names if name}))}
    pairs = {(names[name], game) for name, game in zip(batch.names, batch.moves.game.tolist(), strict=True) if name}
    who, game = np.array(sorted(pairs)).T
    size = len(names) + int(game.max()) + 1
    graph = coo_array((np.ones(len(who)), (who, len(names) + game)), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    of_part = np.random.default_rng(0).permutation(int(part.max()) + 1) % folds
    return {name: int(of_part[part[at]]) for name, at in names.items()}


def alike(people: Sequence[KnownPerson], games: int, rng: np.random.Generator) -> list[KnownPerson]:
    """Return people made of so many player-games of one milepost, each game used once."""
    found = []
    post = np.round(np.array([person.elo for person in people]) / 100).astype(int)
    for level in np.unique(post):
        order = rng.permutation(np.flatnonzero(post == level))
        for at in range(0, len(order) - games + 1, games):
            some = [people[place] for place in order[at : at + games]]
            names = {name for person in some for name in person.sources}
            curves = {
                name: np.concatenate([p.sources[name] for p in some if name in p.sources]) for name in sorted(names)
            }
            found.append(KnownPerson(float(np.mean([person.elo for person in some])), curves))
    return found


def smoothed(elos: Sequence[float], sd: float = 100.0) -> Array:
    """Return the log-density of the ratings of a set, smoothed."""
    steps = (ELO[:, None] - np.asarray(elos)[None, :]) / sd
    return np.asarray(np.log(np.exp(-0.5 * steps**2).sum(axis=1) + np.finfo(float).tiny))


def show(
    name: str,
    people: Sequence[KnownPerson],
    effects: Mapping[str, Effects],
    prior: Array,
    shared: PersonEffect | None = None,
) -> None:
    """Print one row."""
    logs = np.array([combined(person.sources, effects, shared) for person in people]) + prior
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    density /= density.sum(axis=1, keepdims=True)
    truth, mean = np.array([person.elo for person in people]), density @ ELO
    sd = np.sqrt(np.maximum(density @ ELO**2 - mean**2, 0))
    below = np.cumsum(density, axis=1) - density / 2
    place = np.array([np.interp(elo, ELO, row) for elo, row in zip(truth, below, strict=True)])
    covers = float(((place > 0.025) & (place < 0.975)).mean())
    error = mean - truth
    slope = float(np.polyfit(mean, truth, 1)[0]) if len(people) > 2 else float("nan")
    rmse, mae = np.sqrt((error**2).mean()), np.abs(error).mean()
    figures = f"{rmse:5.0f} {mae:4.0f} {sd.mean():4.0f}   {covers:.3f}  {slope:4.2f} {error.mean():+5.0f}"
    print(f"{name:44s} {len(people):4d} {figures}", flush=True)


if __name__ == "__main__":
    main()
