"""Which column of a results table is which: tables as people have them, told by the names of their columns.

In: the names of a table's columns, and what a user said about them. Out: a Layout. Names are compared without regard to
capitals, blanks and underscores. Known are player_1/player_2, white/black, home/away with goals, winner/loser, and the
usual names of scores, dates and published ratings; what is not understood is refused with a line that is ready to use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skilloscope.core.errors import InputError, OptionError

OWN_COLUMNS = ("date", "period", "player_1", "player_2", "score", "score_2", "rating_1", "rating_2")
"""What a column may be called by `--columns`; score_2 holds the goals or points of player_2."""

HEADER = "header"
"""Asks for the published ratings under their usual names."""

_WINNERS = (("winner_name", "loser_name"), ("winner", "loser"), ("won", "lost"), ("winning_team", "losing_team"))
_SIDES = (
    ("player_1", "player_2"),
    ("white", "black"),
    ("home_team", "away_team"),
    ("home", "away"),
    ("team_1", "team_2"),
    ("player_a", "player_b"),
    ("white_player", "black_player"),
    ("white_name", "black_name"),
    ("white_username", "black_username"),
    ("team_a", "team_b"),
    ("hometeam", "awayteam"),
    ("player", "opponent"),
    ("team", "opponent"),
    *_WINNERS,
)
_POINTS = (
    ("score", "score_2"),
    ("home_score", "away_score"),
    ("home_goals", "away_goals"),
    ("score_1", "score_2"),
    ("goals_1", "goals_2"),
    ("white_score", "black_score"),
    ("score_a", "score_b"),
    ("fthg", "ftag"),
)
_SCORES = ("score", "result", "white_score", "score_1", "outcome", "white_result", "player_1_score", "home_result")
_DATES = ("date", "tourney_date", "game_date", "match_date", "event_date", "played", "played_on", "day", "datum")
_LATER_DATES = ("utc_date", "created_at", "timestamp", "time", "year", "season")
_RATINGS = (
    ("rating_1", "rating_2"),
    ("welo", "belo"),
    ("white_elo", "black_elo"),
    ("white_rating", "black_rating"),
    ("elo_1", "elo_2"),
    ("home_elo", "away_elo"),
)


_MORE = re.compile(
    r"(player|team|name|competitor|side)(3|4|c|d)(name|id)?|(winner|loser|opponent|home|away|white|black)(player)?2(name)?"
    r"|partner.*|teammate.*"
)
"""Columns of a third player, or of somebody's partner."""
_PLACES = ("place", "rank", "position", "pos", "finish", "finish_position", "finishing_position", "standing")
_ALONE = ("player", "name", "team", "driver", "rider", "horse", "athlete", "competitor", "runner")


@dataclass(frozen=True)
class Layout:
    """The columns of a table by what they hold, under their own names."""

    player_1: str
    player_2: str
    score: str | None
    """The score of player_1, or his goals beside `score_2`; None where the winner stands first."""
    score_2: str | None
    when: str
    dated: bool
    remark: str | None = None
    """Where the winner stands first: how it ended, which may say that nothing was played."""
    ratings: tuple[str, str] | None = None

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        named = (self.when, self.player_1, self.player_2, self.score, self.score_2, self.remark, *(self.ratings or ()))
        return [name for name in named if name is not None]


