"""GLI99: tables 1 and 2 by simulation, tables 3 and 4 and figure 2 on the nearest games that are at hand.

Tables 1 and 2 depend on random numbers, the paper's and ours: the tolerance is three standard errors of the difference.
The paper's chess and tennis results are not public; tables 3 and 4 are from other collections, shown and not judged.

Table 1 compares the closed forms (9)–(10) with the marginal posterior (8) itself, by weighted bootstrap: for each data
set the share of draws from (8) that lie within the nominal intervals [sect. 3.4]. The logarithm of (8) is evaluated at
257 points and interpolated by a cubic spline, which changes it by less than the average over 50 draws of an opponent
does. Draws are with replacement, as in Smith and Gelfand's weighted bootstrap, which gives the printed figures.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.interpolate import CubicSpline
from scipy.stats import norm

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, Tally
from skilloscope.models.paired_comparison import Q, update, win_probability
from skilloscope.papers.harness import Budget, Outcome, Row, entries, paper_table, printed
from skilloscope.ratings.periods.histories import leaderboard, peaks
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import fit_variances
from skilloscope.report.charts import Figure
from skilloscope.results.reading import read_csv, read_results, results_from_arrow
from skilloscope.results.table import Results
from skilloscope.simulate.populations import Population, simulate_results
from skilloscope.studies.results.rating import OverTime

_NO_POINTS = ("D", "F")  # Davis Cup and tour finals gave no ATP points
_SPELLINGS = {"nimzovitch": "nimzowitsch"}
_PRIOR = (1500.0, 100.0)
_POINTS = 257
_REPLICATIONS = 200
_DATA_SETS = 500
_DRAWS, _KEPT, _EACH = 10_000, 500, 50  # draws of θ, those kept, draws of each opponent
_ERRORS = 3.0
_NO_DATA = "Needs real results (--data): –."


def without_namesakes(results: Results) -> Results:
    """Return results without namesakes: who comes back after 40 years is somebody else, the smaller part counted.

    >>> dates = ["1885-01-01", "1956-01-01", "1957-01-01"]
    >>> print(without_namesakes(Results.from_columns(["Fischer R"] * 3, ["A", "B", "B"], [0, 1, 1], date=dates)).tally)
    1 namesake, 40 years and more apart
    """
    year = results.date.astype("datetime64[Y]").astype(np.int64)
    kept = np.ones(len(results), dtype=bool)
    for code in range(len(results.players)):
        games = np.flatnonzero((results.player_1 == code) | (results.player_2 == code))
        games = games[np.argsort(year[games], kind="stable")]
        parts = np.split(games, 1 + np.flatnonzero(np.diff(year[games]) >= 40))
        kept[games] &= np.isin(games, max(parts, key=len))
    reason = "namesake, 40 years and more apart"
    counts = {reason: int((~kept).sum())} if not kept.all() else {}
    return replace(results.select(kept), tally=results.tally + Tally(counts))


def surname(player: str) -> str:
    """Return a surname by which the printed table and the collection agree.

    >>> surname("Aron Nimzovitch"), surname("Nimzowitsch A"), surname("Lasker E")
    ('nimzowitsch', 'nimzowitsch', 'lasker e')
    """
    words = player.split()
    given_last = len(words) > 1 and len(words[-1]) <= 2
    family, given = (words[0], words[-1]) if given_last else (words[-1], words[0])
    word = _SPELLINGS.get(family.lower(), family.lower())
    return f"{word} {given[0].lower()}" if word == "lasker" else word  # Emanuel and Edward


def tennis(data: Path, *, walkovers: bool) -> Results:
    """Return the matches of the ATP tour 1986 to 1995 that gave points; walkovers count as wins, or not at all."""
    files = sorted((data / "tennis").glob("atp_matches_*.csv.gz"))
    if not files:
        raise InputError(f"{data}: no tennis matches there", hint="tennis/atp_matches_YEAR.csv.gz are read")
    columns = ("tourney_date", "tourney_level", "winner_name", "loser_name", "score")
    parts = [pa.table({name: read_csv(file)[0].column(name).cast(pa.string()) for name in columns}) for file in files]
    matches = pa.concat_tables(parts)
    matches = matches.filter(pc.invert(pc.is_in(matches["tourney_level"], pa.array(_NO_POINTS))))
    score = pc.if_else(pc.match_substring(matches["score"], "W/O"), "1" if walkovers else "W/O", "1")
    names = {"date": "tourney_date", "player_1": "winner_name", "player_2": "loser_name"}
    table = pa.table({**{name: matches[column] for name, column in names.items()}, "score": score})
    return results_from_arrow(table, name="tennis")


def replicate(population: Population, times: int, *, rng: np.random.Generator) -> Array:
    """Simulate, fit and rate so many times: σ0, ν, and the shares of players whom 50 % and 95 % intervals hold.

    Coverage is that of the true strengths in the last period. Estimates and truth are centred on the same mean in each
    replication, since a drift of all players cannot be seen.
    """
    rows = []
    for _ in range(times):
        simulated = simulate_results(population, rng=rng)
        games = simulated.results.by_period()
        fit = fit_variances(games)
        state, _ = State.empty(sigma0=fit.sigma0, nu=fit.nu).play(games)
        mean, variance = state.moments()
        played = np.isfinite(mean)
        truth = simulated.strength[played, -1]
        distance = np.abs((mean[played] - mean[played].mean()) - (truth - truth.mean())) / np.sqrt(variance[played])
        rows.append((fit.sigma0, fit.nu, *_shares_within(distance)))
    return np.array(rows)


def _shares_within(distance: Array) -> tuple[float, float]:
    """Return the shares of distances, in standard deviations, that nominal 50 % and 95 % intervals hold."""
    inner, outer = (float(np.mean(distance <= norm.ppf(0.5 + mass / 2))) for mass in (0.5, 0.95))
    return inner, outer


def bootstrap_coverage(opponents: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the shares of one simulated data set: outcomes drawn, (9)–(10) computed, (8) drawn from. [GLI99 3.4]"""
    means = rng.normal(*_PRIOR, opponents)
    sds = 400.0 / rng.chisquare(10, opponents)  # scaled inverse χ² on 10 degrees of freedom, mean 400/(10 − 2) = 50
    strength, others = rng.normal(*_PRIOR), rng.normal(means, sds)
    score = (rng.random(opponents) < 1 / (1 + np.exp(-Q * (strength - others)))).astype(float)
    theta = rng.normal(*_PRIOR, _DRAWS)
    at = np.linspace(theta.min(), theta.max(), _POINTS)
    sampled = rng.normal(means, sds, (_EACH, opponents))
    x = Q * (at[:, None, None] - sampled[None]) * np.where(score > 0.5, 1.0, -1.0)
    logs = np.log(np.mean(1 / (1 + np.exp(-x)), axis=1)).sum(axis=1)  # (8) without its prior
    log_weight = CubicSpline(at, logs)(theta)
    weight = np.exp(log_weight - log_weight.max())
    posterior = theta[rng.choice(_DRAWS, _KEPT, p=weight / weight.sum())]
    mean, variance = update(_PRIOR[0], _PRIOR[1] ** 2, means, sds**2, score)
    return _shares_within(np.abs(posterior - mean) / np.sqrt(variance))


