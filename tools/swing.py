"""Swing: people also choose by what a shallower search shows. [RH11 sect. 3, left there for later]

In: decisions with a depth axis. Out: fitted weights of the depths, and log p of the choices.

The share of an alternative is made of its losses δ_{d,i} at several depths d, in one of three ways:

- `sum`, the paper's: Σ w_d·g(δ_{d,i}). With several curves at one depth it is a linear combination of curves.
- `product`: Π g(δ_{d,i})^{v_d} with the curve invexp, so that log shares are linear: −Σ v_d·δ_{d,i}^c.
- `both`: the product of the two.

The weights may depend on Elo. A loss at a depth is against the best of the listed alternatives at that depth. An
alternative that was not on that depth's list counts as the worst that was, and has a penalty of its own besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions
from skilloscope.models.curves import curve, log_losses
from skilloscope.models.joint import scaled_decisions
from skilloscope.models.kernels.curves import log_curve

Array = npt.NDArray[np.float64]

BLENDS = ("sum", "product", "both")
_ORIGIN, _UNIT = 2100.0, 300.0  # Elo as the weights see it: (Elo − 2100)/300
_MOST = 12.0  # a penalty of e^−12 is as good as none left


@dataclass(frozen=True)
class Swing:
    """Which depths (none given: the judgement alone), which curves, how they are blended, and whether Elo matters."""

    depths: tuple[int, ...] = ()
    curves: tuple[str, ...] = ("invexp",)
    blend: str = "sum"
    by_elo: bool = True
    scaling: float = 1.0
    exponent: float | None = None
    """c of the product where it is given and not fitted: 0.5 takes square roots of losses."""
    penalty: bool = True
    """Whether what a depth did not list has a penalty besides counting as the worst that was."""

    def __post_init__(self) -> None:
        if self.blend not in BLENDS:
            raise OptionError(f"no blend {self.blend!r}", hint=f"the blends: {', '.join(BLENDS)}")
        for name in self.curves:
            curve(name)

    @property
    def name(self) -> str:
        """The blend, the curves and the depths."""
        depths = ", ".join(str(depth) for depth in self.depths) or "the last"
        plain = "" if self.exponent is None else f", c = {self.exponent:g}"
        plain += "" if self.penalty else ", no penalty"
        return f"swing {self.blend} of {' + '.join(self.curves)}, depths {depths}{plain}"


@dataclass(frozen=True, eq=False)
class DepthLosses:
    """Choice sets with a loss for every depth: rows alternatives, columns depths. Choices are among the listed."""

    losses: Array
    missing: Array
    """1 where an alternative was not on that depth's list."""
    starts: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    """The decision of each alternative."""
    chosen: npt.NDArray[np.int64]
    """The place of each choice among all alternatives."""
    x: Array
    """Elo of each decision, as the weights see it; 0 where it is unknown or does not matter."""
    source: npt.NDArray[np.int64]
    """The row of each decision in the batch."""
    tally: Tally

    def __len__(self) -> int:
        return len(self.starts)


def depth_losses(decisions: Decisions, model: Swing) -> DepthLosses:
    """Return the losses at the model's depths under the rule `listed`; what it leaves out is counted."""
    several = decisions.counts > 1
    keep = decisions.listed & several
    tally = Tally()
    tally.count("unlisted choice", int((several & ~decisions.listed).sum()))
    tally.count("single alternative", int((~several).sum()))
    kept = scaled_decisions(decisions.select(keep), model.scaling)
    values = kept.at_depths(model.depths).values if model.depths else kept.judged
    values = values.astype(float).reshape(len(kept.judged), -1)
    row = np.repeat(np.arange(len(kept)), kept.counts)
    unknown = np.isnan(values)
    starts = kept.offsets[:-1]
    best = np.maximum.reduceat(np.where(unknown, -np.inf, values), starts, axis=0)
    worst = np.minimum.reduceat(np.where(unknown, np.inf, values), starts, axis=0)
    reach = np.where(np.isfinite(best), best - np.where(np.isfinite(worst), worst, 0.0), 0.0)
    best = np.where(np.isfinite(best), best, 0.0)
    losses = np.where(unknown, reach[row], best[row] - np.where(unknown, 0.0, values))
    return DepthLosses(
        losses=losses,
        missing=unknown.astype(float),
        starts=starts,
        row=row,
        chosen=starts + kept.chosen,
        x=_elo(kept) if model.by_elo else np.zeros(len(kept)),
        source=np.flatnonzero(keep),
        tally=tally,
    )


