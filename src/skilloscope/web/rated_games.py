"""A job of games: the quick answer by what people play, then the engine's, which sharpens it part by part.

In: the uploaded texts. Out, as reports of the job: `ratings` (what `rate --json` sends), `games` (the heads of all
games), `game/N`, `players` (names by number, with their posteriors) and `player/N` (the decisions that stand out).

A player's number is the place at which the name first occurs in the games: it stays while ratings move.
"""

from __future__ import annotations

import heapq
import io
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.chess.analysis.analyse import Progress
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.configuration import effective_settings, store_file
from skilloscope.core.errors import InputError
from skilloscope.inference import Posterior
from skilloscope.ratings.elo_axis.axis import EVALUATIONS
from skilloscope.sources.judge import Judged, Work, check_games, judge_games, players
from skilloscope.sources.plan import fair_order
from skilloscope.studies.rate.elo import EloRatings
from skilloscope.studies.rate.front import effort_settings, engine_found
from skilloscope.studies.rate.games import AxisRating, rate_on_axis
from skilloscope.web.game_records import JUDGES, GameRecord, game_records
from skilloscope.web.workers import JobTask

SHARES = (0.1, 0.3, 0.6, 1.0)
"""After which shares of the games the engine's answers so far are put into the ratings."""
STANDING_OUT = 10
"""How many decisions of a player are shown: so many that cost most, and so many that were found."""
MOST_GAMES = 3000
"""Of one job: beyond, the pages of single games would take hours."""
_AT_ONCE = 64  # pages of games that are kept in one go


class NamedBytes(io.BytesIO):
    """Bytes that were uploaded under a name."""

    def __init__(self, name: str, body: bytes) -> None:
        super().__init__(body)
        self.name = name


def rate_job_instantly(task: JobTask) -> None:
    """Rate all players by what people play, and by the evaluations in the comments where most moves have one."""
    games = _read(task)
    asked = AxisRating.of(
        None, "human", _without_engine(games), progress=lambda done, total: task.tell("instant", done, 2 * total)
    )
    ratings = rate_on_axis(games, None, asked)
    _keep_ratings(task, games, ratings, None)
    _keep_games(task, games, ratings, None, range(len(games)), "instant")
    effort = str(task.job.options.get("effort", "instant"))
    if effort != "instant":
        task.go_on_in("engine")


def rate_job_by_engine(task: JobTask) -> None:
    """Let the engine search the games, a fair share first, and put what it says into the ratings part by part."""
    games = _read(task)
    wanted = str(task.job.options["effort"])
    asked = AxisRating.of(None, "joint", wanted)
    if not engine_found(None):
        raise InputError("there is no engine on the server: the ratings stand on what people play", hint="")
    order, done = fair_order(games, 1), 0
    for share in SHARES:
        count = max(1, math.ceil(share * len(games)))
        if count == done:
            continue
        rows = np.sort(order[:count])
        judged = judge_games(games, _work(task, asked, done, count, len(games)), rows=rows)
        ratings = rate_on_axis(games, judged, asked)
        _keep_ratings(task, games, ratings, judged)
        _keep_games(task, games, ratings, judged, order[done:count].tolist(), wanted)
        done = count
    # The first parts were compared with strengths that have moved since.
    _keep_games(task, games, ratings, judged, range(len(games)), wanted)


def numbered_players(games: Games) -> dict[str, int]:
    """Return the number of each player: the place of the first occurrence, counted from 1."""
    white, black = (games.headers[side].to_pylist() for side in ("white", "black"))
    names = (name for pair in zip(white, black, strict=True) for name in pair if name)
    return {name: at + 1 for at, name in enumerate(dict.fromkeys(names))}


def _read(task: JobTask) -> Games:
    games = read_games([NamedBytes(name, body) for name, body in task.inputs()])
    check_games(games)
    if not players(games):
        raise InputError("no game names its players", hint="PGN names them in its tags White and Black")
    if len(games) > MOST_GAMES:
        raise InputError(
            f"{len(games):,} games; a job takes {MOST_GAMES:,}",
            hint="cut the file, or use the command line: skilloscope rate games.pgn",
        )
    return games


def _without_engine(games: Games) -> str:
    """Return the effort that asks no engine: with the comments' evaluations where at least half the moves have one."""
    known = np.isfinite(games.eval_values()).mean() if len(games.moves) else 0.0
    return EVALUATIONS if known >= 0.5 else "instant"


