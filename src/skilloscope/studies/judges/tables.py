"""The table of two judges, and the line that says what fitting k gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import edge_mark, percent, skipped_line

_COLUMNS = ("judge", "k (fitted)", "c of everybody", "best chosen", "mean loss", "held-out log-likelihood")


def judges_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `decisions judges`: one row a judge, the verdict and what was left out below."""
    rows = [
        [
            judge["judge"],
            k_text(judge),
            f"{judge['c']:.3f} ± {judge['sd']:.3f}",
            percent(judge["best_chosen"]),
            f"{judge['mean_loss']:.4g}",
            f"{judge['held_out']:.4f}",
        ]
        for judge in report["judges"]
    ]
    chance = ["chance", "–", "–", "–", "–", f"{report['chance']:.4f}"]
    title = f"two judges of the same choices among the same alternatives (rule {report['rule']}), per decision"
    notes = [_verdict(report), _folds(report), skipped_line(report["decisions"], report["skipped"])]
    return Sheet(title, _COLUMNS, [*rows, chance], notes)


def k_text(fit: Mapping[str, Any]) -> str:
    """Return a fitted k with its likelihood interval, and a mark where it leans on the end of what was looked at."""
    return f"{fit['k']:.3g} ({fit['k_low']:.3g} to {fit['k_high']:.3g}){edge_mark(fit['k_edge'])}"


def k_line(fit: Mapping[str, Any]) -> str:
    """Return what fitting k gains, in one line."""
    gain = f"{fit['gain']:+.4f} ({fit['gain_low']:+.4f} to {fit['gain_high']:+.4f})"
    return (
        f"k fitted: {k_text(fit)}; held-out log-likelihood per decision {fit['held_out']:.4f}, "
        f"{gain} against k = {fit['reference_k']:g} ({fit['folds']} folds of {fit['clusters']:,} {fit['clusters_by']}s)"
    )


def _verdict(report: Mapping[str, Any]) -> str:
    first, second = (judge["judge"] for judge in report["judges"])
    low, high = report["gain_low"], report["gain_high"]
    interval = f"{report['gain']:+.4f} ({100 * report['mass']:g} % interval {low:+.4f} to {high:+.4f})"
    if low <= 0 <= high:
        return (
            f"{second} against {first}: {interval} a decision; the interval holds 0, so neither is shown to be better"
        )
    better, worse = (second, first) if low > 0 else (first, second)
    return f"{second} against {first}: {interval} a decision; {better} explains the choices better than {worse}"


def _folds(report: Mapping[str, Any]) -> str:
    return (
        f"{report['folds']} folds of {report['clusters']:,} {report['clusters_by']}s, {report['deciders']:,} deciders; "
        f"the interval resamples {report['clusters_by']}s"
    )
