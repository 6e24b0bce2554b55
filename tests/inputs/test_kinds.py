"""What a file holds is told by its content, and every command says the same of what it cannot take."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skilloscope.chess.analysis.files import export_analyses, read_export
from skilloscope.chess.moves import move_uci
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.decision.text import write_decisions
from skilloscope.inputs.bundled import analyses_file, demo_file
from skilloscope.inputs.load import EngineJob, Kind, by_kind, kind_of, load_decisions

BATCH = Decisions.from_lists(["Ann"], [[0.3, 0.1]], [0])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Kind]]:
    """Files of every kind, by form; their names tell nothing."""
    folder = tmp_path_factory.mktemp("kinds")
    texts = {
        "pgn": ('[White "A"]\n\n1. e4 e5 *\n', Kind.GAMES),
        "results": ("date,player_1,player_2,score\n2024-05-01,A,B,1\n", Kind.RESULTS),
        "evaluated": (json.dumps({"moves": ["e2e4", "e7e5"], "stockfish_eval": [30, 25]}) + "\n", Kind.EVALUATED),
        "analysed": (json.dumps(analysed_game()) + "\n", Kind.ANALYSED),
        "bad first line": ('nonsense\n{"decider": "Ann", "utilities": [1, 2], "chosen": 0}\n', Kind.DECISIONS),
    }
    made = {}
    for name, (text, kind) in texts.items():
        (folder / name).write_bytes(gzip.compress(text.encode()))
        made[name] = folder / name, kind
    for ending in ("csv", "jsonl", "parquet"):
        write_decisions(BATCH, folder / f"d.{ending}")
        made[f"decisions {ending}"] = (folder / f"d.{ending}").rename(folder / f"decisions {ending}"), Kind.DECISIONS
    export = read_export(analyses_file())
    for ending in ("jsonl", "parquet"):
        export_analyses(folder / f"a.{ending}", export.settings, export.rows[:2])
        made[f"analyses {ending}"] = (folder / f"a.{ending}").rename(folder / f"analyses {ending}"), Kind.ANALYSES
    return made


def analysed_game() -> dict[str, object]:
    """Return a game of two positions with the lines of every depth."""
    rows = []
    for ply, row in enumerate(read_export(analyses_file()).rows[:2]):
        values: dict[str, list[list[object]]] = {}
        for depth, _, move, mate, score in row.lines.tolist():
            values.setdefault(str(depth), []).append([move_uci(move), "mate" if mate else "cp", score])
        listed = values["1"][0][0]
        rows.append({"ply": ply, "fen": row.fen, "n_legal": row.n_legal, "played": listed, "values": values})
    return {"white": "A", "black": "B", "rows": rows}


def test_the_content_tells_what_a_file_holds(files):
    assert [kind_of(path) for path, _ in files.values()] == [kind for _, kind in files.values()]
    assert kind_of(demo_file("simulated.pgn")) is Kind.GAMES


@pytest.mark.parametrize(
    ("command", "takes"),
    [
        (["rate"], {Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED}),
        (["papers", "ipr"], {Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED}),
        (["papers", "pooled"], {Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED}),
        (["decisions", "sensitivity"], {Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED}),
        (["papers", "gain"], {Kind.GAMES, Kind.EVALUATED}),
        (["game"], {Kind.GAMES, Kind.EVALUATED}),
        (["results", "fit"], {Kind.GAMES, Kind.RESULTS}),
        (["cache", "import"], {Kind.ANALYSES, Kind.ANALYSED}),
        (["decisions", "rate"], {Kind.DECISIONS, Kind.ANALYSED}),
    ],
)
def test_a_command_says_of_what_it_cannot_take_what_it_is_and_who_takes_it(command, takes, files):
    for path, kind in files.values():
        if kind not in takes:
            said = CliRunner().invoke(app, [*command, str(path)])
            assert said.exit_code == 1
            assert said.stderr == f"error: {path} holds {kind.value[0]}: that is not what is asked for here\n" + (
                f"hint: {kind.value[1]}\n"
            )


def test_what_a_command_takes_is_sorted_and_what_cannot_be_told_is_the_first(files, tmp_path):
    words = tmp_path / "words"
    words.write_text("nothing that anybody knows\n")
    found = by_kind([files["pgn"][0], files["analysed"][0], words], Kind.GAMES, Kind.ANALYSED)
    assert found == {Kind.GAMES: [files["pgn"][0], words], Kind.ANALYSED: [files["analysed"][0]]}
    table = words.rename(tmp_path / "words.csv")
    assert by_kind([table], Kind.GAMES, Kind.DECISIONS)[Kind.DECISIONS] == [table]


def test_analysed_games_are_judged_by_whoever_judged_them(files):
    judged = load_decisions([files["analysed"][0]], EngineJob())
    assert (len(judged.decisions), judged.searched) == (2, 0)
    assert judged.decisions.about["settings"]["engine"] is None


def test_tables_of_another_domain_are_taken_where_any_will_do(files):
    table = files["decisions jsonl"][0]
    assert len(load_decisions([table], EngineJob(), any_domain=True).decisions) == 1
    with pytest.raises(InputError, match="does not say that its decisions are chess"):
        load_decisions([table], EngineJob())


def test_games_without_a_decision_are_judged_and_an_unknown_name_gets_the_nearest(files):
    judged = load_decisions([files["pgn"][0]], EngineJob())
    assert (len(judged.decisions), judged.decisions.skipped) == (0, {"opening (first 12 moves of each side)": 2})
    with pytest.raises(InputError, match="no decisions of a player 'B'") as error:
        load_decisions([files["pgn"][0]], EngineJob(), player="B")
    assert error.value.hint == "the nearest names here: A"
