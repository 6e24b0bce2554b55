"""Rate deciders of any domain: the competence c of each, as one dict that the command line and pages send."""

from __future__ import annotations

from typing import Any

from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions
from skilloscope.inference import Prior, evidence, prior_from_text
from skilloscope.inference.k import k_gain
from skilloscope.models.agent import Agent
from skilloscope.reports.words import plural

SCHEMA = 1
FEWEST_FOR_K = 30
"""Decisions below which k is not fitted."""


def rate_deciders(batch: Decisions, model: Agent, prior: Prior, *, mass: float = 0.95) -> dict[str, Any]:
    """Return each decider's c with sd and interval under the prior, best first, and what was left out."""
    table = evidence(batch, model, by="decider", span=(prior.low, prior.high))
    deciders: list[dict[str, Any]] = []
    unrated: list[str] = []
    for name in table:
        if not table[name].decisions:
            unrated.append(name)
            continue
        fields = table[name].posterior(prior).c_fields(mass)
        deciders.append({"decider": name, "decisions": table[name].decisions, **fields, "k": model.k})
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


def k_from_text(text: str) -> float | None:
    """Return the k that a user wrote, None for `fit`.

    >>> k_from_text("0.05"), k_from_text("fit")
    (0.05, None)
    """
    if text.strip() == "fit":
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"k is a number or fit, got {text!r}", hint="as in --k 0.05 or --k fit") from None


def rate_fitting_k(
    batch: Decisions,
    rule: str,
    prior: str = "uniform",
    c_range: tuple[float, float] | None = None,
    *,
    reference: float = 0.1,
    mass: float = 0.95,
) -> dict[str, Any]:
    """Return the rating at a fitted k, and under `k_fit` what fitting it gains on decisions not seen.

    Without a range c reaches up to that of the sharpest agent of the fit, for c moves with k.
    """
    if len(batch) < FEWEST_FOR_K:
        raise InputError(
            f"k cannot be fitted to {plural(len(batch), 'decision')}: it takes {FEWEST_FOR_K}",
            hint="give it in units of the utilities, as in --k 0.1: an agent hardly tells losses below k apart",
        )
    gain = k_gain(batch, rule, reference=reference, mass=mass)
    if gain.fit.edge is not None:
        end = {"low": "below", "high": "above"}[gain.fit.edge]
        raise InputError(
            f"these decisions do not tell k: the likelihood still rises {end} k = {gain.fit.k:.3g}",
            hint="choices that do not depend on the losses, or always the best, leave it open; give --k a number",
        )
    span = c_range or (0.0, gain.fit.c_high)
    report = rate_deciders(batch, Agent(k=gain.fit.k, rule=rule), prior_from_text(prior, *span), mass=mass)
    return {**report, "k_fit": gain.as_dict()}
