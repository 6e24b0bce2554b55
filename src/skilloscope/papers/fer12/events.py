"""FER12 on real games: the events of its tables, valued by our engine, beside what it prints.

The engine and its depth are others than the paper's, so differences are shown and not judged; what is compared is the
order of the players, by rank correlation. The games come in the seed's order as far as their values are known or fit
the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import EngineError, InputError
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, paper_table, printed
from skilloscope.papers.samples import NO_DATA, data_files
from skilloscope.sources.gains import AFFORDABLE, Gained, engine_gains, gains_of_games
from skilloscope.sources.judge import Work
from skilloscope.sources.plan import plan, sample_games
from skilloscope.studies.tournament.tournament import Options, Tournament, tournament

Array = npt.NDArray[np.float64]

_SPELLINGS = {"Kortschnoj": "Korchnoi", "Huebner": "Hübner"}
_LONDON = "events/london_classic_2011.pgn"
_YEARS = {
    "1972": "events/fischer_spassky_1972.pgn",
    "1984": "events/karpov_kasparov_1984.pgn",
    "1985": "events/karpov_kasparov_1985.pgn",
    "1986": "events/kasparov_karpov_1986.pgn",
    "1987": "events/kasparov_karpov_1987.pgn",
    "1990": "events/kasparov_karpov_1990.pgn",
    "1992": "events/fischer_spassky_1992.pgn",
    "1997": "events/kasparov_deepblue_1997.pgn",
}


def sampled_gains(budget: Budget, paths: Sequence[Path], *, name: str) -> tuple[Gained, str]:
    """Return the gains of as many games as are known or fit the budget, by surname, and what is to be said of it."""
    games = _by_printed_name(read_games(list(paths)))
    work = _work(budget)
    try:
        planned = plan(games, work, seed=budget.seed, measure=budget.minutes > 0)
    except EngineError as error:
        raise InputError(f"{name}: {error}", hint="import analyses of these games, or install an engine") from error
    sample = sample_games(games, planned, budget.minutes, seed=budget.seed)
    chosen = games.select(sample.rows)
    if not len(chosen):
        raise InputError(f"{name}: no game is known and the budget is {budget.minutes:g} minutes")
    gained = gains_of_games(chosen, work, values="engine")
    counts = gained.positions()
    note = (
        f"{name}: {len(chosen):,} of {len(games):,} games by seed {budget.seed}, {len(gained.losses):,} moves; "
        f"{counts['searched']:,} positions searched now, {counts['cached'] + counts['imported']:,} known; "
        f"{gained.about()['engine']}, one line to depth {work.settings.depth}"
    )
    return gained, note


def _work(budget: Budget) -> Work:
    """Return the work with the search of FER12 to an affordable depth, unless another single line was asked for."""
    asked = budget.work.settings
    same = asked.multipv == 1 and asked.scope == "every position"
    return replace(budget.work, settings=asked if same else AFFORDABLE)


def _london(budget: Budget) -> Outcome:
    def compute(paths: Mapping[str, Path]) -> Outcome:
        gained, note = sampled_gains(budget, [paths[_LONDON]], name="London 2011")
        study = tournament(gained)
        rows = _strength_rows(study, "FER12_table_1_strengths")
        rows += _engine_rows(study, "FER12_table_4")
        rows.append(Row("the engine, mean of r − d", printed("2860"), _finite(study.engine.elo), alike=False))
        notes = [note, _rank_note(study, "FER12_table_1_strengths"), _score_note(study, "FER12_table_4")]
        return Outcome(rows, [*notes, _closer_note(gained, study, _work(budget))], [study])

    return _with_files(budget, [_LONDON], compute)


def _two_events(budget: Budget) -> Outcome:
    files = [_LONDON, "events/tal_memorial_2011.pgn"]

    def compute(paths: Mapping[str, Path]) -> Outcome:
        gained, note = sampled_gains(budget, list(paths.values()), name="London and Tal Memorial 2011")
        study = tournament(gained)
        found = {(study.entries[a].player, study.entries[b].player): row for a, b, *row in study.comparison}
        rows, pairs = [], []
        for line in paper_table("FER12_table_2"):
            own = found.get((line["player"], line["opponent"]))
            label = f"{line['player']} @ London – {line['opponent']} @ Tal Memorial, difference"
            rows.append(Row(label, printed(line["difference"]), _finite(own[1]) if own else None, alike=False))
            if own and np.isfinite(own[1]):
                pairs.append((float(line["difference"]), own[1]))
        told = (
            f"Rank correlation of the {len(pairs)} differences: {_spearman(*zip(*pairs, strict=True)):.2f}."
            if pairs
            else ""
        )
        return Outcome(rows, [note, told], [study])

    return _with_files(budget, files, compute)


def _candidates_2011(budget: Budget) -> Outcome:
    file = "events/candidates_2011.pgn"

    def compute(paths: Mapping[str, Path]) -> Outcome:
        gained, note = sampled_gains(budget, [paths[file]], name="Candidates 2011 with tie-breaks")
        study = tournament(gained, Options(pool="match"))
        rows = [*_difference_rows(study, "FER12_table_3"), *_strength_rows(study, "FER12_table_3_strengths")]
        return Outcome(rows, [note, _rank_note(study, "FER12_table_3_strengths")], [study])

    return _with_files(budget, [file], compute)


def _candidates_1971(budget: Budget) -> Outcome:
    file = "events/candidates_1971.pgn"

    def compute(paths: Mapping[str, Path]) -> Outcome:
        gained, note = sampled_gains(budget, [paths[file]], name="Candidates 1971")
        study = tournament(gained, Options(pool="match"))
        rows = [*_difference_rows(study, "FER12_table_5"), *_engine_rows(study, "FER12_table_5_strengths")]
        return Outcome(rows, [note, _score_note(study, "FER12_table_5_strengths")], [study])

    return _with_files(budget, [file], compute)


def _matches(budget: Budget) -> Outcome:
    def compute(paths: Mapping[str, Path]) -> Outcome:
        london, _ = sampled_gains(budget, [paths[_LONDON]], name="London 2011")
        engine = tournament(london, Options(replicates=20)).engine.elo
        rows, pairs, notes = (
            [],
            [],
            [f"Strengths are {engine:.0f}, the engine's by London 2011, plus the difference to it."],
        )
        printed_rows = [(line, line["year"]) for line in paper_table("FER12_table_6")]
        printed_rows += [(line, line["event"]) for line in paper_table("FER12_section_8")]
        studies: dict[str, Tournament | None] = {}
        for line, year in printed_rows:
            if year not in studies:
                studies[year] = _match(budget, paths[_YEARS[year]], year, notes)
            found = _engine_lead(studies[year], line["player"])
            ours = None if found is None else _finite(engine + found[0])
            sd = None if found is None else found[1]
            rows.append(Row(f"{line['player']} {year}, strength", printed(line["strength"]), ours, sd=sd, alike=False))
            if ours is not None:
                pairs.append((float(line["strength"]), ours))
        if len(pairs) > 2:
            notes.append(f"Rank correlation of the {len(pairs)} strengths: {_spearman(*zip(*pairs, strict=True)):.2f}.")
        return Outcome(rows, notes, [])

    return _with_files(budget, [_LONDON, *_YEARS.values()], compute)


def _match(budget: Budget, path: Path, year: str, notes: list[str]) -> Tournament | None:
    try:
        gained, note = sampled_gains(budget, [path], name=year)
    except InputError as error:
        notes.append(str(error))
        return None
    notes.append(note)
    return tournament(gained, Options(replicates=100))


def _with_files(budget: Budget, names: Sequence[str], compute: Callable[[Mapping[str, Path]], Outcome]) -> Outcome:
    """Compute with the files of the data folder; without them, or without a known game, say so and show nothing."""
    if budget.data is None:
        return Outcome([], [NO_DATA])
    try:
        found = {name: (data_files(budget, name) or [])[0] for name in names}
        return compute(found)
    except InputError as error:
        return Outcome([], [f"{error}; {error.hint}" if error.hint else str(error)])


def _by_printed_name(games: Games) -> Games:
    """Return the games with players called as the paper calls them: by surname."""
    names = {name for side in ("white", "black") for name in games.headers[side].to_pylist() if name}
    short = {name: name.split(",")[0].strip() for name in names}
    return games.renamed({name: _SPELLINGS.get(surname, surname) for name, surname in short.items()})


def _strength_rows(study: Tournament, table: str) -> list[Row]:
    rows = []
    for line in paper_table(table):
        at = _entry(study, line["player"])
        ours = None if at is None else _finite(study.perceived.elo[at])
        sd = None if at is None else _half(study.perceived_low[at], study.perceived_high[at])
        label = f"{line['player']}, strength"
        rows.append(Row(label, printed(line["strength"]), ours, sd=sd, alike=False))
    return rows


def _engine_rows(study: Tournament, table: str) -> list[Row]:
    rows = []
    for line in paper_table(table):
        at = _entry(study, line["player"])
        ours = None if at is None else _finite(study.engine_score[at])
        rows.append(Row(f"{line['player']}, p against the engine", printed(line["expected_score"]), ours, alike=False))
    return rows


def _difference_rows(study: Tournament, table: str) -> list[Row]:
    found: dict[tuple[str, str], tuple[float | None, float | None]] = {}
    for at, pair in enumerate(study.pairs):
        one, two = study.entries[pair.first].player, study.entries[pair.second].player
        sd = _half(study.lead_low[at], study.lead_high[at])
        found[one, two], found[two, one] = (_finite(study.lead[at]), sd), (_finite(-study.lead[at]), sd)
    rows = []
    for line in (line for line in paper_table(table) if line["player"] < line["opponent"]):
        ours, spread = found.get((line["player"], line["opponent"]), (None, None))
        label = f"{line['player']} – {line['opponent']}, difference"
        rows.append(Row(label, printed(line["difference"]), ours, sd=spread, alike=False))
    return rows


def _rank_note(study: Tournament, table: str) -> str:
    """Return the rank correlation of our strengths with the printed ones, with its interval over games."""
    return _correlation(study, table, "strength", study.perceived.elo, study.drawn.strengths, "strengths")


def _score_note(study: Tournament, table: str) -> str:
    return _correlation(
        study, table, "expected_score", study.engine_score, study.drawn.engine_leads, "scores against the engine"
    )


def _correlation(study: Tournament, table: str, column: str, ours: Array, drawn: Array, what: str) -> str:
    lines = [(line, _entry(study, line["player"])) for line in paper_table(table)]
    known = [(float(line[column]), at) for line, at in lines if at is not None and np.isfinite(ours[at])]
    if len(known) < 3:
        return ""
    wanted, places = [value for value, _ in known], [at for _, at in known]
    every = np.array([_spearman(wanted, row[places]) for row in drawn if np.all(np.isfinite(row[places]))])
    again = every[np.isfinite(every)]
    low, high = np.quantile(again, [0.025, 0.975]) if len(again) > 20 else (np.nan, np.nan)
    rank = f"{_spearman(wanted, ours[places]):.2f} ({low:.2f} to {high:.2f})"
    return f"Rank correlation of the {len(known)} {what} with the printed: {rank}."


def _closer_note(gained: Gained, study: Tournament, work: Work) -> str:
    """Return how far differences by way of the engine are from the direct ones, by its single peak and measured."""
    own = engine_gains(gained, "agreed", work)
    agreed = tournament(gained, Options(engine=own, engine_gains="agreed", replicates=20))
    return (
        f"Differences by way of the engine are {study.disagreement:.1f} points from the direct ones by a single peak, "
        f"{agreed.disagreement:.1f} by the gains of its own moves (mean {own.mean:.3f}); "
        f"its strength is then {agreed.engine.elo:.0f}."
    )


def _engine_lead(study: Tournament | None, player: str) -> tuple[float, float | None] | None:
    at = None if study is None else _entry(study, player)
    if study is None or at is None or not np.isfinite(study.engine_lead[at]):
        return None
    return float(study.engine_lead[at]), _half(study.engine_lead_low[at], study.engine_lead_high[at])


def _entry(study: Tournament, player: str) -> int | None:
    return next((at for at, entry in enumerate(study.entries) if entry.player == player), None)


def _finite(value: float) -> float | None:
    """Return a number, or None where it is infinite or unknown."""
    return float(value) if np.isfinite(value) else None


def _half(low: float, high: float) -> float | None:
    """Return the standard deviation that a 95 % interval implies."""
    return float((high - low) / 3.92) if np.isfinite(low) and np.isfinite(high) else None


def _spearman(one: npt.ArrayLike, two: npt.ArrayLike) -> float:
    """Return the correlation of the ranks; NaN where one side is all alike."""
    ranks = [rankdata(side) for side in (one, two)]
    return float("nan") if any(np.ptp(side) == 0 for side in ranks) else float(np.corrcoef(*ranks)[0, 1])


_OTHER = "Another engine and depth than the paper's: differences are shown, not judged; ± is one sd over games."

FER12_EVENTS = (
    Entry("FER12.london", "Tables 1 and 4 on the games: London Chess Classic 2011", _london, _OTHER),
    Entry("FER12.two_events", "Table 2 on the games: London Chess Classic and Tal Memorial 2011", _two_events, _OTHER),
    Entry("FER12.candidates2011", "Table 3 on the games: Candidates 2011, pooled by match", _candidates_2011, _OTHER),
    Entry("FER12.candidates1971", "Table 5 on the games: Candidates 1971", _candidates_1971, _OTHER),
    Entry("FER12.matches", "Table 6 and section 8 on the games: matches of 1972 to 1997", _matches, _OTHER),
)