def _table_1(budget: Budget) -> Outcome:
    rng = np.random.default_rng(budget.seed)
    rows: list[Row] = []
    for line in paper_table("GLI99_table_1"):
        opponents = int(line["opponents"])
        shares = np.array([bootstrap_coverage(opponents, rng) for _ in range(_DATA_SETS)])
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
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) * np.sqrt(2 / _REPLICATIONS)
        names = ("estimated_sigma0", "estimated_nu", "coverage_50", "coverage_95")
        words = ("σ0", "ν", "coverage of 50 %", "coverage of 95 %")
        for place, (name, word) in enumerate(zip(names, words, strict=True)):
            label = f"simulation {line['simulation']}: {word}"
            rows.append(_row(label, line[name], float(mean[place]), float(error[place])))
    return Outcome(rows, [f"{_REPLICATIONS} replications of each simulation, seed {budget.seed}."])


def _row(label: str, text: str, ours: float, error: float) -> Row:
    return Row(label, printed(text), ours, _ERRORS * error, sd=error / np.sqrt(2))


def _table_3(budget: Budget) -> Outcome:
    table = paper_table("GLI99_table_3")
    if budget.data is None:
        return Outcome([Row(f"{line['player']}: peak", printed(line["strength"])) for line in table], [_NO_DATA])
    columns = {"player_1": "white", "player_2": "black", "score": "white_score"}
    file = budget.data / "results" / "chess_great_players_1857_1991.csv"
    results = without_namesakes(read_results(file, columns=columns))
    model = Periods(period="1Y", smoothing="eq14").fit(results)
    board, years = peaks(model.history_)
    rated = zip(board.rows(), years, strict=True)
    peak = {surname(row.player): (row.player, row.rating, row.rd, year) for row, year in rated}
    rows = _parameters(model, "38.19", "18.87")
    for line in table:
        _, rating, rd, year = peak[surname(line["player"])]
        rows += [
            Row(f"{line['player']}: peak", printed(line["strength"]), rating, alike=False),
            Row(f"{line['player']}: sd", printed(line["sd"]), rd, alike=False),
            Row(f"{line['player']}: peak year", printed(line["peak_year"]), float(year), alike=False),
        ]
    names = [peak[surname(line["player"])][0] for line in table[:8]]
    caption = "The eight players of the paper's figure 2, smoothed by eq14 as there."
    figure = Figure("", OverTime(model.history_, names, bands=False), caption)
    ranked = sorted(peak.values(), key=lambda row: -row[1])
    ours = {surname(name) for name, *_ in ranked[: len(table)]}
    shared = sum(surname(line["player"]) in ours for line in table)
    agree = f"{shared} of the printed {len(table)} are among our first {len(table)}."
    return Outcome(rows, [_said(results, model), agree], [lambda: [figure]])


