"""What strangers may hand to the commands: folders with settings, names with escapes, outputs that are inputs."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.text import Text
from typer.testing import CliRunner

from skilloscope.cli import console
from skilloscope.cli.app import app
from skilloscope.core import paths
from skilloscope.core.errors import Fault, InputError, Tally
from skilloscope.core.text import json_text, visible
from skilloscope.report.table import PlainConsole, Table, drawn

HOSTILE = "Kas\x1b]0;owned\x07pa\x9b31mrov\u202e\u2066\x7f"
FORBIDDEN = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202e\u2066\u200f\u061c"} - {"\n", "\t"}
DECISION = '{"decider": "NAME", "utilities": [0.3, 0.1, -0.5], "chosen": 0}\n'


def skilloscope(*arguments: object, cwd: Path | None = None, **more: object) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("skilloscope")), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, **more)


class TestSettings:
    @pytest.mark.parametrize("command", [["doctor"], ["rate", "games.pgn"], ["game", "games.pgn"]])
    def test_a_file_of_the_current_folder_names_no_program(self, tmp_path, command):
        (tmp_path / "helper").write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
        (tmp_path / "helper").chmod(0o755)
        (tmp_path / "skilloscope.toml").write_text('engine = "./helper"\ndepth = 1\n')
        (tmp_path / "games.pgn").write_text('[White "A"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 *\n')
        done = skilloscope(*command, cwd=tmp_path)
        assert not (tmp_path / "ran").exists()
        assert "may not name programs" in done.stderr
        assert "SKILLOSCOPE_ENGINE" in done.stderr

    def test_the_users_own_file_the_environment_and_a_named_file_may(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        paths.user_file().parent.mkdir(exist_ok=True)
        paths.user_file().write_text('engine = "mine"\n')
        (tmp_path / "skilloscope.toml").write_text('engine = "theirs"\ndepth = 3\n')
        found = paths.effective_settings()
        assert (found["engine"].value, found["depth"].value) == ("mine", 3)
        monkeypatch.setenv("SKILLOSCOPE_CONFIG", str(tmp_path / "skilloscope.toml"))
        assert paths.effective_settings()["engine"].value == "theirs"
        monkeypatch.setenv("SKILLOSCOPE_ENGINE", "third")
        assert paths.effective_settings()["engine"].value == "third"

    def test_it_is_said_once(self, tmp_path, monkeypatch, caplog):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "skilloscope.toml").write_text('engine = "theirs"\n')
        for _ in range(3):
            assert paths.effective_settings()["engine"].source == "default"
        assert len(caplog.records) == 1
        assert "theirs" in caplog.text

    def test_a_home_that_nobody_has_is_an_error(self):
        with pytest.raises(InputError, match="no such user") as caught:
            paths.store_file("~nobody-of-that-name/store")
        assert caught.value.hint

    @pytest.mark.parametrize("option", [["--depth", 300], ["--depth", 256], ["--multipv", 501], ["--hash", 10**9]])
    def test_a_limit_that_cannot_be_kept_is_refused(self, tmp_path, option):
        (tmp_path / "games.pgn").write_text('[White "A"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 *\n')
        done = CliRunner().invoke(app, ["analyse", str(tmp_path / "games.pgn"), *map(str, option)])
        assert done.exit_code == 2
        assert "at most" in done.stderr


class TestEscapes:
    def test_a_text_loses_what_a_terminal_obeys_and_nothing_else(self):
        assert visible(HOSTILE) == "Kas]0;ownedpa31mrov"
        assert visible("Müller-Łódź 李\tß ± – ½\n") == "Müller-Łódź 李\tß ± – ½\n"

    @pytest.mark.parametrize("width", [None, 20])
    def test_no_renderable_brings_one_to_the_screen(self, width):
        screen = PlainConsole(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
        sheet = Table(HOSTILE, [HOSTILE, "b"], [[HOSTILE, "1"]], [HOSTILE])
        for what in (HOSTILE, Text(HOSTILE), drawn(sheet)):
            screen.print(what)
        assert not FORBIDDEN & {*screen.file.getvalue()}

    def test_json_is_exact_and_has_none_either(self):
        value = {"name": HOSTILE + "\ud800", "µ": 1.5}
        assert json.loads(json_text(value)) == value
        assert not FORBIDDEN & {*json_text(value)}

    @pytest.mark.parametrize("json_too", [[], ["--json"]])
    def test_names_of_deciders_and_files_pass_the_filter(self, tmp_path, json_too):
        table = tmp_path / f"{HOSTILE}.jsonl"
        name = json.dumps(HOSTILE)[1:-1]
        table.write_text(DECISION.replace("NAME", name) * 5 + f'{{"decider": "{name}"}}\n')
        done = skilloscope("decisions", "rate", table, *json_too)
        assert "Kas" in done.stdout
        assert "Kas" in done.stderr
        assert not FORBIDDEN & {*done.stdout, *done.stderr}
        if json_too:
            assert json.loads(done.stdout)["deciders"][0]["decider"] == HOSTILE

    def test_errors_log_lines_and_wrong_options_pass_it(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(logging.getLogger(), "handlers", [])
        for name in ("PY_COLORS", "FORCE_COLOR", "GITHUB_ACTIONS"):  # whatever their value, typer colours by them
            monkeypatch.delenv(name, raising=False)
        done = skilloscope("decisions", "rate", tmp_path / HOSTILE)
        again = skilloscope("decisions", "rate", f"--{HOSTILE}")
        console.set_verbosity(0, False)
        logging.getLogger("skilloscope").warning("%s", HOSTILE)
        said = done.stderr + again.stderr + capsys.readouterr().err
        assert said.count("Kas") == 3
        assert not FORBIDDEN & {*said}


class TestOutputs:
    def test_games_are_not_overwritten_by_their_page(self, tmp_path):
        (tmp_path / "mine.pgn").write_text('[White "A"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 *\n')
        (tmp_path / "link.html").symlink_to(tmp_path / "mine.pgn")
        for page in ("mine.pgn", "link.html"):
            done = CliRunner().invoke(app, ["rate", str(tmp_path / "mine.pgn"), "--html", str(tmp_path / page)])
            assert done.exit_code == 1
            assert "written over" in done.stderr
        assert (tmp_path / "mine.pgn").read_text().startswith("[White")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["analyse", "X.jsonl", "--out", "X.jsonl"],
            ["analyse", "X.jsonl", "--export", "X.jsonl"],
            ["decisions", "convert", "backgammon", "X.jsonl", "--out", "X.jsonl"],
            ["simulate", "choices", "X.jsonl", "--c", "1", "--out", "X.jsonl"],
            ["results", "rate", "X.csv", "--history", "X.csv"],
            ["results", "rate", "X.csv", "--state", "X.csv"],
            ["results", "predict", "X.csv", "--pairs", "Y.csv", "--out", "Y.csv"],
            ["results", "rate", "X.csv", "--html", "new", "--history", "new.csv", "--state", "new"],
        ],
    )
    def test_no_command_writes_over_what_it_reads(self, tmp_path, monkeypatch, arguments):
        monkeypatch.chdir(tmp_path)
        for name in ("X.jsonl", "X.csv", "Y.csv"):
            Path(name).write_text("player_1,player_2,score\n")
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 1, done.stderr
        assert "would be written" in done.stderr
        assert {Path(name).read_text() for name in ("X.jsonl", "X.csv", "Y.csv")} == {"player_1,player_2,score\n"}

    def test_an_output_without_permission_is_refused_before_anything_is_read(self, tmp_path):
        done = CliRunner().invoke(app, ["analyse", str(tmp_path / "no file.pgn"), "--out", "/proc/self/out.parquet"])
        assert done.exit_code == 1
        assert "out.parquet cannot be written" in done.stderr


class TestEdge:
    def fails(self) -> int:
        raise KeyError(HOSTILE)

    def test_what_nobody_foresaw_is_said_without_a_trace(self, capsys):
        console.set_verbosity(0, False)
        assert console.run(self.fails) == 1
        said = capsys.readouterr().err
        assert "unexpected error" in said
        assert "KeyError" in said
        assert "report" in said
        assert "Traceback" not in said
        assert not FORBIDDEN & {*said}

    def test_with_vv_the_trace_is_shown(self, capsys):
        console.set_verbosity(2, False)
        try:
            assert console.run(self.fails) == 1
        finally:
            console.set_verbosity(0, False)
        said = capsys.readouterr().err
        assert "Traceback" in said
        assert not FORBIDDEN & {*said}

    @pytest.mark.parametrize("redirected", [">&-", ">/dev/full", ">&- 2>&-"])
    def test_a_closed_or_full_stdout_is_an_error_without_a_trace(self, redirected):
        program = Path(sys.executable).with_name("skilloscope")
        done = subprocess.run(
            ["sh", "-c", f"'{program}' doctor --json {redirected}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert ("error:" in done.stderr) == ("2>&-" not in redirected)

    def test_a_reader_that_has_gone_is_no_error(self):
        program = Path(sys.executable).with_name("skilloscope")
        done = subprocess.run(["sh", "-c", f"'{program}' doctor | true"], capture_output=True, text=True, check=False)
        assert done.stderr == ""

    def test_warnings_of_libraries_are_silent_under_q(self, tmp_path):
        code = (
            "import warnings; from skilloscope.cli import console; console.set_verbosity(0, True)\n"
            "warnings.warn('about a glyph')"
        )
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
        assert run.stderr == ""


def test_a_dry_run_says_what_it_does_meanwhile(tmp_path, stockfish):
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5 "
    more = "11. d4 Qc7 12. Nbd2 cxd4 13. cxd4 Nc6 14. Nb3 a5 *"
    (tmp_path / "games.pgn").write_text(f'[White "A"]\n[Black "B"]\n\n{moves}{more}\n')
    done = CliRunner().invoke(app, ["analyse", str(tmp_path / "games.pgn"), "--dry-run", "--depth", "1"])
    assert done.exit_code == 0
    assert "reading the games" in done.stderr
    assert "1 game read" in done.stderr
    assert "measuring:" in done.stderr


GAMES, TABLE, RESULTS = "games.pgn", "table.csv", "results.csv"


@pytest.mark.parametrize(
    "line",
    [
        f"rate {GAMES} --effort endless",
        f"rate {GAMES} --method tea --effort instant",
        f"rate {GAMES} --prior best --effort instant",
        f"rate {GAMES} --by weather --effort instant",
        f"rate {GAMES} --level 2",
        f"rate {GAMES} --budget 0",
        f"rate {GAMES} --preset RH99",
        f"rate {GAMES} --figure x.bmp",
        f"profile {GAMES} --player A --per century",
        f"screen {GAMES} --prevalence 2",
        f"papers gain {GAMES} --pool tea",
        f"papers ipr {GAMES} --years tea",
        f"papers pooled {GAMES} --split colour",
        "simulate games --elo 1500 --assist magic --out x.pgn",
        f"decisions rate {TABLE} --rule tea",
        f"decisions rate {TABLE} --k tea",
        f"decisions rate {TABLE} --prior tea",
        f"decisions rate {TABLE} --method tea",
        f"decisions rate {TABLE} --range 3 1",
        f"decisions rate {TABLE} --method curves --curve tea",
        f"decisions convert tea {TABLE} --out x.csv",
        f"decisions profile {TABLE} --per problem --prior tea",
        f"results fit {RESULTS} --method tea",
        f"results rate {RESULTS} --period tea",
        f"results smooth {RESULTS} --method tea",
        f"results rate {RESULTS} --date-format ymd",
        "reproduce TEA",
        "play --style tea --json",
        "rate --no-such-option",
        f"rate {GAMES} --by phase --by colour",
        f"decisions rate {TABLE} --k 0.1 --k=0.2",
    ],
)
def test_a_value_that_cannot_be_is_wrong_usage(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(GAMES).write_text('[White "A"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 *\n')
    Path(TABLE).write_text("decider,problem,alternative,utility,chosen\nann,1,a,3,1\nann,1,b,2,0\n")
    Path(RESULTS).write_text("date,player_1,player_2,score\n2024-01-01,A,B,1\n2024-02-01,B,A,1\n")
    done = CliRunner().invoke(app, line.split())
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("line", ["rate nowhere.pgn", "decisions rate nowhere.csv", "results rate nowhere.csv"])
def test_a_file_that_cannot_be_read_is_no_wrong_usage(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, line.split()).exit_code == 1


@pytest.mark.parametrize(
    "line",
    [
        "decisions rate one.jsonl",
        "games one.pgn --out one.parquet",
        "results rate one.csv",
        "simulate choices one.jsonl --c 1 --out made.jsonl",
        "names one.csv",
    ],
)
def test_one_of_a_thing_is_no_plural(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("one.jsonl").write_text(DECISION)
    Path("one.csv").write_text("date,player_1,player_2,score\n2024-05-01,A,B,1\n")
    Path("one.pgn").write_text('[White "A"]\n[Black "B"]\n\n1. e4 1-0\n')
    told = CliRunner().invoke(app, line.split())
    assert not re.findall(r"(?<![\d,.])1 (?:game|move|decision|decider|player|name|position)s\b", told.output)


@pytest.mark.parametrize(
    "words",
    [
        "results rate r.csv --sigma0 1e308",
        "results rate r.csv --nu inf",
        "rate g.pgn --budget nan",
        "rate g.pgn --level nan",
    ],
)
def test_an_absurd_number_is_refused_before_anything_is_read(words: str):
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 2
    assert "no finite number" in done.output


@pytest.mark.parametrize(("good", "bad", "code"), [(250, 2, 0), (250, 3, 1), (3, 1, 1)])
def test_a_few_bad_games_among_many_are_named_and_no_failure(tmp_path: Path, good: int, bad: int, code: int):
    one = '[White "Ann"]\n[Black "Bo"]\n[Date "{year}.01.01"]\n\n1. e4 e5 2. {move} *\n\n'
    texts = [one.format(year=1500 + at, move="Nf3") for at in range(good)] + [one.format(year=9, move="Ke3")] * bad
    (tmp_path / "g.pgn").write_text("".join(texts))
    done = CliRunner().invoke(app, ["export", str(tmp_path / "g.pgn"), "--out", str(tmp_path / "g.parquet")])
    assert done.exit_code == code
    assert done.output.count("illegal move (Ke3)") == bad
    assert ("at fault, less than 1 %" in done.output) == (code == 0)
    with (tmp_path / "g.pgn").open("a") as file:
        file.write("1. e4 *\n\nwords\n")
    done = CliRunner().invoke(app, ["rate", str(tmp_path / "g.pgn"), "--effort", "instant"])
    assert done.exit_code == 1, "words outside any game are no game at fault"


def test_a_null_move_is_counted_and_no_failure():
    assert console.exit_code(Tally({"null move": 1}, [Fault("null move", "g.pgn", "game 1", "--")])) == 0
    assert console.exit_code(Tally({"illegal move": 1}, [Fault("illegal move", "g.pgn", "game 1", "e5")])) == 1
