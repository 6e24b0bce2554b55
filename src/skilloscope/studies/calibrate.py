"""Calibrate: an Elo axis for another pool or speed, fitted to games whose headers have ratings.

In: games. Out: a PoolCalibration: the axis, and how well it predicts the ratings of held-out players. The human model
scores all moves; the shift and stretch from its ratings to those of the pool, and the weight of its evidence there, are
fitted by the log-density of the ratings. A person is a player in one year. Where the games are too few or too alike,
the reasons are given and no axis is made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.chess.human.model import Human, human
from skilloscope.chess.human.played import move_evidence, played_moves
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.core.errors import InputError
from skilloscope.evidence import EvidenceTable, Normal, Prior
from skilloscope.evidence.axis import ELO, Effects, Effort, EloAxis, blurred, elo_axis, read_for_pool
from skilloscope.models.joint import ELO_RANGE
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, number, percent

FEWEST_PLAYER_GAMES, FEWEST_PLAYERS, LEAST_SPREAD = 200, 50, 100.0
FOLDS = 5
START = {"opening": Effects(0.794, 3.8, 166.2), "human": Effects(0.731, 208.6, 42.6)}
"""Where a fit to a pool begins: the effects of people of human/ where each source has all of a person to itself."""
_EVERY = 5
POOL_ELO: Array = ELO[::_EVERY]
"""The Elos at which all people of a pool are scored together, so that a fit takes seconds."""
_POOL_STEP = float(POOL_ELO[1] - POOL_ELO[0])
_LOOSE, _SHIFT_SD, _STRETCH_SD = 0.7, 500.0, 0.3  # how far from the start: factors (log), Elo, factor (log)
_LEAST = (0.01, 1.0, 1.0)  # temper and standard deviations from which a factor can start
_HINT = "more games with WhiteElo and BlackElo in their headers; --check only counts"


@dataclass(frozen=True)
class PoolCensus:
    """Who plays in the games: rated sides with a name."""

    player_games: int
    players: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None

    @property
    def reasons(self) -> list[str]:
        """Why these games cannot carry an axis; empty where they can."""
        found = []
        if self.player_games < FEWEST_PLAYER_GAMES:
            found.append(f"{self.player_games:,} rated player-games, {FEWEST_PLAYER_GAMES} are needed")
        if self.players < FEWEST_PLAYERS:
            found.append(f"{self.players:,} rated players, {FEWEST_PLAYERS} are needed")
        if self.sd is not None and self.sd < LEAST_SPREAD:
            found.append(f"ratings with a standard deviation of {self.sd:.0f}, {LEAST_SPREAD:.0f} are needed")
        return found


@dataclass(frozen=True, eq=False)
class PoolCalibration(Study):
    """The axis of a pool, who it was fitted to, and how well it predicts held-out players."""

    name: str
    census: PoolCensus
    axis: EloAxis | None = None
    one_game: "PoolAccuracy | None" = None
    one_year: "PoolAccuracy | None" = None  # all games of a player in one year
    games_a_year: float | None = None

    FIELDS: ClassVar = (
        "name", "*census", "census.reasons", "valid", "effects", "one_game", "one_year", "games_a_year", "skipped",
    )  # fmt: skip

    @property
    def valid(self) -> tuple[float, float] | None:
        """The ratings between which the axis was fitted."""
        return self.axis.valid if self.axis else None

    @property
    def effects(self) -> Mapping[str, Effects]:
        """What was fitted for each source of evidence."""
        return self.axis.effort("instant").effects if self.axis else {}

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Calibration of {self.name}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return who plays in the games, and where an axis was fitted its accuracy and its numbers."""
        columns: list[Column[PoolCensus]] = [
            Column("players", lambda census: f"{census.players:,}"),
            Column("player-games", lambda census: f"{census.player_games:,}"),
            Column("mean rating", lambda census: number(census.mean, 0)),
            Column("sd", lambda census: number(census.sd, 0)),
            Column("lowest", lambda census: number(census.low, 0)),
            Column("highest", lambda census: number(census.high, 0)),
        ]
        notes = [f"no axis: {reason}" for reason in self.census.reasons]
        census = Table.of(f"rated players of {self.name}", [self.census], columns, notes=notes)
        return [census, *self._fitted_tables()]

    def _fitted_tables(self) -> Iterator[Table]:
        if not (self.valid and self.one_game and self.one_year):
            return
        a_year = f"all games of a year ({self.games_a_year:.1f} on average)"
        yield Table.of(
            "how well the ratings of held-out players are predicted",
            [("one game", self.one_game), (a_year, self.one_year)],
            [
                Column("evidence", lambda row: row[0], label=True),
                Column("cases", lambda row: f"{row[1].people:,}"),
                Column("RMSE", lambda row: number(row[1].rmse, 0)),
                Column("MAE", lambda row: number(row[1].mae, 0)),
                Column("posterior sd", lambda row: number(row[1].sd, 0)),
                Column("95 % covers", lambda row: percent(row[1].covers)),
                Column("slope", lambda row: number(row[1].slope, 2)),
                Column("RMSE of the mean", lambda row: number(row[1].constant_rmse, 0)),
            ],
            notes=["each player is scored by a fit to the others, under the mean and sd of the others' ratings"],
        )
        low, high = self.valid
        yield Table.of(
            "weight of the evidence",
            self.effects.items(),
            [
                Column("source", lambda row: row[0], label=True),
                Column("temper", lambda row: number(row[1].temper, 2)),
                Column("game_sd", lambda row: number(row[1].game_sd, 0)),
                Column("person_sd", lambda row: number(row[1].person_sd, 0)),
                Column("shift", lambda row: number(row[1].shift, 0)),
                Column("stretch", lambda row: number(row[1].stretch, 2)),
            ],
            notes=[f"fitted between {low:.0f} and {high:.0f}; rated E plays like E + shift + (stretch − 1)·(E − 2000)"],
        )


