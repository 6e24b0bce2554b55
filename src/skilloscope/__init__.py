"""skilloscope measures how well somebody decides, from the decisions themselves, on one Elo axis.

The names below are the library's face. They are loaded when first used, so that `import skilloscope` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from skilloscope.__about__ import __version__

if TYPE_CHECKING:
    from skilloscope.chess.analysis.analyse import analyse
    from skilloscope.chess.analysis.analyses import decisions
    from skilloscope.chess.engine.settings import DFH13, FER12, FULL, RH11, RH11_SINGLE, Settings, preset
    from skilloscope.chess.human.model import human
    from skilloscope.chess.pgn.game_tables import game_table, position_table
    from skilloscope.chess.pgn.games import iter_games, read_games
    from skilloscope.decision import Decisions, Losses
    from skilloscope.decision.arrow import decisions_from_frame
    from skilloscope.decision.text import read_decisions
    from skilloscope.evidence import Evidence, Grid, Normal, Posterior, Uniform, agent_evidence
    from skilloscope.evidence.scales import Scale, scale
    from skilloscope.inputs.bundled import analyses_file, demo_games
    from skilloscope.models.agent import Agent
    from skilloscope.models.gain import GainHistogram, elo_difference, expected_score
    from skilloscope.ratings.estimators import Competence, Curves
    from skilloscope.ratings.periods.periods import Periods
    from skilloscope.results import Results, read_results
    from skilloscope.results.periods import PeriodGames
    from skilloscope.simulate.deciders import simulate_choices
    from skilloscope.studies.breakdown import breakdown
    from skilloscope.studies.by_game import by_game
    from skilloscope.studies.compare import compare
    from skilloscope.studies.game import game
    from skilloscope.studies.profile import profile
    from skilloscope.studies.rate import fuse, rate
    from skilloscope.studies.report import report
    from skilloscope.studies.results.rating import results
    from skilloscope.studies.screen.screen import screen

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
    "Evidence": "evidence",
    "GainHistogram": "models.gain",
    "Grid": "evidence",
    "Losses": "decision",
    "Normal": "evidence",
    "PeriodGames": "results.periods",
    "Periods": "ratings.periods.periods",
    "Results": "results",
    "read_results": "results",
    "Posterior": "evidence",
    "Scale": "evidence.scales",
    "Uniform": "evidence",
    "analyse": "chess.analysis.analyse",
    "analyses_file": "inputs.bundled",
    "breakdown": "studies.breakdown",
    "compare": "studies.compare",
    "decisions": "chess.analysis.analyses",
    "decisions_from_frame": "decision.arrow",
    "demo_games": "inputs.bundled",
    "elo_difference": "models.gain",
    "agent_evidence": "evidence",
    "by_game": "studies.by_game",
    "profile": "studies.profile",
    "expected_score": "models.gain",
    "rate": "studies.rate",
    "report": "studies.report",
    "fuse": "studies.rate",
    "results": "studies.results.rating",
    "human": "chess.human.model",
    "read_decisions": "decision.text",
    "read_games": "chess.pgn.games",
    "iter_games": "chess.pgn.games",
    "game": "studies.game",
    "game_table": "chess.pgn.game_tables",
    "position_table": "chess.pgn.game_tables",
    "scale": "evidence.scales",
    "screen": "studies.screen.screen",
    "simulate_choices": "simulate.deciders",
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
    "agent_evidence",
    "analyse",
    "analyses_file",
    "breakdown",
    "by_game",
    "compare",
    "decisions",
    "decisions_from_frame",
    "demo_games",
    "elo_difference",
    "expected_score",
    "fuse",
    "game",
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
    "report",
    "results",
    "scale",
    "screen",
    "simulate_choices",
]


class _Package(ModuleType):
    """The package: `skilloscope.report` and `skilloscope.results` are functions, and folders of its modules too."""

    # The functions are given also where modules of the folders have been imported, which sets these names.
    report = property(lambda self: __getattr__("report"), lambda self, folder: None)
    results = property(lambda self: __getattr__("results"), lambda self, folder: None)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'skilloscope' has no attribute {name!r}")
    return getattr(import_module(f"skilloscope.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
