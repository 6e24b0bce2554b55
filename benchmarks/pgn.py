"""PGN: games per CPU-second with every move checked, beside other readers; memory that stays."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import chess.pgn

from benchmarks.measure import Figure, NotMeasured, cpu_seconds
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.chess.pgn.results import TAGS, scan
from skilloscope.core.files import open_lines
from skilloscope.inputs.bundled import demo_file

GAMES, FEW = 20_000, 200
SIZES = (10_000, 100_000)
TIMES = 30  # python-chess's visitor
MEGABYTES = 400


class _Moves(chess.pgn.BaseVisitor[int]):
    """The leanest reader of python-chess: it checks every move of the main line and keeps nothing but their number."""

    def begin_game(self) -> None:
        self.n = 0

    def begin_variation(self) -> object:
        return chess.pgn.SKIP

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self.n += 1

    def result(self) -> int:
        return self.n


def figures() -> Iterator[Figure | NotMeasured]:
    with tempfile.TemporaryDirectory() as folder:
        many, few = Path(folder) / "many.pgn", Path(folder) / "few.pgn"
        _write(many, GAMES)
        _write(few, FEW)
        ours = GAMES / cpu_seconds(lambda: read_games(many), 3)
        theirs = FEW / cpu_seconds(lambda: _visited(few), 3)
        yield Figure("every move read and checked", ours / 1e3, "thousand games per CPU-second")
        yield Figure("python-chess's visitor", theirs / 1e3, "thousand games per CPU-second")
        yield Figure("against python-chess's visitor", ours / theirs, "times as fast", at_least=TIMES)
        yield _pgn_extract(few)
        yield _binding(many)
        yield NotMeasured("rust-pgn-reader-python-binding 4.1.0", "it states no licence, so it is not run")
        data = many.read_bytes()
        seconds = cpu_seconds(lambda: scan(data, final=True), 3)
        yield Figure(f"headers scanned ({len(TAGS)} tags)", GAMES / seconds / 1e6, "M games per CPU-second")
        games = read_games(few)
        each = len(positions(games)) / cpu_seconds(lambda: positions(games), 3)
        yield Figure("positions with FEN and legal moves", each / 1e3, "thousand per CPU-second")
        yield from _memory(Path(folder))


def _write(path: Path, games: int) -> None:
    """Write so many of the games that ship, each under another name."""
    texts = demo_file("simulated.pgn").read_text(encoding="utf-8").strip().split("\n\n[Event")
    each = [text if at == 0 else f"[Event{text}" for at, text in enumerate(texts)]
    with path.open("w", encoding="utf-8") as file:
        for at in range(games):
            file.write(each[at % len(each)].replace('[White "', f'[White "{at} ', 1) + "\n\n")


def _visited(path: Path) -> int:
    moves = 0
    with open_lines(path):
        pass
    with path.open(encoding="utf-8") as file:
        while (found := chess.pgn.read_game(file, Visitor=_Moves)) is not None:
            moves += found
    return moves


def _pgn_extract(path: Path) -> Figure | NotMeasured:
    program = shutil.which("pgn-extract") or shutil.which("/usr/games/pgn-extract") or os.environ.get("PGN_EXTRACT")
    if not program:
        return NotMeasured("pgn-extract", "not installed (Debian: pgn-extract; or PGN_EXTRACT names it)")

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([program, "-s", "-r", *[str(path)] * 10], capture_output=True, check=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    best = min(seconds() for _ in range(3))
    return Figure("pgn-extract, moves checked", 10 * FEW / best / 1e3, "thousand games per CPU-second")


def _binding(path: Path) -> Figure | NotMeasured:
    """Read by bulletchess, a C extension that lists the moves of every game: the fastest that states its licence."""
    name, python = "bulletchess (GPL-3.0-or-later)", os.environ.get("BULLETCHESS_PYTHON") or sys.executable
    code = (
        "import sys, time\n"
        "from bulletchess.pgn import PGNFile\n"
        "def read():\n"
        "    begin, moves = time.process_time(), 0\n"
        "    with PGNFile.open(sys.argv[1]) as file:\n"
        "        while (game := file.next_game()) is not None:\n"
        "            moves += len(game.moves)\n"
        "    return time.process_time() - begin\n"
        "print(min(read() for _ in range(3)))\n"
    )
    done = subprocess.run([python, "-c", code, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        return NotMeasured(name, "not installed (it needs Python 3.13; BULLETCHESS_PYTHON names one that has it)")
    return Figure(name, GAMES / float(done.stdout) / 1e3, "thousand games per CPU-second")


def _memory(folder: Path) -> Iterator[Figure]:
    """Write the table of larger and larger files, each in a process of its own."""
    code = (
        "import json, sys, time\n"
        "from benchmarks.measure import peak_megabytes\n"
        "from skilloscope.chess.pgn.game_tables import write_games\n"
        "done = write_games(sys.argv[1], sys.argv[2])\n"
        "print(json.dumps({'games': done.games, 'megabytes': peak_megabytes(), 'seconds': time.process_time()}))\n"
    )
    found = []
    for games in SIZES:
        path = folder / f"{games}.pgn"
        _write(path, games)
        command = [sys.executable, "-c", code, str(path), str(folder / "out.parquet")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout))
        assert found[-1]["games"] == games
        path.unlink()
        name = f"table of {games:,} games: peak memory of the process"
        yield Figure(name, found[-1]["megabytes"], "MB", at_most=MEGABYTES)
    more = found[-1]["megabytes"] / found[0]["megabytes"]
    yield Figure(f"peak memory, {SIZES[-1]:,} against {SIZES[0]:,} games", more, "times", at_most=1.1)
