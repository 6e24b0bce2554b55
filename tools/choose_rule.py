"""Which choice-set rule recovers the truth: full lists of real positions, choices simulated, cut to ten, c recovered.

    .venv/bin/python tools/choose_rule.py ../shared/data/analysed/bands_sf151_mpv10_depths.jsonl.gz

In: positions of real games with ten moves listed. Every legal move of a seeded sample of them is valued by one more
search (measurements/full_lists_sf151.jsonl.gz keeps the answers, so that it is made once). An agent of known c then
chooses among all legal moves by those values. Two cuts are judged: `cut` keeps the ten best of the full list; `search`
takes the ten moves and values of the separate ten-move search, as the pipeline has them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.files import export_analyses, read_analysed
from skilloscope.chess.engine.lines import last_depth
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.moves import value_pawns
from skilloscope.decision import UNLISTED, Decisions
from skilloscope.evidence import Grid, agent_evidence
from skilloscope.models.agent import Agent
from skilloscope.papers.harness import SHARED_ANALYSES
from skilloscope.simulate.deciders import cut_lists, simulate_choices

FULL = Settings(depth=10, multipv=500)
KEPT = Path(__file__).resolve().parent.parent / "measurements" / "full_lists_sf151.jsonl.gz"
COMPETENCES = (0.7, 0.9, 1.1, 1.3, 1.5, 1.8)
RULES = ("listed", "bucket", "sampled", "full")


def main() -> None:
    """Analyse the sample, then print what each rule makes of each c."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analysed", type=Path)
    parser.add_argument("--positions", type=int, default=400)
    parser.add_argument("--decisions", type=int, default=40_000, help="simulated per competence")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    ten, full = both_lists(arguments.analysed, arguments.positions, rng)
    times = arguments.decisions // len(ten)
    print(
        f"{len(ten)} positions with every legal move, each chosen in {times} times; estimate − truth (sd of estimate)"
    )
    print(f"{'cut':>8} {'c':>5} {'unlisted':>9}  " + "".join(f"{rule:>20}" for rule in RULES))
    for c in COMPETENCES:
        everything = simulate_choices(repeated(full, times), c, rng=rng)
        for cut, batch in (
            ("cut", cut_lists(everything, 10, rng=rng)),
            ("search", searched(repeated(ten, times), everything, rng)),
        ):
            cells = [bias(everything if rule == "full" else batch, rule, c) for rule in RULES]
            print(
                f"{cut:>8} {c:>5} {float((~batch.listed).mean()):>9.3f}  " + "".join(f"{cell:>20}" for cell in cells),
                flush=True,
            )


def both_lists(path: Path, n: int, rng: np.random.Generator) -> tuple[Decisions, Decisions]:
    """Return the sampled positions twice: with ten moves listed, and with all; alternatives carry their moves."""
    listed = read_analysed(path, SHARED_ANALYSES)
    fens = listed.positions.fen.to_pylist()
    first = np.sort([fens.index(fen) for fen in dict.fromkeys(fens)])
    wide = first[listed.positions.n_legal[first] > 10]
    best = np.array(
        [value_pawns(a["mate"][:1], a["score"][:1])[0] for a in (last_depth(listed.answer(i)) for i in wide)]
    )
    sample = np.sort(rng.permutation(wide[np.abs(best) <= 3.0])[:n])
    chosen = listed.positions.select(sample)
    imports = [KEPT] if KEPT.is_file() else []
    whole = analyse(chosen, settings=FULL, imports=imports, progress=lambda p: print(f"\r{p.done}/{p.total}", end=""))
    if whole.searched:
        print(f"\n{export_analyses(KEPT, whole.settings, whole.rows())} full lists kept in {KEPT.name}")
    return lists(listed, sample), lists(whole, np.arange(len(chosen)))


def lists(analyses: Analyses, rows: np.ndarray) -> Decisions:
    """Return the last depth of these positions as decisions; `unlisted_value` is not set, `moves` is in the context."""
    answers = [last_depth(analyses.answer(int(row))) for row in rows]
    values = [value_pawns(answer["mate"], answer["score"]) for answer in answers]
    legal = analyses.positions.n_legal[rows]
    moves = [
        answer["move"][np.argsort(-value, kind="stable")].tolist()
        for answer, value in zip(answers, values, strict=True)
    ]
    return Decisions.from_lists(["agent"] * len(rows), values, [0] * len(rows), n_legal=legal, context={"moves": moves})


def repeated(batch: Decisions, times: int) -> Decisions:
    """Return the batch so many times over."""
    return batch.select(np.tile(np.arange(len(batch)), times))


def searched(ten: Decisions, everything: Decisions, rng: np.random.Generator) -> Decisions:
    """Return the ten-move lists with the choices made on the full ones, and one valued unlisted move each."""
    short, long = ten.context["moves"].to_pylist(), everything.context["moves"].to_pylist()
    chosen, unlisted = np.full(len(ten), UNLISTED), np.full(len(ten), np.nan)
    for row, (few, all_moves) in enumerate(zip(short, long, strict=True)):
        move = all_moves[everything.chosen[row]]
        outside = [at for at, other in enumerate(all_moves) if other not in few]
        if move in few:
            chosen[row] = few.index(move)
        at = everything.chosen[row] if move not in few else outside[rng.integers(len(outside))]
        unlisted[row] = everything.judged[everything.offsets[row] + at]
    return replace(ten, chosen=chosen.astype(np.int32), unlisted_value=unlisted)


def bias(batch: Decisions, rule: str, c: float) -> str:
    """Return how far the estimate is from the truth, with its sd."""
    posterior = agent_evidence(batch, Agent(rule=rule), Grid(0, 4, 64)).total().posterior()
    return f"{posterior.mean - c:+.3f} ({posterior.sd:.3f})"


if __name__ == "__main__":
    main()