@dataclass(frozen=True, eq=False)
class PoolEvidence:
    """Ratings of people and the curves of their games on POOL_ELO, by source: row r belongs to person owner[r]."""

    elo: Array
    curves: Mapping[str, Array]
    owner: Mapping[str, Ints]

    def __len__(self) -> int:
        return len(self.elo)

    def of(self, wanted: Bools) -> "PoolEvidence":
        """Return some of the people."""
        place = np.cumsum(wanted) - 1
        keep = {name: wanted[owner] for name, owner in self.owner.items()}
        curves = {name: rows[keep[name]] for name, rows in self.curves.items()}
        return PoolEvidence(self.elo[wanted], curves, {n: place[o[keep[n]]] for n, o in self.owner.items()})

    def logs(self, effects: Mapping[str, Effects]) -> Array:
        """Return what all sources say of each person, a column for each of POOL_ELO: the coarse twin of `combined`."""
        total = np.zeros((len(self), len(POOL_ELO)))
        for name, rows in self.curves.items():
            own = effects[name]
            games = blurred(own.temper * read_for_pool(rows, own, POOL_ELO), own.game_sd, _POOL_STEP)
            added = np.zeros_like(total)
            np.add.at(added, self.owner[name], games)
            total += blurred(added, own.person_sd, _POOL_STEP)
        return total


@dataclass(frozen=True)
class PoolAccuracy:
    """How well ratings are predicted, next to a constant guess."""

    people: int
    rmse: float
    mae: float
    sd: float
    covers: float
    slope: float | None
    score: float
    constant_rmse: float
    constant_mae: float

    def as_dict(self) -> dict[str, float | None]:
        """Return the figures for JSON."""
        return {name: None if value is None else round(value, 3) for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False)
