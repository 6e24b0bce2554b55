"""The table of a comparison: both sides, the difference, and how probably the second is stronger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import EDGE_NOTE, competence, elo_interval, probability_text, skipped_line
from skilloscope.studies.rate.elo_tables import axis_lines
from skilloscope.studies.rate.parts_tables import SHARED_NOTE, change_text

_SIDES = ("first", "second")


def comparison_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `compare`; its caution is for whoever shows it."""
    names = [report["comparisons"][0][side]["label"] for side in _SIDES]
    elo = ["in Elo points"] if report["comparisons"][0]["elo"] else []
    change = f"difference ({100 * report['mass']:g} % interval)"
    columns = ["", *(f"c {name}" for name in names), change, *elo, f"{names[1]} stronger"]
    rows = [
        [
            found["decider"],
            *(f"{competence(found[side])} ({found[side]['decisions']:,})" for side in _SIDES),
            f"{found['difference']:+.2f} ({found['low']:+.2f} to {found['high']:+.2f})",
            *([_elo(found["elo"])] if found["elo"] else []),
            probability_text(found["second_stronger"]),
        ]
        for found in report["comparisons"]
    ]
    return Sheet("competence c, decisions in brackets", columns, rows, _notes(report))


def elo_comparison_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `compare` on the Elo axis: a row for each side, and who is probably stronger."""
    (found,) = report["comparisons"]
    sides = [found[name] for name in _SIDES]
    columns = ["", f"Elo ({100 * report['mass']:g} % interval)", "games", "moves", "header"]
    rows = [
        [one["label"], elo_interval(one), f"{one['games']:,}", f"{one['decisions']:,}", number(one["header_elo"], 0)]
        for one in sides
    ]
    apart = change_text(found)
    first, second = (one["label"] for one in sides)
    notes = [
        f"difference, {second} − {first}: {apart} Elo",
        f"{second} stronger: {probability_text(found['second_stronger'])}",
        skipped_line(sum(one["decisions"] for one in sides), report["skipped"], what="moves"),
        *axis_lines(report, sides),
    ]
    if report["shared_effects"]:
        notes += [SHARED_NOTE, f"before the games the sides may differ with an sd of {report['sides_sd']:.0f} Elo each"]
    return Sheet(report["scale"]["axis"], columns, rows, notes)


def _notes(report: Mapping[str, Any]) -> list[str]:
    sides = [found[side] for found in report["comparisons"] for side in _SIDES]
    notes = [skipped_line(sum(side["decisions"] for side in sides), report["skipped"])]
    if any(side["edge"] for side in sides):
        notes.append(EDGE_NOTE)
    if report["unpaired"]:
        notes.append(f"in one of the two sets only: {'; '.join(report['unpaired'])}")
    notes.append(f"prior of each c: {report['prior']}; dispersion {report['dispersion']:.2f}")
    return notes


def _elo(elo: Mapping[str, float]) -> str:
    return f"{elo['difference']:+.0f} ({elo['low']:+.0f} to {elo['high']:+.0f})"
