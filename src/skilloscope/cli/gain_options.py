"""Options that the commands on gain share, and the search that they ask an engine for where none is named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, Options

if TYPE_CHECKING:
    from skilloscope.models.gain import Curve

_DEPTH = 13


@dataclass(frozen=True)
class GainOptions(Options):
    """Whose values the gains stand on, and how strengths are read off them."""

    values: Annotated[
        str,
        typer.Option(help="Whose values: comments ([%eval]), engine, or auto: comments where most moves carry one."),
    ] = "auto"
    mate_cap: Annotated[float, typer.Option(help="Values are cut at ± so many pawns; a mate is worth as much.")] = 39.0
    curve: Annotated[str, typer.Option(help="From expected score to Elo: normal (the paper's) or logistic.")] = "normal"
    engine_elo: Annotated[
        float | None, typer.Option(help="The engine's strength, if known; then strengths are shown.", metavar="ELO")
    ] = None

    def elo_curve(self) -> Curve:
        """Return the curve by its name; what is none is refused before the engine is asked."""
        from skilloscope.models.gain import elo_curve

        return elo_curve(self.curve)


@dataclass(frozen=True)
class EngineGainOptions(GainOptions):
    """The same, and how the engine itself would gain."""

    engine_gains: Annotated[
        str,
        typer.Option(
            help="The engine's own gains: peak (none), agreed or searched (measured); auto: agreed where it can be.",
            metavar="KIND",
        ),
    ] = "auto"


def gain_search(asked: EngineOptions) -> EngineOptions:
    """Return what was asked, with FER12's search under it: one line, every position; depth 13 unless told."""
    said = asked.preset or asked.depth or asked.nodes
    return replace(asked, preset=asked.preset or "FER12", depth=asked.depth if said else _DEPTH)
