"""Rate deciders of any domain: by the agent (competence c), by the curves (s and c), or as their decisions arrive.

In: a batch of decisions, or JSON lines one after another. Out: DeciderRatings or CurveRatings, which `decisions rate`
shows; a DeciderStream gives an event for every line in memory that does not grow with the lines. [DFH13 (3)–(5), RH11]
"""

import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.files import MOST_LINE
from skilloscope.decision import Decisions
from skilloscope.decision.text import read_jsonl
from skilloscope.evidence import Evidence, Grid, Prior, agent_evidence, prior_from_text
from skilloscope.evidence.fit_k import KGain, k_gain
from skilloscope.models.agent import Agent
from skilloscope.models.curves import CurveColumns, CurveModel
from skilloscope.models.kernels.curves import probability_columns
from skilloscope.ratings.curve_fits import CurveFit, Limits, fit_curves
from skilloscope.report import table as report_table
from skilloscope.report.charts import MOST_ROWS, Dot, Figure, Forest
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import EDGE_NOTE, Column, CompetenceEstimate, Table, number, plural, skipped_line
from skilloscope.studies.compare_engines import k_line

FEWEST_FOR_K = 30  # decisions below which k is not fitted
MOST_DECIDERS = 100_000  # deciders that are followed at once; a line of another is counted as a fault
_REFERENCE = 20_000  # decisions on which the deciders are put in order
_NODES = 64
_LOOK_SECONDS = 0.2
_CAVEATS = (
    "c measures how consistently the decider prefers higher utilities: it is no better than they are.",
    "Deciders who faced different problems are compared through the model, not on the same problems.",
    "A few decisions carry little information: look at the interval before the number.",
)


@dataclass(frozen=True)
class AgentDecider:
    """A decider's competence c under the agent."""

    decider: str
    decisions: int
    competence: CompetenceEstimate
    k: float

    FIELDS: ClassVar = ("decider", "decisions", "*competence", "k")


@dataclass(frozen=True, eq=False)
class DeciderRatings(Study):
    """The competence c of every decider, best first."""

    model: Mapping[str, Any]
    prior: str
    mass: float
    deciders: Sequence[AgentDecider]
    unrated: Sequence[str]
    k_fit: KGain | None = None  # what fitting k gains, where it was fitted

    FIELDS: ClassVar = ("model", "prior", "mass", "deciders", "unrated", "skipped", "?k_fit")
    ROWS: ClassVar = "deciders"
    caveats = _CAVEATS

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Decisions of {plural(len(self.deciders), 'decider')}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return c with its interval, a row for each decider."""
        interval = f"{100 * self.mass:g} % interval"
        columns: list[Column[AgentDecider]] = [
            Column("decider", lambda row: row.decider, label=True),
            Column("decisions", lambda row: f"{row.decisions:,}"),
            Column("c", lambda row: f"{row.competence.c:.3f}{report_table.edge_mark(row.competence.edge)}"),
            Column("sd", lambda row: f"{row.competence.sd:.3f}"),
            Column(interval, lambda row: f"{row.competence.low:.3f} to {row.competence.high:.3f}"),
        ]
        notes = [
            skipped_line(sum(row.decisions for row in self.deciders), self.skipped),
            k_line(self.k_fit) if self.k_fit else "",
            EDGE_NOTE if any(row.competence.edge for row in self.deciders) else "",
            _unrated_line(self.unrated),
        ]
        title = f"competence c of the agent (k = {self.model['k']:g}, rule {self.model['rule']}, prior {self.prior})"
        return [Table.of(title, self.deciders[:top], columns, notes=notes)]

    def figures(self) -> Sequence[Figure]:
        """Return everybody's c with its interval, the greatest on top."""
        shown = [(row.decider, row.competence) for row in self.deciders[:MOST_ROWS]]
        rows = [(name, [Dot(own.c, own.low, own.high)]) for name, own in shown]
        caption = f"Point: estimate; line: interval. The first {MOST_ROWS} where there are more."
        return [Figure("Competence", Forest(rows, "competence c"), caption)] if rows else []

    def sections(self) -> Sequence[Section]:
        """Return the figure, then the table."""
        return [*map(Section.from_figure, self.figures()), Section.from_table(self.tables()[0], "Deciders")]


@dataclass(frozen=True)
class CurveDecider:
    """A decider's sensitivity s and competence c under the curves, and the loss that they imply."""

    decider: str
    fit: CurveFit
    expected_loss: float  # the mean loss of such a decider on the reference decisions

    FIELDS: ClassVar = ("decider", "*fit", "expected_loss")


