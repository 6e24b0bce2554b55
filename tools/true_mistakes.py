"""How many of the mistakes that the web shows are refuted by a deeper search, and how many real ones it misses.

    .venv/bin/python tools/true_mistakes.py --store FOLDER [--data DATA] [--games 2] [--minutes 40] [--deep 20]

In: ../shared/data (players, events, online). Ten players, five over the board and five online whose games have values;
a job each of so many games, as an upload with the default settings makes it. Shown: the moves with a mark on the page
of a game, and the costly decisions of the player's page. Truth: the positions before and after at depth 20. A mistake
is refuted where it loses less than 5 % winning chances there. Missed: moves that lose at least 20 % there from an open
position without a mark; candidates are all moves that lose 12 % by the file's values, or by depth 12 where it has none.
Ends after so many CPU-minutes, with what it has.
"""

from __future__ import annotations

import argparse
import bz2
import os
import random
import resource
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.pgn
import numpy as np

from skilloscope.chess.analysis.evaluations import best_of_rows
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.moves import MATE_CAP
from skilloscope.chess.pgn.positions import positions_of
from skilloscope.core.paths import store_file
from skilloscope.inputs.costs import DECIDED, winning_chances
from skilloscope.inputs.load import EngineJob
from skilloscope.web.jobs import Jobs, JobTask
from skilloscope.web.uploads import add_upload
from skilloscope.web.workers import work_of_job

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OVER_THE_BOARD = (
    ("players/kasparov.pgn", "Kasparov"), ("players/fischer.pgn", "Fischer"), ("players/korchnoi.pgn", "Korchnoi"),
    ("events/london_classic_2011.pgn", "Adams"), ("events/candidates_1971.pgn", "Larsen"),
)  # fmt: skip
ONLINE = 5
REFUTED, LARGE, CANDIDATE = 0.05, 0.2, 0.12
QUICK_LOOK = Settings(depth=12, multipv=1)


def main() -> None:
    """Print what was shown, refuted and missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="a folder for the engine's answers and the jobs")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--games", type=int, default=2, help="games of each player")
    parser.add_argument("--minutes", type=float, default=40.0, help="of CPU time, the engine's included")
    parser.add_argument("--deep", type=int, default=20, help="the depth of the truth")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    found = Judged(asked.store, Settings(depth=asked.deep, multipv=1))
    for name, games in players(asked.data, asked.games, asked.seed):
        found.judge(name, games)
        print(f"{name}: {found}, {spent() / 60:.1f} CPU-minutes", flush=True)
        if spent() > 60 * asked.minutes:
            break


def spent() -> float:
    """Return the CPU seconds of this process and of those that have ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, who))


