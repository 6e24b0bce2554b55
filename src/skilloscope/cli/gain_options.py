"""Options that the commands on gain share, and the search that they ask an engine for where none is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from skilloscope.cli.options import EngineOptions

ValuesName = Annotated[
    str, typer.Option(help="Whose values: comments ([%eval]), engine, or auto: comments where most moves carry one.")
]
MateCap = Annotated[float, typer.Option(help="Values are cut at ± so many pawns; a mate is worth as much.")]
CurveName = Annotated[str, typer.Option(help="From expected score to Elo: normal (the paper's) or logistic.")]
EngineElo = Annotated[
    float | None, typer.Option(help="The engine's strength, if known; then strengths are shown.", metavar="ELO")
]
EngineGainsName = Annotated[
    str, typer.Option(help="The engine's own gains: peak (none), agreed or searched (measured).", metavar="KIND")
]

_DEPTH = 13


def gain_search(asked: EngineOptions) -> EngineOptions:
    """Return what was asked, with FER12's search under it: one line, every position; depth 13 unless told."""
    said = asked.preset or asked.depth or asked.nodes
    return replace(asked, preset=asked.preset or "FER12", depth=asked.depth if said else _DEPTH)
