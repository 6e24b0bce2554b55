"""Options that the commands on gain share, and the search that they ask an engine for where none is named."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from skilloscope.cli.work import EngineFlags

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


def gain_flags(flags: EngineFlags) -> dict[str, Any]:
    """Return the engine's flags with FER12's search under them: one line, every position; depth 13 unless told."""
    said = flags.get("preset") or flags.get("depth") or flags.get("nodes")
    return {**flags, "preset": flags.get("preset") or "FER12", "depth": flags.get("depth") if said else _DEPTH}
