"""What `skilloscope doctor` finds missing, the command that brings it, and those commands that it may run itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_SECONDS = 600
EXTRAS = {"pandas": "frames", "polars": "frames", "distributed": "cluster", "weasyprint": "pdf", "fastapi": "web"}
"""Optional packages, by the extra that brings them."""


@dataclass(frozen=True)
class Missing:
    """Something that is not there: what it is for, and how it comes."""

    name: str
    purpose: str
    command: tuple[str, ...]
    allowed: bool
    """Whether --fix may run the command: it asks nobody for a password and changes no Python environment."""

    def as_dict(self) -> dict[str, Any]:
        """Return what the JSON sends."""
        return {**asdict(self), "command": " ".join(self.command)}


def missing_parts(report: Mapping[str, Any]) -> list[Missing]:
    """Return what is missing by a report of `doctor`."""
    found = []
    if report["engine"]["path"] is None:
        command, allowed = _engine_command(report["settings"]["engine"]["value"])
        found.append(
            Missing("engine", "to analyse games; without one what people play decides alone", command, allowed)
        )
    if "problem" in report["human"]:
        pip = ("pip", "install", "onnxruntime")
        found.append(Missing("human model", "for the Elo axis and for what people play", pip, allowed=False))
    lacking = sorted({extra for name, extra in EXTRAS.items() if report["packages"].get(name, "") is None})
    for extra in lacking:
        named = ", ".join(name for name, own in EXTRAS.items() if own == extra)
        found.append(Missing(f"extra {extra}", named, ("pip", "install", f"skilloscope[{extra}]"), allowed=False))
    if _completes() is False:
        own = (shutil.which("skilloscope") or sys.argv[0], "--install-completion")
        found.append(Missing("completion", "commands and options by the Tab key in new shells", own, allowed=True))
    return found


def fixed(parts: Sequence[Missing]) -> list[str]:
    """Run what may be run; return a line for each part: what was done, or what to do."""
    lines = []
    for part in parts:
        told = " ".join(part.command)
        if not part.allowed:
            lines.append(f"{part.name}: run `{told}`")
            continue
        try:
            ran = subprocess.run(part.command, capture_output=True, text=True, timeout=_SECONDS, check=False)
            last = (ran.stderr.strip().splitlines() or ["no reason given"])[-1]
            lines.append(f"{part.name}: installed" if not ran.returncode else f"{part.name}: `{told}` failed ({last})")
        except (OSError, subprocess.TimeoutExpired) as error:
            lines.append(f"{part.name}: `{told}` failed ({error})")
    return lines


def _completes() -> bool | None:
    """Return whether the shell that runs us completes our commands; None where it is none that could."""
    import shellingham  # typer's own way to know

    files = {
        "bash": ".bash_completions/skilloscope.sh",
        "zsh": ".zfunc/_skilloscope",
        "fish": ".config/fish/completions/skilloscope.fish",
    }
    try:
        file = files.get(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        return None
    return None if file is None else Path.home().joinpath(file).exists()


def _engine_command(named: str | None) -> tuple[tuple[str, ...], bool]:
    """Return how Stockfish comes here, and whether that needs nobody's password; one named wrongly hides any other."""
    if named not in (None, "stockfish"):
        return ("skilloscope", "rate", "--engine", "PATH"), False
    if os.environ.get("STOCKFISH_EXECUTABLE"):
        return ("unset", "STOCKFISH_EXECUTABLE"), False
    if shutil.which("apt-get"):
        install = ("apt-get", "install", "-y", "--no-install-recommends", "stockfish")
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        return (install, True) if root else (("sudo", *install), False)
    if shutil.which("brew"):
        return ("brew", "install", "stockfish"), True
    return ("skilloscope", "rate", "--engine", "PATH"), False
