"""The players of a table under their right names: spellings put together, aliases followed, nothing in silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from skilloscope.core.errors import Tally
from skilloscope.results.names import ALIASES, SPELLINGS, name_key, spelt
from skilloscope.results.reading import YOURSELF
from skilloscope.results.table import Results, sorted_codes


def renamed_players(results: Results, aliases: Mapping[str, str]) -> Results:
    """Return the games with every player under one name; a game between two names of one person is left out.

    >>> table = Results.from_columns(["Bo,A", "BO, A."], ["Cy", "Cy"], [1, 1], period=[1, 2])
    >>> renamed_players(table, {"Cy": "Cyd"}).players
    ('Bo,A', 'Cyd')
    """
    own = spelt(results.players)
    known = {name_key(name): other for name, other in aliases.items()}
    names = [known.get(name_key(name), own[name]) for name in results.players]
    if names == list(results.players):
        return results
    players, codes = sorted_codes(pa.array(names, type=pa.string()))
    noted = Tally()
    noted.count(SPELLINGS, sum(own[name] != name for name in results.players))
    noted.count(ALIASES, sum(name_key(name) in known for name in results.players))
    moved = replace(
        results,
        players=players,
        player_1=codes[results.player_1],
        player_2=codes[results.player_2],
        noted=results.noted + noted,
    )
    himself = moved.player_1 == moved.player_2
    if not himself.any():
        return moved
    kept = moved.select(~himself).of_players()
    return replace(kept, tally=kept.tally + Tally({YOURSELF: int(himself.sum())}))
