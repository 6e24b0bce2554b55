"""Every reader of what others wrote, with inputs that the project makes itself: small ones, for many are to come."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.harness import Reader
from pgn_oracle import difference, plain_games
from skilloscope.chess.analysis.evaluations import read_evaluated
from skilloscope.chess.analysis.files import export_analyses, read_analysed, read_export
from skilloscope.chess.engine.lines import AnalysedPosition, checked_answer, lines_from_lists, read_answer
from skilloscope.chess.engine.settings import Settings, parse_option
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.results import TAGS, read_pgn_results, scan, scan_plain
from skilloscope.chess.pgn.text import PlainWork, unescaped
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import as_text, lines_of
from skilloscope.core.paths import effective_settings
from skilloscope.core.table_files import write_table
from skilloscope.decision.text import read_decisions, write_decisions
from skilloscope.evidence.axis import EloAxis, elo_axis
from skilloscope.evidence.scales import Scale, scale
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.load import kind_of
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.saved import SavedRatings, load_ratings, save_ratings
from skilloscope.ratings.periods.states import State
from skilloscope.results.reading import read_results
from skilloscope.results.table import Results
from skilloscope.simulate.deciders import made_up_spreads
from skilloscope.studies.live.feed import read_boards
from skilloscope.studies.results.rating import RatingOptions, rated

PGN = b"""[Event "Open"]
[White "M\xc3\xbcller, \\"K\\""]
[Black "Bo"]
[Date "2024.05.01"]
[Result "1-0"]
[WhiteElo "2310"]
[TimeControl "5400+30"]

