"""Jobs of tables: results of games (fit, leaderboard, everybody's history), and decisions of any domain.

In: the uploaded texts. Out, as reports of the job: `fit` and `leaderboard` (what `results fit` and `results rate` send)
with `history` by player, or `deciders` (what `decisions rate` sends).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from skilloscope.core.outputs import write_whole
from skilloscope.inference import prior_from_text
from skilloscope.models.agent import Agent
from skilloscope.sources.judge import told_decisions
from skilloscope.sources.results import read_files
from skilloscope.studies.deciders.deciders import k_from_text, rate_deciders, rate_fitting_k
from skilloscope.studies.results.results import fit_report, history_table, ratings_report
from skilloscope.studies.results.runs import rate_results
from skilloscope.web.intake import suffix_of
from skilloscope.web.workers import JobTask

_RANGE = (0.0, 4.0)


def rate_job_of_results(task: JobTask) -> None:
    """Fit the variances, rate everybody, keep the leaderboard and the history of each."""
    period = task.job.options.get("period") or None
    with _files(task) as files:
        task.tell("reading", 0, 3)
        table = read_files(files)
        task.tell("fitting", 1, 3)
        fit = fit_report(table, period)
        task.tell("rating", 2, 3)
        rated = rate_results(table, period, sigma0=fit["sigma0"], nu=fit["nu"])
    board = ratings_report(rated)
    for number, row in enumerate(board["players"], start=1):
        row["number"] = number
    numbers = {row["player"]: row["number"] for row in board["players"]}
    histories: dict[int, list[dict[str, object]]] = {}
    for row in history_table(rated).to_pylist():
        if row["player"] in numbers:
            histories.setdefault(numbers[row["player"]], []).append(row)
    task.keep({"fit": fit, "leaderboard": board, **{f"history/{n}": rows for n, rows in histories.items()}})


def rate_job_of_decisions(task: JobTask) -> None:
    """Rate the deciders of tables of any domain: their competence c."""
    k = k_from_text(str(task.job.options.get("k", "0.1")))
    with _files(task) as files:
        task.tell("reading", 0, 2)
        batch = told_decisions(files)
    task.tell("rating", 1, 2)
    if k is None:
        report = rate_fitting_k(batch, "listed")
    else:
        report = rate_deciders(batch, Agent(k=k, rule="listed"), prior_from_text("uniform", *_RANGE))
    task.keep({"deciders": report})


@contextlib.contextmanager
def _files(task: JobTask) -> Iterator[list[Path]]:
    """Give the uploads as files for as long as they are read; of their names only letters and digits are kept."""
    with task.folder() as folder:
        paths = []
        for at, (name, body) in enumerate(task.inputs()):
            stem = re.sub(r"[^\w-]+", "_", Path(name).stem)[:40] or "table"
            path = folder / f"{stem}_{at + 1}{_suffix(name, task.job.kind, body)}"
            write_whole(path, body)
            paths.append(path)
        yield paths


def _suffix(name: str, kind: str, body: bytes) -> str:
    known = Path(name).suffix.lower()
    return known if known in (".csv", ".jsonl", ".pgn") else suffix_of(kind, body)
