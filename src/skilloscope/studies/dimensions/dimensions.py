"""The agent's competence in several dimensions: by phase, colour, clock or complexity, with partial pooling.

In: decisions. Out: for each player the competence in each group, alone and pooled, and the sd between groups, fitted.
Both papers leave the multidimensional skill for later.

Only c is told here: the agent's line was fitted on whole games, and c differs by phase or complexity for everybody.
`studies.dimensions.elo` tells Elo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.facts import CLOCKS, PHASES, phases_of, time_classes
from skilloscope.core.checks import check_dispersion
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.inference import Posterior, evidence
from skilloscope.inference.pooling import pool_groups
from skilloscope.inference.sd_fit import SdFit
from skilloscope.models.agent import Agent, scaled_losses

SCHEMA = 1
EVERYBODY = "everybody"

_GROUP = "group of the dimension"
_BINS = 4  # of complexity, equally many decisions in each

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupSkill:
    """One group of one player's decisions: its competence from its own decisions, and with the other groups' help."""

    group: str
    decisions: int
    alone: Posterior
    pooled: Posterior

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return the fields of a group in `dimensions --json`."""
        alone = {"c": self.alone.mean, "sd": self.alone.sd, "edge": self.alone.edge}
        counted = {"group": self.group, "decisions": self.decisions}
        return {**counted, **self.pooled.c_fields(mass), "alone": alone}


@dataclass(frozen=True, eq=False)
class PlayerDimensions:
    """One player's groups, and the competence that is common to them."""

    player: str
    common: Posterior
    groups: Sequence[GroupSkill]


