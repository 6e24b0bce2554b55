"""Kept ratings: a kill between the state and its history is noticed, and mended where both are there."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from skilloscope.core.errors import InputError
from skilloscope.ratings.periods import saved as kept_module
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.saved import SavedRatings, history_file, load_ratings, save_ratings
from skilloscope.results.periods import PeriodGames


def kept_after(games: int) -> SavedRatings:
    rng = np.random.default_rng(3)
    white, black = rng.permuted(np.tile(np.arange(5), (30, 1)), axis=1)[:, :2].T
    score, period = rng.integers(0, 2, 30).astype(float), np.arange(30) // 6
    played = PeriodGames.build(
        white[:games], black[:games], score[:games], period[:games], players=("A", "B", "C", "D", "E")
    )
    model = Periods(sigma0=200, nu=30, smoothing=None).fit(played)
    return SavedRatings(model.state_, model.filtered_)


def assert_same(one: SavedRatings, other: SavedRatings) -> None:
    assert one.state.mark == other.state.mark
    assert np.array_equal(one.history.mean, other.history.mean)


def test_what_is_saved_comes_back_with_its_mark(tmp_path):
    save_ratings(kept_after(30), tmp_path / "state")
    assert_same(load_ratings(tmp_path / "state"), kept_after(30))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "state.history"]
    assert kept_after(24).state.mark != kept_after(30).state.mark


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("step", ["before the state", "between the two"])
def test_a_kill_at_any_step_leaves_the_old_ratings_or_the_new(tmp_path, monkeypatch, first, step):
    path = tmp_path / "state"
    if not first:
        save_ratings(kept_after(18), path)

    def killed(*_: object, **__: object) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if step == "before the state":
            patch.setattr(kept_module.State, "save", killed)
        else:
            honest = Path.replace

            def replace(self: Path, to: Path) -> Path:
                return killed() if self.name == "state.history.new" else honest(self, to)

            patch.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            save_ratings(kept_after(30), path)
    if step == "between the two":
        assert_same(load_ratings(path), kept_after(30))
        assert_same(load_ratings(path), kept_after(30))
    elif not first:
        assert_same(load_ratings(path), kept_after(18))
    else:
        assert not path.exists()


def test_a_state_with_the_history_of_another_is_refused(tmp_path):
    save_ratings(kept_after(18), tmp_path / "old")
    save_ratings(kept_after(30), tmp_path / "new")
    shutil.copy(history_file(tmp_path / "old"), history_file(tmp_path / "new"))
    with pytest.raises(InputError, match="do not belong together") as caught:
        load_ratings(tmp_path / "new")
    assert caught.value.hint
    history_file(tmp_path / "new").unlink()
    with pytest.raises(InputError, match="is missing"):
        load_ratings(tmp_path / "new")


def test_files_of_a_version_without_marks_are_read(tmp_path):
    kept = kept_after(30)
    kept.state.save(tmp_path / "state")
    kept.history.save(history_file(tmp_path / "state"))
    assert_same(load_ratings(tmp_path / "state"), kept)
