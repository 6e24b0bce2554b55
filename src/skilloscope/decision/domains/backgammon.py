"""Backgammon: checker plays with the equities of the candidates, from tables or from match files.

docs/domains.md describes the tables, JSON lines with one file per depth of the same plays. The analyser lists its five
best plays; a sixth entry is the play that was made, added because it was made. A choice set must not depend on the
choice, so the sixth is removed, whatever its depth, and the choice is unlisted. The number of legal plays is not in the
file: n_legal is 0, unless fewer than five are listed, which is then all there were.

Match files (.mat, .sgf, .txt) are analysed by GNU Backgammon, which runs once a file, without the user's settings, on a
copy under a name of ours. Its filters are as wide as its list, so that all candidates are searched equally deep. Plays
that break the rules are skipped by gnubg with a warning, which becomes a fault here.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilloscope.core.errors import EngineError, InputError, OptionError, Tally
from skilloscope.core.files import numbered_lines
from skilloscope.core.text import read_object, read_record
from skilloscope.decision.decisions import UNLISTED, Decisions
from skilloscope.decision.domains.collecting import Collected, finite

LISTED = 5  # how many candidates the analyser lists; one more is the play that was made
_Key = tuple[str, int, str, str, str]


@dataclass(frozen=True)
class _Play:
    """One decision as a file has it: the listed candidates, and what was played."""

    key: _Key
    moves: tuple[str, ...]
    equities: tuple[float, ...]
    depths: frozenset[int]
    chosen: int
    place: str


def read_backgammon(paths: Sequence[str | Path]) -> Decisions:
    """Return the plays of one file, or of several depths of the same plays, the last file being the judge."""
    files = [_read(Path(path)) for path in paths]
    if not files:
        raise InputError("no file of backgammon plays", hint="give one file per depth, the judge last")
    files.sort(key=lambda found: found.depth)
    depths = tuple(found.depth for found in files)
    if len(set(depths)) < len(depths):
        raise InputError(f"two files have the same depth: {list(depths)}", hint="give one file per depth")
    collected = Collected()
    collected.tally = Tally.sum(found.tally for found in files)
    judge, others = files[-1], files[:-1]
    for key in dict.fromkeys(key for found in reversed(files) for key in (*found.plays, *found.left_out)):
        # A decision counts under one reason: the judge's, then those of the other files.
        reason = next((found.left_out[key] for found in reversed(files) if key in found.left_out), "")
        plays = [found.plays.get(key) for found in others]
        if reason or key not in judge.plays or None in plays:
            collected.tally.count(reason or "not in every file")
        else:
            _add_table_play(collected, judge.plays[key], [play for play in plays if play is not None])
    about = {"domain": "backgammon", "unit": "equity", "plies": list(depths)}
    return collected.decisions(", ".join(map(str, paths)), about, depths if others else ())


@dataclass(frozen=True)
class _File:
    """The plays of one file by identity, those left out with their reason, and the depth that its candidates have."""

    plays: Mapping[_Key, _Play]
    left_out: Mapping[_Key, str]
    depth: int
    tally: Tally


def _read(path: Path) -> _File:
    """Read one file; its depth is the largest of a play's candidates, and plays of others are left out and counted."""
    tally = Tally()
    plays: dict[_Key, _Play] = {}
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            play = _play(read_record(line), f"line {number}")
        except (ValueError, KeyError, TypeError, IndexError, OverflowError) as error:
            tally.fault("unreadable play", str(path), f"line {number}", f"{type(error).__name__}: {error}"[:80])
            continue
        if play.key in plays:
            tally.fault("play given twice", str(path), play.place, plays[play.key].place)
            continue
        plays[play.key] = play
    depth = max((max(play.depths) for play in plays.values() if len(play.moves) > 1), default=0)
    left_out = {play.key: reason for play in plays.values() if (reason := _unusable(play, depth))}
    return _File({key: play for key, play in plays.items() if key not in left_out}, left_out, depth, tally)


def _unusable(play: _Play, depth: int) -> str:
    if len(play.moves) == 1:
        return "single candidate"
    if len(play.depths) > 1:
        return f"candidates of unequal depth ({depth}-ply file)"
    return "" if play.depths == {depth} else f"all candidates at {min(play.depths)} ply ({depth}-ply file)"


