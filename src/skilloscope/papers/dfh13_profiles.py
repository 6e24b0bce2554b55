"""DFH13 VII: profiles of four players over the years, and the within-game chart.

VII.A: Figures 4 to 6 print no number, so the rows are ours: how the Elo from the moves follows the Elo in the headers
of the same games, year by year, under the paper's three priors and as a random walk. VII.B–C: Figure 7 is of twenty
games of 1948, here under another engine. Figure 8 is of a person under suspicion; here it is of simulated players.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from skilloscope.chess.engine.settings import DFH13
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.decision import Decisions
from skilloscope.decision.align import split_by_date
from skilloscope.papers import harness
from skilloscope.papers.harness import NO_DATA, Budget, Outcome, Row, data_files, entries, mean_and_sd, printed
from skilloscope.report.charts import Figure
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices
from skilloscope.studies.by_game import ByGame, competence_by_game
from skilloscope.studies.compare import compare_sets
from skilloscope.studies.profile import PlayerProfile, Profile, agent_profile, mean_log_score

_YEARS = (1950, 2006)
_SHOWN = range(1955, 2006, 10)
_FEWEST = 4  # years, for a correlation


PLAYERS = {
    "Kortschnoj, Viktor": ("korchnoi.pgn", ["Korchnoi,V"]),
    "Fischer, Robert James": ("fischer.pgn", []),
    "Karpov, Anatoly": ("karpov.pgn", ["Karpov,Ana", "Karpov,An"]),
    "Kasparov, Gary": ("kasparov.pgn", ["Kasparov,G"]),
}
"""The four players of section VII.A: the name that stands for all spellings in a file; the file, and the spellings."""


def _figure_4(budget: Budget) -> Outcome:
    sampled = _decisions(budget, ["Kortschnoj, Viktor"])
    if sampled is None:
        return Outcome([], [NO_DATA])
    batch, _, notes = sampled
    found = {one.prior: one for one in agent_profile(batch).under_every_prior()}
    own = found["drift"].players[0]
    known = {one.period: one.scaled for one in own.periods}
    shown = [(f"{year}: Elo from the moves", *mean_and_sd(known.get(str(year)))) for year in _SHOWN]
    rows = [Row(label, None, elo, sd=sd) for label, elo, sd in shown]
    rows += [row for prior in ("reset", "drift") for row in _agreement(found[prior].players[0], prior)]
    return Outcome(rows, [*notes, _drift_note(found["drift"])], [found["drift"].figures])


def _figure_6(budget: Budget) -> Outcome:
    sampled = _decisions(budget, list(PLAYERS))
    if sampled is None:
        return Outcome([], [NO_DATA])
    batch, games, notes = sampled
    found = agent_profile(batch).under_every_prior()
    rows = [
        Row("games", printed("9404"), float(games), alike=False),
        Row("positions", printed("221965"), float(len(batch)), alike=False),
    ]
    for profile in found:
        if profile.prior in ("reset", "drift"):
            rows += [row for player in profile.players for row in _agreement(player, profile.prior)]
    later = "log-probability of a later decision"
    rows += [Row(f"{later}, {one.prior}", None, mean_log_score(one.players)) for one in found]
    return Outcome(rows, [*notes, _drift_note(found[-1])], [found[-1].figures])


def _decisions(budget: Budget, players: Sequence[str]) -> tuple[Decisions, int, list[str]] | None:
    """Return the sampled decisions of the players' own moves, how many games they are of, and what was sampled."""
    batches, games, notes = [], 0, []
    for player in players:
        file, spellings = PLAYERS[player]
        paths = data_files(budget, f"players/{file}")
        if paths is None:
            return None
        own = read_games(paths[0]).renamed(dict.fromkeys(spellings, player))
        sampled = harness.sampled_decisions(budget, own, strata=_strata, player=player, name=player)
        batches.append(sampled.decisions.at_depths())
        games += len(sampled.games)
        notes.append(sampled.note)
    return Decisions.concat(batches), games, notes


def _strata(games: Games) -> list[int | None]:
    years = games.headers["year"].to_pylist()
    return [year if year and _YEARS[0] <= year <= _YEARS[1] else None for year in years]


def _agreement(player: PlayerProfile, prior: str) -> list[Row]:
    """Return mean difference and correlation of the Elo from the moves with that in the games over the years."""
    known = [(one.scaled, one.part.header_elo) for one in player.periods]
    pairs = [(elo.mean, header) for elo, header in known if elo and header is not None]
    label = f"{player.player}, {prior}, {len(pairs)} years with Elo in the games"
    if len(pairs) < _FEWEST:
        return [Row(f"{label}: mean difference", None), Row(f"{label}: correlation", None)]
    moves, headers = np.array(pairs).T
    difference, r = moves - headers, float(np.corrcoef(moves, headers)[0, 1])
    root, alone = np.sqrt(len(pairs)), prior == "reset"
    return [
        Row(f"{label}: mean difference", None, float(difference.mean()), sd=float(difference.std(ddof=1) / root)),
        Row(f"{label}: correlation", None, r, sd=float((1 - r**2) / np.sqrt(len(pairs) - 2)) if alone else None),
    ][0 if alone else 1 :]


def _drift_note(profile: Profile) -> str:
    assert profile.drift is not None
    return f"Drift of c in one year: {profile.drift.text(0.95)}."


