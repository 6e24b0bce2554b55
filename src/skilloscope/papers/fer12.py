"""FER12: what its printed evaluations, gains and differences imply, and the events of its tables on real games.

On real games the engine and its depth are others than the paper's, so differences are shown and not judged; what is
compared is the order of the players, by rank correlation. Every game counts whose values are known; within a budget
others are valued too, in the seed's order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from skilloscope.chess.analysis.evaluations import evaluations_from_comments
from skilloscope.chess.pgn.games import read_games
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import century_analyses_file, game_of_the_century
from skilloscope.inputs.gains import AFFORDABLE, Gained, engine_gains, gains_of_games
from skilloscope.inputs.load import EngineJob
from skilloscope.models.gain import GainHistogram, elo_difference, expected_score
from skilloscope.papers import harness
from skilloscope.papers.harness import NO_DATA, Budget, Outcome, Row, data_files, entries, paper_table, printed
from skilloscope.ratings import perceived
from skilloscope.ratings.perceived import engine_strength, perceived_least_squares, perceived_sequential
from skilloscope.report.table import finite_or_none
from skilloscope.studies.gain import GainStudy
from skilloscope.studies.gain_event import EventGains, GainRequest, OverGames, event_gains
from skilloscope.studies.game import game_study

_ENGINE = 2860.0  # its strength by table 4, which tables 5 and 6 stand on


def _gains(_: Budget) -> Sequence[Row]:
    losses = evaluations_from_comments(game_of_the_century()).losses()
    gains = dict(zip(losses.context.column("ply").to_pylist(), losses.gain.tolist(), strict=True))
    rows = []
    for line in paper_table("FER12_figure_1"):
        ply = int(line["ply"])
        label = f"{ply // 2 + 1}{'.' if ply % 2 == 0 else '...'} {line['move']}"
        rows.append(Row(label, printed(line["gain"]), gains.get(ply)))
    return rows


def _averages(_: Budget) -> Sequence[Row]:
    byrne, fischer = _figure_1("Byrne"), _figure_1("Fischer")
    return [
        Row("Fischer, mean gain (printed: approximately 0.10)", printed("0.10"), fischer.mean, 0.005),
        Row("Byrne, mean gain", printed("-0.86"), byrne.mean),
        Row("Byrne, moves of zero gain (of 41)", printed("13"), float(byrne.counts[byrne.centipawns == 0].sum())),
    ]


def _scores(_: Budget) -> Sequence[Row]:
    byrne, fischer = _figure_1("Byrne"), _figure_1("Fischer")
    return [
        Row("Byrne against Fischer, expected score", printed("0.345"), expected_score(byrne, fischer)),
        Row("Fischer against Byrne, expected score", printed("0.655"), expected_score(fischer, byrne)),
        Row("difference in favour of Fischer", printed("113"), elo_difference(expected_score(fischer, byrne))),
        Row("the same by the logistic curve", None, elo_difference(expected_score(fischer, byrne), "logistic")),
    ]


def _figure_6(_: Budget) -> Outcome:
    study = game_study(gains_of_games(game_of_the_century(), EngineJob(), values="comments"), engine_elo=2860)
    byrne, fischer = (perceived.running_strength(_path(name)) for name in ("Byrne", "Fischer"))
    of_fischer, of_byrne = float(fischer.elo_difference[-1]), float(byrne.elo_difference[-1])
    rows = [
        Row("Byrne, first moves at −∞", printed("6"), float(np.argmax(np.isfinite(byrne.elo_difference)))),
        Row("Byrne, last difference", printed("-185"), of_byrne),
        Row("Fischer, expected score after the first move", printed("0.5"), float(fischer.expected_score[0])),
        Row("Fischer, difference after the first move", printed("0"), float(fischer.elo_difference[0])),
        Row("Fischer, lowest difference (figure, not printed)", None, float(fischer.elo_difference.min())),
        Row("Fischer, last difference", printed("-43"), of_fischer),
        Row("Fischer, strength at 2860", printed("2817"), 2860 + of_fischer),
        Row("Byrne, strength at 2860", printed("2675"), 2860 + of_byrne),
        Row("difference by way of the engine", printed("142"), of_fischer - of_byrne),
    ]
    return Outcome(rows, (), [study.figures])


def _perceived(number: str, slack: float) -> list[Row]:
    """Return each printed strength next to Algorithm 2 on the printed differences: exact, and in whole points."""
    table = paper_table(f"FER12_table_{number}_strengths")
    names = [line["player"] for line in table]
    cells = [line for line in paper_table(f"FER12_table_{number}") if line["player"] < line["opponent"]]
    first, second = ([names.index(line[side]) for line in cells] for side in ("player", "opponent"))
    d, elo = [float(line["difference"]) for line in cells], [float(line["elo"]) for line in table]
    exact = perceived_least_squares(first, second, d, elo)
    whole = perceived_sequential(first, second, d, elo, whole_points=True)
    rows = []
    for at, line in enumerate(table):
        wanted = printed(line["strength"])
        rows.append(Row(f"{line['player']}, least squares", wanted, float(exact.elo[at]), slack - 0.5))
        rows.append(Row(f"{line['player']}, in whole points", wanted, float(whole.elo[at])))
    return rows


def _table_4(_: Budget) -> Sequence[Row]:
    table = paper_table("FER12_table_4")
    rows = []
    for line in table:
        d, rounding = _from_score(line["expected_score"], 0.0005)
        rows.append(Row(f"{line['player']}, d", printed(line["difference"]), d, rounding))
    columns = (np.array([float(line[name]) for line in table]) for name in ("elo", "strength", "difference"))
    found = engine_strength(*columns)
    for at, line in enumerate(table):
        rows.append(Row(f"{line['player']}, r − d", printed(line["by_rating"]), float(found.by_rating[at])))
        rows.append(Row(f"{line['player']}, r' − d", printed(line["by_strength"]), float(found.by_strength[at])))
    rows.append(Row("average of r − d", printed("2860"), found.elo))
    rows.append(Row("average of r' − d", printed("2860"), found.elo_by_strength))
    return rows


def _table_5(_: Budget) -> Sequence[Row]:
    table = paper_table("FER12_table_5_strengths")
    rows, strengths = [], []
    for line in paper_table("FER12_table_5"):
        if float(line["difference"]) >= 0:
            label = f"{line['player']} – {line['opponent']}, d"
            rows.append(Row(label, printed(line["difference"]), *_from_score(line["expected_score"], 0.005)))
    for line in table:
        d, rounding = _from_score(line["expected_score"], 0.0005)
        rows.append(Row(f"{line['player']}, d against the engine", printed(line["difference"]), d, rounding))
        rows.append(Row(f"{line['player']}, strength", printed(line["strength"]), _ENGINE + d, rounding))
        strengths.append(_ENGINE + d)
    rows.append(Row("average Elo of 1971", printed("2640"), float(np.mean([float(line["elo"]) for line in table]))))
    rows.append(Row("average strength", printed("2741"), float(np.mean(strengths))))
    return rows


def _from_score(text: str, half_unit: float) -> tuple[float, float]:
    """Return d of a printed p, and how far p's rounding can move it."""
    ends = elo_difference(np.array([float(text) - half_unit, float(text) + half_unit]))
    return float(elo_difference(float(text))), float(np.diff(ends)[0]) / 2


