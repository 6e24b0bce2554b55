"""skilloscope measures how well somebody decides, from the decisions themselves, on one Elo axis.

The names below are the library's face. They are loaded when first used, so that `import skilloscope` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skilloscope.__about__ import __version__

if TYPE_CHECKING:
    from skilloscope.chess.analysis.analyse import analyse
    from skilloscope.chess.decisions import decisions
    from skilloscope.chess.engine.settings import DFH13, FER12, FULL, RH11, RH11_SINGLE, Settings, preset
    from skilloscope.chess.game_tables import game_table, position_table
    from skilloscope.chess.human.model import human
    from skilloscope.chess.pgn.games import iter_games, read_games
    from skilloscope.decision import Decisions, Losses
    from skilloscope.decision.arrow import decisions_from_frame
    from skilloscope.decision.text import read_decisions
    from skilloscope.inference import Evidence, Grid, Normal, Posterior, Uniform, evidence
    from skilloscope.models.agent import Agent
    from skilloscope.models.gain import GainHistogram, elo_difference, expected_score
    from skilloscope.ratings.estimators import Competence, Curves
    from skilloscope.ratings.periods.periods import Periods
    from skilloscope.ratings.scale import Scale, scale
    from skilloscope.results import Results, read_results
    from skilloscope.results.period_games import PeriodGames
    from skilloscope.simulate.agents import simulate_choices
    from skilloscope.sources.shipped import analyses_file, demo_games
    from skilloscope.studies.profile.profile import profile
    from skilloscope.studies.rate.front import rate
    from skilloscope.studies.rate.fusion import fuse

_HOMES = {
    "DFH13": "chess.engine.settings",
    "FER12": "chess.engine.settings",
    "RH11": "chess.engine.settings",
    "RH11_SINGLE": "chess.engine.settings",
    "Settings": "chess.engine.settings",
    "FULL": "chess.engine.settings",
    "preset": "chess.engine.settings",
    "Agent": "models.agent",
    "Competence": "ratings.estimators",
    "Curves": "ratings.estimators",
    "Decisions": "decision",
    "Evidence": "inference",
    "GainHistogram": "models.gain",
    "Grid": "inference",
    "Losses": "decision",
    "Normal": "inference",
    "PeriodGames": "results.period_games",
    "Periods": "ratings.periods.periods",
    "Results": "results",
    "read_results": "results",
    "Posterior": "inference",
    "Scale": "ratings.scale",
    "Uniform": "inference",
    "analyse": "chess.analysis.analyse",
    "analyses_file": "sources.shipped",
    "decisions": "chess.decisions",
    "decisions_from_frame": "decision.arrow",
    "demo_games": "sources.shipped",
    "elo_difference": "models.gain",
    "evidence": "inference",
    "profile": "studies.profile.profile",
    "expected_score": "models.gain",
    "rate": "studies.rate.front",
    "fuse": "studies.rate.fusion",
    "human": "chess.human.model",
    "read_decisions": "decision.text",
    "read_games": "chess.pgn.games",
    "iter_games": "chess.pgn.games",
    "game_table": "chess.game_tables",
    "position_table": "chess.game_tables",
    "scale": "ratings.scale",
    "simulate_choices": "simulate.agents",
}

__all__ = [
    "DFH13",
    "FER12",
    "FULL",
    "RH11",
    "RH11_SINGLE",
    "Agent",
    "Competence",
    "Curves",
    "Decisions",
    "Evidence",
    "GainHistogram",
    "Grid",
    "Losses",
    "Normal",
    "PeriodGames",
    "Periods",
    "Posterior",
    "Results",
    "Scale",
    "Settings",
    "Uniform",
    "__version__",
    "analyse",
    "analyses_file",
    "decisions",
    "decisions_from_frame",
    "demo_games",
    "elo_difference",
    "evidence",
    "expected_score",
    "fuse",
    "game_table",
    "human",
    "iter_games",
    "position_table",
    "preset",
    "profile",
    "rate",
    "read_decisions",
    "read_games",
    "read_results",
    "scale",
    "simulate_choices",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'skilloscope' has no attribute {name!r}")
    return getattr(import_module(f"skilloscope.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