def _table_4(budget: Budget) -> Outcome:
    table = paper_table("GLI99_table_4")
    chance = win_probability(*_printed_moments(table, "Pete Sampras"), *_printed_moments(table, "Thomas Muster"))
    rows = [Row("Sampras beats Muster by (16), from the printed table", printed("0.63"), float(chance))]
    if budget.data is None:
        return Outcome([*rows, *(Row(line["player"], printed(line["strength"])) for line in table)], [_NO_DATA])
    notes = []
    for walkovers, word in ((True, "walkovers as wins"), (False, "without walkovers")):
        results = tennis(budget.data, walkovers=walkovers)
        model = Periods(period="2M", smoothing=None).fit(results)
        board = leaderboard(model.state_, active_within=4, at=model.state_.latest)
        found = {_plain(row.player): row for row in board.rows()}
        rows += _parameters(model, "113.65", "22.35", f", {word}")
        for line in table:
            row = found.get(_plain(line["player"]))
            ours = (None, None) if row is None else (row.rating, row.rd)
            rows.append(Row(f"{line['player']}, {word}", printed(line["strength"]), ours[0], alike=False))
            rows.append(Row(f"{line['player']}: sd, {word}", printed(line["sd"]), ours[1], alike=False))
        notes.append(f"{word}: {_said(results, model)}")
    return Outcome(rows, notes)


def _printed_moments(table: Sequence[Mapping[str, str]], player: str) -> tuple[float, float]:
    line = next(line for line in table if line["player"] == player)
    return float(line["strength"]), float(line["sd"]) ** 2


def _parameters(model: Periods, sigma0: str, nu: str, word: str = "") -> list[Row]:
    return [
        Row(f"σ0{word}", printed(sigma0), model.sigma0_, alike=False),
        Row(f"ν{word}", printed(nu), model.nu_, alike=False),
    ]


def _said(results: Results, model: Periods) -> str:
    counts = f"{model.state_.games:,} games of {len(results.players):,} players in {model.games_.n_periods} periods"
    return f"{counts}; skipped: {results.tally}."


def _plain(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).lower()


GLI99_ENTRIES = entries({"GLI99.1": _table_1, "GLI99.2": _table_2, "GLI99.3": _table_3, "GLI99.4": _table_4})
