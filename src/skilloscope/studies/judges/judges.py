"""Two judges of the same choices: which values explain better what people chose, and by how much.

In: two tables of the same decisions, or one with a depth axis. Out: for each judge its fitted k and the held-out
log-likelihood per decision, the difference with an interval, and what was left out, as one dict.

Both are scored on the same event: the same decisions, the same alternatives (those that both judges list), the same
folds, k fitted for each without the fold that it is scored on. The interval resamples whole games.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skilloscope.core.checks import check_mass
from skilloscope.core.errors import OptionError
from skilloscope.decision import Decisions
from skilloscope.decision.align import align, depth_pair
from skilloscope.inference import evidence
from skilloscope.inference.held_out import HeldOut, folds_of
from skilloscope.inference.k import KFit, fitted_and_held_out
from skilloscope.models.agent import Agent

SCHEMA = 1
_RULE = "listed"  # over the alternatives that both list, it is the only rule that both can be scored by


def compare_judges(
    first: Decisions,
    second: Decisions,
    names: tuple[str, str] = ("first", "second"),
    *,
    by: str | None = None,
    folds: int = 5,
    seed: int = 1,
    mass: float = 0.95,
) -> dict[str, Any]:
    """Return the report on two tables of the same choices; decisions are matched by identity, alternatives by name."""
    return _report(align(first, second), names, by, folds, seed, mass)


def compare_depths(
    batch: Decisions,
    depths: tuple[int, int],
    *,
    by: str | None = None,
    folds: int = 5,
    seed: int = 1,
    mass: float = 0.95,
) -> dict[str, Any]:
    """Return the report on two depths of one judge."""
    if depths[0] == depths[1]:
        raise OptionError(f"two depths are compared, got {depths[0]} twice")
    names = (f"depth {depths[0]}", f"depth {depths[1]}")
    return _report(depth_pair(batch, *depths), names, by, folds, seed, mass)


def _report(
    pair: tuple[Decisions, Decisions], names: tuple[str, str], by: str | None, folds: int, seed: int, mass: float
) -> dict[str, Any]:
    check_mass(mass)
    split = folds_of(pair[0], by, folds=folds, seed=seed)
    found = [fitted_and_held_out(batch, split, _RULE, mass=mass) for batch in pair]
    gain, (low, high) = found[1][1].gain(found[0][1], rng=np.random.default_rng(seed), mass=mass)
    skipped = {**pair[1].skipped, **pair[0].skipped}
    return {
        "schema": SCHEMA,
        "decisions": len(pair[0]),
        "deciders": len(pair[0].names()),
        "rule": _RULE,
        "clusters_by": split.by,
        "clusters": split.clusters,
        "folds": split.size,
        "seed": seed,
        "mass": mass,
        "chance": float(-np.log(pair[0].counts).mean()),
        "judges": [_judge(name, batch, fit, held) for name, batch, (fit, held) in zip(names, pair, found, strict=True)],
        "gain": gain,
        "gain_low": low,
        "gain_high": high,
        "skipped": dict(sorted(skipped.items(), key=lambda item: (-item[1], item[0]))),
    }


def _judge(name: str, batch: Decisions, fit: KFit, held: HeldOut) -> dict[str, Any]:
    everybody = evidence(batch, Agent(k=fit.k, rule=_RULE), span=(0.0, fit.c_high)).total().posterior()
    return {
        "judge": name,
        **fit.as_dict(),
        "c": everybody.mean,
        "sd": everybody.sd,
        "best_chosen": float((batch.chosen_loss() == 0).mean()),
        "mean_loss": float(batch.chosen_loss().mean()),
        "held_out": held.per_decision,
    }
