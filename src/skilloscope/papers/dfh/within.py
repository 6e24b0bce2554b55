"""DFH13 VII.B–C: the within-game chart on its own games, and before/after on simulated players only.

Figure 7 is of twenty games of 1948; the chart is drawn from the same games under another engine, and what the text
says of it is counted. Figure 8 is of a person under suspicion; here it is of simulated players, whose truth is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skilloscope.chess.engine.settings import DFH13
from skilloscope.chess.pgn.games import read_games
from skilloscope.decision import Decisions
from skilloscope.papers.harness import Budget, Drawn, Entry, Outcome, Printed, Row, mean_and_sd, printed
from skilloscope.papers.samples import NO_DATA, data_files, sampled_decisions
from skilloscope.simulate.agents import made_up_spreads, simulate_choices
from skilloscope.studies.compare.compare import Comparison, compare
from skilloscope.studies.compare.splitting import split_by_date
from skilloscope.studies.within.within import GamePoint, WithinGames, within_games

_FILE = "events/world_championship_1948.pgn"
_PLAYER, _MARKED = "Keres, Paul", "Botvinnik, Mikhail"
_LINE = printed("1.1")
_WIN = (printed("1.8"), printed("0.3"))
_GAMES, _DECISIONS = 40, 25  # of a simulated player on each side of the split; of each side in a game
_DISPERSION = 1.0  # simulated agents scatter as the model says


def _figure7(budget: Budget) -> Outcome:
    files = data_files(budget, _FILE)
    if files is None:
        return Outcome(_figure7_rows(None), [NO_DATA])
    games = read_games(files)
    sides = (np.array(games.headers[side].to_pylist(), dtype=object) for side in ("white", "black"))
    own = np.flatnonzero(np.any([names == _PLAYER for names in sides], axis=0))
    sample = sampled_decisions(budget, games.select(own), settings=DFH13, name="World Championship 1948")
    study = within_games(sample.decisions, _PLAYER, mark=_MARKED)
    rows = _figure7_rows(study, whole=len(sample.games) == len(own))
    return Outcome(rows, [sample.note, _said(study)], [study])


def _figure7_rows(study: WithinGames | None, *, whole: bool = False) -> list[Row]:
    """Return what the text says of the figure, beside what our chart shows; the number of games where all were used."""
    four = [point for point in study.games if point.marked and point.score == 0.0] if study else []
    rest = [point for point in study.games if point not in four] if study else []
    below = sum(point.own.posterior.mean < _LINE.value for point in four) if study else None
    above = sum(point.own.posterior.mean > _LINE.value for point in rest) if study else None
    win = _nearest_win(study) if study else None
    overall = study.overall.posterior if study else None
    return [
        Row("games", printed("20"), float(len(study.games)) if study else None, alike=whole),
        _ours("the vertical line: c̄ in all games", _LINE, *mean_and_sd(overall)),
        _ours("of the four lost against the marked opponent, below 1.1", printed("4"), below),
        _ours("of the sixteen others, above 1.1", printed("16"), above),
        _ours("the win nearest to (1.8, 0.3): own c̄", _WIN[0], *mean_and_sd(win.own.posterior if win else None)),
        _ours("… and the opponent's c̄", _WIN[1], *mean_and_sd(win.other.posterior if win else None)),
    ]


def _ours(label: str, text: Printed, ours: float | None, sd: float | None = None) -> Row:
    """Return a row that is shown and not judged: the games are the paper's, the engine is not."""
    return Row(label, text, None if ours is None else float(ours), sd=sd, alike=False)


def _nearest_win(study: WithinGames) -> GamePoint | None:
    wins = [point for point in study.games if point.score == 1.0]

    def distance(point: GamePoint) -> float:
        return float(np.hypot(point.own.posterior.mean - 1.8, point.other.posterior.mean - 0.3))

    return min(wins, key=distance, default=None)


