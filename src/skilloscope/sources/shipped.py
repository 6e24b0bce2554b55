"""What ships with the project: the 1956 game of FER12's Figure 1 and games between simulated players of known c."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from skilloscope.chess.pgn.games import Games, read_games


def demo_file(name: str) -> Path:
    """Return the path of a file of the demo data."""
    return Path(str(resources.files("skilloscope") / "data" / "demo" / name))


def analyses_file() -> Path:
    """Return the path of the engine analyses that ship, for machines without an engine."""
    return demo_file("analyses.jsonl.gz")


def century_analyses_file() -> Path:
    """Return the path of Stockfish's answers, one line to depth 13, to every position of the 1956 game.

    It holds the positions after the engine's own first choice too, from which its own gains follow.
    """
    return demo_file("century_depth_13.jsonl.gz")


def game_of_the_century() -> Games:
    """Return Byrne–Fischer, New York 1956, with the evaluations that FER12's Figure 1 prints."""
    return read_games(demo_file("game_of_the_century.pgn"))


def demo_games() -> Games:
    """Return all games that ship: simulated players and the 1956 game."""
    return read_games([demo_file("simulated.pgn"), demo_file("game_of_the_century.pgn")])


def true_competences() -> dict[str, float]:
    """Return the competence that each simulated player was given."""
    truth: dict[str, float] = json.loads(demo_file("players.json").read_text())
    return truth