def find_layout(
    names: Sequence[str], columns: Mapping[str, str] | None = None, *, observed: str | None = None, table: str = ""
) -> Layout:
    """Return which column is which; `columns` maps our names to theirs, `observed` names two columns of ratings.

    >>> find_layout(["Date", "Home Team", "Away Team", "Home Score", "Away Score"]).columns
    ['Date', 'Home Team', 'Away Team', 'Home Score', 'Away Score']
    """
    told = dict(columns or {})
    unknown = sorted(set(told) - set(OWN_COLUMNS))
    if unknown:
        raise OptionError(f"no column {unknown[0]!r} in a results table", hint=f"ours are {', '.join(OWN_COLUMNS)}")
    found = _Found(names, told)
    sides = found.pair(("player_1", "player_2"), _SIDES)
    if "player_1" not in told and "player_2" not in told:
        _refuse_more_than_two(found, sides, table)
    winners = _plain(sides[0] or "") in {_plain(one) for one, _ in _WINNERS} and "score" not in told
    points = (None, None) if winners else found.pair(("score", "score_2"), _POINTS)
    score = points[0] if points[1] else None if winners else found.one("score", _SCORES)
    when, dated = found.when()
    missing = {"player_1": sides[0], "player_2": sides[1], "date": when, **({} if winners else {"score": score})}
    absent = [theirs for theirs in told.values() if theirs not in names]
    if absent or None in missing.values():
        raise _not_understood(names, told, missing, absent, table)
    return Layout(
        player_1=str(sides[0]),
        player_2=str(sides[1]),
        score=score,
        score_2=points[1],
        when=str(when),
        dated=dated,
        remark=found.one("score", _SCORES) if winners else None,
        ratings=_ratings(found, observed, table) if observed or "rating_1" in told else None,
    )


class _Found:
    """The columns of a table, looked for by what they may be called."""

    def __init__(self, names: Sequence[str], told: Mapping[str, str]) -> None:
        self.names, self.told = names, told
        self.by_plain = {_plain(name): name for name in reversed(names)}

    def one(self, own: str, known: Sequence[str]) -> str | None:
        if own in self.told:
            return self.told[own]
        return next((self.by_plain[_plain(name)] for name in known if _plain(name) in self.by_plain), None)

    def pair(self, own: tuple[str, str], known: Sequence[tuple[str, str]]) -> tuple[str | None, str | None]:
        if own[0] in self.told or own[1] in self.told:
            return self.told.get(own[0]), self.told.get(own[1])
        both = ((self.one("", [first]), self.one("", [second])) for first, second in known)
        return next((pair for pair in both if None not in pair), (None, None))

    def when(self) -> tuple[str | None, bool]:
        if "period" in self.told and "date" not in self.told:
            return self.told["period"], False
        date = self.one("date", _DATES)
        if date is None and (period := self.one("period", ["period"])) is not None:
            return period, False
        return date or self.one("date", _LATER_DATES), True


def _refuse_more_than_two(found: _Found, sides: tuple[str | None, str | None], table: str) -> None:
    """Raise where the columns tell of games of three or more, or of pairs who play together."""
    more = next((name for name in found.names if _MORE.fullmatch(_plain(name))), None)
    if more is None and None in sides and found.one("", _ALONE) is not None:
        more = found.one("", _PLACES)
    if more is not None:
        raise InputError(
            f"{table or 'the table'}: games of more than two are not rated, and it seems to hold such: {more}",
            hint="a team that stays together is one player under one name; of a race make a row for each pair, who "
            "came before whom; where two columns do play each other, say --columns player_1=…,player_2=…",
        )


def _ratings(found: _Found, observed: str | None, table: str) -> tuple[str, str]:
    asked = [name.strip() for name in (observed or HEADER).split(",")]
    pair = found.pair(("rating_1", "rating_2"), _RATINGS if asked == [HEADER] else [(asked[0], asked[-1])])
    if pair[0] is None or pair[1] is None or (asked != [HEADER] and len(asked) != 2):
        raise InputError(
            f"{table}: no columns of published ratings {observed!r}",
            hint=f"name two, as --observed welo,belo; it has: {', '.join(found.names)}",
        )
    return pair[0], pair[1]


def _not_understood(
    names: Sequence[str], told: Mapping[str, str], found: Mapping[str, str | None], absent: Sequence[str], table: str
) -> InputError:
    lacking = [*absent, *(own for own, theirs in found.items() if theirs is None and own not in told)]
    line = ",".join(f"{own}={theirs if theirs in names else '…'}" for own, theirs in found.items())
    return InputError(
        f"{table or 'the table'}: which column is {' and which '.join(lacking)}?",
        hint=f"it has: {', '.join(names)}; say it so: --columns {line}",
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
