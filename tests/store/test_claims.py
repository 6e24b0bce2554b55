"""Several processes on one store: each problem is one process's, and no dead one keeps it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skilloscope.core.errors import StoreError
from skilloscope.store import Claims, Store, StoredAnalysis
from skilloscope.store import claims as claims_module
from skilloscope.store.claims import process_start

KEY = {"engine": "X", "depth": 10}
HOLD = """
import sys
from skilloscope.store import Claims, Store
claims = Claims(Store(sys.argv[1]), {"engine": "X", "depth": 10})
print(claims.claim("a"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "analyses.sqlite")


def test_a_problem_is_granted_to_one_and_free_again_when_let_go(store):
    with Claims(store, KEY) as one, Claims(store, KEY) as other:
        assert list(one.granted(["a", "b"])) == ["a", "b"]
        assert list(other.granted(["a", "b", "c"])) == ["c"]
        assert one.claim("a")
        one.release("a")
        assert other.claim("a")
    with Claims(store, KEY) as third:
        assert list(third.granted(["a", "b", "c"])) == ["a", "b", "c"]


def test_other_settings_are_other_work_and_an_answer_needs_nobody(store):
    store.put_many(KEY, [StoredAnalysis("a", 2, b"x"), StoredAnalysis("b", 2, b"", "failed", "crash")])
    with Claims(store, KEY) as one, Claims(store, KEY | {"depth": 12}) as other:
        assert list(one.granted(["a", "b"])) == ["b"]
        assert list(other.granted(["a", "b"])) == ["a", "b"]


def test_a_claim_ends_with_its_process(store):
    command = [sys.executable, "-c", HOLD, str(store.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        with Claims(store, KEY) as claims:
            assert not claims.claim("a")
            process.kill()
            process.poll()
            while process_start(process.pid):  # dead, though nobody has asked for its status yet
                pass
            assert claims.claim("a")


def test_a_claim_that_is_not_renewed_or_of_the_future_counts_no_more(store, monkeypatch):
    with Claims(store, KEY) as one, Claims(store, KEY) as other:
        now = claims_module.time.time()
        one.claim("a")
        monkeypatch.setattr(claims_module.time, "time", lambda: now + claims_module.CLAIM_SECONDS - 1)
        assert not other.claim("a")
        one.claim("b")  # renews what it holds
        monkeypatch.setattr(claims_module.time, "time", lambda: now + 2 * claims_module.CLAIM_SECONDS - 2)
        assert not other.claim("a")
        monkeypatch.setattr(claims_module.time, "time", lambda: now - 10 * claims_module.CLAIM_SECONDS)
        assert other.claim("a")


def test_a_claim_of_another_machine_holds_until_it_is_old(store, monkeypatch):
    one = Claims(store, KEY)
    monkeypatch.setattr(one, "owner", "elsewhere 1 1 0")
    one.claim("a")
    with Claims(store, KEY) as other:
        assert not other.claim("a")
    one.close()
    one.close()


def test_threads_share_claims(store):
    granted: list[str] = []
    with Claims(store, KEY) as claims, Claims(store, KEY) as other:
        problems = [str(number) for number in range(50)]
        takers = [
            threading.Thread(target=lambda one=one: granted.extend(one.granted(problems))) for one in (claims, other)
        ]
        for taker in takers:
            taker.start()
        for taker in takers:
            taker.join()
    assert sorted(granted) == sorted(problems)


def test_a_store_that_is_only_read_takes_no_claims(store):
    store.close()
    with Store(store.path, read_only=True) as shelf, pytest.raises(StoreError, match="cannot be written"):
        Claims(shelf, KEY)
