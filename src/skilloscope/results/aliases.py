"""Names of players: spellings of one name, aliases that a user has confirmed, and names as codes.

Spaces, capitals, the space after a comma and the dots of initials do not make another name. Nothing else is merged
unasked: names that may be one person's (an initial for a name, a missing middle name, accents) are listed, and a file
of aliases holds what the user has confirmed.

`NameCodes` turns columns of names or ids into codes, over one table or over all batches of a stream. A value is handled
as a Python string when it is first seen, and never again: later batches are looked up in Arrow.
"""

import csv
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.columns import Bools, Codes, one_dictionary
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.core.files import open_lines
from skilloscope.core.text import read_header
from skilloscope.results.table import YOURSELF, Results, sorted_codes

SPELLINGS = "other spelling of a name put together (capitals, blanks, commas, dots)"
ALIASES = "name replaced by an alias"
_YES = {"yes", "y", "x", "1", "true", "ja", "oui"}
_MARKS = re.compile(r"[.\s]+")


def name_key(name: str) -> str:
    """Return what spellings of one name share.

    >>> name_key("LEDGER,DAVID J."), name_key("Ledger,  David J")
    ('ledger,david j', 'ledger,david j')
    """
    return ",".join(_MARKS.sub(" ", part).strip() for part in name.casefold().split(","))


def spelt(names: Sequence[str]) -> dict[str, str]:
    """Return for each name the spelling it goes by among those of one key; which one does not depend on the order.

    >>> spelt(["Kosmo,S", "KOSMO, S.", "Kosmo, S.", "Kosmo, Sakari"])["KOSMO, S."]
    'Kosmo, S.'
    """
    best: dict[str, str] = {}
    for name in names:
        key = name_key(name)
        found = best.get(key, name), name
        best[key] = min(found, key=lambda one: (one.isupper() or one.islower(), "," in one and ", " not in one, one))
    return {name: best[name_key(name)] for name in names}


def _settled(names: Sequence[str], aliases: Mapping[str, str]) -> tuple[dict[str, str], Tally]:
    """Return what each name is replaced by, `aliases` being by key, and how many were put together."""
    own, noted = spelt(names), Tally()
    noted.count(SPELLINGS, sum(own[name] != name for name in names))
    noted.count(ALIASES, sum(name_key(name) in aliases for name in names))
    return {name: aliases.get(name_key(name), own[name]) for name in names}, noted


def may_be_one(one: str, two: str) -> bool:
    """Return whether two names may be one person's: the same family name, and given names that agree as far as known.

    >>> may_be_one("Kosmo, S", "Kosmo, Sakari"), may_be_one("Bigg, Andrew J", "Bigg, A"), may_be_one("Bu, X", "Bu, Y")
    (True, True, False)
    """
    (family_1, given_1), (family_2, given_2) = _parts(one), _parts(two)
    agree = (a.startswith(b) or b.startswith(a) for a, b in zip(given_1, given_2, strict=False))
    return family_1 == family_2 and bool(family_1) and all(agree)


def near_duplicates(names: Iterable[str]) -> list[list[str]]:
    """Return groups of names each of which may be one person with another of its group.

    >>> near_duplicates(["Kosmo, Sakari", "Bu, X", "Kosmo, S"])
    [['Kosmo, S', 'Kosmo, Sakari']]
    """
    families: dict[str, list[str]] = defaultdict(list)
    for name in names:
        families[_parts(name)[0]].append(name)
    groups: list[list[str]] = []
    for family, members in families.items():
        if family and len(members) > 1:
            groups += _linked(sorted(members))
    return sorted(groups)


def aliases_given(texts: Iterable[str]) -> dict[str, str]:
    """Return who is who from what was given on a command line: `SPELLING=NAME`, or a file of aliases.

    >>> aliases_given(["Kosmo, S=Kosmo, Sakari"])
    {'Kosmo, S': 'Kosmo, Sakari'}
    """
    found: dict[str, str] = {}
    for text in texts:
        spelling, equals, name = text.rpartition("=")  # a spelling may hold more of them
        if Path(text).is_file():
            found |= read_aliases(Path(text))
        elif equals and spelling.strip() and name.strip():
            found[spelling.strip()] = name.strip()
        else:
            raise OptionError(f"cannot read the alias {text!r}", hint="write SPELLING=NAME, or name a file of aliases")
    return found


