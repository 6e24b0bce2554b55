"""What ships with the project: famous games, that of FER12's Figure 1 among them, and games of simulated players."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

from skilloscope.chess.pgn.games import Games, read_games


def demo_file(name: str) -> Path:
    """Return the path of a file of the demo data."""
    return Path(str(resources.files("skilloscope") / "data" / "demo" / name))


def analyses_file() -> Path:
    """Return the path of the engine analyses that ship, for machines without an engine."""
    return demo_file("analyses.jsonl.gz")


def century_analyses_file() -> Path:
    """Return the path of Stockfish's answers to depth 13 on the 1956 game, after the engine's own first choices too."""
    return demo_file("century_depth_13.jsonl.gz")


def game_of_the_century() -> Games:
    """Return Byrne–Fischer, New York 1956, with the evaluations that FER12's Figure 1 prints."""
    return read_games(demo_file("game_of_the_century.pgn"))


def demo_games() -> Games:
    """Return all games that ship: simulated players and the 1956 game."""
    return read_games([demo_file("simulated.pgn"), demo_file("game_of_the_century.pgn")])


def gallery_games() -> Games:
    """Return the games of `skilloscope demo`: famous ones of 1851 to 1972, and simulated club players.

    The simulated ones are those of `simulate games --effort instant --games 20`, seed 1, for 1300, 1600, 1900 and 2200:
    each against a player of the same Elo.
    """
    return read_games([demo_file(name) for name in ("famous.pgn", "game_of_the_century.pgn", "equals.pgn")])


def gallery_analyses_file() -> Path:
    """Return the path of the analyses of those games, as `analyse --preset DFH13 --export` wrote them."""
    return demo_file("gallery.jsonl.gz")


def gallery_players() -> dict[str, dict[str, Any]]:
    """Return who the players of those games are (`known_as`), and the Elo that the simulated ones have (`truth`)."""
    known: dict[str, dict[str, Any]] = json.loads(demo_file("gallery.json").read_text(encoding="utf-8"))
    return known
