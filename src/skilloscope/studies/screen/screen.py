"""Screening: two questions about each player, with the scatter of fair play. It orders what to look at; no verdicts.

In: games, ratings, and how many of a hundred players are assumed to have had help. Out: a `Screening`. For each player
(or player and event) it has two numbers: `stronger`, whether the moves are those of stronger people than the rating
says (usually the rating is too low), and `engine`, whether they agree with the engine beyond what people of the
strength that the moves show do. Each comes as a normal score, p, and the false-discovery rate over all players. With
them stand results against the ratings, observed and expected values, odds, streaks, power, and positions.
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
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.load import EngineBudget, EngineJob, Kind, by_kind, engine_of
from skilloscope.inputs.pipeline import AnalysedGames, analysed_games, effort_settings
from skilloscope.inputs.request import RatingRequest, settings_warnings
from skilloscope.models.paired_comparison import expected_against
from skilloscope.report.charts import Figure, Lines, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, engine_line, number, probability_text, skipped_line
from skilloscope.studies.agent_ratings import Unrated
from skilloscope.studies.basis import pool_warnings
from skilloscope.studies.screen.baseline import Baseline, GroupSums, group_sums, shipped_baseline
from skilloscope.studies.screen.moves import GivenRatings, KeyPosition, ScreenedMoves, key_positions, screened_moves
from skilloscope.studies.screen.own import OwnStrength
from skilloscope.studies.screen.players import (
    CHECKED,
    PointsScored,
    Rarity,
    ScreenedPlayer,
    ScreenedValue,
    odds_text,
    power_table,
    score_text,
    seconds_text,
)
from skilloscope.studies.screen.power import (
    Power,
    PowerRow,
    Streak,
    likelihood_ratio,
    longest_streak,
    mean_power,
    simulated_power,
)
from skilloscope.studies.screen.statistics import ENGINE, MEANINGS, PERCENT, STRONGER, Statistic, too_rare

FEW_MOVES = 20
"""Players with fewer moves are not screened."""
_LISTED = 10  # players whose key positions are listed
_FAR_OUT = f"scores were checked on some hundred people: p below {CHECKED:g} and its odds are extrapolated"
_POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
_OUTSIDE = "* outside the ratings for which the model was fitted"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class InputFile:
    """A file that was read, and its SHA-256."""

    file: str
    sha256: str


@dataclass(frozen=True, eq=False)
class Screening(Study):
    """All screened players, by the p of `engine`; without an engine by that of `stronger`."""

    effort: str
    statistics: Sequence[str]  # those of this effort
    baseline: Baseline
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
        "inputs", "versions", "effort", "statistics", "engine", "baseline", "ratings", "prevalence",
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
        return [self._order(), self._statistics(), *power, *streaks, self.positions_of(self.players), self.settings()]

    def figures(self) -> Sequence[Figure]:
        """Return the ordered z of all players against the normal scores of as many fair players, with a 95 % band."""
        z, place = np.sort([player.first.z for player in self.players]), np.arange(1, self.screened + 1)
        expected = norm.ppf((place - 0.5) / self.screened)
        low, high = (norm.ppf(beta.ppf(share, place, self.screened + 1 - place)) for share in (0.025, 0.975))
        lines = [
            Series("", expected, expected, low, high, colour=0, width=0.8),
            Series("", expected, z, colour=0, look="o"),
        ]
        chart = Lines(lines, "z of as many fair players, in order", f"z {self._first}, in order", height=3.8)
        caption = "Points inside the band: what chance alone gives (95 % of the time, each point by itself)."
        return [Figure("All players together", chart, caption)]

    def sections(self) -> Sequence[Section]:
        """Return how to read it, the players, the figure, and the other tables."""
        first, *others = map(Section.from_table, self.tables())
        drawn = map(Section.from_figure, self.figures())
        return [Section("How to read this", text=READ), first, *drawn, *others]

    def _who(self) -> list[Column[ScreenedPlayer]]:
        event: Column[ScreenedPlayer] = Column("event", lambda one: one.event or "", label=True)
        return [Column("player", lambda one: one.player, label=True), *([event] if self.by_event else [])]

    @property
    def _first(self) -> str:
        return ENGINE if self.power else STRONGER

    def _order(self) -> Table:
        n, least = self.screened, min(min(one.stronger.p, one.first.p) for one in self.players)
        odds = (
            f"odds of help against none, by engine, at a prevalence of {self.prevalence:g}; help as in the power table"
        )
        shown = "; ".join(f"{one.player} ({one.reason})" for one in self.not_screened[:8])
        others = f" and {len(self.not_screened) - 8} others" if len(self.not_screened) > 8 else ""
        notes = [
            skipped_line(sum(player.moves for player in self.players), self.skipped, "moves"),
            "stronger: are the moves those of stronger people than the rating says? Usually the rating is too low",
            "engine: do they agree with the engine more than people of the player's own strength (plays like) do?"
            if self.power
            else "the second number, agreement with an engine, needs an engine, as do odds and detection power",
            "score: points in games against rated opponents / what the ratings let expect",
            f"{n} players; p one-sided, q the false-discovery rate (Benjamini–Hochberg) over all of them",
            odds if self.power else "",
            _FAR_OUT if least < CHECKED else "",
            _OUTSIDE if any(player.extrapolated for player in self.players) else "",
            f"not screened: {shown}{others}" if self.not_screened else "",
        ]
        columns: list[Column[ScreenedPlayer]] = [
            *self._who(),
            Column("Elo", lambda one: f"{one.elo:.0f}{' *' if one.extrapolated else ''}"),
            Column("games", lambda one: f"{one.games:,}"),
            Column("moves", lambda one: f"{one.moves:,}"),
            Column("score", lambda one: score_text(one.score)),
            Column("stronger p", lambda one: f"{one.stronger.p:.2g}"),
            Column("q", lambda one: f"{one.stronger.q:.2g}"),
        ]
        if self.power:
            columns += [
                Column("plays like", lambda one: number(one.own_elo, 0)),
                Column("engine p", lambda one: f"{one.engine.p:.2g}" if one.engine else "–"),
                Column("q", lambda one: f"{one.engine.q:.2g}" if one.engine else "–"),
                Column("odds", lambda one: odds_text(one.posterior_odds)),
            ]
        return Table.of("All players, by p-value", self.players, columns, notes=notes)

    def _statistics(self) -> Table:
        columns = [*self._who(), *(column for name in self.statistics for column in _value_columns(name))]
        about = "o: observed, e: expected at that rating; σ includes strength, style, dispersion and pool"
        notes = [about, "z above 0 is better play", *(MEANINGS[name] for name in self.statistics)]
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
        note = (
            "simulated: the moves of all players drawn again, each with a strength of their own, some of them another "
            "engine's first choice; the mean over all players. critical: where people of that rating lose most; usual: "
            "only moves that one in ten of them plays"
        )
        return power_table(self.power, note)

    def positions_of(self, players: Sequence[ScreenedPlayer]) -> Table:
        """Return the most influential positions of some players."""
        rows = [(player.name, place) for player in players for place in player.positions]
        columns: list[Column[tuple[str, KeyPosition]]] = [
            Column("player", lambda row: row[0], label=True),
            Column("game", lambda row: row[1].game, label=True),
            Column("move", lambda row: row[1].move, label=True),
            Column("weight", lambda row: f"{row[1].weight:.2f}"),
            Column("engine plays", lambda row: row[1].engine, label=True),
            Column("time", lambda row: seconds_text(row[1].seconds)),
            Column(
                "people of that rating play (last: the move played)",
                lambda row: ", ".join(f"{one.move} {probability_text(one.probability)}" for one in row[1].people),
                label=True,
            ),
        ]
        note = f"weight: by how much the move counts for {self._first}, beyond its expectation"
        return Table.of("Most influential positions", rows, columns, notes=[note])

    def settings(self) -> Table:
        """Return files, versions, engine, ratings and baseline."""
        rows = [[f"file {one.file}", one.sha256] for one in self.inputs]
        rows += [[name, value] for name, value in self.versions.items()]
        rows += [
            ["effort", self.effort],
            ["engine", engine_line(self.engine) if self.engine else "none"],
            ["ratings", self.ratings],
            ["baseline", self.baseline.data],
        ]
        for name, spread in self.baseline.spreads.items():
            offset = ", ".join(f"{value:g}" for value in spread.offset)
            text = f"dispersion {spread.dispersion:g}, person_sd {spread.person_sd:g}, offset {offset}"
            rows.append([f"baseline of {name}", text])
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
    player: str | None = None,
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
    player : a player whose positions are listed in any case, for `player_screening`
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
    how = _How(by_event, prevalence, player, found.asked.axis.valid)
    return replace(_screened_games(found, ratings, how), inputs=digests(files))


@dataclass(frozen=True)
class _How:
    """What was asked of a screening besides games and ratings."""

    by_event: bool = False
    prevalence: float = 0.001
    player: str | None = None
    valid: tuple[float, float] = (1000.0, 2750.0)


def _screened_games(found: AnalysedGames, ratings: GivenRatings, how: _How) -> Screening:
    games, judged, axis, effort = found.games, found.judged, found.asked.axis, found.asked.effort
    baseline = shipped_baseline(effort.name)
    moves = screened_moves(
        games,
        None if judged is None else judged.analyses,
        baseline.weights,
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
        screened(moves, baseline, **vars(how)),
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
    player: str | None = None,
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
    code = np.unique([name for name, _ in labels], return_inverse=True)[1].astype(np.int64)
    sums = {name: group_sums(own, name, group, code, baseline) for name in own.statistics}
    stronger = _rarities(sums[STRONGER].z)
    # One player after the other: the moves at any strength take much memory.
    found = [_help_of(own.take(group == row), sums, row, baseline) for row in range(len(labels))]
    engine = _rarities(np.array([one.z for one in found if one is not None]))
    order = np.argsort([one.p for one in engine or stronger], kind="stable").tolist()
    made = []
    for rank, row in enumerate(order):
        part, helped, (name, event) = own.take(group == row), found[row], labels[row]
        elo, beyond = float(part.elo.mean()), helped.beyond if helped else part.statistics[STRONGER].beyond
        one = ScreenedPlayer(
            player=name,
            event=event,
            elo=elo,
            extrapolated=not valid[0] <= elo <= valid[1],
            games=len(np.unique(part.game)),
            moves=len(part),
            stronger=stronger[row],
            engine=engine[row] if engine else None,
            own_elo=helped.own_elo if helped else None,
            score=_score(part),
            statistics={key: _value(part.statistics[key], own_sums, row, key) for key, own_sums in sums.items()},
            posterior_odds=prevalence / (1 - prevalence) * helped.ratio if helped else None,
            streak=helped.streak if helped else None,
            power=[*helped.power.of(ENGINE), *helped.power.of(STRONGER)] if helped else [],
            positions=key_positions(part, beyond)
            if rank < _LISTED or (player or "\0").casefold() in name.casefold()
            else [],
        )
        made.append(one)
    few = sorted({name for name, _ in keys} - {name for name, _ in labels})
    missing = {**moves.missing, **dict.fromkeys(few, f"fewer than {FEW_MOVES} moves")}
    return Screening(
        effort=baseline.effort,
        statistics=list(sums),
        baseline=baseline,
        prevalence=prevalence,
        by_event=by_event,
        screened=len(made),
        players=_with_streak_rates(made),
        power=mean_power([one.power for one in found if one is not None]),
        not_screened=[Unrated(name, reason) for name, reason in missing.items()],
        tally=moves.games.tally + moves.tally,
    )


@dataclass(frozen=True, eq=False)
class _Helped:
    """What an engine's answers say of one player."""

    z: float
    own_elo: float
    beyond: Array  # by how much each move is more an engine's than expected
    power: Power
    ratio: float  # the likelihood ratio of help against none
    streak: Streak | None


