"""Four-in-a-row on a board of 36 squares: a value for every free square, from a solver that sees some wins.

The format is CSV, packed or not, one row per move:

    row,player,color,group,black_bits,white_bits,chosen_square,rt_ms,values_36_by_square_nan_if_occupied

`player` is a number, `color` Black or White, the two bit boards hold the stones before the move (bit i is square i),
and the last column has 36 numbers, `nan` where a stone stands.

**The values are Black's**, whoever is to move: White's are turned round. Where the solver sees the end it says ±10000.
A solved win is a mark, not a measure: ten thousand would be the only loss that a mean or a figure shows, and a k fitted
to the other losses would know nothing of it. So values are clipped at ± a cap, `SOLVED_CAP` unless told otherwise;
squares that are clipped alike are ties. The share of values that were clipped is in `about`.

The solver's sums differ in their sixteenth digit (5.6e-16 beside 0), so values are rounded to nine decimals: equal
squares are ties, not losses of nothing.

Every free square is listed, so the list is complete and every choice-set rule gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skilloscope.core.errors import OptionError
from skilloscope.decision.decisions import Decisions
from skilloscope.decision.domains.collecting import Collected, csv_rows, finite

SQUARES = 36
SOLVED_CAP = 20.0
"""Values beyond ± this, solved positions among them, count as this much. Heuristic values reach 19.2."""

_DECIMALS = 9
_VALUES = "values_36_by_square_nan_if_occupied"
_NEEDED = ("player", "color", "black_bits", "white_bits", "chosen_square", _VALUES)


def read_four_in_a_row(paths: Sequence[str | Path], *, cap: float = SOLVED_CAP) -> Decisions:
    """Return the moves of the files, valued from the mover's view, solved values clipped at ± `cap`."""
    if not (np.isfinite(cap) and cap > 0):
        raise OptionError(f"the cap of solved values must be a positive number, got {cap}")
    collected = Collected()
    clipped = total = 0
    for path in map(Path, paths):
        for place, entry in csv_rows(path, _NEEDED, collected.tally):
            try:
                free, values, chosen = _move(entry)
            except ValueError as error:
                collected.tally.fault("unreadable move", str(path), place, str(error)[:80])
                continue
            clipped += int(np.sum(np.abs(values) > cap))
            total += len(values)
            _add(collected, entry, free, np.clip(values, -cap, cap), chosen, f"{path.name}#{place}")
    about = {
        "domain": "four in a row",
        "unit": "solver's value",
        "cap": cap,
        "clipped_share": clipped / total if total else 0.0,
    }
    return collected.decisions(", ".join(map(str, paths)), about)


def _move(entry: dict[str, str]) -> tuple[list[int], np.ndarray[tuple[int], np.dtype[np.float64]], int]:
    """Return the free squares, their values for the mover, and the square played; a ValueError says what is wrong."""
    cells = entry[_VALUES].split()
    black, white, square = (int(entry[name]) for name in ("black_bits", "white_bits", "chosen_square"))
    if len(cells) != SQUARES:
        raise ValueError(f"{len(cells)} values for {SQUARES} squares")
    if entry["color"] not in ("Black", "White"):
        raise ValueError(f"color is {entry['color']!r}")
    free = [at for at in range(SQUARES) if cells[at].lower() != "nan"]
    taken = sum(1 << at for at in range(SQUARES) if at not in free)
    if black & white or black | white != taken:
        raise ValueError("the stones are not on the squares without a value")
    if square not in free:
        raise ValueError(f"square {square} is not free")
    sign = 1.0 if entry["color"] == "Black" else -1.0
    values = np.round([finite(cells[at]) for at in free], _DECIMALS)
    return free, sign * values + 0.0, free.index(square)  # 0.0 is added so that nothing is never minus nothing


def _add(
    collected: Collected,
    entry: dict[str, str],
    free: list[int],
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
    chosen: int,
    problem: str,
) -> None:
    collected.add(
        f"player {entry['player']}",
        values.tolist(),
        [str(at) for at in free],
        chosen,
        len(free),
        problem=problem,
        position=f"{entry['black_bits']}/{entry['white_bits']}",
        mover=entry["color"].lower(),
        stones=SQUARES - len(free),
        group=entry.get("group"),
    )
