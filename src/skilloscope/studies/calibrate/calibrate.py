"""Calibrate: an Elo axis for another pool or speed, fitted to games whose headers have ratings.

In: games. Out: a PoolCalibration: the axis, and how well it foretells ratings of players whom its fit has not seen. The
human model judges all moves; where the ratings of the pool lie among those it knows (shift and stretch), and how far
its evidence is believed there, is fitted by the log-density of the ratings. A person is a player in one year. Where the
data cannot carry that, the reason is said and no axis is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.human.model import Human, human
from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError, Tally
from skilloscope.ratings.elo_axis.axis import Effort, EloAxis, elo_axis
from skilloscope.ratings.elo_axis.effects import ELO, Effects
from skilloscope.ratings.elo_axis.pool import (
    POOL_ELO,
    PoolAccuracy,
    PoolEvidence,
    fit_pool,
    fitted_prior,
    log_scores,
    posterior_accuracy,
)
from skilloscope.sources.strength import SOURCES, GameCurves, game_curves, played_moves

SCHEMA = 1
FEWEST_PLAYER_GAMES, FEWEST_PLAYERS, LEAST_SPREAD = 200, 50, 100.0
FOLDS = 5
_EVERY = round(float(POOL_ELO[1] - POOL_ELO[0]) / float(ELO[1] - ELO[0]))

Array = npt.NDArray[np.float64]


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
class PoolCalibration:
    """The axis of a pool, who it was fitted to, and how well it foretells players it has not seen."""

    name: str
    census: PoolCensus
    tally: Tally
    axis: EloAxis | None = None
    one_game: PoolAccuracy | None = None
    one_year: PoolAccuracy | None = None
    """All games of a player in one year."""
    games_a_year: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that every report of a calibration sends."""
        effects = self.axis.effort("instant").effects if self.axis else {}
        return {
            "schema": SCHEMA,
            "name": self.name,
            **asdict(self.census),
            "reasons": self.census.reasons,
            "valid": list(self.axis.valid) if self.axis else None,
            "effects": {source: vars(numbers) for source, numbers in effects.items()},
            "one_game": self.one_game.as_dict() if self.one_game else None,
            "one_year": self.one_year.as_dict() if self.one_year else None,
            "games_a_year": self.games_a_year,
            "skipped": self.tally.as_dict(),
        }


@dataclass(frozen=True, eq=False)
class RatedGames:
    """Evidence of player-games: the person (a player in one year) and the rating of each."""

    evidence: PoolEvidence
    player: npt.NDArray[np.int64]
    person: npt.NDArray[np.int64]

    def of(self, wanted: npt.NDArray[np.bool_]) -> RatedGames:
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
    """Fit an axis to games with ratings; of more than `most` games so many are drawn. Refused where they cannot do.

    `progress` is told how many moves are read, and of how many.
    """
    known = model or human()
    some = _drawn(games, most, np.random.default_rng(seed))
    census = pool_census(some)
    if census.reasons:
        raise InputError(f"these games cannot carry an axis: {'; '.join(census.reasons)}", hint=_HINT)
    told = None if progress is None else partial(_told, progress, len(some.moves))
    rated = rated_evidence(some, known, progress=told)
    one_game, one_year, effects = fitted_and_checked(rated, elo_axis().effort("instant").effects)
    axis = _axis(name, census, rated, effects, {"one_game": one_game, "one_year": one_year}, known)
    per_year = len(rated.person) / len(np.unique(rated.person))
    return PoolCalibration(
        name, census, some.tally, axis=axis, one_game=one_game, one_year=one_year, games_a_year=per_year
    )


def fitted_and_checked(
    rated: RatedGames, start: Mapping[str, Effects], *, folds: int = FOLDS
) -> tuple[PoolAccuracy, PoolAccuracy, dict[str, Effects]]:
    """Return the accuracy on held-out players with one game and with a year's, and the effects fitted to all."""
    fold = np.random.default_rng(0).permutation(int(rated.player.max()) + 1)[rated.player] % folds
    single: list[tuple[Array, Array, Array]] = []
    yearly: list[tuple[Array, Array, Array]] = []
    for number in range(folds):
        rest, own = rated.of(fold != number), rated.of(fold == number)
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


