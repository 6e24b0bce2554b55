"""Player-games of pooled players: how much c differs between them, c as decisions come in, and c by result.

In: decisions. Out: PlayerGames: one curve per group, game and side, made in one pass; everything else adds these up.
Spread: how much c differs between player-games; the posterior of *one* c narrows without end as decisions come in, the
spread does not. The papers call it the "asymptotic" standard deviation. Convergence: the posterior at chosen numbers of
decisions [DFHR09 V.C, Figure 2; DFH13 VI.B, Figure 3]. ResultsSplit: c̄ of player-games won, lost and drawn, and the
difference between both sides of decisive games [DFHR09 V.D, Table III; DFH13 VI.C, Table IV].

c̄ of a short list depends on the range of the uniform prior, which the papers do not state; `pooled` takes all decisions
of a result together and hardly depends on it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from numpy.polynomial import chebyshev
from scipy.integrate import simpson
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from skilloscope.core.columns import Array, Bools
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.evidence import Evidence, EvidenceTable, Grid, Posterior, agent_evidence
from skilloscope.evidence.held_out import cluster_interval, replicate_interval, resampled_mean
from skilloscope.models.agent import Agent
from skilloscope.ratings.mileposts import MILEPOST
from skilloscope.report.charts import COLOURS, GREY, Densities, Dot, Figure, Forest, Lines, Panels, Series
from skilloscope.report.table import Column, Table, edge_mark, group_name, number

RESULTS = {"lost": 0.0, "won": 1.0, "drawn": 0.5}
_DRAWS = 2000
_POINTS = 401
_FINE = 1601  # points at which posteriors of single player-games are integrated
_BLOCK = 2048  # rows whose densities are held at once
_NARROW = 4.0  # steps of the fine points; a posterior of smaller sd is found adaptively
_SDS = np.concatenate([[0.02], np.geomspace(0.03, 1.5, 39)])  # of c between games, at which the likelihood is profiled


@dataclass(frozen=True, eq=False)
class PlayerGames:
    """One row of evidence for each group, game and side; `result` is the player's score, NaN where it is unknown."""

    by: str
    table: EvidenceTable
    group: Sequence[Any]
    game: Sequence[Any]  # the game of each row; all None where the decisions do not say
    result: Array

    def __len__(self) -> int:
        return len(self.table)

    @property
    def has_games(self) -> bool:
        """Whether the decisions say in which game they were made."""
        return any(game is not None for game in self.game)

    def labels(self) -> list[Any]:
        """Return the groups, in their own order where they have one."""
        distinct = list(dict.fromkeys(self.group))
        known = [label for label in distinct if label is not None]
        with suppress(TypeError):  # labels of several kinds stay as they came
            known = sorted(known)
        return known + ([None] if len(known) < len(distinct) else [])

    def of(self, label: Any) -> "PlayerGames":
        """Return the rows of one group that have any usable decision."""
        rows = [i for i, own in enumerate(self.group) if own == label and self.table.decisions[i] > 0]
        if not rows:
            raise InputError(f"no usable decision of a group {label!r}", hint=f"the groups: {self.labels()}")
        group, game = ([column[i] for i in rows] for column in (self.group, self.game))
        return PlayerGames(self.by, self.table.select(rows), group, game, self.result[rows])


def player_games(
    decisions: Decisions, model: Agent | None = None, *, by: str = MILEPOST, span: tuple[float, float] = (0.0, 4.0)
) -> PlayerGames:
    """Return the evidence of each group, game and side; decisions without games are one row per group and decider."""
    known = decisions.context.column_names
    side = "mover" if "mover" in known else "decider"
    names = [by, "game", side] if "game" in known else [by, side]
    table = agent_evidence(decisions, model, by=names, span=span)
    _, codes = decisions.groups(names)
    first = np.unique(codes, return_index=True)[1]
    result = np.full(len(table), np.nan)
    if "result" in known and "game" in known and pa.types.is_floating(decisions.column("result").type):
        result = pc.fill_null(decisions.column("result"), np.nan).to_numpy()[first]
    games = [label[1] if "game" in known else None for label in table.labels]
    return PlayerGames(by, table, [label[0] for label in table.labels], games, result)


