"""Sensitivity: the same decisions under different depth, list, k, choice-set rule and engine.

In: decisions, and what to vary. Out: Sensitivity, which `skilloscope decisions sensitivity` shows: the competence of
everybody and of each group under each setting, how far the order of the groups stays, and what the setting gains in
held-out log-likelihood where that can be compared. DFH13 names the question (III.A, V.A) and leaves it open.

One thing is varied at a time, from a base: the deepest values, whole lists, one k, one rule. Two log-likelihoods are
compared only if they are of the same event, the same choices among the same alternatives. Another k is. Another depth
or engine is, over the alternatives that both list. A shorter list or another rule is not: its decisions are others.

`list` cuts the lists that are there. `search` is a search that made a shorter or longer list: an engine that follows
fewer lines gives other values, so the two are not the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.stats import spearmanr

from skilloscope.chess.analysis.analyses import decisions
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.errors import InputError, OptionError, check_mass
from skilloscope.decision import Decisions
from skilloscope.decision.align import align, at_depth, depth_pair
from skilloscope.evidence import agent_evidence
from skilloscope.evidence.fit_k import fit_k, held_out_k
from skilloscope.evidence.held_out import cluster_column, folds_of
from skilloscope.inputs.load import EngineJob, Kind, by_kind, told_tables
from skilloscope.models.agent import RULES, Agent
from skilloscope.report.charts import GREY, Chart, Dot, Figure, Forest, Lines, Panels, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, group_name, number, skipped_line
from skilloscope.simulate.deciders import cut_lists

_RANGE = 4.0  # the upper end of c at the base's k; at another k it is as sharp
_LEAST = 3  # groups, below which an order says nothing
_MOST = 20  # groups in one figure; more are in the table
_KINDS = ("depth", "list", "search", "k", "rule", "engine")


@dataclass(frozen=True)
class Varied:
    """What is varied; a k of None is fitted. The base has the papers' k and rule, or the first of those given."""

    depths: Sequence[int] = ()
    lists: Sequence[int] = ()
    ks: Sequence[float | None] = ()
    rules: Sequence[str] = ()
    judges: Mapping[str, Decisions] = field(default_factory=dict)
    """Decisions in the same games by other engines or searches, by the name of the setting."""

    @property
    def base_k(self) -> float:
        """The k of the base: 0.1 unless others are given and it is not among them."""
        given = [k for k in self.ks if k is not None]
        return 0.1 if 0.1 in given or not given else given[0]

    @property
    def base_rule(self) -> str:
        """The rule of the base: `listed` unless others are given and it is not among them."""
        return "listed" if "listed" in self.rules or not self.rules else self.rules[0]

    def check(self, batch: Decisions) -> None:
        """Raise where the decisions cannot be varied so."""
        unknown = [rule for rule in self.rules if rule not in RULES]
        if unknown:
            raise OptionError(f"no choice-set rule {unknown[0]!r}", hint=f"the rules: {', '.join(RULES)}")
        absent = [depth for depth in self.depths if depth not in batch.depths]
        if absent:
            known = ", ".join(map(str, batch.depths)) or "none: the table has no depth axis"
            raise InputError(f"no values at depth {absent[0]}", hint=f"the depths here: {known}")
        if any(n < 2 for n in self.lists):
            raise OptionError("a list of fewer than two alternatives is not a choice set")
        if not len(batch):
            raise InputError(f"no decisions left to compare; skipped: {batch.tally}")


@dataclass(frozen=True)
class SettingGain:
    """What a setting gains over the base in held-out log-likelihood per decision, or why the two do not compare."""

    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    compared: int = 0
    not_comparable: str | None = None

    def __str__(self) -> str:
        return "–" if self.gain is None else f"{self.gain:+.4f} ({self.gain_low:+.4f} to {self.gain_high:+.4f})"


@dataclass(frozen=True)
class GroupUnder:
    """A group under one setting."""

    setting: str
    decisions: int = 0
    c: float | None = None
    sd: float | None = None

    def __str__(self) -> str:
        return "–" if self.c is None else f"{self.c:.2f} ± {self.sd:.2f}"


@dataclass(frozen=True)
class VariedGroup:
    """A group under every setting, the base first."""

    group: str
    under: Sequence[GroupUnder]


