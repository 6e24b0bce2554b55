"""Check `skilloscope screen` on real people: are flags as rare as promised, at every rating, and is power as promised?

    .venv/bin/python tools/check_screen.py [--effort full|quick|instant] [--kept FOLDER] [--power] [--folds 4]

In: ../shared/data, measurements/ and what ships. With an engine each person is judged by a baseline fitted to people of
other events (`--folds`). Without: people of data/people in the same way, and people of human/ by a baseline of others.
`--power` prints what is detected of simulated help in real games, by kind of help and number of games, next to what the
power table promises, under the baseline that ships.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, false_discovery_control, norm

from fit_screen import fitted, weights_of
from screen_people import People, engine_people, instant_people
from skilloscope.models.joint import JointWeights
from skilloscope.studies.screen.baseline import Baseline, group_sums, shipped_baseline
from skilloscope.studies.screen.own import OwnStrength
from skilloscope.studies.screen.power import HELP, helped_moves, simulated_power
from skilloscope.studies.screen.statistics import ENGINE, STRONGER

LEVELS = (0.05, 0.01, 0.001)
BAND = 400
GAMES = (1, 4, 8)
REPEATED = 8

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Normal scores of player-events by number, with ratings."""

    elo: Array
    z: dict[str, Array]


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", default="full", choices=["full", "quick", "instant"])
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--model", action="store_true", help="only what the joint model plays and what people play")
    asked = parser.parse_args()
    weights = weights_of(asked.effort)
    if asked.model and weights is not None:
        print("\n".join(played_and_expected(engine_people(asked.effort, weights, asked.kept))))
        return
    if asked.power and weights is not None:
        print_power(engine_people(asked.effort, weights, asked.kept), shipped_baseline(asked.effort))
        return
    if weights is None:
        people = instant_people("fit", asked.kept)
        judged = [*folds(people, asked.effort, None, asked.folds)]
        judged.append((instant_people("report", asked.kept), fitted(people, asked.effort, None)))
    else:
        judged = [*folds(engine_people(asked.effort, weights, asked.kept), asked.effort, weights, asked.folds)]
    found = [scores(people, baseline) for people, baseline in judged]
    elo = np.concatenate([one.elo for one in found])
    for name in found[0].z:
        print(f"\n{asked.effort}, {name}: {len(elo)} player-events")
        print("\n".join(lines(elo, np.concatenate([one.z[name] for one in found]))), flush=True)


def folds(people: People, effort: str, weights: JointWeights | None, of: int) -> Iterator[tuple[People, Baseline]]:
    """Give people with baselines fitted to people of other events."""
    names, code = np.unique(people.events.astype(str), return_inverse=True)
    fold = np.random.default_rng(3).permutation(len(names))[code] % of
    for number in range(of):
        out = fold == number
        baseline = fitted(people.take(~out), effort, weights)
        print(f"fold {number}: {baseline.data}; {baseline.strength}", flush=True)
        yield people.take(out), baseline


def scores(people: People, baseline: Baseline) -> Scores:
    """Return the normal scores that a screening of these people shows."""
    n = people.size
    alone = np.arange(n)
    z = {name: group_sums(people.moves, name, people.group, alone, baseline).z for name in people.moves.statistics}
    if people.moves.choices is not None:
        own = [OwnStrength.of(moves, baseline) for moves in apart(people)]
        z[ENGINE] = np.array([one.played(moves)[0] for one, moves in zip(own, apart(people), strict=True) if one])
    return Scores(people.elo, z)


def apart(people: People) -> Iterator[object]:
    """Give the moves of one person after the other."""
    for row in range(people.size):
        yield people.moves.take(people.group == row)


def lines(elo: Array, z: Array) -> list[str]:
    """Return how rare flags are, in all and by rating: shares with Poisson intervals, the mean of z, the least q."""
    found = []
    for low in (0, *range(1000, 2800, BAND)):
        own = z[(elo >= low) & ((elo < low + BAND) | (low == 0))]
        own = own[np.isfinite(own)]
        if len(own) < 20:
            continue
        p = norm.sf(own)
        shares = ", ".join(share(int((p < level).sum()), len(p), level) for level in LEVELS)
        q = false_discovery_control(p).min()
        error = own.std() / np.sqrt(len(own))
        where = "all" if low == 0 else f"{low} to {low + BAND - 1}"
        found.append(
            f"{where:14s} n {len(own):5d}, mean z {own.mean():+.3f} ± {error:.3f}, sd {own.std():.3f}, {shares}; "
            f"least q {q:.3f}, |z| beyond 2.5: {np.mean(np.abs(own) > 2.5):.4f}"
        )
    return found


