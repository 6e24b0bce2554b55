"""Sensitivity: the same decisions under different depth, list, k, choice-set rule and judge, in one report.

In: decisions, and what to vary. Out: the competence of everybody and of each group under each setting, how far the
order of the groups stays, and what the setting gains in held-out log-likelihood where that can be compared.
DFH13 names the question twice (III.A, V.A) and leaves it for later; this is the answer for given games.

One thing is varied at a time, from a base: the deepest values, whole lists, one k, one rule. Two log-likelihoods are
compared only if they are of the same event, the same choices among the same alternatives. Another k is. Another depth
or judge is, over the alternatives that both list. A shorter list or another rule is not: its decisions are others.

`list` cuts the lists that are there. `search` is a search that made a shorter or longer list: an engine that follows
fewer lines gives other values, so the two are not the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from skilloscope.core.checks import check_mass
from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions
from skilloscope.decision.align import align, at_depth, depth_pair
from skilloscope.inference import EvidenceTable, Posterior, evidence
from skilloscope.inference.held_out import cluster_column, folds_of
from skilloscope.inference.k import fit_k, held_out_k
from skilloscope.models.agent import Agent
from skilloscope.models.choice_sets import RULES
from skilloscope.simulate.agents import cut_lists
from skilloscope.studies.rate.rate import group_name

SCHEMA = 1
_RANGE = 4.0  # the upper end of c at the base's k; at another k it is as sharp
_LEAST = 3  # groups, below which an order says nothing


@dataclass(frozen=True)
class Varied:
    """What is varied; a k of None is fitted. The base has the papers' k and rule, or the first of those given."""

    depths: Sequence[int] = ()
    lists: Sequence[int] = ()
    ks: Sequence[float | None] = ()
    rules: Sequence[str] = ()
    judges: Mapping[str, Decisions] = field(default_factory=dict)
    """Other judges' decisions in the same games, by the name of the setting."""

    @property
    def base_k(self) -> float:
        """The k of the base: 0.1 unless others are given and it is not among them."""
        given = [k for k in self.ks if k is not None]
        return 0.1 if 0.1 in given or not given else given[0]

    @property
    def base_rule(self) -> str:
        """The rule of the base: `listed` unless others are given and it is not among them."""
        return "listed" if "listed" in self.rules or not self.rules else self.rules[0]


