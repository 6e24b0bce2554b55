"""The columns of a results table: which is which, and what their cells hold.

In: the names of a table's columns and what a user said about them. Out: a Layout; what is not understood is refused
with a line that is ready to use. Then the cells: dates, period numbers, scores, goals and published ratings, as numpy
columns, and a reason for each bad row. Every distinct text is parsed once, however many games share it. docs/results.md
lists the names and the scores that are known; nothing else is guessed at.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.columns import Array, Bools, Ints, one_dictionary
from skilloscope.core.dates import DAY, date_orders, parse_dates
from skilloscope.core.errors import InputError, OptionError

OWN_COLUMNS = ("date", "period", "player_1", "player_2", "score", "score_2", "rating_1", "rating_2")
"""What a column may be called by `--columns`; score_2 holds the goals or points of player_2."""

HEADER = "header"  # asks for the published ratings under their usual names


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return names of columns that come in pairs, the usual ones first."""
    return tuple((one, two) for one, two in (words.split("/") for words in text.split()))


_WINNERS = _pairs("winner_name/loser_name winner/loser won/lost winning_team/losing_team")
_SIDES = (
    _pairs(
        "player_1/player_2 white/black home_team/away_team home/away team_1/team_2 player_a/player_b "
        "white_player/black_player white_name/black_name white_username/black_username team_a/team_b hometeam/awayteam "
        "player/opponent team/opponent"
    )
    + _WINNERS
)
_POINTS = _pairs(
    "score/score_2 home_score/away_score home_goals/away_goals score_1/score_2 goals_1/goals_2 white_score/black_score "
    "score_a/score_b fthg/ftag"
)
_SCORES = ("score", "result", "white_score", "score_1", "outcome", "white_result", "player_1_score", "home_result")
_DATES = ("date", "tourney_date", "game_date", "match_date", "event_date", "played", "played_on", "day", "datum")
_LATER_DATES = ("utc_date", "created_at", "timestamp", "time", "year", "season")
_RATINGS = _pairs(
    "rating_1/rating_2 welo/belo white_elo/black_elo white_rating/black_rating elo_1/elo_2 home_elo/away_elo"
)
_MORE = re.compile(
    r"(player|team|name|competitor|side)(3|4|c|d)(name|id)?|(winner|loser|opponent|home|away|white|black)(player)?2(name)?"
    r"|partner.*|teammate.*"
)
"""Columns of a third player, or of a player's partner."""
_PLACES = ("place", "rank", "position", "pos", "finish", "finish_position", "finishing_position", "standing")
_ALONE = ("player", "name", "team", "driver", "rider", "horse", "athlete", "competitor", "runner")


@dataclass(frozen=True)
class Layout:
    """The columns of a table by what they hold, under their own names."""

    player_1: str
    player_2: str
    score: str | None
    """The score of player_1, or his goals where there is a `score_2`; None where the winner comes first."""
    score_2: str | None
    when: str
    dated: bool
    remark: str | None = None  # where the winner stands first: how it ended, which may say that nothing was played
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
    given = dict(columns or {})
    unknown = sorted(set(given) - set(OWN_COLUMNS))
    if unknown:
        raise OptionError(f"no column {unknown[0]!r} in a results table", hint=f"ours are {', '.join(OWN_COLUMNS)}")
    found = _Found(names, given)
    sides = found.pair(("player_1", "player_2"), _SIDES)
    more = next((name for name in names if _MORE.fullmatch(_plain(name))), None)
    if more is None and None in sides and found.one("", _ALONE) is not None:
        more = found.one("", _PLACES)
    if more is not None and "player_1" not in given and "player_2" not in given:
        raise InputError(
            f"{table or 'the table'}: games of more than two are not rated, and it seems to hold such: {more}",
            hint="a team that stays together is one player under one name; of a race make a row for each pair, who "
            "came before whom; where two columns do play each other, say --columns player_1=…,player_2=…",
        )
    winners = _plain(sides[0] or "") in {_plain(one) for one, _ in _WINNERS} and "score" not in given
    points = (None, None) if winners else found.pair(("score", "score_2"), _POINTS)
    score = points[0] if points[1] else None if winners else found.one("score", _SCORES)
    when, dated = found.when()
    missing = {"player_1": sides[0], "player_2": sides[1], "date": when, **({} if winners else {"score": score})}
    absent = [theirs for theirs in given.values() if theirs not in names]
    if absent or None in missing.values():
        lacking = [*absent, *(own for own, theirs in missing.items() if theirs is None and own not in given)]
        line = ",".join(f"{own}={theirs if theirs in names else '…'}" for own, theirs in missing.items())
        raise InputError(
            f"{table or 'the table'}: which column is {' and which '.join(lacking)}?",
            hint=f"it has: {', '.join(names)}; use --columns {line}",
        )
    return Layout(
        player_1=str(sides[0]),
        player_2=str(sides[1]),
        score=score,
        score_2=points[1],
        when=str(when),
        dated=dated,
        remark=found.one("score", _SCORES) if winners else None,
        ratings=_ratings(found, observed, table) if observed or "rating_1" in given else None,
    )