@dataclass(frozen=True, eq=False)
class Dimensions:
    """Some players' competence by the groups of one dimension, and how much lies between groups."""

    by: str
    players: Sequence[PlayerDimensions]
    spread: SdFit
    span: tuple[float, float]
    dispersion: float
    mass: float
    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    tally: Tally

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that every report of dimensions sends."""
        return {
            "schema": SCHEMA,
            "by": self.by,
            "mass": self.mass,
            "range": list(self.span),
            "dispersion": self.dispersion,
            "spread": {"spread_sd": self.spread.sd, "spread_low": self.spread.low, "spread_high": self.spread.high},
            "model": dict(self.model),
            "engine": dict(self.settings),
            "skipped": self.tally.as_dict(),
            "players": [
                {
                    "player": one.player,
                    "decisions": sum(group.decisions for group in one.groups),
                    "common": {"c": one.common.mean, "sd": one.common.sd},
                    "groups": [group.as_dict(self.mass) for group in one.groups],
                }
                for one in self.players
            ],
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.dimensions.figures import dimensions_figures

        return dimensions_figures(self)


def dimensions(
    decisions: Decisions,
    model: Agent | None = None,
    *,
    by: str = "phase",
    players: Sequence[str] = (),
    span: tuple[float, float] = (0.0, 4.0),
    dispersion: float = 1.0,
    mass: float = 0.95,
) -> Dimensions:
    """Return the competence of each player by the groups of a dimension: one of `DIMENSIONS`, or any context column.

    Without players everybody's decisions together. One sd between groups is fitted for all players. The colour, the
    clock and the phase are known before the choice; so is complexity, but for the c at which the entropy is taken.
    """
    check_dispersion(dispersion)
    model = model or Agent()
    batch = _of(decisions, players)
    labels, order = DIMENSIONS.get(by, _column(by))(batch, model)
    known = np.array([label is not None for label in labels], dtype=bool)
    grouped = replace(batch, context=batch.context.append_column(_GROUP, pa.array(labels, type=pa.string())))
    grouped = grouped.select(known, reason=f"no {by}")
    table = evidence(grouped, model, by=["decider", _GROUP], span=(0.0, max(4.0, span[1])))
    names = [name for name in players or (EVERYBODY,) if any(name == n and table[n, g].decisions for n, g in table)]
    groups = {name: [g for g in order if (name, g) in table.labels and table[name, g].decisions] for name in names}
    if not names:
        raise InputError(f"no decision with a known {by}; skipped: {grouped.tally}")
    pooled, spread = pool_groups(
        [[table[name, g] for g in groups[name]] for name in names], span=span, dispersion=dispersion, mass=mass
    )
    found = [
        PlayerDimensions(
            name,
            one.common,
            [
                GroupSkill(g, table[name, g].decisions, *both)
                for g, *both in zip(groups[name], one.alone, one.pooled, strict=True)
            ],
        )
        for name, one in zip(names, pooled, strict=True)
    ]
    settings = dict(batch.about.get("settings", {}))
    return Dimensions(
        by=by,
        players=found,
        spread=spread,
        span=span,
        dispersion=dispersion,
        mass=mass,
        model=table.about,
        settings=settings,
        tally=table.tally,
    )


def entropies(batch: Decisions, c: npt.ArrayLike, *, k: float = 0.1) -> Array:
    """H = −Σ p(a|c)·log p(a|c) over the listed alternatives: how undecided the agent itself is, in nats."""
    b = scaled_losses(batch.losses(), k=k)
    weight = np.exp(-np.repeat(np.broadcast_to(np.asarray(c, dtype=float), len(batch)), batch.counts) * b)
    starts = batch.offsets[:-1]
    p = weight / np.repeat(np.add.reduceat(weight, starts), batch.counts)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(-np.add.reduceat(p * logs, starts))


Labels = tuple[list[str | None], list[str]]
"""The group of each decision, None where it is not known, and the groups in the order in which they are told."""


def _phases(batch: Decisions, _: Agent) -> Labels:
    return phases_of(batch.column("fen").to_pylist()).tolist(), list(PHASES)


def _colours(batch: Decisions, _: Agent) -> Labels:
    return batch.column("mover").to_pylist(), ["white", "black"]


def _clocks(batch: Decisions, _: Agent) -> Labels:
    """Return the time that was left after the move: what was left before it is not told by games."""
    clock = batch.column("clock").cast(pa.float64()).to_numpy()
    return time_classes(clock, CLOCKS), list(CLOCKS)


def _complexities(batch: Decisions, model: Agent) -> Labels:
    """Return in which quarter of the entropies a decision's lies, each at its decider's own c."""
    table = evidence(batch, model)
    c = np.array([table[name].posterior().mean if table[name].decisions else np.nan for name in table])
    rank = {name: row for row, name in enumerate(table)}
    of_decider = np.array([c[rank[name]] if name in rank else np.nan for name in batch.deciders])
    entropy = entropies(batch, of_decider[batch.decider], k=model.k)
    edges = np.quantile(entropy[~np.isnan(entropy)], np.linspace(0, 1, _BINS + 1))
    names = [f"entropy {low:.2f} to {high:.2f}" for low, high in pairwise(edges)]
    place = np.clip(np.searchsorted(edges, entropy, side="right") - 1, 0, _BINS - 1)
    return [None if np.isnan(h) else names[at] for h, at in zip(entropy, place, strict=True)], list(
        dict.fromkeys(names)
    )


def _column(name: str) -> Callable[[Decisions, Agent], Labels]:
    def labels(batch: Decisions, _: Agent) -> Labels:
        values = batch.column(name).to_pylist()
        distinct = sorted({value for value in values if value is not None})
        return [None if value is None else str(value) for value in values], [str(value) for value in distinct]

    return labels


DIMENSIONS: dict[str, Callable[[Decisions, Agent], Labels]] = {
    "phase": _phases,
    "colour": _colours,
    "clock": _clocks,
    "complexity": _complexities,
}


def _of(batch: Decisions, players: Sequence[str]) -> Decisions:
    missing = [player for player in players if player not in batch.names()]
    if missing:
        raise InputError(f"no decision of: {'; '.join(missing)}")
    if not players:
        return replace(batch, deciders=(EVERYBODY,), decider=np.zeros_like(batch.decider))
    return batch.select(np.isin(batch.decider, [batch.deciders.index(player) for player in players]))