@dataclass(frozen=True, eq=False)
class VariedSetting:
    """One way to judge the decisions, and what came out."""

    name: str
    kind: str
    k: float
    rule: str
    skipped: Mapping[str, int]
    everybody: Posterior
    decisions: int
    groups: Mapping[str, tuple[int, Posterior]]
    fitted: tuple[float, float] | None = None
    """The likelihood interval of k where it was fitted."""
    rank_correlation: float | None = None
    rank_with_label: float | None = None
    gain: tuple[float, float, float] | None = None
    compared: int = 0
    not_comparable: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of a report for this setting."""
        gain, low, high = self.gain or (None, None, None)
        return {
            "setting": self.name,
            "kind": self.kind,
            "k": self.k,
            "k_low": self.fitted[0] if self.fitted else None,
            "k_high": self.fitted[1] if self.fitted else None,
            "rule": self.rule,
            "decisions": self.decisions,
            "c": self.everybody.mean,
            "sd": self.everybody.sd,
            "rank_correlation": self.rank_correlation,
            "rank_with_label": self.rank_with_label,
            "gain": gain,
            "gain_low": low,
            "gain_high": high,
            "compared": self.compared,
            "not_comparable": self.not_comparable or None,
            "skipped": dict(self.skipped),
        }


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Every setting, the base first, and the groups in their order."""

    by: str
    settings: Sequence[VariedSetting]
    groups: Sequence[str]
    clusters_by: str
    mass: float

    @property
    def base(self) -> VariedSetting:
        """The setting that the others depart from."""
        return self.settings[0]

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that every report of sensitivity sends."""
        return {
            "schema": SCHEMA,
            "by": self.by,
            "base": self.base.name,
            "clusters_by": self.clusters_by,
            "mass": self.mass,
            "settings": [setting.as_dict() for setting in self.settings],
            "groups": [{"group": name, "under": self._under(name)} for name in self.groups],
        }

    def _under(self, group: str) -> list[dict[str, Any]]:
        found = []
        for setting in self.settings:
            n, posterior = setting.groups.get(group, (0, None))
            c, sd = (posterior.mean, posterior.sd) if posterior else (None, None)
            found.append({"setting": setting.name, "decisions": n, "c": c, "sd": sd})
        return found


def sensitivity(
    batch: Decisions, varied: Varied, *, by: str = "player", seed: int = 1, mass: float = 0.95
) -> Sensitivity:
    """Return what each setting makes of the same decisions."""
    check_mass(mass)
    _check(batch, varied)
    study = _Study(batch, varied, by, seed, mass)
    settings = [study.base]
    for depth in varied.depths:
        if depth != (batch.depths or (None,))[-1]:
            settings.append(study.depth(depth))
    settings += [study.cut(n) for n in varied.lists if n < int(batch.counts.max())]
    settings += [study.other_k(k) for k in varied.ks if k != varied.base_k]
    settings += [study.other_rule(rule) for rule in varied.rules if rule != varied.base_rule]
    settings += [study.judge(name, other) for name, other in varied.judges.items()]
    return Sensitivity(by, settings, study.order(), study.clusters_by, mass)


def _check(batch: Decisions, varied: Varied) -> None:
    unknown = [rule for rule in varied.rules if rule not in RULES]
    if unknown:
        raise OptionError(f"no choice-set rule {unknown[0]!r}", hint=f"the rules: {', '.join(RULES)}")
    absent = [depth for depth in varied.depths if depth not in batch.depths]
    if absent:
        known = ", ".join(map(str, batch.depths)) or "none: the table has no depth axis"
        raise InputError(f"no values at depth {absent[0]}", hint=f"the depths here: {known}")
    if any(n < 2 for n in varied.lists):
        raise OptionError("a list of fewer than two alternatives is no choice set")


class _Study:
    """The base, and settings as departures from it."""

    def __init__(self, batch: Decisions, varied: Varied, by: str, seed: int, mass: float) -> None:
        self.batch, self.by, self.seed, self.mass = batch, by, seed, mass
        self.flat = batch.at_depths()
        self.agent = Agent(k=varied.base_k, rule=varied.base_rule)
        losses = batch.losses()
        self.typical = float(np.median(losses[losses > 0])) if np.any(losses > 0) else varied.base_k
        self.clusters_by = cluster_column(self.flat)
        self.base = self._setting("base", self._base_name(), self.flat, self.agent)

    def depth(self, depth: int) -> VariedSetting:
        """Return the base with the values of a shallower depth."""
        pair = partial(depth_pair, self.batch, depth, self.batch.depths[-1])
        return self._compared("depth", f"depth {depth}", at_depth(self.batch, depth), pair)

    def cut(self, n: int) -> VariedSetting:
        """Return the base with lists cut to the n best."""
        short = cut_lists(self.flat, n, rng=np.random.default_rng(self.seed))
        reason = "other lists: what is cut off is no longer a choice"
        return self._setting("list", f"list cut to {n}", short, self.agent, not_comparable=reason)

    def other_k(self, k: float | None) -> VariedSetting:
        """Return the base under another k, or a fitted one."""
        fit = fit_k(self.flat, self.agent.rule, mass=self.mass) if k is None else None
        agent = Agent(k=fit.k if fit else float(k or 0.0), rule=self.agent.rule)
        name = f"k fitted: {agent.k:.3g}" if fit else f"k {agent.k:g}"
        fitted = (fit.low, fit.high) if fit else None
        try:
            found = self._gain((self.flat, self.flat), (k, self.agent.k))
        except InputError as error:
            found = {"not_comparable": str(error)}
        return self._setting("k", name, self.flat, agent, fitted=fitted, **found)

    def other_rule(self, rule: str) -> VariedSetting:
        """Return the base under another choice-set rule."""
        reason = "another rule: other events have a probability"
        agent = Agent(k=self.agent.k, rule=rule)
        return self._setting("rule", f"rule {rule}", self.flat, agent, not_comparable=reason)

    def judge(self, name: str, other: Decisions) -> VariedSetting:
        """Return another judge of the same games."""
        kind = "search" if name.startswith("search") else "engine"
        return self._compared(kind, name, other.at_depths(), partial(align, other, self.batch))

    def order(self) -> list[str]:
        """Return the groups: numbers ascending, names by the base's c."""
        names = list(self.base.groups)
        if all(_number(name) is not None for name in names):
            return sorted(names, key=float)
        return sorted(names, key=lambda name: -self.base.groups[name][1].mean)

    def _compared(
        self, kind: str, name: str, batch: Decisions, pair: Callable[[], tuple[Decisions, Decisions]]
    ) -> VariedSetting:
        """Return a setting whose values are others; the likelihoods compare over what both list."""
        found: dict[str, Any] = {"not_comparable": "the alternatives in common are no choice set of this rule"}
        if self.agent.rule == "listed":
            try:
                found = self._gain(pair(), (self.agent.k, self.agent.k))
            except InputError as error:
                found = {"not_comparable": str(error)}
        return self._setting(kind, name, batch, self.agent, **found)

    def _gain(self, pair: tuple[Decisions, Decisions], ks: tuple[float | None, float]) -> dict[str, Any]:
        """Return the gain of the first over the second on decisions not seen."""
        folds = folds_of(pair[0], seed=self.seed)
        found = [held_out_k(batch, k, self.agent.rule, folds=folds) for batch, k in zip(pair, ks, strict=True)]
        gain, (low, high) = found[0].gain(found[1], rng=np.random.default_rng(self.seed), mass=self.mass)
        return {"gain": (gain, low, high), "compared": int(found[0].decisions.sum())}

    def _setting(self, kind: str, name: str, batch: Decisions, agent: Agent, **found: Any) -> VariedSetting:
        # The range of c is carried along with k, so that its end always means an equally sharp agent.
        sharp = np.log1p(self.typical / self.agent.k) / np.log1p(self.typical / agent.k)
        table = evidence(batch, agent, by=self.by, span=(0.0, _RANGE * float(sharp)))
        groups = _groups(table)
        labels = {group: number for group in groups if (number := _number(group)) is not None}
        base = self.base.groups if kind != "base" else groups
        return VariedSetting(
            name=name,
            kind=kind,
            k=agent.k,
            rule=agent.rule,
            skipped=table.tally.as_dict(),
            everybody=table.total().posterior(),
            decisions=int(table.decisions.sum()),
            groups=groups,
            rank_correlation=_rank(
                {g: p.mean for g, (_, p) in groups.items()}, {g: p.mean for g, (_, p) in base.items()}
            ),
            rank_with_label=_rank({g: p.mean for g, (_, p) in groups.items()}, labels),
            **found,
        )

    def _base_name(self) -> str:
        depth = f"depth {self.batch.depths[-1]}, " if self.batch.depths else ""
        return f"base: {depth}whole lists, k {self.agent.k:g}, rule {self.agent.rule}"


def _groups(table: EvidenceTable) -> dict[str, tuple[int, Posterior]]:
    return {
        group_name(label): (table[label].decisions, table[label].posterior())
        for label in table
        if table[label].decisions
    }


def _rank(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """Return the rank correlation over what both have; None for too few, or where one of them does not vary."""
    common = [name for name in one if name in other]
    first, second = [one[name] for name in common], [other[name] for name in common]
    if len(common) < _LEAST or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(spearmanr(first, second).statistic)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