@dataclass(frozen=True, eq=False)
class SwingFit:
    """A fitted swing: its parameters by name, and the log-likelihood on the decisions that it was fitted to."""

    model: Swing
    values: Array
    log_likelihood: float
    decisions: int
    converged: bool

    def log_p(self, data: DepthLosses) -> Array:
        """Return log p of every choice."""
        return _Form(self.model, data).log_p(self.values)[0]

    def parameters(self) -> dict[str, float]:
        """Return the parameters by name; weights of the sum are shares at Elo 2100."""
        named = dict(zip(_names(self.model), self.values.tolist(), strict=True))
        weights = {name: value for name, value in named.items() if name.startswith("weight ")}
        total = sum(np.exp(value) for value in weights.values())
        return named | {name: float(np.exp(value) / total) for name, value in weights.items()}


def fit_swing(data: DepthLosses, model: Swing, *, of: npt.NDArray[np.bool_] | None = None) -> SwingFit:
    """Fit by likelihood to all decisions, or to those that a mask says."""
    form = _Form(model, data)
    mask = np.ones(len(data), dtype=bool) if of is None else of
    n = int(mask.sum())
    if not n:
        raise InputError("no decisions to fit")

    def cost(values: Array) -> tuple[float, Array]:
        log_p, slopes = form.log_p(values)
        return -float(log_p[mask].sum()) / n, -slopes[mask].sum(axis=0) / n

    start, bounds = _start(model)
    fit = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 1000, "maxfun": 2000})
    return SwingFit(model, np.asarray(fit.x), -float(fit.fun) * n, n, bool(fit.success))


def unseen_log_p(decisions: Decisions, model: Swing, *, folds: int = 5, seed: int = 1, by: str = "game") -> Array:
    """Return log p of every usable choice by a fit that has not seen its game."""
    data = depth_losses(decisions, model)
    codes = decisions.groups(by)[1][data.source]
    fold = np.random.default_rng(seed).permutation(int(codes.max()) + 1)[codes] % folds
    out = np.empty(len(data))
    for one in range(folds):
        fit = fit_swing(data, model, of=fold != one)
        out[fold == one] = fit.log_p(data)[fold == one]
    return out


def _depths(model: Swing) -> list[str]:
    return [str(depth) for depth in model.depths] or ["last"]


def _names(model: Swing) -> list[str]:
    """Return the names of the parameters in their order."""
    depths = _depths(model)
    names = []
    if model.blend != "product":
        for j, curve_name in enumerate(model.curves):
            names += [f"log s {j} {curve_name}", f"log s {j} {curve_name} by Elo", f"log c {j} {curve_name}"]
        parts = [f"{depth} {j} {name}" for depth in depths for j, name in enumerate(model.curves)]
        names += [f"weight {part}" for part in parts] + [f"by Elo {part}" for part in parts] + ["penalty of the sum"]
    if model.blend != "sum":
        names += ["log c of the product"]
        for what in ("power", "power by Elo", "penalty", "penalty by Elo"):
            names += [f"{what} {depth}" for depth in depths]
    return names


def _start(model: Swing) -> tuple[Array, list[tuple[float | None, float | None]]]:
    """Return where the fit begins, and the bounds: what does not matter or cannot be told is held where it begins."""
    names, last = _names(model), _depths(model)[-1]
    start, bounds = np.zeros(len(names)), []
    for i, name in enumerate(names):
        bound: tuple[float | None, float | None] = (None, None)
        if name.startswith("log s") and "by Elo" not in name:
            start[i], bound = np.log(0.1) + 0.7 * int(name.split()[2]), (-9.0, 4.0)
        elif name.startswith("log c"):
            start[i], bound = np.log(0.6), (np.log(0.1), np.log(5.0))
        elif name == "penalty of the sum":
            start[i], bound = 0.5, (0.0, _MOST)
        elif name == f"power {last}":
            start[i] = 2.0
        # The judgement lists every alternative, and only differences of log weights matter.
        fixed = name in (f"penalty {last}", f"penalty by Elo {last}") or name.startswith(
            (f"weight {last} 0", f"by Elo {last} 0")
        )
        if name == "log c of the product" and model.exponent is not None:
            start[i], fixed = np.log(model.exponent), True
        if name.startswith("penalty") and not model.penalty:
            start[i], fixed = 0.0, True
        if fixed or ("by Elo" in name and not model.by_elo):
            bound = (start[i], start[i])
        bounds.append(bound)
    return start, bounds


