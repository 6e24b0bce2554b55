"""Fast twins of `models.curves`: the likelihood of millions of decisions, with its slopes in log s and c.

In: choice sets, put into columns once (`CurveColumns`). Out: log p of each choice, its slopes, the probabilities of all
alternatives, the percentile interval of each choice.

Exponentials and logarithms of whole columns are taken by numpy, a chunk at a time: it does four or eight at once, and
the chunk stays in the cache. What is left for a compiled loop is the equation Σ p = 1 of each decision, solved by
Newton's method inside a bracket; a step that leaves the bracket is a bisection. Alternatives come best first, the tied
ones in front, so a loop stops at the first one whose probability is 1e-17 of the others'.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array
from skilloscope.core.compiled import njit
from skilloscope.models.curves import LEAST_LOG_G, CurveColumns

_NEGLIGIBLE = 39.0  # e^-39 is 1e-17


@njit(cache=True)
def solve_powers(h, start, stop, ties, extra, weight):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return L at which what the tied best leave, 1 − m·e^−L, is Σ e^(−L·h) of the others, by Newton in log(L − log m).

    Written so, nothing is lost where the best takes all but 1e-30, and the first guess is that of one other: W(h)/h.
    """
    first = start + int(ties)
    base = np.log(ties)
    if first == stop and weight == 0.0:
        return base
    least = h[first] if first < stop else extra
    high = np.log(np.log((stop - start + weight) / ties))
    low = -700.0
    guess = np.log(1.0 + least)
    at = min(np.log(guess * (1.0 - np.log(1.0 + guess) / (2.0 + guess)) / least), high)
    for _ in range(200):
        x = np.exp(at)
        surprise = base + x
        most = surprise * least
        total = slope = 0.0
        for a in range(first, stop):
            y = surprise * h[a] - most
            if y > _NEGLIGIBLE:
                break
            p = np.exp(-y)
            total += p
            slope += p * h[a]
        if weight > 0.0:
            p = weight * np.exp(-(surprise * extra - most))
            total += p
            slope += p * extra
        excess = np.log(total / -np.expm1(-x)) - most
        if excess > 0.0:
            low = at
        else:
            high = at
        new = at + excess / (x * slope / total + x / np.expm1(x))
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - at) <= 1e-8 or new == at:
            return base + np.exp(new)
        at = new
    return base + np.exp(at)


@njit(cache=True)
def _nearer(z, w):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return a better ω for ω + log ω = z: one step of fourth order."""
    r = z - w - np.log(w)
    x = 1.0 + w
    y = 2.0 * x * (x + 2.0 / 3.0 * r)
    return w * (1.0 + r / x * (y - r) / (y - 2.0 * r))


@njit(cache=True)
def _omega(z):  # type: ignore[no-untyped-def] # pragma: no cover
    """Wright's ω: ω + log ω = z."""
    if z < -40.0:
        return np.exp(z)
    if z < -1.5:
        e = np.exp(z)
        w = e * (1.0 - e * (1.0 - 1.5 * e))
    elif z < 1.5:
        w = 0.5671432904 + z * (0.3618962566 + z * (0.0737 - 0.0013 * z))
    else:
        g = np.log(z)
        w = z - g + g / z
    return _nearer(z, _nearer(z, w))