class _Found:
    """The columns of a table, looked for by what they may be called."""

    def __init__(self, names: Sequence[str], given: Mapping[str, str]) -> None:
        self.names, self.given = names, given
        self.by_plain = {_plain(name): name for name in reversed(names)}

    def one(self, own: str, known: Sequence[str]) -> str | None:
        if own in self.given:
            return self.given[own]
        return next((self.by_plain[_plain(name)] for name in known if _plain(name) in self.by_plain), None)

    def pair(self, own: tuple[str, str], known: Sequence[tuple[str, str]]) -> tuple[str | None, str | None]:
        if own[0] in self.given or own[1] in self.given:
            return self.given.get(own[0]), self.given.get(own[1])
        both = ((self.one("", [first]), self.one("", [second])) for first, second in known)
        return next((pair for pair in both if None not in pair), (None, None))

    def when(self) -> tuple[str | None, bool]:
        if "period" in self.given and "date" not in self.given:
            return self.given["period"], False
        date = self.one("date", _DATES)
        if date is None and (period := self.one("period", ["period"])) is not None:
            return period, False
        return date or self.one("date", _LATER_DATES), True


def _ratings(found: _Found, observed: str | None, table: str) -> tuple[str, str]:
    asked = [name.strip() for name in (observed or HEADER).split(",")]
    pair = found.pair(("rating_1", "rating_2"), _RATINGS if asked == [HEADER] else [(asked[0], asked[-1])])
    if pair[0] is None or pair[1] is None or (asked != [HEADER] and len(asked) != 2):
        raise InputError(
            f"{table}: no columns of published ratings {observed!r}",
            hint=f"name two, as --known-ratings welo,belo; it has: {', '.join(found.names)}",
        )
    return pair[0], pair[1]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


FORFEIT = "forfeit"
BYE = "bye"
WALKOVER = "walkover"
UNFINISHED = "unfinished"
UNKNOWN = "unknown score"
NO_SCORE = "no score"

NO_GAMES = frozenset({FORFEIT, BYE, WALKOVER, UNFINISHED, "blank row"})
"""Rows that are left out because nothing was played."""

PGN_SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
"""The first player's score for each result of a finished game in PGN."""

_WORDS = {
    **PGN_SCORES, "½-½": 0.5, "0.5-0.5": 0.5, "1:0": 1.0, "0:1": 0.0, "1/2": 0.5, "½": 0.5,
    "=": 0.5, "w": 1.0, "win": 1.0, "won": 1.0, "d": 0.5, "draw": 0.5, "tie": 0.5, "l": 0.0, "loss": 0.0, "lost": 0.0,
}  # fmt: skip
_NO_GAME = {
    FORFEIT: re.compile(r"[+-]|[+-]/[+-]|[+-]:[+-]|\+--|--\+|[+-] ?- ?[+-]|(1|0|1/2|½|0\.5)(-(1|0))? ?f+|ff|def\.?"
                        r"|default|(win|loss)? ?(by )?forfeit(ed)?|no.show"),
    BYE: re.compile(r"(half.?point.?|full.?point.?|zero.?point.?)?bye|hpb|fpb|zpb|pab|[uhz]"),
    WALKOVER: re.compile(r"w/?o\.?|walk.?over"),
    UNFINISHED: re.compile(r"\*|unfinished|unterminated|in progress|abandoned"),
}  # fmt: skip


def parse_score(text: str) -> tuple[float, str]:
    """Return the score of the first player and no reason; or NaN and why it cannot be used.

    >>> parse_score("1-0"), parse_score("0,5"), parse_score(" ½ "), parse_score("1.0")
    ((1.0, ''), (0.5, ''), (0.5, ''), (1.0, ''))
    >>> parse_score("+/-"), parse_score("W/O"), parse_score("3")
    ((nan, 'forfeit'), (nan, 'walkover'), (nan, 'unknown score'))
    """
    word = " ".join(text.split()).lower()
    if not word:
        return math.nan, NO_SCORE
    if word in _WORDS:
        return _WORDS[word], ""
    for reason, form in _NO_GAME.items():
        if form.fullmatch(word):
            return math.nan, reason
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        return math.nan, UNKNOWN
    return (number, "") if 0.0 <= number <= 1.0 else (math.nan, UNKNOWN)


def is_fault(reason: str) -> bool:
    """Return whether a reason is a fault of the table; a forfeit or a bye is an ordinary row that is no game."""
    return reason in (UNKNOWN, NO_SCORE)


def parse_scores(texts: Sequence[str | None]) -> tuple[Array, list[str]]:
    """Return the scores and the reasons of many texts."""
    read = [(math.nan, NO_SCORE) if text is None else parse_score(text) for text in texts]
    return np.array([score for score, _ in read], dtype=np.float64), [reason for _, reason in read]