def _work(task: JobTask, asked: AxisRating, before: int, count: int, total: int) -> Work:
    found = effective_settings()

    def tell(now: Progress) -> None:
        share = now.done / now.total if now.total else 1.0
        games = before + share * (count - before)
        task.tell(asked.effort.name, round(100 * games), 100 * total, f"{now.done:,} of {now.total:,} positions")

    return Work(
        settings=effort_settings(asked.effort),
        store=store_file(Path(task.store)),
        engine=found["engine"].value,
        workers=1,
        progress=tell,
    )


def _keep_ratings(task: JobTask, games: Games, ratings: EloRatings, judged: Judged | None) -> None:
    numbers = numbered_players(games)
    report = {**ratings.as_dict(), **({"positions": judged.as_dict()} if judged else {})}
    for row in [*report["players"], *report["unrated"]]:
        row["number"] = numbers[row["player"]]
    known = {one.player: one.elo for one in ratings.players}
    names = {
        str(number): {"player": name, "posterior": _kept_posterior(known[name]) if name in known else None}
        for name, number in numbers.items()
    }
    task.keep({"ratings": report, "players": names})


def _kept_posterior(found: Posterior) -> dict[str, Any]:
    """Return a posterior in a few hundred numbers: a mass of a millionth is not seen."""
    at = np.linspace(found.at[0], found.at[-1], 129)
    return {
        "at": np.round(at, 2).tolist(),
        "density": [float(f"{value:.5g}") for value in np.interp(at, found.at, found.density)],
        "prior": found.prior,
        "low": found.low,
        "high": found.high,
    }


def _keep_games(
    task: JobTask, games: Games, ratings: EloRatings, judged: Judged | None, rows: Iterable[int], stage: str
) -> None:
    """Keep the pages of some games, and where these are all, what stands out among everybody's decisions."""
    levels = {one.player: one.elo.mean for one in ratings.players}
    numbers = numbered_players(games)
    analyses = None if judged is None else judged.analyses
    effort = ratings.scale.effort(ratings.effort)
    heads = task.report("games") or {}
    wanted, total = list(rows), len(games)

    def tell(done: int, _: int) -> None:
        if stage == "instant":
            task.tell(stage, total + done, 2 * total, "moves")
        else:
            task.tell(stage, note=f"{done:,} of {len(wanted):,} games told anew")

    bodies: dict[str, Any] = {}
    standing: dict[str, _StandingOut] = {}
    for record in game_records(games, analyses, ratings.scale, effort, levels, rows=wanted, progress=tell):
        record.head["numbers"] = [numbers.get(record.head[side]) for side in ("white", "black")]
        heads[str(record.number)] = record.head
        bodies[f"game/{record.number}"] = record.as_dict()
        for move in record.moves:
            name = record.head[move["side"]]
            if name and move["free"] and (move["judge"] != "people" or move["number"] > ratings.scale.opening_moves):
                standing.setdefault(name, _StandingOut()).add(record, move)
        if len(bodies) >= _AT_ONCE:
            task.keep({**bodies, "games": heads})
            bodies = {}
    reports = {f"player/{numbers[name]}": found.as_dict() for name, found in standing.items()}
    task.keep({**bodies, "games": heads, **(reports if len(wanted) == total else {})})


class _StandingOut:
    """The decisions of one player that cost most and those that were found, by judge; of the others only the count."""

    def __init__(self) -> None:
        self._count = dict.fromkeys(JUDGES, 0)
        self._costly: dict[str, list[dict[str, Any]]] = {judge: [] for judge in JUDGES}
        self._found: dict[str, list[dict[str, Any]]] = {judge: [] for judge in JUDGES}

    def add(self, record: GameRecord, move: Mapping[str, Any]) -> None:
        """Take a decision into account."""
        judge, cost = move["judge"], move["cost"]
        self._count[judge] += 1
        head = {name: record.head[name] for name in ("white", "black", "date", "event")}
        told = {"game": record.number, **head, **{k: v for k, v in move.items() if k != "strength"}}
        best = judge == "engine" and move["better"] is None
        if cost > 0 and not best:
            self._costly[judge] = heapq.nlargest(
                STANDING_OUT, [*self._costly[judge], told], key=lambda one: one["cost"]
            )
        if cost < 0 and (best or judge == "people"):
            self._found[judge] = heapq.nsmallest(STANDING_OUT, [*self._found[judge], told], key=lambda one: one["cost"])

    def as_dict(self) -> dict[str, Any]:
        """Return what the player's page shows, by the best judge that saw enough of the decisions."""
        enough = [judge for judge in JUDGES if self._count[judge] >= STANDING_OUT]
        judge = enough[0] if enough else max(JUDGES, key=lambda one: self._count[one])
        found = [] if judge == "comments" else self._found[judge]
        return {"judge": judge, "decisions": self._count[judge], "costly": self._costly[judge], "found": found}
