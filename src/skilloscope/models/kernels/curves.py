"""Fast twins of `curves` and `mappings`: the likelihood of millions of decisions, with its slopes in log s and c.

In: choice sets, put into columns once (`CurveColumns`). Out: log p of each choice, its slopes, the probabilities of all
alternatives, the percentile interval of each choice.

Exponentials and logarithms of whole columns are taken by numpy, a chunk at a time: it does four or eight at once, and
the chunk stays in the cache. What is left for a compiled loop (`curve_loops`) is the equation Σ p = 1 of each decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import ragged_take
from skilloscope.models.choice_sets import ChoiceSets
from skilloscope.models.curves import log_losses
from skilloscope.models.kernels.curve_loops import fill, interval_ends, scores_powers, scores_shares, scores_third
from skilloscope.models.mappings import LEAST_LOG_G

Array = npt.NDArray[np.float64]

_CHUNK = 4096  # decisions at a time
_CODES = {"shares": 0, "powers": 1, "third": 2}
_SCORES = {"shares": scores_shares, "powers": scores_powers, "third": scores_third}
_LOG_2 = float(np.log(2.0))


@dataclass(frozen=True, eq=False)
class CurveColumns:
    """Choice sets as the kernels read them: logarithms of losses, and which alternatives are better or tied."""

    losses: Array
    log_losses: Array
    offsets: npt.NDArray[np.int64]
    ties: npt.NDArray[np.float64]
    """How many alternatives are tied for best."""
    chosen: Array
    """log of the chosen one's loss, the extra alternative's where that was chosen."""
    chosen_loss: Array
    chosen_weight: Array
    extra: Array
    extra_loss: Array
    extra_weight: Array
    extra_chosen: npt.NDArray[np.bool_]
    matched: npt.NDArray[np.bool_]
    """Whether the first alternative was chosen."""
    row: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def from_sets(cls, sets: ChoiceSets, matched: npt.NDArray[np.bool_] | None = None) -> CurveColumns:
        """Return the columns of choice sets; without `matched` whatever is tied for best counts as a match."""
        chosen_loss = np.where(sets.extra_chosen, sets.extra_loss, sets.chosen_loss)
        ties = np.add.reduceat(sets.losses == 0, sets.offsets[:-1]) if len(sets) else np.zeros(0)
        return cls(
            losses=sets.losses,
            log_losses=log_losses(sets.losses),
            offsets=sets.offsets,
            ties=ties.astype(float),
            chosen=log_losses(chosen_loss),
            chosen_loss=chosen_loss,
            chosen_weight=np.where(sets.extra_chosen, sets.extra_weight, 1.0),
            extra=log_losses(sets.extra_loss),
            extra_loss=sets.extra_loss,
            extra_weight=sets.extra_weight,
            extra_chosen=sets.extra_chosen,
            matched=(sets.chosen_loss == 0) & ~sets.extra_chosen if matched is None else matched[sets.row],
            row=sets.row,
        )

    def part(self, start: int, stop: int) -> CurveColumns:
        """Return consecutive decisions; nothing is copied but the offsets."""
        flat = slice(self.offsets[start], self.offsets[stop])
        rows = slice(start, stop)
        return replace(
            self,
            losses=self.losses[flat],
            log_losses=self.log_losses[flat],
            offsets=self.offsets[start : stop + 1] - self.offsets[start],
            **{name: getattr(self, name)[rows] for name in _BY_ROW},
        )

    def take(self, index: npt.NDArray[np.int64]) -> CurveColumns:
        """Return some decisions, in that order."""
        offsets, flat = ragged_take(self.offsets, index)
        return replace(
            self,
            losses=self.losses[flat],
            log_losses=self.log_losses[flat],
            offsets=offsets,
            **{name: getattr(self, name)[index] for name in _BY_ROW},
        )

    def chunks(self, size: int = _CHUNK) -> Iterator[tuple[slice, CurveColumns]]:
        """Yield the decisions piece by piece."""
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            yield slice(start, stop), self.part(start, stop)


_BY_ROW = (
    "ties",
    "chosen",
    "chosen_loss",
    "chosen_weight",
    "extra",
    "extra_loss",
    "extra_weight",
    "extra_chosen",
    "matched",
    "row",
)


@dataclass(frozen=True, eq=False)
class Scores:
    """log p of each choice and its slopes in log s and in c."""

    log_p: Array
    by_log_s: Array
    by_c: Array


def log_curve(curve: str, log_ratio: Array, c: Array | float) -> tuple[Array, Array, Array]:
    """Return log g and its slopes in log s and c, where log(δ/s) is given: the twin of `LossCurve.log_value`."""
    if curve == "ipb":
        ratio = np.exp(log_ratio)
        log_g = -c * np.log1p(ratio)
        return log_g, c * ratio / (1 + ratio), log_g / c
    u = np.exp(c * log_ratio)
    if curve == "invexp":
        log_g, slope = -u, u
    elif curve == "ipa":
        log_g, slope = -np.log1p(u), u / (1 + u)
    else:
        half = 2.0 if curve == "secha" else 1.0
        fall = np.exp(-half * u)
        log_g = 2 / half * (_LOG_2 - np.log1p(fall)) - u
        slope = u * (1 - fall) / (1 + fall)
    return log_g, c * slope, -slope * log_ratio


def scores(columns: CurveColumns, mapping: str, curve: str, log_s: npt.ArrayLike, c: npt.ArrayLike) -> Scores:
    """Return log p of every choice with its slopes; s and c are one each, or one per decision."""
    n = len(columns)
    out = Scores(np.empty(n), np.empty(n), np.empty(n))
    for rows, part, at_s, at_c in _parts(columns, log_s, c):
        listed, chosen, extra = _curves(part, curve, at_s, at_c)
        form = _forms(mapping, listed[0], chosen[0], extra[0])
        _SCORES[mapping](
            listed,
            chosen,
            extra,
            *form,
            part.offsets,
            part.ties,
            part.extra_weight,
            out.log_p[rows],
            out.by_log_s[rows],
            out.by_c[rows],
        )
        out.log_p[rows] += np.log(part.chosen_weight)
    return out


def probability_columns(
    columns: CurveColumns, mapping: str, curve: str, log_s: npt.ArrayLike, c: npt.ArrayLike
) -> tuple[Array, Array]:
    """Return the probabilities of all listed alternatives end to end, and of each decision's extra one."""
    listed, extra = np.empty(len(columns.losses)), np.zeros(len(columns))
    for rows, part, at_s, at_c in _parts(columns, log_s, c):
        flat = slice(columns.offsets[rows.start], columns.offsets[rows.stop])
        log_g, beyond = _values(part, curve, at_s, at_c)
        a, _, e = _forms(mapping, log_g, beyond, beyond)
        fill(
            _CODES[mapping], a, e, part.offsets, part.ties, weight=part.extra_weight, p=listed[flat], beyond=extra[rows]
        )
    return listed, extra