class RatedGames:
    """Evidence of player-games: the person (a player in one year) and the rating of each."""

    evidence: PoolEvidence
    player: Ints
    person: Ints

    def of(self, wanted: Bools) -> "RatedGames":
        """Return some of the player-games."""
        return RatedGames(self.evidence.of(wanted), self.player[wanted], self.person[wanted])

    def by_person(self) -> PoolEvidence:
        """Return the evidence by person, each with the mean of his ratings."""
        _, person = np.unique(self.person, return_inverse=True)
        elo = np.bincount(person, self.evidence.elo) / np.bincount(person)
        owner = {name: person[rows] for name, rows in self.evidence.owner.items()}
        return PoolEvidence(np.asarray(elo), self.evidence.curves, owner)


def pool_census(games: Games) -> PoolCensus:
    """Count the rated sides of games."""
    found = [one for pair in _rated_sides(games) for one in pair if one]
    elo = np.array([rating for _, _, rating in found])
    spread = [float(v) for v in (elo.mean(), elo.std(), elo.min(), elo.max())] if len(elo) else [None] * 4
    return PoolCensus(len(found), len({name for name, _, _ in found}), *spread)


def calibrate(
    games: Games,
    name: str,
    *,
    most: int | None = None,
    seed: int = 1,
    model: Human | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> PoolCalibration:
    """Fit an axis to games with ratings; of more than `most` games a sample is drawn. Raises if they do not suffice.

    `progress` is called with the number of moves read so far, and of how many.
    """
    known = model or human()
    some = _drawn(games, most, np.random.default_rng(seed))
    census = pool_census(some)
    if census.reasons:
        raise InputError(f"these games cannot carry an axis: {'; '.join(census.reasons)}", hint=_HINT)

    def show(done: int) -> None:
        if progress is not None:
            progress(done, len(some.moves), "human model")

    rated = rated_evidence(some, known, progress=show)
    one_game, one_year, effects = fitted_and_checked(rated, START)
    axis = _axis(name, census, rated, effects, {"one_game": one_game, "one_year": one_year}, known)
    per_year = len(rated.person) / len(np.unique(rated.person))
    return PoolCalibration(
        name, census, axis=axis, one_game=one_game, one_year=one_year, games_a_year=per_year, tally=some.tally
    )


def fitted_and_checked(
    rated: RatedGames, start: Mapping[str, Effects], *, folds: int = FOLDS
) -> tuple[PoolAccuracy, PoolAccuracy, dict[str, Effects]]:
    """Return the accuracy on held-out players with one game and with a year's, and the effects fitted to all."""
    fold = np.random.default_rng(0).permutation(int(rated.player.max()) + 1)[rated.player] % folds
    single: list[tuple[Array, Array, Array]] = []
    yearly: list[tuple[Array, Array, Array]] = []
    for held_out in range(folds):
        rest, own = rated.of(fold != held_out), rated.of(fold == held_out)
        people = rest.by_person()
        prior = fitted_prior(people.elo)
        effects = fit_pool(people, prior, start)
        density = np.asarray(prior.log_density(POOL_ELO))
        for part, found in ((own.evidence, single), (own.by_person(), yearly)):
            logs = part.logs(effects) + density
            found.append((logs, part.elo, np.full(len(part), prior.mean)))
    one_game, one_year = (
        posterior_accuracy(*(np.concatenate(column) for column in zip(*found, strict=True)))
        for found in (single, yearly)
    )
    everybody = rated.by_person()
    prior = fitted_prior(everybody.elo)
    _refuse_what_says_nothing(everybody, prior, one_year)
    return one_game, one_year, fit_pool(everybody, prior, start)


def fitted_prior(elo: npt.ArrayLike) -> Normal:
    """Return the normal population of ratings."""
    ratings = np.asarray(elo, dtype=float)
    return Normal(float(ratings.mean()), float(ratings.std()), *ELO_RANGE)


def fit_pool(
    evidence: PoolEvidence, prior: Prior, start: Mapping[str, Effects], *, free: Sequence[str] = (), mapped: bool = True
) -> dict[str, Effects]:
    """Return the effects of the sources `free` (all, unless said), and with `mapped` one shift and stretch for all."""
    names = [name for name in evidence.curves if not free or name in free]
    known = {name: start[name] for name in evidence.curves}
    about = np.log(np.maximum([(e.temper, e.game_sd, e.person_sd) for e in (known[n] for n in names)], _LEAST))
    loose = np.array([*([_SHIFT_SD, _STRETCH_SD] if mapped else []), *[_LOOSE] * about.size])
    density = np.asarray(prior.log_density(POOL_ELO))

    def effects_at(step: Array) -> dict[str, Effects]:
        moved = step * loose
        shift, stretch = (float(moved[0]), float(np.exp(moved[1]))) if mapped else (0.0, 1.0)
        values = np.exp(about + moved[2 * mapped :].reshape(-1, 3)).tolist()
        found = {**known, **{name: Effects(*row) for name, row in zip(names, values, strict=True)}}
        return {name: replace(one, shift=shift, stretch=stretch) for name, one in found.items()}

    def cost(step: Array) -> float:
        score = log_scores(evidence.logs(effects_at(step)) + density, evidence.elo).mean()
        return float(step @ step / 2 / len(evidence) - score)

    options = {"maxiter": 40, "eps": 0.02, "ftol": 1e-7}
    bounds = [(-4.0, 4.0)] * len(loose)
    return effects_at(minimize(cost, np.zeros(len(loose)), method="L-BFGS-B", bounds=bounds, options=options).x)


def log_scores(logs: Array, elo: Array) -> Array:
    """Return the log-density of each true rating under posteriors on POOL_ELO."""
    top = logs.max(axis=1)
    total = np.log(np.exp(logs - top[:, None]).sum(axis=1) * _POOL_STEP) + top
    return np.asarray(_at_elo(logs, elo) - total)


def posterior_accuracy(logs: Array, elo: Array, guess: float | Array) -> PoolAccuracy:
    """Return the figures of posteriors; `guess` is the constant guess without evidence."""
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    density /= density.sum(axis=1, keepdims=True)
    mean = density @ POOL_ELO
    sd = np.sqrt(np.maximum(density @ POOL_ELO**2 - mean**2, 0.0))
    below = np.cumsum(density, axis=1) - density / 2
    middle = np.array([np.interp(0.5, row, POOL_ELO) for row in below])
    place, error, apart = _at_elo(below, elo), mean - elo, np.asarray(guess) - elo
    slope = float(np.polyfit(mean, elo, 1)[0]) if np.ptp(mean) > 0 else None
    return PoolAccuracy(
        people=len(elo),
        rmse=float(np.sqrt((error**2).mean())),
        mae=float(np.abs(middle - elo).mean()),
        sd=float(sd.mean()),
        covers=float(((place > 0.025) & (place < 0.975)).mean()),
        slope=slope,
        score=float(log_scores(logs, elo).mean()),
        constant_rmse=float(np.sqrt((apart**2).mean())),
        constant_mae=float(np.abs(apart).mean()),
    )


def rated_evidence(games: Games, model: Human, *, progress: Callable[[int], None] | None = None) -> RatedGames:
    """Return what the human model says of every rated side of the games."""
    sides = _rated_sides(games)
    black = games.movers.astype(bool)
    of_move = [sides[game][side] for game, side in zip(games.game_of_move.tolist(), black.tolist(), strict=True)]
    wanted = np.array([one is not None for one in of_move], dtype=bool)
    moves = played_moves(games, wanted=wanted, model=model, progress=progress)
    labels = [one[:2] for one in of_move if one is not None]
    ratings = {(one[:2], game): one[2] for game, pair in enumerate(sides) for one in pair if one}
    return _rated(move_evidence(moves, labels, opening_moves=elo_axis().opening_moves), ratings)


def _rated(table: EvidenceTable, ratings: Mapping[tuple[Any, int], float]) -> RatedGames:
    groups = {label: at for at, label in enumerate(table)}
    keys = np.stack([np.array([groups[label] for label in table.labels], dtype=np.int64), table.games], axis=1)
    pairs, of = np.unique(keys, axis=0, return_inverse=True)
    row, coarse = of.reshape(-1), table.curves[:, ::_EVERY]
    sources = np.array(table.sources)
    own = {name: sources == name for name in dict.fromkeys(table.sources)}
    labels = list(groups)
    elo = np.array([ratings[labels[group], game] for group, game in pairs.tolist()])
    names = {name: at for at, name in enumerate(dict.fromkeys(label[0] for label in labels))}
    player = np.array([names[label[0]] for label in labels])[pairs[:, 0]]
    evidence = PoolEvidence(elo, {n: coarse[o] for n, o in own.items()}, {n: row[o] for n, o in own.items()})
    return RatedGames(evidence, player, pairs[:, 0])


_Side = tuple[str, int | None, float] | None


def _rated_sides(games: Games) -> list[tuple[_Side, _Side]]:
    """Return player, year and rating of both sides of each game; None where name or rating is missing."""
    headers = games.headers
    years = headers["year"].to_pylist()

    def side(colour: str) -> list[_Side]:
        columns = (headers[colour].to_pylist(), years, headers[f"{colour}_elo"].to_pylist())
        known = zip(*columns, strict=True)
        return [
            (name, year, float(elo)) if name and elo and ELO_RANGE[0] <= elo <= ELO_RANGE[1] else None
            for name, year, elo in known
        ]

    return list(zip(side("white"), side("black"), strict=True))


def _drawn(games: Games, most: int | None, rng: np.random.Generator) -> Games:
    """Return the games with a rated side, so many of them at most; what is left out is counted."""
    rated = np.array([bool(pair[0] or pair[1]) for pair in _rated_sides(games)], dtype=bool)
    kept = games.select(np.flatnonzero(rated & (games.counts > 0)), reason="game without a rated player")
    if most is None or len(kept) <= most:
        return kept
    chosen = np.sort(rng.permutation(len(kept))[:most])
    return kept.select(chosen, reason="game not drawn")


def _refuse_what_says_nothing(people: PoolEvidence, prior: Prior, found: PoolAccuracy) -> None:
    alone = np.tile(np.asarray(prior.log_density(POOL_ELO)), (len(people), 1))
    gain = found.score - float(log_scores(alone, people.elo).mean())
    if gain <= 0:
        raise InputError(
            f"these games cannot carry an axis: ratings of held-out players are predicted no better than by their mean "
            f"(RMSE {found.rmse:.0f}, of the mean {found.constant_rmse:.0f})",
            hint=_HINT,
        )


def _axis(
    name: str,
    census: PoolCensus,
    rated: RatedGames,
    effects: Mapping[str, Effects],
    measured: Mapping[str, PoolAccuracy],
    model: Human,
) -> EloAxis:
    elo = rated.by_person().elo
    low, high = (float(round(v, -1)) for v in np.percentile(elo, [1, 99]))
    population = {
        "name": f"players of {name}",
        "mean": round(float(elo.mean()), 1),
        "sd": round(float(elo.std()), 1),
        "players": census.players,
        "source": f"ratings in the headers of {census.player_games:,} player-games",
    }
    rounded = {name: Effects(*(round(value, 4) for value in vars(one).values())) for name, one in effects.items()}
    about = {key: one.as_dict() for key, one in measured.items()}
    effort = Effort("instant", rounded, measured=about)
    return EloAxis(
        name=name,
        efforts={"instant": effort},
        population=population,
        valid=(low, high),
        data=f"{census.player_games:,} player-games of {census.players:,} players",
        model=model.network.sha256,
        opening_moves=elo_axis().opening_moves,
        axis=f"ratings of the pool {name}",
    )


def _at_elo(logs: Array, elo: Array) -> Array:
    """Return the rows read at one Elo each."""
    place = np.clip((elo - POOL_ELO[0]) / _POOL_STEP, 0, len(POOL_ELO) - 1)
    low = np.minimum(place.astype(np.int64), len(POOL_ELO) - 2)
    rows = np.arange(len(elo))
    return np.asarray(logs[rows, low] * (low + 1 - place) + logs[rows, low + 1] * (place - low))