def _section_7(_: Budget) -> Outcome:
    """Direct and by way of the engine, with a single peak and with the engine's own measured gains."""
    work = EngineJob(settings=AFFORDABLE, imports=[century_analyses_file()])
    gained = gains_of_games(game_of_the_century(), work, values="engine")
    rows = [Row("printed: direct", printed("113")), Row("printed: by way of a single peak", printed("142"))]
    apart = {}
    for kind, said in (("peak", "a single peak"), ("agreed", "its agreed moves"), ("searched", "its own moves")):
        engine = engine_gains(gained, kind, work)
        study = game_study(gained, engine=engine)
        white, black = (float(side.running.elo_difference[-1]) for side in study.sides)
        between = study.white_against_black
        assert between is not None and between.elo_difference is not None  # noqa: PT018 for the type alone
        direct = between.elo_difference
        if kind == "peak":
            rows.append(Row("Stockfish 15.1 to depth 13: direct", None, -direct))
        label = f"by way of {said} ({len(engine.gains)} moves, mean gain {engine.gains.mean():.3f})"
        rows.append(Row(label, None, black - white))
        apart[kind] = abs(black - white + direct)
    closer = apart["agreed"] < apart["peak"] and apart["searched"] < apart["peak"]
    points = ", ".join(f"{kind} {value:.0f}" for kind, value in apart.items())
    verdict = "The measured gains come closer." if closer else "The measured gains do not come closer."
    return Outcome(rows, [f"Points between the two estimates: {points}. {verdict}"])


