"""What a job of games leaves in its visitor's library: the games, confirmed mistakes, and each player's progress.

In: the job's games, each game as it is reviewed, and the engine's work. Out: records of the library (see library.py),
and the report `library` of the job, which says what was new. A job that is begun again leaves the same.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import chess
import numpy as np

from skilloscope.chess.human.played import time_control_of
from skilloscope.chess.pgn.facts import PHASES, SPENT, phase_of, piece_value, split_pools, time_classes
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.columns import Bools
from skilloscope.core.errors import InputError
from skilloscope.inputs.costs import DECIDED, MARKS
from skilloscope.inputs.pipeline import AnalysedGames
from skilloscope.report.study import json_fields
from skilloscope.studies.game import GameStudy
from skilloscope.web.jobs import JobTask
from skilloscope.web.library.kept_games import Kept, keep_games
from skilloscope.web.library.players import Libraries, Library
from skilloscope.web.library.progress import PlayerProgress, habits, progress_of, three_sentences
from skilloscope.web.library.records import KeptGame, Mistake, Player, PlayerStudy, Review, Snapshot, now, side_of
from skilloscope.web.uploads import NamedBytes

PARTS = {"full board": "with most pieces on the board", "middlegame": "in the middlegame", "endgame": "in the endgame"}
TIMES = {name: f"in moves that took {name}" for name in SPENT}
_DIVISIONS = ([PARTS[name] for name in PHASES], list(TIMES.values()))
MOST_STUDIED = 3000  # games of a player that are rated together, the newest

Pool = tuple[str, Games, Bools]


@dataclass
class LibraryWork:
    """A job on its way into a library; `keys` are those of the library's games, by the number of the game's page."""

    task: JobTask
    library: Library
    kept: Kept
    numbers: dict[int, str]

    @classmethod
    def of(cls, task: JobTask, games: Games, texts: Iterable[tuple[str, bytes]]) -> "LibraryWork | None":
        """Put a job's games into the library that its visitor asked for; None where there is none."""
        if not task.job.options.get("keep"):
            return None
        library = Libraries(task.jobs.path.with_name("library.sqlite")).opened(task.job.owner)
        pages = split_pools(games)[0][1].headers["game"].to_pylist()
        own = {game: at for at, game in enumerate(pages, start=1)}
        kept = keep_games(library, games, texts, task.job.id, own)
        ids = games.headers["game"].to_pylist()
        numbers = {own[ids[row]]: key for row, key in kept.keys.items() if ids[row] in own}
        players = [{"number": one.number, "player": one.called, "me": one.me} for one in kept.players]
        counts = {"new": kept.new, "again": kept.again, "richer": kept.richer, "unkept": kept.unkept}
        task.keep({"library": {"players": players, **counts}})
        return cls(task, library, kept, numbers)

    def review(self, number: int, study: GameStudy) -> None:
        """Keep what a deep search has confirmed in a game, which is then reviewed whether or not there is a mistake."""
        key = self.numbers.get(number, "")
        game = self.library.record(KeptGame, key) if key else None
        for player in self.kept.players if game else ():
            if game and (side := side_of(game, player)):
                self.library.take_out(Mistake, f"{player.name}/{key}/")
                self.library.put(*_reviewed(player.number, game, side, study))

    def study(self, analysed: Callable[[str, Games], AnalysedGames]) -> None:
        """Keep each player's progress, in all the games that the library has; `analysed` is given pool and games."""
        for player in self.kept.players:
            self.task.tell(self.task.job.lane, note=f"progress of {player.called}")
            kept = self.library.games(player)[:MOST_STUDIED]
            new = {one.key for one in kept if one.first_job == self.task.job.id}
            found = []
            for pool, own, flags in _by_pool(self.library, player, kept, new):
                with contextlib.suppress(InputError):  # no move of this pool counts
                    found.append(progress_of(analysed(pool, own), player.called, flags))
            self._keep_study(player, kept, found, len(new))

    def _keep_study(self, player: Player, kept: Sequence[KeptGame], found: Sequence[PlayerProgress], new: int) -> None:
        if not found:
            return
        moves, mistakes, lost = Counter[str](), Counter[str](), Counter[str]()
        reviews, wrong = self.library.records(Review, player.name), self.library.mistakes(player)
        for one in reviews:
            moves.update(one.moves)
            mistakes.update(one.mistakes)
            lost.update(one.lost)
        games = {one.key: one for one in kept}
        first = _in_words(wrong[0], games.get(wrong[0].game), player) if wrong else ""
        own = habits(moves, mistakes, lost, _DIVISIONS)
        said = three_sentences(found[0], own, len(wrong), len(reviews), first)
        pools = [one.as_dict() for one in found]
        old, job = self.library.record(PlayerStudy, player.name), self.task.job.id
        since = {"games": new, "job": job, "at": now()}
        if not new and old is not None:  # nothing was new: what was said last time still holds
            since, before = old.body["last"], {pool["pool"]: pool["since"] for pool in old.body["pools"]}
            pools = [{**pool, "since": before.get(pool["pool"])} for pool in pools]
        body = {"sentences": said, "habits": [json_fields(one) for one in own], "pools": pools, "last": since}
        self.library.put(PlayerStudy(player.number, now(), body), *(_snapshot(player, job, one) for one in found))


