"""Players' names as codes, over one table or over all batches of a stream.

In: columns of names or ids, as Arrow has them. Out: codes into a list of names that only grows.

Blanks around and within a name are evened out, so the list holds each name once. A value is looked at as a Python text
when it first comes, and never again: later batches are looked up in Arrow, a hash and no object a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.columns import Codes
from skilloscope.core.errors import Tally
from skilloscope.results.names import ALIASES, SPELLINGS, name_key, spelt

_SMALL = 1 << 24  # ids below it have a place each in a list
_BYES = {"bye", "bye bye", "-bye-", "(bye)"}


class NameCodes:
    """The players met so far, in the order in which they came, and the code of every value that named one.

    >>> names = NameCodes()
    >>> names.of(pa.chunked_array([["Ann", " Bo ", "Ann", None]])), names.of(pa.chunked_array([["Bo"]])), names.players
    (array([0, 1, 0, 2], dtype=int32), array([1], dtype=int32), ['Ann', 'Bo', ''])
    """

    def __init__(self, aliases: Mapping[str, str] | None = None) -> None:
        """Without `aliases` every text is a name; with them, be there none, spellings of one name are one player."""
        self.players: list[str] = []
        self.blank = self.bye = np.zeros(0, dtype=bool)
        self._places: dict[str, int] = {}
        self._aliases = None if aliases is None else {name_key(name): other for name, other in aliases.items()}
        self._keys: dict[str, int] = {}
        self._by_number = np.zeros(0, dtype=np.int32)
        self._met: dict[pa.DataType, tuple[pa.Array, Codes]] = {}

    def of(self, column: pa.ChunkedArray) -> Codes:
        """Return the code of every row; rows without a name have that of the empty name."""
        if pa.types.is_integer(column.type) and not column.null_count and len(column):
            numbers = column.to_numpy()
            if numbers.min() >= 0 and numbers.max() < _SMALL:
                return self._of_numbers(numbers)
        values, indices = one_dictionary(column)
        code = self._of_values(values)
        if column.null_count:
            indices, code = indices.fill_null(len(values)), np.append(code, self._place(None)).astype(np.int32)
        self._marked()
        return np.asarray(code[indices.to_numpy(zero_copy_only=False)])

    def _of_numbers(self, numbers: npt.NDArray[np.integer[Any]]) -> Codes:
        """Return the codes of small whole numbers, looked up by the number itself."""
        more = int(numbers.max()) + 1 - len(self._by_number)
        if more > 0:
            self._by_number = np.append(self._by_number, np.full(more, -1, dtype=np.int32))
        code = self._by_number[numbers]
        if code.min() < 0:
            fresh = np.unique(numbers[code < 0])
            self._by_number[fresh] = [self._place(number) for number in fresh.tolist()]
            self._marked()
            code = self._by_number[numbers]
        return np.asarray(code)

    def _of_values(self, values: pa.Array) -> Codes:
        """Return the codes of distinct values; those never met before get theirs."""
        if not _can_be_looked_up(values.type):
            return np.array([self._place(value) for value in values.to_pylist()], dtype=np.int32)
        met, known = self._met.get(values.type, (values[:0], np.zeros(0, dtype=np.int32)))
        found = pc.index_in(values, value_set=met)
        if found.null_count:
            fresh = values.filter(found.is_null())
            met = pa.concat_arrays([met, fresh])
            known = np.append(known, [self._place(value) for value in fresh.to_pylist()]).astype(np.int32)
            self._met[values.type] = met, known
            found = pc.index_in(values, value_set=met)
        return np.asarray(known[found.to_numpy()])

    def _place(self, value: object) -> int:
        name = "" if value is None else " ".join(str(value).split())
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = self._keys.setdefault(self._key(name), len(self.players))
        if place == len(self.players):
            self.players.append(name)
        return place

    def _key(self, name: str) -> str:
        """Return what all names of one player share."""
        if self._aliases is None:
            return name
        key = name_key(name)
        return name_key(self._aliases[key]) if key in self._aliases else key

    @property
    def spellings(self) -> list[str]:
        """All names that were met, those that are one player's among them."""
        return list(self._places)

    def spelt(self) -> tuple[list[str], Tally]:
        """Return the name that each player goes by, now that all were met, and how many others were put together."""
        noted = Tally()
        if self._aliases is None:
            return list(self.players), noted
        own, names = spelt(list(self._places)), list(self.players)
        for name, place in self._places.items():
            names[place] = self._aliases.get(name_key(name), own[name])
        noted.count(SPELLINGS, sum(own[name] != name for name in self._places))
        noted.count(ALIASES, sum(name_key(name) in self._aliases for name in self._places))
        return names, noted

    def _marked(self) -> None:
        """Mark the new names that are none, and those that say that nobody was there to play."""
        fresh = self.players[len(self.blank) :]
        if fresh:
            self.blank = np.append(self.blank, [not name for name in fresh])
            self.bye = np.append(self.bye, [name.lower() in _BYES for name in fresh])


def one_dictionary(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the distinct values of a column, and each row's place among them, null where it has none."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = encoded.chunk(0) if encoded.num_chunks == 1 else encoded.unify_dictionaries().combine_chunks()
    return whole.dictionary, whole.indices


def _can_be_looked_up(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))


def hits(marks: npt.NDArray[np.bool_], codes: Codes) -> npt.NDArray[np.bool_]:
    """Return which rows name a marked player."""
    return np.asarray(marks[codes]) if marks.any() else np.zeros(len(codes), dtype=bool)
