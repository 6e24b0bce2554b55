"""Rate deciders of any domain: the competence c of each, as one dict that the command line and pages send."""

from __future__ import annotations

from typing import Any

from skilloscope.decision import Decisions
from skilloscope.inference import Prior, evidence
from skilloscope.models.agent import Agent

__all__ = ["SCHEMA", "rate_deciders"]

SCHEMA = 1


def rate_deciders(batch: Decisions, model: Agent, prior: Prior, *, mass: float = 0.95) -> dict[str, Any]:
    """Return each decider's c with sd and interval under the prior, best first, and what was left out."""
    table = evidence(batch, model, by="decider", span=(prior.low, prior.high))
    deciders: list[dict[str, Any]] = []
    unrated: list[str] = []
    for name in table:
        if not table[name].decisions:
            unrated.append(name)
            continue
        posterior = table[name].posterior(prior)
        low, high = posterior.interval(mass)
        deciders.append(
            {
                "decider": name,
                "decisions": table[name].decisions,
                "c": posterior.mean,
                "sd": posterior.sd,
                "low": low,
                "high": high,
                "edge": posterior.edge,
                "k": model.k,
            }
        )
    deciders.sort(key=lambda row: -row["c"])
    return {
        "schema": SCHEMA,
        "model": dict(table.about),
        "prior": str(prior),
        "mass": mass,
        "deciders": deciders,
        "unrated": unrated,
        "skipped": table.tally.as_dict(),
    }