@dataclass(frozen=True)
class Spread:
    """How c differs between player-games: c_i ~ N(mean, sd²), and what plain moments of the c̄_i say."""

    mean: float
    sd: float
    low: float
    high: float
    moment_sd: float  # √(variance of the c̄_i − mean of their posterior variances), 0 where that is negative
    observed_sd: float  # the plain sd of the c̄_i: sampling error and spread together
    player_games: int
    edge: str | None = None  # `high` where the interval, or the spread itself, is at the edge of the allowed range


def likelihoods(table: EvidenceTable, at: npt.ArrayLike) -> Array:
    """Return exp(curve − its highest point here) of every row at the points: likelihoods up to a factor each."""
    grid, at = table.grid, np.asarray(at, dtype=float)
    unit = (2 * at - grid.low - grid.high) / (grid.high - grid.low)
    logs = grid.coefficients(table.curves.T).T @ chebyshev.chebvander(unit, grid.size - 1).T
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def means_and_sds(table: EvidenceTable) -> tuple[Array, Array]:
    """Return the posterior mean and sd of every row under the uniform prior on the grid's range.

    A row without decisions has the prior's.
    """
    at = np.linspace(table.grid.low, table.grid.high, _FINE)
    means, sds = np.empty(len(table)), np.empty(len(table))
    for start in range(0, len(table), _BLOCK):
        part = slice(start, start + _BLOCK)
        block = EvidenceTable(table.grid, list(table.labels)[part], table.curves[part], table.decisions[part])
        density = likelihoods(block, at)
        total = simpson(density, x=at, axis=1)
        means[part] = simpson(density * at, x=at, axis=1) / total
        squares = simpson(density * (at - means[part][:, None]) ** 2, x=at, axis=1) / total
        sds[part] = np.sqrt(np.maximum(squares, 0.0))
    for row in np.flatnonzero(sds < _NARROW * (at[1] - at[0])).tolist():
        posterior = table[table.labels[row]].posterior()
        means[row], sds[row] = posterior.mean, posterior.sd
    return means, sds


def spread_log_likelihood(likelihood: Array, at: Array, mean: float, sd: float) -> float:
    """ℓ(μ, τ) = Σ_i log ∫ L_i(c)·N(c; μ, τ²) dc over player-games i, the normal cut to the range of c."""
    normal = np.exp(-0.5 * ((at - mean) / sd) ** 2)
    normal[[0, -1]] *= 0.5  # trapezes
    return float(np.log(likelihood @ (normal / normal.sum())).sum())


def moment_spread(means: Array, sds: Array) -> float:
    """τ² = Var(c̄_i) − mean(σ_i²): what is left of the scatter after the sampling variance is taken out."""
    return float(np.sqrt(max(means.var(ddof=1) - (sds**2).mean(), 0.0)))


def between_spread(table: EvidenceTable, *, mass: float = 0.95) -> Spread:
    """Return the spread between player-games, the likeliest with its profile-likelihood interval.

    Where no spread at all is within the interval its lower end is 0. Where the end of the range is within it, that is
    its upper end, and `edge` says so.
    """
    if len(table) < 3:
        raise InputError(f"a spread between games needs three of them, got {len(table)}")
    at = np.linspace(table.grid.low, table.grid.high, _POINTS)
    likelihood = likelihoods(table, at)
    profile = np.array([_profiled(likelihood, at, sd) for sd in _SDS])  # the highest log-likelihood, and its mean
    best = int(profile[:, 0].argmax())
    drop = profile[:, 0].max() - profile[:, 0] - 0.5 * chi2.ppf(mass, 1)
    below, above = np.flatnonzero(drop[:best] > 0), np.flatnonzero(drop[best:] > 0)
    low = 0.0 if not len(below) else _crossing(drop, int(below[-1]))
    high = float(_SDS[-1]) if not len(above) else _crossing(drop, best + int(above[0]) - 1)
    means, sds = means_and_sds(table)
    return Spread(
        mean=float(profile[best, 1]),
        sd=_peak(profile[:, 0], best),
        low=low,
        high=high,
        moment_sd=moment_spread(means, sds),
        observed_sd=float(means.std(ddof=1)),
        player_games=len(table),
        edge=None if len(above) else "high",
    )


