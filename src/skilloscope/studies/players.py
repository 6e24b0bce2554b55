"""Some players out of many games: one person under several spellings is one player, the others are not analysed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilloscope.chess.games import Games, read_games
from skilloscope.decision import Decisions
from skilloscope.decision.columns import encode
from skilloscope.decision.text import table_kind
from skilloscope.errors import InputError, Tally
from skilloscope.studies.judging import Judged, Work, check_name, judge, judge_games, players, without_repeats

__all__ = ["alias_table", "judge_players", "renamed"]


def alias_table(spellings: Sequence[str]) -> dict[str, str]:
    """Return spellings by name from texts such as `Korchnoi,V=Kortschnoj, Viktor`.

    >>> alias_table(["Korchnoi,V=Kortschnoj, Viktor"])
    {'Korchnoi,V': 'Kortschnoj, Viktor'}
    """
    found = {}
    for text in spellings:
        spelling, equals, name = (part.strip() for part in text.partition("="))
        if not (spelling and equals and name):
            raise InputError(f"no alias: {text!r}", hint="write SPELLING=NAME")
        found[spelling] = name
    return found


def renamed(batch: Decisions, names: Mapping[str, str]) -> Decisions:
    """Return the decisions with deciders renamed; two that get the same name are one."""
    deciders, codes = encode([names.get(name, name) for name in batch.deciders])
    return replace(batch, deciders=deciders, decider=codes[batch.decider])


def judge_players(
    paths: Sequence[Path], work: Work, wanted: Sequence[str], aliases: Mapping[str, str] | None = None
) -> Judged:
    """Return the decisions of the wanted players in games and tables, together; nobody else's moves are analysed."""
    tables = [path for path in paths if table_kind(path)]
    files = [path for path in paths if path not in tables]
    games = read_games(files).renamed(aliases or {}) if files else None
    found = []
    if tables:
        batch = renamed(judge(tables, work).decisions, aliases or {})
        found.append(Judged(batch.select(_of_players(batch, wanted))))
    known = [*(players(games) if games else []), *(name for one in found for name in one.decisions.names())]
    for player in wanted:
        check_name(player, known)
    if games:
        found += _from_games(games, work, wanted)
    together = Decisions.concat([one.decisions.at_depths() for one in found])
    counts = {name: sum(getattr(one, name) for one in found) for name in ("searched", "cached", "imported", "failed")}
    return Judged(without_repeats(together), **counts)


def _from_games(games: Games, work: Work, wanted: Sequence[str]) -> list[Judged]:
    found = []
    tally = games.tally  # what could not be read is counted once, not once a player
    for player in (name for name in wanted if name in players(games)):
        found.append(judge_games(replace(games, tally=tally), work, player=player))
        tally = Tally()
    return found


def _of_players(batch: Decisions, wanted: Sequence[str]) -> list[int]:
    codes = {batch.deciders.index(name) for name in wanted if name in batch.deciders}
    return [row for row, code in enumerate(batch.decider.tolist()) if code in codes]
