"""The harness of reproduction: printed numbers with their precision, rows that compare, entries, tables and the page.

The games of a reproduction are those of the data folder, sampled by a seeded rule to what is known or may be searched:
in the seed's order, stratum by stratum in turn. What has not been computed is shown as –, never as the paper's figure.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from skilloscope.chess.analysis.analyses import decided_reason, decisions
from skilloscope.chess.analysis.files import read_analysed
from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import EngineError, InputError, OptionError
from skilloscope.decision import Decisions
from skilloscope.evidence import Posterior
from skilloscope.inputs.budget import AnalysisPlan, plan, sample_games
from skilloscope.inputs.load import EngineJob, analyse_games
from skilloscope.report.charts import Figure
from skilloscope.report.page import Section
from skilloscope.report.study import Study, json_value
from skilloscope.report.table import Table, number

NO_DATA = "needs real games: give their folder with --data"

SHARED_ANALYSES = DFH13.key({"engine": "Stockfish 15.1", "net": "nn-ad9b42354671.nnue"})
"""Whose answers the analysed games of the data folder are: its README says so, the file itself does not."""

_MORE = "import analyses (measurements/) with --import, or give engine time with --budget MINUTES"

Strata = Callable[[Games], Sequence[Any]]
Made = TypeVar("Made")


class NotAnalysedError(InputError):
    """The games of an entry are not analysed, and the budget does not allow to do it."""


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it: its value, and half a unit of its last digit as the tolerance.

    >>> printed("0.618").value, printed("0.618").half_unit
    (0.618, 0.0005)
    """

    text: str

    @property
    def value(self) -> float:
        """The printed value."""
        return float(self.text)

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit."""
        _, _, decimals = self.text.partition(".")
        return 0.5 * float(10.0 ** -len(decimals))


printed = Printed


@dataclass(frozen=True)
class Row:
    """One printed number next to ours; either may be missing."""

    label: str
    printed: Printed | None
    ours: float | None = None
    rounding: float = 0.0  # what the rounding of the paper's own inputs may add to the tolerance
    sd: float | None = None  # the standard deviation of ours, where it is an estimate
    alike: bool = True
    """False where ours comes from other games or another engine: the difference is shown and not judged."""

    @property
    def tolerance(self) -> float | None:
        """Half a unit of the last printed digit, and what the inputs' rounding may add."""
        return None if self.printed is None else float(self.printed.half_unit + self.rounding)

    @property
    def difference(self) -> float | None:
        """Ours minus printed, or None where one of them is missing."""
        return None if self.ours is None or self.printed is None else self.ours - self.printed.value

    @property
    def within(self) -> bool | None:
        """Whether the difference is within tolerance, or None where there is nothing to judge."""
        if self.difference is None or self.tolerance is None or not self.alike:
            return None
        return bool(abs(self.difference) <= self.tolerance * (1 + 1e-9))

    def as_dict(self) -> dict[str, object]:
        """Return the row as `reproduce --json` sends it."""
        value, text = (self.printed.value, self.printed.text) if self.printed else (None, "")
        names = ("ours", "sd", "difference", "tolerance", "within")
        sent = {"label": self.label, "printed": value, "printed_text": text}
        return sent | {name: getattr(self, name) for name in names}

    def cells(self) -> list[str]:
        """Return the row of a table: one digit more than the paper prints (none for a count), – for nothing."""
        text = self.printed.text if self.printed else ""
        digits = len(text.partition(".")[2]) + 1 if text else 3
        if text.isdigit() and self.ours is not None and float(self.ours).is_integer():
            digits = 0
        ours = number(self.ours, digits) + (f" ± {self.sd:.{digits}f}" if self.sd is not None else "")
        tolerance = self.tolerance
        written = "–" if tolerance is None else f"{tolerance:.2g}" if tolerance < 1 else f"{tolerance:.1f}"
        within = {None: "–", True: "yes", False: "NO"}[self.within]
        return [self.label, text or "–", ours, number(self.difference, digits), written, within]


@dataclass(frozen=True)
class Budget:
    """What a reproduction may use: engine minutes, the seed of its sampling, the games, and what is known of them."""

    minutes: float = 0.0
    seed: int = 1
    data: Path | None = None  # the folder of real games and results; entries that need it are empty without
    work: EngineJob = field(default_factory=EngineJob)  # the store and the analyses to import
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, make: "Callable[[Budget], Made]") -> Made:
        """Return what `make` gives under this budget: several entries ask for it, and it is made for the first."""
        if make not in self._made:
            self._made[make] = make(self)
        found: Made = self._made[make]
        return found


