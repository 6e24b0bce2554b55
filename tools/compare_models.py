"""Which model says best what people play: held-out log-likelihood per move, the same decisions and rule for all.

    .venv/bin/python tools/compare_models.py ../shared/data/analysed/bands_sf151_mpv10_depths.jsonl.gz --budget 60

In: games of rated players with every alternative valued at every depth. Out: one table. The rule is `listed`; games
are dealt into five folds, and every move is judged by a fit that has not seen its game. Each model stands there
with one s and c for everybody, and with both as lines in Elo. The last column is the gain on the agent (k = 0.1, one
c), with its standard error over games. Models that no longer fit into the budget (minutes of CPU) are named.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from curve_scale import lines_log_p
from skilloscope.chess.analysis.analyses import decisions
from skilloscope.chess.analysis.files import read_analysed
from skilloscope.decision import Decisions
from skilloscope.models.curves import CURVES, MAPPINGS, CurveColumns, CurveModel
from skilloscope.models.kernels.curves import scores
from skilloscope.papers.harness import SHARED_ANALYSES
from skilloscope.papers.rh11 import fit_lines
from skilloscope.ratings.curve_fits import fit_curves
from swing import Swing, unseen_log_p

FOLDS = 5
ALL = tuple(range(1, 11))
Judge = Callable[[], np.ndarray]


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analysed", type=Path)
    parser.add_argument("--budget", type=float, default=60.0, metavar="MINUTES", help="of CPU time")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    batch = decisions(read_analysed(arguments.analysed, SHARED_ANALYSES))
    usable = batch.select(batch.listed & (batch.counts > 1))
    games = usable.groups("game")[1]
    fold = np.random.default_rng(arguments.seed).permutation(int(games.max()) + 1)[games] % FOLDS
    left_out = f"{len(batch) - len(usable)} unlisted choices"
    print(f"{len(usable):,} decisions, {int(games.max()) + 1} games; left out: {left_out}")
    print("| model | scaling | log-likelihood per move | gain on the agent |\n|---|---|---|---|")
    base, late = None, []
    for name, scaling, judge in models(usable, fold, arguments.seed):
        if time.process_time() > 60 * arguments.budget:
            late.append(f"{name} ({scaling})")
            continue
        log_p = judge()
        base = log_p if name.startswith("agent, k = 0.1, one c") else base
        gain = "" if base is None else difference(log_p, base, games)
        print(f"| {name} | {scaling} | {log_p.mean():.4f} | {gain} |", flush=True)
    print(f"not within {arguments.budget:g} minutes: {', '.join(late)}" if late else "all within the budget")


def difference(log_p: np.ndarray, base: np.ndarray, games: np.ndarray) -> str:
    """Return the mean gain with its standard error over games."""
    gain = log_p - base
    sums = np.bincount(games, gain - gain.mean())
    return f"{gain.mean():+.4f} ± {np.sqrt((sums**2).sum()) / len(gain):.4f}"


def models(batch: Decisions, fold: np.ndarray, seed: int) -> Iterator[tuple[str, str, Judge]]:
    """Yield every model with what judges all moves by it."""
    flat = batch.at_depths()
    yield "uniform", "none", lambda: -np.log(flat.counts)
    agent = CurveModel(curve="ipb", scaling=0.0)
    columns = agent.columns(flat)[0]
    x = (flat.column("elo").to_numpy().astype(float) - 2100) / 100
    for lines in (False, True):
        what = "c a line in Elo" if lines else "one c"
        yield f"agent, k = 0.1, {what}", "none", lambda n=lines: agents(columns, fold, x, fixed=True, lines=n)
        yield f"agent, k fitted, {what}", "none", lambda n=lines: agents(columns, fold, x, fixed=False, lines=n)
    for a in (0.0, 1.0):
        for mapping in MAPPINGS:
            for curve in CURVES:
                model = CurveModel(mapping, curve, scaling=a)
                own = model.columns(flat)[0]
                said = f"a = {a:g}" if a else "none"
                yield f"{model.name}, one s and c", said, lambda m=model, o=own: one_for_all(o, m, fold)
                yield f"{model.name}, lines in Elo", said, lambda m=model, o=own: in_elo(o, m, fold, x)
    for swing in swings():
        elo = "" if swing.by_elo else ", without Elo"
        name = f"{swing.name}{elo}"
        yield name, f"a = {swing.scaling:g}", lambda m=swing: unseen_log_p(batch, m, folds=FOLDS, seed=seed)


def swings() -> Iterator[Swing]:
    """Yield the combinations of curves at one depth, and the swings over several."""
    yield Swing(curves=("invexp", "ipb"))
    yield Swing(curves=("invexp", "invexp"))
    for depths in ((6, 10), (2, 4, 6, 8, 10), ALL):
        for blend in ("sum", "product", "both"):
            yield Swing(depths, blend=blend)
    yield Swing(ALL, blend="product", by_elo=False)
    for depths in ((10,), (6, 10), (2, 4, 6, 8, 10), ALL):  # the simple log-linear version, to be beaten
        yield Swing(depths, blend="product", exponent=0.5, penalty=False)


def across(fold: np.ndarray, judged: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return log p of every move, each fold by what the others give."""
    out = np.empty(len(fold))
    for one in range(FOLDS):
        rest, own = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
        out[own] = judged(rest, own)
    return out


def one_for_all(columns: CurveColumns, model: CurveModel, fold: np.ndarray) -> np.ndarray:
    """Judge by one s and c."""

    def judged(rest: np.ndarray, own: np.ndarray) -> np.ndarray:
        fit = fit_curves(columns.take(rest), model)
        return scores(columns.take(own), model.mapping, model.curve, np.log(fit.s), fit.c).log_p

    return across(fold, judged)


def in_elo(columns: CurveColumns, model: CurveModel, fold: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Judge by log s and c as lines in Elo."""
    design = np.column_stack([np.ones_like(x), x])

    def judged(rest: np.ndarray, own: np.ndarray) -> np.ndarray:
        beta, _, _ = fit_lines(columns.take(rest), model, design[rest], design[rest])
        return lines_log_p(columns.take(own), model, design[own], beta)

    return across(fold, judged)


def agents(columns: CurveColumns, fold: np.ndarray, x: np.ndarray, *, fixed: bool, lines: bool) -> np.ndarray:
    """Judge by the agent: shares with ipb, s = k for all, c one or a line."""

    def judged(rest: np.ndarray, own: np.ndarray) -> np.ndarray:
        train = columns.take(rest)

        def at(v: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
            return float(v[0]), v[1] + v[2] * x[rows] * lines

        def cost(v: np.ndarray) -> tuple[float, np.ndarray]:
            found = scores(train, "shares", "ipb", *at(v, rest))
            by_k = 0.0 if fixed else found.by_log_s.sum()
            slopes = [by_k, found.by_c.sum(), (found.by_c * x[rest]).sum() * lines]
            return -found.log_p.sum() / len(rest), -np.array(slopes) / len(rest)

        fit = minimize(cost, [np.log(0.1), 1.2, 0.0], jac=True, method="L-BFGS-B")
        return scores(columns.take(own), "shares", "ipb", *at(fit.x, own)).log_p

    return across(fold, judged)


if __name__ == "__main__":
    main()