def _figure_1(player: str) -> GainHistogram:
    return GainHistogram.from_gains(_path(player))


def _path(player: str) -> list[float]:
    return [float(line["gain"]) for line in paper_table("FER12_figure_1") if line["player"] == player]


_PRINTED = entries(
    {
        "FER12.figure1": _gains,
        "FER12.averages": _averages,
        "FER12.section4": _scores,
        "FER12.figure6": _figure_6,
        "FER12.table1": lambda _: _perceived("1", 1.0),
        "FER12.table3": lambda _: _perceived("3", 2.0),
        "FER12.table4": _table_4,
        "FER12.table5": _table_5,
        "FER12.section7": _section_7,
    }
)


_REDRAWN = 400  # orders of the players, games weighed otherwise, for the interval of a rank correlation
_SPELLINGS = {"Kortschnoj": "Korchnoi", "Huebner": "Hübner"}
_LONDON = "events/london_classic_2011.pgn"
_MATCHES = (
    "fischer_spassky_1972", "karpov_kasparov_1984", "karpov_kasparov_1985", "kasparov_karpov_1986",
    "kasparov_karpov_1987", "kasparov_karpov_1990", "fischer_spassky_1992", "kasparov_deepblue_1997",
)  # fmt: skip
_YEARS = {name[-4:]: f"events/{name}.pgn" for name in _MATCHES}


def sampled_gains(budget: Budget, paths: Sequence[Path], *, name: str) -> tuple[Gained, str]:
    """Return the gains of as many games as are known or fit the budget, by surname, and the notes."""
    games = read_games(list(paths))  # players are called as the paper calls them: by surname
    names = {name for side in ("white", "black") for name in games.headers[side].to_pylist() if name}
    short = {name: name.split(",")[0].strip() for name in names}
    games = games.renamed({name: _SPELLINGS.get(surname, surname) for name, surname in short.items()})
    work = _work(budget)
    chosen = harness.sampled_games(budget, games, work, known_too=True, name=name)
    gained = gains_of_games(chosen, work, values="engine")
    counts = gained.positions()
    note = (
        f"{name}: {len(chosen):,} of {len(games):,} games by seed {budget.seed}, {len(gained.losses):,} moves; "
        f"{counts['searched']:,} positions searched now, {counts['cached'] + counts['imported']:,} known; "
        f"{gained.about()['engine']}, one line to depth {work.settings.depth}"
    )
    return gained, note


def _work(budget: Budget) -> EngineJob:
    """Return the work with the search of FER12 to an affordable depth, unless another single line was asked for."""
    asked = budget.work.settings
    same = asked.multipv == 1 and asked.scope == "every position"
    return replace(budget.work, settings=asked if same else AFFORDABLE)


@dataclass(frozen=True, eq=False)
class _Column:
    """One number of each player that the paper prints, and ours, as columns next to a study's entries."""

    name: str  # the column of the printed table
    label: str
    words: str
    ours: Array
    sd: Array | None  # over games, where it is shown
    order: OverGames  # what has the same order, with what each game adds to it


def _strengths(study: EventGains) -> _Column:
    sd, order = study.strengths.sd, study.strengths
    return _Column("strength", "strength", "strengths", study.perceived.elo, sd=sd, order=order)


