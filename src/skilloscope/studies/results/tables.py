"""Tables of ratings from results: the fit, the leaderboard, predictions, and how well they went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.terminal import framed

HOLDOUT_COLUMNS = ("predicted", "games", "mean prediction", "mean score", "± standard error")

_NOT_LINKED = "not looked for: groups of players who never met, as the games before these are not kept"


def fit_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `results fit`."""
    table = Table("", "")
    table.columns[1].justify = "right"
    for name, value in fit_rows(report):
        table.add_row(name, value)
    title = f"fitted to results, periods of {report['period']}"
    if "lengths" not in report:
        return framed(title, table, [_skipped(report)])
    return Group(framed(title, table, []), _lengths_table(report["lengths"]), Text(_skipped(report), style="dim"))


def fit_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was fitted and what to, in words, for the terminal and for a page."""
    held = {"sigma0": "σ0, of new players' strength", "nu": "ν, of its change in a period"}
    rows = []
    for name, text in held.items():
        given = "" if name in report["fitted"] else " (given)"
        low, high = report.get("intervals", {}).get(name, (None, None))
        interval = f" ({low:.2f} to {high:.2f})" if low is not None else ""
        rows.append((f"standard deviation {text}{given}", f"{report[name]:.2f}{interval}"))
    if report["advantage"] or "advantage" in report["fitted"]:
        given = "" if "advantage" in report["fitted"] else " (given)"
        rows.append((f"the first player's advantage{given}", f"{report['advantage']:.2f}"))
    if report["entered"]:
        rows.append(("players with a first rating of their own", f"{report['entered']:,}"))
    rows.append(("total discrepancy (15)", f"{report['discrepancy']:,.2f}"))
    rows.append(("per game", f"{report['discrepancy'] / report['games']:.5f}"))
    rows += [(name, f"{report[name]:,}") for name in ("games", "players", "periods")]
    return [*rows, ("games per active player and period", f"{report['games_per_player_and_period']:.1f}")]


def _lengths_table(lengths: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("period", "total discrepancy", "games", "games per player and period", "")
    for column in table.columns[1:4]:
        column.justify = "right"
    for row in lengths:
        density = f"{row['games_per_player_and_period']:.1f}"
        word = "best" if row["best"] else "" if row["comparable"] else "fewer games: not comparable"
        table.add_row(row["period"], f"{row['discrepancy']:,.2f}", f"{row['games']:,}", density, word)
    return table


def leaderboard(report: Mapping[str, Any], top: int = 20) -> Group:
    """Return the table of `results rate` and `smooth`: the strongest so many, with their interval."""
    columns, rows = leaderboard_rows(report, top)
    table = Table()
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place == 1 else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    unlinked = [] if report["components"] else [_NOT_LINKED]
    notes = [_shown(report, top), *unlinked, _skipped(report)]
    return framed(_title(report), table, notes)


def leaderboard_rows(report: Mapping[str, Any], top: int) -> tuple[list[str], list[list[str]]]:
    """Return the headings and cells of a leaderboard, for the terminal and for a page."""
    past = report["method"] != "filter"
    apart = any("component" in player for player in report["players"])
    columns = ["", "player", "rating (95 % interval)", "rd", "games", "first", "last"]
    columns += ["group"] if apart else []
    columns += ["peak", "rd at peak", "peak period"] if past else []
    rows: list[list[str]] = []
    places: Counter[int] = Counter()  # players of different groups never met, so each group has its own order
    for player in report["players"][:top]:
        group = player.get("component", 0)
        places[group] += 1
        row = [
            str(places[group]),
            player["player"],
            f"{player['rating']:.0f} ({player['low']:.0f} to {player['high']:.0f})",
            f"{player['rd']:.0f}",
            f"{player['games']:,}",
            player["first_period"],
            player["last_period"],
        ]
        row += [str(group)] if apart else []
        if past:
            row += [f"{player['peak_rating']:.0f}", f"{player['peak_rd']:.0f}", player["peak_period"]]
        rows.append(row)
    return columns, rows


def predictions_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `results predict`."""
    numbers = ["probability", *(("win", "draw", "loss") if "kappa" in report else ())]
    table = Table("player_1", "player_2", *numbers)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in report["predictions"]:
        table.add_row(Text(row["player_1"]), Text(row["player_2"]), *(f"{row[name]:.3f}" for name in numbers))
    first = _advantage(report)
    draws = f"; win, draw and loss with κ = {report['kappa']:.3f}" if "kappa" in report else ""
    return framed(f"probability that player_1 wins, in {report['at']}{first}{draws}", table, [_skipped(report)])


def holdout_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `results predict --holdout`: the calibration curve, and the losses below it."""
    table = Table(*HOLDOUT_COLUMNS)
    for column in table.columns:
        column.justify = "right"
    for cells in holdout_rows(report):
        table.add_row(*cells)
    losses = f"{report['games']:,} games: log-loss {report['log_loss']:.4f}, Brier score {report['brier']:.4f}"
    if "kappa" in report:
        losses += f"; of win, draw and loss {report['outcome_log_loss']:.4f} (κ = {report['kappa']:.3f})"
    fitted = _parameters(report)
    title = (
        f"the last {report['periods_held_out']} periods of {report['period']}, foretold from those before ({fitted})"
    )
    return framed(title, table, [losses, _skipped(report)])


def holdout_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of the calibration curve, for the terminal and for a page."""
    return [
        [
            f"{row['from']:.1f} to {row['to']:.1f}",
            f"{row['games']:,}",
            f"{row['predicted']:.3f}",
            f"{row['observed']:.3f}",
            f"{row['standard_error']:.3f}",
        ]
        for row in report["calibration"]
    ]


def _title(report: Mapping[str, Any]) -> str:
    how = {"filter": "ratings", "rts": "smoothed (rts)", "eq14": "smoothed (eq14)", "joint": "smoothed (joint)"}
    when = f", in {report['at']}" if report["at"] else ""
    fitted = _parameters(report)
    return f"{how[report['method']]} from {report['games']:,} games, periods of {report['period']}, {fitted}{when}"


def _parameters(report: Mapping[str, Any]) -> str:
    return f"σ0 = {report['sigma0']:.2f}, ν = {report['nu']:.2f}{_advantage(report)}"


def _advantage(report: Mapping[str, Any]) -> str:
    return f", the first player's advantage {report['advantage']:.1f}" if report["advantage"] else ""


def _shown(report: Mapping[str, Any], top: int) -> str:
    players: Sequence[Any] = report["players"]
    more = f"the first {top} of {len(players):,} players" if len(players) > top else f"{len(players):,} players"
    if not report["left_out"] and not report["active"]:
        return more
    why = "not active" if report["active"] else f"not having played by {report['at']}"
    return f"{more}; {report['left_out']:,} left out as {why}"


def _skipped(report: Mapping[str, Any]) -> str:
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in report["skipped"].items())
    return f"skipped: {reasons}" if reasons else "nothing skipped"
