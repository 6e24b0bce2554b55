"""Two engines on the same choices: whose values explain better what people chose, and by how much.

In: two tables of the same decisions, or one with a depth axis. Out: an EngineComparison: for each engine its fitted k
and the held-out log-likelihood per decision, and the difference with an interval.

Both are scored on the same event: the same decisions, the same alternatives (those that both engines list), the same
folds, k fitted for each without the fold that it is scored on. The interval resamples whole games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skilloscope.core.errors import OptionError, Tally, check_mass
from skilloscope.decision import Decisions
from skilloscope.decision.align import align, depth_pair
from skilloscope.evidence import agent_evidence
from skilloscope.evidence.fit_k import KFit, KGain, fitted_and_held_out
from skilloscope.evidence.held_out import HeldOut, folds_of
from skilloscope.models.agent import Agent
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, edge_mark, percent, skipped_line

_RULE = "listed"  # over the alternatives that both list, it is the only rule that both can be scored by


@dataclass(frozen=True)
class EngineFit:
    """How well the values of one engine explain the choices."""

    judge: str
    fit: KFit
    c: float  # the competence of everybody together under this engine, in units that belong to it
    sd: float
    best_chosen: float
    mean_loss: float
    held_out: float  # log-likelihood per decision that the fit has not seen

    FIELDS: ClassVar = ("judge", "*fit", "c", "sd", "best_chosen", "mean_loss", "held_out")


@dataclass(frozen=True, eq=False)
class EngineComparison(Study):
    """Two engines, or two depths of one, and how much better the second explains the choices."""

    decisions: int
    deciders: int
    clusters_by: str
    clusters: int
    folds: int
    seed: int
    mass: float
    chance: float  # the log-likelihood per decision of a choice at random
    judges: tuple[EngineFit, EngineFit]
    gain: float
    gain_low: float
    gain_high: float
    rule: str = _RULE

    FIELDS: ClassVar = (
        "decisions", "deciders", "rule", "clusters_by", "clusters", "folds", "seed", "mass", "chance", "judges",
        "gain", "gain_low", "gain_high", "skipped",
    )  # fmt: skip
    ROWS: ClassVar = "judges"
    caveats = (
        "The engine with the higher likelihood is nearer to how these people saw the alternatives; it need not be the "
        "stronger engine.",
    )

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"{self.judges[0].judge} and {self.judges[1].judge} on the same choices"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each engine, and the verdict below."""
        columns: list[Column[EngineFit]] = [
            Column("engine", lambda one: one.judge, label=True),
            Column("k (fitted)", lambda one: k_text(one.fit)),
            Column("c (all pooled)", lambda one: f"{one.c:.3f} ± {one.sd:.3f}"),
            Column("best chosen", lambda one: percent(one.best_chosen)),
            Column("mean loss", lambda one: f"{one.mean_loss:.4g}"),
            Column("held-out log-likelihood", lambda one: f"{one.held_out:.4f}"),
        ]
        notes = [
            f"chance: {self.chance:.4f} per decision",
            self.verdict,
            f"{self.folds} folds of {self.clusters:,} {self.clusters_by}s, {self.deciders:,} deciders; "
            f"the interval resamples {self.clusters_by}s",
            skipped_line(self.decisions, self.skipped),
        ]
        title = f"two engines on the same choices among the same alternatives (rule {self.rule}), per decision"
        return [Table.of(title, self.judges, columns, notes=notes)]

    @property
    def verdict(self) -> str:
        """Which of the two explains the choices better, if the interval says so."""
        first, second = (one.judge for one in self.judges)
        low, high = self.gain_low, self.gain_high
        gain = f"{self.gain:+.4f} ({100 * self.mass:g} % interval {low:+.4f} to {high:+.4f}) per decision"
        if low <= 0 <= high:
            return f"{second} against {first}: {gain}; the interval includes 0, so neither is shown to be better"
        better, worse = (second, first) if low > 0 else (first, second)
        return f"{second} against {first}: {gain}; {better} explains the choices better than {worse}"


@dataclass(frozen=True)
class Resampling:
    """How decisions are held out, and how much the intervals hold."""

    by: str | None = None  # the unit that is held out and resampled; None for game, else problem, else decider
    folds: int = 5
    seed: int = 1
    mass: float = 0.95

    def __post_init__(self) -> None:
        check_mass(self.mass)


def compare_engines(
    first: Decisions, second: Decisions, names: tuple[str, str] = ("first", "second"), asked: Resampling | None = None
) -> EngineComparison:
    """Compare two tables of the same choices; decisions are matched by identity, alternatives by name."""
    return _comparison(align(first, second), names, asked or Resampling())


def compare_depths(batch: Decisions, depths: tuple[int, int], asked: Resampling | None = None) -> EngineComparison:
    """Compare two depths of one engine."""
    if depths[0] == depths[1]:
        raise OptionError(f"two depths are compared, got {depths[0]} twice")
    names = (f"depth {depths[0]}", f"depth {depths[1]}")
    return _comparison(depth_pair(batch, *depths), names, asked or Resampling())


def k_text(fit: KFit) -> str:
    """Return a fitted k with its likelihood interval, and a mark where it is at the edge of the range searched."""
    return f"{fit.k:.3g} ({fit.low:.3g} to {fit.high:.3g}){edge_mark(fit.edge)}"


def k_line(found: KGain) -> str:
    """Return what fitting k gains, in one line."""
    gain = f"{found.gain:+.4f} ({found.gain_low:+.4f} to {found.gain_high:+.4f})"
    return (
        f"k fitted: {k_text(found.fit)}; held-out log-likelihood per decision {found.held_out:.4f}, "
        f"{gain} against k = {found.reference_k:g} ({found.folds} folds of {found.clusters:,} {found.clusters_by}s)"
    )


def _comparison(pair: tuple[Decisions, Decisions], names: tuple[str, str], asked: Resampling) -> EngineComparison:
    split = folds_of(pair[0], asked.by, folds=asked.folds, seed=asked.seed)
    found = [fitted_and_held_out(batch, split, _RULE, mass=asked.mass) for batch in pair]
    gain, (low, high) = found[1][1].gain(found[0][1], rng=np.random.default_rng(asked.seed), mass=asked.mass)
    first, second = (_fit(name, batch, *own) for name, batch, own in zip(names, pair, found, strict=True))
    return EngineComparison(
        decisions=len(pair[0]),
        deciders=len(pair[0].names()),
        clusters_by=split.by,
        clusters=split.clusters,
        folds=split.size,
        seed=asked.seed,
        mass=asked.mass,
        chance=float(-np.log(pair[0].counts).mean()),
        judges=(first, second),
        gain=gain,
        gain_low=low,
        gain_high=high,
        tally=Tally({**pair[1].skipped, **pair[0].skipped}, [*pair[0].tally.faults, *pair[1].tally.faults]),
    )


def _fit(name: str, batch: Decisions, fit: KFit, held: HeldOut) -> EngineFit:
    everybody = agent_evidence(batch, Agent(k=fit.k, rule=_RULE), span=(0.0, fit.c_high)).total().posterior()
    loss = batch.chosen_loss()
    best, mean = float((loss == 0).mean()), float(loss.mean())
    return EngineFit(name, fit, everybody.mean, everybody.sd, best, mean, held_out=held.per_decision)
