"""People of known rating for the Elo axis: games with their moves, whose they are, and the engine's answers.

In: ../shared/data (analysed, persons, human) and measurements/. Out: `Known`: games as columns, one row for each
player-game (who, which side, which rating), and analyses of the positions that were searched. Nothing is written.
"""

from __future__ import annotations

import bz2
import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from effects_fitting import KnownPerson
from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.engine.lines import lines_from_lists
from skilloscope.chess.human.played import PlayedMoves, move_evidence, played_moves
from skilloscope.chess.moves import code_from_uci, move_code
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.chess.pgn.text import HEADERS, NO_MATE
from skilloscope.models.joint import JointWeights
from skilloscope.papers.harness import SHARED_ANALYSES

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
PEOPLE = ROOT / "measurements" / "people_depth10_sf151.parquet"
EVENT_PEOPLE = {
    "random": ROOT / "measurements" / "events_random_depth10_sf151.parquet",
    "evenly": ROOT / "measurements" / "events_people_depth10_sf151.parquet",
}
"""Analyses of people of data/people: drawn at random with four games, and as many of each 100 Elo with all games."""
BAND_GAMES = ROOT / "measurements" / "band_games_depth10_sf151.parquet"
OPENINGS = ROOT / "measurements" / "openings_depth10_sf151.parquet"
EARLY_SKIP = 2
"""So many first moves of the openings were not searched."""
HELD_OUT = 0.12
"""The share of the players of human/ that the network has not seen; see `hashed`."""
OPPONENT = "opponent"
_PROMOTED = (chess.QUEEN, chess.KNIGHT, chess.BISHOP, chess.ROOK)  # as human/ counts them
_RESULTS = ("0-1", "1/2-1/2", "1-0", "*")


@dataclass(frozen=True, eq=False)
class Known:
    """Games of people of known rating: who plays in them is named, everybody else is `opponent`."""

    games: Games
    analyses: Analyses | None = None

    @property
    def sides(self) -> list[tuple[str | None, str | None]]:
        """Who plays White and Black of each game; None for somebody who is not rated here."""
        names = zip(self.games.headers["white"].to_pylist(), self.games.headers["black"].to_pylist(), strict=True)
        return [(None if w == OPPONENT else w, None if b == OPPONENT else b) for w, b in names]


@dataclass(frozen=True, eq=False)
class JudgedPeople:
    """The moves of people of known rating, with who made each and how he was rated in that game."""

    moves: PlayedMoves
    names: list[str | None]
    elo: npt.NDArray[np.float64]
    analyses: Analyses | None = None

    @property
    def judged_elo(self) -> npt.NDArray[np.float64]:
        """The rating of who made each move that the engine judged."""
        return self.elo[self.moves.judged] if self.moves.judged is not None else self.elo[:0]

    @property
    def judged_opponent_elo(self) -> npt.NDArray[np.float64]:
        """The rating of whom each such move was made against."""
        at = self.moves.judged if self.moves.judged is not None else np.zeros(0, dtype=np.int64)
        white, black = (column(self.moves.games, name)[self.moves.game[at]] for name in ("white_elo", "black_elo"))
        return np.where(self.moves.black[at], white, black)

    def at_depth(self, depth: int) -> JudgedPeople:
        """Return the same moves judged by a search of that depth, which the deeper one holds; 0: by none."""
        if depth == 0 or self.analyses is None:
            return replace(self, moves=replace(self.moves, joint=None, judged=None, preferred=None, answer=None))
        return replace(self, moves=self.moves.with_engine(self.analyses, depth))

    def of(self, names: Collection[str]) -> JudgedPeople:
        """Return some of the people: the moves of others count for nobody."""
        kept = [name if name in names else None for name in self.names]
        judged = self.moves.judged
        if judged is None or self.moves.joint is None:
            return replace(self, names=kept)
        own = np.array([kept[at] is not None for at in judged.tolist()])
        more = {name: getattr(self.moves, name) for name in ("preferred", "answer")}
        kept_more = {name: None if column is None else column[own] for name, column in more.items()}
        moves = replace(self.moves, joint=self.moves.joint.select(own), judged=judged[own], **kept_more)
        return replace(self, names=kept, moves=moves)

    def people(self, weights: JointWeights | None = None, *, each_game: bool = False) -> list[KnownPerson]:
        """Return everybody with the curves of his games; with `each_game` every game as if by somebody else."""
        labels: list[Any] = list(self.names)
        if each_game:
            labels = [name and (name, game) for name, game in zip(labels, self.moves.game.tolist(), strict=True)]
        table = move_evidence(self.moves, labels, weights=weights)
        places = {label: at for at, label in enumerate(dict.fromkeys(label for label in labels if label is not None))}
        group = np.array([places.get(label, -1) for label in labels])
        means = {label: float(self.elo[group == at].mean()) for label, at in places.items()}
        return [KnownPerson(mean, table.curves_of(label)) for label, mean in means.items() if label in table]