def _engine_scores(study: EventGains) -> _Column:
    words, score = ("p against the engine", "scores against the engine"), study.engine_score
    return _Column("expected_score", *words, score, sd=None, order=study.engine_leads)


def _london(budget: Budget) -> Outcome:
    paths = _files(budget, [_LONDON])
    gained, note = sampled_gains(budget, paths, name="London 2011")
    study = event_gains(gained)
    strengths = study, "FER12_table_1_strengths", _strengths(study)
    scores = study, "FER12_table_4", _engine_scores(study)
    rows = [*_player_rows(*strengths), *_player_rows(*scores)]
    rows.append(Row("the engine, mean of r − d", printed("2860"), finite_or_none(study.engine.elo), alike=False))
    own = engine_gains(gained, "agreed", _work(budget))
    agreed = event_gains(gained, GainRequest(engine=own))
    closer = (
        f"Differences by way of the engine are {study.disagreement:.1f} points from the direct ones by a single peak, "
        f"{agreed.disagreement:.1f} by the gains of its own moves (mean {own.gains.mean():.3f}); "
        f"its strength is then {agreed.engine.elo:.0f}."
    )
    notes = [note, _rank_note(*strengths), _rank_note(*scores), closer]
    return Outcome(rows, notes, [GainStudy(study).figures])


def _two_events(budget: Budget) -> Outcome:
    paths = _files(budget, [_LONDON, "events/tal_memorial_2011.pgn"])
    gained, note = sampled_gains(budget, paths, name="London and Tal Memorial 2011")
    study = event_gains(gained)
    found = {(study.entries[a].player, study.entries[b].player): row for a, b, *row in study.comparison}
    rows, pairs = [], []
    for line in paper_table("FER12_table_2"):
        own = found.get((line["player"], line["opponent"]))
        label = f"{line['player']} @ London – {line['opponent']} @ Tal Memorial, difference"
        rows.append(Row(label, printed(line["difference"]), finite_or_none(own[1]) if own else None, alike=False))
        if own and np.isfinite(own[1]):
            pairs.append((float(line["difference"]), own[1]))
    return Outcome(rows, [note, *_pairs_note(pairs, "differences")], [GainStudy(study).figures])


def _candidates(budget: Budget, *, year: int, name: str, table: int, of: Callable[[EventGains], _Column]) -> Outcome:
    """Return a knock-out's differences and one number of each player next to those of two printed tables."""
    gained, note = sampled_gains(budget, _files(budget, [f"events/candidates_{year}.pgn"]), name=name)
    tables = (f"FER12_table_{table}", f"FER12_table_{table}_strengths")
    study = event_gains(gained, GainRequest(pool="match"))
    differences = _difference_rows(study, tables[0])
    pairs = [(row.printed.value, row.ours) for row in differences if row.printed and row.ours is not None]
    rows = [*differences, *_player_rows(study, tables[1], of(study))]
    ranks = [_rank_note(study, tables[1], of(study)), *_pairs_note(pairs, "differences", fewest=3)]
    return Outcome(rows, [note, *ranks], [GainStudy(study).figures])


