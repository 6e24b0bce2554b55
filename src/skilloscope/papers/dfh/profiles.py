"""DFH13 VII.A: profiles of four players over the years, under the paper's three priors and as a random walk.

Figures 4 to 6 print no number, so the rows are ours. What can be compared is the shape: how the Elo from the moves
goes along with the Elo in the headers of the same games, year by year. Only the moves are rated; nothing else is said
of the players.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.decision import Decisions
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, printed
from skilloscope.papers.samples import NO_DATA, data_files, sampled_decisions, year_strata
from skilloscope.studies.profile.profile import ComparedPriors, PlayerProfile, Profile, profiles

_YEARS = (1950, 2006)
_SHOWN = range(1955, 2006, 10)
_FEWEST = 4  # years, for a correlation


@dataclass(frozen=True)
class _Player:
    """A player's file, the name that stands for all spellings in it, and those spellings."""

    file: str
    name: str
    spellings: tuple[str, ...] = ()

    def games(self, path: Path) -> Games:
        """Return the player's games under one name."""
        return read_games(path).renamed(dict.fromkeys(self.spellings, self.name))


PLAYERS = (
    _Player("korchnoi.pgn", "Kortschnoj, Viktor", ("Korchnoi,V",)),
    _Player("fischer.pgn", "Fischer, Robert James"),
    _Player("karpov.pgn", "Karpov, Anatoly", ("Karpov,Ana", "Karpov,An")),
    _Player("kasparov.pgn", "Kasparov, Gary", ("Kasparov,G",)),
)
"""The four players of section VII.A."""


def _figure_4(budget: Budget) -> Outcome:
    sampled = _decisions(budget, PLAYERS[:1])
    if sampled is None:
        return Outcome([], [NO_DATA])
    batch, _, notes = sampled
    found = {one.prior: one for one in profiles(batch)}
    own = found["drift"].players[0]
    rows = [_year_row(own, year) for year in _SHOWN]
    rows += [row for prior in ("reset", "drift") for row in _agreement(found[prior].players[0], prior)]
    return Outcome(rows, [*notes, _drift_note(found["drift"])], [found["drift"], ComparedPriors(list(found.values()))])


def _figure_6(budget: Budget) -> Outcome:
    sampled = _decisions(budget, PLAYERS)
    if sampled is None:
        return Outcome([], [NO_DATA])
    batch, games, notes = sampled
    found = profiles(batch)
    rows = [
        Row("games", printed("9404"), float(games), alike=False),
        Row("positions", printed("221965"), float(len(batch)), alike=False),
    ]
    for profile in found:
        if profile.prior in ("reset", "drift"):
            rows += [row for player in profile.players for row in _agreement(player, profile.prior)]
    rows += [Row(f"log-probability of a later decision, {one.prior}", None, _score(one)) for one in found]
    return Outcome(rows, [*notes, _drift_note(found[-1])], [ComparedPriors(found)])


def _decisions(budget: Budget, players: Sequence[_Player]) -> tuple[Decisions, int, list[str]] | None:
    """Return the sampled decisions of the players' own moves, how many games they are of, and what was sampled."""
    batches, games, notes = [], 0, []
    for player in players:
        paths = data_files(budget, f"players/{player.file}")
        if paths is None:
            return None
        sampled = sampled_decisions(
            budget, player.games(paths[0]), strata=_strata, player=player.name, name=player.name
        )
        batches.append(sampled.decisions.at_depths())
        games += len(sampled.games)
        notes.append(sampled.note)
    return Decisions.concat(batches), games, notes


def _strata(games: Games) -> list[int | None]:
    """Return the year of each game of the paper's years, None for the others."""
    return [year if year and _YEARS[0] <= year <= _YEARS[1] else None for year in year_strata(games)]


def _year_row(player: PlayerProfile, year: int) -> Row:
    found = [one for one in player.periods if one.period == str(year)]
    if not found or found[0].elo is None:
        return Row(f"{year}: Elo from the moves", None)
    return Row(f"{year}: Elo from the moves", None, found[0].elo.mean, sd=found[0].elo.sd)


def _agreement(player: PlayerProfile, prior: str) -> list[Row]:
    """Return how the Elo from the moves lies to that in the games over the years: mean difference and correlation.

    Only where each year stands alone are years independent, so that an sd can be told.
    """
    pairs = [(one.elo.mean, one.header_elo) for one in player.periods if one.elo and one.header_elo is not None]
    label = f"{player.player}, {prior}, {len(pairs)} years with Elo in the games"
    if len(pairs) < _FEWEST:
        return [Row(f"{label}: mean difference", None), Row(f"{label}: correlation", None)]
    moves, headers = np.array(pairs).T
    difference, r = moves - headers, float(np.corrcoef(moves, headers)[0, 1])
    root, alone = np.sqrt(len(pairs)), prior == "reset"
    return [
        Row(f"{label}: mean difference", None, float(difference.mean()), sd=float(difference.std(ddof=1) / root)),
        Row(f"{label}: correlation", None, r, sd=float((1 - r**2) / np.sqrt(len(pairs) - 2)) if alone else None),
    ][0 if alone else 1 :]


def _score(profile: Profile) -> float | None:
    later: list[Any] = [one for player in profile.players for one in player.periods[1:]]
    total = sum(one.decisions for one in later)
    return sum(one.log_score for one in later) / total if total else None


def _drift_note(profile: Profile) -> str:
    drift = profile.drift
    assert drift is not None
    high = "anything" if drift.high is None else f"{drift.high:.3f}"
    return f"Drift of c in one year: sd {drift.sd:.3f} (95 % interval {drift.low:.3f} to {high})."


_NOTE = (
    "The figures print no number. Compare the shape: the line from the moves beside the mean Elo in the headers of the "
    "same games (figure 5's FIDE ratings), which the estimate does not use. A few games a year leave an sd of some 250 "
    "Elo, while a champion's rating moves by some 50: years of a small sample cannot show that they go together, but "
    "their mean difference can be seen. Chessmetrics ratings are not at hand."
)

DFH13_PROFILE_ENTRIES = (
    Entry("DFH13.figure4", "Figure 4: the profile of Korchnoi, 1950–2006", _figure_4, _NOTE),
    Entry(
        "DFH13.figure6",
        "Figures 5 and 6: four players under three priors, and as a random walk",
        _figure_6,
        f"{_NOTE} The printed counts are the paper's size, ours the sample's.",
    ),
)