@njit(cache=True)
def solve_third(log_g, start, stop, ties, extra, weight, last):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return L at which 1 − m·e^−L is Σ e^−ω(L + log L − log g) of the others, by Newton in log(L − log m).

    `last` keeps each alternative's ω from one step to the next, where it is a first guess that needs one step only.
    """
    last[:] = 0.0
    before = 0.0
    first = start + int(ties)
    base = np.log(ties)
    if first == stop and weight == 0.0:
        return base
    share = weight * np.exp(extra)
    for a in range(first, stop):
        share += np.exp(log_g[a])
    high = np.log(np.log((stop - start + weight) / ties))
    low = -700.0
    at = min(max(0.5 * np.log(share / ties), low), high) if share > 0.0 else low / 2
    for _ in range(200):
        x = np.exp(at)
        surprise = base + x
        middle = surprise + (np.log(surprise) if base > 0.0 else at)
        most = _omega(middle - (log_g[first] if first < stop else extra))
        total = slope = 0.0
        for a in range(first, stop):
            w = last[a - start]
            near = abs(middle - before) < 0.3 and w > 0.0
            w = _nearer(middle - log_g[a], w + (middle - before) * w / (1.0 + w)) if near else _omega(middle - log_g[a])
            last[a - start] = w
            if w - most > _NEGLIGIBLE:
                break
            p = np.exp(most - w)
            total += p
            slope += p * w / (1.0 + w)
        if weight > 0.0:
            w = _omega(middle - extra)
            p = weight * np.exp(most - w)
            total += p
            slope += p * w / (1.0 + w)
        before = middle
        excess = np.log(total / -np.expm1(-x)) - most
        if excess > 0.0:
            low = at
        else:
            high = at
        new = at + excess / (slope / total * x * (1.0 + 1.0 / surprise) + x / np.expm1(x))
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - at) <= 1e-8 or new == at:
            return base + np.exp(new)
        at = new
    return base + np.exp(at)


@njit(cache=True)
def scores_shares(  # type: ignore[no-untyped-def] # pragma: no cover
    listed, chosen, extra, g, chosen_g, extra_g, offsets, ties, weight, log_p, by_s, by_c
):
    """log p = log g − log Σ g, and its slopes."""
    _, ds, dc = listed
    for i in range(len(offsets) - 1):
        total = weight[i] * extra_g[i]
        slope_s, slope_c = total * extra[1][i], total * extra[2][i]
        for a in range(offsets[i], offsets[i + 1]):
            total += g[a]
            slope_s += g[a] * ds[a]
            slope_c += g[a] * dc[a]
        log_p[i] = chosen[0][i] - np.log(total)
        by_s[i] = chosen[1][i] - slope_s / total
        by_c[i] = chosen[2][i] - slope_c / total


@njit(cache=True)
def scores_powers(  # type: ignore[no-untyped-def] # pragma: no cover
    listed, chosen, extra, h, chosen_h, extra_h, offsets, ties, weight, log_p, by_s, by_c
):
    """log p = −L·h with h = 1/g; L moves with the parameters so that Σ p stays 1."""
    _, ds, dc = listed
    for i in range(len(offsets) - 1):
        at = solve_powers(h, offsets[i], offsets[i + 1], ties[i], extra_h[i], weight[i])
        total = ties[i] * np.exp(-at)
        slope_s = slope_c = 0.0
        for a in range(offsets[i] + int(ties[i]), offsets[i + 1]):
            p = np.exp(-at * h[a]) * h[a]
            if p < 1e-17 * total:
                break
            total += p
            slope_s += p * ds[a]
            slope_c += p * dc[a]
        if weight[i] > 0.0:
            p = weight[i] * np.exp(-at * extra_h[i]) * extra_h[i]
            total += p
            slope_s += p * extra[1][i]
            slope_c += p * extra[2][i]
        log_p[i] = -at * chosen_h[i]
        by_s[i] = at * chosen_h[i] * (chosen[1][i] - slope_s / total)
        by_c[i] = at * chosen_h[i] * (chosen[2][i] - slope_c / total)


@njit(cache=True)
def scores_third(  # type: ignore[no-untyped-def] # pragma: no cover
    listed, chosen, extra, log_g, chosen_g, extra_g, offsets, ties, weight, log_p, by_s, by_c
):
    """ℓ = ω(z), z = L + log L − log g, so dℓ = ω/(1 + ω)·dz; L moves so that Σ p stays 1."""
    _, ds, dc = listed
    last = np.empty(np.diff(offsets).max())
    for i in range(len(offsets) - 1):
        at = solve_third(log_g, offsets[i], offsets[i + 1], ties[i], extra_g[i], weight[i], last)
        base = at + np.log(at) if at > 0.0 else -np.inf
        r = np.exp(-at) * at / (1.0 + at)
        total = ties[i] * r
        slope_s = slope_c = 0.0
        for a in range(offsets[i] + int(ties[i]), offsets[i + 1]):
            w = _omega(base - log_g[a])
            r = np.exp(-w) * w / (1.0 + w)
            if r < 1e-17 * total:
                break
            total += r
            slope_s += r * ds[a]
            slope_c += r * dc[a]
        if weight[i] > 0.0:
            w = _omega(base - extra_g[i])
            r = weight[i] * np.exp(-w) * w / (1.0 + w)
            total += r
            slope_s += r * extra[1][i]
            slope_c += r * extra[2][i]
        w = at if chosen_g[i] == 0.0 else _omega(base - chosen_g[i])
        log_p[i] = -w
        r = w / (1.0 + w)
        by_s[i] = r * (chosen[1][i] - slope_s / total) if total > 0.0 else 0.0
        by_c[i] = r * (chosen[2][i] - slope_c / total) if total > 0.0 else 0.0


@njit(cache=True)
def fill(code, form, extra, offsets, ties, weight, p, beyond):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write the probabilities of all alternatives; `beyond` is that of the extra one with its weight."""
    last = np.empty(np.diff(offsets).max())
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        if code == 0:
            total = weight[i] * extra[i]
            for a in range(start, stop):
                total += form[a]
            for a in range(start, stop):
                p[a] = form[a] / total
            beyond[i] = weight[i] * extra[i] / total
        elif code == 1:
            at = solve_powers(form, start, stop, ties[i], extra[i], weight[i])
            for a in range(start, stop):
                p[a] = np.exp(-at * form[a])
            beyond[i] = weight[i] * np.exp(-at * extra[i]) if weight[i] > 0.0 else 0.0
        else:
            at = solve_third(form, start, stop, ties[i], extra[i], weight[i], last)
            base = at + np.log(at) if at > 0.0 else -np.inf
            for a in range(start, stop):
                p[a] = np.exp(-at) if form[a] == 0.0 else np.exp(-_omega(base - form[a]))
            beyond[i] = weight[i] * np.exp(-_omega(base - extra[i])) if weight[i] > 0.0 else 0.0


