"""Tables for the terminal, each made from the same dict that `--json` sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from skilloscope.reports.words import bound_mark, competence, elo_interval, percent, skipped_line

__all__ = ["deciders_table", "ratings_table", "reproduction_tables"]


def ratings_table(report: Mapping[str, Any], truth: Mapping[str, float] | None = None) -> Table:
    """Return the table of `rate`: Elo with interval, c, move match, mean loss; with the true c where it is known."""
    decisions = sum(player["decisions"] for player in report["players"])
    star = (
        "\n* outside the range in which the scale was fitted"
        if any(p["extrapolated"] for p in report["players"])
        else ""
    )
    table = Table(
        title=report["scale"]["axis"],
        caption=skipped_line(decisions, report["skipped"]) + star,
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("player")
    for name in ("games", "decisions", f"Elo ({report['mass']:.0%} interval)", "c", *(["true c"] if truth else [])):
        table.add_column(name, justify="right")
    table.add_column("move match", justify="right")
    table.add_column("mean loss", justify="right")
    for player in report["players"]:
        agent = player["methods"]["agent"]
        true = [f"{truth[player['player']]:g}" if player["player"] in truth else "–"] if truth else []
        table.add_row(
            player["player"],
            f"{player['games']:,}",
            f"{player['decisions']:,}",
            elo_interval(player),
            competence(agent),
            *true,
            percent(player["move_match"]),
            f"{player['mean_loss']:.2f}",
        )
    return table


def deciders_table(report: Mapping[str, Any]) -> Table:
    """Return the table of `decisions rate`."""
    model, decisions = report["model"], sum(decider["decisions"] for decider in report["deciders"])
    table = Table(
        title=f"competence c of the agent (k = {model['k']:g}, rule {model['rule']}, prior {report['prior']})",
        caption=skipped_line(decisions, report["skipped"]),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("decider")
    for name in ("decisions", "c", "sd", f"{report['mass']:.0%} interval"):
        table.add_column(name, justify="right")
    for row in report["deciders"]:
        c = f"{bound_mark(row['edge'])}{row['c']:.3f}"
        table.add_row(
            row["decider"], f"{row['decisions']:,}", c, f"{row['sd']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}"
        )
    return table


def reproduction_tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """Yield one table per reproduced entry: printed, ours, difference, within tolerance."""
    for entry in report["entries"]:
        table = Table(
            title=f"{entry['key']}: {entry['title']}",
            caption=entry["note"],
            title_justify="left",
            caption_justify="left",
        )
        table.add_column("")
        for name in ("printed", "ours", "difference", "tolerance", "within"):
            table.add_column(name, justify="right")
        for row in entry["rows"]:
            within = {None: "–", True: "yes", False: "NO"}[row["within"]]
            table.add_row(
                row["label"],
                _number(row["printed"]),
                _number(row["ours"]),
                _number(row["difference"]),
                _number(row["tolerance"]),
                within,
            )
        yield table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")
