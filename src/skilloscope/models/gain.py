"""Gain per move: its histogram, the expected score between two of them, and the Elo difference that follows. [FER12]

A histogram is kept sparse, as integers: centipawns and how often each occurred. So sums are exact, order changes
nothing, and an expected score is a ratio of two whole numbers. Nothing here knows chess: a gain is the change that a
choice makes to the value of what the decider has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve
from scipy.special import log1p, ndtri

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, OptionError

Curve = Literal["normal", "logistic"]
_Method = Literal["auto", "exact", "fft"]

_CAP = 39.0
"""Values are cut at ± so many pawns, which is also what a mate is worth. [FER12 sect. 3]"""

_SPARSE = 4_000_000  # up to so many products the cross-correlation is summed one by one, and exact; beyond, by FFT
_CHUNK = 8_000_000  # so many entries of a table of histograms are held at a time


def clipped_gain(before: npt.ArrayLike, after: npt.ArrayLike, cap: float = _CAP) -> Array:
    """g = s_k − s_{k−1}, the mover's view, of values cut at ± cap. [FER12 Algorithm 1, step 2; sect. 3]

    >>> clipped_gain([0.3, -27.82], [0.3, -60.0])
    array([  0.  , -11.18])
    """
    if not cap > 0:
        raise OptionError(f"a cap of {cap} pawns", hint="it must be more than 0; 39 is the paper's")
    first, last = (np.clip(np.asarray(value, dtype=np.float64), -cap, cap) for value in (before, after))
    return np.asarray(np.round(last - first, 9))


@dataclass(frozen=True, eq=False, repr=False)
class GainHistogram:
    """How often each gain occurred, in steps of one centipawn; histograms add. [FER12 Algorithm 1, step 3]

    >>> one = GainHistogram.from_gains([0.0, 0.0, -0.16])
    >>> one + GainHistogram.from_gains([0.02])
    <GainHistogram: 4 moves, mean -0.035>
    """

    centipawns: Ints  # the gains that occurred, ascending
    counts: Ints

    def __post_init__(self) -> None:
        if len(self.centipawns) != len(self.counts):
            raise InputError("a histogram needs one count per bin")
        if np.any(np.diff(self.centipawns) <= 0) or np.any(self.counts <= 0):
            raise InputError("the bins of a histogram ascend, and each has occurred at least once")

    @classmethod
    def from_gains(cls, gains: npt.ArrayLike) -> "GainHistogram":
        """Return the histogram of gains in pawns."""
        pawns = np.asarray(gains, dtype=np.float64)
        if not np.all(np.isfinite(pawns)):
            raise InputError("a gain is not finite", hint="leave unknown gains out and count them")
        return cls(*np.unique(_centipawns(pawns), return_counts=True))

    @classmethod
    def sum(cls, histograms: "Iterable[GainHistogram]") -> "GainHistogram":
        """Return the sum of many histograms."""
        pairs = [(np.zeros(0, dtype=np.int64),) * 2, *((one.centipawns, one.counts) for one in histograms)]
        bins, counts = map(np.concatenate, zip(*pairs, strict=True))
        return _merged(bins, counts)

    def __add__(self, other: "GainHistogram") -> "GainHistogram":
        return GainHistogram.sum([self, other])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GainHistogram):
            return NotImplemented
        return np.array_equal(self.centipawns, other.centipawns) and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.centipawns.tobytes(), self.counts.tobytes()))

    def __repr__(self) -> str:
        return f"<GainHistogram: {self.moves:,} moves, mean {self.mean:.3f}>"

    @property
    def moves(self) -> int:
        """How many moves are in it."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean gain in pawns; NaN without a move."""
        return float(self.centipawns @ self.counts / self.moves / 100) if self.moves else float("nan")

    @property
    def shares(self) -> Array:
        """f: the normalised frequencies, which sum to one. [FER12 figure 3]"""
        return np.asarray(self.counts / self.moves)

    def dense(self) -> tuple[int, Array]:
        """Return the first bin, and the normalised frequency of it and of every bin up to the last."""
        first = int(self.centipawns[0])
        table = np.zeros(int(self.centipawns[-1]) - first + 1)
        table[self.centipawns - first] = self.shares
        return first, table


