"""How the rows of a table stand when it is sorted by a column: worked out before, so that a page needs no script.

In: cells as they are read. Out: for each row its place under each column. Words rise and numbers fall, since whoever
sorts by a number looks for the greatest; of a cell such as `2310 (2105 to 2528)` the first number counts. What is
unknown comes last, and rows that are equal stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?")
_UNKNOWN = ("", "–", "?")


def sorted_places(rows: Sequence[Sequence[str]], labels: Collection[int]) -> list[list[int]]:
    """Return for each row its place, counted from 0, when the table is sorted by each column.

    >>> sorted_places([["b", "9"], ["A", "1,200"]], labels=[0])
    [[1, 1], [0, 0]]
    """
    columns = list(zip(*rows, strict=True))
    places = [[0] * len(columns) for _ in rows]
    for column, cells in enumerate(columns):
        numbers = [cell_number(cell) for cell in cells]
        words = column in labels or all(number is None for number in numbers)
        keys = [_words_key(cell) for cell in cells] if words else [_number_key(number) for number in numbers]
        for place, row in enumerate(sorted(range(len(rows)), key=keys.__getitem__)):
            places[row][column] = place
    return places


def cell_number(cell: str) -> float | None:
    """Return the first number of a cell; None where it has none.

    >>> cell_number("2310 (2105 to 2528)"), cell_number("−1,204.5 %"), cell_number("½"), cell_number("–")
    (2310.0, -1204.5, 0.5, None)
    """
    found = _NUMBER.search(cell)
    if found is None:
        return 0.5 if "½" in cell else None
    number = float(found[0].replace(",", "").replace("−", "-"))
    return number + 0.5 if cell[found.end() :].startswith("½") else number


def _words_key(cell: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Order words as people do: without regard to case, `round 2` before `round 10`."""
    parts = re.split(r"(\d{1,15})", cell.casefold().strip())
    return cell.strip() in _UNKNOWN, [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _number_key(number: float | None) -> tuple[bool, float]:
    return number is None, 0.0 if number is None else -number
