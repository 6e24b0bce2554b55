"""Tables of ratings on the Elo axis: who is well known, of whom little is known, and who could not be rated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import EDGE_NOTE, elo_interval, engine_line, percent, skipped_line
from skilloscope.studies.rate.elo import FEW_MOVES, GOAL, WIDE

_MOST_NAMES = 8
_BEHIND = {
    "joint": "engine and what people play; in the opening what people play",
    "human": "what people play, no engine",
    "curves": "RH11's curves, what the moves lost after the opening in undecided positions",
    "gain": "FER12's gains against a fixed field, after the opening in undecided positions",
    "all": "each method beside the others; first engine and what people play",
}


def elo_sheets(report: Mapping[str, Any], *, by: str = "player") -> list[Sheet]:
    """Return the tables of `rate`: the well known, and below them those of whom little is known; notes come last."""
    known = [player for player in report["players"] if not player["little_evidence"]]
    little = [player for player in report["players"] if player["little_evidence"]]
    sheets = [_block(report, known, by, report["scale"]["axis"])] if known else []
    if little:
        head = f"Little evidence: an interval wider than ± {WIDE:.0f}, or fewer than {FEW_MOVES} moves"
        title = head if known else f"{report['scale']['axis']}. {head}"
        sheets.append(_block(report, little, by, title, missing=by == "player"))
    last = sheets[-1]
    return [*sheets[:-1], Sheet(last.title, last.columns, last.rows, _notes(report), words=last.words)]


def _block(
    report: Mapping[str, Any], players: Sequence[Mapping[str, Any]], by: str, title: str, *, missing: bool = False
) -> Sheet:
    several = [name for name in ("human", "agent", "curves", "gain") if report["method"] == "all"]
    judged = report["method"] != "human"
    several = [*several, *(["moves alone", "results alone"] if report.get("fusion") else [])]
    columns = [by, f"Elo ({100 * report['mass']:g} % interval)", *several, "games", "moves", "header"]
    columns += ["score"] if report.get("fusion") else []
    columns += ["move match", "mean loss"] if judged else []
    columns += [f"for ± {GOAL:.0f}"] if missing else []
    fused = bool(report.get("fusion"))
    rows = [_row(player, several, judged, missing, fused) for player in players]
    return Sheet(title, columns, rows, words=(len(columns) - 1,) if missing else ())


def _row(player: Mapping[str, Any], several: Sequence[str], judged: bool, missing: bool, fused: bool) -> list[str]:
    match = player["move_match"]
    return [
        player["player"],
        elo_interval(player),
        *(_method(player["methods"].get(name.removesuffix(" alone"))) for name in several),
        f"{player['games']:,}",
        f"{player['decisions']:,}",
        number(player["header_elo"], 0),
        *([_score(player["results"])] if fused else []),
        *(["–" if match is None else percent(match), number(player["mean_loss"], 2)] if judged else []),
        *([_more(player["more_games"])] if missing else []),
    ]


def _method(found: Mapping[str, Any] | None) -> str:
    return "–" if found is None else f"{found['elo']:.0f} ({found['elo_low']:.0f} to {found['elo_high']:.0f})"


def _score(results: Mapping[str, Any] | None) -> str:
    return "–" if results is None else f"{results['score']:g} of {results['games']:,}"


def _more(games: int | None) -> str:
    if games is None:
        return "not reachable by games alone"
    return f"about {games:,} more game{'' if games == 1 else 's'}" if games else "reached"


def _notes(report: Mapping[str, Any]) -> list[str]:
    players = report["players"]
    notes = [
        skipped_line(sum(player["decisions"] for player in players), report["skipped"], what="moves"),
        *axis_lines(report, players),
    ]
    if fusion := report.get("fusion"):
        notes.append(_fusion_line(fusion))
    if any(player["little_evidence"] for player in players) and report["by"] == "player":
        notes.append(
            f"± {GOAL:.0f} is one standard deviation; what a model says of a person's style stays in every game"
        )
    return [*notes, *_unrated(report["unrated"])]


def _fusion_line(fusion: Mapping[str, Any]) -> str:
    beside, games = fusion["beside"], fusion["games"]
    known = ", ".join(f"{n:,} by {by}" for by, n in fusion["opponents_known_by"].items() if n)
    return (
        f"results of {games:,} game{'' if games == 1 else 's'} count {beside['results']:.2f}, the moves beside them "
        f"{beside['moves']:.2f}; opponents known: {known or 'none'} "
        f"(a rating in a header is taken as ± {fusion['rated_sd']:.0f})"
    )


def axis_lines(report: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what stands under every table of Elo: prior, axis, effort, method and range; and what the marks mean."""
    scale, method = report["scale"], report["method"]
    engine = f"; {engine_line(report['engine'])}" if report["engine"] else ""
    low, high = scale["valid"]
    lines = [
        f"prior: {prior_line(report['prior'])}",
        f"axis {scale['name']!r}, effort {report['effort']['name']!r}, method {method!r}: {_BEHIND[method]}{engine}",
        f"fitted from {low:.0f} to {high:.0f}",
    ]
    if any(one["extrapolated"] for one in shown):
        lines.append("* outside the range in which the axis was fitted: a direction, not a number")
    if any(one["elo_edge"] for one in shown):
        lines.append(EDGE_NOTE)
    return lines


def prior_line(prior: Mapping[str, Any]) -> str:
    """Return a prior in words, e.g. `population, mean 2000, sd 350 (players of …)`."""
    numbers = [f"{name} {prior[name]:.0f}" for name in ("mean", "sd") if prior[name] is not None]
    return f"{', '.join([prior['name'], *numbers])} ({prior['source']})"


def _unrated(unrated: Sequence[Mapping[str, str]]) -> list[str]:
    named = [f"{one['player']} ({one['reason']})" for one in unrated[:_MOST_NAMES]]
    more = f" and {len(unrated) - _MOST_NAMES:,} others" if len(unrated) > _MOST_NAMES else ""
    return [f"not rated: {'; '.join(named)}{more}"] if named else []
