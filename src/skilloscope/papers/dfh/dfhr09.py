"""DFHR09: composite players of seven Elo groups (Tables I and II, Figure 1) and the split by result (Table III)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from skilloscope.papers.dfh.composite_rows import SPLIT_NOTE, bands_outcome, split_outcome
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, mean_and_sd, printed
from skilloscope.studies.composites.composites import Composite

_TABLE = "DFHR09_tables_I_II"
_OTHER_GAMES = "Other games and another engine (the paper: Toga II 1.3.1), so differences are shown and not judged."


def _datasets(budget: Budget) -> Outcome:
    return bands_outcome(budget, _TABLE, _dataset_rows)


def _dataset_rows(line: Mapping[str, str], group: Composite | None, whose: str) -> Sequence[Row]:
    sizes = (None, None) if group is None else (float(group.games), float(group.decisions))
    return [
        Row(f"{line['dataset']} {name}{whose}", printed(line[name]), size, alike=False)
        for name, size in zip(("games", "events"), sizes, strict=True)
    ]


def _statistics(budget: Budget) -> Outcome:
    return bands_outcome(budget, _TABLE, _statistic_rows, draw=True)


def _statistic_rows(line: Mapping[str, str], group: Composite | None, whose: str) -> Sequence[Row]:
    low, high = group.c.interval(0.95) if group else (None, None)
    name, (c, sd) = line["dataset"], mean_and_sd(group.c if group else None)
    return [
        Row(f"{name} c̄{whose}", printed(line["c"]), c, sd=sd, alike=False),
        Row(f"{name} σ{whose}", printed(line["sd"]), sd, alike=False),
        Row(f"{name} CR min{whose}", printed(line["cr_min"]), low, alike=False),
        Row(f"{name} CR max{whose}", printed(line["cr_max"]), high, alike=False),
    ]


DFHR09_ENTRIES = (
    Entry("DFHR09.I", "Table I: games and events of the composite players", _datasets, _OTHER_GAMES),
    Entry(
        "DFHR09.II",
        "Table II and Figure 1: c̄, σ and 95 % region of the composite players",
        _statistics,
        f"{_OTHER_GAMES} The printed regions are wider than c̄ ± 1.96σ by 0.003 to 0.018: a region on a grid of step "
        "0.01 that is rounded outwards.",
    ),
    Entry(
        "DFHR09.III",
        "Table III: apparent skill of lost, won and drawn player-games at 2400",
        partial(split_outcome, table="DFHR09_table_III"),
        SPLIT_NOTE,
    ),
)
