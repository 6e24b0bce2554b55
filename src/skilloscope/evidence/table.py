"""Evidence: what decisions say about a parameter before any prior. It adds.

In: rows made by the sources of evidence. Out: a table with one row for each label, person, game and source: a
log-likelihood curve and how many moves made it. Selecting, grouping and adding rows never reads a decision again, and
order, batching and parallel workers change nothing but rounding.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numpy.polynomial import chebyshev
from scipy.sparse import csc_array

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import GridError, InputError, OptionError, Tally
from skilloscope.core.table_files import read_checked, write_checked
from skilloscope.core.text import read_object
from skilloscope.evidence.posterior import Posterior, Prior, Uniform, posterior_from_log_density

WITHOUT_ENGINE = ("opening", "human", "evaluated", "clocks")  # sources that no engine was asked for
SECOND_READINGS = ("evaluated", "clocks")  # sources that read moves which another source has counted already
_SCHEMA = 1
_KEY = b"skilloscope_evidence"


@dataclass(frozen=True)
class Grid:
    """Chebyshev nodes (of the first kind) on [low, high], in ascending order.

    >>> grid = Grid(0.0, 4.0, 32)
    >>> float(np.abs(grid.interpolate(np.exp(-grid.nodes), [0.0, 1.0, 4.0]) - np.exp([-0.0, -1.0, -4.0])).max()) < 1e-14
    True
    """

    low: float = 0.0
    high: float = 4.0
    size: int = 48

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise OptionError(f"a range needs low < high, got [{self.low}, {self.high}]")
        if self.low < 0:
            raise OptionError(f"the range begins at {self.low}, but competence is not negative", hint="begin at 0")
        if self.size < 4 or self.size % 2:
            raise InputError(f"a grid needs an even number of nodes, at least 4, got {self.size}")

    @property
    def nodes(self) -> Array:
        """The nodes, ascending."""
        angle = np.pi * (2 * np.arange(self.size) + 1) / (2 * self.size)
        return np.asarray(0.5 * (self.low + self.high) - 0.5 * (self.high - self.low) * np.cos(angle))

    def interpolate(self, curve: npt.ArrayLike, at: npt.ArrayLike) -> Array:
        """Return the curve (given at the nodes, one per column or alone) at any points of the range."""
        return self.interpolate_coefficients(self.coefficients(curve), at)

    def interpolate_coefficients(self, coefficients: Array, at: npt.ArrayLike) -> Array:
        """Return the curve with these Chebyshev coefficients at any points of the range."""
        return np.asarray(chebyshev.chebval(self._to_unit(np.asarray(at, dtype=float)), coefficients))

    def coefficients(self, curve: npt.ArrayLike) -> Array:
        """Return the Chebyshev coefficients of the polynomial through the nodes (exact by discrete orthogonality)."""
        unit = self._to_unit(self.nodes)
        basis = chebyshev.chebvander(unit, self.size - 1)
        coefficients = 2.0 / self.size * basis.T @ np.asarray(curve, dtype=float)
        coefficients[0] /= 2
        return np.asarray(coefficients)

    def tail(self, curve: npt.ArrayLike) -> float:
        """Return how large the last coefficients are: about the error of the curve between the nodes."""
        return float(np.abs(self.coefficients(curve)[-max(2, self.size // 8) :]).max())

    def doubled(self) -> "Grid":
        """Return the same range with twice the nodes."""
        return Grid(self.low, self.high, 2 * self.size)

    def check_same(self, other: "Grid") -> None:
        """Raise unless both grids are the same: evidence adds only node by node."""
        if self != other:
            raise GridError(f"evidence on {self} and on {other} cannot be added", hint="compute both on one grid")

    def __str__(self) -> str:
        return f"{self.size} nodes on [{self.low:g}, {self.high:g}]"

    def _to_unit(self, c: Array) -> Array:
        return np.asarray((2 * c - self.low - self.high) / (self.high - self.low))


@dataclass(frozen=True)
class EqualSteps(Grid):
    """Equally spaced nodes; between them curves are straight lines. On such a grid errors are convolutions."""

    def __post_init__(self) -> None:
        """Take any range and number of nodes."""

    @property
    def nodes(self) -> Array:
        """The nodes, ascending."""
        return np.linspace(self.low, self.high, self.size)

    def interpolate_coefficients(self, coefficients: Array, at: npt.ArrayLike) -> Array:
        """Return the curve at any points of the range."""
        return np.asarray(np.interp(np.asarray(at, dtype=float), self.nodes, coefficients))

    def coefficients(self, curve: npt.ArrayLike) -> Array:
        """Return the curve itself: its values at the nodes are what it is interpolated from."""
        return np.asarray(curve, dtype=float)


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
    def zero(cls, grid: Grid) -> "Evidence":
        """Return the evidence of no decisions: a flat curve."""
        return cls(grid, np.zeros(grid.size), 0)

    def __add__(self, other: "Evidence") -> "Evidence":
        self.grid.check_same(other.grid)
        if self.about and other.about and self.about != other.about:
            raise InputError(
                f"evidence of different models cannot be added: {dict(self.about)} and {dict(other.about)}",
                hint="use one k, one choice-set rule and one bucket for both",
            )
        curve, decisions = self.curve + other.curve, self.decisions + other.decisions
        return Evidence(self.grid, curve, decisions, self.tally + other.tally, self.about or other.about)

    def tempered(self, dispersion: float) -> "Evidence":
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
    """Rows of label, person, game, event, source, moves, curve: a mapping from label to summed `Evidence`."""

    grid: Grid
    labels: Sequence[Any]  # the group of each row: a player, a player's endgames, a game, whatever was asked for
    curves: Array
    decisions: Ints  # how many moves are in each row
    tally: Tally = field(default_factory=Tally)
    about: Mapping[str, Any] = field(default_factory=dict)
    people: Sequence[str] = ()
    games: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    events: Sequence[str | None] = ()
    sources: Sequence[str] = ()
    headers: Array = field(default_factory=lambda: np.zeros(0))
    """The rating of each row's person in the header of the game; NaN where there is none."""

    def __getitem__(self, label: Any) -> Evidence:
        if label not in self.rows:
            raise KeyError(f"no group {label!r}; the groups: {', '.join(map(str, list(self.rows)[:20]))}")
        rows = self.rows[label]
        curve = self.curves[rows[0]] if len(rows) == 1 else self.curves[rows].sum(axis=0)
        return Evidence(self.grid, curve, int(self.decisions[rows].sum()), Tally(), self.about)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<EvidenceTable: {len(self):,} groups, {int(self.decisions.sum()):,} decisions on {self.grid}>"

    @cached_property
    def rows(self) -> dict[Any, Ints]:
        """The rows of each label."""
        found: dict[Any, list[int]] = {}
        for row, label in enumerate(self.labels):
            found.setdefault(label, []).append(row)
        return {label: np.array(own, dtype=np.int64) for label, own in found.items()}

    @property
    def by_source(self) -> Counter[str]:
        """How many moves each source has counted."""
        counts: Counter[str] = Counter()
        for source, moves in zip(self.sources, self.decisions.tolist(), strict=True):
            counts[source] += moves
        return counts

    @property
    def moves(self) -> int:
        """How many different moves count: those of sources that read moves a second time are not added."""
        return sum(moves for source, moves in self.by_source.items() if source not in SECOND_READINGS)

    @property
    def searched(self) -> set[int]:
        """The games with moves that an engine has judged."""
        pairs = zip(self.games.tolist(), self.sources, strict=True)
        return {game for game, source in pairs if source not in WITHOUT_ENGINE}

    @property
    def header_elo(self) -> float | None:
        """The mean rating in the headers, each game of a person counted once."""
        known = {
            (person, game): elo
            for person, game, elo in zip(self.people, self.games.tolist(), self.headers.tolist(), strict=True)
            if elo == elo
        }
        return float(np.mean(list(known.values()))) if known else None

    def total(self) -> Evidence:
        """Return the sum over all rows."""
        return Evidence(self.grid, self.curves.sum(axis=0), int(self.decisions.sum()), self.tally, self.about)

    def select(self, rows: npt.ArrayLike) -> "EvidenceTable":
        """Return some rows, by place or as flags."""
        at = np.asarray(rows)
        places = np.flatnonzero(at) if at.dtype == bool else at.astype(np.int64)
        taken: dict[str, Any] = {}
        for name in _COLUMNS:
            column = getattr(self, name)
            if isinstance(column, np.ndarray):
                taken[name] = column[places] if len(column) else column
            else:
                taken[name] = [column[place] for place in places.tolist()] if len(column) else column
        return replace(self, **taken)

    def groups(self) -> "dict[Any, EvidenceTable]":
        """Return the rows of each label as a table of its own."""
        return {label: self.select(rows) for label, rows in self.rows.items()}

    def curves_of(self, label: Any) -> dict[str, Array]:
        """Return the curves of one label by source, a row for each game."""
        rows = self.rows[label]
        sources = np.array([self.sources[row] for row in rows.tolist()])
        return {source: self.curves[rows[sources == source]] for source in dict.fromkeys(sources.tolist())}

    def by_person(self) -> dict[str, dict[str, Array]]:
        """Return each person's curves by source, a row for each game."""
        places: dict[str, dict[str, list[int]]] = {}
        for row, (person, source) in enumerate(zip(self.people, self.sources, strict=True)):
            places.setdefault(person, {}).setdefault(source, []).append(row)
        return {person: {source: self.curves[rows] for source, rows in own.items()} for person, own in places.items()}

    def regrouped(self, labels: Sequence[Any] | npt.NDArray[Any]) -> "EvidenceTable":
        """Return the sums over rows with the same new label, without reading any decision again.

        >>> table = EvidenceTable(Grid(0, 4, 8), ["a", "b", "c"], np.ones((3, 8)), np.array([1, 2, 3]))
        >>> table.regrouped(["x", "y", "x"])["x"].decisions
        4
        """
        if len(labels) != len(self.labels):
            raise InputError(f"{len(labels):,} new labels for {len(self.labels):,} groups")
        if isinstance(labels, np.ndarray) and labels.dtype.kind in "iuU":
            encoded = pa.array(labels).dictionary_encode()
            distinct, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)
        else:
            rank: dict[Any, int] = {}
            codes = np.fromiter((rank.setdefault(label, len(rank)) for label in labels), np.int64, count=len(labels))
            distinct = list(rank)
        counts = np.bincount(codes, weights=self.decisions, minlength=len(distinct)).astype(np.int64)
        # A sparse matrix of ones does what np.add.at does, several times faster.
        ones = csc_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=(len(distinct), len(codes)))
        return EvidenceTable(self.grid, distinct, np.asarray(ones @ self.curves), counts, self.tally, self.about)

    @classmethod
    def concat(cls, tables: "Sequence[EvidenceTable]") -> "EvidenceTable":
        """Return the rows of several tables on one grid, in their order."""
        for table in tables[1:]:
            tables[0].grid.check_same(table.grid)
        joined: dict[str, Any] = {}
        for name in _COLUMNS:
            columns = [getattr(table, name) for table in tables]
            arrays = isinstance(columns[0], np.ndarray)
            joined[name] = np.concatenate(columns) if arrays else [cell for column in columns for cell in column]
        return replace(tables[0], tally=sum((table.tally for table in tables), Tally()), **joined)


