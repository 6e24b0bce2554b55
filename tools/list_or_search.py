"""Is a list cut to ten the same as a search with ten lines? Real positions, judged both ways, in one report.

    .venv/bin/python tools/list_or_search.py ../shared/data/analysed/bands_sf151_mpv10_depths.jsonl.gz

In: analysed games with ten lines, and measurements/full_lists_sf151.jsonl.gz, which holds every legal move of a sample
of their positions. No engine is asked. Out: the tables of `decisions sensitivity`, with every legal move as base.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console

from skilloscope.chess.analysis.analyses import Analyses, decisions
from skilloscope.chess.analysis.files import read_analysed, read_export
from skilloscope.chess.engine.settings import problem_text
from skilloscope.papers.harness import SHARED_ANALYSES
from skilloscope.report.table import drawn
from skilloscope.studies.sensitivity import Varied, sensitivity

KEPT = Path(__file__).resolve().parent.parent / "measurements" / "full_lists_sf151.jsonl.gz"


def main() -> None:
    """Join the two searches by position and print what each makes of the same moves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analysed", type=Path)
    ten = read_analysed(parser.parse_args().analysed, SHARED_ANALYSES)
    export = read_export(KEPT)
    answers = {row.fen: row.lines for row in export.rows}
    rule = export.settings["fen_rule"]
    rows = np.array([problem_text(fen, rule) in answers for fen in ten.positions.fen.to_pylist()])
    chosen = ten.positions.select(np.flatnonzero(rows))
    every = Analyses.from_answers(chosen, export.settings, answers)
    few = Analyses.from_answers(chosen, ten.settings, dict(_answers(ten, rows)))
    judged = [decisions(analyses, named_moves=True) for analyses in (every, few)]
    study = sensitivity(judged[0], Varied(lists=(5, 10), judges={"search with 10 lines": judged[1]}), by="mover")
    for sheet in study.tables():
        Console(width=160).print(drawn(sheet))


def _answers(analyses: Analyses, rows: np.ndarray) -> list[tuple[str, np.ndarray]]:
    fens, rule = analyses.positions.fen.to_pylist(), analyses.settings["fen_rule"]
    return [(problem_text(fens[at], rule), analyses.answer(int(at))) for at in np.flatnonzero(rows)]


if __name__ == "__main__":
    main()
