"""Write the tables of docs/pools.md from the axes of the pools that ship.

    python tools/pool_tables.py

A table stands between `<!-- table: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skilloscope.chess.pgn.facts import POOLS
from skilloscope.evidence.axis import CLOCKS, EVALUATIONS, EloAxis, elo_axis

PAGE = Path(__file__).resolve().parents[1] / "docs" / "pools.md"
GAMES = {"one_game": 1, "five_games": 5, "twenty_games": 20}
EVIDENCE = {"instant": "moves", EVALUATIONS: "moves and evaluations", CLOCKS: "moves and clocks"}
LEAST = 50
"""People of a band that is shown."""


def main() -> None:
    """Rewrite the page."""
    tables = {"scales": scales(), "accuracy": accuracy(), "bands": bands(), "across": across()}
    text = PAGE.read_text(encoding="utf-8")
    for name, rows in tables.items():
        pattern = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{PAGE}: no place for the table {name}")
        text = pattern.sub(lambda found, rows=rows: found[1] + "\n" + "\n".join(rows) + "\n\n" + found[2], text)
    PAGE.write_text(text, encoding="utf-8")


def axes() -> list[EloAxis]:
    """Return the axes of all pools of servers."""
    return [elo_axis(pool) for pool in POOLS[1:]]


def title(axis: EloAxis) -> str:
    """Return the pool in words."""
    return axis.axis.removesuffix(" rating")


def markdown(head: str, rows: Iterator[str]) -> Iterator[str]:
    """Return a table."""
    yield head
    yield "|---" * (head.count("|") - 1) + "|"
    yield from rows


def scales() -> Iterator[str]:
    """Return what each scale is based on."""
    rows = (
        f"| {title(axis)} | `{axis.pool}` | {axis.population['mean']} ± {axis.population['sd']} "
        f"({axis.population['players']:,} people) | {axis.data} | {axis.valid[0]:.0f} to {axis.valid[1]:.0f} |"
        for axis in axes()
    )
    return markdown("| pool | name | prior: mean ± sd | fitted to | range |", rows)


def figures(axis: EloAxis) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Return the figures by effort and number of games."""
    for name in EVIDENCE:
        if name in axis.efforts:
            for key, own in axis.efforts[name].measured.items():
                yield (name, GAMES[key], own)


def accuracy() -> Iterator[str]:
    """Return how well ratings are predicted."""
    rows = (
        f"| {title(axis)} | {EVIDENCE[effort]} | {games} | {own['people']} "
        f"| {own['rmse']} ± {own['rmse_error']} | {own['constant_rmse']} | {own['bias']:+d} | {own['sd']} "
        f"| {own['covers']:.3f} |"
        for axis in axes()
        for effort, games, own in figures(axis)
    )
    return markdown("| pool | evidence | games | people | RMSE | constant | bias | posterior sd | 95 % covers |", rows)


def bands() -> Iterator[str]:
    """Return the same by rating."""
    rows = (
        f"| {title(axis)} | {games} | {band} | {own['people']} | {own['rmse']} | {own['bias']:+d} "
        f"| {own['covers']:.3f} |"
        for axis in axes()
        for effort, games, whole in figures(axis)
        if effort == "instant"
        for band, own in whole["bands"].items()
        if own["people"] >= LEAST
    )
    return markdown("| pool | games | rated | people | RMSE | bias | 95 % covers |", rows)


def across() -> Iterator[str]:
    """Return the ways to FIDE."""
    rows = (
        f"| {title(axis)} | {', '.join(f'{a:.0f}: {b:.0f}' for a, b in zip(way.ratings, way.elo, strict=True))} "
        f"| {way.sd:.0f} |"
        for axis in axes()
        if (way := axis.across)
    )
    return markdown("| pool | rating: plays like FIDE | scatter |", rows)


if __name__ == "__main__":
    main()
