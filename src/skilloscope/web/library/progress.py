"""One player's progress: the Elo in all games, month by month, and what the newest games changed.

In: analysed games of one pool, a name, and which games are new. Out: PlayerProgress. Its parts are the answers of the
functions that answer each alone: `rate_on_axis`, `elo_profile` and, for new games against earlier ones,
`compare_split`, in which neither side is shrunk towards the other.

Where the moves of a player go wrong is a question of counts: `habits` finds the parts of the play in which more
mistakes were made than the number of moves there explains.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from scipy.stats import binom

from skilloscope.core.columns import Bools
from skilloscope.core.errors import InputError
from skilloscope.inputs.pipeline import AnalysedGames
from skilloscope.report.study import Study
from skilloscope.report.table import Table, percent, plural
from skilloscope.studies.compare import Comparison, compare_split
from skilloscope.studies.elo_ratings import EloRatings, rate_on_axis
from skilloscope.studies.profile import Profile, elo_profile

_MOST_PERIODS = 24  # months that are shown one by one; beyond, years are
_CERTAIN = 0.05  # the largest probability of such a habit in play without any, over all parts of the play


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerProgress(Study):
    """A player in the games of one pool, over time."""

    player: str
    ratings: EloRatings
    profile: Profile | None  # None where no game has a date
    since: Comparison | None = None  # the new games against the earlier ones; None where there are not both

    FIELDS: ClassVar = (
        "player", "ratings.scale.pool", "ratings.scale.axis", "effort", "ratings.mass", "rating", "?profile.every",
        "periods", "since", "warnings",
    )  # fmt: skip
    rating = property(lambda self: self.ratings.players[0])
    effort = property(lambda self: self.ratings.basis.effort.name)
    periods = property(lambda self: self.profile.players[0].periods if self.profile else [])

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the rating and the periods."""
        return [*self.ratings.tables(top), *(self.profile.tables(top) if self.profile else [])]


def progress_of(found: AnalysedGames, player: str, new: Bools | None = None) -> PlayerProgress:
    """Return a player's progress in games of one pool; `new` says which games the last upload brought."""
    ratings = rate_on_axis(found, [player])
    if not ratings.players:
        raise InputError(f"nothing of {player!r} can be rated", hint=ratings.idle.get(player, ""))
    profile = since = None
    with contextlib.suppress(InputError):  # no game has a date
        profile = elo_profile(found, [player], every="month")
        if len(profile.players[0].periods) > _MOST_PERIODS:
            profile = elo_profile(found, [player], every="year")
    if new is not None and new.any() and not new.all():
        with contextlib.suppress(InputError):  # no move of one side counts
            since = compare_split(found, player, new=new).comparisons[0]
    return PlayerProgress(player=player, ratings=ratings, profile=profile, since=since, warnings=ratings.warnings)


@dataclass(frozen=True)
class Habit:
    """A part of the play, such as the endgame, and how many of the mistakes were made there."""

    part: str
    moves: int
    mistakes: int
    lost: float  # winning chances, by these mistakes
    of_moves: int
    of_mistakes: int
    chance: float  # how likely so many are where mistakes are spread as the moves are

    def __str__(self) -> str:
        share = percent(self.moves / self.of_moves)
        return f"{self.mistakes} of {plural(self.of_mistakes, 'mistake')} in {share} of the moves: {self.part}"


def habits(
    moves: Mapping[str, int], mistakes: Mapping[str, int], lost: Mapping[str, float], divisions: Sequence[Sequence[str]]
) -> list[Habit]:
    """Return the parts of the play with more mistakes than chance explains, the costliest first.

    P(K ≥ k) of a binomial of all mistakes with the part's share of the moves, times the number of parts (Bonferroni).

    >>> parts = [["opening", "endgame"]]
    >>> found = habits({"opening": 500, "endgame": 100}, {"opening": 10, "endgame": 12}, {"endgame": 3.0}, parts)
    >>> [str(one) for one in found]
    ['12 of 22 mistakes in 17 % of the moves: endgame']
    """
    found, tried = [], sum(len(parts) for parts in divisions)
    for parts in divisions:
        of_moves, of_mistakes = sum(moves.get(one, 0) for one in parts), sum(mistakes.get(one, 0) for one in parts)
        for one in parts if of_moves else ():
            n, k = moves.get(one, 0), mistakes.get(one, 0)
            chance = tried * float(binom.sf(k - 1, of_mistakes, n / of_moves))
            if k and chance <= _CERTAIN:
                found.append(Habit(one, n, k, lost.get(one, 0.0), of_moves, of_mistakes, chance=chance))
    return sorted(found, key=lambda one: -one.lost)


def three_sentences(
    progress: PlayerProgress, found: Sequence[Habit], mistakes: int, reviewed: int, costliest: str
) -> list[str]:
    """Return the strength, the costliest habit and the next step, a sentence each."""
    own = progress.rating
    low, high = own.elo.interval(progress.ratings.mass)
    level = f"{own.elo.mean:.0f} ({100 * progress.ratings.mass:g} % interval {low:.0f} to {high:.0f})"
    strength = f"Strength: {level} in {plural(own.games, 'game')}, as {progress.ratings.scale.axis}."
    if not reviewed:
        more = "No move has been reviewed with an engine yet, so that nothing is known of habits."
        return [strength, more, "Next step: let these games be reviewed."]
    if found:
        habit = f"Costliest habit: {found[0]}."
    elif mistakes:
        habit = (
            f"No habit stands out: {plural(mistakes, 'mistake')} in {plural(reviewed, 'game')}, spread like the moves."
        )
    else:
        habit = f"No mistake was confirmed in {plural(reviewed, 'game')}."
    step = "play on, and upload the next games"
    if mistakes:
        some = f"the {found[0].mistakes} mistakes of that kind" if found else f"the {plural(mistakes, 'mistake')} below"
        step = f"find the better move in {some}, first {costliest}"
    return [strength, habit, f"Next step: {step}."]
