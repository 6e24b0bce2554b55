"""How numbers, estimates and tables are written in every report, and how a terminal draws tables.

One place, so that tables, pages and figures agree. A table's columns are declared once over rows of typed objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from skilloscope.core.text import visible

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EDGE_NOTE = "↑ ↓ ↕ values at the top, bottom or both ends of the range are still plausible: a bound, not a value"
STAR_NOTE = "* at the edge of the allowed range; the true value may lie outside it"


def edge_mark(edge: str | None) -> str:
    """Return an arrow for an estimate at the edge of the allowed range."""
    return {"high": " ↑", "low": " ↓", "both": " ↕"}.get(edge or "", "")


def duration(seconds: float) -> str:
    """Return a time as people say it, e.g. `45 s`, `12 min` or `3 h 20 min`."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60:,} h {minutes % 60:02d} min"


def plural(n: int, one: str) -> str:
    """Return a number with its noun: one or many.

    >>> plural(1, "player"), plural(1200, "player")
    ('1 player', '1,200 players')
    """
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f} %"


def share(p: float) -> str:
    """Return how many do it, never rounded to nobody.

    >>> share(0.254), share(0.0004)
    ('25 %', '< 1 %')
    """
    return "< 1 %" if p < 0.01 else f"{100 * p:.0f} %"


def probability_text(probability: float) -> str:
    """Return a probability as a percentage that is never rounded to certainty, e.g. `97.3 %` or `> 99.9 %`."""
    if probability < 0.001:  # 0 and 1 too: what a float cannot hold is still no certainty
        return "< 0.1 %"
    if probability > 0.999:
        return "> 99.9 %"
    return f"{100 * probability:.1f} %"


def engine_line(about: Mapping[str, Any]) -> str:
    """Return the engine and the settings that matter in one line."""
    if not about:
        return "engine unknown"
    parts = [
        str(about.get("engine") or "engine unknown"),
        f"depth {about['depth']}" if about.get("depth") else "",
        f"{about['nodes']:,} nodes" if about.get("nodes") else "",
        f"{about['multipv']} moves listed" if about.get("multipv") else "",
        f"hash {about['hash_mb']} MB" if about.get("hash_mb") else "",
        f"mates at ±{about['mate_cap']:g} pawns" if "mate_cap" in about else "",
    ]
    return ", ".join(part for part in parts if part)


def plan_lines(report: Mapping[str, Any]) -> list[str]:
    """Return what `analyse --dry-run` says: how many positions, what is known of them, and the time."""
    planned = report["plan"]
    counts = planned["positions"]
    known = f"{counts['cached']:,} from the cache, {counts['imported']:,} imported, {counts['measured']:,} measured now"
    whole = f"{counts['total']:,} different positions in {planned['games']:,} games"
    lines = [f"{whole}: {known}, {counts['to_search']:,} to search"]
    if planned["seconds_each"] is not None:
        each = f"{planned['seconds_each']:.2f} s a position"
        lines.append(f"expected: {duration(planned['expected_seconds'])} at {each}; {engine_line(report['engine'])}")
    return [*lines, *([sample_line(report["sample"])] if "sample" in report else [])]


def sample_line(sample: Mapping[str, Any]) -> str:
    """Return what a budget takes, e.g. `12 of 18 games (seed 1), 402 positions to search, expected 56 s`."""
    games = f"{sample['games']:,} of {sample['games_in_all']:,} games (seed {sample['seed']})"
    return (
        f"a budget of {sample['budget_minutes']:g} minutes takes {games}, "
        f"{sample['to_search']:,} positions to search, expected {duration(sample['expected_seconds'])}"
    )


def sentences(notes: Iterable[str]) -> str:
    """Return notes as running text, e.g. `3 decisions; nothing skipped. Prior: flat.`"""
    return " ".join(note if note.endswith(".") else f"{note}." for note in notes if note)


def skipped_line(decisions: int, skipped: Mapping[str, int], what: str = "decisions") -> str:
    """Return what was used and what was left out, e.g. `1,204 decisions; skipped: 22 forced, 9 decided`."""
    used = plural(decisions, what.removesuffix("s"))
    if not skipped:
        return f"{used}; nothing skipped"
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in skipped.items())
    return f"{used}; skipped: {reasons}"


def group_name(label: Any) -> str:
    """Return the name of a group; what a column leaves null is unknown."""
    return "unknown" if label is None else str(label)


def finite_or_none(value: float) -> float | None:
    """Return the number, None where it is infinite or unknown."""
    return float(value) if math.isfinite(value) else None


