"""Jobs of tables: results of games (leaderboard, fit, everybody's history), and decisions of any domain.

In: the uploaded texts. Out, as reports of the job: the `leaderboard` that `results rate` sends for the same files, the
`fit` behind it, and `history` by place; or `deciders` (what `decisions rate` sends).
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from skilloscope.core.paths import write_whole
from skilloscope.evidence import prior_from_text
from skilloscope.inputs.load import told_decisions
from skilloscope.models.agent import Agent
from skilloscope.results.reading import Reading
from skilloscope.studies.deciders import k_from_text, rate_deciders, rate_fitting_k
from skilloscope.studies.results import rating
from skilloscope.studies.results.forecasts import FitStudy
from skilloscope.web.jobs import JobTask
from skilloscope.web.uploads import suffix_of

_RANGE = (0.0, 4.0)


def rate_job_of_results(task: JobTask) -> None:
    """Rate everybody as `results rate` does, and keep the leaderboard, its fit, and the history of each."""
    with _files(task) as files:
        task.tell("rating", 0, 2)
        known = "header" if task.job.options.get("known") and all(file.suffix == ".pgn" for file in files) else None
        board = rating.results(files, period=task.job.options.get("period") or None, reading=Reading(observed=known))
    task.tell("histories", 1, 2)
    run, places = board.rated, {one.row.player: one.place for one in board.players}
    reports: dict[str, object] = {"leaderboard": board.as_dict()}
    if run.fit:
        study = FitStudy(run.fit, run.period, warnings=run.fit.warnings, tally=run.tally, noted=run.noted)
        reports["fit"] = study.as_dict()
    histories: dict[str, list[object]] = {}
    for row in run.history.to_arrow().to_pylist():
        histories.setdefault(f"history/{places[row['player']]}", []).append(row)
    task.keep(reports | histories)


def rate_job_of_decisions(task: JobTask) -> None:
    """Rate the deciders of tables of any domain: their competence c."""
    k = k_from_text(str(task.job.options.get("k", "0.1")))
    with _files(task) as files:
        task.tell("reading", 0, 2)
        batch = told_decisions(files)
    task.tell("rating", 1, 2)
    if k is None:
        study = rate_fitting_k(batch, "listed")
    else:
        study = rate_deciders(batch, Agent(k=k, rule="listed"), prior_from_text("uniform", *_RANGE))
    task.keep({"deciders": study.as_dict()})


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
