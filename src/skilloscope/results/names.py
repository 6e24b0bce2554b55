"""Names of players: which spellings are one name, which may be one person, and what a person has confirmed.

The rule. Blanks, capitals, the blank after a comma and the dots of initials do not make another name: `LEDGER,DAVID J.`
and `Ledger, David J` are one, spelt in mixed letters and with a blank after the comma where it ever is. Nothing else is
put together unasked. What may be one person (an initial for a name, a missing middle name, accents) is listed; a file
of aliases says what somebody has confirmed.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.files import open_lines
from skilloscope.core.records import read_header

SPELLINGS = "other spelling of a name put together (capitals, blanks, commas, dots)"
ALIASES = "name replaced by an alias"
ALIAS_COLUMNS = ("name", "same_as", "confirmed")
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
        best[key] = min(best.get(key, name), name, key=_plainness)
    return {name: best[name_key(name)] for name in names}


def _plainness(name: str) -> tuple[bool, bool, str]:
    return name.isupper() or name.islower(), "," in name and ", " not in name, name


def may_be_one(one: str, two: str) -> bool:
    """Return whether two names may be one person's: the same family name, and given names that agree as far as told.

    >>> may_be_one("Kosmo, S", "Kosmo, Sakari"), may_be_one("Bigg, Andrew J", "Bigg, A"), may_be_one("Bu, X", "Bu, Y")
    (True, True, False)
    """
    (family_1, given_1), (family_2, given_2) = _parts(one), _parts(two)
    return (
        family_1 == family_2
        and bool(family_1)
        and all(a.startswith(b) or b.startswith(a) for a, b in zip(given_1, given_2, strict=False))
    )


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
        if equals and not Path(text).is_file():
            if not (spelling.strip() and name.strip()):
                raise OptionError(
                    f"cannot read the alias {text!r}", hint="write SPELLING=NAME, or name a file of aliases"
                )
            found[spelling.strip()] = name.strip()
        else:
            if not Path(text).is_file():
                raise OptionError(f"no pair and no file: cannot read the alias {text!r}", hint="write SPELLING=NAME")
            found |= read_aliases(Path(text))
    return found


def read_aliases(path: Path) -> dict[str, str]:
    """Read a table name,same_as: who is who. Where it has a column `confirmed`, only rows that say yes count.

    An alias may lead to another; a circle is refused.
    """
    with open_lines(path) as lines:
        header = read_header(next(lines, "").rstrip("\n"), ",")
        if not {"name", "same_as"} <= set(header):
            raise InputError(f"{path}: no columns name and same_as", hint="`skilloscope names FILE --out` writes them")
        rows = [dict(zip(header, row, strict=False)) for row in csv.reader(lines)]
    said = {
        row["name"].strip(): row.get("same_as", "").strip()
        for row in rows
        if row.get("name", "").strip() and ("confirmed" not in header or _confirmed(row))
    }
    return {name: _followed(name, said, path) for name, other in said.items() if other and other != name}


def _confirmed(row: Mapping[str, str]) -> bool:
    return row.get("confirmed", "").strip().lower() in _YES


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
    """Return the groups of two and more in which everybody is linked to somebody."""
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
