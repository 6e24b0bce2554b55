"""Screening: observed play against what is expected at a player's rating, with the scatter of fair play.

In: games, ratings, and how many of a hundred players are assumed to have had help. Out: a `Screening`: for each player
(or player and event) observed and expected values, σ, z, p, the false-discovery rate over all players, posterior odds,
streaks, detection power, and the most influential positions. It orders what a person should look at; it never gives a
verdict.
"""

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.stats import beta, false_discovery_control, norm

from skilloscope.__about__ import __version__
from skilloscope.chess.human.model import shipped_network
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.columns import Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.load import EngineBudget, EngineJob, Kind, by_kind, engine_of
from skilloscope.inputs.pipeline import AnalysedGames, analysed_games, effort_settings
from skilloscope.inputs.request import RatingRequest, settings_warnings
from skilloscope.report.charts import Figure, Lines, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, engine_line, number, percent, probability_text, skipped_line
from skilloscope.studies.agent_ratings import Unrated
from skilloscope.studies.basis import pool_warnings
from skilloscope.studies.screen.baseline import Baseline, GroupSums, group_sums, shipped_baseline
from skilloscope.studies.screen.moves import GivenRatings, KeyPosition, ScreenedMoves, key_positions, screened_moves
from skilloscope.studies.screen.power import (
    Power,
    PowerRow,
    Streak,
    likelihood_ratio,
    longest_streak,
    mean_power,
    simulated_power,
)
from skilloscope.studies.screen.statistics import MEANINGS, PERCENT, Statistic, too_rare

FEW_MOVES = 20
"""Players with fewer moves are not screened."""
_LISTED = 10  # players whose key positions are listed
_MOST_ODDS = 1000
_CHECKED = 0.001
_FAR_OUT = f"scores were checked on some hundred people: p below {_CHECKED:g} and its odds are extrapolated"
_OUTSIDE = "* outside the ratings for which the model was fitted"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class ScreenedValue:
    """One statistic of one player: the mean per move, its expectation, its σ, and the normal score."""

    actual: float
    expected: float
    sd: float
    z: float | None

    def text(self, name: str) -> str:
        """Return observed and expected with σ."""
        times, digits = (100.0, 1) if name in PERCENT else (1.0, 3)
        actual, expected, sd = (f"{times * value:z.{digits}f}" for value in (self.actual, self.expected, self.sd))
        return f"{actual}/{expected} ± {sd}"


@dataclass(frozen=True, eq=False)
class ScreenedPlayer:
    """One player (in one event): the statistics, and what follows from the first of them."""

    player: str
    event: str | None
    elo: float
    extrapolated: bool
    games: int
    moves: int
    statistics: Mapping[str, ScreenedValue]
    z: float  # the normal score of the first statistic
    p: float  # the share of fair players of that rating with as large a value, or larger
    q: float  # the false-discovery rate if all players down to this p are looked at
    posterior_odds: float | None
    """Posterior odds of help at the stated prevalence, over the kinds of help of the power table."""
    streak: Streak | None
    power: Sequence[PowerRow]  # detection power of the first statistic; empty without an engine
    positions: Sequence[KeyPosition]

    @property
    def name(self) -> str:
        """The player, with the event where that is screened separately."""
        return self.player if self.event is None else f"{self.player} ({self.event})"


@dataclass(frozen=True)
class InputFile:
    """A file that was read, and its SHA-256."""

    file: str
    sha256: str