@njit(cache=True)
def interval_ends(p, beyond, losses, offsets, chosen_loss, extra_chosen, low, high):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write p⁻ and p⁺: the alternatives better than the chosen one, and those with its own loss."""
    for i in range(len(offsets) - 1):
        better = same = 0.0
        for a in range(offsets[i], offsets[i + 1]):
            if extra_chosen[i] or losses[a] < chosen_loss[i]:
                better += p[a]
            elif losses[a] == chosen_loss[i]:
                same += p[a]
        low[i] = better
        high[i] = better + (beyond[i] if extra_chosen[i] else same)


_CHUNK = 4096  # decisions at a time
_CODES = {"shares": 0, "powers": 1, "third": 2}
_SCORES = {"shares": scores_shares, "powers": scores_powers, "third": scores_third}
_LOG_2 = float(np.log(2.0))


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
        listed = log_curve(curve, part.log_losses - _spread(part, at_s), _spread(part, at_c))
        chosen, extra = (log_curve(curve, losses - at_s, at_c) for losses in (part.chosen, part.extra))
        forms = _forms(mapping, listed[0], chosen[0], extra[0])
        into = out.log_p[rows], out.by_log_s[rows], out.by_c[rows]
        _SCORES[mapping](listed, chosen, extra, *forms, part.offsets, part.ties, part.extra_weight, *into)
        out.log_p[rows] += np.log(part.chosen_weight)
    return out


def probability_columns(
    columns: CurveColumns, mapping: str, curve: str, log_s: npt.ArrayLike, c: npt.ArrayLike
) -> tuple[Array, Array]:
    """Return the probabilities of all listed alternatives end to end, and of each decision's extra one."""
    listed, extra = np.empty(len(columns.losses)), np.zeros(len(columns))
    for rows, part, at_s, at_c in _parts(columns, log_s, c):
        flat = slice(columns.offsets[rows.start], columns.offsets[rows.stop])
        log_g = log_curve(curve, part.log_losses - _spread(part, at_s), _spread(part, at_c))[0]
        beyond = log_curve(curve, part.extra - at_s, at_c)[0]
        a, _, e = _forms(mapping, log_g, beyond, beyond)
        fill(_CODES[mapping], a, e, part.offsets, part.ties, part.extra_weight, listed[flat], extra[rows])
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
        chosen = part.chosen_loss, part.extra_chosen
        interval_ends(p, beyond, part.losses, part.offsets, *chosen, low[rows], high[rows])
    return low, high


def _parts(
    columns: CurveColumns, log_s: npt.ArrayLike, c: npt.ArrayLike
) -> Iterator[tuple[slice, CurveColumns, Array, Array]]:
    at_s, at_c = np.asarray(log_s, dtype=float), np.asarray(c, dtype=float)
    for rows, part in columns.chunks(_CHUNK):
        yield rows, part, at_s[rows] if at_s.ndim else at_s, at_c[rows] if at_c.ndim else at_c


def _spread(part: CurveColumns, at: Array) -> Array:
    return np.repeat(at, np.diff(part.offsets)) if at.ndim else at


def _forms(mapping: str, listed: Array, chosen: Array, extra: Array) -> tuple[Array, Array, Array]:
    """Return log g in the form that the mapping's loop adds up: g for shares, 1/g for powers, itself for the third."""
    all_g = listed, chosen, extra
    if mapping == "shares":
        a, b, c = (np.exp(log_g) for log_g in all_g)
    elif mapping == "powers":
        a, b, c = (np.exp(np.minimum(-log_g, LEAST_LOG_G)) for log_g in all_g)
    else:
        a, b, c = (np.maximum(log_g, -LEAST_LOG_G) for log_g in all_g)
    return a, b, c
