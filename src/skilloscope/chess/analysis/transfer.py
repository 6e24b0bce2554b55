"""Between a store and files: whole settings out, answers in.

In: a store, and the path of a file. Out: an export of everything under one key, or the file's answers in the store.

What comes in is checked as an engine's own answer is: complete lists, legal moves, the depth that the key says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skilloscope.chess.analysis.files import Export, export_analyses, read_export
from skilloscope.chess.engine.engine import legal_moves
from skilloscope.chess.engine.lines import AnalysedPosition, LineArray, pack_lines, sound_lines, unpack_lines
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.engine.uci import checked_answer
from skilloscope.core.errors import InputError, SkilloscopeError, Tally
from skilloscope.store import Store, StoredAnalysis

_CHUNK = 1000  # answers per transaction: a kill while importing loses the last ones at most


@dataclass(frozen=True, eq=False)
class Imported:
    """What came out of a file: the key of its answers, how many there were and how many were new to the store."""

    file: str
    settings: Mapping[str, Any]
    read: int
    new: int
    tally: Tally = field(default_factory=Tally)

    def as_dict(self) -> dict[str, Any]:
        """Return what is told about it."""
        return {"file": self.file, "settings": dict(self.settings), "read": self.read, "new": self.new}


def choose_settings(store: Store, number: int | None = None) -> dict[str, Any]:
    """Return the settings with this number, from 1 in the order of `all_settings`; without one the only ones."""
    known = store.all_settings()
    if number is None and len(known) == 1:
        return known[0]
    if number is not None and 1 <= number <= len(known):
        return known[number - 1]
    listed = "; ".join(f"{n}: {_words(key)}" for n, key in enumerate(known, start=1)) or "none"
    said = f"no settings with the number {number}" if number is not None else "an export holds answers of one kind"
    raise InputError(f"{store.path}: {said}", hint=f"choose by number; there are {listed}")


def export_store(store: Store, key: Mapping[str, Any], path: str | os.PathLike[str], tally: Tally | None = None) -> int:
    """Write all answers under the key to a file and return how many; what is damaged is in the tally."""
    return export_analyses(path, key, _stored(store, key, Tally() if tally is None else tally))


def damaged_answers(store: Store) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yield the settings, the position and the reason of every answer that no engine can have given."""
    for key in store.all_settings():
        found: list[tuple[str, str]] = []
        try:
            settings = Settings.from_key(key)
        except InputError as error:
            yield key, "", str(error)
            continue
        for row in store.iterate(key, lambda *fault, to=found: to.append(fault)):
            try:
                if row.status == "done":
                    _check(AnalysedPosition(row.problem, row.alternatives, unpack_lines(row.lines)), settings)
            except SkilloscopeError as error:
                found.append((row.problem, str(error)))
        yield from ((key, problem, reason) for problem, reason in found)


def import_file(store: Store, path: str | os.PathLike[str], stated: Mapping[str, Any] | None = None) -> Imported:
    """Put the answers of a file into the store, under the key that it says, or that is `stated` where it says none.

    An unusable answer is a fault.
    """
    export = read_export(path, stated)
    new, tally = 0, Tally()
    chunk: list[StoredAnalysis] = []
    for row in _checked(export, str(path), tally):
        chunk.append(row)
        if len(chunk) == _CHUNK:
            new += store.put_many(export.settings, chunk)
            chunk.clear()
    new += store.put_many(export.settings, chunk) if chunk else 0
    return Imported(str(path), export.settings, len(export.rows), new, export.tally + tally)


def _stored(store: Store, key: Mapping[str, Any], tally: Tally) -> Iterator[AnalysedPosition]:
    def faulty(problem: str, reason: str) -> None:
        tally.fault("damaged answer", str(store.path), problem, reason)

    for row in store.iterate(key, faulty):
        lines = sound_lines(row.lines)
        if row.status == "done" and lines is None:
            faulty(row.problem, "its lines are damaged")
        elif row.status == "done" and lines is not None:
            yield AnalysedPosition(row.problem, row.alternatives, lines)


def _checked(export: Export, file: str, tally: Tally) -> Iterator[StoredAnalysis]:
    settings = Settings.from_key(export.settings)
    for row in export.rows:
        try:
            lines = _check(row, settings)
        except SkilloscopeError as error:
            tally.fault("unusable analysis", file, row.fen, str(error))
        else:
            yield StoredAnalysis(row.fen, row.n_legal, pack_lines(lines), origin="imported")


def _check(row: AnalysedPosition, settings: Settings) -> LineArray:
    """Return the lines of an answer that an engine may have given under these settings; raise where it cannot."""
    legal = legal_moves(row.fen)
    if len(legal) != row.n_legal:
        raise InputError(f"{len(legal)} legal moves, not {row.n_legal}")
    if settings.problem(row.fen) != row.fen:
        raise InputError("the position is not written by the settings' FEN rule")
    return checked_answer(row.lines, legal, settings)


def _words(key: Mapping[str, Any]) -> str:
    limit = f"depth {key.get('depth')}" if key.get("depth") else f"{key.get('nodes')} nodes"
    return f"{key.get('engine')}, {limit}, {key.get('multipv')} lines"