@dataclass(frozen=True, eq=False)
class VariedSetting:
    """One way to judge the decisions, and what came out."""

    setting: str
    kind: str
    k: float
    rule: str
    decisions: int
    c: float  # of everybody together
    sd: float
    groups: Mapping[str, GroupUnder]
    skipped: Mapping[str, int]
    k_low: float | None = None
    k_high: float | None = None  # the likelihood interval of k where it was fitted
    rank_correlation: float | None = None
    rank_with_label: float | None = None
    comparison: SettingGain = field(default_factory=SettingGain)

    FIELDS: ClassVar = (
        "setting", "kind", "k", "k_low", "k_high", "rule", "decisions", "c", "sd", "rank_correlation",
        "rank_with_label", "*comparison", "skipped",
    )  # fmt: skip

    @property
    def means(self) -> dict[str, float]:
        """The c of each group."""
        return {name: one.c for name, one in self.groups.items() if one.c is not None}

    @property
    def short(self) -> str:
        """The setting as the head of a column."""
        return "base" if self.kind == "base" else self.setting.replace("list cut to", "cut to")


@dataclass(frozen=True, eq=False)
class Sensitivity(Study):
    """Every setting, the base first, and the groups in their order."""

    by: str
    settings: Sequence[VariedSetting]
    names: Sequence[str]
    clusters_by: str
    mass: float

    FIELDS: ClassVar = ("by", "base", "clusters_by", "mass", "settings", "groups")
    ROWS: ClassVar = "settings"
    caveats = (
        "A c belongs to the engine, the k and the rule that measured it. It changes with them; where the order of "
        "players changes with them too, that order is not to be trusted.",
        "A gain in likelihood says that the values are nearer to what people saw, not that they are nearer to the "
        "truth.",
    )

    @property
    def base(self) -> str:
        """The setting that the others depart from."""
        return self.settings[0].setting

    @property
    def skipped(self) -> Mapping[str, int]:
        """What the base leaves out."""
        return self.settings[0].skipped

    @property
    def groups(self) -> Sequence[VariedGroup]:
        """Each group under every setting."""
        under = {name: [one.groups.get(name, GroupUnder(one.setting)) for one in self.settings] for name in self.names}
        return [VariedGroup(name, own) for name, own in under.items()]

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Sensitivity: {len(self.settings)} settings of the same decisions"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return what each setting makes of everybody, and of each group."""
        columns: list[Column[VariedSetting]] = [
            Column("setting", lambda row: row.setting, label=True),
            Column("decisions", lambda row: f"{row.decisions:,}"),
            Column("c ± sd", lambda row: f"{row.c:.3f} ± {row.sd:.3f}"),
            Column("rank with base", lambda row: number(row.rank_correlation, 3)),
        ]
        if any(row.rank_with_label is not None for row in self.settings):
            columns.append(Column(f"rank with {self.by}", lambda row: number(row.rank_with_label, 3)))
        columns += [
            Column("gain (interval)", lambda row: str(row.comparison)),
            Column("compared", lambda row: f"{row.comparison.compared:,}" if row.comparison.compared else "–"),
        ]
        reasons: dict[str, list[str]] = {}
        for row in self.settings:
            if row.comparison.not_comparable:
                reasons.setdefault(row.comparison.not_comparable, []).append(row.setting)
        notes = [
            skipped_line(self.settings[0].decisions, self.skipped) + " (base)",
            *(f"{', '.join(own)}: not comparable by likelihood ({why})" for why, own in reasons.items()),
            "gain: held-out log-likelihood per decision against the base, same choices among the same alternatives; "
            f"{100 * self.mass:g} % intervals resample {self.clusters_by}s",
        ]
        n = len(self.settings)
        title = f"the same decisions under {n} settings" if n > 1 else "the base alone: name what is to be varied"
        cells: list[Column[VariedGroup]] = [
            Column(self.by, lambda row: row.group, label=True),
            Column("decisions", lambda row: f"{row.under[0].decisions:,}"),
            *(_under(at, one.short) for at, one in enumerate(self.settings)),
        ]
        note = "c ± sd of each group; a c belongs to its setting: compare down a column, never along a row"
        groups = Table.of(f"by {self.by}", self.groups[:top], cells, notes=[note])
        return [Table.of(title, self.settings, columns, notes=notes), groups]

    def figures(self) -> Sequence[Figure]:
        """Return what each setting gains, and the groups under each setting."""
        found = []
        gains = [(row.setting, row.comparison) for row in self.settings]
        dots = [(name, [Dot(one.gain, one.gain_low, one.gain_high)]) for name, one in gains if one.gain is not None]
        if dots:
            forest = Forest(dots, "gain in held-out log-likelihood per decision against the base", lines=[0.0])
            caption = "Point: estimate; line: interval. Right of zero the setting predicts better than the base."
            found.append(Figure("What each setting gains", forest, caption))
        if len(self.names) > 1:
            kinds = [kind for kind in _KINDS if any(row.kind == kind for row in self.settings)]
            charts = [self._lines(kind) for kind in kinds or ["base"]]
            titles = [f"another {kind}" for kind in kinds]
            panels = Panels(charts, titles, columns=2 if len(kinds) > 1 else 1, height=2.9)
            caption = "Grey: the base. Shaded: one sd. A c belongs to its setting: compare the order, not the levels."
            found.append(Figure("The groups under each setting", panels, caption))
        return found

    def _lines(self, kind: str) -> Chart:
        """Return the c of every group where this is varied, the base in grey."""
        names, lines = self.names[:_MOST], []
        for row in (*(one for one in self.settings if one.kind == kind and kind != "base"), self.settings[0]):
            known = [row.groups.get(name, GroupUnder("")) for name in names]
            mean, sd = np.array([(one.c, one.sd) for one in known], dtype=float).T
            colour = GREY if row.kind == "base" else None
            lines.append(Series(row.short, np.arange(len(names)), mean, mean - sd, mean + sd, colour=colour, look="o-"))
        ticks = [(float(at), name) for at, name in enumerate(names)]
        return Lines(lines, self.by, "competence c", x_ticks=ticks)

    def sections(self) -> Sequence[Section]:
        """Return the settings, the groups, and the figures."""
        settings, groups = self.tables()
        text = f"One thing is varied at a time. {self.base}."
        tables = [Section.from_table(settings, "Settings", text=text), Section.from_table(groups)]
        return [*tables, *map(Section.from_figure, self.figures())]