@dataclass(frozen=True, eq=False)
class CurveRatings(Study):
    """The s and c of every decider, the least expected loss first."""

    curves: CurveModel
    model: Mapping[str, object]
    fit: str
    deciders: Sequence[CurveDecider]
    unrated: Sequence[str]

    FIELDS: ClassVar = ("model", "fit", "warnings", "deciders", "unrated", "skipped")
    ROWS: ClassVar = "deciders"
    caveats = _CAVEATS

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Decisions of {plural(len(self.deciders), 'decider')}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return s and c with standard errors, a row for each decider."""
        columns: list[Column[CurveDecider]] = [
            Column("decider", lambda row: row.decider, label=True),
            Column("decisions", lambda row: f"{row.fit.decisions:,}"),
            Column("s", lambda row: row.fit.written("s")),
            Column("c", lambda row: row.fit.written("c")),
            Column("log-likelihood", lambda row: number(report_table.finite_or_none(row.fit.log_likelihood), 2)),
            Column("expected loss", lambda row: number(row.expected_loss, 3)),
        ]
        notes = [
            skipped_line(sum(row.fit.decisions for row in self.deciders), self.skipped),
            report_table.STAR_NOTE if any(row.fit.edge for row in self.deciders) else "",
            _unrated_line(self.unrated),
        ]
        title = (
            f"sensitivity s and competence c of {self.curves.mapping} with {self.curves.curve} "
            f"(fit {self.fit}, rule {self.curves.rule}, scaling {self.curves.scaling:g})"
        )
        return [Table.of(title, self.deciders[:top], columns, notes=notes)]


def rate_deciders(batch: Decisions, model: Agent, prior: Prior, *, mass: float = 0.95) -> DeciderRatings:
    """Return each decider's c with sd and interval under the prior, best first."""
    table = agent_evidence(batch, model, by="decider", span=(prior.low, prior.high))
    rated = [
        AgentDecider(name, table[name].decisions, CompetenceEstimate.of(table[name].posterior(prior), mass), model.k)
        for name in table
        if table[name].decisions
    ]
    rated.sort(key=lambda row: -row.competence.c)
    unrated = [name for name in table if not table[name].decisions]
    return DeciderRatings(dict(table.about), str(prior), mass, rated, unrated, tally=table.tally)


def k_from_text(text: str) -> float | None:
    """Return the k that a user wrote, None for `fit`.

    >>> k_from_text("0.05"), k_from_text("fit")
    (0.05, None)
    """
    if text.strip() == "fit":
        return None
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"k is a number or fit, got {text!r}", hint="as in --k 0.05 or --k fit") from None


def rate_fitting_k(
    batch: Decisions,
    rule: str,
    prior: str = "uniform",
    c_range: tuple[float, float] | None = None,
    *,
    mass: float = 0.95,
) -> DeciderRatings:
    """Return the rating at a fitted k; without a range c reaches up to the sharpest agent of the fit."""
    if len(batch) < FEWEST_FOR_K:
        raise InputError(
            f"k cannot be fitted to {plural(len(batch), 'decision')}: it takes {FEWEST_FOR_K}",
            hint="give it in units of the utilities, as in --k 0.1: an agent hardly distinguishes losses below k",
        )
    gain = k_gain(batch, rule, mass=mass)
    if gain.fit.edge is not None:
        end = {"low": "below", "high": "above"}[gain.fit.edge]
        raise InputError(
            f"these decisions do not determine k: the likelihood still rises {end} k = {gain.fit.k:.3g}",
            hint="choices that do not depend on the losses, or always the best, leave it open; give --k a number",
        )
    span = c_range or (0.0, gain.fit.c_high)
    ratings = rate_deciders(batch, Agent(k=gain.fit.k, rule=rule), prior_from_text(prior, *span), mass=mass)
    return replace(ratings, k_fit=gain)


