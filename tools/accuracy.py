"""How good the ratings are: coverage of nominal 95 % intervals, bias, width, for every choice-set rule.

    .venv/bin/python tools/accuracy.py --budget 10

Simulated deciders of known c are rated as everybody is; then, where ../shared/data is there, a scale is fitted on one
half of the analysed games and the Elo intervals of the other half are counted. The budget is split over the cells;
each says how many deciders it sampled.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from skilloscope.chess.analysis.analyses import decisions
from skilloscope.chess.analysis.files import read_analysed
from skilloscope.decision import Decisions
from skilloscope.evidence import Grid, Uniform, agent_evidence
from skilloscope.evidence.scales import Scale
from skilloscope.models.agent import Agent, fit_bucket
from skilloscope.papers.harness import SHARED_ANALYSES
from skilloscope.simulate.deciders import cut_lists, simulated_deciders
from spreads import fisher_information

COMPETENCES = (0.5, 1.0, 1.5, 2.5)
ANALYSED = Path(__file__).resolve().parents[2] / "shared" / "data" / "analysed" / "bands_sf151_mpv10_depths.jsonl.gz"


def main() -> None:
    """Print the tables, within the budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=10.0, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    cells = [
        (rule, n, c)
        for rule in ("all listed", "listed", "sampled", "bucket", "full")
        for n in (200, 20_000)
        for c in COMPETENCES
    ]
    seconds = 60 * arguments.budget / (len(cells) + 2)
    print(f"budget {arguments.budget:g} minutes, seed {arguments.seed}, {seconds:.0f} s a cell")
    print("       rule decisions    c deciders  covers  ± 2 sd  bias/sd width/Fisher")
    for rule, n, c in cells:
        simulated_cell(rule, n, c, seconds, np.random.default_rng([arguments.seed, n, int(10 * c)]))
    prior_cell(seconds, np.random.default_rng(arguments.seed))
    if ANALYSED.is_file():
        elo_cells(np.random.default_rng(arguments.seed))
    else:
        print("Elo on real games: ../shared/data is absent")


def simulated_cell(rule: str, n: int, c: float, seconds: float, rng: np.random.Generator) -> None:
    """Print coverage, bias and width of one cell; all rules but the first cut thirty alternatives to ten."""
    alternatives = 10 if rule == "all listed" else 30
    bucket = None
    if rule == "bucket":
        bucket = fit_bucket(cut_lists(simulated_deciders([c], 50_000, alternatives=30, rng=rng), rng=rng))
    model = Agent(rule="listed" if rule == "all listed" else rule, bucket=bucket)
    rows, information = [], []
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        batch = simulated_deciders(np.full(max(1, 20_000 // n), c), n, alternatives=alternatives, rng=rng)
        if rule not in ("all listed", "full"):
            batch = cut_lists(batch, rng=rng)
        if rule in ("all listed", "full", "listed"):
            information.append(fisher_information(batch.select(batch.listed), c) / len(batch.deciders))
        rows.append(estimates(batch, model))
    found = np.concatenate(rows)
    covered = (found[:, 2] <= c) & (c <= found[:, 3])
    noise = 2 * np.sqrt(0.05 * 0.95 / len(found))
    bias = np.mean((found[:, 0] - c) / found[:, 1])
    width = np.mean(found[:, 3] - found[:, 2]) / (3.919928 / np.sqrt(np.mean(information))) if information else np.nan
    print(
        f"{rule:>11} {n:>9,} {c:>4} {len(found):>8,} {covered.mean():>7.3f} {noise:>7.3f} {bias:>8.2f} {width:>12.3f}",
        flush=True,
    )


def prior_cell(seconds: float, rng: np.random.Generator) -> None:
    """Print coverage for twenty decisions with c drawn from the prior."""
    hits, total = 0, 0
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        truth = rng.uniform(0, 4, 500)
        found = estimates(simulated_deciders(truth, 20, rng=rng), Agent())
        hits += int(((found[:, 2] <= truth) & (truth <= found[:, 3])).sum())
        total += 500
    print(f"twenty decisions, c from the prior: {hits / total:.3f} of {total:,} deciders cover")


def estimates(batch: Decisions, model: Agent) -> np.ndarray:
    """Return mean, sd and the 95 % interval of every decider's c."""
    table = agent_evidence(batch, model, Grid())
    posteriors = [table[name].posterior() for name in table]
    return np.array([(p.mean, p.sd, *p.interval()) for p in posteriors])


def elo_cells(rng: np.random.Generator) -> None:
    """Print how often Elo intervals hold the rating of real players, from a scale fitted on the other half."""
    from fit_scale import fit_scale

    batch = decisions(read_analysed(ANALYSED, SHARED_ANALYSES)).at_depths()
    labels, codes = batch.groups("game")
    left = rng.permutation(len(labels)) < len(labels) // 2
    people = {"mean": 2150.0, "sd": 340.0}
    for size in (1, 4):
        inside, widths, errors = [], [], []
        for half in (left, ~left):
            scale = fit_scale(batch.select(half[codes]), people)
            for elo, posterior in held_out(batch.select(~half[codes]), scale, size):
                low, high = posterior.interval()
                inside.append(low <= elo <= high)
                widths.append(high - low)
                errors.append(posterior.mean - elo)
        name = "one player-game" if size == 1 else f"{size} player-games of like rating"
        print(
            f"Elo of {name}, held out, uniform prior 1000 to 3200: {np.mean(inside):.3f} of {len(inside)} cover, "
            f"mean width {np.mean(widths):.0f}, RMSE {np.sqrt(np.mean(np.square(errors))):.0f}"
        )


def held_out(batch: Decisions, scale: Scale, size: int):  # type: ignore[no-untyped-def]
    """Yield the mean rating and the Elo posterior of groups of player-games, neighbours in rating together."""
    table = agent_evidence(batch, Agent(), Grid(), by=["game", "mover"])
    labels, codes = batch.groups(["game", "mover"])
    elo = batch.column("elo").to_numpy()[np.unique(codes, return_index=True)[1]].astype(float)
    order = np.argsort(elo, kind="stable")
    for start in range(0, len(order) - size + 1, size):
        rows = order[start : start + size]
        total = table[labels[rows[0]]]
        for row in rows[1:]:
            total = total + table[labels[row]]
        yield elo[rows].mean(), scale.posterior(total, Uniform(1000, 3200))


if __name__ == "__main__":
    main()
