"""Competence inside games: one point per game of a player, and both players move by move in one game.

In: decisions with a `game` column. Out: `WithinGames`, the chart of [DFH13 VII.B], and `RunningCompetence`, the
posterior of each decider after every decision. The chart shows how well somebody chose in each game; why is beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.integrate import simpson

from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.inference import Evidence, EvidenceTable, Posterior, Prior, Uniform, evidence
from skilloscope.models.agent import Agent
from skilloscope.sources.judge import found_name

SCHEMA = 1
ONE_SIDED = "game without usable decisions of both sides"
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Apparent:
    """The apparent competence of one side: the posterior of c and how many decisions it stands on."""

    posterior: Posterior
    decisions: int

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return c with sd and interval, as every report sends them."""
        return {**self.posterior.c_fields(mass), "decisions": self.decisions}


@dataclass(frozen=True, eq=False)
class GamePoint:
    """One game of the chart: how well the player chose, how well the opponent did, and how it ended."""

    game: str
    date: str | None
    opponent: str
    marked: bool
    score: float | None
    """The player's score: 1, 0.5 or 0; None where the result is unknown."""
    own: Apparent
    other: Apparent


@dataclass(frozen=True, eq=False)
class WithinGames:
    """The within-game chart of one player: a point per game, and what all games together say of both sides."""

    player: str
    mark: str | None
    games: Sequence[GamePoint]
    overall: Apparent
    """The player in all these games."""
    opponents: Apparent
    """The opponents of these games, taken as one."""
    prior: str
    mass: float
    about: Mapping[str, Any]
    tally: Tally

    def as_dict(self) -> dict[str, Any]:
        """Return what `within --json` sends."""
        games = [
            {
                "game": point.game,
                "date": point.date,
                "opponent": point.opponent,
                "marked": point.marked,
                "score": point.score,
                "own": point.own.as_dict(self.mass),
                "other": point.other.as_dict(self.mass),
            }
            for point in self.games
        ]
        return {
            "schema": SCHEMA,
            "player": self.player,
            "mark": self.mark,
            "model": dict(self.about),
            "prior": self.prior,
            "mass": self.mass,
            "overall": self.overall.as_dict(self.mass),
            "opponents": self.opponents.as_dict(self.mass),
            "games": games,
            "skipped": self.tally.as_dict(),
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.within.figures import within_games_figures

        return within_games_figures(self)


def within_games(
    decisions: Decisions,
    player: str,
    model: Agent | None = None,
    *,
    mark: str | None = None,
    prior: Prior | None = None,
    mass: float = 0.95,
) -> WithinGames:
    """Return the chart of a player's games: own c̄ against the opponent's c̄, one point per game. [DFH13 VII.B]

    A game in which one side has no usable decision has no point, and is counted. Games come in their given order.
    """
    batch = _games_of(decisions, player)
    prior = prior or Uniform(0.0, 4.0)
    table = evidence(batch, model, by=["game", "decider"], span=(prior.low, prior.high))
    sums = [Evidence.zero(table.grid), Evidence.zero(table.grid)]
    points, tally = [], table.tally + Tally()
    for game, (own, other, facts) in _sides(batch, table, player).items():
        if not (own.decisions and other.decisions):
            tally.count(ONE_SIDED)
            continue
        sums = [sums[0] + own, sums[1] + other]
        sides = [Apparent(side.posterior(prior), side.decisions) for side in (own, other)]
        points.append(GamePoint(game, facts[0], facts[1], facts[1] == mark, facts[2], *sides))
    if not points:
        raise InputError(f"no game of {player!r} with usable decisions of both sides; skipped: {tally}")
    if mark is not None and not any(point.marked for point in points):
        known = "; ".join(dict.fromkeys(point.opponent for point in points))
        raise InputError(f"no game against {mark!r} to mark", hint=f"the opponents: {known}")
    overall, opponents = (Apparent(side.posterior(prior), side.decisions) for side in sums)
    return WithinGames(
        player=player,
        mark=mark,
        games=points,
        overall=overall,
        opponents=opponents,
        prior=str(prior),
        mass=mass,
        about=table.about,
        tally=tally,
    )


def _games_of(decisions: Decisions, player: str) -> Decisions:
    """Return the decisions of both sides in the player's games."""
    found_name(player, decisions.names())
    games = np.array([str(game) for game in decisions.column("game").to_pylist()])
    own = decisions.decider == decisions.deciders.index(player)
    return decisions.select(np.isin(games, games[own])).at_depths()


def _sides(
    batch: Decisions, table: EvidenceTable, player: str
) -> dict[str, tuple[Evidence, Evidence, tuple[str | None, str, float | None]]]:
    """Return for each game the evidence of both sides, and date, opponent and the player's score."""
    found: dict[str, tuple[Evidence, Evidence, tuple[str | None, str, float | None]]] = {}
    nothing = Evidence.zero(table.grid)
    for game, part in batch.group_by("game").items():
        others = [name for name in part.names() if name != player]
        own = part.select(part.decider == part.deciders.index(player))
        named = [name for name in _column(own, "opponent") if name is not None]
        opponent = named[0] if named else " and ".join(others)
        other = sum((table[game, name] for name in others), nothing)
        score = next((float(result) for result in _column(own, "result") if result is not None), None)
        date = next((str(date) for date in _column(own, "date") if date is not None), None)
        found[str(game)] = table[game, player], other, (date, opponent, score)
    return found


@dataclass(frozen=True, eq=False)
class RunningCompetence:
    """The decisions of one game in their order, and each decider's posterior of c after every one of them.

    All columns have one entry per decision. `probability` is what the choice was given before it was made: the agent's
    probability of it, averaged over the decider's posterior so far. It is NaN where the rule cannot use the decision
    (an unlisted choice under `listed`); the posterior then stays as it was.
    """

    game: str
    deciders: tuple[str, ...]
    decider: npt.NDArray[np.int32]
    ply: npt.NDArray[np.int64]
    move: Sequence[str | None]
    """In chess the move in standard algebraic notation, else None."""
    loss: Array
    """Best value minus the choice's; NaN where the choice is not listed."""
    place: npt.NDArray[np.int32]
    """The place of the choice in its list, 0 the best; −1 where it is not listed."""
    probability: Array
    decisions: npt.NDArray[np.int64]
    """How many decisions of this decider the posterior stands on."""
    c: Array
    sd: Array
    low: Array
    high: Array
    prior: str
    mass: float
    about: Mapping[str, Any] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def __len__(self) -> int:
        return len(self.ply)

    def rows_of(self, decider: str) -> npt.NDArray[np.int64]:
        """Return the rows of one decider's decisions, in order."""
        return np.flatnonzero(self.decider == self.deciders.index(decider))

    def as_dict(self) -> dict[str, Any]:
        """Return the running competence as every report sends it; what is unknown is null."""
        numbers = ("loss", "probability", "c", "sd", "low", "high")
        moves = [
            {
                "player": self.deciders[self.decider[row]],
                "ply": int(self.ply[row]),
                "move": self.move[row],
                "place": int(self.place[row]) if self.place[row] >= 0 else None,
                "decisions": int(self.decisions[row]),
                **{name: _known(getattr(self, name)[row]) for name in numbers},
            }
            for row in range(len(self))
        ]
        return {
            "game": self.game,
            "model": dict(self.about),
            "prior": self.prior,
            "mass": self.mass,
            "moves": moves,
            "skipped": self.tally.as_dict(),
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.within.figures import running_competence_figures

        return running_competence_figures(self)


def running_competence(
    decisions: Decisions, model: Agent | None = None, *, prior: Prior | None = None, mass: float = 0.95
) -> RunningCompetence:
    """Return both players' (or all deciders') posterior of c after every decision of one game. [DFH13 (4)]

    The decisions are taken in the order of their `ply`, or as they stand where there is none.

    >>> batch = Decisions.from_lists(["Ann", "Bob", "Ann"], [[0.0, -0.1], [0.0, -0.9], [0.0, -0.5]], [0, 0, 1])
    >>> running = running_competence(batch)
    >>> running.decisions.tolist(), running.c.round(2).tolist(), running.probability.round(2).tolist()
    ([1, 1, 2], [2.19, 2.12, 0.74], [0.77, 0.92, 0.08])
    """
    batch = _one_game(decisions)
    prior = prior or Uniform(0.0, 4.0)
    table = _evidence_of_each(batch, model, prior)
    columns = {name: np.full(len(batch), np.nan) for name in ("probability", "c", "sd", "low", "high")}
    seen = np.zeros(len(batch), dtype=np.int64)
    for code in np.unique(batch.decider):
        rows = np.flatnonzero(batch.decider == code)
        _run(table, rows, prior, mass, columns, seen)
    return RunningCompetence(
        game=next((str(game) for game in _column(batch, "game") if game is not None), ""),
        deciders=batch.deciders,
        decider=batch.decider,
        ply=_plies(batch),
        move=_written_moves(batch),
        loss=batch.chosen_loss(),
        place=batch.chosen,
        decisions=seen,
        prior=str(prior),
        mass=mass,
        about=table.about,
        tally=table.tally,
        **columns,
    )


def follow_game(
    decisions: Decisions, game: str, model: Agent | None = None, *, prior: Prior | None = None, mass: float = 0.95
) -> RunningCompetence:
    """Return the running competence of one game among many, by its id."""
    found = {str(label): part for label, part in decisions.group_by("game").items()}
    if game not in found:
        known = "; ".join(list(found)[:10])
        raise InputError(f"no game {game!r} with decisions", hint=f"the games: {known}")
    return running_competence(found[game], model, prior=prior, mass=mass)


def _run(
    table: EvidenceTable,
    rows: npt.NDArray[np.int64],
    prior: Prior,
    mass: float,
    columns: Mapping[str, Array],
    seen: npt.NDArray[np.int64],
) -> None:
    """Fill the columns of one decider's rows: the probability before each choice, the posterior after it."""
    total = Evidence.zero(table.grid)
    posterior = total.posterior(prior)
    for row in rows:
        own = table[int(row)]
        if own.decisions:
            columns["probability"][row] = _expected_likelihood(posterior, own)
            total = total + own
            posterior = total.posterior(prior)
        seen[row] = total.decisions
        columns["c"][row], columns["sd"][row] = posterior.mean, posterior.sd
        columns["low"][row], columns["high"][row] = posterior.interval(mass)


def _expected_likelihood(posterior: Posterior, own: Evidence) -> float:
    """∫ p(a|c) p(c|before) dc: what the choice was given before it was made."""
    return float(simpson(posterior.density * np.exp(own.log_likelihood(posterior.at)), x=posterior.at))


def _one_game(decisions: Decisions) -> Decisions:
    """Return the decisions in the order of their plies; those of several games are refused."""
    if "game" in decisions.context.column_names:
        games, _ = decisions.groups("game")
        if len(games) > 1:
            raise InputError(
                f"decisions of {len(games):,} games, and one is to be followed",
                hint="take one group of decisions.group_by('game')",
            )
    return decisions.select(np.argsort(_plies(decisions), kind="stable")).at_depths()


def _evidence_of_each(batch: Decisions, model: Agent | None, prior: Prior) -> EvidenceTable:
    """Return the evidence of every decision by itself, under its row number."""
    numbered = replace(batch, context=pa.table({"row": np.arange(len(batch))}))
    return evidence(numbered, model, by="row", span=(prior.low, prior.high))


def _plies(batch: Decisions) -> npt.NDArray[np.int64]:
    plies = _column(batch, "ply")
    if any(ply is None for ply in plies):
        return np.arange(len(batch))
    return np.array(plies, dtype=np.int64)


def _written_moves(batch: Decisions) -> list[str | None]:
    """Return each move in standard algebraic notation, None where position or move is unknown."""
    from skilloscope.chess.facts import san

    fens, moves = _column(batch, "fen"), _column(batch, "move")
    return [san(fen, move) if fen and move else None for fen, move in zip(fens, moves, strict=True)]


def _column(batch: Decisions, name: str) -> list[Any]:
    """Return a context column as a list; where there is none every entry is None."""
    return batch.context.column(name).to_pylist() if name in batch.context.column_names else [None] * len(batch)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
