"""Lines of `skilloscope results …` as tests run them, and what they read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from skilloscope.cli.app import app

VARIANCES = ["--sigma0", "300", "--nu", "40"]
FIXED = [*VARIANCES, "--advantage", "0", "--drift", "0"]


def run(*words: str | Path, code: int = 0) -> tuple[str, str]:
    """Run a `skilloscope results …` line and return stdout and stderr."""
    result = CliRunner().invoke(app, ["results", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == code, result.stdout + result.stderr
    return result.stdout, result.stderr


def sent(*words: str | Path, code: int = 0) -> dict[str, Any]:
    """Run a line under --json and return what it sends."""
    return json.loads(run(*words, "--json", code=code)[0])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