def intervals(
    columns: CurveColumns, mapping: str, curve: str, log_s: npt.ArrayLike, c: npt.ArrayLike
) -> tuple[Array, Array]:
    """Return p⁻ and p⁺ of every choice: what is better, and that with the choice and its ties. [RH11 sect. 6]

    Alternatives tied with the choice share one interval. The extra alternative's lies at the end.
    """
    low, high = np.empty(len(columns)), np.empty(len(columns))
    for rows, part, at_s, at_c in _parts(columns, log_s, c):
        p, beyond = probability_columns(part, mapping, curve, at_s, at_c)
        interval_ends(
            p,
            beyond,
            part.losses,
            part.offsets,
            part.chosen_loss,
            extra_chosen=part.extra_chosen,
            low=low[rows],
            high=high[rows],
        )
    return low, high


def _parts(
    columns: CurveColumns, log_s: npt.ArrayLike, c: npt.ArrayLike
) -> Iterator[tuple[slice, CurveColumns, Array, Array]]:
    at_s, at_c = np.asarray(log_s, dtype=float), np.asarray(c, dtype=float)
    for rows, part in columns.chunks():
        yield rows, part, at_s[rows] if at_s.ndim else at_s, at_c[rows] if at_c.ndim else at_c


def _spread(part: CurveColumns, at: Array) -> Array:
    return np.repeat(at, np.diff(part.offsets)) if at.ndim else at


Columns3 = tuple[Array, Array, Array]


def _curves(part: CurveColumns, curve: str, log_s: Array, c: Array) -> tuple[Columns3, Columns3, Columns3]:
    """Return log g with slopes of the listed alternatives, the chosen ones and the extra ones."""
    listed = log_curve(curve, part.log_losses - _spread(part, log_s), _spread(part, c))
    return listed, log_curve(curve, part.chosen - log_s, c), log_curve(curve, part.extra - log_s, c)


def _values(part: CurveColumns, curve: str, log_s: Array, c: Array) -> tuple[Array, Array]:
    listed = log_curve(curve, part.log_losses - _spread(part, log_s), _spread(part, c))[0]
    return listed, log_curve(curve, part.extra - log_s, c)[0]


def _forms(mapping: str, listed: Array, chosen: Array, extra: Array) -> tuple[Array, Array, Array]:
    """Return log g in the form that the mapping's loop adds up: g for shares, 1/g for powers, itself for the third."""
    if mapping == "shares":
        return np.exp(listed), np.exp(chosen), np.exp(extra)
    if mapping == "powers":
        return _inverse(listed), _inverse(chosen), _inverse(extra)
    return np.maximum(listed, -LEAST_LOG_G), np.maximum(chosen, -LEAST_LOG_G), np.maximum(extra, -LEAST_LOG_G)


def _inverse(log_g: Array) -> Array:
    return np.exp(np.minimum(-log_g, LEAST_LOG_G))
