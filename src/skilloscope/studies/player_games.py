"""One player's games, under whatever spelling of the name: read, judged, and taken from tables alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from skilloscope.chess.games import Games, read_games
from skilloscope.decision import Decisions
from skilloscope.decision.columns import encode
from skilloscope.decision.text import table_kind
from skilloscope.errors import InputError
from skilloscope.studies.judging import (
    Judged,
    Work,
    check_games,
    check_name,
    judge,
    judge_games,
    players,
    without_repeats,
)

__all__ = ["aliases_from_texts", "engine_of", "judge_player", "renamed"]

_JUDGED = ("mate_cap", "max_abs_value", "skip_moves", "notes")  # what was decided about the values, beside the engine


def judge_player(
    paths: Sequence[Path],
    work: Work,
    player: str,
    *,
    aliases: Mapping[str, str] | None = None,
    both_sides: bool = False,
) -> Judged:
    """Return the decisions of one player, or of both sides in that player's games, from games and tables together.

    Spellings are replaced by names first. Other people's games are not analysed.
    """
    tables = [path for path in paths if table_kind(path)]
    files = [path for path in paths if path not in tables]
    known: list[str] = []
    judged: list[Judged] = []
    if tables:
        found = judge(tables, work)
        judged.append(replace(found, decisions=renamed(found.decisions, aliases or {})))
        known += judged[0].decisions.names()
    if files:
        games = read_games(files).renamed(aliases or {})
        check_games(games)
        known += players(games)
        judged += _judged_games(games, work, player, both_sides)
    check_name(player, known)
    together = without_repeats(Decisions.concat([part.decisions.at_depths() for part in judged]))
    return replace(judged[-1], decisions=_of_player(together, player, both_sides))


def engine_of(decisions: Decisions) -> dict[str, Any]:
    """Return what judged the moves, and what was decided about the values."""
    about = decisions.about
    return {**about.get("settings", {}), **{name: about[name] for name in _JUDGED if name in about}}


def aliases_from_texts(texts: Sequence[str]) -> dict[str, str]:
    """Return the names of spellings that were given as SPELLING=NAME; the last = divides, a spelling may hold more.

    >>> aliases_from_texts(["Kérès, P=Keres, Paul"])
    {'Kérès, P': 'Keres, Paul'}
    """
    pairs = [text.rpartition("=") for text in texts]
    if bad := [text for text, (spelling, _, name) in zip(texts, pairs, strict=True) if not (spelling and name)]:
        raise InputError(f"cannot read the alias {bad[0]!r}", hint="write SPELLING=NAME, e.g. 'Keres, P=Keres, Paul'")
    return {spelling.strip(): name.strip() for spelling, _, name in pairs}


def renamed(batch: Decisions, aliases: Mapping[str, str]) -> Decisions:
    """Return the decisions with deciders and opponents renamed: several spellings become one name."""
    if not aliases:
        return batch
    names, codes = encode([aliases.get(name, name) for name in batch.deciders])
    context = batch.context
    assert context is not None
    if "opponent" in context.column_names:
        opponents = [aliases.get(name, name) for name in context.column("opponent").to_pylist()]
        place = context.column_names.index("opponent")
        context = context.set_column(place, "opponent", pa.array(opponents, type=pa.string()))
    return replace(batch, deciders=names, decider=codes[batch.decider], context=context)


def _judged_games(games: Games, work: Work, player: str, both_sides: bool) -> list[Judged]:
    """Return the player's games judged; none where the player is in none of them."""
    if work.settings.multipv < 2:
        raise InputError(
            "one line is no choice set: nobody can be rated from it",
            hint="let the engine list more moves, as --multipv 10 does",
        )
    sides = [np.array(games.headers[side].to_pylist(), dtype=object) == player for side in ("white", "black")]
    rows = np.flatnonzero(sides[0] | sides[1])
    if not len(rows):
        return []
    return [judge_games(games.select(rows), work, player=None if both_sides else player)]


def _of_player(batch: Decisions, player: str, both_sides: bool) -> Decisions:
    if both_sides or not len(batch):
        return batch
    check_name(player, batch.names())
    return batch.select(batch.decider == batch.deciders.index(player))
