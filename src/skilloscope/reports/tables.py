"""Tables for the terminal, each made from the same dict that `--json` sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.words import EDGE_NOTE, competence, edge_mark, elo_interval, engine_line, percent, skipped_line

__all__ = ["deciders_table", "ratings_table", "reproduction_tables", "store_table"]


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
    return _framed(report["scale"]["axis"], table, notes)


def deciders_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `decisions rate`."""
    model, deciders = report["model"], report["deciders"]
    notes = [skipped_line(sum(decider["decisions"] for decider in deciders), report["skipped"])]
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
    return _framed(title, table, notes)


def reproduction_tables(report: Mapping[str, Any]) -> Iterator[Group]:
    """Yield one table per reproduced entry: printed, ours, difference, within tolerance."""
    for entry in report["entries"]:
        table = Table()
        table.add_column("")
        for name in ("printed", "ours", "difference", "tolerance", "within"):
            table.add_column(name, justify="right")
        for row in entry["rows"]:
            within = {None: "–", True: "yes", False: "NO"}[row["within"]]
            digits = len(row["printed_text"].partition(".")[2]) + 1  # one more than the paper prints
            table.add_row(
                row["label"],
                row["printed_text"],
                _number(row["ours"], digits),
                _number(row["difference"], digits),
                f"{row['tolerance']:.2g}" if row["tolerance"] < 1 else f"{row['tolerance']:.1f}",
                within,
            )
        yield _framed(f"{entry['key']}: {entry['title']}", table, [entry["note"]])


def store_table(numbers: Mapping[str, Any]) -> Group:
    """Return the table of `store info`: the settings with their numbers, and how many answers each has."""
    table = Table()
    table.add_column("settings", justify="right")
    table.add_column("engine")
    for name in ("searched", "imported", "failed"):
        table.add_column(name, justify="right")
    for number, one in enumerate(numbers["settings"], start=1):
        rows = {(count["status"], count["origin"]): count["rows"] for count in one["counts"]}
        failed = sum(n for (status, _), n in rows.items() if status == "failed")
        done = [rows.get(("done", origin), 0) for origin in ("searched", "imported")]
        table.add_row(str(number), engine_line(one["settings"]), *(f"{n:,}" for n in (*done, failed)))
    size = f"{numbers['rows']:,} positions in {numbers['bytes']:,} bytes; schema {numbers['schema']}"
    return _framed(numbers["path"], table, [size])


def _framed(title: str, table: Table, notes: Sequence[str]) -> Group:
    """Put a title above a table and notes below it; they are as wide as the screen, not as the table."""
    return Group(Text(title, style="bold"), table, *(Text(note, style="dim") for note in notes if note))


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:z.{digits}f}"
