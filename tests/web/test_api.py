"""The API under schemathesis: whatever is asked, nothing breaks; and where something breaks, that is found."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from skilloscope.web.app import create_app
from skilloscope.web.jobs import Jobs
from web.conftest import Filled

Schema = Any
FEW = settings(max_examples=5, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))


@pytest.fixture
def own(filled: Filled, tmp_path: Path) -> Filled:
    """The same jobs in a file of their own: whatever is asked may cancel them, or let them wait again."""
    with (
        closing(sqlite3.connect(filled.jobs.path)) as source,
        closing(sqlite3.connect(tmp_path / "jobs.sqlite")) as copy,
    ):
        source.backup(copy)
    jobs = Jobs(tmp_path / "jobs.sqlite")
    return Filled(create_app(jobs, filled.safety), jobs, filled.safety, filled.done)


def schema_of(filled: Filled) -> Schema:
    return schemathesis.openapi.from_asgi("/openapi.json", filled.app, headers={"Host": "localhost"})


def broken(filled: Filled) -> list[str]:
    """Ask for everything, with ids of jobs that exist and without; return what broke."""
    found: list[str] = []
    schema = schema_of(filled)
    ids = [job.id for job in filled.done.values()] + ["nowhere"]
    headers = {"X-Skilloscope": "1", "Host": "localhost"}
    for result in schema.get_all_operations():
        operation = result.ok()

        @FEW
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            for name in ids if case.path_parameters and "job" in case.path_parameters else ids[:1]:
                if case.path_parameters and "job" in case.path_parameters:
                    case.path_parameters["job"] = name
                if case.operation.method.upper() == "DELETE" and name != "nowhere":
                    continue  # the others still need it
                reply = case.call(headers=headers)
                if reply.status_code >= 500 and reply.status_code != 503:
                    found.append(f"{case.method} {case.operation.path}: {reply.status_code}")

        ask()
    return found


def test_no_request_breaks_the_api(own: Filled):
    assert broken(own) == []


def test_a_fault_that_is_put_in_is_found(own: Filled, monkeypatch: pytest.MonkeyPatch):
    def fails(*_args: object, **_more: object) -> None:
        raise RuntimeError("put in")

    monkeypatch.setattr("skilloscope.web.api._game_numbers", fails)
    assert any("event: 500" in text for text in broken(own))


def test_the_schema_names_every_path_and_no_page(filled: Filled):
    paths = filled.client().get("/openapi.json").json()["paths"]
    assert {path for path in paths if not path.startswith("/api/")} == set()
    assert {"/api/jobs", "/api/moves", "/api/jobs/{job}/ratings", "/api/jobs/{job}/games/{number}"} <= set(paths)
