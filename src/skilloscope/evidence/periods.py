"""Evidence in the order of time: by year, month or event, and after every decision of one game. [DFH13 (4), VII]

In: decisions with context columns. Out: the period of each decision and each decider's evidence by period; or the
`RunningCompetence` of one game. Decisions whose period is unknown are left out and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.integrate import simpson

from skilloscope.core.columns import Array, Ints, encode
from skilloscope.core.dates import DAY, YEAR, read_date
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions
from skilloscope.evidence.lattice import PeriodEvidence
from skilloscope.evidence.posterior import Prior, Uniform
from skilloscope.evidence.sources.agent import agent_evidence
from skilloscope.evidence.table import Evidence, EvidenceTable
from skilloscope.models.agent import Agent

EVERY = ("year", "month", "event")
Place = tuple[str, float]  # the name of a period, and when it was
_PERIOD = "period of the profile"


@dataclass(frozen=True, eq=False)
class DecisionPeriods:
    """Decisions whose period is known, the code of each one's period, and the periods in order of time."""

    decisions: Decisions
    names: Sequence[str]
    times: Array
    code: npt.NDArray[np.int32]
    unit: str  # what one unit of time is, for the drift


HeaderElos = dict[tuple[str, int], dict[Any, float | None]]
"""The Elo of a player in the header of each game, by player and the code of the period."""


def header_elos(periods: DecisionPeriods) -> HeaderElos:
    """Return what the headers say of all players' games."""
    batch, found = periods.decisions, HeaderElos()
    columns = batch.context.column_names
    games, elos = (batch.column(n).to_pylist() if n in columns else [None] * len(batch) for n in ("game", "elo"))
    for decider, code, game, elo in zip(batch.decider.tolist(), periods.code.tolist(), games, elos, strict=True):
        if game is not None:
            found.setdefault((batch.deciders[decider], code), {})[game] = elo
    return found


def decimal_year(text: str | None) -> tuple[float, int | None] | None:
    """Return when a date was, in years (the middle of what is unknown), and its month if known; None for no date.

    >>> decimal_year("1972.07.??"), decimal_year("1972.??.??"), decimal_year("?")
    ((1972.5416666666667, 7), (1972.5, None), None)
    """
    date = read_date(text or "")
    if date is None:
        return None
    if date.precision == YEAR:
        return date.first.year + 0.5, None
    inside = (date.first.day - 0.5) / 31 if date.precision == DAY else 0.5
    return date.first.year + (date.first.month - 1 + inside) / 12, date.first.month


def date_periods(batch: Decisions, every: str) -> DecisionPeriods:
    """Return the periods of games: by year, month or event (the same name in another year is another event)."""
    check_every(every)
    columns = [batch.column(name).to_pylist() for name in ("date", "year", "event")]
    of_game: dict[tuple[Any, ...], Place | str] = {}
    places = [
        of_game.get(key) or of_game.setdefault(key, period_of_game(every, *key)) for key in zip(*columns, strict=True)
    ]
    for reason in sorted({place for place in places if isinstance(place, str)}):
        keep = np.array([place != reason for place in places], dtype=bool)
        batch = batch.select(keep, reason=reason)
        places = [place for place in places if place != reason]
    known = [place for place in places if not isinstance(place, str)]
    return _in_order(batch, [name for name, _ in known], [time for _, time in known], "year")


def check_every(every: str) -> None:
    """Raise where games have no such periods."""
    if every not in EVERY:
        raise OptionError(f"no periods by {every!r}", hint=f"the periods: {', '.join(EVERY)}")


def period_of_game(every: str, date: str | None, year: int | None, event: str | None) -> Place | str:
    """Return a game's period and its time, or why it has none."""
    blank = not (date or "").strip("?-./ ")
    when = decimal_year(str(year) if blank and year else date)
    if when is None:
        return "no date" if blank else "impossible date"
    time, month = when
    if every == "year":
        return str(int(time)), float(int(time))
    if every == "month":
        return (f"{int(time)}-{month:02d}", int(time) + (month - 1) / 12) if month else "no month in the date"
    if not event:
        return "no event"
    return event if str(int(time)) in event else f"{event} {int(time)}", time


def column_periods(batch: Decisions, column: str) -> DecisionPeriods:
    """Return the periods of a column's values: numbers, dates in years, other texts in order of appearance."""
    values = batch.column(column).to_pylist()
    known = np.array([value is not None and value == value for value in values], dtype=bool)
    batch = batch.select(known, reason=f"no {column}")
    values = [value for value, there in zip(values, known, strict=True) if there]
    labels = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if all(isinstance(value, int | float) for value in values):
        return _in_order(batch, labels, [float(value) for value in values], column)
    dates = [decimal_year(label) for label in labels]
    if all(date is not None for date in dates):
        return _in_order(batch, labels, [date[0] for date in dates if date], "year")
    ranks = {label: float(rank) for rank, label in enumerate(dict.fromkeys(labels))}
    return _in_order(batch, labels, [ranks[label] for label in labels], f"step of {column}")