_COLUMNS = [one.name for one in fields(EvidenceTable) if one.name not in ("grid", "tally", "about")]


def write_evidence(table: EvidenceTable, path: str | os.PathLike[str]) -> None:
    """Write a table of evidence as Parquet; curves are not rounded."""
    if len(table.labels) and all(isinstance(label, tuple) for label in table.labels):
        labels = {f"label_{i}": pa.array(part) for i, part in enumerate(zip(*table.labels, strict=True))}
    else:
        labels = {"label": pa.array(list(table.labels))}
    flat = pa.array(np.ascontiguousarray(table.curves).ravel())
    curves = pa.FixedSizeListArray.from_arrays(flat, table.grid.size)
    about = {
        "schema": _SCHEMA,
        "grid": asdict(table.grid),
        "about": dict(table.about),
        "skipped": table.tally.as_dict(),
        "tuples": "label_0" in labels,
    }
    columns = {**labels, "decisions": pa.array(table.decisions), "curve": curves}
    arrow = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    # The digits of a curve are noise to a packer: without packing and dictionaries reading is several times faster.
    write_checked(arrow, path, compression="none", use_dictionary=[*labels], write_statistics=False)


def read_evidence(path: str | os.PathLike[str]) -> EvidenceTable:
    """Read a table of evidence that `write_evidence` wrote."""
    arrow = read_checked(path, memory_map=True)
    raw = (arrow.schema.metadata or {}).get(_KEY)
    if raw is None:
        raise InputError(f"{path} holds no evidence", hint="write_evidence writes such files")
    about = read_object(raw)
    if about.get("schema") != _SCHEMA:
        raise InputError(f"{path}: evidence of schema {about.get('schema')}, this version reads {_SCHEMA}")
    try:
        grid = Grid(**about["grid"])
        curves = arrow.column("curve").combine_chunks().flatten().to_numpy(zero_copy_only=False)
        names = [name for name in arrow.column_names if name.startswith("label")]
        labels = [arrow.column(name).to_pylist() for name in names]
        return EvidenceTable(
            grid,
            list(zip(*labels, strict=True)) if about["tuples"] else labels[0],
            curves.reshape(len(arrow), grid.size),
            arrow.column("decisions").to_numpy().astype(np.int64),
            Tally.from_dict(about["skipped"]),
            about["about"],
        )
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, pa.ArrowException) as error:
        raise InputError(f"{path} holds no evidence that can be read ({error})") from error
