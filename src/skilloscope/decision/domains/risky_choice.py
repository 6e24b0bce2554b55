"""Individual risky choice: two lotteries, one preferred. The utility of a lottery is its expected utility.

Two CSV files. The questions, one row each:

    Choice,x1a,…,x4a,p1a,…,p4a,x1b,…,x4b,p1b,…,p4b,…

prizes x and probabilities p of the lotteries a and b, empty beyond the last prize; further columns are not read. The
individuals, one row per answer:

    IdSubject,IdQuestion,…,Preference,…

with Preference 1 for lottery a and 2 for b, whichever stood on top of the screen (`UpDown`). Where the row repeats the
prizes and probabilities, they must be the question's.

    EU(lottery) = Σ p_i · u(x_i),   u(x) = sign(x)·|x|^exponent

`exponent` 1, the default, is the expected value; below 1 the decider is taken to be averse to risk. It is given, not
fitted: `decisions judges` says which of two exponents explains the choices better. An exponent other than 1 changes
the unit of the utilities, so k must be fitted again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.core.files import numbered_lines
from skilloscope.decision.decisions import Decisions
from skilloscope.decision.domains.collecting import Collected, csv_rows, finite

_PRIZES = 4
_LOTTERIES = ("a", "b")
_NUMBERS = tuple(f"{kind}{i}{lottery}" for lottery in _LOTTERIES for kind in "xp" for i in range(1, _PRIZES + 1))

Lottery = tuple[tuple[float, float], ...]
"""Prizes with their probabilities."""


def expected_utility(lottery: Lottery, *, exponent: float = 1.0) -> float:
    """EU = Σ p·sign(x)·|x|^exponent.

    >>> expected_utility(((100.0, 0.5), (0.0, 0.5))), expected_utility(((100.0, 0.5), (0.0, 0.5)), exponent=0.5)
    (50.0, 5.0)
    """
    return math.fsum(p * math.copysign(abs(x) ** exponent, x) for x, p in lottery)


def read_risky_choice(paths: Sequence[str | Path], *, exponent: float = 1.0) -> Decisions:
    """Return the answers of the individuals; `paths` are the questions and the individuals, in either order."""
    if not (math.isfinite(exponent) and exponent > 0):
        raise OptionError(f"the exponent of the utility must be a positive number, got {exponent}")
    tally = Tally()
    answers, questions_at = _which(paths)
    questions = _questions(questions_at, tally)
    collected = Collected()
    collected.tally = tally
    for place, entry in csv_rows(answers, ("IdSubject", "IdQuestion", "Preference"), tally):
        reason = _fault(entry, questions)
        if reason:
            tally.fault(reason, str(answers), place, f"question {entry['IdQuestion']}, {entry['Preference']!r}")
            continue
        lotteries = questions[entry["IdQuestion"]]
        utilities = [expected_utility(lottery, exponent=exponent) for lottery in lotteries]
        collected.add(
            f"subject {entry['IdSubject']}",
            utilities,
            _LOTTERIES,
            int(entry["Preference"]) - 1,
            2,
            problem=entry["IdQuestion"],
            shown=entry.get("UpDown"),
            order=entry.get("Rank"),
        )
    formula = "expected value" if exponent == 1 else f"expected utility, x^{exponent:g}"
    about = {"domain": "risky choice", "unit": formula, "exponent": exponent}
    return collected.decisions(str(answers), about)


def _which(paths: Sequence[str | Path]) -> tuple[Path, Path]:
    """Return the individuals and the questions, told by their headers."""
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        header = _header(path)
        kind = "individuals" if "IdSubject" in header else "questions" if "Choice" in header else ""
        if not kind or kind in found:
            raise InputError(
                f"{path}: {'a second file of ' + kind if kind else 'neither questions nor individuals'}",
                hint="give two files: questions (column Choice) and individuals (column IdSubject)",
            )
        found[kind] = path
    if len(found) < 2:
        raise InputError(
            "risky choice needs two files", hint="questions (column Choice) and individuals (column IdSubject)"
        )
    return found["individuals"], found["questions"]


def _header(path: Path) -> list[str]:
    return [column.strip() for column in next((line for _, line in numbered_lines(path)), "").split(",")]


def _questions(path: Path, tally: Tally) -> dict[str, tuple[Lottery, ...]]:
    """Return the two lotteries of each question; a row without a number is no question, and counted."""
    questions: dict[str, tuple[Lottery, ...]] = {}
    for place, entry in csv_rows(path, ("Choice", *_NUMBERS), tally):
        if not entry["Choice"]:
            tally.count("row of the questions without a number")
            continue
        try:
            lotteries = tuple(_lottery(entry, name) for name in _LOTTERIES)
        except ValueError as error:
            tally.fault("unreadable question", str(path), place, str(error)[:80])
            continue
        if entry["Choice"] in questions:
            tally.fault("question given twice", str(path), place, entry["Choice"])
            continue
        questions[entry["Choice"]] = lotteries
    return questions


def _lottery(entry: Mapping[str, str], name: str) -> Lottery:
    cells = [(entry.get(f"x{i}{name}", ""), entry.get(f"p{i}{name}", "")) for i in range(1, _PRIZES + 1)]
    lottery = tuple((finite(x), finite(p)) for x, p in cells if x or p)
    if not lottery or any(p < 0 for _, p in lottery) or abs(math.fsum(p for _, p in lottery) - 1) > 1e-6:
        raise ValueError(f"the probabilities of lottery {name} do not sum to 1")
    return lottery


def _fault(entry: Mapping[str, str], questions: Mapping[str, tuple[Lottery, ...]]) -> str:
    """Return what is wrong with an answer, or nothing."""
    if not entry["IdSubject"]:
        return "no decider"
    if entry["IdQuestion"] not in questions:
        return "unknown question"
    if entry["Preference"] not in ("1", "2"):
        return "preference is neither 1 nor 2"
    if "x1a" in entry:
        try:
            repeated = tuple(_lottery(entry, name) for name in _LOTTERIES)
        except ValueError:
            return "the lotteries are not those of the question"
        if repeated != questions[entry["IdQuestion"]]:
            return "the lotteries are not those of the question"
    return ""
