"""GLI99: tables 1 and 2 by simulation, tables 3 and 4 and figure 2 on the nearest games that are at hand.

Tables 1 and 2 rest on random numbers, the paper's and ours: the tolerance is three standard errors of the difference.
The chess and tennis results of the paper are not public; ours come from other collections, so tables 3 and 4 are shown
beside the printed ones and not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skilloscope.models.comparison import win_probability
from skilloscope.papers.gli99.data import great_players, surname, tennis
from skilloscope.papers.gli99.simulations import replicate
from skilloscope.papers.gli99.weighted_bootstrap import coverage_shares
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, paper_table, printed
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.leaderboards import leaderboard, peaks
from skilloscope.results.table import Results
from skilloscope.simulate.populations import Population
from skilloscope.studies.results.runs import Rated, rate_results, smoothed

_REPLICATIONS = 200
_DATA_SETS = 500
_ERRORS = 3.0


@dataclass(frozen=True)
class Strengths:
    """Smoothed strengths of some players over time, to be drawn as figure 2."""

    history: History
    players: Sequence[str]
    caption: str

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.results.figures import history_figure

        return [(history_figure(self.history, self.players, bands=False), self.caption)]


def _table_1(budget: Budget) -> Outcome:
    rng = np.random.default_rng(budget.seed)
    rows: list[Row] = []
    for line in paper_table("GLI99_table_1"):
        opponents = int(line["opponents"])
        shares = coverage_shares(opponents, _DATA_SETS, rng=rng)
        for column, mass in enumerate(("50", "95")):
            share = shares[:, column]
            sd = float(share.std(ddof=1))
            label = f"{opponents} opponents, nominal {mass} %"
            both = np.sqrt(2 / _DATA_SETS)  # their data sets and ours
            rows.append(_row(f"{label}: average", line[f"coverage_{mass}"], float(share.mean()), sd * both))
            # The standard error of a 2.5 % point of a normal sample is 2.67 sd/√n.
            for end, at in (("low", 0.025), ("high", 0.975)):
                text = line[f"{end}_{mass}"]
                rows.append(_row(f"{label}: {end}", text, float(np.quantile(share, at)), 2.67 * sd * both))
    return Outcome(rows, [f"{_DATA_SETS} data sets for each number of opponents, seed {budget.seed}."])


def _table_2(budget: Budget) -> Outcome:
    rng = np.random.default_rng(budget.seed)
    rows: list[Row] = []
    for line in paper_table("GLI99_table_2"):
        periods = int(line["periods"])
        games = periods * int(line["games_per_period"])
        truth = (float(line["sigma0"]), float(line["nu"]))
        found = replicate(Population(int(line["players"]), periods, games, *truth), _REPLICATIONS, rng=rng)
        error = found.sd * np.sqrt(2 / _REPLICATIONS)
        names = ("estimated_sigma0", "estimated_nu", "coverage_50", "coverage_95")
        words = ("σ0", "ν", "coverage of 50 %", "coverage of 95 %")
        for place, (name, word) in enumerate(zip(names, words, strict=True)):
            label = f"simulation {line['simulation']}: {word}"
            rows.append(_row(label, line[name], float(found.mean[place]), float(error[place])))
    return Outcome(rows, [f"{_REPLICATIONS} replications of each simulation, seed {budget.seed}."])


def _row(label: str, text: str, ours: float, error: float) -> Row:
    return Row(label, printed(text), ours, _ERRORS * error, sd=error / np.sqrt(2))


def _table_3(budget: Budget) -> Outcome:
    table = paper_table("GLI99_table_3")
    if budget.data is None:
        return Outcome([Row(f"{line['player']}: peak", printed(line["strength"])) for line in table], [_NO_DATA])
    results = great_players(budget.data)
    rated = rate_results(results, "1Y")
    past = smoothed(rated, "eq14")
    board, years = peaks(past.history)
    peak = {
        surname(row["player"]): (row["player"], row["rating"], row["rd"], year)
        for row, year in zip(board.rows(), years, strict=True)
    }
    rows = [*_parameters(rated, "38.19", "18.87")]
    for line in table:
        _, rating, rd, year = peak[surname(line["player"])]
        rows += [
            Row(f"{line['player']}: peak", printed(line["strength"]), rating, alike=False),
            Row(f"{line['player']}: sd", printed(line["sd"]), rd, alike=False),
            Row(f"{line['player']}: peak year", printed(line["peak_year"]), float(year), alike=False),
        ]
    names = [peak[surname(line["player"])][0] for line in table[:8]]
    shown = Strengths(past.history, names, "The eight players of the paper's figure 2, smoothed by eq14 as there.")
    return Outcome(rows, [_said(results, rated), _agreement(table, peak)], [shown])


def _agreement(table: Sequence[Mapping[str, str]], peak: Mapping[str, tuple[str, float, float, str]]) -> str:
    """Return how many of the printed twenty are among our twenty, in words."""
    ranked = sorted(peak.values(), key=lambda row: -row[1])
    ours = {surname(name) for name, *_ in ranked[: len(table)]}
    shared = sum(surname(line["player"]) in ours for line in table)
    return f"{shared} of the printed {len(table)} are among our first {len(table)}."


def _table_4(budget: Budget) -> Outcome:
    table = paper_table("GLI99_table_4")
    chance = win_probability(*_printed_moments(table, "Pete Sampras"), *_printed_moments(table, "Thomas Muster"))
    rows = [Row("Sampras beats Muster by (16), from the printed table", printed("0.63"), float(chance))]
    if budget.data is None:
        return Outcome([*rows, *(Row(line["player"], printed(line["strength"])) for line in table)], [_NO_DATA])
    notes = []
    for walkovers, word in ((True, "walkovers as wins"), (False, "without walkovers")):
        results = tennis(budget.data, walkovers=walkovers)
        rated = rate_results(results, "2M")
        board = leaderboard(rated.state, active_within=4, at=rated.latest)
        found = {_plain(row["player"]): row for row in board.rows()}
        rows += _parameters(rated, "113.65", "22.35", f", {word}")
        for line in table:
            row = found.get(_plain(line["player"]))
            ours = (None, None) if row is None else (row["rating"], row["rd"])
            rows.append(Row(f"{line['player']}, {word}", printed(line["strength"]), ours[0], alike=False))
            rows.append(Row(f"{line['player']}: sd, {word}", printed(line["sd"]), ours[1], alike=False))
        notes.append(f"{word}: {_said(results, rated)}")
    return Outcome(rows, notes)


def _printed_moments(table: Sequence[Mapping[str, str]], player: str) -> tuple[float, float]:
    line = next(line for line in table if line["player"] == player)
    return float(line["strength"]), float(line["sd"]) ** 2


def _parameters(rated: Rated, sigma0: str, nu: str, word: str = "") -> list[Row]:
    return [
        Row(f"σ0{word}", printed(sigma0), rated.state.sigma0, alike=False),
        Row(f"ν{word}", printed(nu), rated.state.nu, alike=False),
    ]


def _said(results: Results, rated: Rated) -> str:
    counts = f"{rated.state.games:,} games of {len(results.players):,} players in {rated.games.n_periods} periods"
    return f"{counts}; skipped: {results.tally}."


def _plain(name: str) -> str:
    """Return a name without accents and capitals."""
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).lower()


_NO_DATA = "Needs real results (--data): –."

GLI99_ENTRIES = (
    Entry(
        "GLI99.1",
        "Table 1: how much of the marginal posterior (8) lies within the intervals of (9)–(10)",
        _table_1,
        "Drawn with replacement, which is what the printed figures agree with; the text says without, and then 50 "
        "opponents give 0.483 in place of 0.4873. The tolerance holds three standard errors of the difference.",
    ),
    Entry(
        "GLI99.2",
        "Table 2: σ0, ν and coverage recovered from simulated populations",
        _table_2,
        "Strengths centred, sd before the passage of time. The tolerance: three standard errors of the difference.",
    ),
    Entry(
        "GLI99.3",
        "Table 3 and figure 2: peaks of great chess players, in kind",
        _table_3,
        "Other games than the paper's (26,352 of 142 players for 15,664 of 88), so the differences are not judged. "
        "Smoothed by eq14, as the paper was.",
    ),
    Entry(
        "GLI99.4",
        "Table 4: tennis players at the end of 1995",
        _table_4,
        "Another collection of the same tour, without team events and tour finals, which gave no points; the paper's "
        "33,359 matches are not public, so the differences are not judged. Players of the last four periods.",
    ),
)