PEAK = GainHistogram(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))
"""The engine as one who never gains or loses: a single peak of height 1 at the origin. [FER12 sect. 6]"""


def difference_distribution(x: GainHistogram, y: GainHistogram, *, method: _Method = "auto") -> tuple[Ints, Array]:
    """f_{X−Y}[n] = Σ_m f_Y[m]·f_X[n+m], n in centipawns: exact sums, or FFT where many differ. [FER12 (1)]

    >>> at, f = difference_distribution(GainHistogram.from_gains([0.01, 0.0]), GainHistogram.from_gains([0.0]))
    >>> at.tolist(), f.tolist()
    ([0, 1], [0.5, 0.5])
    """
    _check_moves(x, y)
    if _by_sums(x, y, method):
        found = _difference_counts(x, y)
        return found.centipawns, np.asarray(found.counts / (x.moves * y.moves))
    (first_x, f_x), (first_y, f_y) = x.dense(), y.dense()
    f = fftconvolve(f_x, f_y[::-1])
    start = first_x - (first_y + len(f_y) - 1)
    return np.arange(start, start + len(f), dtype=np.int64), np.asarray(f)


def score_of_difference(at: Ints, f: Array) -> float:
    """p = 0.5·f_{X−Y}[0] + Σ_{n>0} f_{X−Y}[n]. [FER12 (2)]"""
    return float(0.5 * f[at == 0].sum() + f[at > 0].sum())


def expected_score(x: GainHistogram, y: GainHistogram = PEAK, *, method: _Method = "auto") -> float:
    """p_XY = 0.5·P(X = Y) + P(X > Y), by the cross-correlation of the histograms. [FER12 Algorithm 1, step 4]

    Without a second histogram the opponent is the engine as a single peak. [FER12 Algorithm 3, step 1]

    >>> expected_score(GainHistogram.from_gains([0.0, -0.05, 0.02, -1.3]))
    0.375
    """
    _check_moves(x, y)
    if _by_sums(x, y, method):
        found = _difference_counts(x, y)
        won = 2 * found.counts[found.centipawns > 0].sum() + found.counts[found.centipawns == 0].sum()
        return int(won) / (2 * x.moves * y.moves)  # whole numbers: 0 and 1 are exactly that
    if x.centipawns[0] > y.centipawns[-1] or x.centipawns[-1] < y.centipawns[0]:
        return float(x.centipawns[0] > y.centipawns[-1])  # what rounding must not make finite
    return float(np.clip(score_of_difference(*difference_distribution(x, y, method="fft")), 0.0, 1.0))