{[%eval 0.2]} 1. e4 {[%eval 0.31] [%clk 1:29:58]} e5 (1... c5 2. Nf3) 2. Nf3 $1 Nc6 {[%eval #-3]} 3. Bb5 a6 1-0

[Event "Open"]
[White "Ann"]
[Black "Cy"]
[UTCDate "2024.05.02"]
[Result "1/2-1/2"]
[FEN "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"]
[SetUp "1"]

1. a8=Q+ Kd7 ; a comment
2. Qb7+ {never
closed} 1/2-1/2
"""
CHESS960 = b"""[White "Ann"]
[Black "Bo"]
[Variant "Chess960"]
[FEN "bnrkqnrb/pppppppp/8/8/8/8/PPPPPPPP/BNRKQNRB w GCgc - 0 1"]

1. O-O-O {[%eval 0.2]} O-O-O 2. b4 c5 3. Na3 b6 4. d3 f6 *
"""
UCI = b"""id name Fake 1
option name MultiPV type spin default 1 min 1 max 500
option name Style type combo default Normal var Solid var Normal var Very Risky
option name EvalFile type string default <empty>
info depth 1 seldepth 1 multipv 1 score cp 31 nodes 20 nps 20000 time 1 pv e2e4 e7e5
info depth 1 multipv 2 score cp 20 upperbound nodes 40 pv d2d4
info depth 2 multipv 1 score mate 3 nodes 60 pv e2e4 e7e5
info string hello
info depth 2 multipv 2 score cp -12 nodes 90 pv d2d4 d7d5
bestmove e2e4 ponder e7e5
"""
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def readers(folder: Path) -> dict[str, Reader]:
    """Return the readers by name; their inputs are written in the folder on the way."""
    made = folder / "made"
    made.mkdir(exist_ok=True)
    PlainWork.over = True
    read_games(io.BytesIO(PGN))  # what is compiled is compiled before time counts
    return {
        "pgn": Reader((PGN, CHESS960, demo_file("game_of_the_century.pgn").read_bytes()[:500]), _read_pgn),
        "headers": Reader((PGN, PGN.replace(b"\n", b"\r\n"), b'[White "A"] [Black "B"]\n1. d4 *\n'), _read_headers),
        **_decisions(made),
        **_results(made),
        "uci": Reader((UCI,), _read_uci),
        **_exports(made),
        "live": Reader((PGN, PGN[:300]), _read_live),
        "axis": Reader((elo_axis().to_json().encode(), _small_axis()), _read_axis),
        "scale": Reader((scale().to_json().encode(), _small_scale()), _read_scale),
        **_kept(made),
        "settings": Reader(
            (b'depth = 12\nmultipv = 4\nrule = "full"\nworkers = 2\n', b'prior = "flat"\n'), _read_settings
        ),
        "kinds": Reader((PGN, _lines_of_decisions(made), b"date,player_1,player_2,score\n"), _read_kind),
    }


def checked(tally: Tally) -> None:
    """Check that every fault says where and why, and that none is uncounted."""
    assert all(fault.file and fault.place and fault.reason for fault in tally.faults)
    assert sum(tally.counts.values()) >= len(tally.faults)


def _at(data: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _read_pgn(data: bytes, folder: Path) -> None:
    games = read_games(io.BytesIO(data))
    checked(games.tally)
    assert games.offsets[-1] == len(games.moves) == len(games.clocks)
    assert len(games) or games.tally.total
    assert not difference(games, plain_games(io.BytesIO(data))), "the compiled reader and the plain one differ"


def _read_headers(data: bytes, folder: Path) -> None:
    results = read_pgn_results(io.BytesIO(data))
    checked(results.tally)
    assert len(results) or results.tally.total
    fast = scanned(data)
    assert fast is None or fast == plain(data), "the fast scan of headers and the plain reader differ"


def scanned(data: bytes) -> list[tuple[dict[str, str], int]] | None:
    """Return what the fast scan finds; None where it leaves the text to the plain reader."""
    begins, ends, moves, _, known = scan(data, final=True)
    found = [
        ({tag: unescaped(as_text(data[b[i] : e[i]])) for i, tag in enumerate(TAGS) if b[i] >= 0}, int(n))
        for b, e, n in zip(begins, ends, moves, strict=True)
    ]
    return found if known else None


def plain(data: bytes) -> list[tuple[dict[str, str], int]]:
    """Return what the plain reader finds, of the same tags."""
    lines = lines_of(io.BytesIO(data))
    return [({tag: tags[tag] for tag in TAGS if tag in tags}, plies) for tags, plies in scan_plain(lines)]


def _decisions(folder: Path) -> dict[str, Reader]:
    batch = made_up_spreads(6, 3, rng=np.random.default_rng(1))
    table = batch.to_arrow()
    files = {}
    for ending in ("csv", "jsonl", "parquet"):
        write_decisions(batch, folder / f"d.{ending}")
        files[ending] = (folder / f"d.{ending}").read_bytes()
    rows = _lines_of_decisions(folder)
    odd = [_plain_parquet(table), _plain_parquet(_with(table, "chosen", pa.array([0.0] * 6)))]
    return {
        "decisions-csv": Reader((files["csv"],), lambda data, to: _read_decisions(_at(data, to, "d.csv"))),
        "decisions-jsonl": Reader((files["jsonl"], rows), lambda data, to: _read_decisions(_at(data, to, "d.jsonl"))),
        "decisions-parquet": Reader(
            (files["parquet"], *odd), lambda data, to: _read_decisions(_at(data, to, "d.parquet"))
        ),
    }


def _lines_of_decisions(folder: Path) -> bytes:
    entry = {
        "decider": "Ann",
        "utilities": [0.3, 0.1],
        "chosen": 0,
        "n_legal": 9,
        "alternatives": ["a", "b"],
        "year": 1999,
    }
    return b"\n".join(json.dumps(entry | {"chosen": at % 2}).encode() for at in range(4))


def _read_decisions(path: Path) -> None:
    batch = read_decisions(path)
    checked(batch.tally)
    assert len(batch)
    assert np.isfinite(batch.judged).all()
    assert (batch.n_legal >= 0).all()


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)


def _plain_parquet(table: pa.Table) -> bytes:
    """Return a Parquet file as other programs write it: without a digest, so that every byte is believed."""
    file = io.BytesIO()
    pq.write_table(table, file, compression="none", write_page_checksum=True)
    return file.getvalue()


def _made_results() -> Results:
    days = [f"2024-01-{day:02d}" for day in range(1, 9)]
    return Results.from_columns(["Ann", "Bo"] * 4, ["Cy", "Ann"] * 4, [1, 0, 0.5, 1, 0, 1, 1, 0], date=days)


def _results(folder: Path) -> dict[str, Reader]:
    table = _made_results().to_arrow()
    files = {}
    for ending in ("csv", "parquet"):
        write_table(table, folder / f"r.{ending}")
        files[ending] = (folder / f"r.{ending}").read_bytes()
    semicolons = 'date;player_1;player_2;score\n2024-05-01;"M\u00fcller, K";\'=Bo;\u00bd\n2024.05.??;A;B;0,5\n'.encode()
    return {
        "results-csv": Reader((files["csv"], semicolons), lambda data, to: _read_results(_at(data, to, "r.csv"))),
        "results-parquet": Reader(
            (files["parquet"], _plain_parquet(table)), lambda data, to: _read_results(_at(data, to, "r.parquet"))
        ),
    }


def _read_results(path: Path) -> None:
    results = read_results(path)
    checked(results.tally)
    assert np.all((results.score >= 0) & (results.score <= 1))


def _read_uci(data: bytes, folder: Path) -> None:
    options = [parse_option(row) for row in data.decode("utf-8", "replace").splitlines()]
    assert all(option.name for option in options if option)
    lines, nodes = read_answer(data)
    assert nodes >= 0 or b"-" in data  # an engine that says a negative number is taken at its word
    checked_answer(lines, {1804, 1739}, Settings(depth=2, multipv=2))


def _exports(folder: Path) -> dict[str, Reader]:
    key = Settings(depth=2, multipv=2).key({"engine": "Fake", "net": None})
    lists = {"1": [["e2e4", 31], ["d2d4", 20]], "2": [["e2e4", "#3"], ["d2d4", -12]]}
    rows = [AnalysedPosition(START.replace(" 0 1", f" 0 {n}"), 20, lines_from_lists(lists)) for n in range(1, 4)]
    files = {}
    for ending in (".jsonl", ".jsonl.gz", ".parquet"):
        export_analyses(folder / f"e{ending}", key, rows)
        files[ending] = (folder / f"e{ending}").read_bytes()
    first = {"format": "skilloscope analyses", "version": 1, "settings": key}
    old = json.dumps(first) + "\n" + json.dumps({"fen": START, "n_legal": 20, "lines": lists})
    values = {depth: [[move, "cp", 1] for move, _ in lines] for depth, lines in lists.items()}
    row = {"ply": 0, "fen": START, "n_legal": 20, "played": "e2e4", "values": values}
    game = {"file": "g.pgn", "white": "Ann", "black": "Bo", "settings": key, "rows": [row]}
    evaluated = {"moves": ["e2e4", "e7e5"], "stockfish_eval": [20, 30, 10], "white": "Ann", "black": "Bo"}
    return {
        "exports-jsonl": Reader((files[".jsonl"], files[".jsonl.gz"], old.encode()), _read_export),
        "exports-parquet": Reader(
            (files[".parquet"], _plain_parquet(pq.read_table(folder / "e.parquet"))), _read_export
        ),
        "analysed": Reader((json.dumps(game).encode() + b"\n",), _read_given),
        "evaluated": Reader((json.dumps(evaluated).encode() + b"\n",), _read_evaluations),
    }


def _read_export(data: bytes, folder: Path) -> None:
    export = read_export(_at(data, folder, "e"))
    checked(export.tally)
    assert all(row.fen and len(row.lines) and row.n_legal > 0 for row in export.rows)
    if data.startswith(b'{"format"') and b'"checked":true' in data:
        assert export.rows or export.tally.total, "answers are lost without a word"


def _read_given(data: bytes, folder: Path) -> None:
    analyses = read_analysed(_at(data, folder, "a.jsonl"))
    checked(analyses.games.tally)


def _read_evaluations(data: bytes, folder: Path) -> None:
    found = read_evaluated(_at(data, folder, "v.jsonl"))
    checked(found.tally)


def _read_live(data: bytes, folder: Path) -> None:
    boards = read_boards(data.decode("utf-8", "replace"))
    assert all(len(board.fens) == len(board.moves) + 1 == len(board.values) for board in boards.values())


def _small_scale() -> bytes:
    found = scale()
    return replace(found, fit={}, also={}, settings={}).to_json().encode()


def _small_axis() -> bytes:
    axis = elo_axis()
    return replace(axis, efforts={"instant": axis.effort("instant")}, data="few").to_json().encode()


def _read_axis(data: bytes, _: Path) -> None:
    axis = EloAxis.from_json(data.decode("utf-8", "replace"))
    assert EloAxis.from_json(axis.to_json()).to_json() == axis.to_json()
    for effort in axis.efforts:
        assert np.isfinite(axis.posterior({}, effort, axis.prior()).mean)


def _read_scale(data: bytes, folder: Path) -> None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("no text") from error
    found = Scale.from_json(text)
    assert np.isfinite(found.parameter([1000.0, 2800.0])).all()
    assert np.isfinite(found.elo(0.5))
    assert found.line_sd(1500.0) >= 0
    found.warnings({}, {"engine": "x"})
    found.filter_warnings({})
    found.extrapolates(1500.0)


def _kept(folder: Path) -> dict[str, Reader]:
    run = rated(_made_results(), RatingOptions(period="1D", sigma0=100.0, nu=10.0))
    save_ratings(SavedRatings(run.state, run.history), folder / "s")
    assert len(load_ratings(folder / "s").state) == len(run.state)
    state, history = (
        (path.read_bytes(), _plain_parquet(pq.read_table(path))) for path in (folder / "s", folder / "s.history")
    )
    return {
        "state": Reader(state, lambda data, to: State.load(_at(data, to, "s"))),
        "history": Reader(history, lambda data, to: History.load(_at(data, to, "h"))),
    }


def _read_settings(data: bytes, folder: Path) -> None:
    os.environ["SKILLOSCOPE_CONFIG"] = str(_at(data, folder, "c.toml"))
    try:
        found: Mapping[str, Any] = effective_settings()
    finally:
        del os.environ["SKILLOSCOPE_CONFIG"]
    assert isinstance(found["depth"].value, int)


def _read_kind(data: bytes, folder: Path) -> None:
    kind_of(_at(data, folder, "k"))
