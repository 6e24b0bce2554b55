"""People whose fair play fits and checks `skilloscope screen`: their moves with statistics, by person.

In: ../shared/data (people, persons, human) and measurements/. The network saw none of them, and the weights of the
joint model that screening keeps were fitted to others. A player-event is what one person played in one event, or, of
human/, where no events are known, in one year: four or five games, those of persons/ up to eight.
"""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import axis_data
from skilloscope.chess.human.played import first_choices, played_moves
from skilloscope.core.errors import Tally
from skilloscope.models.joint import JointChoices, JointWeights
from skilloscope.studies.screen.moves import HELPERS, ScreenedMoves
from skilloscope.studies.screen.screen import FEW_MOVES
from skilloscope.studies.screen.statistics import Statistic, human_statistics, joint_statistics

OPENING_PLIES = 24
GAMES = 5
AT_ONCE = 300
SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """Moves of people taken as fair; `group` is the person of each move, `game` the player-game."""

    moves: ScreenedMoves
    group: Ints
    game: Ints
    elo: npt.NDArray[np.float64]
    events: npt.NDArray[Any]

    @property
    def size(self) -> int:
        """How many people there are."""
        return len(self.elo)

    @classmethod
    def of(cls, moves: ScreenedMoves) -> People:
        """Return the people with moves enough."""
        _, code, counts = np.unique(moves.player.astype(str), return_inverse=True, return_counts=True)
        moves = moves.take(counts[code] >= FEW_MOVES)
        _, first, group = np.unique(moves.player.astype(str), return_index=True, return_inverse=True)
        game = np.unique([group, moves.game], axis=1, return_inverse=True)[1]
        elo = np.bincount(group, moves.elo) / np.bincount(group)
        return cls(moves, group, game.reshape(-1), elo, moves.event[first])

    def take(self, people: npt.NDArray[np.bool_]) -> People:
        """Return some of the people."""
        return People.of(self.moves.take(people[self.group]))


def engine_people(effort: str, weights: JointWeights, kept: Path | None) -> People:
    """Return the people whose moves an engine has judged: those of many events, and two open tournaments."""
    depth = len(weights.depths)
    parts = []
    for name in ("random", "persons"):
        path = None if kept is None else kept / f"{name}-{depth}.pickle"
        columns = None if path is None or not path.is_file() else pickle.loads(path.read_bytes())
        if columns is None:
            known, events = known_people(name)
            columns = [judged(known, events, rows, depth) for rows in batches(known)]
            if path is not None:
                path.write_bytes(pickle.dumps(columns))
        parts += columns
    choices = JointChoices.concat([part["choices"] for part in parts])
    helpers = np.concatenate([part["helpers"] for part in parts])
    elo = np.concatenate([part["elo"] for part in parts])
    moves = screened(parts, joint_statistics(choices, helpers[:, 0], elo, weights))
    return People.of(replace(moves, choices=choices, helpers=helpers, first=np.zeros(len(elo), dtype=np.uint16)))


def known_people(name: str) -> tuple[axis_data.Known, list[str]]:
    """Return the games of people whom an engine has judged, and the event of each game."""
    if name == "random":
        known, events = axis_data.people_searched(name)
        return known, [f"event {event}" for event in events]
    return axis_data.persons(), axis_data.persons_events()


def batches(known: axis_data.Known) -> list[Ints]:
    """Return the rows of a few games at a time."""
    return [np.arange(first, min(first + AT_ONCE, len(known.games))) for first in range(0, len(known.games), AT_ONCE)]


def instant_people(which: str, kept: Path | None) -> People:
    """Return people by what people play alone: data/people and half of those of human/ to fit, others to report on."""
    parts = []
    for name in ("people", "fit") if which == "fit" else ("report",):
        path = None if kept is None else kept / f"{name}-instant.pickle"
        columns = None if path is None or not path.is_file() else pickle.loads(path.read_bytes())
        if columns is None:
            known, events = few_games(name)
            columns = [alone(known, events, rows) for rows in batches(known)]
            if path is not None:
                path.write_bytes(pickle.dumps(columns))
        parts += columns
    names = parts[0]["statistics"]
    return People.of(
        screened(parts, {name: Statistic.concat([part["statistics"][name] for part in parts]) for name in names})
    )


