"""Backgammon: checker plays with the equities of up to five candidates, at one or several plies of look-ahead.

The format is JSON lines, packed or not, one file per depth of the same plays:

    {"g": match, "n": turn in the match, "player": name, "dice": "32", "pos": position id, "mid": match id,
     "c": [[move, ply, equity], …], "chosen": place of the play among them, or null}

Equities are the mover's, in points of the match or money game as the analyser gives them. The analyser lists its five
best; **a sixth entry is the play that was made, added because it was made**. A choice set must not depend on the
choice, so the sixth is taken off the list and the choice is unlisted. So is a choice of null. How many plays were
legal is not in the file: n_legal is 0, unless fewer than five are listed, which is then all there were.

A look-ahead of two plies is spent on the plays that pass a filter, and the others keep their shallow equity. Equities
of unequal depth do not compare, so a decision whose listed candidates differ in depth is left out and counted; one
whose candidates all have another depth than the file's is counted under a name of its own. Neither looks at the
choice: the sixth entry's depth plays no part.

Several files are joined by identity (player, match, turn, position, dice), never by row number. The last is the judge:
its list is the list, and the other depths are columns beside it (NaN where a play is not on their list), for the
decisions that stand in all files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import numbered_lines
from skilloscope.core.records import read_record
from skilloscope.decision.decisions import UNLISTED, Decisions
from skilloscope.decision.domains.collecting import Collected, finite

LISTED = 5
"""How many candidates the analyser lists; one more is the play that was made."""

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
    for key in dict.fromkeys(key for found in reversed(files) for key in found.known):
        # A decision counts under one reason: the judge's, then those of the other files.
        reason = next((found.left_out[key] for found in reversed(files) if key in found.left_out), "")
        plays = [found.plays.get(key) for found in others]
        if reason or key not in judge.plays or None in plays:
            collected.tally.count(reason or "not in every file")
        else:
            _add(collected, judge.plays[key], [play for play in plays if play is not None])
    about = {"domain": "backgammon", "unit": "equity", "plies": list(depths)}
    return collected.decisions(", ".join(map(str, paths)), about, depths if others else ())


@dataclass(frozen=True)
class _File:
    """The plays of one file by identity, those left out with their reason, and the depth that its candidates have."""

    plays: Mapping[_Key, _Play]
    left_out: Mapping[_Key, str]
    depth: int
    tally: Tally

    @property
    def known(self) -> Iterator[_Key]:
        """The identities of all plays of the file."""
        yield from self.plays
        yield from self.left_out


def _read(path: Path) -> _File:
    """Read one file; the depth of most decisions is the file's, the others are left out and counted."""
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
    several = [play for play in plays.values() if len(play.moves) > 1]
    found = Counter(max(play.depths) for play in several)
    depth = max(found) if found else 0
    left_out = {play.key: reason for play in plays.values() if (reason := _unusable(play, depth))}
    return _File({key: play for key, play in plays.items() if key not in left_out}, left_out, depth, tally)


def _unusable(play: _Play, depth: int) -> str:
    """Return why the candidates cannot be compared, or nothing."""
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


def _add(collected: Collected, play: _Play, others: Sequence[_Play]) -> None:
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
