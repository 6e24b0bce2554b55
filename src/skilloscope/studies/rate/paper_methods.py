"""The curves of RH11 and the gains of FER12 as evidence on the Elo axis, each along the scale that ships for it.

In: the decisions of judged games (after the opening, undecided), and the group of each move. Out: for each group what
each person's games say on ELO, under a source named as the method. How far it is believed was measured on people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.pgn.games import Games
from skilloscope.decision import Decisions
from skilloscope.ratings.elo_axis.effects import Effects
from skilloscope.ratings.gain.field_scale import gain_scale
from skilloscope.ratings.scale import scale
from skilloscope.sources.people import GroupEvidence
from skilloscope.studies.intrinsic.scale import curve_evidence, curves_on_elo
from skilloscope.studies.rate.methods import COMPARED
from skilloscope.studies.rate.rate import loss_with_floor

PAPER_METHODS = ("curves", "gain")
"""Methods of the papers that have a line and effects of their own; the agent has its own table."""
_LABEL = "group on the axis"

Array = npt.NDArray[np.float64]


def paper_effects() -> dict[str, Effects]:
    """Return how far each of the methods is believed."""
    return {"curves": Effects(**scale("curves").effects), "gain": gain_scale().believed}


def paper_groups(
    method: str, games: Games, batch: Decisions, labels: Mapping[tuple[int, int], Any]
) -> dict[Any, GroupEvidence]:
    """Return what each group's games say by a method; a group without a decision that counts is absent."""
    rows = {name: row for row, name in enumerate(games.headers["game"].to_pylist())}
    keys = zip(*(batch.context.column(name).to_pylist() for name in ("game", "ply")), strict=True)
    own = [labels.get((rows[game], ply)) for game, ply in keys]
    names = {label: str(at) for at, label in enumerate(dict.fromkeys(own)) if label is not None}
    back = {name: label for label, name in names.items()}
    some = batch.select(np.array([label is not None for label in own], dtype=bool))
    column = pa.array([names[label] for label in own if label is not None], type=pa.string())
    some = replace(some, context=some.context.append_column(_LABEL, column))
    found: dict[Any, GroupEvidence] = {}
    for (name, person, game), curve, moves in _METHODS[method](some):
        group = found.setdefault(back[name], GroupEvidence())
        group.people.setdefault(person, {}).setdefault(method, []).append(curve)
        group.moves[method] += moves
        group.games.add(rows[game])
        group.searched.add(rows[game])
        if (elo := _header_elo(games, rows[game], person)) is not None:
            group.headers[person, rows[game]] = elo
    return found


def paper_warnings(method: str, settings: Mapping[str, Any]) -> list[str]:
    """Return how a search differs from the one that a method's scale was fitted with."""
    own = dict(scale("curves").settings if method == "curves" else gain_scale().settings)
    return [
        f"{method}: {name} is {settings.get(name)!r}, the scale was fitted with {own[name]!r}"
        for name in COMPARED
        if name in own and settings.get(name) != own[name]
    ]


_Games = list[tuple[tuple[str, str, str], Array, int]]


def _by_curves(batch: Decisions) -> _Games:
    line = scale("curves")
    table = curve_evidence(batch, line, by=[_LABEL, "decider", "game"])
    curves = curves_on_elo(table, line)
    rows = enumerate(table.labels)
    return [(label, curves[row], int(table.decisions[row])) for row, label in rows if table.decisions[row]]


def _by_gain(batch: Decisions) -> _Games:
    line = gain_scale()
    labels, codes = batch.groups([_LABEL, "decider", "game"])
    scores = line.scores(loss_with_floor(batch))
    parts = (scores[codes == row] for row in range(len(labels)))
    return [(label, line.curve(part), len(part)) for label, part in zip(labels, parts, strict=True)]


_METHODS: dict[str, Callable[[Decisions], _Games]] = {"curves": _by_curves, "gain": _by_gain}


def _header_elo(games: Games, row: int, person: str) -> int | None:
    side = "white" if games.headers["white"][row].as_py() == person else "black"
    elo: int | None = games.headers[f"{side}_elo"][row].as_py()
    return elo