def played_and_expected(people: People) -> list[str]:
    """Return what the joint model, by which simulated people choose, plays over what people play in their positions.

    The model was fitted to other people; the errors are those of sums over people.
    """
    found = []
    for low in range(1200, 2800, BAND):
        own = (people.elo >= low) & (people.elo < low + BAND)
        cells = []
        for name in ("match", "loss", "blunders"):
            one = people.moves.statistics[name]
            actual, mean = (np.abs(np.bincount(people.group, column)[own]) for column in (one.actual, one.draws.mean))
            ratio = mean.sum() / actual.sum()
            error = np.sqrt(((mean - ratio * actual) ** 2).sum()) / actual.sum()
            cells.append(f"{name} {ratio - 1:+.1%} ± {error:.1%}")
        found.append(f"{low} to {low + BAND - 1}: {own.sum()} people, model over people: {', '.join(cells)}")
    return found


def share(k: int, n: int, level: float) -> str:
    """Return a share with its Poisson interval."""
    low = 0.5 * chi2.ppf(0.025, 2 * k) / n if k else 0.0
    high = 0.5 * chi2.ppf(0.975, 2 * k + 2) / n
    return f"p<{level:g} {k / n:.4f} ({low:.4f} to {high:.4f})"


def print_power(people: People, baseline: Baseline, seed: int = 7) -> None:
    """Print what is detected of help in real games next to what is promised, by kind of help and number of games."""
    for games in GAMES:
        seen: dict[tuple[str, str], list[float]] = {}
        promised: dict[tuple[str, str], list[float]] = {}
        count = 0
        for row in range(people.size):
            moves = people.moves.take(people.group == row)
            own_games = np.unique(moves.game)
            if len(own_games) >= games:
                count += 1
                rng = np.random.default_rng([seed, games, row])
                one_person(moves.take(np.isin(moves.game, own_games[:games])), baseline, rng, seen, promised)
        print(f"\n{games} games, {count} people, p ≤ 0.01: seen / promised")
        for kind in HELP:
            cells = [
                f"{name} {np.mean(seen[kind, name]):.3f} / {np.mean(promised[kind, name]):.3f}"
                for name in (ENGINE, STRONGER)
            ]
            print(f"  {kind:32s} {'   '.join(cells)}", flush=True)


def one_person(moves, baseline, rng, seen, promised) -> None:  # type: ignore[no-untyped-def]
    """Add what is seen of one person's games with help, and what is promised."""
    own = OwnStrength.of(moves, baseline)
    if own is None or len(moves) < 10:
        return
    group, row = np.zeros(len(moves), dtype=np.int64), np.zeros(1, dtype=np.int64)
    sums = {name: group_sums(moves, name, group, row, baseline) for name in moves.statistics}
    first, chosen = own.offsets[:-1], moves.choices.chosen
    stronger, draws = sums[STRONGER], moves.statistics[STRONGER].draws
    for kind, help_ in HELP.items():
        helped = helped_moves(moves, help_, REPEATED, rng)
        places = first + np.where(helped, moves.helpers[:, help_.helper], chosen)
        z = {
            ENGINE: own.z(places)[0],
            STRONGER: stronger.table.of(0, draws.x[places].sum(axis=1) - stronger.expected[0]),
        }
        for name, scores_ in z.items():
            seen.setdefault((kind, name), []).append(float((norm.sf(scores_) <= 0.01).mean()))
    for found in simulated_power(moves, sums, 0, own, baseline, rng=rng, repeated=50).rows:
        if found.level == 0.01 and found.statistic in (ENGINE, STRONGER):
            promised.setdefault((found.help, found.statistic), []).append(found.seen)


if __name__ == "__main__":
    main()
