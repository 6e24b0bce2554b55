"""skilloscope estimates how well people decide, from the decisions themselves, on one Elo axis.

The names below are the library's face. They are loaded when first used, so that `import skilloscope` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from skilloscope.__about__ import __version__

if TYPE_CHECKING:
    from skilloscope.chess.analysis.analyse import analyse as analyse
    from skilloscope.chess.analysis.analyses import decisions as decisions
    from skilloscope.chess.engine.settings import DFH13 as DFH13
    from skilloscope.chess.engine.settings import FER12 as FER12
    from skilloscope.chess.engine.settings import FULL as FULL
    from skilloscope.chess.engine.settings import RH11 as RH11
    from skilloscope.chess.engine.settings import RH11_SINGLE as RH11_SINGLE
    from skilloscope.chess.engine.settings import Settings as Settings
    from skilloscope.chess.engine.settings import preset as preset
    from skilloscope.chess.human.model import human as human
    from skilloscope.chess.pgn.game_tables import game_table as game_table
    from skilloscope.chess.pgn.game_tables import position_table as position_table
    from skilloscope.chess.pgn.games import iter_games as iter_games
    from skilloscope.chess.pgn.games import read_games as read_games
    from skilloscope.decision import Decisions as Decisions
    from skilloscope.decision import Losses as Losses
    from skilloscope.decision.arrow import decisions_from_frame as decisions_from_frame
    from skilloscope.decision.text import read_decisions as read_decisions
    from skilloscope.evidence import Evidence as Evidence
    from skilloscope.evidence import Grid as Grid
    from skilloscope.evidence import Normal as Normal
    from skilloscope.evidence import Posterior as Posterior
    from skilloscope.evidence import Uniform as Uniform
    from skilloscope.evidence import agent_evidence as agent_evidence
    from skilloscope.evidence.scales import Scale as Scale
    from skilloscope.evidence.scales import scale as scale
    from skilloscope.inputs.bundled import analyses_file as analyses_file
    from skilloscope.inputs.bundled import demo_games as demo_games
    from skilloscope.models.agent import Agent as Agent
    from skilloscope.models.gain import GainHistogram as GainHistogram
    from skilloscope.models.gain import elo_difference as elo_difference
    from skilloscope.models.gain import expected_score as expected_score
    from skilloscope.ratings.estimators import Competence as Competence
    from skilloscope.ratings.estimators import Curves as Curves
    from skilloscope.ratings.periods.periods import Periods as Periods
    from skilloscope.results import Results as Results
    from skilloscope.results import read_results as read_results
    from skilloscope.results.periods import PeriodGames as PeriodGames
    from skilloscope.simulate.deciders import simulate_choices as simulate_choices
    from skilloscope.studies.breakdown import breakdown as breakdown
    from skilloscope.studies.by_game import by_game as by_game
    from skilloscope.studies.compare import compare as compare
    from skilloscope.studies.game import game as game
    from skilloscope.studies.profile import profile as profile
    from skilloscope.studies.rate import rate as rate
    from skilloscope.studies.report import report as report
    from skilloscope.studies.results.rating import results as results
    from skilloscope.studies.screen.screen import screen as screen

_NAMES = {
    "chess.analysis.analyse": "analyse",
    "chess.analysis.analyses": "decisions",
    "chess.engine.settings": "DFH13 FER12 FULL RH11 RH11_SINGLE Settings preset",
    "chess.human.model": "human",
    "chess.pgn.game_tables": "game_table position_table",
    "chess.pgn.games": "iter_games read_games",
    "decision": "Decisions Losses",
    "decision.arrow": "decisions_from_frame",
    "decision.text": "read_decisions",
    "evidence": "Evidence Grid Normal Posterior Uniform agent_evidence",
    "evidence.scales": "Scale scale",
    "inputs.bundled": "analyses_file demo_games",
    "models.agent": "Agent",
    "models.gain": "GainHistogram elo_difference expected_score",
    "ratings.estimators": "Competence Curves",
    "ratings.periods.periods": "Periods",
    "results": "Results read_results",
    "results.periods": "PeriodGames",
    "simulate.deciders": "simulate_choices",
    "studies.breakdown": "breakdown",
    "studies.by_game": "by_game",
    "studies.compare": "compare",
    "studies.game": "game",
    "studies.profile": "profile",
    "studies.rate": "rate",
    "studies.report": "report",
    "studies.results.rating": "results",
    "studies.screen.screen": "screen",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = ["__version__", *sorted(_HOMES)]


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