@dataclass(frozen=True, eq=False)
class Screening(Study):
    """All screened players, by p-value."""

    effort: str
    statistics: Sequence[str]  # those of this effort; the first determines the order of the players
    baseline: Baseline
    pool_scatter: Mapping[str, float]
    """How widely the players scatter in each statistic, relative to the baseline: the mean."""
    prevalence: float
    by_event: bool
    screened: int
    players: Sequence[ScreenedPlayer]
    power: Sequence[PowerRow]  # detection power, the mean over all players; empty without an engine
    not_screened: Sequence[Unrated]
    inputs: Sequence[InputFile] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    engine: Mapping[str, Any] = field(default_factory=dict)
    ratings: str = ""
    positions: str = ""
    """How many positions were searched now and before; not in JSON, since the next run finds them in the store."""

    ROWS: ClassVar = "players"
    FIELDS: ClassVar = (
        "inputs", "versions", "effort", "statistics", "engine", "baseline", "pool_scatter", "ratings", "prevalence",
        "by_event", "screened", "warnings", "players", "power", "not_screened", "skipped",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """How many were screened."""
        return f"Screening of {self.screened:,} {'players by event' if self.by_event else 'players'}"

    @property
    def source(self) -> str:
        """The files, the ratings and the prevalence."""
        files = ", ".join(one.file for one in self.inputs)
        return f"{files}; ratings: {self.ratings}; prevalence {self.prevalence:g}"

    @property
    def caveats(self) -> Sequence[str]:
        """What a screening cannot tell."""
        return CANNOT_TELL

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the players by p-value, their statistics, power, streaks, key positions, and the settings."""
        power = [self._power_table()] if self.power else []
        streaks = [self._streaks()] if any(player.streak for player in self.players) else []
        return [self._order(), self._statistics(), *power, *streaks, self._positions(), self._settings()]

    def figures(self) -> Sequence[Figure]:
        """Return the ordered z of all players against the normal scores of as many fair players, with a 95 % band."""
        z, place = np.sort([player.z for player in self.players]), np.arange(1, self.screened + 1)
        expected = norm.ppf((place - 0.5) / self.screened)
        low, high = (norm.ppf(beta.ppf(share, place, self.screened + 1 - place)) for share in (0.025, 0.975))
        lines = [
            Series("", expected, expected, low, high, colour=0, width=0.8),
            Series("", expected, z, colour=0, look="o"),
        ]
        chart = Lines(lines, "z of as many fair players, in order", "z, in order", height=3.8)
        caption = "Points inside the band: what chance alone gives (95 % of the time, each point by itself)."
        return [Figure("All players together", chart, caption)]

    def sections(self) -> Sequence[Section]:
        """Return how to read it, the players, the figure, and the other tables."""
        first, *others = map(Section.from_table, self.tables())
        drawn = map(Section.from_figure, self.figures())
        return [Section("How to read this", text=_READ), first, *drawn, *others]

    def _who(self) -> list[Column[ScreenedPlayer]]:
        event: Column[ScreenedPlayer] = Column("event", lambda one: one.event or "", label=True)
        return [Column("player", lambda one: one.player, label=True), *([event] if self.by_event else [])]

    def _order(self) -> Table:
        first, n = self.statistics[0], self.screened
        odds = f"odds of help against none at a prevalence of {self.prevalence:g}, over the kinds in the power table"
        shown = "; ".join(f"{one.player} ({one.reason})" for one in self.not_screened[:8])
        others = f" and {len(self.not_screened) - 8} others" if len(self.not_screened) > 8 else ""
        notes = [
            skipped_line(sum(player.moves for player in self.players), self.skipped, "moves"),
            MEANINGS[first],
            f"{n} tests; p one-sided, q the false-discovery rate (Benjamini–Hochberg) over all of them",
            odds if self.power else "odds and detection power need an engine and are omitted",
            _FAR_OUT if any(player.p < _CHECKED for player in self.players) else "",
            _OUTSIDE if any(player.extrapolated for player in self.players) else "",
            f"not screened: {shown}{others}" if self.not_screened else "",
        ]
        columns: list[Column[ScreenedPlayer]] = [
            *self._who(),
            Column("Elo", lambda one: f"{one.elo:.0f}{' *' if one.extrapolated else ''}"),
            Column("games", lambda one: f"{one.games:,}"),
            Column("moves", lambda one: f"{one.moves:,}"),
            Column(f"z {first}", lambda one: number(one.z, 2)),
            Column("p", lambda one: f"{one.p:.2g}"),
            Column("q", lambda one: f"{one.q:.2g}"),
            Column("odds", lambda one: odds_text(one.posterior_odds)),
        ]
        return Table.of("All players, by p-value", self.players, columns, notes=notes)

    def _statistics(self) -> Table:
        columns = [*self._who(), *(column for name in self.statistics[1:] for column in _value_columns(name))]
        about = "o: observed, e: expected at that rating; σ includes person, dispersion, parameters and pool"
        notes = [about, "z above 0 is better play", *(MEANINGS[name] for name in self.statistics[1:])]
        return Table.of("Observed and expected", self.players, columns, notes=notes)

    def _streaks(self) -> Table:
        rows = [(player.name, player.streak) for player in self.players if player.streak]
        columns: list[Column[tuple[str, Streak]]] = [
            Column("player", lambda row: row[0], label=True),
            Column("moves", lambda row: str(row[1].moves)),
            Column("from", lambda row: f"game {row[1].game + 1}, move {row[1].ply // 2 + 1}", label=True),
            Column("alone", lambda row: f"{row[1].probability:.2g}"),
            Column("p", lambda row: f"{row[1].p:.2g}"),
            Column("q", lambda row: f"{row[1].q:.2g}"),
        ]
        notes = [
            "p: the share of fair players with as surprising a run anywhere in as many games; "
            "alone is the run by itself, uncorrected for the choice of this run out of all",
            f"q: the false-discovery rate over {len(rows)} players",
        ]
        return Table.of("Streaks of the engine's first choices", rows, columns, notes=notes)

    def _power_table(self) -> Table:
        first, *others = self.statistics
        shown = [(first, 0.05), (first, 0.01), *((name, 0.01) for name in others)]
        seen = {(row.help, row.statistic, row.level): row.seen for row in self.power}
        rows = [
            [kind, *(percent(seen[kind, name, level]) for name, level in shown)]
            for kind in dict.fromkeys(row.help for row in self.power)
        ]
        columns = ["help by an engine", *(f"{name} p ≤ {level:g}" for name, level in shown)]
        note = (
            "simulated: the moves of all players drawn again at their rating, some of them another engine's first "
            "choice; the mean over all players"
        )
        return Table("Detection power", columns, rows, [note])

    def _positions(self) -> Table:
        rows = [(player.name, place) for player in self.players for place in player.positions]
        columns: list[Column[tuple[str, KeyPosition]]] = [
            Column("player", lambda row: row[0], label=True),
            Column("game", lambda row: row[1].game, label=True),
            Column("move", lambda row: row[1].move, label=True),
            Column("weight", lambda row: f"{row[1].weight:.2f}"),
            Column(
                "people of that rating play (last: the move played)",
                lambda row: ", ".join(f"{one.move} {probability_text(one.probability)}" for one in row[1].people),
                label=True,
            ),
        ]
        note = f"weight: what the move adds to the {self.statistics[0]}, beyond its expectation"
        return Table.of("Most influential positions", rows, columns, notes=[note])

    def _settings(self) -> Table:
        rows = [[f"file {one.file}", one.sha256] for one in self.inputs]
        rows += [[name, value] for name, value in self.versions.items()]
        rows += [
            ["effort", self.effort],
            ["engine", engine_line(self.engine) if self.engine else "none"],
            ["ratings", self.ratings],
            ["baseline", self.baseline.data],
        ]
        for name, spread in self.baseline.spreads.items():
            text = ", ".join(f"{key} {value:g}" for key, value in vars(spread).items())
            rows.append([f"baseline of {name}", f"{text}; scatter of this pool: {self.pool_scatter[name]:.2f} times"])
        return Table("Inputs and settings", ["what", "value"], rows, labels=(0, 1), headed=False)


def _value_columns(name: str) -> list[Column[ScreenedPlayer]]:
    title = f"{name}{' %' if name in PERCENT else ''} o/e ± σ"
    return [
        Column(title, lambda one: one.statistics[name].text(name)),
        Column("z", lambda one: number(one.statistics[name].z, 2)),
    ]


def screen(
    games: Games | PathLike | Sequence[PathLike],
    *,
    elo: str | float = "header",
    by_event: bool = False,
    prevalence: float = 0.001,
    effort: str | None = None,
    engine: str | None = None,
    store: PathLike | None = None,
    imports: Sequence[PathLike] = (),
    workers: int = 1,
    request: RatingRequest | None = None,
    job: EngineJob | None = None,
) -> Screening:
    """Compare the play of each player with what is expected at the player's rating, as `skilloscope screen` does.

    Parameters
    ----------
    games : Games, or the path of a PGN file, or several paths
    elo : the ratings: `header` (those of the games), one number for all players, or a CSV file player,elo[,sd]
    by_event : screen each player in each event separately
    prevalence : the assumed share of players with help, for the posterior odds
    effort : `instant` (no engine), `quick` or `full`; by default `full`, or `instant` where no engine is found
    engine, store, imports, workers : the engine, the store of analyses, files of analyses, and processes
    request, job : used by the command line in place of `effort` and of the engine's settings

    Returns
    -------
    Screening : the players by p-value; a notebook shows its tables, `plot()` draws them, `as_dict()` is the JSON

    Example
    -------
    >>> from skilloscope.inputs.bundled import demo_file
    >>> found = screen(demo_file("simulated.pgn"), elo=2000, effort="instant")
    >>> found.statistics, found.screened
    (['stronger', 'usual', 'likelihood'], 4)
    """
    if not 0 <= prevalence < 1:
        raise OptionError(f"a prevalence is a share from 0 to below 1, got {prevalence:g}")
    ratings = GivenRatings.from_text(str(elo))
    request = request or RatingRequest.of(elo_axis(), effort=effort, workers=workers)
    files: Sequence[Path] = []
    if not isinstance(games, Games):
        paths = [games] if isinstance(games, str | os.PathLike) else games
        files = by_kind([Path(path) for path in paths], Kind.GAMES)[Kind.GAMES]
        games = read_games(list(files))
    job = job or EngineJob(
        effort_settings(request.effort),
        store=None if store is None else Path(store),
        engine=engine,
        imports=[Path(path) for path in imports],
        workers=workers,
    )
    found = analysed_games(games, request, job, limit=EngineBudget(strict=effort is not None))
    return replace(_screened_games(found, ratings, by_event, prevalence), inputs=digests(files))


def _screened_games(found: AnalysedGames, ratings: GivenRatings, by_event: bool, prevalence: float) -> Screening:
    games, judged, axis, effort = found.games, found.judged, found.asked.axis, found.asked.effort
    moves = screened_moves(
        games,
        None if judged is None else judged.analyses,
        effort,
        ratings,
        opening_moves=axis.opening_moves,
        workers=found.asked.workers,
        progress=found.asked.progress,
    )
    speeds, sites = (games.headers[name].to_pylist() for name in ("time_control", "site"))
    searched = [] if judged is None else settings_warnings(effort, judged.decisions.about.get("settings", {}))
    versions = {
        "skilloscope": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "human_model": shipped_network().sha256,
    }
    return replace(
        screened(moves, shipped_baseline(effort.name), by_event=by_event, prevalence=prevalence, valid=axis.valid),
        ratings=ratings.name,
        engine={} if judged is None else engine_of(judged.decisions),
        versions=versions,
        positions="" if judged is None else str(judged),
        warnings=[*found.told, *searched, *pool_warnings(speeds, sites, games.counts.tolist(), what="moves")],
    )


def screened(
    moves: ScreenedMoves,
    baseline: Baseline,
    *,
    by_event: bool = False,
    prevalence: float = 0.001,
    valid: tuple[float, float] = (1000.0, 2750.0),
) -> Screening:
    """Screen every player of the moves, or every player of each event."""
    events = moves.event.tolist() if by_event else [None] * len(moves)
    keys = list(zip(moves.player.tolist(), events, strict=True))
    labels = sorted((key for key, n in Counter(keys).items() if n >= FEW_MOVES), key=lambda key: (key[0], key[1] or ""))
    if not labels:
        raise InputError(f"no player has {FEW_MOVES} moves that can be screened", hint="more games of each player")
    place = {key: at for at, key in enumerate(labels)}
    group = np.array([place.get(key, -1) for key in keys], dtype=np.int64)
    own, group = moves.take(group >= 0), group[group >= 0]
    player = np.unique([name for name, _ in labels], return_inverse=True)[1].astype(np.int64)
    sums = {name: group_sums(own, name, group, player, baseline) for name in own.statistics}
    pool = _Pool(own, group, sums, prevalence, valid)
    p = norm.sf(sums[pool.first].z)
    q = false_discovery_control(p)
    order = np.lexsort((np.arange(len(p)), p)).tolist()
    made = [
        pool.player(row, labels[row], float(p[row]), float(q[row]), rank < _LISTED) for rank, row in enumerate(order)
    ]
    few = sorted({name for name, _ in keys} - {name for name, _ in labels})
    missing = {**moves.missing, **dict.fromkeys(few, f"fewer than {FEW_MOVES} moves")}
    return Screening(
        effort=baseline.effort,
        statistics=list(sums),
        baseline=baseline,
        pool_scatter={name: float(one.scatter.mean()) for name, one in sums.items()},
        prevalence=prevalence,
        by_event=by_event,
        screened=len(made),
        players=_with_streak_rates([player for player, _ in made]),
        power=mean_power([power for _, power in made if power is not None]),
        not_screened=[Unrated(name, reason) for name, reason in missing.items()],
        tally=moves.games.tally + moves.tally,
    )


@dataclass(frozen=True, eq=False)
class _Pool:
    """All moves in their groups, and the sums of every statistic."""

    moves: ScreenedMoves
    group: Ints
    sums: Mapping[str, GroupSums]
    prevalence: float
    valid: tuple[float, float]

    @property
    def first(self) -> str:
        """The statistic that determines the order."""
        return next(iter(self.sums))

    def player(
        self, row: int, label: tuple[str, str | None], p: float, q: float, listed: bool
    ) -> tuple[ScreenedPlayer, Power | None]:
        """Return one group, and its detection power; the random draws depend only on its row."""
        mask = self.group == row
        own, statistics = np.flatnonzero(mask), {name: one.take(mask) for name, one in self.moves.statistics.items()}
        elo, rng = float(self.moves.elo[own].mean()), np.random.default_rng([1, row])
        power = odds = streak = None
        if "match" in statistics:  # without an engine it is unknown what help would have played
            power = simulated_power(statistics, self.sums, row, rng=rng)
            ratio = likelihood_ratio(float(self.sums[self.first].z[row]), power.shift)
            odds = self.prevalence / (1 - self.prevalence) * ratio
            sd = float(self.sums["match"].effect[row]) / len(own)
            streak = longest_streak(statistics["match"], self.moves.game[own], self.moves.ply[own], sd, rng=rng)
        values = {name: _value(statistics[name], one, row, name) for name, one in self.sums.items()}
        z = values[self.first].z
        player = ScreenedPlayer(
            player=label[0],
            event=label[1],
            elo=elo,
            extrapolated=not self.valid[0] <= elo <= self.valid[1],
            games=len(np.unique(self.moves.game[own])),
            moves=len(own),
            statistics=values,
            z=float("nan") if z is None else z,
            p=p,
            q=q,
            posterior_odds=odds,
            streak=streak,
            power=[] if power is None else power.of(self.first),
            positions=key_positions(self.moves, own, self.first) if listed else [],
        )
        return player, power


def _with_streak_rates(players: list[ScreenedPlayer]) -> list[ScreenedPlayer]:
    """Return the players with the false-discovery rate of their streaks, over all players that have one."""
    p = [player.streak.p for player in players if player.streak is not None]
    rates = iter(false_discovery_control(p).tolist() if p else [])
    return [
        player if player.streak is None else replace(player, streak=replace(player.streak, q=next(rates)))
        for player in players
    ]


def _value(one: Statistic, sums: GroupSums, row: int, name: str) -> ScreenedValue:
    """Return a statistic as a mean per move, losses and blunders as positive counts; z is larger for better play."""
    sign, n, z = -1.0 if name in ("loss", "blunders") else 1.0, len(one.actual), float(sums.z[row])
    return ScreenedValue(
        actual=sign * float(one.actual.sum()) / n,
        expected=sign * float(sums.expected[row]) / n,
        sd=float(sums.sd[row]) / n,
        z=None if too_rare(name, one.draws.variance.sum()) or not np.isfinite(z) else z,
    )


def digests(paths: Sequence[Path]) -> list[InputFile]:
    """Return name and SHA-256 of each file."""
    return [InputFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]


def odds_text(odds: float | None) -> str:
    """Return odds in whole numbers, capped where the scores were not checked.

    >>> odds_text(0.001), odds_text(20.0), odds_text(0.0), odds_text(1e12)
    ('1 : 1,000', '20 : 1', 'none', '> 1,000 : 1')
    """
    if not odds:
        return "–" if odds is None else "none"
    if odds > _MOST_ODDS:
        return f"> {_MOST_ODDS:,} : 1"
    return f"{odds:,.0f} : 1" if odds >= 1 else f"1 : {1 / odds:,.0f}"


CANNOT_TELL = (
    "Whether anyone had help. A small p means that such play is rare at that rating; rare things happen to someone "
    "wherever many are looked at, and q and the odds account for that.",
    "Why a player played better than the rating: preparation, a good day, a rating that lags behind, an opponent who "
    "let it happen and help by an engine look alike in the moves.",
    "Help on a few moves. The power table shows how little of it can be detected in so many games.",
    "Anything from what is left out: opening moves, forced moves, the clock, conduct at the board.",
    "Whether the rating is right: it is taken as given, with the error that ratings usually have.",
)
_READ = (
    "Each line compares the moves played with what the model expects of people of that rating in the same positions. "
    "z is the distance in standard deviations, 0 on average and between −2 and 2 for 95 of 100 fair players. "
    "Play with an engine's help raises the index and the matches and lowers the losses; a high index alone means that "
    "the moves are unlike people's. The table orders what a person may want to look at; a number alone is no evidence "
    "of a breach of the rules."
)
