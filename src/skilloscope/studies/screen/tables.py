"""The tables of a screening, from its one dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import engine_line, percent, probability_text, skipped_line

NAMES = {
    "index": "index",
    "match": "match %",
    "loss": "loss",
    "blunders": "blunders %",
    "stronger": "stronger",
    "usual": "usual move %",
    "likelihood": "log-likelihood",
}
_MOST_ODDS = 1000
_CHECKED = 0.001
_PERCENT = ("match", "blunders", "usual")
MEANINGS = {
    "index": "index: log-likelihood ratio, per move, of one move in five being an engine's; it orders everybody",
    "match": "match: the engine's first choice was played",
    "loss": "loss: on the scaled axis, in which a pawn matters less the more decided the game is",
    "blunders": "blunders: a scaled loss of a pawn from an even position, or more",
    "stronger": "stronger: log-likelihood ratio, per move, of people 200 Elo stronger; it orders everybody",
    "usual": "usual move: the move that people of that rating play most",
    "likelihood": "log-likelihood: how usual the moves are for people of that rating",
}


def screen_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return all tables of the terminal."""
    sheets = [order_sheet(report), beside_sheet(report), *([power_sheet(report)] if report["power"] else [])]
    if any(player["streak"] for player in report["players"]):
        sheets.append(streak_sheet(report))
    return [*sheets, position_sheet(report), about_sheet(report)]


def order_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return everybody by the statistic that orders them: z, p, q and posterior odds."""
    first = report["statistics"][0]
    rows = [
        [
            *_named(player, report),
            f"{player['elo']:.0f}{' *' if player['extrapolated'] else ''}",
            f"{player['games']:,}",
            f"{player['moves']:,}",
            _z(player["z"]),
            small(player["p"]),
            small(player["q"]),
            odds_text(player["posterior_odds"]),
        ]
        for player in report["players"]
    ]
    notes = [
        skipped_line(sum(player["moves"] for player in report["players"]), report["skipped"], "moves"),
        MEANINGS[first],
        f"{len(rows)} tests; p one-sided, q the false-discovery rate (Benjamini–Hochberg) over all of them",
        f"odds of help against none at a prevalence of {report['prevalence']:g}, over the kinds in the power table"
        if report["power"]
        else "without an engine nobody knows what help would have played: no odds, and no power table",
    ]
    if any(player["p"] < _CHECKED for player in report["players"]):
        notes.append(f"scores were checked on some hundred people: p below {_CHECKED:g} and its odds are extrapolated")
    if any(player["extrapolated"] for player in report["players"]):
        notes.append("* outside the ratings for which the model was fitted")
    if report["not_screened"]:
        notes.append(f"not screened: {_not_screened(report['not_screened'])}")
    columns = [*_who_columns(report), "Elo", "games", "moves", f"z {first}", "p", "q", "odds"]
    return Sheet("Everybody, the smallest p first", columns, rows, notes, left=len(_who_columns(report)))


def beside_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return actual beside expected for everybody, with the z of each statistic."""
    names = report["statistics"][1:]
    rows = []
    for player in report["players"]:
        own = player["statistics"]
        cells = [cell for name in names for cell in (_beside(own[name], name), _z(own[name]["z"]))]
        rows.append([*_named(player, report), *cells])
    notes = [
        "a: actual, e: expected at that rating, σ with person, dispersion, parameters, pool; z above 0 is better play",
        *(MEANINGS[name] for name in names),
    ]
    columns = [column for name in names for column in (f"{NAMES[name]} a/e ± σ", "z")]
    left = _who_columns(report)
    return Sheet("Actual beside expected", [*left, *columns], rows, notes, left=len(left))