def players(data: Path, count: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Yield names and some games of each, over the board and online in turn."""
    rng = random.Random(seed)
    for (file, name), online in zip(OVER_THE_BOARD, online_players(data, count, seed), strict=True):
        texts = (data / file).read_text(encoding="latin-1").split("\n\n[Event ")
        own = [text if text.startswith("[") else f"[Event {text}" for text in texts if name in text.split("\n\n")[0]]
        yield name, rng.sample([text for text in own if text.count(". ") >= 20], count)
        yield online


def online_players(data: Path, count: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Yield people of data/online with values of every position in so many games, spread over their ratings."""
    table = dict(np.load(data / "online" / "games.npz"))
    moves = np.frombuffer(bz2.decompress((data / "online" / "moves.u16.bz2").read_bytes()), dtype="<u2")
    values = np.frombuffer(bz2.decompress((data / "online" / "evals.i16.bz2").read_bytes()), dtype="<i2")
    plies, valued = table["plies"].astype(int), table["has_eval"].astype(bool)
    starts, own_starts = np.cumsum(plies) - plies, np.cumsum(plies * valued) - plies * valued
    fit = np.flatnonzero(valued & (plies >= 40) & (table["platform"] == 0))
    people, games = np.unique(table["white"][fit], return_counts=True)
    several = people[games >= count]
    ratings = np.array([table["white_elo"][fit[table["white"][fit] == who][0]] for who in several])
    rng = np.random.default_rng(seed)
    for rating in np.linspace(1100, 2300, ONLINE):
        who = rng.choice(several[np.abs(ratings - rating) <= 100])
        rows = rng.choice(fit[table["white"][fit] == who], count, replace=False)
        texts = []
        for row in rows.tolist():
            own = slice(own_starts[row], own_starts[row] + plies[row])
            texts.append(_pgn(table, row, moves[starts[row] : starts[row] + plies[row]], values[own]))
        yield f"online {rating:.0f}", texts


def _pgn(table: dict[str, np.ndarray], row: int, moves: np.ndarray, values: np.ndarray) -> str:
    game = chess.pgn.Game({"Event": "Rated Rapid game", "Site": "https://lichess.org/", "TimeControl": "600+5"})
    for side in ("white", "black"):
        game.headers[side.capitalize()] = f"person {table[side][row]}"
        game.headers[f"{side.capitalize()}Elo"] = str(table[f"{side}_elo"][row])
    game.headers["Date"], game.headers["Result"] = f"{table['year'][row]}.01.01", "*"
    node: chess.pgn.GameNode = game
    for code, value in zip(moves.tolist(), values.tolist(), strict=True):
        board, start, end = node.board(), code & 63, code >> 6 & 63
        last = board.piece_type_at(start) == chess.PAWN and end // 8 in (0, 7)
        node = node.add_variation(chess.Move(start, end, (5, 2, 3, 4)[code >> 12] if last else None))
        if abs(value) < 15000:
            node.set_eval(chess.engine.PovScore(chess.engine.Cp(value), chess.WHITE))
        elif value > -32768:
            left = (20000 - abs(value)) * (1 if value > 0 else -1)
            node.set_eval(chess.engine.PovScore(chess.engine.Mate(left), chess.WHITE))
    return str(game)


@dataclass
class Judged:
    """What was shown and what is true, over all games so far."""

    store: Path
    deep: Settings
    counts: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return ", ".join(f"{n} {what}" for what, n in self.counts.items())

    def judge(self, name: str, texts: list[str]) -> None:
        """Add some games of a player."""
        jobs = Jobs(self.store / "web" / f"jobs-{time.time_ns()}.sqlite")
        body = "\n\n".join(texts).encode()
        job = add_upload(jobs, "games", [(f"{name}.pgn", body)], owner="", options={"effort": "quick"})
        while not job.ended:
            taken = jobs.take(job.lane)
            assert taken is not None
            JobTask(taken, jobs, str(self.store)).run(work_of_job(taken))
            job = jobs[job.id]
        assert job.state == "done", job
        games = [jobs.report(job.id, f"game/{at + 1}") for at in range(len(texts))]
        shown = {(game["game"]["game"], move["ply"]) for game in games for move in game["moves"] if
                 move["mark"] in ("?!", "?", "??")}  # fmt: skip
        listed = set()
        for number in jobs.report(job.id, "players"):
            report = jobs.report(job.id, f"player/{number}") or {"costliest": []}
            listed |= {(one["game"], one["ply"]) for one in report["costliest"]}
        before = {(game["game"]["game"], move["ply"]): (fen, move) for game in games for fen, move in
                  zip(_fens(game), game["moves"], strict=True)}  # fmt: skip
        rough = self._rough(games, before)
        wanted = sorted(shown | listed | rough)
        lost, chances = self._lost([before[key] for key in wanted], self.deep)
        true = dict(zip(wanted, zip(lost.tolist(), chances.tolist(), strict=True), strict=True))
        for key in sorted(shown | listed):
            if true[key][0] < REFUTED:
                print("refuted:", key, before[key][1]["san"], before[key][1]["chances"], true[key], flush=True)
        large = {key for key, (loss, at) in true.items() if loss >= LARGE and DECIDED <= at <= 1 - DECIDED}
        for key in sorted(large - shown - listed):
            print("missed:", key, before[key][1]["san"], before[key][1]["probability"], true[key], flush=True)
        kind = "online" if name.startswith("online") else "board"
        self.counts += Counter({
            f"{kind} games": len(games), f"{kind} marked": len(shown), f"{kind} listed": len(listed),
            f"{kind} refuted": sum(true[key][0] < REFUTED for key in shown),
            f"{kind} listed refuted": sum(true[key][0] < REFUTED for key in listed),
            f"{kind} large": len(large), f"{kind} large shown": len(large & (shown | listed)),
        })  # fmt: skip

    def _rough(self, games: list[dict], before: dict) -> set[tuple[str, int]]:
        keys = list(before)
        known = [_by_comments(before[key][1], game) for game in games for key in keys if key[0] == game["game"]["game"]]
        if not all(one is None for one in known):
            return {key for key, loss in zip(keys, known, strict=True) if loss is not None and loss >= CANDIDATE}
        lost, _ = self._lost([before[key] for key in keys], QUICK_LOOK)
        return {key for key, loss in zip(keys, lost.tolist(), strict=True) if loss >= CANDIDATE}

    def _lost(self, moves: list, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
        """Return what moves lose in winning chances, and the chances before them."""
        boards = [(chess.Board(fen), chess.Board(move["fen"])) for fen, move in moves]
        fens = list(dict.fromkeys(board.fen() for pair in boards for board in pair if any(board.legal_moves)))
        work = EngineJob(settings=settings, store=store_file(self.store), workers=1)
        answers = work.analyse(positions_of([chess.Board(fen) for fen in fens]))
        rows, _ = best_of_rows(answers, MATE_CAP)
        value = dict(zip(fens, rows[answers.row].tolist(), strict=True))
        for _, board in boards:
            if not any(board.legal_moves):
                value[board.fen()] = -MATE_CAP if board.is_check() else 0.0
        at = winning_chances(np.array([value[before.fen()] for before, _ in boards]))
        after = winning_chances(-np.array([value[after.fen()] for _, after in boards]))
        return np.maximum(at - after, 0.0), at


def _fens(game: dict) -> list[str]:
    return [game["game"]["start_fen"] or chess.STARTING_FEN, *(move["fen"] for move in game["moves"][:-1])]


def _by_comments(move: dict, game: dict) -> float | None:
    gain = move["gain_cp"]
    if gain is None or move["judge"] != "evaluations":
        return None
    after = move["value_cp"] / 100
    return float(winning_chances(after - gain / 100) - winning_chances(after))


if __name__ == "__main__":
    os.cpu_count = lambda: 1
    main()
