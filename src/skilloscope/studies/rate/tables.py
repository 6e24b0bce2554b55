"""Tables of ratings, of players and of deciders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.sheet import framed
from skilloscope.reports.words import EDGE_NOTE, competence, edge_mark, elo_interval, percent, skipped_line
from skilloscope.studies.judges.tables import k_line


def ratings_table(report: Mapping[str, Any], truth: Mapping[str, float] | None = None, *, by: str = "player") -> Group:
    """Return the table of `rate`: Elo with interval, c, move match, mean loss; with the true c where it is known."""
    players = report["players"]
    notes = [skipped_line(sum(player["decisions"] for player in players), report["skipped"])]
    if any(player["extrapolated"] for player in players):
        notes.append("* outside the range in which the scale was fitted")
    if any(player["elo_edge"] or player["methods"]["agent"]["edge"] for player in players):
        notes.append(EDGE_NOTE)
    if report["unrated"]:
        notes.append(f"no usable decision of: {'; '.join(report['unrated'])}")
    table = Table()
    table.add_column(by)
    for name in (
        "games",
        "decisions",
        f"Elo ({100 * report['mass']:g} % interval)",
        "c",
        *(["true c"] if truth else []),
    ):
        table.add_column(name, justify="right")
    table.add_column("move match", justify="right")
    table.add_column("mean loss", justify="right")
    for player in players:
        agent = player["methods"]["agent"]
        true = [f"{truth[player['player']]:g}" if player["player"] in truth else "–"] if truth else []
        table.add_row(
            Text(player["player"]),
            f"{player['games']:,}",
            f"{player['decisions']:,}",
            elo_interval(player),
            competence(agent),
            *true,
            percent(player["move_match"]),
            f"{player['mean_loss']:.2f}",
        )
    return framed(report["scale"]["axis"], table, notes)


def deciders_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `decisions rate`."""
    model, deciders = report["model"], report["deciders"]
    notes = [skipped_line(sum(decider["decisions"] for decider in deciders), report["skipped"])]
    if "k_fit" in report:
        notes.append(k_line(report["k_fit"]))
    if any(decider["edge"] for decider in deciders):
        notes.append(EDGE_NOTE)
    if report["unrated"]:
        notes.append(f"no usable decision of: {'; '.join(report['unrated'])}")
    title = f"competence c of the agent (k = {model['k']:g}, rule {model['rule']}, prior {report['prior']})"
    table = Table()
    table.add_column("decider")
    for name in ("decisions", "c", "sd", f"{100 * report['mass']:g} % interval"):
        table.add_column(name, justify="right")
    for row in deciders:
        c = f"{row['c']:.3f}{edge_mark(row['edge'])}"
        table.add_row(
            Text(row["decider"]),
            f"{row['decisions']:,}",
            c,
            f"{row['sd']:.3f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
        )
    return framed(title, table, notes)