def sensitivity(
    batch: Decisions, varied: Varied, *, by: str = "player", seed: int = 1, mass: float = 0.95
) -> Sensitivity:
    """Return what each setting makes of the same decisions."""
    check_mass(mass)
    varied.check(batch)
    judging = _Judging(batch, varied, by, seed, mass)
    settings = [judging.base]
    settings += [judging.depth(depth) for depth in varied.depths if depth != (batch.depths or (None,))[-1]]
    settings += [judging.cut(n) for n in varied.lists if n < int(batch.counts.max())]
    settings += [judging.other_k(k) for k in varied.ks if k != varied.base_k]
    settings += [judging.other_rule(rule) for rule in varied.rules if rule != varied.base_rule]
    settings += [judging.judge(name, other) for name, other in varied.judges.items()]
    return Sensitivity(by, settings, judging.order(), judging.clusters_by, mass, tally=batch.tally)


def read_judged(paths: Sequence[Path], work: EngineJob) -> Decisions:
    """Return the decisions of games, of analysed games and of tables, with depth axis and names of alternatives."""
    found = by_kind(paths, Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED)
    batches = told_tables([*found[Kind.DECISIONS], *found[Kind.ANALYSED]])
    if found[Kind.GAMES]:
        batches.append(_searched(found[Kind.GAMES], work))
    if len({batch.depths for batch in batches}) > 1:
        batches = [batch.at_depths() for batch in batches]
    return Decisions.concat(batches)


def searched_again(
    paths: Sequence[Path], work: EngineJob, *, engine: str | None = None, lines: int | None = None
) -> Decisions:
    """Return the decisions of the same games, searched by another engine or with another number of lines."""
    found = by_kind(paths, Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED)
    if tables := [*found[Kind.DECISIONS], *found[Kind.ANALYSED]]:
        again = f"{tables[0]} is a table: its positions cannot be searched again"
        raise InputError(again, hint="give the games as PGN files")
    settings = work.settings if lines is None else replace(work.settings, multipv=lines)
    return _searched(paths, replace(work, engine=engine or work.engine, settings=settings))


def _searched(paths: Sequence[Path], work: EngineJob) -> Decisions:
    games = read_games(list(paths))
    games.refuse_empty()
    return decisions(work.analyse(positions(games, scope=work.settings.scope)), named_moves=True)