def _said(study: WithinGames) -> str:
    """Return in words where the marked lost games lie among all, without a line that was found by looking."""
    order = sorted(study.games, key=lambda point: point.own.posterior.mean)
    places = [str(place) for place, point in enumerate(order, 1) if point.marked and point.score == 0.0]
    spread = float(np.mean([point.own.posterior.sd for point in study.games]))
    return (
        f"In the order of the player's c̄ these games are number {', '.join(places)} of {len(order)}, from the lowest; "
        f"one game's c̄ is known to ± {spread:.2f} on average."
    )


def _two_spans(
    name: str, competences: tuple[float, float], *, games: int = _GAMES, rng: np.random.Generator
) -> Decisions:
    """Return both sides' decisions of a simulated player's games: so many in 2005, as many in 2007.

    The opponents are agents of c = 1.1 to 1.4. Who lost less in a game won it; within half a pawn it was drawn.
    """
    parts = []
    for number in range(2 * games):
        late = number >= games
        own = _choices(name, competences[late], rng)
        other = _choices(f"opponent {number + 1}", float(rng.uniform(1.1, 1.4)), rng)
        margin = float(other.chosen_loss().sum() - own.chosen_loss().sum())
        score = 0.5 if abs(margin) <= 0.5 else float(margin > 0)
        game, date = f"simulated#{number + 1}", f"{2007 if late else 2005}.{number % games // 4 + 1:02d}.15"
        parts += [
            _placed(own, game, date, other.deciders[0], score),
            _placed(other, game, date, name, 1.0 - score),
        ]
    return Decisions.concat(parts)


def _choices(name: str, c: float, rng: np.random.Generator) -> Decisions:
    return simulate_choices(made_up_spreads(_DECISIONS, rng=rng, name=name), c, rng=rng)


def _placed(batch: Decisions, game: str, date: str, opponent: str, score: float) -> Decisions:
    n = len(batch)
    context = {"game": [game] * n, "date": [date] * n, "opponent": [opponent] * n, "result": [score] * n}
    return replace(batch, context=context)


def _figure8(budget: Budget) -> Outcome:
    rng = np.random.default_rng([13, 8, budget.seed])
    rows: list[Row] = []
    studies: list[Drawn] = []
    for name, truth in (("simulated, changed", (1.55, 1.15)), ("simulated, unchanged", (1.35, 1.35))):
        batch = _two_spans(name, truth, rng=rng)
        own = batch.select(batch.decider == batch.deciders.index(name))
        found = compare(*split_by_date(own, "2006-07-01"), labels=("before", "after"), dispersion=_DISPERSION)
        rows += _figure8_rows(name, truth, found.comparisons[0])
        studies += [within_games(batch, name), found]
    return Outcome(rows, [f"simulated with seed {budget.seed}; {2 * _GAMES} games a player"], studies)


def _figure8_rows(name: str, truth: tuple[float, float], found: Comparison) -> Sequence[Row]:
    sides = [
        Row(f"{name}: c {side.label} (true {c:g})", None, side.posterior.mean, sd=side.posterior.sd)
        for side, c in zip((found.first, found.second), truth, strict=True)
    ]
    change = f"{name}: difference (true {truth[1] - truth[0]:+g})"
    return [
        *sides,
        Row(change, None, found.difference.mean, sd=found.difference.sd),
        Row(f"{name}: probability that the second is stronger", None, found.probability),
    ]


DFH13_WITHIN_ENTRIES = (
    Entry(
        "DFH13.figure7",
        "Figure 7: within-game chart of Keres' games, World Championship 1948",
        _figure7,
        "The same games under Stockfish in place of Toga II, and a prior on [0, 4], where the paper states no range: "
        "shown, not judged. The line at 1.1 is the paper's. Why a game was played as it was is out of the chart's "
        "scope, as the paper says.",
    ),
    Entry(
        "DFH13.figure8",
        "Figure 8: within-game chart and densities before and after, of simulated players",
        _figure8,
        "The paper prints no number, and its figure is of a person under suspicion. Ours is of simulated players, one "
        "who changed and one who did not.",
    ),
)