def few_games(name: str) -> tuple[axis_data.Known, list[str]]:
    """Return five games of each person, and the event of each game, as far as events are known."""
    if name == "people":
        table = np.load(axis_data.SHARED / "people" / "games.npz")
        rows = first_games(table["person"].tolist())
        return axis_data.people_of_events(rows), [f"event {event}" for event in table["event"][rows].tolist()]
    half = axis_data.HELD_OUT / 2
    known = axis_data.strata(32, 0.0, half, 1) if name == "fit" else axis_data.strata(66, half, 2 * half, 2)
    who = [white or black for white, black in known.sides]
    kept = known.games.select(first_games(who))
    return axis_data.Known(kept), [f"year of {who[row]}" for row in first_games(who).tolist()]


def first_games(names: list[Any]) -> Ints:
    """Return the rows of the first games of each person."""
    seen: Counter[Any] = Counter()
    rows = []
    for row, name in enumerate(names):
        seen[name] += 1
        if seen[name] <= GAMES:
            rows.append(row)
    return np.array(rows)


def own_moves(known: axis_data.Known, rows: Ints) -> tuple[Any, Any]:
    """Return the later moves of the rated side of some games, and the sides' names."""
    games = known.games.select(rows)
    sides = np.array([[name or "" for name in pair] for pair in axis_data.Known(games).sides], dtype=object)
    game = games.game_of_move
    ply = np.arange(len(game)) - games.offsets[:-1][game]
    own = (sides[game, games.movers].astype(str) != "") & (ply >= OPENING_PLIES)
    return played_moves(games, wanted=own), sides


def columns_of(moves: Any, sides: Any, places: Ints, rows: Ints, events: list[str]) -> dict[str, Any]:
    """Return who made each move, in which game and event, and the ratings."""
    game, side = moves.game[places], moves.black[places].astype(np.int64)
    elos = np.stack([axis_data.column(moves.games, name) for name in ("white_elo", "black_elo")], axis=1)
    return {
        "game": rows[game],
        "ply": moves.ply[places],
        "player": sides[game, side].astype(object),
        "event": np.array([events[row] for row in rows[game].tolist()], dtype=object),
        "elo": elos[game, side],
    }


def judged(known: axis_data.Known, events: list[str], rows: Ints, depth: int) -> dict[str, Any]:
    """Return the moves of some games that an engine has judged, with what helpers would have played."""
    assert known.analyses is not None
    moves, sides = own_moves(known, rows)
    analyses = known.analyses.of_games(rows)
    found = moves.with_engine(analyses, depth)
    use = (moves.free & (moves.move_number > OPENING_PLIES // 2))[found.judged]
    places, answers = found.judged[use], found.answer[use]
    legal = moves.choices.take(places)
    helpers = [first_choices(legal, analyses, answers, max(depth - less, 1)) for less in HELPERS]
    columns = columns_of(moves, sides, places, rows, events)
    return {**columns, "choices": found.joint.select(use), "helpers": np.stack(helpers, axis=1)}


def alone(known: axis_data.Known, events: list[str], rows: Ints) -> dict[str, Any]:
    """Return the moves of some games by what people play alone."""
    moves, sides = own_moves(known, rows)
    places = np.flatnonzero(moves.free & (moves.move_number > OPENING_PLIES // 2))
    columns = columns_of(moves, sides, places, rows, events)
    found = human_statistics(moves.choices.take(places), moves.chosen[places], columns["elo"])
    return {**columns, "statistics": found}


def screened(parts: list[dict[str, Any]], statistics: dict[str, Statistic]) -> ScreenedMoves:
    """Return the moves of all parts; a game of one part is not that of another."""
    columns = {name: np.concatenate([part[name] for part in parts]) for name in ("ply", "player", "event", "elo")}
    game = np.concatenate([part["game"] + 1_000_000 * at for at, part in enumerate(parts)])
    sd = np.zeros(len(game))
    return ScreenedMoves(None, game, elo_sd=sd, statistics=statistics, tally=Tally(), missing={}, **columns)  # type: ignore[arg-type]
