"""Evidence: what decisions say about a parameter before any prior. It adds.

In: decisions and a model. Out: a log-likelihood curve on a grid, per group. Order, batching and parallel workers
change nothing but rounding; regrouping adds curves and never reads the decisions again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csc_array

from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions, Losses
from skilloscope.decision.arrow import as_decisions
from skilloscope.inference.grid import Grid
from skilloscope.inference.posterior import Posterior, posterior_from_log_density
from skilloscope.inference.priors import Prior, Uniform
from skilloscope.models.agent import Agent
from skilloscope.models.choice_sets import ChoiceSets
from skilloscope.models.kernels.agent import add_curves

Array = npt.NDArray[np.float64]

_TOLERANCE = 1e-9  # error of a curve between its nodes, per decision, at which no more nodes are added
_WORST = 1e-5  # error per decision beyond which a curve is refused
_MOST_NODES = 768
_BATCH = 100_000  # decisions whose losses are held at once: memory is that of the decisions, not a multiple of it
_LARGEST = 1e307  # of loss/k: a little below what a float holds


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """A log-likelihood curve at the nodes of a grid, and how many decisions made it.

    >>> nothing = Evidence.zero(Grid(0, 4, 8))
    >>> (nothing + nothing).decisions
    0
    >>> print(nothing.posterior().prior)
    uniform on [0, 4]
    """

    grid: Grid
    curve: Array
    decisions: int
    tally: Tally = field(default_factory=Tally)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Evidence: {self.decisions:,} decisions on {self.grid}>"

    @classmethod
    def zero(cls, grid: Grid) -> Evidence:
        """Return the evidence of no decisions: a flat curve."""
        return cls(grid, np.zeros(grid.size), 0)

    def __add__(self, other: Evidence) -> Evidence:
        self.grid.check_same(other.grid)
        about = _common_model(self, other)
        return Evidence(
            self.grid, self.curve + other.curve, self.decisions + other.decisions, self.tally + other.tally, about
        )

    def tempered(self, dispersion: float) -> Evidence:
        """Return the curve divided by a dispersion: evidence whose variance is that many times the model's."""
        return Evidence(self.grid, self.curve / dispersion, self.decisions, self.tally, self.about)

    def log_likelihood(self, at: npt.ArrayLike) -> Array:
        """Return the log-likelihood at any parameter values of the range."""
        return self.grid.interpolate(self.curve, at)

    def posterior(self, prior: Prior | None = None) -> Posterior:
        """Return the posterior under a prior (uniform on the grid's range unless given). [DFH13 (3)–(4) in logs]"""
        prior = prior or Uniform(self.grid.low, self.grid.high)
        if prior.low < self.grid.low - 1e-12 or prior.high > self.grid.high + 1e-12:
            raise InputError(f"the prior ({prior}) reaches beyond the evidence ({self.grid})")
        coefficients = self.grid.coefficients(self.curve)
        return posterior_from_log_density(
            lambda at: self.grid.interpolate_coefficients(coefficients, at) + prior.log_density(at),
            prior.low,
            prior.high,
            prior=str(prior),
        )


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceTable(Mapping[Any, Evidence]):
    """The evidence of many groups: one row of curves each. A mapping from label to `Evidence`."""

    grid: Grid
    labels: Sequence[Any]
    curves: Array
    decisions: npt.NDArray[np.int64]
    tally: Tally = field(default_factory=Tally)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, label: Any) -> Evidence:
        if label not in self._rows:
            raise KeyError(f"no group {label!r}; the groups: {', '.join(map(str, list(self.labels)[:20]))}")
        row = self._rows[label]
        return Evidence(self.grid, self.curves[row], int(self.decisions[row]), Tally(), self.about)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<EvidenceTable: {len(self):,} groups, {int(self.decisions.sum()):,} decisions on {self.grid}>"

    @cached_property
    def _rows(self) -> dict[Any, int]:
        return {label: row for row, label in enumerate(self.labels)}

    def total(self) -> Evidence:
        """Return the sum over all groups."""
        return Evidence(self.grid, self.curves.sum(axis=0), int(self.decisions.sum()), self.tally, self.about)

    def regrouped(self, labels: Sequence[Any] | npt.NDArray[Any]) -> EvidenceTable:
        """Return the sums over rows with the same new label, without reading any decision again.

        >>> table = EvidenceTable(Grid(0, 4, 8), ["a", "b", "c"], np.ones((3, 8)), np.array([1, 2, 3]))
        >>> table.regrouped(["x", "y", "x"])["x"].decisions
        4
        """
        if len(labels) != len(self):
            raise InputError(f"{len(labels):,} new labels for {len(self):,} groups")
        distinct, codes = _codes(labels)
        counts = np.bincount(codes, weights=self.decisions, minlength=len(distinct)).astype(np.int64)
        curves = _added_rows(self.curves, codes, len(distinct))
        return EvidenceTable(self.grid, distinct, curves, counts, self.tally, self.about)


