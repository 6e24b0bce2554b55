"""FER12 on real games: the events of its tables, valued by our engine, beside what it prints.

The engine and its depth are others than the paper's, so differences are shown and not judged; what is compared is the
order of the players, by rank correlation. Every game counts whose values are known; within a budget others are valued
too, in the seed's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import InputError
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, paper_table, printed
from skilloscope.papers.samples import NO_DATA, data_files, sampled_games
from skilloscope.sources.gains import AFFORDABLE, Gained, engine_gains, gains_of_games
from skilloscope.sources.judge import Work
from skilloscope.studies.tournament.tournament import OverGames, Tournament, TournamentOptions, tournament

Array = npt.NDArray[np.float64]

_REDRAWN = 400
"""How often the order of the players is drawn anew, games weighed otherwise, for the interval of a rank correlation."""
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
    chosen = sampled_games(budget, games, work, known_too=True, name=name)
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


@dataclass(frozen=True, eq=False)
class _Column:
    """One number of each player that the paper prints, and ours, as columns beside a study's entries."""

    name: str
    """The column of the printed table."""
    label: str
    words: str
    ours: Array
    sd: Array | None
    """Over games, where it is shown."""
    order: OverGames
    """What has the same order, with what each game adds to it."""


def _strengths(study: Tournament) -> _Column:
    return _Column(
        "strength", "strength", "strengths", study.perceived.elo, sd=study.strengths.sd, order=study.strengths
    )


def _scores(study: Tournament) -> _Column:
    words = "scores against the engine"
    label = "p against the engine"
    return _Column("expected_score", label, words, study.engine_score, sd=None, order=study.engine_leads)


def _london(budget: Budget) -> Outcome:
    paths = _files(budget, [_LONDON])
    gained, note = sampled_gains(budget, paths, name="London 2011")
    study = tournament(gained)
    strengths, scores = (study, "FER12_table_1_strengths", _strengths(study)), (study, "FER12_table_4", _scores(study))
    rows = [*_player_rows(*strengths), *_player_rows(*scores)]
    rows.append(Row("the engine, mean of r − d", printed("2860"), _finite(study.engine.elo), alike=False))
    notes = [note, _rank_note(*strengths), _rank_note(*scores), _closer_note(gained, study, _work(budget))]
    return Outcome(rows, notes, [study])


def _two_events(budget: Budget) -> Outcome:
    paths = _files(budget, [_LONDON, "events/tal_memorial_2011.pgn"])
    gained, note = sampled_gains(budget, paths, name="London and Tal Memorial 2011")
    study = tournament(gained)
    found = {(study.entries[a].player, study.entries[b].player): row for a, b, *row in study.comparison}
    rows, pairs = [], []
    for line in paper_table("FER12_table_2"):
        own = found.get((line["player"], line["opponent"]))
        label = f"{line['player']} @ London – {line['opponent']} @ Tal Memorial, difference"
        rows.append(Row(label, printed(line["difference"]), _finite(own[1]) if own else None, alike=False))
        if own and np.isfinite(own[1]):
            pairs.append((float(line["difference"]), own[1]))
    return Outcome(rows, [note, *_pairs_note(pairs, "differences")], [study])


def _candidates(budget: Budget, *, file: str, name: str, tables: tuple[str, str], of: _ColumnOf) -> Outcome:
    """Return a knock-out's differences and one number of each player beside those of two printed tables."""
    gained, note = sampled_gains(budget, _files(budget, [file]), name=name)
    study = tournament(gained, TournamentOptions(pool="match"))
    differences = _difference_rows(study, tables[0])
    pairs = [(row.printed.value, row.ours) for row in differences if row.printed and row.ours is not None]
    rows = [*differences, *_player_rows(study, tables[1], of(study))]
    ranks = [_rank_note(study, tables[1], of(study)), *_pairs_note(pairs, "differences", fewest=3)]
    return Outcome(rows, [note, *ranks], [study])


