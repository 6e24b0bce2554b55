"""The tables of a tournament as FER12 prints them: crosstable, players, the engine, players in two events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.terminal import framed
from skilloscope.reports.words import skipped_line
from skilloscope.studies.game.tables import difference, values_line

_WIDEST = 10
"""A crosstable of more players does not fit a screen; it is in the page and in the JSON."""


@dataclass(frozen=True)
class Sheet:
    """A table as cells: a heading, the names of the columns, the rows, and notes."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    wide: bool = False


def tournament_tables(report: Mapping[str, Any]) -> Iterator[Group]:
    """Yield the tables for the terminal."""
    for sheet in sheets(report):
        if sheet.wide and len(sheet.rows) > _WIDEST:
            note = f"{sheet.title}: {len(sheet.rows)} players are too many for a screen; see --html or --json"
            yield Group(Text(note, style="dim"))
            continue
        table = Table(show_lines=sheet.wide)
        for at, name in enumerate(sheet.columns):
            table.add_column(name, justify="left" if at == 0 else "center" if sheet.wide else "right")
        for row in sheet.rows:
            table.add_row(*(Text(cell) for cell in row))
        yield framed(sheet.title, table, sheet.notes)
    known = sum(player["decisions"] for player in report["players"])
    notes = [values_line(report["engine"]), skipped_line(known, report["skipped"])]
    yield Group(*(Text(note, style="dim") for note in notes))


def sheets(report: Mapping[str, Any]) -> Iterator[Sheet]:
    """Yield every table of the report as cells."""
    for event in report["events"]:
        name = event["event"]
        players = [player for player in report["players"] if player["event"] == name]
        pairs = {(pair["player"], pair["opponent"]): pair for pair in report["pairs"] if pair["event"] == name}
        label = name or "all games"
        pooled = "all games of the event" if report["pool"] == "event" else "the games against each other"
        yield _crosstable(f"{label}: crosstable, gains of {pooled}", players, pairs)
        yield _players(f"{label}: players", players, report)
        yield _engine(f"{label}: the engine's strength by each player", players, report)
    pairs_of_events = dict.fromkeys((row["event"], row["opponent_event"]) for row in report["comparison"])
    for one, two in pairs_of_events:
        own = [row for row in report["comparison"] if (row["event"], row["opponent_event"]) == (one, two)]
        yield _two_events(one, two, own)


def _crosstable(title: str, players: Sequence[Mapping[str, Any]], pairs: Mapping[tuple[str, str], Any]) -> Sheet:
    """Return a table 1: (points), expected score and difference of everybody against everybody. [FER12 tables 1, 3]"""
    names = [player["player"] for player in players]
    rows = []
    for number, player in enumerate(players, start=1):
        cells = [_cell(pairs.get((player["player"], other))) for other in names]
        total = f"({player['points']:g})\n{_number(player['expected_points'], 2)}"
        rows.append([f"{number} {player['player']}", _whole(player["elo"]), *cells, total, _strength(player)])
    columns = ["player", "Elo", *(str(number) for number in range(1, len(names) + 1)), "total", "strength"]
    notes = [
        "cell: (points), expected score, Elo difference; total: points and expected points; strength: perceived Elo"
    ]
    return Sheet(title, columns, rows, notes, wide=True)


def _players(title: str, players: Sequence[Mapping[str, Any]], report: Mapping[str, Any]) -> Sheet:
    mass = f"{100 * report['mass']:g} %"
    given = report["engine"]["given_elo"] is not None
    columns = ["player", "games", "moves", "mean gain", "Elo", f"perceived Elo ({mass} interval)", "p against engine"]
    columns += [f"difference ({mass} interval)", *(["strength"] if given else [])]
    rows = []
    for player in players:
        lead = difference({**player, "elo_difference": player["elo_difference_to_engine"]})
        rows.append(
            [
                player["player"],
                f"{player['games']:,}",
                f"{player['decisions']:,}",
                _number(player["mean_gain"], 3),
                _whole(player["elo"]),
                _perceived(player),
                _number(player["expected_score_against_engine"], 3),
                f"{lead}{_interval(player['engine_low'], player['engine_high'], sign=True)}",
                *([_whole(player["strength"])] if given else []),
            ]
        )
    groups = len({player["component"] for player in players})
    notes = [f"{groups} groups of players who never met are not compared"] if groups > 1 else []
    notes += ["no interval where there are fewer than two games"] if any(p["games"] < 2 for p in players) else []
    return Sheet(title, columns, rows, notes)