class _Judging:
    """The base, and settings as departures from it."""

    def __init__(self, batch: Decisions, varied: Varied, by: str, seed: int, mass: float) -> None:
        self.batch, self.by, self.seed, self.mass = batch, by, seed, mass
        self.flat = batch.at_depths()
        self.agent = Agent(k=varied.base_k, rule=varied.base_rule)
        losses = batch.losses()
        self.typical = float(np.median(losses[losses > 0])) if np.any(losses > 0) else varied.base_k
        self.clusters_by = cluster_column(self.flat)
        depth = f"depth {batch.depths[-1]}, " if batch.depths else ""
        name = f"base: {depth}whole lists, k {self.agent.k:g}, rule {self.agent.rule}"
        self.base = self._setting("base", name, self.flat, self.agent, SettingGain())

    def depth(self, depth: int) -> VariedSetting:
        pair = partial(depth_pair, self.batch, depth, self.batch.depths[-1])
        return self._compared("depth", f"depth {depth}", at_depth(self.batch, depth), pair)

    def cut(self, n: int) -> VariedSetting:
        short = cut_lists(self.flat, n, rng=np.random.default_rng(self.seed))
        other = SettingGain(not_comparable="other lists: what is cut off is no longer a choice")
        return self._setting("list", f"list cut to {n}", short, self.agent, other)

    def other_k(self, k: float | None) -> VariedSetting:
        fit = fit_k(self.flat, self.agent.rule, mass=self.mass) if k is None else None
        agent = Agent(k=fit.k if fit else float(k or 0.0), rule=self.agent.rule)
        name = f"k fitted: {agent.k:.3g}" if fit else f"k {agent.k:g}"
        found = self._setting("k", name, self.flat, agent, self._gain(lambda: (self.flat, self.flat), k))
        return replace(found, k_low=fit.low, k_high=fit.high) if fit else found

    def other_rule(self, rule: str) -> VariedSetting:
        other = SettingGain(not_comparable="another rule: other events have a probability")
        return self._setting("rule", f"rule {rule}", self.flat, Agent(k=self.agent.k, rule=rule), other)

    def judge(self, name: str, other: Decisions) -> VariedSetting:
        kind = "search" if name.startswith("search") else "engine"
        return self._compared(kind, name, other.at_depths(), partial(align, other, self.batch))

    def order(self) -> list[str]:
        """Return the groups: numbers ascending, names by the base's c."""
        names = list(self.base.groups)
        if all(_number(name) is not None for name in names):
            return sorted(names, key=float)
        return sorted(names, key=lambda name: -self.base.means[name])

    def _compared(
        self, kind: str, name: str, batch: Decisions, pair: Callable[[], tuple[Decisions, Decisions]]
    ) -> VariedSetting:
        """Return a setting whose values are others; the likelihoods compare over what both list."""
        found = SettingGain(not_comparable="the alternatives in common are not a choice set of this rule")
        if self.agent.rule == "listed":
            found = self._gain(pair, self.agent.k)
        return self._setting(kind, name, batch, self.agent, found)

    def _gain(self, pair: Callable[[], tuple[Decisions, Decisions]], k: float | None) -> SettingGain:
        """Return the gain of the first, at this k, over the second on decisions not seen."""
        try:
            first, second = pair()
            folds = folds_of(first, seed=self.seed)
            own = held_out_k(first, k, self.agent.rule, folds=folds)
            base = held_out_k(second, self.agent.k, self.agent.rule, folds=folds)
            gain, (low, high) = own.gain(base, rng=np.random.default_rng(self.seed), mass=self.mass)
        except InputError as error:
            return SettingGain(not_comparable=str(error))
        return SettingGain(gain, low, high, int(own.decisions.sum()))

    def _setting(self, kind: str, name: str, batch: Decisions, agent: Agent, found: SettingGain) -> VariedSetting:
        # The range of c is carried along with k, so that its end always means an equally sharp agent.
        sharp = np.log1p(self.typical / self.agent.k) / np.log1p(self.typical / agent.k)
        table = agent_evidence(batch, agent, by=self.by, span=(0.0, _RANGE * float(sharp)))
        known = {group_name(one): (own.decisions, own.posterior()) for one, own in table.items() if own.decisions}
        everybody = table.total().posterior()
        setting = VariedSetting(
            setting=name,
            kind=kind,
            k=agent.k,
            rule=agent.rule,
            decisions=int(table.decisions.sum()),
            c=everybody.mean,
            sd=everybody.sd,
            groups={group: GroupUnder(name, n, c.mean, c.sd) for group, (n, c) in known.items()},
            skipped=table.tally.as_dict(),
            comparison=found,
        )
        base = setting if kind == "base" else self.base
        labels = {group: label for group in known if (label := _number(group)) is not None}
        ranks = _rank(setting.means, base.means), _rank(setting.means, labels)
        return replace(setting, rank_correlation=ranks[0], rank_with_label=ranks[1])


def _under(at: int, title: str) -> Column[VariedGroup]:
    return Column(title, lambda row: str(row.under[at]))


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
