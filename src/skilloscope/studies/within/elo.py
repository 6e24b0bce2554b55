"""Elo inside games: one point per game of a player and his opponent, and both players move by move in one game.

In: judged games. Out: `EloWithinGames`, the chart of [DFH13 VII.B] on the Elo axis, and `RunningElo`, the posterior of
each side after every move. One game says little: every point begins with the prior of the axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.engine.lines import moves_uci
from skilloscope.chess.facts import sans
from skilloscope.core.errors import InputError, Tally
from skilloscope.inference import Posterior
from skilloscope.ratings.elo_axis.axis import elo_posterior
from skilloscope.ratings.elo_axis.effects import ELO, combined
from skilloscope.sources.people import AxisEvidence, GroupEvidence, axis_evidence
from skilloscope.studies.rate.elo import axis_fields
from skilloscope.studies.rate.front import JudgedGames
from skilloscope.studies.rate.games import analysis_faults, axis_warnings, prior_fields
from skilloscope.studies.rate.parts import merge_evidence
from skilloscope.studies.within.within import ONE_SIDED, SCHEMA

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ApparentElo:
    """The Elo that the moves of one side look like, and how many they are."""

    posterior: Posterior
    moves: int
    header_elo: float | None
    extrapolated: bool

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return the Elo with its interval, as every report sends it."""
        return {
            **self.posterior.elo_fields(mass),
            "elo_sd": self.posterior.sd,
            "extrapolated": self.extrapolated,
            "header_elo": self.header_elo,
            "decisions": self.moves,
        }


@dataclass(frozen=True, eq=False)
class EloPoint:
    """One game of the chart: both sides, and how it ended."""

    game: str
    date: str | None
    opponent: str
    marked: bool
    score: float | None
    """The player's score: 1, 0.5 or 0; None where the result is unknown."""
    own: ApparentElo
    other: ApparentElo


@dataclass(frozen=True, eq=False)
class EloWithinGames:
    """The games of one player as points on the Elo axis, and what all together say of both sides."""

    player: str
    mark: str | None
    games: Sequence[EloPoint]
    overall: ApparentElo
    opponents: ApparentElo
    """The opponents of these games, taken as of one strength."""
    found: JudgedGames
    tally: Tally
    warnings: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """Return what `within --json` sends."""
        asked, mass = self.found.asked, self.found.asked.mass
        judged = self.found.judged
        return {
            "schema": SCHEMA,
            "player": self.player,
            "mark": self.mark,
            "method": asked.method,
            **axis_fields(asked.axis, asked.effort.name),
            "prior": prior_fields(asked.axis, asked.prior),
            "engine": {} if judged is None else dict(judged.decisions.about.get("settings", {})),
            "mass": mass,
            "overall": self.overall.as_dict(mass),
            "opponents": self.opponents.as_dict(mass),
            "games": [_point(point, mass) for point in self.games],
            "warnings": list(self.warnings),
            "skipped": self.tally.as_dict(),
        }


def elo_within(found: JudgedGames, player: str, mark: str | None = None) -> EloWithinGames:
    """Return the chart of a player's games; a game in which one side has no move that counts is left out."""
    evidence = _evidence(found, "game")
    tally = found.games.tally + evidence.tally
    if found.judged is not None and found.judged.analyses is not None:
        tally = tally + analysis_faults(found.judged.analyses.tally)
    of_game: dict[str, dict[str, GroupEvidence]] = {}
    for (name, game), group in evidence.groups[found.asked.kinds[0]].items():
        of_game.setdefault(game, {})[name] = group
    points, overall, opponents = [], GroupEvidence(), GroupEvidence()
    for header in found.games.headers.to_pylist():
        sides = of_game.get(header["game"], {})
        others = [name for name in sides if name != player]
        if player not in sides or len(others) != 1:
            tally.count(ONE_SIDED)
            continue
        merge_evidence(overall, sides[player])
        merge_evidence(opponents, sides[others[0]])
        points.append(
            EloPoint(
                header["game"],
                header["date"],
                others[0],
                marked=others[0] == mark,
                score=_score(header, player),
                own=apparent(found, sides[player]),
                other=apparent(found, sides[others[0]]),
            )
        )
    _check(points, player, mark, tally)
    warnings = [*found.told, *axis_warnings(found.games, found.judged, found.asked, evidence, found.sample)]
    together = apparent(found, overall), apparent(found, opponents)
    return EloWithinGames(player, mark, points, *together, found=found, tally=tally, warnings=warnings)


