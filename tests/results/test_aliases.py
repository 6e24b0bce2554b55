"""Names: which spellings are one, which may be one person, and what was confirmed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.core.errors import InputError
from skilloscope.results.aliases import may_be_one, name_key, near_duplicates, read_aliases, spelt

SPELLINGS = ["Ledger, David J", "LEDGER,DAVID J.", "ledger,  david j", "Ledger,David J"]


@given(st.permutations(SPELLINGS))
def test_one_name_is_spelt_the_same_in_whatever_order_its_spellings_come(names):
    assert len({name_key(name) for name in names}) == 1
    assert set(spelt(names).values()) == {"Ledger, David J"}


@given(st.text(max_size=20))
def test_a_spelling_that_was_chosen_stays(name):
    assert spelt([name]) == {name: name}


def test_initials_and_accents_may_be_one_and_other_given_names_are_not():
    same = ["Kérès, Paul", "Keres, P", "Keres, Paul P"]
    assert all(may_be_one(one, two) for one, two in itertools.combinations(same, 2))
    assert not may_be_one("Keres, Paul", "Keres, Peter")
    assert near_duplicates([*same, "Tal, M"]) == [sorted(same)]


def test_only_what_was_confirmed_counts_and_chains_are_followed(tmp_path):
    path = tmp_path / "aliases.csv"
    path.write_text(
        'name,same_as,confirmed\n"Keres, P","Kérès, Paul",yes\n"Kérès, Paul","Keres, Paul",x\n"Tal, M",Tal,\n'
    )
    assert read_aliases(path) == {"Keres, P": "Keres, Paul", "Kérès, Paul": "Keres, Paul"}
    path.write_text("name,same_as\na,b\nb,a\n")
    with pytest.raises(InputError, match="circle"):
        read_aliases(path)
    path.write_text("one,two\n")
    with pytest.raises(InputError, match="no columns name"):
        read_aliases(path)
