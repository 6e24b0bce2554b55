"""DFHR09: composite players of seven Elo groups (Tables I and II, Figure 1) and the split by result (Table III)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from skilloscope.papers.dfh.composite_rows import SPLIT_NOTE, bands_outcome, split_outcome
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, paper_table, printed

_OTHER_GAMES = "Other games and another engine (the paper: Toga II 1.3.1), so differences are shown and not judged."


def _datasets(budget: Budget) -> Outcome:
    def rows(line: dict[str, str], group: Any, whose: str) -> Sequence[Row]:
        return [
            Row(f"{line['dataset']} games{whose}", printed(line["games"]), group and float(group.games), alike=False),
            Row(
                f"{line['dataset']} events{whose}",
                printed(line["events"]),
                group and float(group.decisions),
                alike=False,
            ),
        ]

    return bands_outcome(budget, [(_milepost(line), partial(rows, line)) for line in _table()])


def _statistics(budget: Budget) -> Outcome:
    def rows(line: dict[str, str], group: Any, whose: str) -> Sequence[Row]:
        low, high = group.c.interval(0.95) if group else (None, None)
        name = line["dataset"]
        return [
            Row(f"{name} c̄{whose}", printed(line["c"]), group and group.c.mean, sd=group and group.c.sd, alike=False),
            Row(f"{name} σ{whose}", printed(line["sd"]), group and group.c.sd, alike=False),
            Row(f"{name} CR min{whose}", printed(line["cr_min"]), low, alike=False),
            Row(f"{name} CR max{whose}", printed(line["cr_max"]), high, alike=False),
        ]

    return bands_outcome(budget, [(_milepost(line), partial(rows, line)) for line in _table()], draw=True)


def _table() -> list[dict[str, str]]:
    return paper_table("DFHR09_tables_I_II")


def _milepost(line: dict[str, str]) -> int:
    return (int(line["elo_min"]) + int(line["elo_max"])) // 2


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
        lambda budget: split_outcome(budget, "DFHR09_table_III"),
        SPLIT_NOTE,
    ),
)