def judged(known: Known) -> JudgedPeople:
    """Return the moves of the people who are rated in the games; `at_depth` joins the engine's answers."""
    sides = np.array([[name or "" for name in pair] for pair in known.sides], dtype=object)
    elos = np.stack([column(known.games, name) for name in ("white_elo", "black_elo")], axis=1)
    game, mover = known.games.game_of_move, known.games.movers
    moves = played_moves(known.games, wanted=sides[game, mover].astype(str) != "")
    side = moves.black.astype(np.int64)
    return JudgedPeople(moves, sides[moves.game, side].tolist(), elos[moves.game, side], known.analyses)


def strata(most: int, low: float, high: float, seed: int) -> Known:
    """Return people of human/ with `low` ≤ hash < `high`: up to ten games of one year each, `most` of each 100 Elo."""
    table = np.load(SHARED / "human" / "games.npz")
    n = len(table["plies"])
    player = np.concatenate([table["white"], table["black"]])
    elo = np.concatenate([table["white_elo"], table["black_elo"]]).astype(np.int64)
    year, long = np.tile(table["year"].astype(np.int64), 2), np.tile(table["plies"] >= 30, 2)
    rows = np.flatnonzero((hashed(player) >= low) & (hashed(player) < high) & long)
    keys, starts = np.unique(player[rows].astype(np.int64) * 4000 + year[rows], return_inverse=True)
    order = np.split(rows[np.argsort(starts, kind="stable")], np.cumsum(np.bincount(starts))[:-1])
    rng, taken, seen, chosen = np.random.default_rng(seed), Counter[int](), set(), []
    for at in rng.permutation(len(keys)).tolist():
        own, who = order[at], int(keys[at] // 4000)
        band = int(np.median(elo[own]) // 100)
        if len(own) < 4 or who in seen or not 9 <= band <= 27 or taken[band] >= most:
            continue
        seen.add(who)
        taken[band] += 1
        chosen.append(rng.choice(own, min(10, len(own)), replace=False))
    drawn = np.concatenate(chosen)
    return human_games(drawn % n, player[drawn])


def forty_games(most: int = 13, seed: int = 5) -> Known:
    """Return people of human/ unseen by the network with forty games within 120 Elo: `most` of each 200 Elo."""
    table = np.load(SHARED / "human" / "games.npz")
    n = len(table["plies"])
    player = np.concatenate([table["white"], table["black"]]).astype(np.int64)
    elo = np.concatenate([table["white_elo"], table["black_elo"]]).astype(np.int64)
    year, long = np.tile(table["year"].astype(np.int64), 2), np.tile(table["plies"] >= 30, 2)
    rows = np.flatnonzero((hashed(player) < HELD_OUT) & long)
    rows = rows[np.argsort(player[rows], kind="stable")]
    steady = []
    for own in np.split(rows, np.unique(player[rows], return_index=True)[1][1:]):
        in_time = own[np.argsort(year[own], kind="stable")]
        windows = [in_time[at : at + 40] for at in range(len(own) - 39)]
        closest = min(windows, key=lambda window: int(np.ptp(elo[window])), default=None)
        if closest is not None and np.ptp(elo[closest]) <= 120:
            steady.append(closest)
    band, rng = np.array([np.median(elo[own]) // 200 for own in steady]), np.random.default_rng(seed)
    drawn = np.concatenate(
        [steady[at] for b in np.unique(band) for at in rng.permutation(np.flatnonzero(band == b))[:most]]
    )
    return human_games(drawn % n, player[drawn])


def column(games: Games, name: str) -> npt.NDArray[np.float64]:
    """Return a header of the games as numbers."""
    return np.array([np.nan if elo is None else float(elo) for elo in games.headers[name].to_pylist()])


def hashed(player: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
    """Return a number in [0, 1) for each player of human/; below HELD_OUT the network has not seen him."""
    return (player.astype(np.uint64) * np.uint64(2654435761) % np.uint64(2**32)) / 2**32


def analysed() -> Known:
    """Return the analysed games of the bands with all their moves, which the band files hold."""
    found = {
        tuple(game[name] for name in ("file", "white", "black", "date")): game
        for game in _json_lines(SHARED / "analysed" / "bands_sf151_mpv10_depths.jsonl.gz")
    }
    rows, moves, answers = [], [], {}
    for file in sorted({key[0] for key in found}):
        batch = read_games(SHARED / "bands" / file)
        for at, header in enumerate(batch.headers.to_pylist()):
            game = found.get((file, header["white"], header["black"], header["date"]))
            if game is None:
                continue
            rows.append({**header, "game": f"{file}#{at}", "file": file, "index": at})
            moves.append(batch.moves[batch.offsets[at] : batch.offsets[at + 1]])
            answers.update(_answers(game["rows"]))
    return _known(_games(rows, moves), answers)


def persons() -> Known:
    """Return the people of two open tournaments; only their own moves are analysed."""
    rows, moves, answers = [], [], {}
    for at, game in enumerate(_json_lines(SHARED / "persons" / "persons_sf151_mpv10_depths.jsonl.gz")):
        names = (game["person"], OPPONENT) if game["side"] == "white" else (OPPONENT, game["person"])
        elos = (game["elo"], game["opponent_elo"]) if game["side"] == "white" else (game["opponent_elo"], game["elo"])
        rows.append(_header(f"persons#{at}", names, elos, game["result"], 2011))
        moves.append(np.array([code_from_uci(uci.lower()) for uci in game["moves"]], dtype=np.uint16))
        answers.update(_answers(game["rows"]))
    return _known(_games(rows, moves), answers)


def persons_events() -> list[str]:
    """Return the event of each game of `persons`."""
    rows = _json_lines(SHARED / "persons" / "persons_sf151_mpv10_depths.jsonl.gz")
    return [str(game["event"]) for game in rows]


def human_games(wanted: npt.NDArray[np.integer[Any]], who: npt.NDArray[np.integer[Any]]) -> Known:
    """Return some games of human/ by number; `who` is rated in each, the other side is the opponent."""
    columns, moves = _human_table()
    offsets = np.concatenate([[0], np.cumsum(columns["plies"].astype(np.int64))])
    rows, played = [], []
    for game, player in zip(wanted.tolist(), who.tolist(), strict=True):
        white = columns["white"][game] == player
        names = (f"h{player}", OPPONENT) if white else (OPPONENT, f"h{player}")
        elos = int(columns["white_elo"][game]), int(columns["black_elo"][game])
        result = _RESULTS[columns["result"][game]]
        rows.append(_header(f"human#{game}-{player}", names, elos, result, int(columns["year"][game])))
        played.append(_own_codes(moves[offsets[game] : offsets[game + 1]]))
    return Known(_games(rows, played))


@cache
def _human_table() -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.uint16]]:
    table = np.load(SHARED / "human" / "games.npz")
    moves = bz2.decompress((SHARED / "human" / "moves.u16.bz2").read_bytes())
    return {name: table[name] for name in table.files}, np.frombuffer(moves, dtype="<u2")


def people_of_events(rows: npt.NDArray[np.integer[Any]] | None = None) -> Known:
    """Return the people of data/people, or only these player-games: one event each, never seen by the network."""
    table = np.load(SHARED / "people" / "games.npz")
    moves = np.frombuffer(bz2.decompress((SHARED / "people" / "moves.u16.bz2").read_bytes()), dtype="<u2")
    offsets = np.concatenate([[0], np.cumsum(table["plies"].astype(np.int64))])
    headers, played = [], []
    for row in range(len(table["plies"])) if rows is None else rows.tolist():
        person = f"e{table['person'][row]}"
        names = (person, OPPONENT) if table["side"][row] == 0 else (OPPONENT, person)
        elos = int(table["white_elo"][row]), int(table["black_elo"][row])
        headers.append(_header(f"people#{row}", names, elos, _RESULTS[table["result"][row]], int(table["year"][row])))
        played.append(_own_codes(moves[offsets[row] : offsets[row + 1]]))
    return Known(_games(headers, played))


def searched_rows(drawn: str) -> npt.NDArray[np.int64]:
    """Return the player-games of data/people whose moves an engine has judged, of people drawn `evenly` or `random`."""
    return np.array(json.loads((ROOT / "tools" / "events_searched.json").read_text())[drawn])


def people_searched(drawn: str) -> tuple[Known, list[int]]:
    """Return the people of data/people whose moves an engine has judged, and the event of each game."""
    rows = searched_rows(drawn)
    known, export = people_of_events(rows), read_export(EVENT_PEOPLE[drawn])
    events = np.load(SHARED / "people" / "games.npz")["event"][rows].tolist()
    return _answered(known, export.settings, {row.fen: row.lines for row in export.rows}), events


def people() -> Known:
    """Return people of human/ whom the network has not seen, of whom six games each were searched for this purpose."""
    return _searched(PEOPLE)


def people_early() -> Known:
    """Return the same people with what was searched of their first twelve moves."""
    return _searched(OPENINGS, skip_moves=EARLY_SKIP)


def band_games() -> list[Known]:
    """Return games between people of about 1200 and 1600 with their analyses: of the wide bands, and of human/."""
    table, export = np.load(SHARED / "human" / "games.npz"), read_export(BAND_GAMES)
    white, black = table["white_elo"].astype(int), table["black_elo"].astype(int)
    inside = np.flatnonzero((np.abs(white - 1200) <= 100) & (np.abs(black - 1200) <= 100) & (table["plies"] > 24))
    both = np.concatenate([table["white"][inside], table["black"][inside]])  # each side once
    wide = [Known(read_games(SHARED / "bands_wide" / f"{elo}_pm50.pgn")) for elo in (1200, 1600)]
    answers = {row.fen: row.lines for row in export.rows}
    return [_answered(known, export.settings, answers) for known in (*wide, human_games(np.tile(inside, 2), both))]


def _searched(path: Path, *, skip_moves: int = 12) -> Known:
    listed, export = json.loads((ROOT / "tools" / "people_searched.json").read_text()), read_export(path)
    known = human_games(np.array(listed["game"]), np.array(listed["player"]))
    return _answered(known, export.settings, {row.fen: row.lines for row in export.rows}, skip_moves=skip_moves)


def _answered(known: Known, settings: Mapping[str, Any], answers: Mapping[str, Any], *, skip_moves: int = 12) -> Known:
    """Return the games with their answers; what was not searched goes without."""
    names = {name for pair in known.sides for name in pair if name}
    batch = positions(known.games, player=names, skip_moves=skip_moves)
    return Known(known.games, Analyses.from_answers(batch, settings, answers))


def _own_codes(moves: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Return the moves of human/ in our code: there a queen's promotion is not told from a plain move.

    Two games in a hundred thousand go wrong somewhere; they end there.
    """
    board, codes = chess.Board(), []
    for move in moves.tolist():
        start, end = move & 63, move >> 6 & 63
        last = board.piece_type_at(start) == chess.PAWN and end // 8 in (0, 7)
        made = chess.Move(start, end, _PROMOTED[move >> 12] if last else None)
        if not board.is_legal(made):
            break
        codes.append(move_code(made))
        board.push(made)
    return np.array(codes, dtype=np.uint16)


def _known(games: Games, answers: Mapping[str, Any]) -> Known:
    return _answered(Known(games), SHARED_ANALYSES, answers)


def _answers(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    def listed(depth: list[list[Any]]) -> list[list[Any]]:
        return [[move.lower(), value if kind == "cp" else f"#{value}"] for move, kind, value in depth]

    return {row["fen"]: lines_from_lists({d: listed(v) for d, v in row["values"].items()}) for row in rows}


def _games(rows: list[dict[str, Any]], moves: list[npt.NDArray[np.uint16]]) -> Games:
    flat = np.concatenate(moves)
    offsets = np.concatenate([[0], np.cumsum([len(m) for m in moves])]).astype(np.int64)
    nothing = np.full(len(flat), np.nan, dtype=np.float32)
    headers = pa.Table.from_pylist(rows, schema=HEADERS)
    return Games(headers, flat, offsets, nothing, nothing, np.full(len(flat), NO_MATE, dtype=np.int16))


def _header(game: str, names: tuple[str, str], elos: tuple[int, int], result: str, year: int) -> dict[str, Any]:
    return {
        "game": game,
        "file": "known",
        "index": 0,
        "white": names[0],
        "black": names[1],
        "white_elo": elos[0],
        "black_elo": elos[1],
        "year": year,
        "result": result,
    }


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        yield from (json.loads(line) for line in lines)
