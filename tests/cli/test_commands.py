"""The command line as a stranger meets it: clean stdout, exit codes, bad input with its reason and place."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skilloscope.chess.human.model import Human, Network, shipped_network
from skilloscope.cli.app import COMMANDS, Entry, Group, app

GOOD_LINES = '{"decider": "Ann", "utilities": [0.3, 0.1, -0.5], "chosen": 0}\n' * 20
GAME = """[White "Ann"]
[Black "Bob"]
[Result "*"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5
11. d4 Qc7 12. Nbd2 cxd4 13. cxd4 Nc6 14. Nb3 a5 {rest} """


def skilloscope(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("skilloscope")), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment}, check=False
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.jsonl"
    path.write_text(GOOD_LINES)
    return path


def test_the_version_is_one_line():
    done = skilloscope("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("skilloscope 0.")


def test_wrong_usage_exits_with_two():
    assert skilloscope("rate").returncode == 2
    assert skilloscope("fly").returncode == 2


def test_decisions_rate_sends_the_fields_of_the_contract(table):
    done = skilloscope("decisions", "rate", table, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["schema"] == 1
    assert set(report["deciders"][0]) >= {"decider", "decisions", "c", "sd", "low", "high", "k"}
    assert report["deciders"][0]["decisions"] == 20
    assert report["deciders"][0]["k"] == 0.1
    assert report["skipped"] == {}
    assert report["prior"] == "uniform on [0, 4]"


def test_the_prior_the_mass_and_k_are_used(table):
    wide, narrow, pulled, other = (
        json.loads(skilloscope("decisions", "rate", table, "--json", *options).stdout)["deciders"][0]
        for options in ([], ["--level", "0.5"], ["--prior", "normal:1,0.1"], ["--k", "1"])
    )
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert abs(pulled["c"] - 1) < abs(wide["c"] - 1)
    assert other["c"] != wide["c"]
    assert other["k"] == 1.0


def test_an_estimate_at_the_edge_is_marked(table):
    shown = skilloscope("decisions", "rate", table).stdout
    assert "↑" in shown
    assert "a bound, not a value" in shown


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("empty.jsonl", b"", "the file is empty"),
        ("binary.jsonl", bytes(range(256)), "binary.jsonl, "),
        ("header.csv", b"a,b\n1,2\n", "the header lacks decider, problem, utility, chosen"),
        (
            "all-bad.jsonl",
            b'{"decider": "Ann", "utilities": [NaN], "chosen": 0}\n',
            "line 1: utility is not a finite number",
        ),
    ],
)
def test_a_table_that_cannot_be_used_is_an_error_that_names_the_file(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    done = skilloscope("decisions", "rate", tmp_path / name)
    assert done.returncode == 1
    assert said in done.stderr
    assert name in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"decider": "Ann", "utilities": [NaN, 1], "chosen": 0}', "utility is not a finite number"),
        ('{"decider": "Ann", "utilities": [-Infinity, 1], "chosen": 0}', "utility is not a finite number"),
        ('{"decider": "Ann", "utilities": [0, 1], "chosen": 7}', "chosen index out of range"),
    ],
)
def test_bad_lines_are_named_the_good_ones_are_rated_and_the_exit_code_is_one(table, line, reason):
    table.write_text(GOOD_LINES + line + "\n")
    done = skilloscope("decisions", "rate", table, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["deciders"][0]["decisions"] == 20
    assert report["skipped"] == {reason: 1}
    assert f"table.jsonl, line 21: {reason}" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.pgn", b"", "empty file"),
        ("binary.pgn", bytes(range(256)) * 40, "binary data"),
        ("nothing.pgn", b"just some words\n", "nothing.pgn"),
    ],
)
def test_a_pgn_file_without_games_is_an_error_with_its_reason(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    done = skilloscope("rate", tmp_path / name)
    assert done.returncode == 1
    assert said in done.stderr
    assert name in done.stderr
    assert done.stdout == ""


def test_a_missing_file_is_an_error_with_a_hint(tmp_path):
    done = skilloscope("rate", tmp_path / "nowhere.pgn")
    assert done.returncode == 1
    assert "nowhere.pgn" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("ending", "reason"), [("15. Bx", "cut in a move"), ("15. Qh8 b4 *", "illegal move"), ("15. Bd3 b4 1/2", "")]
)
def test_a_game_with_a_fault_keeps_the_moves_before_it(tmp_path, stockfish, ending, reason):
    (tmp_path / "games.pgn").write_text(GAME + ending)
    done = skilloscope("rate", tmp_path / "games.pgn", "--depth", 1, "--json")
    report = json.loads(done.stdout)
    assert sum(player["decisions"] for player in report["players"]) >= 3
    assert done.returncode == (1 if reason else 0)
    if reason:
        assert report["skipped"][reason] == 1
        assert "games.pgn, game 1" in done.stderr
        assert reason in done.stderr


def test_rate_sends_the_fields_of_the_contract_and_searches_nothing_twice(tmp_path, stockfish):
    (tmp_path / "games.pgn").write_text(GAME)
    first, second = (skilloscope("rate", tmp_path / "games.pgn", "--depth", 2, "--json") for _ in range(2))
    report = json.loads(first.stdout)
    assert first.returncode == 0
    assert set(report) >= {"schema", "method", "effort", "engine", "scale", "prior", "skipped", "players", "unrated"}
    player = report["players"][0]
    assert set(player) >= {
        "player",
        "games",
        "decisions",
        "elo",
        "elo_low",
        "elo_high",
        "move_match",
        "mean_loss",
        "methods",
    }
    assert set(player["methods"]["joint"]) == {"elo", "elo_low", "elo_high"}
    agent = next(one["methods"]["agent"] for one in report["players"] if "agent" in one["methods"])
    assert set(agent) == {"c", "sd", "low", "high", "edge"}  # no Elo: its scale is of another depth
    assert player["elo_low"] < player["elo"] < player["elo_high"]
    assert any("depth is 2" in warning for warning in report["warnings"])
    assert report["positions"]["searched"] == 4
    again = json.loads(second.stdout)
    assert again["positions"] == {"searched": 0, "cached": 4, "imported": 0, "failed": 0}
    assert again["players"] == report["players"]


def test_an_unknown_player_is_an_error_that_offers_the_nearest_names(tmp_path, stockfish):
    (tmp_path / "games.pgn").write_text(GAME)
    done = skilloscope("rate", tmp_path / "games.pgn", "--depth", 1, "--player", "Bib")
    assert done.returncode == 1
    assert "no decisions of a player 'Bib'" in done.stderr
    assert "Bob" in done.stderr


def test_games_that_cannot_be_read_are_named_before_a_player_is_missed(tmp_path):
    (tmp_path / "games.pgn").write_text("no game at all\n")
    done = skilloscope("rate", tmp_path / "games.pgn", "--player", "Bob")
    assert done.returncode == 1
    assert "no game could be read" in done.stderr


def test_a_player_without_a_name_is_counted_not_rated(tmp_path, stockfish):
    (tmp_path / "games.pgn").write_text(GAME.replace('"Bob"', '"?"'))
    report = json.loads(skilloscope("rate", tmp_path / "games.pgn", "--depth", 1, "--json").stdout)
    assert [player["player"] for player in report["players"]] == ["Ann"]
    assert report["skipped"]["unknown player"] == 14


def test_the_page_is_self_contained(tmp_path, stockfish):
    (tmp_path / "games.pgn").write_text(GAME)
    page = tmp_path / "page.html"
    done = skilloscope("rate", tmp_path / "games.pgn", "--depth", 1, "--html", page)
    text = page.read_text()
    assert done.returncode == 0
    assert text.count("<svg") == 2
    assert "<script" not in text
    assert "<link" not in text
    assert 'src="' not in text
    assert "What this cannot tell you" in text


def test_a_hostile_name_is_only_text_in_the_page(tmp_path, stockfish):
    (tmp_path / "games.pgn").write_text(GAME.replace('"Ann"', '"<b onclick=x>$A_n$"'))
    done = skilloscope("rate", tmp_path / "games.pgn", "--depth", 1, "--html", tmp_path / "p.html")
    assert done.returncode == 0, done.stderr
    assert "<b onclick" not in (tmp_path / "p.html").read_text()


def test_settings_come_from_file_then_environment_then_flag(tmp_path):
    (tmp_path / "skilloscope.toml").write_text('depth = 4\nmultipv = 3\nprior = "flat"\n')
    done = skilloscope("doctor", "--json", cwd=tmp_path, SKILLOSCOPE_MULTIPV="5")
    settings = json.loads(done.stdout)["settings"]
    assert settings["depth"] == {"value": 4, "source": "skilloscope.toml"}
    assert settings["multipv"] == {"value": 5, "source": "environment SKILLOSCOPE_MULTIPV"}
    assert settings["hash"]["source"] == "default"


@pytest.mark.parametrize("text", ["depth = 'deep'", "dept = 4", "depth = = 4"])
def test_a_settings_file_at_fault_is_an_error_that_names_it(tmp_path, text):
    (tmp_path / "skilloscope.toml").write_text(text)
    done = skilloscope("doctor", cwd=tmp_path)
    assert done.returncode == 1
    assert "skilloscope.toml" in done.stderr


def test_doctor_warms_the_kernels_and_shows_the_engine(stockfish):
    report = json.loads(skilloscope("doctor", "--warm", "--json").stdout)
    assert report["warmed_seconds"] > 0
    assert report["engine"]["engine"].startswith("Stockfish")
    assert report["store"]["exists"] is False
    assert "Stockfish" in skilloscope("doctor").stdout


def test_doctor_goes_on_where_there_is_no_engine():
    report = json.loads(skilloscope("doctor", "--json", STOCKFISH_EXECUTABLE="/nowhere/engine").stdout)
    assert report["engine"]["path"] is None
    assert report["engine"]["hint"]


def test_doctor_shows_the_human_model_its_hash_and_its_speed():
    pytest.importorskip("onnxruntime")
    report = json.loads(skilloscope("doctor", "--json").stdout)
    assert report["human"]["sha256"] == shipped_network().sha256
    assert report["human"]["positions_per_cpu_second"] > 0


def test_doctor_goes_on_without_onnxruntime(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr("skilloscope.studies.installation.human", lambda: Human(Network(b"", {})))
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    assert done.stdout.count("needs onnxruntime, which is not installed; pip install onnxruntime") == 1
    assert "setting depth" in done.stdout


def test_quiet_says_nothing_on_stderr_and_no_color_means_no_escape_codes(table):
    done = skilloscope("-q", "decisions", "rate", table, NO_COLOR="1", FORCE_COLOR="")
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    table.write_text(GOOD_LINES + "{bad\n")
    assert skilloscope("-q", "decisions", "rate", table).stderr == ""
    assert "error" in skilloscope("-q", "decisions", "rate", "nowhere.csv").stderr


def test_no_command_opens_a_connection(tmp_path, table):
    blocked = tmp_path / "blocked.py"
    blocked.write_text(
        "import socket, sys\n"
        "def refuse(*a, **k): raise SystemExit('a connection was opened')\n"
        "socket.socket.connect = socket.socket.connect_ex = socket.socket.bind = refuse\n"
        "socket.getaddrinfo = socket.create_connection = refuse\n"
        "from skilloscope.cli.app import main\n"
        "sys.argv = ['skilloscope', *sys.argv[1:]]\n"
        "main()\n"
    )
    for arguments in (
        ["decisions", "rate", str(table)],
        ["papers", "reproduce"],
        ["doctor"],
        ["demo", "--html", str(tmp_path / "d.html")],
    ):
        command = [sys.executable, str(blocked), *arguments]
        environment = {**os.environ, "STOCKFISH_EXECUTABLE": "/nowhere/engine"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        assert done.returncode == 0, (arguments, done.stderr)


def test_simulated_choices_are_written_and_rate_as_what_they_are(tmp_path):
    spreads = tmp_path / "spreads.jsonl"
    spreads.write_text('{"decider": "x", "utilities": [0.3, 0.1, -0.5, -1], "chosen": 0}\n' * 2000)
    for name in ("s.jsonl", "s.csv", "s.parquet"):
        done = skilloscope("simulate", "choices", spreads, "--c", 1.5, "--seed", 3, "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
        row = json.loads(skilloscope("decisions", "rate", tmp_path / name, "--json").stdout)["deciders"][0]
        assert row["decider"] == "simulated, c = 1.5"
        assert abs(row["c"] - 1.5) < 4 * row["sd"]


def test_reproduce_prints_a_dash_where_nothing_was_computed():
    done = skilloscope("papers", "reproduce", "--json")
    entries = {entry["key"]: entry["rows"] for entry in json.loads(done.stdout)["entries"]}
    assert done.returncode == 0
    assert len(entries["FER12.figure1"]) == 82
    assert all(row["within"] for row in entries["FER12.figure1"])
    assert all(row["within"] for row in entries["DFH13.line"])
    columns = entries["DFH13.III"]
    assert [row["ours"] for row in columns if row["label"].endswith("c̄")] == [None] * 7
    assert all(row["within"] for row in columns if row["ours"] is not None)
    assert "–" in skilloscope("papers", "reproduce", "DFH13.III").stdout
    assert skilloscope("papers", "reproduce", "XYZ99").returncode == 2


def test_the_demo_without_an_engine_says_so_in_one_line_and_goes_on(tmp_path):
    done = skilloscope("demo", "--json", cwd=tmp_path, STOCKFISH_EXECUTABLE="/nowhere/engine")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert done.stderr.count("no engine found") == 1
    assert report["positions"]["searched"] == 0
    assert report["positions"]["imported"] > 300
    assert (tmp_path / "demo.html").read_text().count("<svg") == 3
    players, truth = {player["player"]: player for player in report["players"]}, report["truth"]
    assert players.keys() == report["known_as"].keys()
    assert all(players[name]["elo_low"] <= elo <= players[name]["elo_high"] for name, elo in truth.items())
    assert players["Fischer, Robert James"]["elo_low"] > players["simulated 1300"]["elo"]
    assert not any(player["elo_edge"] for player in players.values() if player["games"] > 1)
    again = json.loads(skilloscope("demo", "--json", cwd=tmp_path, STOCKFISH_EXECUTABLE="/nowhere/engine").stdout)
    assert again["positions"]["cached"] == report["positions"]["imported"]


def test_the_help_of_a_command_is_the_first_line_of_its_function():
    entries = {name: entry for panel in COMMANDS.values() for name, entry in panel.items()}
    groups = {name: entry.entries for name, entry in entries.items() if isinstance(entry, Group)}
    for entry in (*entries.values(), *(inner for group in groups.values() for inner in group.values())):
        if isinstance(entry, Entry):
            module, function = entry.home.split(":")
            doc = getattr(importlib.import_module(f"skilloscope.cli.{module}"), function).__doc__
            assert doc.splitlines()[0] == entry.help
    for name in ([], *([group] for group in groups)):
        said = " ".join(CliRunner().invoke(app, [*name, "--help"]).stdout.split())
        for word, entry in (groups[name[0]] if name else entries).items():
            assert f" {word} {entry.help}" in said


def test_a_command_that_does_not_exist_is_refused_with_the_nearest_name():
    for words, nearest in (["rat"], "rate"), (["results", "smoth"], "smooth"):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 2
        assert f"Did you mean '{nearest}'" in done.stderr


def test_help_of_commands_loads_none_of_the_heavy_modules():
    code = (
        "import sys, typer.main; from skilloscope.cli.app import app\n"
        "for one in typer.main.get_command(app).commands.values(): list(getattr(one, 'commands', {}).values())\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "numba", "pyarrow", "matplotlib", "chess"} & set(loaded)


@pytest.mark.soak
def test_help_starts_within_two_and_a_half_times_importing_numpy():
    from benchmarks.startup import IMPORT_LIMIT, LIMIT, startup_seconds

    numpy, package, started = startup_seconds(str(Path(sys.executable).with_name("skilloscope")))
    assert package < IMPORT_LIMIT
    assert started < LIMIT * numpy


def test_games_that_leave_no_decision_say_what_was_skipped(tmp_path, stockfish):
    (tmp_path / "short.pgn").write_text('[White "Ann"]\n[Black "Bob"]\n\n1. e4 e5 2. Nf3 *\n')
    done = skilloscope("rate", tmp_path / "short.pgn", "--method", "agent", "--depth", 1)
    assert done.returncode == 1
    assert "no decisions left to rate; skipped: 3 opening" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "none.pgn").write_text('[White "?"]\n[Black "?"]\n\n1. e4 e5 2. Nf3 *\n')
    done = skilloscope("rate", tmp_path / "none.pgn", "--effort", "instant")
    assert done.returncode == 1
    assert "no move left to rate; skipped: 3 unknown player" in done.stderr


def test_names_are_shown_as_they_are(table):
    table.write_text(GOOD_LINES.replace("Ann", "[b]Ann[/b] :smile: [/x]"))
    done = skilloscope("decisions", "rate", table)
    assert done.returncode == 0, done.stderr
    assert "[b]Ann[/b] :smile: [/x]" in done.stdout


def test_what_is_given_twice_counts_once(tmp_path, table, stockfish):
    assert "is given twice" in skilloscope("decisions", "rate", table, tmp_path / "." / "table.jsonl").stderr
    (tmp_path / "games.pgn").write_text(GAME)
    out = tmp_path / "one.parquet"
    assert skilloscope("analyse", tmp_path / "games.pgn", "--depth", 1, "--out", out).returncode == 0
    (tmp_path / "copy.parquet").write_bytes(out.read_bytes())
    once, twice = (
        json.loads(skilloscope("rate", *paths, "--json").stdout) for paths in ([out], [out, tmp_path / "copy.parquet"])
    )
    assert twice["players"] == once["players"]
    assert twice["skipped"]["decision given twice"] == sum(p["decisions"] for p in once["players"])


def test_a_table_of_another_domain_has_no_elo(table):
    done = skilloscope("rate", table)
    assert done.returncode == 1
    assert "skilloscope decisions rate" in done.stderr


def test_other_speeds_and_servers_are_a_warning(tmp_path, stockfish):
    tags = '[Site "https://www.freechess.org"]\n[TimeControl "600+0"]\n'
    (tmp_path / "games.pgn").write_text(tags + GAME)
    report = json.loads(skilloscope("rate", tmp_path / "games.pgn", "--depth", 1, "--json").stdout)
    assert any("rapid or faster" in warning for warning in report["warnings"])
    assert any("played on a server" in warning for warning in report["warnings"])


def test_what_cannot_be_done_is_refused_before_the_engine_is_asked(tmp_path):
    (tmp_path / "games.pgn").write_text(GAME)
    for options in (
        ["--by", "weather"],
        ["--by", "phase", "--method", "agent"],
        ["--prior", "best"],
        ["--scale", "other"],
        ["--rule", "added", "--method", "agent"],
        ["--method", "oracle"],
        ["--effort", "endless"],
        ["--level", "2"],
        ["--html", tmp_path],
        ["--html", tmp_path / "nowhere" / "x.html"],
        ["--player", "Cyd"],
    ):
        value_cannot_be = options[0] not in ("--html", "--player")  # there may be such a folder, or such a player
        done = skilloscope("rate", tmp_path / "games.pgn", *options, STOCKFISH_EXECUTABLE="/nowhere/engine")
        assert done.returncode == (2 if value_cannot_be else 1), options
        assert "engine" not in done.stderr.replace(str(tmp_path), ""), options


def test_groups_by_another_column_have_their_own_table_and_page(tmp_path, stockfish):
    (tmp_path / "games.pgn").write_text(GAME)
    page = tmp_path / "p.html"
    done = skilloscope("rate", tmp_path / "games.pgn", "--depth", 1, "--by", "opponent", "--html", page)
    assert done.returncode == 0, done.stderr
    assert "opponent" in done.stdout
    assert ">opponent</th>" in page.read_text()


def test_verbose_says_what_is_done(tmp_path, stockfish):
    (tmp_path / "games.pgn").write_text(GAME)
    assert "INFO skilloscope" in skilloscope("-v", "rate", tmp_path / "games.pgn", "--depth", 1).stderr