def _profiled(likelihood: Array, at: Array, sd: float) -> tuple[float, float]:
    """Return the highest log-likelihood at this sd, and the mean that has it."""
    found = minimize_scalar(
        lambda mean: -spread_log_likelihood(likelihood, at, mean, sd), bounds=(at[0], at[-1]), method="bounded"
    )
    return -float(found.fun), float(found.x)


def _crossing(drop: Array, i: int) -> float:
    """Return where the drop passes through zero between the sds i and i + 1, linearly in log sd."""
    share = drop[i] / (drop[i] - drop[i + 1])
    return float(np.exp(np.log(_SDS[i]) + share * np.log(_SDS[i + 1] / _SDS[i])))


def _peak(profile: Array, best: int) -> float:
    """Return the sd at the top of the parabola through the three highest points, in log sd; 0 at the lower end."""
    if best == 0:
        return 0.0
    if best == len(profile) - 1:
        return float(_SDS[-1])
    a, b, _ = np.polyfit(np.log(_SDS[best - 1 : best + 2]), profile[best - 1 : best + 2], 2)
    return float(np.exp(-b / (2 * a)))


@dataclass(frozen=True, eq=False)
class Step:
    """The posterior after so many decisions."""

    decisions: int
    c: float
    sd: float
    low: float
    high: float
    posterior: Posterior

    FIELDS: ClassVar = ("decisions", "c", "sd", "low", "high")


@dataclass(frozen=True, eq=False)
class Convergence:
    """One group's posterior at growing numbers of decisions, and the spread between its games."""

    group: str  # whose decisions: a group's name, or all
    steps: Sequence[Step]
    between_games: Spread | None
    mass: float = 0.95

    FIELDS: ClassVar = ("group", "steps", "between_games")

    def table(self) -> Table:
        """Return the steps, and the spread between games below them."""
        columns: list[Column[Step]] = [
            Column("decisions", lambda step: f"{step.decisions:,}", label=True),
            Column("c̄", lambda step: f"{step.c:.3f}"),
            Column("σ", lambda step: f"{step.sd:.4f}"),
            Column("region", lambda step: f"{step.low:.3f} to {step.high:.3f}"),
        ]
        note = "the decisions have no game, so no spread between games"
        if spread := self.between_games:
            note = (
                f"spread of c between {spread.player_games:,} player-games: sd {spread.sd:.3f} "
                f"({spread.low:.3f} to {spread.high:.3f}{edge_mark(spread.edge)}); unlike σ it does not shrink with "
                f"more games. By moments {spread.moment_sd:.3f}; plain sd of c̄ from game to game "
                f"{spread.observed_sd:.3f}"
            )
        return Table.of(f"convergence, group {self.group}", self.steps, columns, notes=[note])

    def figures(self) -> Sequence[Figure]:
        """Return densities, mean and sd as decisions come in, with the spread between games. [DFH13 Figure 3]"""
        n = [float(step.decisions) for step in self.steps]
        shown = [step for step in self.steps if step.decisions >= 10] or self.steps
        curves = [(f"{step.decisions:,}", step.posterior) for step in shown]
        c, sd, low, high = ([getattr(step, name) for step in self.steps] for name in ("c", "sd", "low", "high"))
        means = Series("", n, c, low, high, look="o-")
        falling = [sd[-1] * np.sqrt(n[-1] / one) for one in n]
        sds = [Series("σ of one c", n, sd, look="o-"), Series("as 1/√N", n, falling, colour=GREY, look=":")]
        bottom, top = 0.7 * min(sd), 1.4 * max(sd)
        if spread := self.between_games:
            top = max(top, 1.4 * spread.high)
            level, below, above = ([max(value, bottom)] * len(n) for value in (spread.sd, spread.low, spread.high))
            sds.append(Series("spread between games", n, level, below, above, colour=COLOURS[1]))
        ticks = [(10.0**e, f"{10**e:,}") for e in range(12) if n[0] <= 10**e <= n[-1]] or [(n[-1], f"{n[-1]:,.0f}")]
        limits = (bottom, top)
        charts = [
            Densities(curves, "competence c", ordered=True, legend="decisions", shown=0.99),
            Lines([means], "decisions", f"c̄, {100 * self.mass:g} % region", x_ticks=ticks, log_x=True),
            Lines(sds, "decisions", "standard deviation", x_ticks=ticks, log_x=True, log_y=True, y_limits=limits),
        ]
        caption = (
            f"Group {self.group}. The posterior after so many decisions, its mean, and its standard deviation, which "
            "falls as 1/√N; red: the spread of c between player-games with its interval, which does not fall."
        )
        return [Figure(f"Convergence, group {self.group}", Panels(charts, height=2.7), caption)]


