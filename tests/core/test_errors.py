"""What is refused before anything is read or searched."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from skilloscope.core.errors import InputError, check_mass
from skilloscope.core.paths import check_writable

SOURCE = Path(__file__).resolve().parents[2] / "src" / "skilloscope"


@pytest.mark.parametrize("mass", [0, 1, -0.1, 95, math.nan])
def test_a_mass_lies_between_0_and_1(mass):
    with pytest.raises(InputError, match="lies between 0 and 1"):
        check_mass(mass)


def test_masses_are_checked_in_one_place():
    checks = [path.name for path in SOURCE.rglob("*.py") if "mass < 1" in path.read_text(encoding="utf-8")]
    assert checks == ["errors.py"]


def test_what_cannot_be_written_is_refused_and_no_file_is_no_trouble(tmp_path):
    check_writable(None)
    check_writable(tmp_path / "page.html")
    with pytest.raises(InputError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        check_writable(tmp_path / "nosuch" / "page.html")
