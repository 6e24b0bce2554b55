"""FER12 reproduced: every printed number within its tolerance, section 7 closer, events as far as games are known."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from skilloscope.chess.engine.settings import FER12
from skilloscope.inputs.bundled import game_of_the_century
from skilloscope.inputs.load import EngineJob
from skilloscope.papers.fer12 import FER12_ENTRIES
from skilloscope.papers.harness import NO_DATA, Budget, Entry, Outcome
from skilloscope.studies.game import written_moves

ENTRIES = {entry.key: entry for entry in FER12_ENTRIES}
FROM_PRINT = [key for key, entry in ENTRIES.items() if "on the games" not in entry.title]
EVENTS = [key for key in ENTRIES if key not in FROM_PRINT]


@pytest.mark.parametrize("key", FROM_PRINT)
def test_every_number_that_follows_from_print_is_within_its_tolerance(key):
    outcome = ENTRIES[key].outcome(Budget())
    assert outcome.rows
    assert all(row.within is not False for row in outcome.rows)
    assert all(row.ours is not None for row in outcome.rows if not row.label.startswith("printed:"))


def test_the_engines_measured_gains_bring_the_two_estimates_closer():
    outcome = ENTRIES["FER12.section7"].outcome(Budget())
    assert outcome.notes[0].endswith("The measured gains come closer.")


@pytest.mark.parametrize("key", EVENTS)
def test_events_need_their_games(key):
    outcome = ENTRIES[key].outcome(Budget())
    assert list(outcome.rows) == []
    assert list(outcome.notes) == [NO_DATA]


PLAYERS = {
    "london_classic_2011": ["Kramnik,V", "Carlsen,M", "Nakamura,Hi"],
    "tal_memorial_2011": ["Kramnik,V", "Carlsen,M", "Anand,V"],
    "candidates_2011": ["Gelfand, Boris", "Grischuk,A", "Kamsky, Gata"],
    "candidates_1971": ["Fischer, Robert James", "Petrosian, Tigran V", "Kortschnoj, Viktor"],
    "fischer_spassky_1972": ["Fischer, Robert James", "Spassky, Boris V"],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder as the real one, with a few short games of the players."""
    folder = tmp_path / "data" / "events"
    folder.mkdir(parents=True)
    rng = random.Random(1)
    played = written_moves(game_of_the_century().moves, None)
    years = [f"{name}_{year}" for name, year in (("karpov_kasparov", 1984), ("karpov_kasparov", 1985))]
    years += [f"kasparov_karpov_{year}" for year in (1986, 1987, 1990)] + [
        "fischer_spassky_1992",
        "kasparov_deepblue_1997",
    ]
    for name in [*PLAYERS, *years]:
        players = PLAYERS.get(name, ["Kasparov, Gary", "Karpov, Anatoly"])
        text = ""
        for white in players:
            for black in players:
                if white != black:
                    moves = played[: rng.randrange(20, 40)]
                    tags = f'[White "{white}"]\n[Black "{black}"]\n[WhiteElo "2800"]\n[BlackElo "2750"]\n'
                    text += f"{tags}\n{' '.join(moves)} 1-0\n\n"
        (folder / f"{name}.pgn").write_text(text)
    return folder.parent


def outcome_of(entry: Entry, data: Path, tmp_path: Path, engine: Path, minutes: float) -> Outcome:
    work = EngineJob(settings=replace(FER12, depth=2), engine=str(engine), store=tmp_path / "store.sqlite")
    return entry.outcome(Budget(minutes=minutes, data=data, work=work))


@pytest.mark.parametrize("key", EVENTS)
def test_events_are_computed_from_their_games(key, data, tmp_path, stockfish):
    outcome = outcome_of(ENTRIES[key], data, tmp_path, stockfish, 5)
    assert any(row.ours is not None for row in outcome.rows), outcome.notes
    assert all(row.within is None for row in outcome.rows)  # another engine: nothing is judged
    assert any("one line to depth 2" in note for note in outcome.notes)


def test_without_a_known_game_and_without_time_the_entry_says_so(data, tmp_path, fake_engine):
    outcome = outcome_of(ENTRIES["FER12.london"], data, tmp_path, fake_engine(), 0)
    assert list(outcome.rows) == []
    assert "no game is known" in outcome.notes[0]


def test_a_missing_file_is_said_too(tmp_path, fake_engine):
    outcome = outcome_of(ENTRIES["FER12.london"], tmp_path, tmp_path, fake_engine(), 1)
    assert "no file like" in outcome.notes[0]
