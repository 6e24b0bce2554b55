"""Analysis: every position searched once, and never again.

The store is asked first, a deeper search answers a shallower question where that is proven (analyses.py), and each
answer is in the store before it is reported: interrupted runs resume where they stopped. Several processes on one store
share the work: what one of them searches, the others wait for.
"""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from skilloscope.chess.analysis.analyses import Analyses, deeper_keys, shallower_key, shallower_lines, stored_keys
from skilloscope.chess.analysis.files import Export, read_export
from skilloscope.chess.engine.lines import LineArray, checked_answer, pack_lines, sound_lines
from skilloscope.chess.engine.pool import start_runner
from skilloscope.chess.engine.runner import SearchOutcome, SearchRunner
from skilloscope.chess.engine.settings import DFH13, SearchKey, Settings
from skilloscope.chess.moves import is_chess960, legal_moves
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.core.errors import EngineError, SkilloscopeError, Tally
from skilloscope.core.paths import store_file
from skilloscope.store import Claims, Store, StoredAnalysis

_LOG = logging.getLogger(__name__)
_WAIT_SECONDS = 0.2  # between two looks at what another process has finished


@dataclass(frozen=True)
class Progress:
    """How far the work is, in different positions; what was in the store or imported is done from the start."""

    total: int
    done: int
    searched: int
    cached: int
    imported: int
    failed: int
    seconds: float  # since the first search began
    remaining_seconds: float | None  # how long the rest will take at the speed so far; None before the first search


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
        work = _Work(legal, settings, shelf, exports, progress, settings.key({"engine": None}))
        runner = work.choose(engine, workers=workers or 1, scheduler=scheduler)
        with runner or contextlib.nullcontext():
            work.recall()
            if runner is None:  # what failed in an earlier run cannot be tried again
                left = [problem for problem in legal if problem not in work.answers]
                work.failures = {p: row.reason for p, row in shelf.get_many(work.key, left).items()} if shelf else {}
            else:
                work.search(runner, None if deadline_seconds is None else begin + deadline_seconds)
    return work.result(batch)