class When(NamedTuple):
    """When each game was played: a number, whether it is missing or bad, and how exact it is."""

    value: Ints
    missing: Bools
    bad: Bools
    precision: npt.NDArray[np.uint8]


def ratings_of(column: pa.ChunkedArray) -> Array:
    """Return published ratings, 0 where there is none: blank, zero, or no number above zero."""
    if _is_number(column.type):
        number = column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy()
        return np.where((number > 0.0) & (number < math.inf), number, 0.0)
    texts, codes = _distinct(column)
    return np.array([number_in(text) for text in texts], dtype=np.float64)[codes]


def number_in(text: str | None) -> float:
    """Return a published rating that a text holds, 0 where it holds none.

    >>> number_in("2285"), number_in(" 2285,5 "), number_in("-"), number_in(None)
    (2285.0, 2285.5, 0.0, 0.0)
    """
    number = _finite(text or "")
    return number if number > 0.0 else 0.0


def dates_of(column: pa.ChunkedArray, form: str | None, name: str) -> When:
    """Return the days of dates given as dates, times, whole numbers (19951231) or texts; each distinct text once."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        exact = column.type == pa.date32()
        days = column if exact else column.cast(pa.timestamp("us"), safe=False).cast(pa.date32(), safe=False)
        missing = column.is_null().to_numpy() if column.null_count else np.zeros(len(column), dtype=bool)
        value = days.cast(pa.int32()).fill_null(0).to_numpy().astype(np.int64)
        return When(value, missing, np.zeros_like(missing), np.full(len(value), DAY, dtype=np.uint8))
    texts, codes = _distinct(column)
    days_of, precision, there = parse_dates(texts, form or _order(texts, name))
    blank = np.array([text is None or not text.strip("?-./ \t") for text in texts], dtype=bool)
    return When(days_of[codes], blank[codes], ~there[codes], precision[codes])


def _order(texts: Sequence[str | None], name: str) -> str | None:
    """Return whether dates such as 01/05/2024 have the day or the month first; where no date decides, that is asked."""
    orders = date_orders(text for text in texts if text)
    if len(orders) > 1:
        example = next(text for text in texts if text and len(date_orders([text])) > 1)
        raise InputError(
            f"{name}: dates such as {example.strip()} may have the day or the month first",
            hint="say which: --date-format dmy or --date-format mdy",
        )
    return orders[0] if orders else None


def periods_of(column: pa.ChunkedArray) -> When:
    """Return numbered periods as they stand."""
    texts, codes = _distinct(column)
    numbers = [_whole(text) for text in texts]
    blank = np.array([text is None or not text.strip() for text in texts], dtype=bool)
    value = np.array([number or 0 for number in numbers], dtype=np.int64)
    bad = np.array([number is None for number in numbers], dtype=bool)
    return When(value[codes], blank[codes], bad[codes], np.zeros(len(codes), dtype=np.uint8))


def _whole(text: str | None) -> int | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return int(number) if number.is_integer() and 0 <= number < 2**31 else None


def scores_of(table: pa.Table, layout: Layout) -> tuple[Array, dict[str, Bools]]:
    """Return every row's score, and for each reason against one the rows that it hits."""
    if layout.score is not None and layout.score_2 is not None:
        sides = [_distinct(table.column(side)) for side in (layout.score, layout.score_2)]
        goals = ([_finite((text or "").replace("½", "0.5")) for text in texts] for texts, _ in sides)
        first, second = (np.array(own)[codes] for own, (_, codes) in zip(goals, sides, strict=True))
        return 0.5 + 0.5 * np.sign(np.nan_to_num(first - second)), {NO_SCORE: np.isnan(first) | np.isnan(second)}
    column = layout.score or layout.remark
    if column is None:
        return np.ones(table.num_rows), {}
    if layout.score is not None and (given := _as_given(table.column(column))) is not None:
        return given, {}
    texts, codes = _distinct(table.column(column))
    score, reasons = parse_scores(texts)
    if layout.score is None:  # the winner stands first; how it ended says at most that it was no game
        score = np.ones(len(texts))
        reasons = ["" if is_fault(reason) else reason for reason in reasons]
    why = np.array(reasons, dtype=object)
    return score[codes], {reason: (why == reason)[codes] for reason in sorted(set(reasons) - {""})}


def _as_given(column: pa.ChunkedArray) -> Array | None:
    """Return the scores of a column of numbers that all are scores, as they stand; None where one is not."""
    if not _is_number(column.type) or column.null_count or not len(column):
        return None
    score = np.asarray(column.to_numpy(), dtype=np.float64)
    return score if score.min() >= 0.0 and score.max() <= 1.0 else None


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _finite(text: str) -> float:
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _distinct(column: pa.ChunkedArray) -> tuple[list[str | None], Ints]:
    """Return the distinct values as texts, None last, and each row's place among them."""
    values, indices = one_dictionary(column)
    texts: list[str | None] = [None if value is None else str(value) for value in values.to_pylist()]
    codes = indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    return [*texts, None], codes