class _Form:
    """log p of the choices with slopes in all parameters, for one model on one batch."""

    def __init__(self, model: Swing, data: DepthLosses) -> None:
        self.model, self.data = model, data
        self.log_losses = log_losses(data.losses)
        self.x = data.x[data.row]

    def log_p(self, values: Array) -> tuple[Array, Array]:
        data, model = self.data, self.model
        log_share, slopes, used = np.zeros(len(data.row)), [], 0
        if model.blend != "product":
            size = 3 * len(model.curves) + 2 * len(_depths(model)) * len(model.curves) + 1
            log_share, columns = self._sum(values[:size])
            slopes, used = columns, size
        if model.blend != "sum":
            more, columns = self._product(values[used:])
            log_share, slopes = log_share + more, slopes + columns
        log_share = log_share - np.maximum.reduceat(log_share, data.starts)[data.row]
        share = np.exp(log_share)
        total = np.add.reduceat(share, data.starts)
        p = share / total[data.row]
        by = np.column_stack([column[data.chosen] - np.add.reduceat(column * p, data.starts) for column in slopes])
        return log_share[data.chosen] - np.log(total), by

    def _sum(self, values: Array) -> tuple[Array, list[Array]]:
        """log Σ w_d·g(δ_{d,i}). [RH11 sect. 3]"""
        curves, depths = self.model.curves, self.log_losses.shape[1]
        k, parts = 3 * len(curves), depths * len(curves)
        weight, by_elo, penalty = values[k : k + parts], values[k + parts : k + 2 * parts], values[-1]
        found = []
        for j, name in enumerate(curves):
            log_s, rise, log_c = values[3 * j : 3 * j + 3]
            found.append(log_curve(name, self.log_losses - (log_s + rise * self.x)[:, None], float(np.exp(log_c))))
        # Parts are ordered depth by depth, curve by curve within a depth.
        log_g, by_s, by_c = (np.stack([one[i] for one in found], axis=2).reshape(len(self.x), parts) for i in range(3))
        missing = np.repeat(self.data.missing, len(curves), axis=1)
        logs = log_g - penalty * missing + weight + by_elo * self.x[:, None]
        most = logs.max(axis=1)
        part = np.exp(logs - most[:, None])
        total = part.sum(axis=1)
        held = part / total[:, None]  # how much of the share each part makes
        slopes = []
        for j in range(len(curves)):
            own = slice(j, None, len(curves))
            in_s = (held[:, own] * by_s[:, own]).sum(axis=1)
            in_c = (held[:, own] * by_c[:, own]).sum(axis=1) * float(np.exp(values[3 * j + 2]))
            slopes += [in_s, in_s * self.x, in_c]
        slopes += [held[:, i] for i in range(parts)] + [held[:, i] * self.x for i in range(parts)]
        return most + np.log(total), [*slopes, -(held * missing).sum(axis=1)]

    def _product(self, values: Array) -> tuple[Array, list[Array]]:
        """−Σ v_d·δ_{d,i}^c, and penalties: log shares that are linear in their weights."""
        depths = self.log_losses.shape[1]
        c = float(np.exp(values[0]))
        power, power_by, penalty, penalty_by = values[1:].reshape(4, depths)
        bent = np.exp(c * self.log_losses)
        x, missing = self.x, self.data.missing
        weights = power + power_by * x[:, None]
        log_share = -(weights * bent).sum(axis=1) - ((penalty + penalty_by * x[:, None]) * missing).sum(axis=1)
        in_c = -(weights * bent * np.where(bent > 0, self.log_losses, 0.0)).sum(axis=1) * c
        columns: Sequence[Array] = [
            *(-bent[:, d] for d in range(depths)),
            *(-bent[:, d] * x for d in range(depths)),
            *(-missing[:, d] for d in range(depths)),
            *(-missing[:, d] * x for d in range(depths)),
        ]
        return log_share, [in_c, *columns]


def _elo(batch: Decisions) -> Array:
    if "elo" not in batch.context.column_names:
        return np.zeros(len(batch))
    elo = batch.column("elo").to_numpy(zero_copy_only=False).astype(float) if len(batch) else np.zeros(0)
    return np.where(np.isfinite(elo), (elo - _ORIGIN) / _UNIT, 0.0)
