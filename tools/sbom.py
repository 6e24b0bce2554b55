"""Print the software bill of materials of a release: every pinned package with its hashes, as CycloneDX JSON.

    .venv/bin/python tools/sbom.py > skilloscope.cdx.json

It is made of requirements/runtime.txt alone, so it lists exactly what `make demo` installs.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill(pins: str, version: str) -> dict[str, Any]:
    """Return the bill of the pins of a requirements file."""
    found = [*_PIN.finditer(pins)]
    ends = [*(one.start() for one in found[1:]), len(pins)]
    parts = [
        {
            "type": "library",
            "name": pin[1],
            "version": pin[2],
            "purl": f"pkg:pypi/{pin[1].lower().replace('_', '-')}@{pin[2]}",
            "hashes": [{"alg": "SHA-256", "content": one} for one in _HASH.findall(pins, pin.end(), end)],
        }
        for pin, end in zip(found, ends, strict=True)
    ]
    about = {"component": {"type": "application", "name": "skilloscope", "version": version}}
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": about, "components": parts}


if __name__ == "__main__":
    text = (ROOT / "src" / "skilloscope" / "__about__.py").read_text(encoding="utf-8")
    version = re.findall(r'__version__ = "(.+)"', text)[0]
    pins = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    json.dump(bill(pins, version), sys.stdout, indent=1)
