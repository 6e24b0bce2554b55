"""A job of games: the quick answer by what people play, then the engine's, which sharpens it part by part.

In: the uploaded texts. Out, as reports of the job: `ratings` (what `rate --json` sends), `games` (the heads of all
games), `game/N`, `players` (names by number, with their posteriors), `player/N` (the decisions that stand out) and
`parts/N` (Elo by phase, colour, opening and so on, as `report --player` has it).

What people play is asked once for a job and kept beside it while it is worked on: ratings, games and parts read it.

A player's number is the place at which the name first occurs in the games: it stays while ratings move.
"""

from __future__ import annotations

import contextlib
import heapq
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyse import Progress
from skilloscope.chess.human.kept import KeptHuman
from skilloscope.chess.human.model import Human, human
from skilloscope.chess.human.network import Network
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
from skilloscope.studies.report.player import parts_of_play
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
    with _people(task) as model:
        asked = AxisRating.of(
            None,
            "human",
            _without_engine(games),
            model=model,
            progress=lambda done, total: task.tell("instant", done, 2 * total),
        )
        pages = _Pages(task, games, asked)
        pages.keep_ratings(None)
        pages.keep_games(range(len(games)), "instant")
        pages.keep_parts()
    effort = str(task.job.options.get("effort", "instant"))
    if effort != "instant":
        task.go_on_in("engine")


def rate_job_by_engine(task: JobTask) -> None:
    """Let the engine search the games, a fair share first, and put what it says into the ratings part by part."""
    games = _read(task)
    wanted = str(task.job.options["effort"])
    if not engine_found(None):
        raise InputError("there is no engine on the server: the ratings stand on what people play", hint="")
    with _people(task) as model:
        asked = AxisRating.of(None, "joint", wanted, model=model)
        pages, order, done = _Pages(task, games, asked), fair_order(games, 1), 0
        for share in SHARES:
            count = max(1, math.ceil(share * len(games)))
            if count == done:
                continue
            rows = np.sort(order[:count])
            pages.keep_ratings(judge_games(games, _work(task, asked, done, count, len(games)), rows=rows))
            pages.keep_games(order[done:count].tolist(), wanted)
            done = count
        # The first parts were compared with strengths that have moved since.
        pages.keep_games(range(len(games)), wanted)
        pages.keep_parts()


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


class _Pages:
    """What a job keeps: written anew whenever its ratings are."""

    def __init__(self, task: JobTask, games: Games, asked: AxisRating) -> None:
        self._task, self._games, self._asked = task, games, asked
        self._numbers = numbered_players(games)
        self._judged: Judged | None = None
        self._ratings: EloRatings | None = None

    def keep_ratings(self, judged: Judged | None) -> None:
        """Rate everybody by what the engine has said so far, and keep that."""
        ratings = rate_on_axis(self._games, judged, self._asked)
        self._judged, self._ratings = judged, ratings
        report = {**ratings.as_dict(), **({"positions": judged.as_dict()} if judged else {})}
        for row in [*report["players"], *report["unrated"]]:
            row["number"] = self._numbers[row["player"]]
        known = {one.player: one.elo for one in ratings.players}
        names = {
            str(number): {"player": name, "posterior": _kept_posterior(known[name]) if name in known else None}
            for name, number in self._numbers.items()
        }
        self._task.keep({"ratings": report, "players": names})

    def keep_games(self, rows: Iterable[int], stage: str) -> None:
        """Keep the pages of some games, and where these are all, what stands out among everybody's decisions."""
        assert self._ratings is not None
        wanted, total, scale = list(rows), len(self._games), self._ratings.scale
        levels = {one.player: one.elo.mean for one in self._ratings.players}
        analyses = None if self._judged is None else self._judged.analyses
        records = game_records(
            self._games, analyses, scale, scale.effort(self._ratings.effort), levels,
            rows=wanted, model=self._asked.model, progress=self._told(stage, total, len(wanted)),
        )  # fmt: skip
        heads = self._task.report("games") or {}
        bodies: dict[str, Any] = {}
        standing: dict[str, _StandingOut] = {}
        for record in records:
            record.head["numbers"] = [self._numbers.get(record.head[side]) for side in ("white", "black")]
            heads[str(record.number)] = record.head
            bodies[f"game/{record.number}"] = record.as_dict()
            for move in record.moves:
                name = record.head[move["side"]]
                if name and move["free"] and (move["judge"] != "people" or move["number"] > scale.opening_moves):
                    standing.setdefault(name, _StandingOut()).add(record, move)
            if len(bodies) >= _AT_ONCE:
                self._task.keep({**bodies, "games": heads})
                bodies = {}
        reports = {f"player/{self._numbers[name]}": found.as_dict() for name, found in standing.items()}
        self._task.keep({**bodies, "games": heads, **(reports if len(wanted) == total else {})})

    def keep_parts(self) -> None:
        """Keep everybody's Elo by part of the play, as the report of a player has it."""
        found = parts_of_play(self._games, self._judged, self._asked)
        self._task.keep({f"parts/{self._numbers[player]}": _kept_parts(parts) for player, parts in found.items()})

    def _told(self, stage: str, total: int, wanted: int) -> Callable[[int, int], None]:
        def tell(done: int, _: int) -> None:
            if stage == "instant":
                self._task.tell(stage, total + done, 2 * total, "moves")
            else:
                self._task.tell(stage, note=f"{done:,} of {wanted:,} games told anew")

        return tell


@contextlib.contextmanager
def _people(task: JobTask) -> Iterator[Human]:
    """Give the human model with a memory for this job; it ends the work where somebody has cancelled the job."""
    with task.folder() as folder:
        yield KeptHuman(_HeardNetwork(human().network, task.look), folder / "human.sqlite")


class _HeardNetwork(Network):
    """A network that lets somebody speak before every batch of positions."""

    def __init__(self, network: Network, heard: Callable[[], None]) -> None:
        super().__init__(network.weights, network.card)
        self._network, self._heard = network, heard

    def maps(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        self._heard()
        return self._network.maps(planes)


def _kept_parts(parts: Mapping[str, EloRatings]) -> dict[str, Any]:
    """Return the parts as reports send them, without what the ratings of the job say already."""
    return {
        name: {"by": part.by, "mass": part.mass, "players": [one.as_dict() for one in part.players]}
        for name, part in parts.items()
    }


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
