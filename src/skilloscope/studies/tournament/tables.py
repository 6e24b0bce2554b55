"""The tables of a tournament as FER12 prints them: crosstable, players, the engine, players in two events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import skipped_line
from skilloscope.studies.game.tables import difference_text, values_line


def closing_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return what stands below all tables: whose values these are, and what was left out."""
    known = sum(player["decisions"] for player in report["players"])
    return Sheet("", (), (), [values_line(report["engine"]), skipped_line(known, report["skipped"])])


MEANING = (
    "perceived Elo: a difference measured by gain, put around the mean rating of those who met; compressed, so that "
    "neither it nor its interval says where a rating lies; the intervals by gain are sampling error over games alone"
)
ENGINE_MEANING = (
    "the engine's strength on the players' compressed scale, as the paper reckons it: not its Elo, which is far higher"
)


def tournament_sheets(report: Mapping[str, Any], *, engine: bool = False) -> Iterator[Sheet]:
    """Yield every table of the report as cells, that of the engine's strength where it was asked for."""
    for event in report["events"]:
        name = event["event"]
        players = [player for player in report["players"] if player["event"] == name]
        pairs = {(pair["player"], pair["opponent"]): pair for pair in report["pairs"] if pair["event"] == name}
        label = name or "all games"
        pooled = "all games of the event" if report["pool"] == "event" else "the games against each other"
        yield _crosstable(f"{label}: crosstable, gains of {pooled}", players, pairs)
        yield _players(f"{label}: players", players, report, event["rated"])
        if engine:
            yield _engine(f"{label}: the engine's strength by each player", players, report)
    pairs_of_events = dict.fromkeys((row["event"], row["opponent_event"]) for row in report["comparison"])
    for one, two in pairs_of_events:
        own = [row for row in report["comparison"] if (row["event"], row["opponent_event"]) == (one, two)]
        yield _two_events(one, two, own)


def _crosstable(title: str, players: Sequence[Mapping[str, Any]], pairs: Mapping[tuple[str, str], Any]) -> Sheet:
    """Return a table 1: (points), expected score and difference of everybody against everybody. [FER12 tables 1, 3]"""
    names = [player["player"] for player in players]
    rows = []
    for place, player in enumerate(players, start=1):
        cells = [_cell(pairs.get((player["player"], other))) for other in names]
        total = f"({player['points']:g})\n{number(player['expected_points'], 2)}"
        rows.append([f"{place} {player['player']}", number(player["elo"], 0), *cells, total, _strength(player)])
    columns = ["player", "Elo", *(str(place) for place in range(1, len(names) + 1)), "total", "strength"]
    notes = [
        "cell: (points), expected score, Elo difference; total: points and expected points; strength: perceived Elo"
    ]
    return Sheet(title, columns, rows, notes, wide=True)


def _players(
    title: str, players: Sequence[Mapping[str, Any]], report: Mapping[str, Any], rated: Mapping[str, Any] | None
) -> Sheet:
    mass = f"{100 * report['mass']:g} %"
    given = report["engine"]["given_elo"] is not None
    on_axis = "problem" not in report["axis"] and bool(report["axis"])
    columns = ["player", "games", "moves", "rating", *([f"Elo, one axis ({mass})"] if on_axis else []), "mean gain"]
    columns += [f"perceived Elo ({mass})", "p against engine", f"difference ({mass})"]
    rows = []
    for player in players:
        lead = difference_text({**player, "elo_difference": player["elo_difference_to_engine"]})
        rows.append(
            [
                player["player"],
                f"{player['games']:,}",
                f"{player['decisions']:,}",
                number(player["elo"], 0),
                *([_axis(player)] if on_axis else []),
                number(player["mean_gain"], 3),
                _perceived(player),
                number(player["expected_score_against_engine"], 3),
                f"{lead}{_interval(player['engine_low'], player['engine_high'], sign=True)}",
                *([number(player["strength"], 0)] if given else []),
            ]
        )
    return Sheet(title, [*columns, *(["strength"] if given else [])], rows, _player_notes(players, report, rated))


def _player_notes(
    players: Sequence[Mapping[str, Any]], report: Mapping[str, Any], rated: Mapping[str, Any] | None
) -> list[str]:
    groups = len({player["component"] for player in players})
    notes = [MEANING]
    if rated is not None:
        notes.append(
            f"the ratings of {rated['players']} players spread over {rated['ratings_spread']:.0f}, their perceived Elo "
            f"over {rated['perceived_spread']:.0f}; {rated['ratings_inside']} of the ratings lie within the intervals"
        )
    if "problem" in report["axis"]:
        notes.append(f"without Elo on the one axis: {report['axis']['problem']}")
    elif report["axis"]:
        notes.append(f"Elo, one axis: {report['axis']['axis']}, from what was played, no engine asked (as `rate`)")
    notes += [f"{groups} groups of players who never met are not compared"] if groups > 1 else []
    if any(player["engine_low"] is None for player in players):
        notes.append("no interval where there are fewer than two games")
    return notes


def _axis(player: Mapping[str, Any]) -> str:
    if player["axis_elo"] is None:
        return "–"
    return f"{player['axis_elo']:.0f}{_interval(player['axis_low'], player['axis_high'], sign=False)}"


def _engine(title: str, players: Sequence[Mapping[str, Any]], report: Mapping[str, Any]) -> Sheet:
    """Return a table 4: the engine's strength by each player's rating and perceived Elo. [FER12 table 4]"""
    columns = ["player", "Elo", "perceived", "p", "difference", "engine by Elo", "engine by perceived"]
    rows = [
        [
            player["player"],
            number(player["elo"], 0),
            number(player["perceived_elo"], 0),
            number(player["expected_score_against_engine"], 3),
            difference_text({**player, "elo_difference": player["elo_difference_to_engine"]}),
            number(player["engine_elo"], 0),
            number(player["engine_elo_by_perceived"], 0),
        ]
        for player in players
    ]
    engine = report["engine"]
    if engine["elo"] is None:
        return Sheet(title, columns, rows, ["no player has a rating and a finite difference: the engine's is unknown"])
    own = f"{engine['distribution']}" + (
        f" ({engine['own_moves']:,} moves, mean {engine['own_mean_gain']:.3f})" if engine["own_moves"] else ""
    )
    interval = _interval(engine["low"], engine["high"], sign=False)
    note = f"engine, mean of all players: {engine['elo']:.0f}{interval}; own gains: {own}"
    apart = engine["disagreement"]
    more = (
        ""
        if apart is None
        else f"differences by way of the engine are {apart:.0f} points from the direct ones, on average"
    )
    return Sheet(title, columns, rows, [ENGINE_MEANING, note, more])


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
    return f"{points}{number(pair['expected_score'], 2)}\n{difference_text(pair)}"


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
