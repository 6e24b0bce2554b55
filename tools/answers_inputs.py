"""The inputs of tools/answers.py: the games of the demo, games and tables made from a fixed seed, a stand-in engine."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ENGINE = f"""#!{sys.executable}
import sys
for row in sys.stdin:
    if row.split() == ["uci"]:
        print("id name Stockfish 15.1")
        print("option name EvalFile type string default nn-ad9b42354671.nnue")
        print("option name MultiPV type spin default 1 min 1 max 500")
        print("option name Hash type spin default 16 min 1 max 1024")
        print("uciok", flush=True)
    elif row.split() == ["isready"]:
        print("readyok", flush=True)
    elif row.split()[:1] in (["go"], ["quit"]):
        break
"""
"""An engine that gives the name of the one that made the analyses of the demo, and ends where it should search."""


def make_inputs(source: Path, engine: Path | None) -> None:
    """Write the inputs of the cases into the current folder."""
    demo = source / "skilloscope" / "data" / "demo"
    for file in demo.iterdir():
        Path(file.name).write_bytes(file.read_bytes())
    rng = random.Random(1)
    simulated = Path("simulated.pgn").read_text().replace('[Site "?"]\n', "")
    simulated = re.sub(r"simulated, c = (\d)\.(\d)", r"C\1\2", simulated)
    games = [f"[Event{part}" for part in simulated.split("[Event")[1:]]
    career = [dated(game, i) for i, game in enumerate(games)]
    Path("career.pgn").write_text("".join(career))
    Path("six.pgn").write_text("".join(career[:6]))
    Path("two.pgn").write_text("".join(career[:2]))
    Path("evaluated.pgn").write_text("".join(commented(game, rng) for game in career[:8]))
    Path("results.csv").write_text("white,black,result,date\n" + "".join(result_rows(rng, 600)))
    Path("later.csv").write_text("white,black,result,date\np00,p01,1-0,2024-02-03\np02,p03,0-1,2024-02-03\n")
    Path("pairs.csv").write_text("player_1,player_2\np00,p01\np02,p03\np04,p11\n")
    Path("few.csv").write_text(
        "white,black,result,date\nAnn,Bob,1-0,2020-01-01\nAnn,Bobb,0-1,2020-01-05\nBobb,Ann,0-1,2020-02-01\n"
    )
    for name, c in (("deciders.jsonl", 0.6), ("after.jsonl", 0.9)):
        Path(name).write_text("".join(decision_rows(rng, c)))
    rows = [json.loads(row) for row in Path("deciders.jsonl").read_text().splitlines()]
    Path("deeper.jsonl").write_text("".join(json.dumps(seen_deeper(row, rng)) + "\n" for row in rows))
    Path("plays.jsonl").write_text("".join(backgammon_rows(rng)))
    if engine is not None:
        engine.write_text(ENGINE)
        engine.chmod(0o755)


def dated(game: str, i: int) -> str:
    """Return a demo game with a date, an event and ratings."""
    tags = f'[Date "20{19 + i // 9}.{i % 9 + 1:02d}.15"]\n[Event "{"Spring" if i % 2 else "Autumn"}"]\n'
    ratings = '[WhiteElo "{}"]\n[BlackElo "{}"]\n'.format(*(1000 + 50 * int(c) for c in re.findall(r"C(\d\d)", game)))
    body = re.sub(r'\[(Event|Date) "[^"]*"\]\n', "", game)
    return tags + ratings + body


def commented(game: str, rng: random.Random) -> str:
    """Return a game with an evaluation and a clock after every move."""
    head, moves = game.split("\n\n", 1)
    value, words, clock = 0.2, [], [3000, 3000]
    for word in moves.split():
        words.append(word)
        if not word[0].isdigit():
            side = len([1 for one in words if one.startswith("{")]) % 2
            clock[side] -= rng.randint(1, 90)
            value += rng.gauss(0, 0.5)
            left = f"{clock[side] // 3600}:{clock[side] // 60 % 60:02d}:{clock[side] % 60:02d}"
            words.append(f"{{[%eval {value:.2f}] [%clk {left}]}}")
    return head + '\n[TimeControl "3000"]\n\n' + " ".join(words) + "\n\n"


def result_rows(rng: random.Random, games: int) -> Iterator[str]:
    """Yield games among twelve players of different strength."""
    for i in range(games):
        one, two = rng.sample(range(12), 2)
        chance = 1 / (1 + 10 ** ((one - two) / 8))
        result = rng.choices(["1-0", "0-1", "1/2-1/2"], [chance, 1 - chance, 0.4])[0]
        yield f"p{one:02d},p{two:02d},{result},{2021 + i // 200}-{i // 20 % 10 + 1:02d}-{i % 28 + 1:02d}\n"


def decision_rows(rng: random.Random, c: float) -> Iterator[str]:
    """Yield choices among five options by agents of c, 2c and 3c in two seasons."""
    for i in range(240):
        utilities = [round(rng.random(), 3) for _ in range(5)]
        weights = [(max(utilities) - value + 0.1) ** (-c * (i % 3 + 1)) for value in utilities]
        chosen = rng.choices(range(5), weights)[0]
        row = {
            "decider": f"d{i % 3}",
            "alternatives": [*"abcde"],
            "utilities": utilities,
            "chosen": chosen,
            "season": 2020 + i // 120,
            "game": f"g{i // 6}",
            "turn": i,
        }
        yield json.dumps(row) + "\n"


def seen_deeper(row: dict[str, object], rng: random.Random) -> dict[str, object]:
    """Return a decision with the utilities that another engine gives."""
    utilities = row["utilities"]
    assert isinstance(utilities, list)
    return row | {"utilities": [round(float(value) + rng.gauss(0, 0.1), 3) for value in utilities]}


def backgammon_rows(rng: random.Random) -> Iterator[str]:
    """Yield plays in the format of the backgammon analyses."""
    for i in range(60):
        equities = sorted((round(rng.uniform(-1, 1), 3) for _ in range(5)), reverse=True)
        listed = [[move, 0, equity] for move, equity in zip("abcde", equities, strict=True)]
        row = {"g": f"m{i // 20}", "n": i, "player": ("Ann", "Bob")[i % 2], "dice": "32", "pos": f"p{i}", "mid": "x"}
        yield json.dumps(row | {"c": listed, "chosen": rng.choice([0, 0, 1, 2])}) + "\n"