def apparent(found: JudgedGames, group: GroupEvidence) -> ApparentElo:
    """Return the Elo of some moves of one person, or of several as if they were of one strength."""
    asked = found.asked
    prior = asked.axis.prior(asked.prior, header_elo=group.header_elo)
    posterior = elo_posterior(group.curve(asked.effort.effects), prior)
    moves = sum(n for source, n in group.moves.items() if source != "evaluated")
    return ApparentElo(posterior, moves, group.header_elo, asked.axis.extrapolates(posterior.mean))


@dataclass(frozen=True, eq=False)
class RunningElo:
    """One game move by move: the posterior of the mover's Elo after every move that was a choice."""

    game: str
    rows: Sequence[Mapping[str, Any]]
    mass: float
    prior: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the running Elo as every report sends it."""
        return {"game": self.game, "mass": self.mass, "prior": dict(self.prior), "moves": list(self.rows)}


def follow_elo(found: JudgedGames, game: str) -> RunningElo:
    """Return both players' Elo after every move of one game, by its id."""
    names = found.games.headers["game"].to_pylist()
    if game not in names:
        raise InputError(f"no game {game!r}", hint=f"the games: {'; '.join(names[:10])}")
    row = names.index(game)
    one = JudgedGames(found.games.select(np.array([row])), found.judged, found.asked)
    evidence = _evidence(one, "ply", rows=np.array([row]))
    groups = sorted(evidence.groups[found.asked.kinds[0]].items(), key=lambda item: item[0][1])
    written = sans(one.games.headers["start_fen"][0].as_py(), moves_uci(one.games.moves).to_pylist())
    seen: dict[str, _Side] = {}
    rows = [_step(found, seen, name, ply, group, written[ply]) for (name, ply), group in groups]
    return RunningElo(game, rows, found.asked.mass, prior_fields(found.asked.axis, found.asked.prior))


@dataclass
class _Side:
    """What one side's moves so far say, by source, before anything is blurred."""

    sources: dict[str, Array]
    posterior: Posterior
    moves: int = 0


def _step(
    found: JudgedGames, seen: dict[str, _Side], name: str, ply: int, group: GroupEvidence, written: str
) -> dict[str, Any]:
    asked = found.asked
    prior = asked.axis.prior(asked.prior, header_elo=group.header_elo)
    side = seen.setdefault(name, _Side({}, elo_posterior(np.zeros_like(ELO), prior)))
    own = {source: rows[0] for source, rows in group.people[name].items()}
    said = np.asarray(sum(curve for source, curve in own.items() if source != "evaluated"))
    probability = _expected(side.posterior, said)
    for source, curve in own.items():
        side.sources[source] = side.sources.get(source, 0.0) + curve
    side.moves += 1
    curve = combined({source: total[None, :] for source, total in side.sources.items()}, asked.effort.effects)
    side.posterior = elo_posterior(curve, prior)
    return {
        "player": name,
        "ply": ply,
        "move": written,
        "probability": probability,
        "decisions": side.moves,
        **side.posterior.elo_fields(asked.mass),
        "elo_sd": side.posterior.sd,
    }


def _expected(posterior: Posterior, curve: Array) -> float:
    """∫ p(a|E) p(E|before) dE: what the move was given before it was made."""
    weight = posterior.density / posterior.density.sum()
    return float(weight @ np.exp(np.interp(posterior.at, ELO, curve)))


def _evidence(found: JudgedGames, by: str, rows: npt.NDArray[np.int64] | None = None) -> AxisEvidence:
    asked, analyses = found.asked, None if found.judged is None else found.judged.analyses
    if analyses is not None and rows is not None:
        analyses = analyses.of_games(rows)
    return axis_evidence(
        found.games, analyses, asked.effort, by=("player", by), opening_moves=asked.axis.opening_moves,
        kinds=asked.kinds[:1], workers=asked.workers, progress=asked.progress,
    )  # fmt: skip


def _score(header: Mapping[str, Any], player: str) -> float | None:
    white = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}.get(header["result"] or "")
    return white if white is None or header["white"] == player else 1.0 - white


def _point(point: EloPoint, mass: float) -> dict[str, Any]:
    told = {name: getattr(point, name) for name in ("game", "date", "opponent", "marked", "score")}
    return {**told, "own": point.own.as_dict(mass), "other": point.other.as_dict(mass)}


def _check(points: Sequence[EloPoint], player: str, mark: str | None, tally: Tally) -> None:
    if not points:
        raise InputError(f"no game of {player!r} with moves of both sides that count; skipped: {tally}")
    if mark is not None and not any(point.marked for point in points):
        known = "; ".join(dict.fromkeys(point.opponent for point in points))
        raise InputError(f"no game against {mark!r} to mark", hint=f"the opponents: {known}")