@dataclass(frozen=True)
class Outcome:
    """What an entry computed: the rows, notes on this run (what was sampled), and what makes the figures."""

    rows: Sequence[Row]
    notes: Sequence[str] = ()
    figures: Sequence[Callable[[], Sequence[Figure]]] = ()


@dataclass(frozen=True)
class Entry:
    """One table or figure of a paper: its key, what it is, how it is computed, and what is to be known about it."""

    key: str
    title: str
    compute: Callable[[Budget], Outcome | Sequence[Row]]
    note: str = ""

    def outcome(self, budget: Budget) -> Outcome:
        """Compute the entry; where its games are not known and may not be searched, say so and go on."""
        try:
            found = self.compute(budget)
        except NotAnalysedError as error:
            return Outcome((), (f"nothing computed: {error}; {error.hint}",))
        return found if isinstance(found, Outcome) else Outcome(found)

    def notes(self, outcome: Outcome) -> list[str]:
        """Return the notes of the entry and of what came out."""
        return [note for note in (self.note, *outcome.notes) if note]


def entries(compute: Mapping[str, Callable[[Budget], Outcome | Sequence[Row]]]) -> tuple[Entry, ...]:
    """Return the entries of these keys; data/papers/entries.csv has their titles and what is to be known about them."""
    texts = {row["key"]: row for row in paper_table("entries")}
    return tuple(Entry(key, texts[key]["title"], make, texts[key]["note"]) for key, make in compute.items())


@dataclass(frozen=True, eq=False, kw_only=True)
class Reproduction(Study):
    """The entries that were asked for, and what came out of each."""

    budget: Budget
    entries: Sequence[tuple[Entry, Outcome]]

    title: ClassVar = "The papers, reproduced"

    def as_dict(self) -> dict[str, Any]:
        """Return what `reproduce --json` sends."""
        entries = [
            {"key": entry.key, "title": entry.title, "notes": entry.notes(outcome), "rows": json_value(outcome.rows)}
            for entry, outcome in self.entries
        ]
        budget = {"budget_minutes": self.budget.minutes, "seed": self.budget.seed}
        return {"schema": self.SCHEMA, **budget, "entries": entries}

    @property
    def agrees(self) -> bool:
        """Whether no number lies outside its tolerance."""
        return not any(row.within is False for _, outcome in self.entries for row in outcome.rows)

    def tables(self, top: int | None = None) -> list[Table]:
        """Return one table per entry: printed, ours, difference, tolerance, within."""
        columns = ("", "printed", "ours", "difference", "tolerance", "within")
        return [
            Table(f"{entry.key}: {entry.title}", columns, [row.cells() for row in outcome.rows], entry.notes(outcome))
            for entry, outcome in self.entries
        ]

    def sections(self) -> list[Section]:
        """Return printed numbers next to ours, each entry with the figures of the studies behind it."""
        sections = []
        for (entry, outcome), table in zip(self.entries, self.tables(), strict=True):
            text = "\n".join(table.notes)
            sections.append(Section.from_table(table, text=text) if table.rows else Section(table.title, text))
            for figure in (figure for make in outcome.figures for figure in make()):
                sections.append(Section(f"{entry.key}, figure", figure=figure))
        return sections


def reproduce(entries: Sequence[Entry], wanted: str = "", budget: Budget | None = None) -> Reproduction:
    """Compute the wanted entries (a key, a paper's key, or all), each printed number next to ours."""
    chosen = [e for e in entries if not wanted or e.key == wanted or e.key.split(".")[0] == wanted]
    if not chosen:
        keys = ", ".join(entry.key for entry in entries)
        raise OptionError(f"nothing to reproduce under {wanted!r}", hint=f"the keys: {keys}")
    budget = budget or Budget()
    return Reproduction(budget=budget, entries=[(entry, entry.outcome(budget)) for entry in chosen])


def mean_and_sd(posterior: Posterior | None) -> tuple[float | None, float | None]:
    """Return what a row says of a posterior, nothing where there is none."""
    return (None, None) if posterior is None else (posterior.mean, posterior.sd)


def paper_table(name: str) -> list[dict[str, str]]:
    """Return a printed table that ships, one dict per row, every cell as printed."""
    file = resources.files("skilloscope") / "data" / "papers" / f"{name}.csv"
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


