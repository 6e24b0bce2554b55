"""Composite reference players: the decisions of many players of one Elo, or of one group, taken as one player's.

In: decisions, or their player-games. Out: for each group games, N, c̄, σ, its region, σ·√N, and over mileposts the line
from c̄ to Elo. [DFHR09 V.B, Tables I and II, Figure 1; DFH13 VI.A, Table III, Figure 2]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skilloscope.core.checks import check_mass
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.inference import Evidence, Posterior, Uniform
from skilloscope.models.agent import Agent
from skilloscope.ratings.mileposts import MILEPOST, with_mileposts
from skilloscope.ratings.regression import EloLine, fit_elo_line
from skilloscope.sources.judge import engine_of
from skilloscope.studies.composites.game_evidence import PlayerGames, player_games
from skilloscope.studies.rate.rate import group_name

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Composite:
    """One composite player: the evidence of a group as if one agent had chosen, and its posterior."""

    label: Any
    games: int
    """0 where the decisions do not say in which game they were made."""
    evidence: Evidence
    c: Posterior
    mass: float

    @property
    def name(self) -> str:
        """The group's name."""
        return group_name(self.label)

    @property
    def decisions(self) -> int:
        """N, the number of decisions."""
        return self.evidence.decisions

    @property
    def sd_root_n(self) -> float:
        """σ·√N: about the same for every group where σ falls as it should. [DFH13 Table III]"""
        return float(self.c.sd * np.sqrt(self.decisions))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of `composites --json` for this group."""
        counts = {"group": self.name, "games": self.games, "decisions": self.decisions}
        return {**counts, **self.c.c_fields(self.mass), "sd_root_n": self.sd_root_n}


@dataclass(frozen=True, eq=False)
class Composites:
    """The composite players of all groups, the line over them, and what was left out."""

    by: str
    groups: Sequence[Composite]
    unused: Sequence[str]
    """Groups of which no decision could be used."""
    line: EloLine | None
    """Elo on c̄ over mileposts; None for other groups and for fewer than three mileposts."""
    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    tally: Tally
    prior: str
    mass: float
    tolerance: float | None = None
    notes: Sequence[str] = field(default_factory=tuple)

    def named(self, name: str) -> Composite:
        """Return the group of that name."""
        for group in self.groups:
            if group.name == name:
                return group
        known = ", ".join(group.name for group in self.groups)
        raise InputError(f"no group {name!r} by {self.by}", hint=f"the groups: {known}")

    def as_dict(self) -> dict[str, Any]:
        """Return what `composites --json` sends."""
        return {
            "schema": SCHEMA,
            "by": self.by,
            "tolerance": self.tolerance,
            "engine": dict(self.settings),
            "model": dict(self.model),
            "prior": self.prior,
            "mass": self.mass,
            "groups": [group.as_dict() for group in self.groups],
            "line": self.line.as_dict() if self.line else None,
            "unused": list(self.unused),
            "warnings": list(self.notes),
            "skipped": self.tally.as_dict(),
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.composites.figures import composites_figures

        return composites_figures(self)


def composites(
    decisions: Decisions,
    model: Agent | None = None,
    *,
    by: str = MILEPOST,
    tolerance: float = 10.0,
    span: tuple[float, float] = (0.0, 4.0),
    mass: float = 0.95,
) -> Composites:
    """Return the composite players of decisions, by Elo milepost or by any column.

    >>> batch = Decisions.from_lists(["Ann"] * 2, [[0.0, -0.1], [0.0, -0.9]], [0, 0], context={"year": [2001, 2002]})
    >>> [group["group"] for group in composites(batch, by="year").as_dict()["groups"]]
    ['2001', '2002']
    """
    posts = by == MILEPOST
    chosen = with_mileposts(decisions, tolerance) if posts else decisions
    rows = player_games(chosen, model, by=by, span=span)
    return composites_from(rows, chosen, mass=mass, tolerance=tolerance if posts else None)


def composites_from(
    rows: PlayerGames, decisions: Decisions, *, mass: float = 0.95, tolerance: float | None = None
) -> Composites:
    """Return the composite players whose player-games are known; `decisions` say what judged them."""
    check_mass(mass)
    if not rows.table.decisions.sum():
        raise InputError(f"no decisions left to rate; skipped: {rows.table.tally}", hint=_hint(tolerance))
    prior = Uniform(rows.table.grid.low, rows.table.grid.high)
    table = rows.table.regrouped(rows.group)
    games: dict[Any, set[Any]] = {}
    for label, game, n in zip(rows.group, rows.game, rows.table.decisions, strict=True):
        if game is not None and n:
            games.setdefault(label, set()).add(game)
    groups = [
        Composite(label, len(games.get(label, ())), table[label], table[label].posterior(prior), mass)
        for label in rows.labels()
        if table[label].decisions
    ]
    return Composites(
        by=rows.by,
        groups=groups,
        unused=[group_name(label) for label in rows.labels() if not table[label].decisions],
        line=_line(groups) if rows.by == MILEPOST else None,
        model=table.about,
        settings=engine_of(decisions),
        tally=table.tally,
        prior=str(prior),
        mass=mass,
        tolerance=tolerance,
        notes=list(decisions.about.get("notes", [])),
    )


def _line(groups: Sequence[Composite]) -> EloLine | None:
    if len(groups) < 3:
        return None
    return fit_elo_line([group.c.mean for group in groups], [float(group.label) for group in groups])


def _hint(tolerance: float | None) -> str:
    return "" if tolerance is None else f"--tolerance takes in more than ±{tolerance:g} points; --by groups by a column"
