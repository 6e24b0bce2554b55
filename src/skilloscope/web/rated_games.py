"""A job of games: the quick answer by what people play, then the engine's, which sharpens it part by part.

In: the uploaded texts. Out, as reports of the job, the JSON of the studies that the command line shows: `ratings` (that
of `rate`), `event` (of `report`), `game/N` (of `game`) and `player/N` (of `report --player`); and `players`, the names
by number with their posteriors.

The human model is asked once for a job, and its answers are kept while the job is worked on: all studies read them.

A player's number is the place at which the name first occurs in the games: it stays while ratings move.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyse import Progress
from skilloscope.chess.analysis.evaluations import share_with_comments
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import CachedHuman, Human, Network, shipped_network
from skilloscope.chess.pgn.facts import FIDE, split_pools
from skilloscope.chess.pgn.games import Games, distinct_games, read_games
from skilloscope.core.errors import InputError
from skilloscope.core.paths import effective_settings, store_file
from skilloscope.evidence import Posterior, Prior
from skilloscope.evidence.axis import EVALUATIONS
from skilloscope.inputs.budget import fair_order
from skilloscope.inputs.costs import MoveCosts
from skilloscope.inputs.deep import CANDIDATES, position_values
from skilloscope.inputs.gains import Gained
from skilloscope.inputs.load import EngineJob, analyse_games, players
from skilloscope.inputs.pipeline import (
    AnalysedGames,
    effort_settings,
    elo_evidence,
    engine_found,
    pools_told,
    with_priors,
)
from skilloscope.inputs.request import RatingRequest
from skilloscope.report.study import Study
from skilloscope.studies.by_game import game_priors
from skilloscope.studies.elo_ratings import EloRatings, rate_on_axis
from skilloscope.studies.game import CHECKED, GameStudy, game_people, game_study
from skilloscope.studies.report.event import event_of
from skilloscope.studies.report.player import PlayerReport, costs_of, player_of
from skilloscope.web.jobs import JobTask, Json
from skilloscope.web.library.kept_games import person_of
from skilloscope.web.library.work import LibraryWork
from skilloscope.web.uploads import PASTED, NamedBytes, pasted_games

SHARES = (0.1, 0.3, 0.6, 1.0)  # after which shares of the games the engine's answers so far are used in the ratings
MOST_GAMES = 3000  # of one job, the newest: beyond, the pages of single games would take hours
MOST_REVIEWED, MOST_PLAYERS = 60, 20
"""Games, and players with most games, whose mistakes are confirmed by a deep search: each takes some seconds."""
MOST_ENGINES = 4
"""Engine processes of a server, on as many cores; fewer by the setting `workers`, by default one per core."""
_AT_ONCE = 64  # reports that are kept in one go


def rate_job_instantly(task: JobTask) -> None:
    """Rate all players by what people play, and by the evaluations in the comments where most moves have one."""
    read = read_uploads(task)
    pools, library = split_pools(read), LibraryWork.of(task, read, _given(task))
    games = pools[0][1]
    total = len(games)
    with _human_models(task) as model_of:
        asked = _by_people(pools[0][0], games)
        others = [
            AnalysedGames(own, None, with_priors(replace(asked.for_pool(pool), model=model_of(pool)), own))
            for pool, own in pools[1:]
        ]
        pool, told = pools[0][0], pools_told(pools)
        if pool != FIDE and task.job.options.get("effort", "instant") != "instant":
            told = [*told, "the engine reviews these games; the ratings are by what people play alone"]
        asked = replace(
            asked.for_pool(pool), model=model_of(pool), progress=lambda done, _: task.tell("instant", done, 2 * total)
        )
        answers = _Answers(task, AnalysedGames(games, None, with_priors(asked, games), told, others=others))
        answers.keep_ratings()
        answers.keep_event()
        answers.keep_games(range(total), lambda done, _: task.tell("instant", total + done, 2 * total, "moves"))
        answers.keep_players(lambda done, of: task.tell("instant", note=f"{done:,} of {of:,} players"))
        if library:
            library.study(partial(_analysed, model_of))
    if task.job.options.get("effort", "instant") != "instant":
        task.go_on_in("engine")


def rate_job_by_engine(task: JobTask) -> None:
    """Let the engine search the games, a fair share first, and use its answers in the ratings part by part."""
    read = read_uploads(task)
    pools, library = split_pools(read), LibraryWork.of(task, read, _given(task))
    (pool, games), told = pools[0], pools_told(pools)
    wanted = str(task.job.options["effort"])
    if not engine_found(None):
        raise InputError("there is no engine on the server: the ratings are by what people play", hint="")
    with _human_models(task) as model_of:
        asked = RatingRequest.of(None, "joint", wanted, model=model_of(pool))
        settings = effort_settings(asked.effort)
        if pool != FIDE:  # the engine judges the games; nothing was fitted that reads its answers as this rating
            asked = replace(asked.for_pool(pool), model=model_of(pool))
        asked = with_priors(asked, games)
        order, done = fair_order(games, 1), 0
        if pool != FIDE:  # the search is for the review alone: games with evaluations do without
            order = order[[share_with_comments(games.select([row])) < 0.5 for row in order.tolist()]]
        found = AnalysedGames(games, None, asked, told)
        for share in SHARES if len(order) else ():
            count = max(1, math.ceil(share * len(order)))
            if count == done:
                continue
            job = _work(task, settings, done, count, len(order))
            found = replace(found, judged=analyse_games(games, job, rows=np.sort(order[:count])))
            if pool == FIDE:
                _Answers(task, found).keep_ratings()
            done = count
        checking = replace(_work(task, settings, 0, 1, 1), progress=lambda now: task.tell(wanted, note=_checking(now)))
        answers = _Answers(task, replace(found, work=checking), library)
        players = partial(answers.keep_players, lambda n, of: task.tell(wanted, note=f"{n:,} of {of:,} players"))
        owner = {person_of(games)}
        players(owner)
        # What is confirmed in the games is in the store when the event and the other players come.
        answers.keep_games(range(len(games)), lambda n, of: task.tell(wanted, note=f"reviewed game {n:,} of {of:,}"))
        answers.keep_event()
        players({one.player for one in answers.ratings.players} - owner)
        if library:
            library.study(partial(_analysed, model_of, work=_work(task, settings, 0, 1, 1), asked=found.asked))


def _by_people(pool: str, games: Games) -> RatingRequest:
    """Return the rating by what people play, with the evaluations where most moves have one or the pool reads them."""
    known = np.isfinite(games.eval_values()).mean() if len(games.moves) else 0.0
    return RatingRequest.of(None, "human", EVALUATIONS if known >= 0.5 or pool != FIDE else "instant")


def _analysed(
    model_of: Callable[[str], Human],
    pool: str,
    games: Games,
    *,
    work: EngineJob | None = None,
    asked: RatingRequest | None = None,
) -> AnalysedGames:
    """Return games of one pool as a job of their own would have them analysed."""
    if work and asked and pool == FIDE:
        asked = replace(asked, model=model_of(pool), priors=None)
        return AnalysedGames(games, analyse_games(games, work), with_priors(asked, games), work=work)
    people = replace(_by_people(pool, games).for_pool(pool), model=model_of(pool))
    return AnalysedGames(games, None, with_priors(people, games))


def _checking(now: Progress) -> str:
    return f"checking mistakes: {now.done:,} of {now.total:,} positions"


def numbered_players(games: Games) -> dict[str, int]:
    """Return the number of each player: the place of the first occurrence, counted from 1."""
    white, black = (games.headers[side].to_pylist() for side in ("white", "black"))
    names = (name for pair in zip(white, black, strict=True) for name in pair if name)
    return {name: at + 1 for at, name in enumerate(dict.fromkeys(names))}


def _given(task: JobTask) -> list[tuple[str, bytes]]:
    return [(name, pasted_games(body) if name == f"{PASTED}.pgn" else body) for name, body in task.inputs()]


def read_uploads(task: JobTask) -> Games:
    """Return the games that were uploaded, each once; of too many the newest."""
    games = read_games([NamedBytes(name, body) for name, body in _given(task)])
    games.refuse_empty()
    if not players(games):
        raise InputError("no game names its players", hint="PGN names them in its tags White and Black")
    games = distinct_games(games)
    if len(games) > MOST_GAMES:
        dates = np.array([date or "" for date in games.headers["date"].to_pylist()])
        newest = np.sort(np.argsort(dates, kind="stable")[-MOST_GAMES:])
        games = games.select(newest, reason=f"older than the newest {MOST_GAMES:,} games, which a job takes")
    return games


def _work(task: JobTask, settings: Settings, before: int, count: int, total: int) -> EngineJob:
    def tell(now: Progress) -> None:
        share = now.done / now.total if now.total else 1.0
        games = before + share * (count - before)
        task.tell(
            str(task.job.options["effort"]), round(100 * games), 100 * total, f"{now.done:,} of {now.total:,} positions"
        )

    return EngineJob(
        settings=settings,
        store=store_file(task.store),
        engine=effective_settings()["engine"].value,
        workers=min(effective_settings()["workers"].value, MOST_ENGINES),
        progress=tell,
    )


@dataclass(eq=False)
class _Answers:
    """The studies of a job's games as far as they are analysed; each part is kept as soon as it is known."""

    task: JobTask
    found: AnalysedGames
    library: LibraryWork | None = None

    @cached_property
    def ratings(self) -> EloRatings:
        return rate_on_axis(self.found)

    @cached_property
    def quiet(self) -> AnalysedGames:
        return replace(self.found, asked=replace(self.found.asked, progress=None))

    @cached_property
    def levels(self) -> dict[str, float]:
        return {one.player: one.elo.mean for one in self.ratings.players}

    @cached_property
    def costs(self) -> MoveCosts:
        return costs_of(self.quiet, self.levels)

    @cached_property
    def gained(self) -> Gained:
        """The value of every position: that of a comment, and where there is none the engine's."""
        judged, values = self.found.judged, position_values(self.found)
        return Gained(values, values.losses(), analyses=None if judged is None else judged.analyses)

    @cached_property
    def game_priors(self) -> dict[tuple[str, str], Prior]:
        return game_priors(self.quiet, elo_evidence(self.quiet, ("player", "game")).main.groups())

    @cached_property
    def numbers(self) -> dict[str, int]:
        return numbered_players(self.found.games)

    def keep_ratings(self) -> None:
        """Keep everybody's rating and posterior."""
        judged, report = self.found.judged, self.ratings.as_dict()
        for row in [*report["players"], *report["unrated"]]:
            row["number"] = self.numbers[row["player"]]
        known = {one.player: one.elo for one in self.ratings.players}
        names = {
            str(number): {"player": name, "posterior": _kept_posterior(known[name]) if name in known else None}
            for name, number in self.numbers.items()
        }
        searched = {"positions": judged.as_dict()} if judged else {}
        exact = {
            f"posterior/{self.numbers[name]}": {"ends": elo.at[[0, -1]].tolist(), "density": elo.density.tolist()}
            for name, elo in known.items()
        }
        self.task.keep({"ratings": {**report, **searched}, "players": names, **exact})

    def keep_event(self) -> None:
        """Keep the event; its ratings are kept already."""
        report = event_of(self.quiet, self.ratings, self.costs).as_dict()
        self.task.keep({"event": {name: part for name, part in report.items() if name != "ratings"}})

    def keep_games(self, rows: Sequence[int], tell: Callable[[int, int], None]) -> None:
        """Keep some games, by row."""
        self._keep_each({f"game/{row + 1}": partial(self._game, row) for row in sorted(rows)}, tell)

    def _game(self, row: int) -> GameStudy:
        asked, gained, label = self.found.asked, self.gained, self.found.games.headers["game"][row].as_py()
        own = None if gained.analyses is None else gained.analyses.of_games(np.array([row]))
        people = game_people(
            gained.games,
            row,
            model=asked.model,
            analyses=own,
            evaluations=gained.evaluations.of_games(np.array([row])),
            levels=self.levels,
            priors={name: prior for (name, game), prior in self.game_priors.items() if game == label},
            axis=asked.axis,
            effort=asked.effort,
            work=self.found.work,
            most=CHECKED if row < MOST_REVIEWED else 0,
        )
        study = game_study(gained, row, people=people)
        if self.library and self.found.work and row < MOST_REVIEWED:
            self.library.review(row + 1, study)
        return study

    def keep_players(self, tell: Callable[[int, int], None], only: Set[str | None] | None = None) -> None:
        """Keep the report of every rated player, or of some, those with most games first."""
        names = [one.player for one in sorted(self.ratings.players, key=lambda one: -one.games)]
        studies = {
            f"player/{self.numbers[name]}": partial(self._player, name, CANDIDATES if at < MOST_PLAYERS else 0)
            for at, name in enumerate(names)
            if only is None or name in only
        }
        self._keep_each(studies, tell)

    def _player(self, name: str, most: int) -> PlayerReport:
        headers, costs = self.found.games.headers, self.costs
        white, black = ([one == name for one in headers[side].to_pylist()] for side in ("white", "black"))
        own = costs.select(np.where(costs.black, np.array(black)[costs.game], np.array(white)[costs.game]))
        return player_of(self.quiet, name, self.ratings, own, most)

    def _keep_each(self, studies: Mapping[str, Callable[[], Study]], tell: Callable[[int, int], None]) -> None:
        kept: Json = {}
        for done, (name, study) in enumerate(studies.items(), start=1):
            kept[name] = study().as_dict()
            tell(done, len(studies))
            if len(kept) >= _AT_ONCE or done == len(studies) or self.found.work:  # what takes long is shown at once
                self.task.keep(kept)
                kept = {}


@contextlib.contextmanager
def _human_models(task: JobTask) -> Iterator[Callable[[str], Human]]:
    """Give the human model of any pool, cached for this job; it ends the work when the job is cancelled."""
    with task.folder() as folder:
        yield lambda pool: CachedHuman(
            _CancellableNetwork(shipped_network(pool), task.look), folder / "human.sqlite", pool
        )


class _CancellableNetwork(Network):
    """A network that checks before every batch of positions whether the work is still wanted."""

    def __init__(self, network: Network, check: Callable[[], None]) -> None:
        super().__init__(network.weights, network.card)
        self._network, self._check = network, check

    def maps(
        self, planes: npt.NDArray[np.float32], pool: str = FIDE
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        self._check()
        return self._network.maps(planes, pool)


def _kept_posterior(found: Posterior) -> Json:
    """Return a posterior as charts draw it, in a few hundred numbers; comparisons need it as it is."""
    at = np.linspace(found.at[0], found.at[-1], 129)
    return {
        "at": np.round(at, 2).tolist(),
        "density": [float(f"{value:.5g}") for value in np.interp(at, found.at, found.density)],
        "prior": found.prior,
        "low": found.low,
        "high": found.high,
    }
