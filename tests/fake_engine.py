"""A chess engine that misbehaves on purpose: `fake_engine.py MISHAP STATE` speaks some UCI, then hangs, crashes, lies.

Its moves are the legal ones in alphabetical order, worth 90, 80, 70 … centipawns at every depth. `MISHAP on TEXT`
happens only at positions whose FEN ends with the text, `MISHAP on rooks` only where White has one;
commas part several mishaps. When it falls silent for ever it says so in a file beside STATE, `silent.GUARD`, by the
number of the process that started it. `meets` waits in a search until another process of its kind searches too.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import chess

LONG = 300.0
"""Seconds of silence: more than any test waits."""


def main(mishap: str, state: Path) -> None:
    """Answer until told to quit."""
    count, fen, searches = 1, chess.STARTING_FEN, 0
    for row in sys.stdin:
        words = row.split()
        if words == ["uci"]:
            greet(mishap, state)
        elif words == ["isready"]:
            say("readyok")
        elif words[:3] == ["setoption", "name", "MultiPV"]:
            count = int(words[-1])
        elif words[:2] == ["position", "fen"]:
            fen = " ".join(words[2:])
        elif words[:1] == ["go"]:
            searches += 1
            if mishap == "crash at the 7th" and searches == 7:
                os._exit(3)
            answer(mishap_at(mishap, fen), state, fen, count)
        elif words == ["quit"] and mishap != "does not quit":
            return
    if mishap == "does not quit":
        time.sleep(LONG)


def mishap_at(mishap: str, fen: str) -> str:
    """Return what happens at this position."""
    for part in mishap.split(", "):
        name, limited, text = part.partition(" on ")
        if not limited or (text == "rooks" and "R" in fen.split()[0]) or fen.endswith(text):
            return name
    return ""


def greet(mishap: str, state: Path) -> None:
    """Say who it is, unless it is nobody."""
    if mishap == "mute":
        time.sleep(LONG)
    if mishap == "dies at once":
        os._exit(7)
    say("id name Fake 2.0" if mishap == "changes" and not first_of(state) else "id name Fake 1.0")
    if mishap != "no multipv":
        say("option name MultiPV type spin default 1 min 1 max 5")
    say("option name OwnBook type check default true")
    say("uciok")


def first_of(state: Path) -> bool:
    """Return whether this engine is the first that starts, of several at once too; the others leave a mark."""
    try:
        os.close(os.open(state, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        state.with_suffix(".again").touch()
        return False
    return True


def answer(mishap: str, state: Path, fen: str, count: int) -> None:
    """Answer one search, in the way of the mishap."""
    if mishap == "changes":  # the first waits for the other, however busy the machine is
        while not state.with_suffix(".again").exists():
            time.sleep(0.01)
    if mishap == "hang":
        fall_silent(state)
    if mishap == "meets":
        meet(state)
    if mishap == "crash" or (mishap == "crash once" and not state.exists()):
        state.touch()
        os._exit(3)
    while mishap == "no line ends":
        sys.stdout.write("info string " * 10_000)
    while mishap == "chatter":
        say("info depth 1 currmove e2e4")
    while mishap == "babble":
        say("info depth 1 currmove e2e4")
        time.sleep(0.01)
    moves = sorted(move.uci() for move in chess.Board(fen).legal_moves)
    listing(1, moves[:count])
    if mishap == "garbage":
        say("info depth zwei score cp viel pv e2e4")
    elif mishap == "noise":
        os.write(1, bytes(range(256)) + b"\ninfo depth 2 multipv 1 score cp 3 pv \xff\xfe\n")
    elif mishap == "half a line":
        os.write(1, b"info depth 2 multipv 1 sco")
    elif mishap == "cut short":
        say("info depth 2 multipv 1 score cp 90 nodes 2")
    elif mishap == "illegal":
        listing(2, ["a1a2", "a1a3", "a1a4", "a1a5", "a1a6"][:count])
    elif mishap == "twice":
        listing(2, [*moves[: count - 1], moves[0]])
    elif mishap == "incomplete":
        listing(2, moves[: count - 1])
    elif mishap != "stops early":
        listing(2, moves[:count])
    say("bestmove 0000")
    if mishap == "half a line":
        fall_silent(state)


def fall_silent(state: Path) -> None:
    """Say nothing more, and leave a sign of it."""
    (state.parent / f"silent.{os.getppid()}").touch()
    time.sleep(LONG)


def meet(state: Path) -> None:
    """Wait until two processes are searching."""
    state.mkdir(exist_ok=True)
    (state / str(os.getpid())).touch()
    while len(list(state.iterdir())) < 2:
        time.sleep(0.01)


def listing(depth: int, moves: list[str]) -> None:
    """Print the moves as lines of one depth."""
    for rank, move in enumerate(moves, start=1):
        say(f"info depth {depth} multipv {rank} score cp {100 - 10 * rank} nodes {depth * 100} pv {move}")


def say(text: str) -> None:
    """Print a line at once; a reader that has gone is no concern of ours."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