def checkpoints(n: int) -> list[int]:
    """Return 10, 30, 100, 300 … as far as they are clearly below n, and n itself.

    >>> checkpoints(450), checkpoints(110)
    ([10, 30, 100, 300, 450], [10, 30, 110])
    """
    found = [m * 10**e for e in range(1, 12) for m in (1, 3) if m * 10**e < 0.8 * n]
    return [*found, n]


def partial_sums(table: EvidenceTable) -> list[Evidence]:
    """Return the evidence of the first row, of the first two, and so on: cumulative sums, nothing read again."""
    sums = zip(np.cumsum(table.curves, axis=0), np.cumsum(table.decisions).tolist(), strict=True)
    return [Evidence(table.grid, curve, n, about=table.about) for curve, n in sums]


def convergence(
    decisions: Decisions,
    model: Agent | None = None,
    grid: Grid | None = None,
    *,
    name: str = "all",
    at: Sequence[int] = (),
    spread: Spread | None = None,
    mass: float = 0.95,
) -> Convergence:
    """Return the posterior at the checkpoints (10, 30, 100 … and all, unless given) of decisions in their order.

    The evidence of the pieces between two checkpoints is computed once; the checkpoints are its partial sums.

    >>> batch = Decisions.from_lists(["Ann"] * 40, [[0.0, -0.1]] * 40, [0] * 40)
    >>> [step.decisions for step in convergence(batch).steps]
    [10, 30, 40]
    """
    model = (model or Agent()).prepared(decisions)
    usable = np.zeros(len(decisions), dtype=bool)
    usable[model.choice_sets(decisions).row] = True
    total = int(usable.sum())
    wanted = sorted({int(n) for n in at if 0 < n < total} | {total}) if len(at) else checkpoints(total)
    if not total:
        raise InputError(f"no usable decision in the group {name}")
    piece = np.searchsorted(wanted, np.cumsum(usable) - 1, side="right").clip(max=len(wanted) - 1)
    table = agent_evidence(replace(decisions, context=pa.table({"piece": pa.array(piece)})), model, grid, by="piece")
    order = np.argsort(np.array(table.labels))  # pieces before the first usable decision have none and come first
    steps = []
    for part in partial_sums(table.select(order)):
        found = part.posterior()
        steps.append(Step(part.decisions, found.mean, found.sd, *found.interval(mass), found))
    return Convergence(name, steps, spread, mass)


def group_convergence(
    decisions: Decisions, rows: PlayerGames, label: Any, model: Agent | None = None, *, mass: float = 0.95
) -> Convergence:
    """Return the convergence of one group with the spread between its games, where it has three player-games."""
    labels, codes = decisions.groups(rows.by)
    own = rows.of(label)
    spread = between_spread(own.table, mass=mass) if own.has_games and len(own) >= 3 else None
    batch = decisions.select(codes == labels.index(label))
    return convergence(batch, model, rows.table.grid, name=group_name(label), spread=spread, mass=mass)


