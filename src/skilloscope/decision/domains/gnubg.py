"""Backgammon from match files: GNU Backgammon values every legal play of every roll, at one look-ahead for all.

In: match files as servers and programs write them (.mat, .sgf, .txt). Out: Decisions, a row a checker play. gnubg runs
once a file, without its settings of the user, on a copy with a name of ours; what it says comes back as JSON lines. Its
filters are opened as wide as its list, so that all candidates are looked at equally far and may be compared. A roll
with a single legal play is no decision and is counted; so is a choice that gnubg does not find on its own list. A play
that the file tells and the rules forbid, gnubg leaves out with a warning, which becomes a fault here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from skilloscope.core.errors import EngineError, InputError, OptionError, Tally
from skilloscope.core.outputs import write_whole
from skilloscope.core.records import read_object
from skilloscope.decision.decisions import UNLISTED, Decisions
from skilloscope.decision.domains.collecting import Collected, finite

PLIES = 2
MOST_PLIES = 3
LISTED = 40
"""The most plays that gnubg lists; where there are so many, more may have been legal."""
_SECONDS = 3600.0
_MARK, _WARNING = "skilloscope ", "WARNING:"
_SCRIPT = """
import json, os
plies = int(os.environ["SKILLOSCOPE_PLIES"])
gnubg.command("set automatic game off")
gnubg.command("set analysis luck off")
gnubg.command("set analysis cubedecision evaluation plies 0")
gnubg.command("set analysis chequerplay evaluation plies %d" % plies)
for level in range(plies):
    gnubg.command("set analysis movefilter %d %d 40 0 0" % (plies, level))
gnubg.command("import auto match")
gnubg.command("analyse match")
match = gnubg.match(1, 1, 1, 0)
names = {side: match["match-info"][side]["name"] for side in "XO"}
for number, game in enumerate(match["games"], start=1):
    for turn, one in enumerate(game["game"], start=1):
        told = one.get("analysis", {})
        if one.get("action") == "move":
            row = {"game": number, "turn": turn, "player": names[one["player"]], "dice": one["dice"],
                   "board": one["board"], "chosen": told.get("imove"),
                   "moves": [[" ".join("%d/%d" % step for step in m["move"]), m["score"]]
                             for m in told.get("moves", [])]}
            print("skilloscope " + json.dumps(row))
"""


def read_gnubg(paths: Sequence[str | Path], plies: int = PLIES) -> Decisions:
    """Return the checker plays of match files, valued by GNU Backgammon so many plies ahead."""
    if not 0 <= plies <= MOST_PLIES:
        raise OptionError(f"gnubg looks 0 to {MOST_PLIES} plies ahead here, not {plies}")
    program = find_gnubg()
    rows = Collected()
    for path in map(Path, paths):
        for row in _plays(program, path, plies, rows.tally):
            _add(rows, path, row)
    about = {"domain": "backgammon", "settings": {"engine": "GNU Backgammon", "plies": plies, "list": LISTED}}
    return rows.decisions(", ".join(str(path) for path in paths), about)


def find_gnubg() -> str:
    """Return where GNU Backgammon is."""
    found = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games:/usr/local/bin")
    if not found:
        raise EngineError("GNU Backgammon is not installed", hint="on Debian: apt-get install gnubg")
    return found


def _plays(program: str, path: Path, plies: int, tally: Tally) -> Iterator[dict[str, Any]]:
    """Yield what gnubg says of each play of one file; its warnings are faults."""
    if not path.is_file():
        raise InputError(f"{path}: no such file", hint="give match files: .mat, .sgf or .txt")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(path, Path(folder, "match"))  # a name of ours: gnubg reads names as commands
        write_whole(Path(folder, "ask.py"), _SCRIPT)
        command = [program, "--tty", "--quiet", "--no-rc", "--python=ask.py"]
        own = {**os.environ, "HOME": folder, "SKILLOSCOPE_PLIES": str(plies), "LC_ALL": "C.UTF-8"}  # warns in English
        try:
            ran = subprocess.run(
                command,
                cwd=folder,
                env=own,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EngineError(f"{path}: gnubg took longer than {_SECONDS:.0f} s", hint="give fewer plies") from None
    lines = ran.stdout.decode("utf-8", "replace").splitlines()
    told = [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
    if not told:
        raise InputError(f"{path}: gnubg found no play in it", hint="is it a match file (.mat, .sgf, .txt)?")
    for line in lines:
        if line.startswith(_WARNING):
            tally.fault("left out by gnubg", str(path), "some game", line.removeprefix(_WARNING).strip()[:80])
    for line in told:
        yield read_object(line.encode())


def _add(rows: Collected, path: Path, row: dict[str, Any]) -> None:
    place = f"game {row.get('game')}, turn {row.get('turn')}"
    moves = row.get("moves") or []
    if len(moves) < 2:
        rows.tally.count("forced, or no legal play")
        return
    try:
        labels, values = [str(move) for move, _ in moves], [finite(score) for _, score in moves]
        chosen = row["chosen"]
        listed = isinstance(chosen, int) and 0 <= chosen < len(moves)
        whole = len(moves) < LISTED
        if not listed and whole:
            rows.tally.count("played otherwise than any listed play")
            return
        rows.add(
            str(row["player"]), values, labels, chosen if listed else UNLISTED, len(moves) if whole else 0,
            game=f"{path.stem} {row['game']}", problem=int(row["turn"]), dice="".join(map(str, row["dice"])),
            position=str(row["board"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        rows.tally.fault("not a play", str(path), place, str(error)[:80])