def _by_pool(library: Library, player: Player, kept: Sequence[KeptGame], new: set[str]) -> Iterator[Pool]:
    """Yield each pool of a player's games, the games under one name, and which of them are new."""
    games = read_games([NamedBytes("library.pgn", library.pgn(kept).encode())])
    names = {name for side in ("white", "black") for name in games.headers[side].to_pylist()}
    games = games.renamed({name: player.called for name in names if player.is_called(name)})
    for pool, own in split_pools(games):
        keys = [kept[index - 1].key for index in own.headers["index"].to_pylist()]
        yield pool, own, np.array([key in new for key in keys], dtype=bool)


def _reviewed(player: int, game: KeptGame, side: str, study: GameStudy) -> Iterator[Mistake | Review]:
    """Yield the confirmed mistakes of one side of a game, and how many moves and mistakes there are by part."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("moves", "mistakes")}
    lost: dict[str, float] = {}
    before = study.game.start_fen or chess.STARTING_FEN
    left: float | None = None
    for move in study.moves:
        fen, before, judged = before, move.fen, move.judgement
        if move.side != side:
            continue
        spent = (
            None if left is None or move.clock is None else left - move.clock + time_control_of(game.time_control)[1]
        )
        left, chances, after = move.clock, judged.chances, judged.chances_after
        if chances is None or after is None or not DECIDED <= chances <= 1 - DECIDED:
            continue
        phase = phase_of(piece_value(fen))
        took = time_classes(np.array([np.nan if spent is None else spent]), SPENT)[0]
        parts = [PARTS[phase], *([TIMES[took]] if took else [])]
        counts["moves"].update(parts)
        if judged.checked and judged.mark in MARKS.values() and judged.better_uci and judged.better:
            counts["mistakes"].update(parts)
            lost |= {part: lost.get(part, 0.0) + chances - after for part in parts}
            yield Mistake(
                player=player, game=game.key, ply=move.ply, side=side, fen=fen, played=move.uci, played_san=move.san,
                best=judged.better_uci, best_san=judged.better, line=judged.line, chances=chances, chances_after=after,
                cost=judged.cost or 0.0, mark=judged.mark, phase=phase, spent=spent, number=move.number,
            )  # fmt: skip
    yield Review(player, game.key, dict(counts["moves"]), dict(counts["mistakes"]), lost)


def _in_words(mistake: Mistake, game: KeptGame | None, player: Player) -> str:
    """Return a mistake and where it was made."""
    number = f"{mistake.number}{'.' if mistake.side == 'white' else '…'}"
    if game is None:
        return f"instead of {number} {mistake.played_san}"
    other = game.black if mistake.side == "white" else game.white
    return f"instead of {number} {mistake.played_san} against {other or '?'}"


def _snapshot(player: Player, job: str, one: PlayerProgress) -> Snapshot:
    own, (low, high) = one.rating, one.rating.elo.interval(one.ratings.mass)
    return Snapshot(
        player=player.number, at=now(), pool=one.ratings.scale.pool, effort=one.effort, games=own.games,
        decisions=own.decisions, elo=own.elo.mean, low=low, high=high, job=job,
    )  # fmt: skip
