"""Tables of ratings from results: the fit, the leaderboard, predictions, and how well they went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import plural

_NOT_LINKED = "not looked for: groups of players who never met, as the games before these are not kept"


_RELATIVE = "intervals are relative to the mean of all who play here: where that lies, results cannot tell"


def fit_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of `results fit`: what was fitted, and other lengths of a period where they were tried."""
    title = f"fitted to results, periods of {report['period']}"
    own = Sheet(title, ("", ""), _fit_rows(report), [] if "lengths" in report else [_skipped(report)])
    return [own, *([_lengths_sheet(report)] if "lengths" in report else [])]


def leaderboard_sheet(report: Mapping[str, Any], top: int = 20) -> Sheet:
    """Return the table of `results rate` and `smooth`: the strongest so many, with their interval."""
    past = report["method"] != "filter"
    apart = any("component" in player for player in report["players"])
    columns = ["", "player", f"rating ({100 * report['mass']:g} % interval)", "rd", "games", "first", "last"]
    columns += ["group"] if apart else []
    columns += ["peak", "rd at peak", "peak period"] if past else []
    rows: list[list[str]] = []
    places: Counter[int] = Counter()  # players of different groups never met, so each group has its own order
    for player in report["players"][:top]:
        group = player.get("component", 0)
        places[group] += 1
        row = [
            str(places[group] if apart else player["place"]),
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
    notes = [_shown(report, top), _RELATIVE, "" if report["components"] else _NOT_LINKED, _skipped(report)]
    return Sheet(_title(report), columns, rows, notes, left=0, words=(1,))


def predictions_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `results predict`."""
    numbers = ["probability", *(("win", "draw", "loss") if "kappa" in report else ())]
    rows = [
        [row["player_1"], row["player_2"], *(f"{row[name]:.3f}" for name in numbers)] for row in report["predictions"]
    ]
    if report["from"] == "whole":
        gaps = [f"{row['gap']:.0f} ± {row['gap_sd']:.0f}" for row in report["predictions"]]
        rows = [[*row, gap] for row, gap in zip(rows, gaps, strict=True)]
        numbers = [*numbers, "gap ± deviation"]
    draws = f"; win, draw and loss with κ = {report['kappa']:.3f}" if "kappa" in report else ""
    weighed = ", all games weighed together" if report["from"] == "whole" else ""
    title = f"probability that player_1 wins, in {report['at']}{_advantage(report)}{draws}{weighed}"
    return Sheet(title, ["player_1", "player_2", *numbers], rows, [_skipped(report)], left=2)


def holdout_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `results predict --holdout`: the calibration curve, and the losses below it."""
    rows = [
        [
            f"{row['from']:.1f} to {row['to']:.1f}",
            f"{row['games']:,}",
            f"{row['predicted']:.3f}",
            f"{row['observed']:.3f}",
            f"{row['standard_error']:.3f}",
        ]
        for row in report["calibration"]
    ]
    losses = f"{plural(report['games'], 'game')}: log-loss {report['log_loss']:.4f}, Brier score {report['brier']:.4f}"
    if "kappa" in report:
        losses += f"; of win, draw and loss {report['outcome_log_loss']:.4f} (κ = {report['kappa']:.3f})"
    last = f"the last {report['periods_held_out']} periods of {report['period']}"
    title = f"{last}, foretold from those before ({parameters_line(report)})"
    columns = ["predicted", "games", "mean prediction", "mean score", "± standard error"]
    return Sheet(title, columns, rows, [losses, _skipped(report)], left=0)


def folds_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `results predict --folds`: a row for each stretch of time, and all together below."""
    rows = [
        [
            row["from"],
            row["to"],
            f"{row['games']:,}",
            f"{row['log_loss']:.4f}",
            f"{row['brier']:.4f}",
            f"{row['sigma0']:.1f}",
            f"{row['nu']:.2f}",
            f"{row['advantage']:.1f}",
        ]
        for row in report["folds"]
    ]
    title = f"{len(rows)} stretches of time, each foretold from all before it, periods of {report['period']}"
    together = (
        f"{plural(report['games'], 'game')}: log-loss {report['log_loss']:.4f}, Brier score {report['brier']:.4f}"
    )
    columns = ["from", "to", "games", "log-loss", "Brier score", "σ0", "ν", "advantage"]
    return Sheet(title, columns, rows, [together, _skipped(report)], left=1)


def changes_sheets(report: Mapping[str, Any], top: int = 20) -> list[Sheet]:
    """Return the tables of `results report --since`: risen, fallen, newcomers, and who has not played."""
    changed = report["changed"]
    risen = [row for row in changed if row["change"] > 0]
    fallen = [row for row in reversed(changed) if row["change"] < 0]
    columns = ["player", "before", "now", "change", "rd", "games"]
    parts = [(f"risen since {report['since']}", risen), (f"fallen since {report['since']}", fallen)]
    sheets = [
        Sheet(
            title,
            columns,
            [
                [
                    row["player"],
                    f"{row['before']:.0f}",
                    f"{row['rating']:.0f}",
                    f"{row['change']:+.0f}",
                    f"{row['rd']:.0f}",
                    f"{row['games']:,}",
                ]
                for row in rows[:top]
            ],
            [_of_all(rows, top)],
            words=(0,),
        )
        for title, rows in parts
    ]
    new = [
        [row["player"], f"{row['rating']:.0f}", f"{row['rd']:.0f}", f"{row['games']:,}"] for row in report["newcomers"]
    ]
    gone = [[row["player"], f"{row['rating']:.0f}", row["last_period"]] for row in report["inactive"]]
    sheets.append(Sheet("newcomers", ["player", "rating", "rd", "games"], new[:top], [_of_all(new, top)], words=(0,)))
    last = [_of_all(gone, top), _skipped(report)]
    sheets.append(Sheet("not playing since", ["player", "rating", "last"], gone[:top], last, words=(0,)))
    return sheets


def member_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of `results report --player`: history, and opponents with expected and actual score."""
    title = f"{report['player']}: {report['rating']:.0f} ± {report['rd']:.0f}"
    history = [
        [row["period"], f"{row['rating']:.0f}", f"{row['rd']:.0f}", f"{row['games']:,}"] for row in report["history"]
    ]
    met = report["opponents"]
    opponents = [[row["opponent"], f"{row['games']:,}", f"{row['expected']:.2f}", f"{row['score']:g}"] for row in met]
    total = [sum(row[name] for row in met) for name in ("games", "expected", "score")]
    notes = [f"{total[2]:g} of {total[0]:,} points, {total[1]:.2f} expected", _skipped(report)]
    return [
        Sheet(title, ["period", "rating", "rd", "games"], history),
        Sheet("opponents", ["opponent", "games", "expected", "score"], opponents, notes, words=(0,)),
    ]


def _of_all(rows: Sequence[Any], top: int) -> str:
    return f"the first {top} of {len(rows):,}" if len(rows) > top else plural(len(rows), "player")


def parameters_line(report: Mapping[str, Any]) -> str:
    """Return what the ratings stand on, given or fitted."""
    drift = f", newcomers' drift {report['drift']:.3g} a period" if report.get("drift") else ""
    return f"σ0 = {report['sigma0']:.2f}, ν = {report['nu']:.2f}{_advantage(report)}{drift}"


def _fit_rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was fitted and what to, in words."""
    held = {"sigma0": "σ0, of new players' strength", "nu": "ν, of its change in a period"}
    rows = []
    for name, text in held.items():
        given = "" if name in report["fitted"] else " (given)"
        rows.append((f"standard deviation {text}{given}", f"{report[name]:.2f}"))
        if name in report.get("intervals", {}):
            low, high = report["intervals"][name]
            rows.append(("  of the true strengths", f"{low:.2f} to {high:.2f}"))
    if report["advantage"] or "advantage" in report["fitted"]:
        given = "" if "advantage" in report["fitted"] else " (given)"
        rows.append((f"the first player's advantage{given}", f"{report['advantage']:.2f}"))
    if report["drift"]:
        rows.append(("newcomers enter higher with each period by", f"{report['drift']:.3g}"))
    if report["published"]:
        said = report["published"]
        rows.append(("a published rating: slope, deviation", f"{said['slope']:.3f}, {said['deviation']:.1f}"))
        rows.append(("of a newcomer: more, deviation", f"{said['newcomer']:.1f}, {said['entry']:.1f}"))
    if report["entered"]:
        rows.append(("players with a first rating of their own", f"{report['entered']:,}"))
    rows.append(("total discrepancy (15)", f"{report['discrepancy']:,.2f}"))
    rows.append(("per game", f"{report['discrepancy'] / report['games']:.5f}"))
    rows += [(name, f"{report[name]:,}") for name in ("games", "players", "periods")]
    return [*rows, ("games per active player and period", f"{report['games_per_player_and_period']:.1f}")]


def _lengths_sheet(report: Mapping[str, Any]) -> Sheet:
    rows = [
        [
            row["period"],
            f"{row['loss']:.5f}",
            f"{row['games']:,}",
            f"{row['games_per_player_and_period']:.1f}",
            "best" if row["best"] else "" if row["comparable"] else "fewer games: not comparable",
        ]
        for row in report["lengths"]
    ]
    columns = ["period", "discrepancy per game", "games", "games per player and period", ""]
    title = f"every game foretold from before its period of {report['horizon']}, whatever the length"
    return Sheet(title, columns, rows, [_skipped(report)], words=(4,))


def _title(report: Mapping[str, Any]) -> str:
    how = {"filter": "ratings", "rts": "smoothed (rts)", "eq14": "smoothed (eq14)", "whole": "smoothed (whole)"}
    when = f", in {report['at']}" if report["at"] else ""
    fitted = parameters_line(report)
    return (
        f"{how[report['method']]} from {plural(report['games'], 'game')}, periods of {report['period']}, {fitted}{when}"
    )


def _advantage(report: Mapping[str, Any]) -> str:
    return f", the first player's advantage {report['advantage']:.1f}" if report["advantage"] else ""


def _shown(report: Mapping[str, Any], top: int) -> str:
    players: Sequence[Any] = report["players"]
    more = (
        f"the first {top} of {plural(len(players), 'player')}" if len(players) > top else plural(len(players), "player")
    )
    if not report["left_out"] and not report["active"]:
        return more
    why = "not active" if report["active"] else f"not having played by {report['at']}"
    return f"{more}; {report['left_out']:,} left out as {why}"


def _skipped(report: Mapping[str, Any]) -> str:
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in report["skipped"].items())
    return f"skipped: {reasons}" if reasons else "nothing skipped"