def expected_scores(x: Sequence[GainHistogram], y: Sequence[GainHistogram] | None = None) -> Array:
    """Return p of every x (rows) against every y (columns), against each other without y. [FER12 (2)]

    The sums of (1) and (2) in another order: p = Σ_x f_X[x]·(P(Y < x) + 0.5·P(Y = x)), which is one product of
    two tables. The tables hold whole numbers, so it is exact as long as twice the product of two counts stays
    below 2^53.
    """
    others = x if y is None else y
    if not x or not others:
        return np.zeros((len(x), len(others)))
    _check_moves(*x, *others)
    bins = np.unique(np.concatenate([one.centipawns for one in (*x, *others)]))
    step = max(1, _CHUNK // len(bins))
    scores = np.empty((len(x), len(others)))
    for start in range(0, len(others), step):
        part = _table(others[start : start + step], bins)
        beaten = 2 * np.cumsum(part, axis=1) - part  # twice those below, once the equal ones
        for row in range(0, len(x), step):
            scores[row : row + step, start : start + step] = _table(x[row : row + step], bins) @ beaten.T
    moves = [np.array([one.moves for one in side], dtype=np.float64) for side in (x, others)]
    return np.asarray(scores / (2 * np.multiply.outer(*moves)))


def move_scores(gains: npt.ArrayLike, engine: GainHistogram = PEAK) -> Array:
    """Return what each single gain scores against the engine: P(Y < g) + 0.5·P(Y = g). [FER12 Algorithm 4]

    >>> move_scores([-0.05, 0.0, 0.3])
    array([0. , 0.5, 1. ])
    """
    _check_moves(engine)
    centipawns = _centipawns(np.asarray(gains, dtype=np.float64))
    up_to = np.concatenate([[0], np.cumsum(engine.counts)])
    below = up_to[np.searchsorted(engine.centipawns, centipawns, side="left")]
    not_above = up_to[np.searchsorted(engine.centipawns, centipawns, side="right")]
    return np.asarray((below + not_above) / (2 * engine.moves))


def elo_curve(name: str) -> Curve:
    """Return the curve from an expected score to a difference by its name."""
    if name not in get_args(Curve):
        raise OptionError(f"no curve {name!r}", hint="the curves are 'normal' and 'logistic'")
    return cast(Curve, name)


def elo_difference(p: npt.ArrayLike, curve: Curve = "normal") -> Any:
    """d = 200·√2·Φ⁻¹(p), or logistic, 400·log10(p / (1 − p)); ±∞ at 0 and 1. [FER12 Algorithm 1, step 5]

    >>> round(elo_difference(0.655)), elo_difference(0.0), round(elo_difference(0.655, "logistic"))
    (113, -inf, 111)
    """
    share = np.asarray(p, dtype=np.float64)
    if np.any((share < 0) | (share > 1)):
        raise InputError("an expected score lies between 0 and 1")
    if elo_curve(curve) == "normal":
        d = 200 * np.sqrt(2) * ndtri(share)
    else:
        with np.errstate(divide="ignore"):
            d = 400 / np.log(10) * (np.log(share) - log1p(-share))
    return float(d) if d.ndim == 0 else d


def elo_slope(p: npt.ArrayLike, curve: Curve = "normal") -> Any:
    """dd/dp, by how much the difference grows with the expected score; infinite at 0 and 1.

    >>> round(elo_slope(0.5)), round(elo_slope(0.5, "logistic"))
    (709, 695)
    """
    share = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore"):
        if elo_curve(curve) == "normal":
            found = 200 * np.sqrt(2) * np.sqrt(2 * np.pi) * np.exp(ndtri(share) ** 2 / 2)
        else:
            found = 400 / np.log(10) / (share * (1 - share))
    return float(found) if found.ndim == 0 else found


def _by_sums(x: GainHistogram, y: GainHistogram, method: _Method) -> bool:
    return method == "exact" or (method == "auto" and len(x.counts) * len(y.counts) <= _SPARSE)


def _difference_counts(x: GainHistogram, y: GainHistogram) -> GainHistogram:
    return _merged(np.subtract.outer(x.centipawns, y.centipawns).ravel(), np.multiply.outer(x.counts, y.counts).ravel())


def _centipawns(pawns: Array) -> Ints:
    return np.rint(pawns * 100).astype(np.int64)


def _table(histograms: Sequence[GainHistogram], bins: Ints) -> Array:
    table = np.zeros((len(histograms), len(bins)))
    for row, one in enumerate(histograms):
        table[row, np.searchsorted(bins, one.centipawns)] = one.counts
    return table


def _merged(centipawns: Ints, counts: Ints) -> GainHistogram:
    bins, places = np.unique(centipawns, return_inverse=True)
    sums = np.zeros(len(bins), dtype=np.int64)
    np.add.at(sums, places, counts)
    return GainHistogram(bins, sums)


def _check_moves(*histograms: GainHistogram) -> None:
    if any(one.moves == 0 for one in histograms):
        raise InputError(
            "a histogram without moves carries no information", hint="leave out players without a known gain"
        )