def evidence(
    decisions: Decisions | Losses,
    model: Agent | None = None,
    grid: Grid | None = None,
    *,
    by: str | Sequence[str] = "decider",
    span: tuple[float, float] = (0.0, 4.0),
) -> EvidenceTable:
    """Return the evidence of each group of decisions about the model's parameter.

    Without a grid the range `span` is taken, with as many nodes as these decisions need; give one where evidence of
    several batches is to be added.

    >>> batch = Decisions.from_lists(["Ann"] * 3, [[0.0, -0.1], [0.0, -0.9], [0.0, -0.5]], [0, 0, 1])
    >>> table = evidence(batch, Agent(k=0.1))
    >>> round(table["Ann"].posterior().mean, 3)
    0.855
    """
    if isinstance(decisions, Losses):
        raise InputError(
            "losses are two numbers a move, not choice sets: the agent cannot read them",
            hint="analyse the games so that every alternative has a value, or ask for gain statistics",
        )
    decisions = decisions if isinstance(decisions, Decisions) else as_decisions(decisions)
    model = (model or Agent()).prepared(decisions)
    labels, codes = decisions.groups(by)
    chosen = grid or Grid(*span)
    while True:
        curves = np.zeros((len(labels), chosen.size))
        counts = np.zeros(len(labels), dtype=np.int64)
        tally = Tally()
        for start, sets in _batches(decisions, model):
            _check_losses(sets, model.k)
            groups = codes[start + sets.row]
            add_curves(sets, groups, chosen.nodes, curves, k=model.k)
            counts += np.bincount(groups, minlength=len(labels))
            tally = tally + sets.tally
        error = chosen.tail(curves.sum(axis=0)) / max(int(counts.sum()), 1)
        if grid or chosen.size >= _MOST_NODES or error <= _TOLERANCE:
            break
        chosen = chosen.doubled()
    if not error <= _WORST:  # NaN is refused too
        raise InputError(
            f"the log-likelihood cannot be carried by {chosen}: losses are too large for this k and range",
            hint="use a larger k (it scales with the utilities) or a smaller range",
        )
    return EvidenceTable(chosen, labels, curves, counts, decisions.tally + tally, model.about())


def _batches(decisions: Decisions, model: Agent) -> Iterator[tuple[int, ChoiceSets]]:
    """Yield the choice sets of some decisions at a time, and where these begin."""
    bare = replace(decisions, context=None, tally=Tally())
    for start in range(0, len(bare), _BATCH):
        whole = start == 0 and len(bare) <= _BATCH
        yield start, model.choice_sets(bare if whole else bare.select(slice(start, start + _BATCH)))


def _codes(labels: Sequence[Any] | npt.NDArray[Any]) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the distinct labels in order of first appearance, and the place of each label among them."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iuU":
        encoded = pa.array(labels).dictionary_encode()
        return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)
    rank: dict[Any, int] = {}
    codes = np.fromiter((rank.setdefault(label, len(rank)) for label in labels), dtype=np.int64, count=len(labels))
    return list(rank), codes


def _added_rows(rows: Array, codes: npt.NDArray[np.int64], n: int) -> Array:
    """Return Σ of the rows of each code: a sparse matrix of ones does what np.add.at does, several times faster."""
    ones = csc_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=(n, len(codes)))
    return np.asarray(ones @ rows)


def _check_losses(sets: ChoiceSets, k: float) -> None:
    """Raise where loss/k is beyond what a number can hold; everything smaller is carried, however large."""
    largest = float(sets.losses.max(initial=0.0))
    if not largest < _LARGEST * min(k, 1.0):
        raise InputError(
            f"a loss of {largest:.3g} is more than {_LARGEST:g} times k = {k:g}: their ratio overflows",
            hint="k scales with the utilities: use a larger one, or give the utilities in a larger unit",
        )


def _common_model(one: Evidence, other: Evidence) -> Mapping[str, Any]:
    if one.about and other.about and one.about != other.about:
        raise InputError(
            f"evidence of different models cannot be added: {dict(one.about)} and {dict(other.about)}",
            hint="use one k, one choice-set rule and one bucket for both",
        )
    return one.about or other.about