def _told(progress: Callable[[int, int, str], None], total: int, done: int) -> None:
    progress(done, total, "human model")


def _pooled_accuracy(folds: Sequence[tuple[Array, Array, Array]]) -> PoolAccuracy:
    logs, elo, guess = (np.concatenate(column) for column in zip(*folds, strict=True))
    return posterior_accuracy(logs, elo, guess)


def rated_evidence(games: Games, model: Human, *, progress: Callable[[int], None] | None = None) -> RatedGames:
    """Return what the human model says of every rated side of the games."""
    sides = _rated_sides(games)
    black = games.movers.astype(bool)
    of_move = [sides[game][side] for game, side in zip(games.game_of_move.tolist(), black.tolist(), strict=True)]
    wanted = np.array([one is not None for one in of_move], dtype=bool)
    moves = played_moves(games, wanted=wanted, model=model, progress=progress)
    labels = [one[:2] for one in of_move if one is not None]
    ratings = {(one[:2], game): one[2] for game, pair in enumerate(sides) for one in pair if one}
    return _rated(game_curves(moves, labels, opening_moves=elo_axis().opening_moves), ratings)


def _rated(curves: GameCurves, ratings: Mapping[tuple[Any, int], float]) -> RatedGames:
    keys = np.stack([curves.group, curves.game], axis=1)
    pairs, of = np.unique(keys, axis=0, return_inverse=True)
    row, coarse = of.reshape(-1), curves.curves[:, ::_EVERY]
    own = {name: curves.source == place for place, name in enumerate(SOURCES) if (curves.source == place).any()}
    elo = np.array([ratings[curves.groups[group], game] for group, game in pairs.tolist()])
    names = {name: at for at, name in enumerate(dict.fromkeys(label[0] for label in curves.groups))}
    player = np.array([names[label[0]] for label in curves.groups])[pairs[:, 0]]
    evidence = PoolEvidence(elo, {n: coarse[o] for n, o in own.items()}, {n: row[o] for n, o in own.items()})
    return RatedGames(evidence, player, pairs[:, 0])


_Side = tuple[str, int | None, float] | None
_HINT = "more games with WhiteElo and BlackElo in their headers; --check only counts"


def _rated_sides(games: Games) -> list[tuple[_Side, _Side]]:
    """Return player, year and rating of both sides of each game; None where name or rating is missing."""
    headers = games.headers
    years = headers["year"].to_pylist()

    def side(colour: str) -> list[_Side]:
        columns = (headers[colour].to_pylist(), years, headers[f"{colour}_elo"].to_pylist())
        known = zip(*columns, strict=True)
        return [
            (name, year, float(elo)) if name and elo and ELO[0] <= elo <= ELO[-1] else None for name, year, elo in known
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


def _refuse_what_says_nothing(people: PoolEvidence, prior: Any, found: PoolAccuracy) -> None:
    alone = np.tile(np.asarray(prior.log_density(POOL_ELO)), (len(people), 1))
    gain = found.score - float(log_scores(alone, people.elo).mean())
    if gain <= 0:
        raise InputError(
            f"these games cannot carry an axis: ratings of held-out players are foretold no better than by their mean "
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
    rounded = {source: replace(one, **_rounded(one)) for source, one in effects.items()}
    about = {
        key: {k: None if v is None else round(v, 3) for k, v in asdict(one).items()} for key, one in measured.items()
    }
    effort = Effort("instant", rounded, measured=about, beside=elo_axis().effort("instant").beside)
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


def _rounded(effects: Effects) -> dict[str, float]:
    return {name: round(value, 4) for name, value in vars(effects).items()}