def _in_order(batch: Decisions, labels: list[str], times: list[float], unit: str) -> DecisionPeriods:
    """Sort the periods by the time of their first decision, ties in order of appearance."""
    names, codes = encode(labels)
    first = np.full(len(names), np.inf)
    np.minimum.at(first, codes, np.asarray(times, dtype=float))
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return DecisionPeriods(batch, [names[i] for i in order], first[order], rank[codes], unit)


@dataclass(frozen=True, eq=False)
class PeriodHistories:
    """The agent's evidence of each decider in each period."""

    periods: DecisionPeriods
    table: EvidenceTable
    deciders: Sequence[str]  # those with decisions that can be used, in the order in which they were asked for

    def history(self, decider: str) -> tuple[PeriodEvidence, list[int]]:
        """Return a decider's evidence in order of time, and the codes of its periods; gaps are not among them."""
        codes = sorted(code for name, code in self.table if name == decider and self.table[name, code].decisions)
        return PeriodEvidence(self.periods.times[codes], [self.table[decider, code] for code in codes]), codes


def period_histories(
    periods: DecisionPeriods, model: Agent, deciders: Sequence[str] = (), *, span: tuple[float, float] = (0.0, 4.0)
) -> PeriodHistories:
    """Return the evidence of each decider in each period, of all deciders unless some are named."""
    batch = periods.decisions
    if not len(batch):
        raise InputError(f"no decision with a known period; skipped: {batch.tally}", hint="profiles need dates")
    names = batch.names()
    if missing := [decider for decider in deciders if decider not in names]:
        raise InputError(f"no decision with a known period of: {'; '.join(missing)}; skipped: {batch.tally}")
    coded = replace(batch, context=batch.context.append_column(_PERIOD, pa.array(periods.code)))
    table = agent_evidence(coded, model, by=["decider", _PERIOD], span=(0.0, max(4.0, span[1])))
    usable = {name for name, code in table if table[name, code].decisions}
    return PeriodHistories(periods, table, [name for name in deciders or names if name in usable])


@dataclass(frozen=True, eq=False, repr=False)
class RunningCompetence:
    """Decisions of one game in order, the `probability` of each before it (NaN if unusable), and c after each."""

    batch: Decisions
    ply: Ints
    probability: Array
    decisions: Ints  # how many decisions of this decider have counted so far
    c: Array
    sd: Array
    low: Array
    high: Array
    prior: str
    mass: float
    about: Mapping[str, object]
    tally: Tally

    def __len__(self) -> int:
        return len(self.ply)

    def rows_of(self, decider: str) -> Ints:
        """Return the rows of one decider's decisions, in order."""
        return np.flatnonzero(self.batch.decider == self.batch.deciders.index(decider))


def running_competence(
    decisions: Decisions, model: Agent | None = None, *, prior: Prior | None = None, mass: float = 0.95
) -> RunningCompetence:
    """Return every decider's posterior of c after each decision of one game.

    >>> batch = Decisions.from_lists(["Ann", "Bob", "Ann"], [[0.0, -0.1], [0.0, -0.9], [0.0, -0.5]], [0, 0, 1])
    >>> running = running_competence(batch)
    >>> running.decisions.tolist(), running.c.round(2).tolist(), running.probability.round(2).tolist()
    ([1, 1, 2], [2.19, 2.12, 0.74], [0.77, 0.92, 0.08])
    """
    if "game" in decisions.context.column_names:
        games, _ = decisions.groups("game")
        if len(games) > 1:
            raise InputError(
                f"decisions of {len(games):,} games, expected one", hint="take one group of decisions.group_by('game')"
            )
    batch = decisions.select(np.argsort(_plies(decisions), kind="stable")).at_depths()
    prior = prior or Uniform(0.0, 4.0)
    numbered = replace(batch, context=pa.table({"row": np.arange(len(batch))}))
    table = agent_evidence(numbered, model, by="row", span=(prior.low, prior.high))
    columns = {name: np.full(len(batch), np.nan) for name in ("probability", "c", "sd", "low", "high")}
    seen = np.zeros(len(batch), dtype=np.int64)
    nothing = Evidence.zero(table.grid)
    now = {code: (nothing, nothing.posterior(prior)) for code in np.unique(batch.decider).tolist()}
    for row, code in enumerate(batch.decider.tolist()):
        (total, posterior), own = now[code], table[row]
        if own.decisions:
            # ∫ p(a|c) p(c|before) dc: how probable the choice was before it was made.
            likelihood = np.exp(own.log_likelihood(posterior.at))
            columns["probability"][row] = simpson(posterior.density * likelihood, x=posterior.at)
            total = total + own
            posterior = total.posterior(prior)
            now[code] = total, posterior
        seen[row] = total.decisions
        columns["c"][row], columns["sd"][row] = posterior.mean, posterior.sd
        columns["low"][row], columns["high"][row] = posterior.interval(mass)
    plies, said, about, tally = _plies(batch), str(prior), table.about, table.tally
    return RunningCompetence(batch, plies, decisions=seen, prior=said, mass=mass, about=about, tally=tally, **columns)


def _plies(batch: Decisions) -> Ints:
    known = batch.context.column("ply").to_pylist() if "ply" in batch.context.column_names else [None]
    return np.arange(len(batch)) if None in known else np.array(known, dtype=np.int64)
