"""Tables of ratings, of players and of deciders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import (
    EDGE_NOTE,
    competence,
    curve_estimate,
    edge_mark,
    elo_interval,
    percent,
    skipped_line,
)
from skilloscope.studies.judges.tables import k_line


def ratings_sheet(
    report: Mapping[str, Any],
    truth: Mapping[str, float] | None = None,
    *,
    by: str = "player",
    full: bool = False,
    elo: bool = True,
) -> Sheet:
    """Return the table of `rate --method agent`: Elo with interval, c, move match, mean loss; the true c if known.

    In `full` the move match has its interval too; without `elo` the table is of c alone.
    """
    players = report["players"]
    notes = [skipped_line(sum(player["decisions"] for player in players), report["skipped"])]
    if any(player["extrapolated"] for player in players):
        notes.append("* outside the range in which the scale was fitted")
    if any(player["elo_edge"] or player["methods"]["agent"]["edge"] for player in players):
        notes.append(EDGE_NOTE)
    notes += [*_stands_on(report), *_unrated(report)]
    interval = f"Elo ({100 * report['mass']:g} % interval)"
    columns = [by, "games", "decisions", interval, "c", *(["true c"] if truth else []), "move match", "mean loss"]
    rows = [_rating_row(player, truth, full) for player in players]
    if not elo:
        place = columns.index(interval)
        columns, rows = [*columns[:place], *columns[place + 1 :]], [[*r[:place], *r[place + 1 :]] for r in rows]
        notes = notes[:1]
    return Sheet(report["scale"]["axis"], columns, rows, notes)


def _rating_row(player: Mapping[str, Any], truth: Mapping[str, float] | None, full: bool) -> list[str]:
    reach = f" ({percent(player['move_match_low'])} to {percent(player['move_match_high'])})" if full else ""
    return [
        player["player"],
        f"{player['games']:,}",
        f"{player['decisions']:,}",
        elo_interval(player),
        competence(player["methods"]["agent"]),
        *([f"{truth[player['player']]:g}" if player["player"] in truth else "–"] if truth else []),
        percent(player["move_match"]) + reach,
        f"{player['mean_loss']:.2f}",
    ]


def deciders_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `decisions rate`."""
    model, deciders = report["model"], report["deciders"]
    notes = [skipped_line(sum(decider["decisions"] for decider in deciders), report["skipped"])]
    if "k_fit" in report:
        notes.append(k_line(report["k_fit"]))
    if any(decider["edge"] for decider in deciders):
        notes.append(EDGE_NOTE)
    notes += _unrated(report)
    title = f"competence c of the agent (k = {model['k']:g}, rule {model['rule']}, prior {report['prior']})"
    rows = [
        [
            row["decider"],
            f"{row['decisions']:,}",
            f"{row['c']:.3f}{edge_mark(row['edge'])}",
            f"{row['sd']:.3f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
        ]
        for row in deciders
    ]
    return Sheet(title, ["decider", "decisions", "c", "sd", f"{100 * report['mass']:g} % interval"], rows, notes)


def curve_deciders_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `decisions rate --method curves`."""
    model, deciders = report["model"], report["deciders"]
    notes = [skipped_line(sum(decider["decisions"] for decider in deciders), report["skipped"])]
    if any(decider["edge"] for decider in deciders):
        notes.append("* at the end of its range: the truth may lie beyond")
    notes += [*report["warnings"], *_unrated(report)]
    title = (
        f"sensitivity s and competence c of {model['mapping']} with {model['curve']} "
        f"(fit {report['fit']}, rule {model['rule']}, scaling {model['scaling']:g})"
    )
    rows = [
        [
            row["decider"],
            f"{row['decisions']:,}",
            curve_estimate(row, "s"),
            curve_estimate(row, "c"),
            number(row["log_likelihood"], 2),
            number(row["expected_loss"], 3),
        ]
        for row in deciders
    ]
    return Sheet(title, ["decider", "decisions", "s", "c", "log-likelihood", "expected loss"], rows, notes)


def _stands_on(report: Mapping[str, Any]) -> list[str]:
    """Return prior, scale, method and range in a line."""
    priors = dict.fromkeys(player["prior"] for player in report["players"])
    prior = next(iter(priors), "none") if len(priors) < 2 else "each player's own, in the JSON"
    low, high = report["scale"]["valid"]
    scale = f"scale {report['scale']['name']!r} of the agent, fitted from {low:.0f} to {high:.0f}"
    return [f"prior: {prior}; {scale}"]


def _unrated(report: Mapping[str, Any]) -> list[str]:
    names = [one["player"] if isinstance(one, Mapping) else one for one in report["unrated"]]
    return [f"no usable decision of: {'; '.join(names)}"] if names else []
