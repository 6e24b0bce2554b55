"""The measurements that tools/house.py prints stay within limits, and the limits only ever go down."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from house import TARGETS, measurements  # noqa: E402

LIMITS: dict[str, float] = {
    "rate: functions": 630,
    "rate: modules": 48,
    "rate: depth": 20,
    "rate: changes of room": 118,
    "results rate: functions": 268,
    "results rate: modules": 32,
    "results rate: depth": 21,
    "results rate: changes of room": 54,
    "modules loaded by rate": 105,
    "modules loaded by results rate": 59,
    "modules loaded by --help": 4,
    "import cycles": 0,
    "knots of folders": 0,
    "Any-dicts": 77,
    "lines of src": 49_600,
    "lines of web/library": 1_900,
    "files of src": 230,
    "lines of frame per line of substance": 0.88,
    "first-level commands": 22,
}


@pytest.fixture(scope="module")
def measured() -> dict[str, float]:
    return measurements(ROOT / "src")


@pytest.mark.parametrize("name", LIMITS)
def test_a_measurement_of_the_house_is_within_its_limit(name: str, measured: dict[str, float]) -> None:
    assert measured[name] <= LIMITS[name]


def test_every_measurement_has_a_limit_that_has_not_gone_up(measured: dict[str, float]) -> None:
    assert list(LIMITS) == list(TARGETS)
    assert set(measured) == set(TARGETS)
    assert {name: limit for name, limit in LIMITS.items() if limit > TARGETS[name][0]} == {}