class Estimated(Protocol):
    """What an estimate is made from: a posterior, for instance."""

    @property
    def mean(self) -> float:
        """Its mean."""

    @property
    def sd(self) -> float:
        """Its standard deviation."""

    @property
    def edge(self) -> str | None:
        """`low`, `high` or `both` where it is at the edge of the allowed range."""

    @property
    def at(self) -> npt.NDArray[np.float64]:
        """Where its density is known."""

    @property
    def density(self) -> npt.NDArray[np.float64]:
        """How dense it is there."""

    def interval(self, mass: float = 0.95, /) -> tuple[float, float]:
        """Return the equal-tailed interval that holds `mass`."""


@dataclass(frozen=True)
class EloEstimate:
    """An Elo with its interval, and the edge of the range where it is a boundary estimate.

    >>> print(EloEstimate(2310.4, 2104.9, 2528.0, "high"))
    2310 (2105 to 2528) ↑
    """

    elo: float
    elo_low: float
    elo_high: float
    elo_edge: str | None = None

    @classmethod
    def of(cls, posterior: Estimated, mass: float) -> EloEstimate:
        """Return the estimate that a posterior gives."""
        return cls(posterior.mean, *posterior.interval(mass), posterior.edge)

    def __str__(self) -> str:
        return f"{self.elo:.0f} ({self.elo_low:.0f} to {self.elo_high:.0f}){edge_mark(self.elo_edge)}"


@dataclass(frozen=True, kw_only=True)
class EloAndSd(EloEstimate):
    """An Elo with its interval and its standard deviation."""

    elo_sd: float

    @classmethod
    def of(cls, posterior: Estimated, mass: float) -> EloAndSd:
        """Return the estimate that a posterior gives."""
        return EloAndSd(posterior.mean, *posterior.interval(mass), posterior.edge, elo_sd=posterior.sd)


@dataclass(frozen=True, kw_only=True)
class RatedElo(EloAndSd):
    """An Elo on an axis, next to the mean Elo in the PGN headers of the same games.

    >>> print(RatedElo(2810.4, 2604.9, 3000.0, elo_sd=101.0, extrapolated=True, header_elo=None))
    2810 (2605 to 3000) *
    """

    extrapolated: bool  # whether the Elo is outside the range in which the axis was fitted
    header_elo: float | None

    @classmethod
    def rated(cls, posterior: Estimated, mass: float, *, extrapolated: bool, header_elo: float | None) -> RatedElo:
        """Return the estimate that a posterior gives."""
        known = EloAndSd.of(posterior, mass)
        return RatedElo(**vars(known), extrapolated=extrapolated, header_elo=header_elo)

    def __str__(self) -> str:
        return super().__str__() + (" *" if self.extrapolated else "")


@dataclass(frozen=True)
class CompetenceEstimate:
    """A competence c with its standard deviation and interval.

    >>> print(CompetenceEstimate(1.214, 0.083, 1.05, 1.38))
    1.21 ± 0.08
    """

    c: float
    sd: float
    low: float
    high: float
    edge: str | None = None

    @classmethod
    def of(cls, posterior: Estimated, mass: float) -> CompetenceEstimate:
        """Return the estimate that a posterior gives."""
        return cls(posterior.mean, posterior.sd, *posterior.interval(mass), posterior.edge)

    def with_interval(self) -> str:
        """Return c with its interval, e.g. `1.21 (1.05 to 1.38)`."""
        return f"{self.c:.2f} ({self.low:.2f} to {self.high:.2f})"

    def __str__(self) -> str:
        return f"{self.c:.2f} ± {self.sd:.2f}{edge_mark(self.edge)}"


@dataclass(frozen=True)
class DifferenceEstimate:
    """A difference with its interval and the probability that it is above 0."""

    difference: float
    sd: float
    low: float
    high: float
    probability_above: float

    @classmethod
    def of(cls, posterior: Estimated, mass: float, probability_above: float) -> DifferenceEstimate:
        """Return the difference that a posterior gives."""
        return cls(posterior.mean, posterior.sd, *posterior.interval(mass), probability_above)

    def __str__(self) -> str:
        return f"{self.difference:+.0f} ({self.low:+.0f} to {self.high:+.0f})"


