"""Fast twins of `agent.log_likelihood`, `joint.log_choice` and `HumanChoices.log_probabilities`, compiled by numba.

The agent's log-likelihood curve of a decision at Chebyshev nodes needs exp(−c·b) for every alternative and node. Three
facts make it cheap. The nodes lie in pairs mid ± x, and exp(±b·x) share their even and odd parts. A short series at
b·x/32, squared five times, is the exponential to ten digits in plain multiplications, which the compiler does four at a
time. And the sums over alternatives multiply: their logarithm is taken once in many decisions, not once in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, Ints
from skilloscope.core.compiled import njit

if TYPE_CHECKING:
    from skilloscope.models.agent import ChoiceSets

N_BASIS = 4  # the functions of Elo in the basis of human choices: a cubic
_SERIES_LIMIT = 0.45  # largest argument at which the series, squared five times, is good to 1e-10 relative
_PRODUCT_LIMIT = 1e250  # the running product of sums is folded into logarithms beyond this
_CHUNK = 8192  # decisions whose exponentials are taken at once: vectorised by numpy, and still in the cache


def curves(sets: ChoiceSets, groups: npt.NDArray[np.integer[Any]], n_groups: int, nodes: Array, *, k: float) -> Array:
    """Return one log-likelihood curve per group: rows groups, columns nodes. The twin of agent.log_likelihood."""
    out = np.zeros((n_groups, len(nodes)))
    add_curves(sets, groups, nodes, out, k=k)
    return out


def add_curves(sets: ChoiceSets, groups: npt.NDArray[np.integer[Any]], nodes: Array, out: Array, *, k: float) -> None:
    """Add the curves of choice sets to their groups' rows of `out`; the nodes must be symmetric."""
    middle = 0.5 * (nodes[0] + nodes[-1])
    if nodes[0] < 0:
        raise ValueError("the kernel needs c >= 0: its running product is bounded only there")
    if len(nodes) % 2 or not np.allclose(nodes + nodes[::-1], 2 * middle, atol=1e-12 * max(1.0, abs(middle))):
        raise ValueError("the kernel needs an even number of nodes, symmetric about their middle")
    half = np.ascontiguousarray(nodes[len(nodes) // 2 :] - middle)
    chosen = _scaled(np.where(sets.extra_chosen, sets.extra_loss, sets.chosen_loss), k)
    log_weight = np.log(np.where(sets.extra_chosen, sets.extra_weight, 1.0))
    groups = np.asarray(groups, dtype=np.int64)
    for start in range(0, len(sets), _CHUNK):
        part = slice(start, min(start + _CHUNK, len(sets)))
        offsets = sets.offsets[part.start : part.stop + 1]
        listed = _scaled(sets.losses[offsets[0] : offsets[-1]], k)
        extra = _scaled(sets.extra_loss[part], k)
        _add_curves(
            listed=(listed, np.exp(-middle * listed)),
            extra=(extra, sets.extra_weight[part] * np.exp(-middle * extra)),
            weight=sets.extra_weight[part],
            offsets=offsets - offsets[0],
            chosen=chosen[part],
            log_weights=log_weight[part],
            order=np.argsort(groups[part], kind="stable"),  # the running product pays off along runs of one group
            groups=groups[part],
            middle=middle,
            half=half,
            out=out,
        )


def _scaled(losses: Array, k: float) -> Array:
    """log(1 + loss/k): numpy vectorises log and not log1p; losses far below k, where they differ, do not occur."""
    return np.asarray(np.log(losses * (1.0 / k) + 1.0))


@njit(cache=True, fastmath=True, inline="always")
def _add_pairs(b, base, weight, middle, half, lower, upper):  # type: ignore[no-untyped-def] # pragma: no cover
    """Add base·exp(±b·half) at every pair of nodes, where base = weight·exp(−b·middle)."""
    if b * half[-1] > 32 * _SERIES_LIMIT:
        for j in range(len(half)):  # base may have vanished where the product has not
            lower[j] += weight * np.exp(-b * (middle - half[j]))
            upper[j] += weight * np.exp(-b * (middle + half[j]))
        return
    scale = b / 32
    for j in range(len(half)):
        x = scale * half[j]
        y = x * x
        even = 1.0 + y * (1 / 2 + y * (1 / 24 + y * (1 / 720 + y * (1 / 40320 + y * (1 / 3628800)))))
        odd = x * (1.0 + y * (1 / 6 + y * (1 / 120 + y * (1 / 5040 + y * (1 / 362880)))))
        rise = even + odd
        fall = even - odd
        rise *= rise
        fall *= fall
        rise *= rise
        fall *= fall
        rise *= rise
        fall *= fall
        rise *= rise
        fall *= fall
        rise *= rise
        fall *= fall
        lower[j] += base * rise
        upper[j] += base * fall


@njit(cache=True, fastmath=True)
def _fold(product, linear, log_weight, middle, half, row):  # type: ignore[no-untyped-def] # pragma: no cover
    """Move the running product of sums and the linear terms into the group's curve."""
    pairs = len(half)
    for j in range(pairs):
        row[pairs - 1 - j] += log_weight - linear * (middle - half[j]) - np.log(product[0, j])
        row[pairs + j] += log_weight - linear * (middle + half[j]) - np.log(product[1, j])
        product[0, j] = 1.0
        product[1, j] = 1.0


@njit(cache=True, fastmath=True)
def _add_curves(  # type: ignore[no-untyped-def] # pragma: no cover
    listed, extra, weight, offsets, chosen, log_weights, order, groups, middle, half, out
):
    b, base = listed
    extra_b, extra_base = extra
    pairs = len(half)
    lower, upper = np.empty(pairs), np.empty(pairs)
    product = np.ones((2, pairs))
    linear, log_weight, bound = 0.0, 0.0, 1.0
    group = groups[order[0]]
    for i in order:
        # The best alternative contributes 1 and each other at most its weight: `size` bounds the sum from above.
        size = (offsets[i + 1] - offsets[i]) + weight[i] + 1.0
        bound *= size
        if groups[i] != group or bound > _PRODUCT_LIMIT:
            _fold(product, linear, log_weight, middle, half, out[group])
            linear, log_weight, bound, group = 0.0, 0.0, size, groups[i]
        ties = 0.0
        for a in range(offsets[i], offsets[i + 1]):
            if b[a] == 0.0:
                ties += 1.0
        for j in range(pairs):
            lower[j] = ties
            upper[j] = ties
        for a in range(offsets[i], offsets[i + 1]):
            if b[a] > 0.0:
                _add_pairs(b[a], base[a], 1.0, middle, half, lower, upper)
        if weight[i] > 0.0:
            _add_pairs(extra_b[i], extra_base[i], weight[i], middle, half, lower, upper)
        for j in range(pairs):
            product[0, j] *= lower[j]
            product[1, j] *= upper[j]
        linear += chosen[i]
        log_weight += log_weights[i]
    _fold(product, linear, log_weight, middle, half, out[group])


@njit(cache=True)
def add_joint_curves(
    offsets: Ints, chosen: Ints, human: npt.NDArray[np.float32], share: Array, lines: Array, groups: Ints, terms: Array,
    basis: Array, out: Array,
) -> None:  # fmt: skip
    """Add log P of every choice to the row of its group, at each Elo (a row of `terms` and of the basis)."""
    n_basis = basis.shape[1]
    logits = np.empty(512)
    for i in range(len(chosen)):
        begin, n = offsets[i], offsets[i + 1] - offsets[i]
        if n > len(logits):
            logits = np.empty(2 * n)
        for at in range(len(terms)):
            top = -np.inf
            for m in range(n):
                z = 0.0
                for j in range(n_basis):
                    z += basis[at, j] * human[begin + m, j]
                logits[m] = z
                top = max(top, z)
            total = 0.0
            for m in range(n):
                total += np.exp(logits[m] - top)
            people = top + np.log(total)
            weight = 0.0
            for k in range(terms.shape[1]):
                weight += share[i, k] * terms[at, k]
            top = -np.inf
            for m in range(n):
                z = weight * (logits[m] - people)
                for k in range(terms.shape[1]):
                    z += lines[begin + m, k] * terms[at, k]
                logits[m] = z
                top = max(top, z)
            total = 0.0
            for m in range(n):
                total += np.exp(logits[m] - top)
            out[groups[i], at] += logits[chosen[i]] - top - np.log(total)


@njit(cache=True)
def add_choice_curves(
    coefficients: npt.NDArray[np.float32], offsets: Ints, chosen: Ints, groups: Ints, basis: Array, out: Array
) -> None:
    """Add log p(choice | Elo) at every Elo of the basis to the row of the decision's group."""
    for i in range(len(chosen)):
        begin, end, row = offsets[i], offsets[i + 1], groups[i]
        for g in range(basis.shape[0]):
            top, total, mine = -np.inf, 0.0, 0.0
            for at in range(begin, end):
                logit = 0.0
                for j in range(N_BASIS):
                    logit += basis[g, j] * coefficients[at, j]
                if at == begin + chosen[i]:
                    mine = logit
                if logit > top:
                    total = total * np.exp(top - logit) + 1.0
                    top = logit
                else:
                    total += np.exp(logit - top)
            out[row, g] += mine - top - np.log(total)