def _matches(budget: Budget) -> Outcome:
    files = dict(zip(["london", *_YEARS], _files(budget, [_LONDON, *_YEARS.values()]), strict=True))
    london, _ = sampled_gains(budget, [files["london"]], name="London 2011")
    engine = tournament(london, TournamentOptions()).engine.elo
    notes = [f"Strengths are {engine:.0f}, the engine's by London 2011, plus the difference to it."]
    printed_rows = [(line, line["year"]) for line in paper_table("FER12_table_6")]
    printed_rows += [(line, line["event"]) for line in paper_table("FER12_section_8")]
    studies = {year: _match(budget, files[year], year, notes) for year in dict.fromkeys(y for _, y in printed_rows)}
    rows, pairs = [], []
    for line, year in printed_rows:
        study = studies[year]
        at = None if study is None else _entry(study, line["player"])
        ours = sd = None
        if study is not None and at is not None and np.isfinite(study.engine_leads.value[at]):
            ours = _finite(engine + study.engine_leads.value[at])
            sd = _finite(study.engine_leads.sd[at])
        if ours is not None:
            pairs.append((float(line["strength"]), ours))
        rows.append(Row(f"{line['player']} {year}, strength", printed(line["strength"]), ours, sd=sd, alike=False))
    rows.append(_deep_blue(studies["1997"]))
    return Outcome(rows, [*notes, *_pairs_note(pairs, "strengths", fewest=3)])


def _deep_blue(study: Tournament | None) -> Row:
    """Return the one direct difference of section 8: 3 points for the machine, where Algorithm 4 prefers Kasparov."""
    ours = sd = None
    if study is not None and study.pairs:
        sign = 1 if study.entries[study.pairs[0].first].player == "Deep Blue" else -1
        ours, sd = _finite(sign * study.leads.value[0]), _finite(study.leads.sd[0])
    return Row("Deep Blue – Kasparov 1997, direct difference", printed("3"), ours, sd=sd, alike=False)


def _match(budget: Budget, path: Path, year: str, notes: list[str]) -> Tournament | None:
    try:
        gained, note = sampled_gains(budget, [path], name=year)
    except InputError as error:
        notes.append(str(error))
        return None
    notes.append(note)
    return tournament(gained, TournamentOptions())


def _files(budget: Budget, names: Sequence[str]) -> list[Path]:
    """Return files of the data folder; without one there is nothing to compute."""
    return [(data_files(budget, name) or [])[0] for name in names]


def _shown(compute: Callable[[Budget], Outcome], budget: Budget) -> Outcome:
    """Compute with the data folder; without it, its files or a known game, say so and show nothing."""
    if budget.data is None:
        return Outcome([], [NO_DATA])
    try:
        return compute(budget)
    except InputError as error:
        return Outcome([], [f"{error}; {error.hint}" if error.hint else str(error)])


def _by_printed_name(games: Games) -> Games:
    """Return the games with players called as the paper calls them: by surname."""
    names = {name for side in ("white", "black") for name in games.headers[side].to_pylist() if name}
    short = {name: name.split(",")[0].strip() for name in names}
    return games.renamed({name: _SPELLINGS.get(surname, surname) for name, surname in short.items()})


def _player_rows(study: Tournament, table: str, column: _Column) -> list[Row]:
    rows = []
    for line in paper_table(table):
        at = _entry(study, line["player"])
        ours = None if at is None else _finite(column.ours[at])
        sd = None if at is None or column.sd is None else _finite(column.sd[at])
        rows.append(Row(f"{line['player']}, {column.label}", printed(line[column.name]), ours, sd=sd, alike=False))
    return rows


def _difference_rows(study: Tournament, table: str) -> list[Row]:
    found: dict[tuple[str, str], tuple[float | None, float | None]] = {}
    for at, pair in enumerate(study.pairs):
        one, two = study.entries[pair.first].player, study.entries[pair.second].player
        lead, sd = study.leads.value[at], _finite(study.leads.sd[at])
        found[one, two], found[two, one] = (_finite(lead), sd), (_finite(-lead), sd)
    rows = []
    for line in (line for line in paper_table(table) if line["player"] < line["opponent"]):
        ours, spread = found.get((line["player"], line["opponent"]), (None, None))
        label = f"{line['player']} – {line['opponent']}, difference"
        rows.append(Row(label, printed(line["difference"]), ours, sd=spread, alike=False))
    return rows