def _engine(title: str, players: Sequence[Mapping[str, Any]], report: Mapping[str, Any]) -> Sheet:
    """Return a table 4: the engine's strength by each player's rating and perceived Elo. [FER12 table 4]"""
    columns = ["player", "Elo", "perceived", "p", "difference", "engine by Elo", "engine by perceived"]
    rows = [
        [
            player["player"],
            _whole(player["elo"]),
            _whole(player["perceived_elo"]),
            _number(player["expected_score_against_engine"], 3),
            difference({**player, "elo_difference": player["elo_difference_to_engine"]}),
            _whole(player["engine_elo"]),
            _whole(player["engine_elo_by_perceived"]),
        ]
        for player in players
    ]
    engine = report["engine"]
    if engine["elo"] is None:
        return Sheet(title, columns, rows, ["no player has a rating and a finite difference: the engine's is unknown"])
    interval = _interval(engine["low"], engine["high"], sign=False)
    note = f"engine, mean of all players: {engine['elo']:.0f}{interval}; own gains: {engine['distribution']}"
    apart = engine["disagreement"]
    more = (
        ""
        if apart is None
        else f"differences by way of the engine are {apart:.0f} points from the direct ones, on average"
    )
    return Sheet(title, columns, rows, [note, more])


def _two_events(one: str, two: str, rows: Sequence[Mapping[str, Any]]) -> Sheet:
    """Return a table 2: players of both events, in one against the other. [FER12 table 2]"""
    players = list(dict.fromkeys(row["player"] for row in rows))
    cells = {(row["player"], row["opponent"]): row for row in rows}
    table = [
        [f"{player} @ {one}", *(_cell({**cells[player, other], "points": None}) for other in players)]
        for player in players
    ]
    title = f"players of {one} (rows) against those of {two} (columns)"
    return Sheet(title, ["", *(f"{player} @ {two}" for player in players)], table, (), wide=True)


def _cell(pair: Mapping[str, Any] | None) -> str:
    if pair is None:
        return "–"
    points = "" if pair["points"] is None else f"({pair['points']:g})\n"
    return f"{points}{_number(pair['expected_score'], 2)}\n{difference(pair)}"


def _strength(player: Mapping[str, Any]) -> str:
    if player["perceived_elo"] is None:
        return "–" if player["relative_elo"] is None else f"{player['relative_elo']:+z.0f} to the mean"
    change = "" if player["elo"] is None else f"\n{player['perceived_elo'] - player['elo']:+z.0f}"
    return f"{player['perceived_elo']:.0f}{change}"


def _perceived(player: Mapping[str, Any]) -> str:
    """Return the perceived Elo with its interval; where no rating is known, to the mean of the players who met."""
    if player["perceived_elo"] is not None:
        return f"{player['perceived_elo']:.0f}{_interval(player['low'], player['high'], sign=False)}"
    if player["relative_elo"] is None:
        return "–"
    ends = _interval(player["relative_low"], player["relative_high"], sign=True)
    return f"{player['relative_elo']:+.0f}{ends} to the mean"


def _interval(low: float | None, high: float | None, *, sign: bool) -> str:
    if low is None and high is None:
        return ""
    low_text, high_text = ("–" if end is None else f"{end:+.0f}" if sign else f"{end:.0f}" for end in (low, high))
    return f" ({low_text} to {high_text})"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _whole(value: float | None) -> str:
    return _number(value, 0)
