"""Games and positions as tables for other programs: Arrow, and Parquet or Arrow files written block by block."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.moves import moves_uci
from skilloscope.chess.pgn.facts import game_facts, openings_of
from skilloscope.chess.pgn.games import SAME_GAME, Games, KnownGames, iter_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.errors import OptionError, Tally
from skilloscope.core.files import Source
from skilloscope.core.paths import appearing
from skilloscope.core.table_files import checked_writer

FORMATS = (".parquet", ".arrow")  # how the names of the files may end


@dataclass
class GamesWritten:
    """What was written: how many games, moves and positions; what was left out."""

    games: int = 0
    moves: int = 0
    positions: int = 0
    tally: Tally = field(default_factory=Tally)

    def as_dict(self) -> dict[str, object]:
        """Return the counts for JSON."""
        counts = {"games": self.games, "moves": self.moves, "positions": self.positions}
        return {"schema": 1, **counts, "skipped": self.tally.as_dict()}


def game_table(games: Games) -> pa.Table:
    """Return one row a game: its headers, the opening by its moves, its time class, and its moves.

    >>> import io
    >>> from skilloscope.chess.pgn.games import read_games
    >>> table = game_table(read_games(io.StringIO("1. e4 e5 *")))
    >>> table.select(["plies", "opening", "moves"]).to_pylist()
    [{'plies': 2, 'opening': "King's Pawn Game", 'moves': 'e2e4 e7e5'}]
    """
    codes, names = openings_of(games)
    added = {
        "time_class": pa.array(game_facts(games)["time_class"], type=pa.string()),
        "eco_of_moves": pa.array(codes, type=pa.string()),
        "opening": pa.array(names, type=pa.string()),
        "plies": pa.array(games.counts.astype(np.int32)),
        "moves": pc.binary_join(pa.ListArray.from_arrays(games.offsets.astype(np.int32), moves_uci(games.moves)), " "),
    }
    if games.comments is not None:
        added["start_comment"] = games.comments.take(pa.array(games.offsets[:-1] + np.arange(len(games))))
    table = games.headers.combine_chunks()
    for name, column in added.items():
        table = table.append_column(name, column)
    return table


def position_table(games: Games) -> pa.Table:
    """Return one row a position, from the first of each game to the last: FEN, legal moves, the move that was played.

    >>> import io
    >>> from skilloscope.chess.pgn.games import read_games
    >>> position_table(read_games(io.StringIO("1. e4 *"))).select(["ply", "n_legal", "move"]).to_pylist()
    [{'ply': 0, 'n_legal': 20, 'move': 'e2e4'}, {'ply': 1, 'n_legal': 20, 'move': None}]
    """
    batch = positions(games, scope="every position")
    last = batch.played == 0
    values = np.append(games.eval_values(), np.nan)[games.offsets[batch.game] + batch.ply]
    texts = {}
    if games.comments is not None:
        after = games.offsets[batch.game] + batch.game + batch.ply + 1
        texts["comment"] = games.comments.take(pa.array(after, mask=last))
    return pa.table(
        {
            "game": games.headers["game"].combine_chunks().take(pa.array(batch.game)),
            "ply": batch.ply,
            "mover": pa.array(["white", "black"]).take(pa.array(batch.mover)),
            "fen": batch.fen,
            "n_legal": batch.n_legal,
            "move": pc.if_else(pa.array(last), pa.scalar(None, pa.string()), moves_uci(batch.played)),
            "clock": pa.array(batch.clock, mask=np.isnan(batch.clock)),
            "value_after": pa.array(np.where(last, np.nan, values), mask=last | np.isnan(values)),
            **texts,
        }
    )


def write_games(
    sources: Source | Sequence[Source],
    out: str | os.PathLike[str],
    positions_out: str | os.PathLike[str] | None = None,
    *,
    comments: bool = False,
    progress: Callable[[int], None] | None = None,
) -> GamesWritten:
    """Write the games of PGN files as a table, and on request their positions; a game that comes again is left out.

    With `comments` their texts are written, too: `start_comment` of a game, and `comment` after the move of a position.
    `progress` gets the number of games read so far.
    """
    done, known = GamesWritten(), KnownGames()
    empty = replace(Games.concat([]), comments=pa.array([], type=pa.string()) if comments else None)
    with contextlib.ExitStack() as stack:
        write = stack.enter_context(_writer(Path(out), game_table(empty).schema))
        note = (
            stack.enter_context(_writer(Path(positions_out), position_table(empty).schema)) if positions_out else None
        )
        for batch in iter_games(sources, comments=comments):
            games = batch.select(known.first_time(batch), reason=SAME_GAME)
            done.tally += games.tally
            if progress:
                progress(done.games + len(games) + done.tally.counts.get(SAME_GAME, 0))
            if not len(games):
                continue
            write(game_table(games))
            done.games += len(games)
            done.moves += len(games.moves)
            if note:
                table = position_table(games)
                note(table)
                done.positions += len(table)
    return done


def check_table(path: Path) -> None:
    """Refuse a file whose ending says no format of tables."""
    if path.suffix not in FORMATS:
        raise OptionError(f"{path} ends in none of {', '.join(FORMATS)}", hint="write games.parquet, for example")


@contextlib.contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[Any]:
    check_table(path)
    if path.suffix == ".parquet":
        with checked_writer(path, schema, compression="zstd") as write:
            yield write
        return
    with appearing(path) as part, pa.OSFile(str(part), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        yield writer.write_table