def _rank_note(study: Tournament, table: str, column: _Column) -> str:
    """Return the rank correlation of our column with the printed one, with its interval over games."""
    lines = [(line, _entry(study, line["player"])) for line in paper_table(table)]
    known = [(float(line[column.name]), at) for line, at in lines if at is not None and np.isfinite(column.ours[at])]
    if len(known) < 3:
        return ""
    wanted, places = [value for value, _ in known], [at for _, at in known]
    at, by_game = column.order.value[places], column.order.by_game[places]
    weights = np.random.default_rng(1).standard_normal((_REDRAWN, by_game.shape[1]))
    again = [_spearman(wanted, at + by_game @ weight) for weight in weights]
    low, high = np.quantile(again, [0.025, 0.975])
    rank = f"{_spearman(wanted, column.ours[places]):.2f} ({low:.2f} to {high:.2f})"
    return f"Rank correlation of the {len(known)} {column.words} with the printed: {rank}."


def _pairs_note(pairs: Sequence[tuple[float, float]], words: str, *, fewest: int = 1) -> list[str]:
    if len(pairs) < fewest:
        return []
    return [f"Rank correlation of the {len(pairs)} {words}: {_spearman(*zip(*pairs, strict=True)):.2f}."]


def _closer_note(gained: Gained, study: Tournament, work: Work) -> str:
    """Return how far differences by way of the engine are from the direct ones, by its single peak and measured."""
    own = engine_gains(gained, "agreed", work)
    agreed = tournament(gained, TournamentOptions(engine=own))
    return (
        f"Differences by way of the engine are {study.disagreement:.1f} points from the direct ones by a single peak, "
        f"{agreed.disagreement:.1f} by the gains of its own moves (mean {own.gains.mean():.3f}); "
        f"its strength is then {agreed.engine.elo:.0f}."
    )


def _entry(study: Tournament, player: str) -> int | None:
    return next((at for at, entry in enumerate(study.entries) if entry.player == player), None)


def _finite(value: float) -> float | None:
    """Return a number, or None where it is infinite or unknown."""
    return float(value) if np.isfinite(value) else None


def _spearman(one: npt.ArrayLike, two: npt.ArrayLike) -> float:
    """Return the correlation of the ranks; NaN where one side is all alike."""
    ranks = [rankdata(side) for side in (one, two)]
    return float("nan") if any(np.ptp(side) == 0 for side in ranks) else float(np.corrcoef(*ranks)[0, 1])


_OTHER = "Another engine and depth than the paper's: differences are shown, not judged; ± is one sd over games."

_ColumnOf = Callable[[Tournament], _Column]

_candidates_2011 = partial(
    _candidates,
    file="events/candidates_2011.pgn",
    name="Candidates 2011 with tie-breaks",
    tables=("FER12_table_3", "FER12_table_3_strengths"),
    of=_strengths,
)
_candidates_1971 = partial(
    _candidates,
    file="events/candidates_1971.pgn",
    name="Candidates 1971",
    tables=("FER12_table_5", "FER12_table_5_strengths"),
    of=_scores,
)

FER12_EVENTS = tuple(
    Entry(key, f"{title} on the games: {what}", partial(_shown, compute), _OTHER)
    for key, title, what, compute in (
        ("FER12.london", "Tables 1 and 4", "London Chess Classic 2011", _london),
        ("FER12.two_events", "Table 2", "London Chess Classic and Tal Memorial 2011", _two_events),
        ("FER12.candidates2011", "Table 3", "Candidates 2011, pooled by match", _candidates_2011),
        ("FER12.candidates1971", "Table 5", "Candidates 1971", _candidates_1971),
        ("FER12.matches", "Table 6 and section 8", "matches of 1972 to 1997", _matches),
    )
)