@dataclass(frozen=True)
class ResultRow:
    """The player-games of one result: what their c̄ are like, and the c of all their decisions together."""

    result: str
    player_games: int
    decisions: int
    mean: float
    low: float | None
    high: float | None  # the interval of the mean, over games; None where there is a single one
    sd: float | None  # the standard deviation of the c̄ of player-games; None where there is a single one
    variance: float | None  # its square: what the papers seem to print as σ
    sampling_sd: float  # the root mean posterior variance: the part of the sd that few decisions explain
    pooled: float
    pooled_sd: float


@dataclass(frozen=True)
class Difference:
    """A difference of mean c̄ with its bootstrap interval over games, None where there is a single one."""

    of: str
    games: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class ResultsSplit:
    """Apparent skill by result in one group of games."""

    group: str  # which games: a group's name, or all
    player_games: int
    mean: float  # of the c̄ of all player-games, whatever the result
    results: Sequence[ResultRow]
    differences: Sequence[Difference]
    tally: Tally = field(default_factory=Tally)
    mass: float = 0.95

    FIELDS: ClassVar = ("group", "player_games", "mean", "results", "differences", "skipped")

    def __getitem__(self, result: str) -> ResultRow:
        return {row.result: row for row in self.results}[result]

    @property
    def skipped(self) -> dict[str, int]:
        """What was left out, by reason."""
        return self.tally.as_dict()

    def table(self) -> Table:
        """Return a row for each result; the mean of all, and the differences, below."""
        columns: list[Column[ResultRow]] = [
            Column("result", lambda row: row.result, label=True),
            Column("player-games", lambda row: f"{row.player_games:,}"),
            Column("decisions", lambda row: f"{row.decisions:,}"),
            Column("mean c̄ (interval)", lambda row: f"{row.mean:.3f}{_reach(row)}"),
            Column("sd", lambda row: number(row.sd, 3)),
            Column("variance", lambda row: number(row.variance, 4)),
            Column("pooled c", lambda row: f"{row.pooled:.3f} ± {row.pooled_sd:.3f}"),
        ]
        notes = [
            f"mean c̄ of all {self.player_games:,} player-games: {self.mean:.4f}",
            *(f"{one.of}: {one.mean:+.3f}{_reach(one, '+.3f')}, {one.games:,} games" for one in self.differences),
            "c̄ of a game with few decisions is biased upward, towards the middle of its range; the pooled c is not",
            "; ".join(f"{n:,} {reason}" for reason, n in self.skipped.items()),
        ]
        title = f"apparent skill c̄ of player-games by result, group {self.group}"
        return Table.of(title, self.results, columns, notes=notes)

    def figures(self) -> Sequence[Figure]:
        """Return the mean c̄ by result with its interval, the sd between player-games, and c of all decisions."""
        name = f"mean, {100 * self.mass:g} % interval"
        rows = []
        for row in self.results:
            spread = row.sd or 0.0
            mean = Dot(row.mean, row.low, row.high, name=name, pale=(row.mean - spread, row.mean + spread))
            together = Dot(row.pooled, colour=1, marker="D", filled=True, name="all decisions", shift=0.25, thin=True)
            rows.append((f"{row.result} ({row.player_games:,})", [mean, together]))
        caption = (
            f"Group {self.group}. Circle: mean c̄ of the player-games, line: its interval over games, pale bar: ± the "
            "sd between player-games. Diamond: c of all their decisions together."
        )
        chart = Forest(rows, "apparent competence c̄ of player-games")
        return [Figure(f"Won, lost, drawn: group {self.group}", chart, caption)]