def streak_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the most surprising run of each player."""
    rows = [
        [
            _who(player),
            str(player["streak"]["moves"]),
            f"game {player['streak']['game'] + 1}, move {player['streak']['ply'] // 2 + 1}",
            small(player["streak"]["probability"]),
            small(player["streak"]["p"]),
            small(player["streak"]["q"]),
        ]
        for player in report["players"]
        if player["streak"]
    ]
    notes = [
        "p: the share of fair players with as surprising a run anywhere in as many games; "
        "alone is the run by itself, which somebody chose out of all runs",
        f"q: the false-discovery rate over {len(rows)} players",
    ]
    return Sheet(
        "Streaks of the engine's first choices", ["player", "moves", "from", "alone", "p", "q"], rows, notes, words=(2,)
    )


def power_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return how much help of which kind would have been seen."""
    first, *others = report["statistics"]
    shown = [(first, 0.05), (first, 0.01), *((name, 0.01) for name in others)]
    seen = {(row["help"], row["statistic"], row["level"]): row["seen"] for row in report["power"]}
    kinds = dict.fromkeys(row["help"] for row in report["power"])
    rows = [[kind, *(percent(seen[kind, name, level]) for name, level in shown)] for kind in kinds]
    columns = ["help by an engine", *(f"{name} p ≤ {level:g}" for name, level in shown)]
    notes = [
        "simulated: everybody's moves played again at their rating, some of them another engine's first choice; "
        "the mean over all players"
    ]
    return Sheet("How much help would have been seen", columns, rows, notes)


def position_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the positions that weigh most, with what people of that level play there."""
    rows = [
        [
            _who(player),
            place["game"],
            place["move"],
            f"{place['weight']:.2f}",
            ", ".join(f"{one['move']} {probability_text(one['probability'])}" for one in place["people"]),
        ]
        for player in report["players"]
        for place in player["positions"]
    ]
    notes = ["weight: what the move adds to the statistic that orders everybody, beyond what was expected"]
    columns = ["player", "game", "move", "weight", "people of that rating play (last: the move played)"]
    return Sheet("Positions that weigh most", columns, rows, notes, left=3, words=(4,))


def about_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return what the report stands on: files, settings, versions, baseline."""
    rows = [[f"file {one['file']}", one["sha256"]] for one in report["inputs"]]
    rows += [[name, value] for name, value in report["versions"].items()]
    rows += [
        ["effort", report["effort"]],
        ["engine", engine_line(report["engine"]) if report["engine"] else "none"],
        ["ratings", report["ratings"]],
        ["baseline", report["baseline"]["data"]],
    ]
    for name, spread in report["baseline"]["spreads"].items():
        text = ", ".join(f"{key} {value:g}" for key, value in spread.items())
        rows.append(
            [f"baseline of {name}", f"{text}; this pool scatters {report['pool_scatter'][name]:.2f} times as widely"]
        )
    return Sheet("What this stands on", ["what", "value"], rows, words=(1,), headed=False)


def small(p: float) -> str:
    """Return a probability with two digits, however small.

    >>> small(0.0321), small(0.00000123), small(1.0)
    ('0.032', '1.2e-06', '1')
    """
    return f"{p:.2g}"


def odds_text(odds: float | None) -> str:
    """Return odds as people say them; no table says more than the scores were checked for.

    >>> odds_text(0.001), odds_text(20.0), odds_text(0.0), odds_text(1e12)
    ('1 : 1,000', '20 : 1', 'none', '> 1,000 : 1')
    """
    if odds is None:
        return "–"
    if odds == 0:
        return "none"
    if odds > _MOST_ODDS:
        return f"> {_MOST_ODDS:,} : 1"
    return f"{odds:,.0f} : 1" if odds >= 1 else f"1 : {1 / odds:,.0f}"


def _beside(value: Mapping[str, Any], name: str) -> str:
    times, digits = (100.0, 1) if name in _PERCENT else (1.0, 3)
    actual, expected, sd = (f"{times * value[key]:.{digits}f}" for key in ("actual", "expected", "sd"))
    return f"{actual}/{expected} ± {sd}"


def _who_columns(report: Mapping[str, Any]) -> list[str]:
    return ["player", "event"] if report["by_event"] else ["player"]


def _named(player: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    return [player["player"], player["event"]] if report["by_event"] else [player["player"]]


def _z(z: float | None) -> str:
    return "–" if z is None else f"{number(z, 2)}"


def _who(player: Mapping[str, Any]) -> str:
    return player["player"] if player["event"] is None else f"{player['player']} ({player['event']})"


def _not_screened(rows: list[Mapping[str, Any]]) -> str:
    shown = "; ".join(f"{row['player']} ({row['reason']})" for row in rows[:8])
    return shown + (f" and {len(rows) - 8} others" if len(rows) > 8 else "")
