"""Analysis: every position searched once, and never again.

In: games or positions, settings, and any of a store, an engine and imported analyses. Out: Analyses.

One search costs a hundred times what all the statistics on it cost. So the store is asked first, a deeper search
answers a shallower question where that is proven (depths.py), a position that occurs twice is searched once,
and each answer is in the store before anybody hears of it: whatever interrupts the work, the next run goes on where
it stopped. Several processes on one store share the work: what one of them searches, the others wait for.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.depths import cut_lines, deeper_keys, shallower_key
from skilloscope.chess.analysis.files import Export, read_export
from skilloscope.chess.chess960 import is_chess960
from skilloscope.chess.engine.engine import legal_moves
from skilloscope.chess.engine.lines import LineArray, pack_lines, sound_lines
from skilloscope.chess.engine.runner import SearchOutcome, SearchRunner, start_runner
from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.chess.engine.uci import checked_answer
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.positions import Positions, positions
from skilloscope.core.errors import EngineError, SkilloscopeError, Tally
from skilloscope.store import Claims, Store, StoredAnalysis, settings_digest

_LOG = logging.getLogger(__name__)
_NOBODY = {"engine": None, "net": None}
_WAIT_SECONDS = 0.2  # between two looks at what another process has finished


@dataclass(frozen=True)
class Progress:
    """How far the work is, in different positions; what was in the store or imported is done from the start.

    `seconds` are those since the first search began.
    """

    total: int
    done: int
    searched: int
    cached: int
    imported: int
    failed: int
    seconds: float

    @property
    def remaining_seconds(self) -> float | None:
        """How long the rest will take at the speed so far; None before the first search."""
        tried = self.searched + self.failed
        return (self.total - self.done) * self.seconds / tried if tried else None


def analyse(
    games_or_positions: Games | Positions | str | os.PathLike[str],
    *,
    settings: Settings = DFH13,
    store: Store | str | os.PathLike[str] | None = None,
    engine: str | os.PathLike[str] | None = None,
    imports: Sequence[str | os.PathLike[str]] = (),
    progress: Callable[[Progress], None] | None = None,
    deadline_seconds: float | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Analyses:
    """Return the engine's answers to all positions, from the store, from imported files and by searching the rest.

    A path is read as PGN.

    Without an `engine` the one that is found is used. Where none is found, or where the imports hold every position,
    the answers that are there decide: those of the engine with the most of them, if there are several. Positions
    that stay without an answer are counted; if that would be all, or some and nothing was imported, it is an error.

    `workers` engine processes search side by side (one without it); with a `scheduler` those of a cluster do.
    """
    begin = time.monotonic()
    given = games_or_positions if isinstance(games_or_positions, Games | Positions) else read_games(games_or_positions)
    batch = given if isinstance(given, Positions) else positions(given, scope=settings.scope)
    legal = {settings.problem(f): int(n) for f, n in zip(batch.fen.to_pylist(), batch.n_legal, strict=True)}
    exports = [read_export(path) for path in imports]
    with _opened(store) as shelf:
        work = _Work(legal, settings, shelf, exports, progress)
        runner = work.choose(engine, workers=workers or 1, scheduler=scheduler)
        with runner or contextlib.nullcontext():
            work.recall()
            if runner is None:
                work.give_up_failures()
            else:
                work.search(runner, None if deadline_seconds is None else begin + deadline_seconds)
    return work.result(batch)


class _Work:
    """The state of one analysis: which answers are wanted, which are known, and under which key."""

    def __init__(
        self,
        legal: Mapping[str, int],
        settings: Settings,
        shelf: Store | None,
        exports: Sequence[Export],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.legal, self.settings, self.shelf, self.exports, self.progress = legal, settings, shelf, exports, progress
        self.key: dict[str, Any] = settings.key(_NOBODY)
        self.answers: dict[str, LineArray] = {}
        self.failures: dict[str, str] = {}
        self.notes: list[str] = []
        self.tally = Tally.sum(export.tally for export in exports)
        self.searched = self.cached = self.imported = 0
        self.out_of_time = False
        self.begin: float | None = None

    def choose(
        self, engine: str | os.PathLike[str] | None, *, workers: int, scheduler: str | None
    ) -> SearchRunner | None:
        """Decide whose answers to use; return a runner if an engine is to search."""
        if not self.legal:
            return None
        at_hand = self._at_hand(None)
        if engine is None and at_hand and at_hand[0][0] == len(self.legal):
            self._use(at_hand)
            return None
        try:
            runner = start_runner(engine, self.settings, workers=workers, scheduler=scheduler)
        except EngineError as error:
            if engine is not None:
                raise
            self._choose_without_engine(error)
            return None
        self.key = runner.key
        unused = {
            str(export.settings.get("engine"))
            for export in self.exports
            if dict(export.settings) != self.key and not deeper_keys(self.key, [export.settings])
        }
        if unused:
            self.notes.append(f"imported answers of {', '.join(sorted(unused))} are not used: their key is another")
        return runner

    def recall(self) -> None:
        """Take what the store and the imports hold under the key; what is new to the store is put there."""
        if self.shelf:
            problems = list(self.legal)
            _, self.answers = self._sound(self.shelf, problems)
            self.answers |= _deeper_answers(self.shelf, self.key, [p for p in problems if p not in self.answers])
        self.cached = len(self.answers)
        new = self._checked_imports()
        if self.shelf and new and not self.shelf.read_only:
            rows = [StoredAnalysis(p, self.legal[p], pack_lines(a), origin="imported") for p, a in new.items()]
            self.shelf.put_many(self.key, rows)
        self.answers |= new
        self.imported = len(new)
        self._report()

    def _sound(self, shelf: Store, problems: list[str]) -> tuple[dict[str, StoredAnalysis], dict[str, LineArray]]:
        """Return what is stored, and the answers in it; a damaged one is named, and left to be searched again."""
        stored = shelf.get_many(self.key, problems, faulty=True)
        answers = {problem: lines for problem, row in stored.items() if (lines := _lines(row)) is not None}
        damaged = [problem for problem, row in stored.items() if row.status == "done" and problem not in answers]
        for problem in damaged:
            _LOG.warning("%s: the answer to %s is damaged; it is searched again", shelf.path, problem)
        if damaged and not shelf.read_only:
            shelf.condemn(self.key, damaged, "the stored answer was damaged")
        return {problem: row for problem, row in stored.items() if problem not in damaged}, answers

    def _checked_imports(self) -> dict[str, LineArray]:
        """Return the imported answers that are new; one that an engine could not have given is a fault."""
        new = {}
        for problem, lines in _held(self.exports, self.key).items():
            if problem not in self.legal or problem in self.answers:
                continue
            try:
                new[problem] = checked_answer(lines, legal_moves(problem), self.settings)
            except SkilloscopeError as error:
                self.tally.fault("unusable analysis", "imports", problem, str(error))
        return new

    def give_up_failures(self) -> None:
        """Count what failed in an earlier run as failed: without an engine it cannot be tried again."""
        stored = self.shelf.get_many(self.key, list(self.legal)) if self.shelf else {}
        self.failures = {p: row.reason for p, row in stored.items() if p not in self.answers}

    def search(self, runner: SearchRunner, until: float | None) -> None:
        """Search what is not known, or has failed before; each outcome is stored, then counted, then reported."""
        todo = [problem for problem in self.legal if problem not in self.answers]
        if self.shelf and todo:
            self.shelf.check_writable()
        self.begin = time.monotonic()
        if self.shelf and todo:
            with Claims(self.shelf, self.key) as claims:
                self._search_shared(runner, todo, claims, until)
        else:
            self._take(runner.search(todo, until=until))
        self.out_of_time = len(self.answers) + len(self.failures) < len(self.legal)

    def _search_shared(self, runner: SearchRunner, todo: list[str], claims: Claims, until: float | None) -> None:
        """Search what no other process searches; then wait for what they do, and do it where they do not."""
        since = int(time.time())
        while todo:
            self._take(runner.search(claims.granted(todo), until=until), claims)
            if until is not None and time.monotonic() >= until:
                return
            todo = self._left([problem for problem in todo if not self._is_settled(problem)], since)
            if todo:
                time.sleep(_WAIT_SECONDS)

    def _take(self, outcomes: Iterable[SearchOutcome], claims: Claims | None = None) -> None:
        for outcome in outcomes:
            if self.shelf:
                self.shelf.put_many(self.key, [self._row(outcome)])
            if claims:
                claims.release(outcome.problem)
            if outcome.answer is None:
                self.failures[outcome.problem] = outcome.reason
            else:
                self.answers[outcome.problem] = outcome.answer.lines
                self.searched += 1
            self._report()

    def _is_settled(self, problem: str) -> bool:
        return problem in self.answers or problem in self.failures

    def _left(self, problems: list[str], since: int) -> list[str]:
        """Take what other processes have answered, or failed at, since then; return what is still open."""
        if not problems:
            return []
        assert self.shelf is not None
        stored, answered = self._sound(self.shelf, problems)
        self.answers |= answered
        self.cached += len(answered)
        self.failures |= {p: row.reason for p, row in stored.items() if p not in answered and row.created >= since}
        if answered:
            self._report()
        return [problem for problem in problems if not self._is_settled(problem)]

    def result(self, batch: Positions) -> Analyses:
        """Return the analyses, with every position that has no answer counted by reason."""
        missing = "not analysed (time)" if self.out_of_time else "not analysed"
        problems = [self.settings.problem(fen) for fen in batch.fen.to_pylist()]
        for problem in problems:
            if problem not in self.answers:
                self.tally.count("engine failed" if problem in self.failures else missing)
        odd = sum(map(is_chess960, batch.games.headers["start_fen"].to_pylist()))
        if odd:
            self.notes.append(f"{odd:,} of the games are of Chess960, by which no scale was fitted")
        return Analyses.from_answers(
            batch,
            self.key,
            {p: self.answers[p] for p in self.legal if p in self.answers},  # in order, wherever they came from
            searched=self.searched,
            cached=self.cached,
            imported=self.imported,
            failed=len(self.failures),
            tally=self.tally,
            about={"notes": self.notes} if self.notes else {},
            given_up=np.array([problem in self.failures for problem in problems]) if self.failures else None,
        )

    def _choose_without_engine(self, error: EngineError) -> None:
        at_hand = self._at_hand(self.shelf)
        held = at_hand[0][0] if at_hand else 0
        absent = len(self.legal) - held
        if held == 0 or (absent and not self.exports):
            raise EngineError(f"{error}, and {absent:,} positions are not analysed yet", hint=error.hint) from error
        self._use(at_hand)

    def _at_hand(self, shelf: Store | None) -> list[tuple[int, dict[str, Any]]]:
        """Return the keys that match the settings, with how many of the wanted answers each has, most first."""
        keys = [dict(export.settings) for export in self.exports] + (shelf.all_settings() if shelf else [])
        keys += [key for deep in keys if (key := shallower_key(deep, self.settings.depth or 0))]
        distinct = {settings_digest(key): key for key in keys if self.settings.matches(key)}
        counted = []
        for key in distinct.values():
            held = self.legal.keys() & _held(self.exports, key).keys()
            if shelf:
                held |= _stored_answers(shelf, key, list(self.legal)).keys()
            counted.append((len(held), key))
        return sorted(counted, key=lambda pair: -pair[0])  # stable: of equals the first

    def _use(self, at_hand: list[tuple[int, dict[str, Any]]]) -> None:
        self.key = at_hand[0][1]
        others = [str(key["engine"]) for held, key in at_hand[1:] if held]
        if others:
            self.notes.append(f"answers of {self.key['engine']} are used, the most; others are of {', '.join(others)}")

    def _row(self, outcome: SearchOutcome) -> StoredAnalysis:
        answer = outcome.answer
        if answer is None:
            return StoredAnalysis(outcome.problem, self.legal[outcome.problem], b"", "failed", outcome.reason)
        packed, seconds = pack_lines(answer.lines), round(answer.seconds, 4)
        return StoredAnalysis(outcome.problem, answer.n_legal, packed, nodes=answer.nodes, seconds=seconds)

    def _report(self) -> None:
        if self.progress is None:
            return
        self.progress(
            Progress(
                total=len(self.legal),
                done=len(self.answers) + len(self.failures),
                searched=self.searched,
                cached=self.cached,
                imported=self.imported,
                failed=len(self.failures),
                seconds=time.monotonic() - self.begin if self.begin else 0.0,
            )
        )


def _held(exports: Sequence[Export], key: Mapping[str, Any]) -> dict[str, LineArray]:
    """Return the imported answers under the key, and those of deeper searches that answer it too."""
    held = {row.fen: row.lines for export in exports if dict(export.settings) == key for row in export.rows}
    for deep in deeper_keys(key, [export.settings for export in exports]):
        for row in (row for export in exports if export.settings == deep for row in export.rows):
            cut = cut_lines(row.lines, key["depth"], min(key["multipv"], row.n_legal))
            if cut is not None:
                held.setdefault(row.fen, cut)
    return held


def _stored_answers(shelf: Store, key: Mapping[str, Any], problems: Sequence[str]) -> dict[str, LineArray]:
    """Return the stored answers under the key, and where there is none those of deeper searches that answer it too."""
    stored = shelf.get_many(key, problems)
    answers = {problem: lines for problem, row in stored.items() if (lines := _lines(row)) is not None}
    return answers | _deeper_answers(shelf, key, [problem for problem in problems if problem not in answers])


def _deeper_answers(shelf: Store, key: Mapping[str, Any], problems: Sequence[str]) -> dict[str, LineArray]:
    """Return the answers of deeper searches, cut, where that is proven to be the same."""
    answers: dict[str, LineArray] = {}
    for deep in deeper_keys(key, shelf.all_settings()) if problems else ():
        missing = [problem for problem in problems if problem not in answers]
        for problem, row in shelf.get_many(deep, missing).items():
            lines = _lines(row)
            cut = None if lines is None else cut_lines(lines, key["depth"], min(key["multipv"], row.alternatives))
            answers |= {} if cut is None else {problem: cut}
    return answers


def _lines(row: StoredAnalysis) -> LineArray | None:
    return sound_lines(row.lines) if row.status == "done" else None


@contextlib.contextmanager
def _opened(store: Store | str | os.PathLike[str] | None) -> Iterator[Store | None]:
    """Open a path; a store that is open already stays the caller's. One that may only be read is opened so."""
    if store is None or isinstance(store, Store):
        yield store
        return
    path = Path(store)
    locked = path.is_file() and not (os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK))
    with Store(path, read_only=locked) as opened:
        yield opened