@dataclass(frozen=True, eq=False)
class Sampled:
    """The decisions of a sample of games, and notes about it."""

    decisions: Decisions
    games: Games
    note: str

    @classmethod
    def of(cls, games: Games, work: EngineJob, said: str, player: str | None = None) -> "Sampled":
        """Return the decisions of the games, or of one player in them."""
        judged = analyse_games(games, work, player=player)
        return cls(judged.decisions, games, f"{said}, {len(judged.decisions):,} decisions; {judged}")


def data_files(budget: Budget, *names: str) -> list[Path] | None:
    """Return the files of the data folder that match the names (globs), or None where there is no folder."""
    if budget.data is None:
        return None
    found = [path for name in names for path in sorted(budget.data.glob(name))]
    if not found:
        missing = f"{budget.data}: no file like {' or '.join(names)}"
        raise InputError(missing, hint="give the folder of games with --data")
    return found


def analysed_file(budget: Budget) -> Path | None:
    """Return the file of analysed games in the data folder, None where there is none."""
    files = [] if budget.data is None else sorted((budget.data / "analysed").glob("*.jsonl*"))
    return files[0] if files else None


def analysed_decisions(budget: Budget, *, max_abs_value: float = 3.0) -> Decisions | None:
    """Return the decisions of the analysed games, without the shallower depths; None where there are none."""
    every = budget.once(_every_decision)
    if every is None:
        return None
    near = np.abs(every.best.astype(float)) <= max_abs_value
    about = {**every.about, "max_abs_value": max_abs_value}
    return replace(every.select(near, reason=decided_reason(max_abs_value)), about=about)


def _every_decision(budget: Budget) -> Decisions | None:
    path = analysed_file(budget)
    if path is None:
        return None
    return decisions(read_analysed(path, SHARED_ANALYSES), max_abs_value=np.inf, all_depths=False)


def may_sample(budget: Budget) -> bool:
    """Return whether any analysis may be at hand: engine time, imports or a store."""
    stored = budget.work.store is not None and budget.work.store.exists()
    return budget.minutes > 0 or bool(budget.work.imports) or stored


def sampled_games(
    budget: Budget,
    games: Games,
    work: EngineJob,
    *,
    strata: Strata | None = None,
    player: str | None = None,
    known_too: bool = False,
    name: str,
) -> Games:
    """Return as many games as are known (anywhere if `known_too`) or fit the budget, in the seed's order."""
    planned = _planned(budget, games, work, name, player=player, measure=budget.minutes > 0)
    labels = strata(games) if strata else None
    found = sample_games(games, planned, budget.minutes, seed=budget.seed, strata=labels, known_too=known_too)
    chosen = games.select(found.rows)
    if not len(chosen):
        raise NotAnalysedError(f"{name}: no game is known and the budget is {budget.minutes:g} minutes", hint=_MORE)
    return chosen


def known_decisions(budget: Budget, games: Games, *, name: str) -> Sampled:
    """Return the decisions of the games of which every position is known; refuse where there is none."""
    planned = _planned(budget, games, budget.work, name, measure=False)
    rows = np.setdiff1d(np.arange(len(games)), list(planned.unknown))
    if not len(rows):
        raise NotAnalysedError(f"{name}: no game is known", hint=_MORE)
    said = f"{name}: {len(rows):,} of {len(games):,} games are known"
    return Sampled.of(games.select(rows), budget.work, said)


def _planned(
    budget: Budget, games: Games, work: EngineJob, name: str, *, measure: bool, player: str | None = None
) -> AnalysisPlan:
    try:
        return plan(games, work, seed=budget.seed, player=player, measure=measure)
    except EngineError as error:
        raise NotAnalysedError(f"{name}: {error}", hint="import their analyses, or install an engine") from error


def sampled_decisions(
    budget: Budget,
    games: Games,
    *,
    strata: Strata | None = None,
    player: str | None = None,
    settings: Settings | None = None,
    name: str = "games",
) -> Sampled:
    """Return the decisions of as many games as are known or fit the budget, in the seed's order."""
    work = replace(budget.work, settings=settings or budget.work.settings)
    chosen = sampled_games(budget, games, work, strata=strata, player=player, name=name)
    said = f"{name}: {len(chosen):,} of {len(games):,} games by seed {budget.seed}"
    return Sampled.of(chosen, work, said, player)