def _matches(budget: Budget) -> Outcome:
    files = dict(zip(["london", *_YEARS], _files(budget, [_LONDON, *_YEARS.values()]), strict=True))
    london, _ = sampled_gains(budget, [files["london"]], name="London 2011")
    engine = event_gains(london, GainRequest()).engine.elo
    notes = [f"Strengths are {engine:.0f}, the engine's by London 2011, plus the difference to it."]
    printed_rows = [(line, line["year"]) for line in paper_table("FER12_table_6")]
    printed_rows += [(line, line["event"]) for line in paper_table("FER12_section_8")]
    studies: dict[str, EventGains | None] = {}
    for year in dict.fromkeys(year for _, year in printed_rows):
        try:
            gained, note = sampled_gains(budget, [files[year]], name=year)
            studies[year] = event_gains(gained, GainRequest())
        except InputError as error:
            note, studies[year] = str(error), None
        notes.append(note)
    rows, pairs = [], []
    for line, year in printed_rows:
        study = studies[year]
        at = None if study is None else _entry(study, line["player"])
        ours = sd = None
        if study is not None and at is not None and np.isfinite(study.engine_leads.value[at]):
            ours = finite_or_none(engine + study.engine_leads.value[at])
            sd = finite_or_none(study.engine_leads.sd[at])
        if ours is not None:
            pairs.append((float(line["strength"]), ours))
        rows.append(Row(f"{line['player']} {year}, strength", printed(line["strength"]), ours, sd=sd, alike=False))
    # The one direct difference of section 8: 3 points for the machine, where Algorithm 4 prefers Kasparov.
    last, direct, spread = studies["1997"], None, None
    if last is not None and last.pairs:
        sign = 1 if last.entries[last.pairs[0].first].player == "Deep Blue" else -1
        direct, spread = finite_or_none(sign * last.leads.value[0]), finite_or_none(last.leads.sd[0])
    rows.append(Row("Deep Blue – Kasparov 1997, direct difference", printed("3"), direct, sd=spread, alike=False))
    return Outcome(rows, [*notes, *_pairs_note(pairs, "strengths", fewest=3)])


def _files(budget: Budget, names: Sequence[str]) -> list[Path]:
    return [(data_files(budget, name) or [])[0] for name in names]


def _shown(compute: Callable[[Budget], Outcome], budget: Budget) -> Outcome:
    """Compute with the data folder; without it, its files or a known game, say so and show nothing."""
    if budget.data is None:
        return Outcome([], [NO_DATA])
    try:
        return compute(budget)
    except InputError as error:
        return Outcome([], [f"{error}; {error.hint}" if error.hint else str(error)])


def _player_rows(study: EventGains, table: str, column: _Column) -> list[Row]:
    rows = []
    for line in paper_table(table):
        at = _entry(study, line["player"])
        ours = None if at is None else finite_or_none(column.ours[at])
        sd = None if at is None or column.sd is None else finite_or_none(column.sd[at])
        rows.append(Row(f"{line['player']}, {column.label}", printed(line[column.name]), ours, sd=sd, alike=False))
    return rows


def _difference_rows(study: EventGains, table: str) -> list[Row]:
    found: dict[tuple[str, str], tuple[float | None, float | None]] = {}
    for at, pair in enumerate(study.pairs):
        one, two = study.entries[pair.first].player, study.entries[pair.second].player
        lead, sd = study.leads.value[at], finite_or_none(study.leads.sd[at])
        found[one, two], found[two, one] = (finite_or_none(lead), sd), (finite_or_none(-lead), sd)
    rows = []
    for line in (line for line in paper_table(table) if line["player"] < line["opponent"]):
        ours, spread = found.get((line["player"], line["opponent"]), (None, None))
        label = f"{line['player']} – {line['opponent']}, difference"
        rows.append(Row(label, printed(line["difference"]), ours, sd=spread, alike=False))
    return rows


def _rank_note(study: EventGains, table: str, column: _Column) -> str:
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


def _entry(study: EventGains, player: str) -> int | None:
    return next((at for at, entry in enumerate(study.entries) if entry.player == player), None)


def _spearman(one: npt.ArrayLike, two: npt.ArrayLike) -> float:
    """Return the correlation of the ranks; NaN where one side is all alike."""
    ranks = [rankdata(side) for side in (one, two)]
    return float("nan") if any(np.ptp(side) == 0 for side in ranks) else float(np.corrcoef(*ranks)[0, 1])


_candidates_2011 = partial(_candidates, year=2011, name="Candidates 2011 with tie-breaks", table=3, of=_strengths)
_candidates_1971 = partial(_candidates, year=1971, name="Candidates 1971", table=5, of=_engine_scores)

FER12_EVENTS = entries(
    {
        "FER12.london": partial(_shown, _london),
        "FER12.two_events": partial(_shown, _two_events),
        "FER12.candidates2011": partial(_shown, _candidates_2011),
        "FER12.candidates1971": partial(_shown, _candidates_1971),
        "FER12.matches": partial(_shown, _matches),
    }
)

FER12_ENTRIES = (*_PRINTED, *FER12_EVENTS)