def _play(entry: Any, place: str) -> _Play:
    listed = entry["c"][:LISTED]
    chosen = entry["chosen"]
    if not listed or len(entry["c"]) > LISTED + 1:
        raise ValueError(f"{len(entry['c'])} candidates")
    if chosen is not None and (isinstance(chosen, bool) or not 0 <= int(chosen) < len(entry["c"])):
        raise ValueError(f"chosen is {chosen!r} of {len(entry['c'])}")
    if len(entry["c"]) > LISTED and chosen != LISTED:
        raise ValueError(f"a candidate beyond the {LISTED} listed that was not played")
    moves = tuple(str(move) for move, _, _ in listed)
    if len(set(moves)) < len(moves):
        raise ValueError("a candidate listed twice")
    return _Play(
        (str(entry["player"]), int(entry["n"]), str(entry["g"]), str(entry["pos"]), str(entry["dice"])),
        moves,
        tuple(finite(equity) for _, _, equity in listed),
        frozenset(int(ply) for _, ply, _ in listed),
        UNLISTED if chosen is None or chosen >= LISTED else int(chosen),
        place,
    )


def _add_table_play(collected: Collected, play: _Play, others: Sequence[_Play]) -> None:
    """Append the judge's play with what the shallower files say of the same candidates."""
    values: list[Any] = list(play.equities)
    if others:
        known = [dict(zip(other.moves, other.equities, strict=True)) for other in others]
        values = [
            [*(table.get(move, float("nan")) for table in known), equity]
            for move, equity in zip(play.moves, play.equities, strict=True)
        ]
    player, turn, match, position, dice = play.key
    complete = len(play.moves) < LISTED and play.chosen != UNLISTED
    context = {"game": match, "turn": turn, "position": position, "dice": dice}
    collected.add(player, values, play.moves, play.chosen, len(play.moves) if complete else 0, **context)


PLIES = 2
MOST_PLIES = 3
GNUBG_LISTED = 40  # the most plays that gnubg lists; where there are so many, more may have been legal
_SECONDS = 3600.0
_MARK, _WARNING = "skilloscope ", "WARNING:"
_SCRIPT = Path(__file__).parents[2] / "data" / "gnubg_script.txt"  # Python that gnubg runs


def read_gnubg(paths: Sequence[str | Path], plies: int = PLIES) -> Decisions:
    """Return the checker plays of match files, valued by GNU Backgammon so many plies ahead."""
    if not 0 <= plies <= MOST_PLIES:
        raise OptionError(f"gnubg looks 0 to {MOST_PLIES} plies ahead here, not {plies}")
    program = find_gnubg()
    rows = Collected()
    for path in map(Path, paths):
        for answer in _answers(program, path, plies, rows.tally):
            _add_match_play(rows, path, answer)
    about = {"domain": "backgammon", "settings": {"engine": "GNU Backgammon", "plies": plies, "list": GNUBG_LISTED}}
    return rows.decisions(", ".join(str(path) for path in paths), about)


def find_gnubg() -> str:
    """Return where GNU Backgammon is."""
    found = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games:/usr/local/bin")
    if not found:
        raise EngineError("GNU Backgammon is not installed", hint="on Debian: apt-get install gnubg")
    return found


def _answers(program: str, path: Path, plies: int, tally: Tally) -> list[str]:
    """Return what gnubg says of each play of one file, in JSON; its warnings are faults."""
    if not path.is_file():
        raise InputError(f"{path}: no such file", hint="give match files: .mat, .sgf or .txt")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(path, Path(folder, "match"))  # a name of ours: gnubg reads names as commands
        shutil.copyfile(_SCRIPT, Path(folder, "ask.py"))
        command = [program, "--tty", "--quiet", "--no-rc", "--python=ask.py"]
        own = {**os.environ, "HOME": folder, "SKILLOSCOPE_PLIES": str(plies), "LC_ALL": "C.UTF-8"}  # warns in English
        try:
            given = subprocess.DEVNULL
            ran = subprocess.run(command, cwd=folder, env=own, stdin=given, capture_output=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise EngineError(f"{path}: gnubg took longer than {_SECONDS:.0f} s", hint="give fewer plies") from None
    lines = ran.stdout.decode("utf-8", "replace").splitlines()
    answers = [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
    if not answers:
        raise InputError(f"{path}: gnubg found no play in it", hint="is it a match file (.mat, .sgf, .txt)?")
    for line in lines:
        if line.startswith(_WARNING):
            tally.fault("left out by gnubg", str(path), "some game", line.removeprefix(_WARNING).strip()[:80])
    return answers


def _add_match_play(rows: Collected, path: Path, answer: str) -> None:
    row = read_object(answer)
    place = f"game {row.get('game')}, turn {row.get('turn')}"
    moves = row.get("moves") or []
    if len(moves) < 2:
        rows.tally.count("forced, or no legal play")
        return
    try:
        labels, values = [str(move) for move, _ in moves], [finite(score) for _, score in moves]
        chosen = row["chosen"]
        listed = isinstance(chosen, int) and 0 <= chosen < len(moves)
        whole = len(moves) < GNUBG_LISTED
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
