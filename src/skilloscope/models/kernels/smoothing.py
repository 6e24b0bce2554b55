"""Fast twins of `rts_step` and `eq14_step` for every player's whole history, compiled by numba."""

from __future__ import annotations

from skilloscope.core.compiled import njit


@njit(cache=True, error_model="numpy")
def rts(offsets, period, nu2, mean, variance):  # type: ignore[no-untyped-def] # pragma: no cover
    """Smooth filtered moments in place, each player's rows offsets[i]:offsets[i + 1] from the last to the first.

    Periods without games change nothing in between: a step over t of them is t steps.
    """
    for i in range(len(offsets) - 1):
        for r in range(offsets[i + 1] - 2, offsets[i] - 1, -1):
            predicted = variance[r] + nu2 * (period[r + 1] - period[r])
            c = variance[r] / predicted
            mean[r] += c * (mean[r + 1] - mean[r])
            variance[r] += c * c * (variance[r + 1] - predicted)


@njit(cache=True, error_model="numpy")
def eq14(offsets, period, nu2, end, mean, variance):  # type: ignore[no-untyped-def] # pragma: no cover
    """Apply (14) as printed, period by period, those without games among them, from period `end` on.

    Where `end` is before a player's last row, he is smoothed from that row on.
    """
    for i in range(len(offsets) - 1):
        if offsets[i] == offsets[i + 1]:
            continue
        last = offsets[i + 1] - 1
        m = mean[last]
        v = variance[last] + nu2 * max(0, end - period[last])
        after = max(end, period[last])
        for r in range(last, offsets[i] - 1, -1):
            for t in range(after - 1, period[r] - 1, -1):
                filtered = variance[r] + nu2 * (t - period[r])
                ahead = nu2 + v
                v = 1.0 / (1.0 / filtered + 1.0 / ahead)
                m = v * (mean[r] / filtered + m / ahead)
            mean[r] = m
            variance[r] = v
            after = period[r]