def results_split(
    rows: PlayerGames, *, name: str = "all", mass: float = 0.95, rng: np.random.Generator | None = None
) -> ResultsSplit:
    """Return the split of player-games by the player's own result; the generator draws the bootstrap's games."""
    if not rows.has_games:
        raise InputError("the decisions have no game", hint="a column `game` is needed")
    tally = Tally()
    decided = np.isin(rows.result, list(RESULTS.values()))
    known = decided & (rows.table.decisions > 0)
    tally.count("player-game of unknown result", int((~decided).sum()))
    apparent = _Apparent(rows, *means_and_sds(rows.table), mass, rng or np.random.default_rng(1))
    own = {result: known & (rows.result == score) for result, score in RESULTS.items()}
    found = [apparent.row(result, which) for result, which in own.items() if which.any()]
    if not found:
        raise InputError("no player-game of known result", hint="results are in the games' headers")
    mean, differences = float(apparent.means[known].mean()), apparent.differences(own, tally)
    return ResultsSplit(name, int(known.sum()), mean, found, differences, tally=tally, mass=mass)


@dataclass(frozen=True, eq=False)
class _Apparent:
    """The c̄ of player-games, and the generator that resamples games for the intervals."""

    games: PlayerGames
    means: Array
    sds: Array
    mass: float
    rng: np.random.Generator

    def row(self, name: str, own: Bools) -> ResultRow:
        """Return what the player-games of one result are like."""
        table, means = self.games.table, self.means[own]
        low, high = cluster_interval(*self._by_game(own), rng=self.rng, mass=self.mass) or (None, None)
        pooled = table.regrouped(own)[True].posterior()
        several = len(means) > 1
        return ResultRow(
            result=name,
            player_games=len(means),
            decisions=int(table.decisions[own].sum()),
            mean=float(means.mean()),
            low=low,
            high=high,
            sd=float(means.std(ddof=1)) if several else None,
            variance=float(means.var(ddof=1)) if several else None,
            sampling_sd=float(np.sqrt((self.sds[own] ** 2).mean())),
            pooled=pooled.mean,
            pooled_sd=pooled.sd,
        )

    def differences(self, own: dict[str, Bools], tally: Tally) -> list[Difference]:
        """Return how much better winners and drawers look than losers, with what could not be paired counted."""
        lost, won = (
            {self.games.game[i]: float(self.means[i]) for i in np.flatnonzero(own[result]).tolist()}
            for result in ("lost", "won")
        )
        both = [one for one in won if one in lost]
        tally.count("decisive game with one side's decisions only", len(lost) + len(won) - 2 * len(both))
        found = []
        if both:
            pairs = np.array([won[one] - lost[one] for one in both])
            low, high = cluster_interval(pairs, np.ones(len(pairs)), rng=self.rng, mass=self.mass) or (None, None)
            found.append(Difference("won − lost, same game", len(both), float(pairs.mean()), low, high))
        return found + self._drawn_and_lost(self._by_game(own["drawn"]), self._by_game(own["lost"]))

    def _drawn_and_lost(self, drawn: tuple[Array, Array], lost: tuple[Array, Array]) -> list[Difference]:
        games = len(drawn[0]), len(lost[0])
        if not min(games):
            return []
        draws = [resampled_mean(*drawn, rng=self.rng) - resampled_mean(*lost, rng=self.rng) for _ in range(_DRAWS)]
        low, high = replicate_interval(np.array(draws), self.mass, min(games)) or (None, None)
        mean = float(drawn[0].sum() / drawn[1].sum() - lost[0].sum() / lost[1].sum())
        return [Difference("drawn − lost", sum(games), mean, low, high)]

    def _by_game(self, own: Bools) -> tuple[Array, Array]:
        """Return for each game the sum of c̄ over its player-games and their number, two in a draw."""
        values: dict[Any, list[float]] = {}
        for i in np.flatnonzero(own).tolist():
            values.setdefault(self.games.game[i], []).append(float(self.means[i]))
        return np.array([sum(of) for of in values.values()]), np.array([float(len(of)) for of in values.values()])


def _reach(row: ResultRow | Difference, form: str = ".3f") -> str:
    """Return an interval in brackets, or nothing where a single game gives none."""
    return "" if row.low is None else f" ({row.low:{form}} to {row.high:{form}})"