def rate_deciders_by_curves(
    batch: Decisions, model: CurveModel, how: str = "likelihood", *, unit: float = 1.0
) -> CurveRatings:
    """Return each decider's s and c, least expected loss first; s is searched up to two `unit`s, the size of a pawn."""
    model = model.prepared(batch)
    columns, tally = model.columns(batch)
    labels, codes = batch.groups("decider")
    groups = codes[columns.row]
    reference = columns.take(np.arange(0, len(columns), max(1, len(columns) // _REFERENCE)))
    rated: list[CurveDecider] = []
    unrated: list[str] = []
    for code, name in enumerate(labels):
        rows = np.flatnonzero(groups == code)
        if not len(rows):
            unrated.append(str(name))
            continue
        fit = fit_curves(columns.take(rows), model, how, limits=Limits().scaled(unit))
        rated.append(CurveDecider(name, fit, expected_loss(reference, model, fit)))
    rated.sort(key=lambda row: row.expected_loss)
    return CurveRatings(model, model.about(), how, rated, unrated, warnings=model.warnings(), tally=batch.tally + tally)


def default_scaling(batch: Decisions) -> float:
    """Return the evaluation scaling that suits the values: a = 1 in chess, where they are pawns; none elsewhere."""
    return 1.0 if batch.about.get("domain") == "chess" else 0.0


def expected_loss(reference: CurveColumns, model: CurveModel, fit: CurveFit) -> float:
    """Return the mean loss that a decider with these s and c would have on the reference decisions."""
    p, extra = probability_columns(reference, model.mapping, model.curve, np.log(fit.s), fit.c)
    return float((p @ reference.losses + extra @ reference.extra_loss) / len(reference))


def _unrated_line(names: Sequence[str]) -> str:
    return f"no usable decision of: {'; '.join(names)}" if names else ""


@dataclass(frozen=True)
class DecisionRead:
    """A line of a stream, and the decider's c after it."""

    line: int
    decider: str
    decisions: int
    competence: CompetenceEstimate

    event: ClassVar = "decision"
    FIELDS: ClassVar = ("event", "line", "decider", "decisions", "*competence")

    def __str__(self) -> str:
        return f"{self.decider}: {plural(self.decisions, 'decision')}, c {self.competence.with_interval()}"


@dataclass(frozen=True)
class LineFault:
    """A line of a stream that cannot be used, and why."""

    line: int
    reason: str

    event: ClassVar = "fault"
    FIELDS: ClassVar = ("event", "line", "reason")


class DeciderStream:
    """Everybody's evidence so far; a line in, an event out."""

    def __init__(self, model: Agent, prior: Prior, mass: float = 0.95) -> None:
        self.model, self.prior, self.mass = model, prior, mass
        self.grid = Grid(prior.low, prior.high, _NODES)
        self.known: dict[str, Evidence] = {}
        self.faults = 0

    def line(self, text: str, line: int) -> DecisionRead | LineFault:
        """Return what a line changes: the decider's c now, or what is wrong with the line."""
        try:
            batch = read_jsonl(io.StringIO(text), name=f"line {line}")
        except InputError as error:
            return self._fault(line, str(error))
        table = agent_evidence(batch, self.model, self.grid, by="decider")
        (name,) = table
        if name not in self.known and len(self.known) >= MOST_DECIDERS:
            return self._fault(line, f"more than {MOST_DECIDERS:,} deciders")
        if not table[name].decisions:
            return self._fault(line, f"not used: {table.tally}")
        self.known[name] = self.known[name] + table[name] if name in self.known else table[name]
        return self._state(str(name), line)

    def latest(self) -> list[DecisionRead]:
        """Return the state of everybody, the greatest c first."""
        return sorted((self._state(name, 0) for name in self.known), key=lambda row: -row.competence.c)

    def table(self) -> Table:
        """Return everybody who has decided so far, the greatest c first."""
        columns: list[Column[DecisionRead]] = [
            Column("decider", lambda row: row.decider, label=True),
            Column("decisions", lambda row: f"{row.decisions:,}"),
            Column(f"c ({100 * self.mass:g} % interval)", lambda row: row.competence.with_interval()),
        ]
        return Table.of("Deciders", self.latest(), columns)

    def _state(self, name: str, line: int) -> DecisionRead:
        own = self.known[name]
        return DecisionRead(line, name, own.decisions, CompetenceEstimate.of(own.posterior(self.prior), self.mass))

    def _fault(self, line: int, reason: str) -> LineFault:
        self.faults += 1
        return LineFault(line, reason)


def growing_lines(
    path: Path, *, once: bool = False, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[str]:
    """Yield a file's whole lines, then those added: with `once` what it holds now, with `seconds` so long."""
    begin, rest = clock(), ""
    with path.open(encoding="utf-8", errors="replace") as stream:
        while True:
            piece = stream.readline(MOST_LINE)
            rest += piece
            if len(rest) >= MOST_LINE:
                raise InputError(f"{path}: a line of more than {MOST_LINE:,} characters")
            if rest.endswith("\n") or (once and not piece and rest):
                yield rest
                rest = ""
            elif not piece:
                if once or (seconds is not None and clock() - begin >= seconds):
                    return
                time.sleep(_LOOK_SECONDS)
