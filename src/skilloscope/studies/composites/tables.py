"""Tables of composite players, of their convergence, and of apparent skill by result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import EDGE_NOTE, edge_mark, skipped_line


def composites_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of `composites`: the groups, and what was asked beside them."""
    found = [composites_sheet(report)]
    if report["convergence"]:
        found.append(convergence_sheet(report["convergence"]))
    if report["split"]:
        found.append(split_sheet(report["split"]))
    return found


def composites_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of composite players. [DFH13 Table III]"""
    model = report["model"]
    near = f" within ±{report['tolerance']:g} Elo" if report["tolerance"] is not None else ""
    agent = f"agent with k = {model['k']:g}, rule {model['rule']}, prior {report['prior']}"
    rows = [
        [
            group["group"],
            f"{group['games']:,}" if group["games"] else "–",
            f"{group['decisions']:,}",
            f"{group['c']:.3f}{edge_mark(group['edge'])}",
            f"{group['sd']:.4f}",
            f"{group['low']:.3f} to {group['high']:.3f}",
            f"{group['sd_root_n']:.3f}",
        ]
        for group in report["groups"]
    ]
    columns = [report["by"], "games", "N", "c̄", "σ", f"{100 * report['mass']:g} % region", "σ·√N"]
    return Sheet(f"composite players by {report['by']}{near}; {agent}", columns, rows, _notes(report))


def line_words(line: Mapping[str, Any]) -> str:
    """Return the line from c̄ to Elo in one sentence."""
    sign = "+" if line["intercept"] >= 0 else "−"
    return (
        f"Elo = {line['slope']:.0f} (± {line['slope_sd']:.0f}) · c̄ {sign} {abs(line['intercept']):.0f} "
        f"(± {line['intercept_sd']:.0f}) over {line['groups']} mileposts, standard error {line['residual_sd']:.0f} Elo"
    )


def convergence_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the steps of a convergence, and the spread between games below them. [DFH13 Figure 3]"""
    rows = [
        [f"{step['decisions']:,}", f"{step['c']:.3f}", f"{step['sd']:.4f}", f"{step['low']:.3f} to {step['high']:.3f}"]
        for step in report["steps"]
    ]
    title = f"convergence, group {report['group']}"
    return Sheet(title, ["decisions", "c̄", "σ", "region"], rows, [_spread_words(report["between_games"])])


def split_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the split by result: the mean of all, and the differences, below it. [DFHR09 Table III, DFH13 Table IV]"""
    rows = [
        [
            row["result"],
            f"{row['player_games']:,}",
            f"{row['decisions']:,}",
            f"{row['mean']:.3f}{_reach(row)}",
            number(row["sd"], 3),
            number(row["variance"], 4),
            f"{row['pooled']:.3f} ± {row['pooled_sd']:.3f}",
        ]
        for row in report["results"]
    ]
    notes = [f"mean c̄ of all {report['player_games']:,} player-games: {report['mean']:.4f}"]
    notes += [
        f"{difference['of']}: {difference['mean']:+.3f}{_reach(difference, '+.3f')}, {difference['games']:,} games"
        for difference in report["differences"]
    ]
    notes.append("c̄ of a game with few decisions leans upward, towards the middle of its range; the pooled c does not")
    if report["skipped"]:
        notes.append("; ".join(f"{n:,} {reason}" for reason, n in report["skipped"].items()))
    columns = ["result", "player-games", "decisions", "mean c̄ (interval)", "sd", "variance", "pooled c"]
    return Sheet(f"apparent skill c̄ of player-games by result, group {report['group']}", columns, rows, notes)


def _notes(report: Mapping[str, Any]) -> list[str]:
    notes = [line_words(report["line"])] if report["line"] else []
    notes.append(skipped_line(sum(group["decisions"] for group in report["groups"]), report["skipped"]))
    notes.append("σ and region take all decisions of a group for those of one agent: games and players differ more")
    if any(group["edge"] for group in report["groups"]):
        notes.append(EDGE_NOTE)
    if report["unused"]:
        notes.append(f"no usable decision of: {'; '.join(report['unused'])}")
    return notes


def _spread_words(spread: Mapping[str, Any] | None) -> str:
    if spread is None:
        return "the decisions do not say in which game they were made, so no spread between games"
    return (
        f"spread of c between {spread['player_games']:,} player-games: sd {spread['sd']:.3f} "
        f"({spread['low']:.3f} to {spread['high']:.3f}{edge_mark(spread['edge'])}); unlike σ it does not shrink with "
        f"more games. By moments {spread['moment_sd']:.3f}; plain sd of c̄ from game to game {spread['observed_sd']:.3f}"
    )


def _reach(row: Mapping[str, Any], form: str = ".3f") -> str:
    """Return an interval in brackets, or nothing where a single game gives none."""
    return "" if row["low"] is None else f" ({row['low']:{form}} to {row['high']:{form}})"
