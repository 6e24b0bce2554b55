"""Tables of composite players, of their convergence, and of apparent skill by result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.terminal import framed
from skilloscope.reports.words import EDGE_NOTE, edge_mark, skipped_line

CONVERGENCE_COLUMNS = ("decisions", "c̄", "σ", "region")
SPLIT_COLUMNS = ("result", "player-games", "decisions", "mean c̄ (interval)", "sd", "variance", "pooled c")


def composites_columns(report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the heads of the table of composite players."""
    return (report["by"], "games", "N", "c̄", "σ", f"{100 * report['mass']:g} % region", "σ·√N")


def composites_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of the table of composite players. [DFH13 Table III]"""
    return [
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


def line_words(line: Mapping[str, Any]) -> str:
    """Return the line from c̄ to Elo in one sentence."""
    sign = "+" if line["intercept"] >= 0 else "−"
    return (
        f"Elo = {line['slope']:.0f} (± {line['slope_sd']:.0f}) · c̄ {sign} {abs(line['intercept']):.0f} "
        f"(± {line['intercept_sd']:.0f}) over {line['groups']} mileposts, standard error {line['residual_sd']:.0f} Elo"
    )


def composites_notes(report: Mapping[str, Any]) -> list[str]:
    """Return what stands below the table."""
    notes = [line_words(report["line"])] if report["line"] else []
    notes.append(skipped_line(sum(group["decisions"] for group in report["groups"]), report["skipped"]))
    notes.append("σ and region take all decisions of a group for those of one agent: games and players differ more")
    if any(group["edge"] for group in report["groups"]):
        notes.append(EDGE_NOTE)
    if report["unused"]:
        notes.append(f"no usable decision of: {'; '.join(report['unused'])}")
    return notes


def composites_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `composites`."""
    model = report["model"]
    near = f" within ±{report['tolerance']:g} Elo" if report["tolerance"] is not None else ""
    agent = f"agent with k = {model['k']:g}, rule {model['rule']}, prior {report['prior']}"
    title = f"composite players by {report['by']}{near}; {agent}"
    return framed(title, _filled(composites_columns(report), composites_rows(report)), composites_notes(report))


def convergence_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of the steps of a convergence. [DFH13 Figure 3]"""
    return [
        [f"{step['decisions']:,}", f"{step['c']:.3f}", f"{step['sd']:.4f}", f"{step['low']:.3f} to {step['high']:.3f}"]
        for step in report["steps"]
    ]


def convergence_notes(report: Mapping[str, Any]) -> list[str]:
    """Return what is to be said below the steps: the spread between games."""
    spread = report["between_games"]
    if spread is None:
        return ["the decisions do not say in which game they were made, so no spread between games"]
    return [
        f"spread of c between {spread['player_games']:,} player-games: sd {spread['sd']:.3f} "
        f"({spread['low']:.3f} to {spread['high']:.3f}); unlike σ it does not shrink with more games. By moments "
        f"{spread['moment_sd']:.3f}; plain sd of c̄ from game to game {spread['observed_sd']:.3f}"
    ]


def convergence_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `composites --convergence`."""
    table = _filled(CONVERGENCE_COLUMNS, convergence_rows(report))
    return framed(f"convergence, group {report['group']}", table, convergence_notes(report))


def split_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of the split by result. [DFHR09 Table III, DFH13 Table IV]"""
    return [
        [
            row["result"],
            f"{row['player_games']:,}",
            f"{row['decisions']:,}",
            f"{row['mean']:.3f}{_reach(row)}",
            "–" if row["sd"] is None else f"{row['sd']:.3f}",
            "–" if row["variance"] is None else f"{row['variance']:.4f}",
            f"{row['pooled']:.3f} ± {row['pooled_sd']:.3f}",
        ]
        for row in report["results"]
    ]


def split_notes(report: Mapping[str, Any]) -> list[str]:
    """Return what is to be said below the split: the mean of all, and the differences."""
    notes = [f"mean c̄ of all {report['player_games']:,} player-games: {report['mean']:.4f}"]
    notes += [
        f"{difference['of']}: {difference['mean']:+.3f}{_reach(difference, '+.3f')}, {difference['games']:,} games"
        for difference in report["differences"]
    ]
    notes.append("c̄ of a game with few decisions leans upward, towards the middle of its range; the pooled c does not")
    if report["skipped"]:
        notes.append("; ".join(f"{n:,} {reason}" for reason, n in report["skipped"].items()))
    return notes


def _reach(row: Mapping[str, Any], form: str = ".3f") -> str:
    """Return an interval in brackets, or nothing where a single game gives none."""
    return "" if row["low"] is None else f" ({row['low']:{form}} to {row['high']:{form}})"


def split_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `composites --split result`."""
    table = _filled(SPLIT_COLUMNS, split_rows(report))
    return framed(f"apparent skill c̄ of player-games by result, group {report['group']}", table, split_notes(report))


def _filled(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table()
    table.add_column(columns[0])
    for name in columns[1:]:
        table.add_column(name, justify="right")
    for cells in rows:
        table.add_row(Text(cells[0]), *cells[1:])
    return table