@dataclass
class _Work:
    """The state of one analysis: which answers are wanted, which are known, and under which key."""

    legal: Mapping[str, int]
    settings: Settings
    shelf: Store | None
    exports: Sequence[Export]
    progress: Callable[[Progress], None] | None
    key: SearchKey
    answers: dict[str, LineArray] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    searched: int = 0
    cached: int = 0
    imported: int = 0
    begin: float | None = None

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
            at_hand = self._at_hand(self.shelf)
            held = at_hand[0][0] if at_hand else 0
            absent = len(self.legal) - held
            if held == 0 or (absent and not self.exports):
                raise EngineError(f"{error}, and {absent:,} positions are not analysed yet", hint=error.hint) from error
            self._use(at_hand)
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
        """Take what the store and the imports hold under the key; imported answers that cannot be are faults."""
        if self.shelf:
            stored, found = self.shelf.get_many(self.key, list(self.legal), faulty=True), self.shelf.all_settings()
            _, self.answers = self._sound(self.shelf, stored)
            missing = [problem for problem in self.legal if problem not in self.answers]
            self.answers |= _deeper_answers(self.shelf, self.key, cast(list[SearchKey], found), missing)
        self.cached = len(self.answers)
        new = {}
        for problem, lines in _held(self.exports, self.key).items():
            if problem in self.legal and problem not in self.answers:
                try:
                    new[problem] = checked_answer(lines, legal_moves(problem), self.settings)
                except SkilloscopeError as error:
                    self.tally.fault("unusable analysis", "imports", problem, str(error))
        if self.shelf and new and not self.shelf.read_only:
            rows = [StoredAnalysis(p, self.legal[p], pack_lines(a), origin="imported") for p, a in new.items()]
            self.shelf.put_many(self.key, rows)
        self.answers |= new
        self.imported = len(new)
        self._report()

    def _sound(
        self, shelf: Store, stored: Mapping[str, StoredAnalysis]
    ) -> tuple[dict[str, StoredAnalysis], dict[str, LineArray]]:
        """Return what is stored, and the answers in it; a damaged one is named, and left to be searched again."""
        answers = {problem: lines for problem, row in stored.items() if (lines := _lines(row)) is not None}
        damaged = [problem for problem, row in stored.items() if row.status == "done" and problem not in answers]
        for problem in damaged:
            _LOG.warning("%s: the answer to %s is damaged; it is searched again", shelf.path, problem)
        if damaged and not shelf.read_only:
            shelf.condemn(self.key, damaged, "the stored answer was damaged")
        return {problem: row for problem, row in stored.items() if problem not in damaged}, answers

    def search(self, runner: SearchRunner, until: float | None) -> None:
        """Search what is not known, or has failed before; on a shared store wait for what other processes search."""
        todo = [problem for problem in self.legal if problem not in self.answers]
        if self.shelf and todo:
            self.shelf.check_writable()
        self.begin = time.monotonic()
        if not self.shelf or not todo:
            self._take(runner.search(todo, until=until))
            return
        since = int(time.time())
        with Claims(self.shelf, self.key) as claims:
            while todo:
                self._take(runner.search(claims.granted(todo), until=until), claims)
                if until is not None and time.monotonic() >= until:
                    return
                todo = self._left(self.shelf, [problem for problem in todo if not self._is_settled(problem)], since)
                if todo:
                    time.sleep(_WAIT_SECONDS)

    def _take(self, outcomes: Iterable[SearchOutcome], claims: Claims | None = None) -> None:
        for outcome in outcomes:
            problem, answer = outcome.problem, outcome.answer
            if answer is None:
                row = StoredAnalysis(problem, self.legal[problem], b"", "failed", outcome.reason)
                self.failures[problem] = outcome.reason
            else:
                packed, seconds = pack_lines(answer.lines), round(answer.seconds, 4)
                row = StoredAnalysis(problem, answer.n_legal, packed, nodes=answer.nodes, seconds=seconds)
                self.answers[problem] = answer.lines
                self.searched += 1
            if self.shelf:
                self.shelf.put_many(self.key, [row])
            if claims:
                claims.release(problem)
            self._report()

    def _is_settled(self, problem: str) -> bool:
        return problem in self.answers or problem in self.failures

    def _left(self, shelf: Store, problems: list[str], since: int) -> list[str]:
        stored, answered = self._sound(shelf, shelf.get_many(self.key, problems, faulty=True))
        self.answers |= answered
        self.cached += len(answered)
        self.failures |= {p: row.reason for p, row in stored.items() if p not in answered and row.created >= since}
        if answered:
            self._report()
        return [problem for problem in problems if not self._is_settled(problem)]

    def result(self, batch: Positions) -> Analyses:
        out_of_time = self.begin is not None and len(self.answers) + len(self.failures) < len(self.legal)
        missing = "not analysed (time)" if out_of_time else "not analysed"
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
            tally=sum((export.tally for export in self.exports), self.tally),
            notes=tuple(self.notes),
            given_up=np.array([problem in self.failures for problem in problems]) if self.failures else None,
        )

    def _at_hand(self, shelf: Store | None) -> list[tuple[int, SearchKey]]:
        """Return the keys that match the settings, with how many of the wanted answers each has, most first."""
        known = stored_keys(shelf) if shelf else []
        keys = [*(export.settings for export in self.exports), *known]
        keys += [found for deep in keys if (found := shallower_key(deep, self.settings.depth or 0))]
        counted: list[tuple[int, SearchKey]] = []
        for key in keys:
            if not self.settings.matches(key) or any(key == known for _, known in counted):
                continue
            held = self.legal.keys() & _held(self.exports, key).keys()
            if shelf:
                held |= {p for p, row in shelf.get_many(key, list(self.legal)).items() if _lines(row) is not None}
                held |= _deeper_answers(shelf, key, known, [p for p in self.legal if p not in held]).keys()
            counted.append((len(held), key))
        return sorted(counted, key=lambda pair: -pair[0])  # stable: of equals the first

    def _use(self, at_hand: list[tuple[int, SearchKey]]) -> None:
        self.key = at_hand[0][1]
        others = [str(key["engine"]) for held, key in at_hand[1:] if held]
        if others:
            self.notes.append(f"answers of {self.key['engine']} are used, the most; others are of {', '.join(others)}")

    def _report(self) -> None:
        if self.progress:
            done, failed = len(self.answers) + len(self.failures), len(self.failures)
            seconds, tried = time.monotonic() - self.begin if self.begin else 0.0, self.searched + failed
            remaining = (len(self.legal) - done) * seconds / tried if tried else None
            counts = self.searched, self.cached, self.imported, failed
            self.progress(Progress(len(self.legal), done, *counts, seconds=seconds, remaining_seconds=remaining))


def _held(exports: Sequence[Export], key: SearchKey) -> dict[str, LineArray]:
    """Return the imported answers under the key, and those of deeper searches that answer it too."""
    held = {row.fen: row.lines for export in exports if dict(export.settings) == key for row in export.rows}
    for deep in deeper_keys(key, [export.settings for export in exports]):
        for row in (row for export in exports if export.settings == deep for row in export.rows):
            cut = shallower_lines(row.lines, key, row.n_legal)
            if cut is not None:
                held.setdefault(row.fen, cut)
    return held


def _deeper_answers(
    shelf: Store, key: SearchKey, stored: Sequence[SearchKey], problems: Sequence[str]
) -> dict[str, LineArray]:
    """Return the answers of deeper searches, of the keys that are stored, cut, where that is proven to be the same."""
    answers: dict[str, LineArray] = {}
    for deep in deeper_keys(key, stored) if problems else ():
        missing = [problem for problem in problems if problem not in answers]
        for problem, row in shelf.get_many(deep, missing).items():
            lines = _lines(row)
            cut = None if lines is None else shallower_lines(lines, key, row.alternatives)
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
    path = store_file(store)
    locked = path.is_file() and not (os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK))
    with contextlib.closing(Store(path, read_only=locked)) as opened:
        yield opened
