"""Published experiments: four-in-a-row with a solver's values, and choices between two lotteries.

docs/domains.md describes the columns of the files. In four-in-a-row all values are Black's, so White's change sign. A
solved win (±10000) is a mark, not a measure: values are clipped at ± a cap, by default `SOLVED_CAP`, and the share of
those that were is in `about`. They are rounded to nine decimals, since the solver's sums differ in their sixteenth
digit. Every free square is listed, so every choice-set rule gives the same.

A lottery's utility is Σ p_i · sign(x_i)·|x_i|^exponent. The exponent is given, not fitted; one other than 1 changes the
unit of the utilities, so k must be fitted again.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.core.files import numbered_lines
from skilloscope.decision.decisions import Decisions
from skilloscope.decision.domains.collecting import Collected, csv_rows, finite

SQUARES = 36
SOLVED_CAP = 20.0
"""Values beyond ± this, solved positions among them, count as this much. Heuristic values reach 19.2."""

_DECIMALS = 9
_VALUES = "values_36_by_square_nan_if_occupied"
_NEEDED = ("player", "color", "black_bits", "white_bits", "chosen_square", _VALUES)


def read_four_in_a_row(paths: Sequence[str | Path], *, cap: float = SOLVED_CAP) -> Decisions:
    """Return the moves of the files, valued from the mover's view, solved values clipped at ± `cap`."""
    if not (np.isfinite(cap) and cap > 0):
        raise OptionError(f"the cap of solved values must be a positive number, got {cap}")
    collected = Collected()
    clipped = total = 0
    for path in map(Path, paths):
        for place, entry in csv_rows(path, _NEEDED, collected.tally):
            try:
                free, values, chosen = _move(entry)
            except ValueError as error:
                collected.tally.fault("unreadable move", str(path), place, str(error)[:80])
                continue
            clipped += int(np.sum(np.abs(values) > cap))
            total += len(values)
            collected.add(
                f"player {entry['player']}",
                np.clip(values, -cap, cap).tolist(),
                [str(at) for at in free],
                chosen,
                len(free),
                problem=f"{path.name}#{place}",
                position=f"{entry['black_bits']}/{entry['white_bits']}",
                mover=entry["color"].lower(),
                stones=SQUARES - len(free),
                group=entry.get("group"),
            )
    about = {
        "domain": "four in a row",
        "unit": "solver's value",
        "cap": cap,
        "clipped_share": clipped / total if total else 0.0,
    }
    return collected.decisions(", ".join(map(str, paths)), about)


def _move(entry: dict[str, str]) -> tuple[list[int], Array, int]:
    """Return the free squares, their values for the mover, and the square played; a ValueError says what is wrong."""
    cells = entry[_VALUES].split()
    black, white, square = (int(entry[name]) for name in ("black_bits", "white_bits", "chosen_square"))
    if len(cells) != SQUARES:
        raise ValueError(f"{len(cells)} values for {SQUARES} squares")
    if entry["color"] not in ("Black", "White"):
        raise ValueError(f"color is {entry['color']!r}")
    free = [at for at in range(SQUARES) if cells[at].lower() != "nan"]
    taken = sum(1 << at for at in range(SQUARES) if at not in free)
    if black & white or black | white != taken:
        raise ValueError("the stones are not on the squares without a value")
    if square not in free:
        raise ValueError(f"square {square} is not free")
    sign = 1.0 if entry["color"] == "Black" else -1.0
    values = np.round([finite(cells[at]) for at in free], _DECIMALS)
    return free, sign * values + 0.0, free.index(square)  # 0.0 is added so that nothing is never minus nothing


_PRIZES = 4
_LOTTERIES = ("a", "b")
_NUMBERS = tuple(f"{kind}{i}{lottery}" for lottery in _LOTTERIES for kind in "xp" for i in range(1, _PRIZES + 1))

Lottery = tuple[tuple[float, float], ...]  # prizes with their probabilities


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
    collected = Collected()
    tally = collected.tally
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        first = next((line for _, line in numbered_lines(path)), "")
        header = [column.strip() for column in first.split(",")]
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
    answers, questions_at = found["individuals"], found["questions"]
    questions = _questions(questions_at, tally)
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