def read_aliases(path: Path) -> dict[str, str]:
    """Read a table name,same_as of confirmed aliases; one may lead to another, a circle is refused."""
    with open_lines(path) as lines:
        header = read_header(next(lines, "").rstrip("\n"), ",")
        if not {"name", "same_as"} <= set(header):
            raise InputError(
                f"{path}: no columns name and same_as", hint="`skilloscope results aliases FILE --out` writes them"
            )
        rows = [dict(zip(header, row, strict=False)) for row in csv.reader(lines)]
    unasked = "" if "confirmed" in header else "yes"
    said = {
        row["name"].strip(): row.get("same_as", "").strip()
        for row in rows
        if row.get("name", "").strip() and row.get("confirmed", unasked).strip().lower() in _YES
    }
    return {name: _followed(name, said, path) for name, other in said.items() if other and other != name}


def _followed(name: str, said: Mapping[str, str], path: Path) -> str:
    seen = {name}
    while said.get(name):
        name = said[name]
        if name in seen:
            raise InputError(f"{path}: the aliases of {name} go round in a circle", hint="take one of them out")
        seen.add(name)
    return name


def _parts(name: str) -> tuple[str, list[str]]:
    """Return the family name and the given names, without accents: `Family, Given`, or the last word is the family."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name_key(name)) if not unicodedata.combining(c))
    family, comma, given = plain.partition(",")
    if comma:
        return family, given.replace(",", " ").replace("-", " ").split()
    *first, last = plain.split() or [""]
    return last, first


def _linked(members: Sequence[str]) -> list[list[str]]:
    """Return the groups of two and more in which every name is linked to another."""
    left, groups = list(members), []
    while left:
        group, queue = [], [left.pop(0)]
        while queue:
            name = queue.pop()
            group.append(name)
            near = [other for other in left if may_be_one(name, other)]
            left = [other for other in left if other not in near]
            queue += near
        if len(group) > 1:
            groups.append(sorted(group))
    return groups


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
        kind = values.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
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
        names = list(self.players)
        if self._aliases is None:
            return names, Tally()
        own, noted = _settled(list(self._places), self._aliases)
        for name, place in self._places.items():
            names[place] = own[name]
        return names, noted

    def _marked(self) -> None:
        """Mark the new names that are none, and those that say that nobody was there to play."""
        fresh = self.players[len(self.blank) :]
        if fresh:
            self.blank = np.append(self.blank, [not name for name in fresh])
            self.bye = np.append(self.bye, [name.lower() in _BYES for name in fresh])


def hits(marks: Bools, codes: Codes) -> Bools:
    """Return which rows name a marked player."""
    return np.asarray(marks[codes]) if marks.any() else np.zeros(len(codes), dtype=bool)


def renamed_players(results: Results, aliases: Mapping[str, str]) -> Results:
    """Return the games with every player under one name; a game between two names of one person is left out.

    >>> table = Results.from_columns(["Bo,A", "BO, A."], ["Cy", "Cy"], [1, 1], period=[1, 2])
    >>> renamed_players(table, {"Cy": "Cyd"}).players
    ('Bo,A', 'Cyd')
    """
    own, noted = _settled(results.players, {name_key(name): other for name, other in aliases.items()})
    if all(name == other for name, other in own.items()):
        return results
    players, codes = sorted_codes(pa.array([own[name] for name in results.players], type=pa.string()))
    one, two = codes[results.player_1], codes[results.player_2]
    moved = replace(results, players=players, player_1=one, player_2=two, noted=results.noted + noted)
    himself = moved.player_1 == moved.player_2
    if not himself.any():
        return moved
    kept = moved.select(~himself).of_players()
    return replace(kept, tally=kept.tally + Tally({YOURSELF: int(himself.sum())}))