DFH13_PROFILE_ENTRIES = entries({"DFH13.figure4": _figure_4, "DFH13.figure6": _figure_6})

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
    sample = harness.sampled_decisions(budget, games.select(own), settings=DFH13, name="World Championship 1948")
    study = competence_by_game(sample.decisions, _PLAYER, mark=_MARKED)
    rows = _figure7_rows(study, whole=len(sample.games) == len(own))
    return Outcome(rows, [sample.note, _said(study)], [study.figures])


def _figure7_rows(study: ByGame | None, *, whole: bool = False) -> list[Row]:
    four = [point for point in study.games if point.marked and point.score == 0.0] if study else []
    rest = [point for point in study.games if point not in four] if study else []
    below = sum(point.own.posterior.mean < _LINE.value for point in four) if study else None
    above = sum(point.own.posterior.mean > _LINE.value for point in rest) if study else None
    wins = [point for point in study.games if point.score == 1.0] if study else []
    away = [np.hypot(p.own.posterior.mean - _WIN[0].value, p.other.posterior.mean - _WIN[1].value) for p in wins]
    win = wins[int(np.argmin(away))] if wins else None
    overall = study.overall.posterior if study else None
    return [
        Row("games", printed("20"), float(len(study.games)) if study else None, alike=whole),
        _ours("the vertical line: c̄ in all games", _LINE, *mean_and_sd(overall)),
        _ours("of the four lost against the marked opponent, below 1.1", printed("4"), below),
        _ours("of the sixteen others, above 1.1", printed("16"), above),
        _ours("the win nearest to (1.8, 0.3): own c̄", _WIN[0], *mean_and_sd(win.own.posterior if win else None)),
        _ours("… and the opponent's c̄", _WIN[1], *mean_and_sd(win.other.posterior if win else None)),
    ]


def _ours(label: str, text: harness.Printed, ours: float | None, sd: float | None = None) -> Row:
    """Return a row that is shown and not judged: the games are the paper's, the engine is not."""
    return Row(label, text, None if ours is None else float(ours), sd=sd, alike=False)


def _said(study: ByGame) -> str:
    order = sorted(study.games, key=lambda point: point.own.posterior.mean)
    places = [str(place) for place, point in enumerate(order, 1) if point.marked and point.score == 0.0]
    spread = float(np.mean([point.own.posterior.sd for point in study.games]))
    return (
        f"In the order of the player's c̄ these games are number {', '.join(places)} of {len(order)}, from the lowest; "
        f"one game's c̄ is known to ± {spread:.2f} on average."
    )


def _two_spans(name: str, competences: tuple[float, float], rng: np.random.Generator) -> Decisions:
    """Return both sides' decisions of a simulated player's games: so many in 2005, as many in 2007.

    The opponents are agents of c = 1.1 to 1.4. Who lost less in a game won it; within half a pawn it was drawn.
    """

    def chosen(who: str, c: float) -> Decisions:
        return simulate_choices(made_up_spreads(_DECISIONS, rng=rng, name=who), c, rng=rng)

    parts = []
    for number in range(2 * _GAMES):
        late = number >= _GAMES
        own = chosen(name, competences[late])
        other = chosen(f"opponent {number + 1}", float(rng.uniform(1.1, 1.4)))
        margin = float(other.chosen_loss().sum() - own.chosen_loss().sum())
        score = 0.5 if abs(margin) <= 0.5 else float(margin > 0)
        date = f"{2007 if late else 2005}.{number % _GAMES // 4 + 1:02d}.15"
        for batch, opponent, result in ((own, other.deciders[0], score), (other, name, 1.0 - score)):
            facts = {"game": f"simulated#{number + 1}", "date": date, "opponent": opponent, "result": result}
            parts.append(replace(batch, context={key: [value] * len(batch) for key, value in facts.items()}))
    return Decisions.concat(parts)


def _figure8(budget: Budget) -> Outcome:
    rng = np.random.default_rng([13, 8, budget.seed])
    rows: list[Row] = []
    figures: list[Callable[[], Sequence[Figure]]] = []
    for name, truth in (("simulated, changed", (1.55, 1.15)), ("simulated, unchanged", (1.35, 1.35))):
        batch = _two_spans(name, truth, rng)
        own = batch.select(batch.decider == batch.deciders.index(name))
        found = compare_sets(*split_by_date(own, "2006-07-01"), labels=("before", "after"), dispersion=_DISPERSION)
        one = found.comparisons[0]
        for side, c in zip((one.first, one.second), truth, strict=True):
            own_c = side.part.posterior
            rows.append(Row(f"{name}: c {side.label} (true {c:g})", None, own_c.mean, sd=own_c.sd))
        change = f"{name}: difference (true {truth[1] - truth[0]:+g})"
        rows.append(Row(change, None, one.difference.mean, sd=one.difference.sd))
        rows.append(Row(f"{name}: probability that the second is stronger", None, one.second_stronger))
        figures += [competence_by_game(batch, name).figures, found.figures]
    return Outcome(rows, [f"simulated with seed {budget.seed}; {2 * _GAMES} games a player"], figures)


DFH13_WITHIN_ENTRIES = entries({"DFH13.figure7": _figure7, "DFH13.figure8": _figure8})