def _help_of(moves: ScreenedMoves, sums: Mapping[str, GroupSums], row: int, baseline: Baseline) -> _Helped | None:
    """Return what an engine's answers say of one player; None without: it is unknown what help would have played."""
    own = OwnStrength.of(moves, baseline)
    if own is None:
        return None
    z, elo, _ = own.played(moves)
    rng = np.random.default_rng([1, row])  # the draws depend only on the row
    power = simulated_power(moves, sums, row, own, baseline, rng=rng)
    sd = float(sums["match"].effect[row]) / len(moves)
    streak = longest_streak(moves.statistics["match"], moves.game, moves.ply, sd, rng=rng)
    return _Helped(z, elo, own.agreement(moves, elo), power, likelihood_ratio(z, power.shift), streak)


def _rarities(z: Array) -> list[Rarity]:
    """Return normal scores with p, and q over all of them."""
    p = norm.sf(z)
    return [Rarity(*one) for one in zip(z.tolist(), p.tolist(), false_discovery_control(p).tolist(), strict=True)]


def _score(moves: ScreenedMoves) -> PointsScored | None:
    """Return one player's points against rated opponents, and the expected ones by [GLI99 (3)] without deviations."""
    games, first = np.unique(moves.game, return_index=True)
    black = np.array(
        [name != moves.player[0] for name in moves.games.headers["white"].take(games).to_pylist()], np.int8
    )
    known = moves.games.by_mover(games, black)
    opponent = np.array(known["opponent_elo"].to_pylist(), dtype=float)
    points = np.array([_POINTS.get(text or "", np.nan) for text in known["result"].to_pylist()])
    points = np.where(black == 1, 1 - points, points)
    use = np.isfinite(opponent) & np.isfinite(points)
    if not use.any():
        return None
    expected = expected_against(moves.elo[first][use], opponent[use], np.zeros(int(use.sum())))
    return PointsScored(float(points[use].sum()), float(expected.sum()), int(use.sum()))


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


CANNOT_TELL = (
    "Whether anyone had help. A small p means that such play is rare among fair players; rare things happen to someone "
    "wherever many are looked at, and q and the odds account for that.",
    "Why a player played better than the rating. Juniors, returning players and first ratings are often far stronger "
    "than rated; stronger alone is no sign of help. An under-rated player scores more than expected as well.",
    "Help on a few moves. The power table shows how little of it can be detected in so many games.",
    "Anything from what is left out: opening moves, forced moves, conduct at the board. Times are shown, not judged.",
    "Whether a player knew a position: preparation beyond the opening looks like agreement with an engine.",
)
READ = (
    "Two questions, two numbers. stronger: are the moves those of stronger people than the rating says? A small p here "
    "usually means that the rating is too low. engine: do the moves agree with the engine more than those of people as "
    "strong as these moves show, where people and engine choose differently? Only this number speaks of help. "
    "p = 0.007 means that of 1,000 fair players in events like this about 7 look this unusual; q takes into account "
    "how many were screened. The table orders what a person may want to look at; a number alone is no evidence of a "
    "breach of the rules."
)
