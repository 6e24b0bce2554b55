"""FER12 from print: the gains, scores and strengths that the printed evaluations, gains and differences imply."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skilloscope.models.gain import GainHistogram, elo_difference, expected_score
from skilloscope.papers.fer12.events import FER12_EVENTS
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, paper_table, printed
from skilloscope.ratings.gain.perceived import (
    engine_strength,
    perceived_least_squares,
    perceived_sequential,
    running_strength,
)
from skilloscope.sources.shipped import century_analyses_file, game_of_the_century

_ENGINE = 2860.0  # its strength by table 4, which tables 5 and 6 stand on


def _gains(_: Budget) -> Sequence[Row]:
    from skilloscope.chess.evaluations import evaluations_from_comments

    losses = evaluations_from_comments(game_of_the_century()).losses()
    gains = dict(zip(losses.context.column("ply").to_pylist(), losses.gain.tolist(), strict=True))
    return [
        Row(_label(line), printed(line["gain"]), gains.get(int(line["ply"]))) for line in paper_table("FER12_figure_1")
    ]


def _averages(_: Budget) -> Sequence[Row]:
    """The mean gains of section 3."""
    byrne, fischer = _figure_1("Byrne"), _figure_1("Fischer")
    return [
        Row("Fischer, mean gain (printed: approximately 0.10)", printed("0.10"), fischer.mean, 0.005),
        Row("Byrne, mean gain", printed("-0.86"), byrne.mean),
        Row("Byrne, moves of zero gain (of 41)", printed("13"), float(byrne.counts[byrne.centipawns == 0].sum())),
    ]


def _scores(_: Budget) -> Sequence[Row]:
    """Section 4: from the printed gains to expected scores and the difference."""
    byrne, fischer = _figure_1("Byrne"), _figure_1("Fischer")
    return [
        Row("Byrne against Fischer, expected score", printed("0.345"), expected_score(byrne, fischer)),
        Row("Fischer against Byrne, expected score", printed("0.655"), expected_score(fischer, byrne)),
        Row("difference in favour of Fischer", printed("113"), elo_difference(expected_score(fischer, byrne))),
        Row("the same by the logistic curve", None, elo_difference(expected_score(fischer, byrne), "logistic")),
    ]


def _figure_6(_: Budget) -> Outcome:
    """What section 7 says of the path of figure 6, and where it ends."""
    from skilloscope.sources.gains import gains_of_games
    from skilloscope.sources.judge import Work
    from skilloscope.studies.game.game import game_study

    study = game_study(gains_of_games(game_of_the_century(), Work(), values="comments"), engine_elo=2860)
    byrne, fischer = (running_strength(_path(name)) for name in ("Byrne", "Fischer"))
    rows = [
        Row("Byrne, first moves at −∞", printed("6"), float(np.argmax(np.isfinite(byrne.elo_difference)))),
        Row("Byrne, last difference", printed("-185"), float(byrne.elo_difference[-1])),
        Row("Fischer, expected score after the first move", printed("0.5"), float(fischer.expected_score[0])),
        Row("Fischer, difference after the first move", printed("0"), float(fischer.elo_difference[0])),
        Row("Fischer, lowest difference (figure, not printed)", None, float(fischer.elo_difference.min())),
        Row("Fischer, last difference", printed("-43"), float(fischer.elo_difference[-1])),
        Row("Fischer, strength at 2860", printed("2817"), 2860 + float(fischer.elo_difference[-1])),
        Row("Byrne, strength at 2860", printed("2675"), 2860 + float(byrne.elo_difference[-1])),
        Row(
            "difference by way of the engine",
            printed("142"),
            float(fischer.elo_difference[-1] - byrne.elo_difference[-1]),
        ),
    ]
    return Outcome(rows, (), [study])


def _table_1(_: Budget) -> Sequence[Row]:
    return _perceived("1", 1.0)


def _table_3(_: Budget) -> Sequence[Row]:
    return _perceived("3", 2.0)


def _perceived(number: str, slack: float) -> list[Row]:
    """Return each printed strength beside Algorithm 2 on the printed differences: exact, and in whole points."""
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
    """Table 5 from its own printed p: the differences, the strengths from 2860 and d, both averages."""
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
    from skilloscope.sources.gains import AFFORDABLE, engine_gains, gains_of_games
    from skilloscope.sources.judge import Work
    from skilloscope.studies.game.game import game_study

    work = Work(settings=AFFORDABLE, imports=[century_analyses_file()])
    gained = gains_of_games(game_of_the_century(), work, values="engine")
    rows = [Row("printed: direct", printed("113")), Row("printed: by way of a single peak", printed("142"))]
    apart = {}
    kinds = (
        ("peak", "a single peak"),
        ("agreed", "its agreed moves"),
        ("searched", "its own moves"),
    )
    for kind, said in kinds:
        engine = engine_gains(gained, kind, work)
        study = game_study(gained, engine=engine)
        white, black = (float(side.running.elo_difference[-1]) for side in study.sides)
        assert study.between is not None
        direct = study.between["elo_difference"]
        if kind == "peak":
            rows.append(Row("Stockfish 15.1 to depth 13: direct", None, -direct))
        rows.append(
            Row(
                f"by way of {said} ({len(engine.gains)} moves, mean gain {engine.gains.mean():.3f})",
                None,
                black - white,
            )
        )
        apart[kind] = abs(black - white + direct)
    closer = apart["agreed"] < apart["peak"] and apart["searched"] < apart["peak"]
    told = ", ".join(f"{kind} {value:.0f}" for kind, value in apart.items())
    verdict = "The measured gains come closer." if closer else "The measured gains do not come closer."
    return Outcome(rows, (f"Points between the two estimates: {told}. {verdict}",), [])


def _figure_1(player: str) -> GainHistogram:
    return GainHistogram.from_gains(_path(player))


def _path(player: str) -> list[float]:
    return [float(line["gain"]) for line in paper_table("FER12_figure_1") if line["player"] == player]


def _label(line: dict[str, str]) -> str:
    number = int(line["ply"]) // 2 + 1
    return f"{number}{'.' if int(line['ply']) % 2 == 0 else '...'} {line['move']}"


_PRINTED = (
    Entry(
        "FER12.figure1",
        "Figure 1: the gain of every move from the printed evaluations",
        _gains,
        "The evaluation of the starting position is not printed; 0.13 follows from the first gain.",
    ),
    Entry("FER12.averages", "Section 3: mean gain per move of both players", _averages),
    Entry("FER12.section4", "Section 4: expected scores and difference from the printed gains", _scores),
    Entry("FER12.figure6", "Figure 6: running strength through the game", _figure_6),
    Entry(
        "FER12.table1",
        "Table 1: strengths from the printed differences",
        _table_1,
        "The differences are printed in whole points: the exact solution is within 1 of the printed strengths.",
    ),
    Entry(
        "FER12.table3",
        "Table 3: strengths from the printed differences",
        _table_3,
        "The matches form a tree: the exact solution fits every difference and is within 2 of print; in whole points "
        "from the actual Elo, one player after another, it stops within 0.5: so the paper seems to have done it.",
    ),
    Entry(
        "FER12.table4",
        "Table 4: the engine's strength from the printed scores",
        _table_4,
        "p is printed to three digits; the tolerance holds what that rounding can do to d.",
    ),
    Entry(
        "FER12.table5",
        "Table 5: differences and strengths of Candidates 1971 from the printed scores",
        _table_5,
        "p is printed to two digits between players and to three against the engine; the tolerance holds what that "
        "rounding can do to d. The strengths are 2860, the engine's, plus d.",
    ),
    Entry(
        "FER12.section7",
        "Section 7: the difference between two players, direct and by way of the engine",
        _section_7,
        "The paper leaves the engine's own distribution of gain to future work. Here it is measured, on the same game.",
    ),
)

FER12_ENTRIES = (*_PRINTED, *FER12_EVENTS)