@dataclass(frozen=True)
class ScoreDifference:
    """An expected score and the Elo difference it stands for, which is infinite where the score is 0 or 1.

    >>> print(ScoreDifference.of(0.0, float("-inf"), float("-inf"), -210.0))
    −∞ (−∞ to -210)
    """

    expected_score: float | None = None
    elo_difference: float | None = None  # none where it is infinite or unknown
    infinite: str | None = None  # `above` or `below` where it is infinite
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, p: float, d: float, low: float = math.nan, high: float = math.nan) -> ScoreDifference:
        """Return the difference of these numbers; what is not finite is None."""
        score, difference, *ends = map(finite_or_none, (p, d, low, high))
        return cls(score, difference, ("above" if d > 0 else "below") if math.isinf(d) else None, *ends)

    @property
    def point(self) -> str:
        """The difference with its sign, ±∞ where it is infinite, – where nothing is known."""
        if self.infinite:
            return "+∞" if self.infinite == "above" else "−∞"
        return "–" if self.elo_difference is None else f"{self.elo_difference:+z.0f}"

    def __str__(self) -> str:
        if not self.infinite and self.elo_difference is None:
            return "–"
        low = "−∞" if self.low is None else f"{self.low:+z.0f}"
        return f"{self.point} ({low} to {'+∞' if self.high is None else f'{self.high:+z.0f}'})"


@dataclass(frozen=True)
class EloSoFar:
    """An Elo on the one axis from some of a player's moves, as games and live boards send it."""

    axis_elo: float | None = None
    axis_low: float | None = None
    axis_high: float | None = None

    def __str__(self) -> str:
        return "–" if self.axis_elo is None else f"{self.axis_elo:.0f} ({self.axis_low:.0f} to {self.axis_high:.0f})"


Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column: its title, and how a row is written in it. Labels are left-aligned, numbers right-aligned."""

    title: str
    cell: Callable[[Row], str]
    label: bool = False


@dataclass(frozen=True)
class Table:
    """A table as cells: a title, the names of the columns, the rows, and notes below them.

    >>> columns = [Column("move", str, label=True), Column("letters", lambda move: f"{len(move)}")]
    >>> table = Table.of("moves", ["e4", "Nf3"], columns)
    >>> table.columns, table.rows, table.labels
    (['move', 'letters'], [['e4', '2'], ['Nf3', '3']], [0])
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()  # cells as they are to be read
    notes: Sequence[str] = ()
    labels: Collection[int] = (0,)  # the columns of words, by place, which are left-aligned; numbers are right-aligned
    faded: Collection[int] = ()  # rows in a fainter colour, by place
    headed: bool = True  # whether the names of the columns are shown in the terminal
    wide: bool = False  # a crosstable: centred cells of several lines, too wide for a screen where there are many rows

    @classmethod
    def of(
        cls,
        title: str,
        rows: Iterable[Row],
        columns: Sequence[Column[Row] | None],
        *,
        notes: Iterable[str] = (),
        faded: Callable[[Row], bool] | None = None,
        headed: bool = True,
        wide: bool = False,
    ) -> Table:
        """Return the table of these rows; columns that are None and empty notes are left out."""
        shown, kept = list(rows), [column for column in columns if column is not None]
        return cls(
            title,
            [column.title for column in kept],
            [[column.cell(row) for column in kept] for row in shown],
            [note for note in notes if note],
            labels=[place for place, column in enumerate(kept) if column.label],
            faded=[place for place, row in enumerate(shown) if faded(row)] if faded else (),
            headed=headed,
            wide=wide,
        )


def caveats_table(lines: Iterable[str]) -> Table:
    """Return what must be known to read the numbers, as a table of notes alone."""
    return Table("", notes=[f"caution: {line}" for line in lines])


def number(value: float | None, digits: int) -> str:
    """Return a number with so many decimals, or a dash where there is none.

    >>> number(1.25, 1), number(None, 1)
    ('1.2', '–')
    """
    return "–" if value is None else f"{value:z.{digits}f}"


_WIDEST = 10  # a crosstable of more players does not fit a screen; it is in the page and in the JSON


class PlainConsole(Console):
    """A console that shows texts and obeys none of them: every text passes here, in tables and elsewhere."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield what is to be written, without the controls that are not the console's own."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def drawn(table: Table) -> Group:
    """Return a table as rich draws it: the title above, the notes below, as wide as the screen, not as the table."""
    notes = (Text(note, style="dim") for note in table.notes if note)
    if table.wide and len(table.rows) > _WIDEST:
        said = f"{table.title}: {len(table.rows)} players are too many for a screen; see --html or --json"
        return Group(Text(said, style="dim"), *notes)
    grid = RichTable(show_lines=table.wide, show_header=table.headed)
    for place, name in enumerate(table.columns):
        label = place in table.labels
        grid.add_column(name, justify="left" if label else "center" if table.wide else "right")
    for place, row in enumerate(table.rows):
        grid.add_row(*(Text(cell) for cell in row), style="dim" if place in table.faded else None)
    shown = (grid,) if table.columns else ()  # a table without columns is a title with notes
    return Group(*((Text(table.title, style="bold"),) if table.title else ()), *shown, *notes)
