"""The recipe of docs/cluster.md for a cluster with certificates: as it is written there, with two real workers."""

from __future__ import annotations

import os
import re
import shlex
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from real_cluster import PATIENCE, ROOT, Cluster, wait_until
from skilloscope.inputs.bundled import demo_file

GAME = demo_file("game_of_the_century.pgn")


def recipe() -> list[str]:
    """Return the lines of the recipe."""
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```text\n(openssl req .*?)```", text, flags=re.DOTALL)
    return block.splitlines()


def variables(folder: Path) -> dict[str, str]:
    """Return what the recipe's shell has exported, once it has made key and certificate in the folder."""
    first = next(n for n, line in enumerate(recipe()) if line.startswith("dask "))
    script = "\n".join([*recipe()[:first], "env -0"])
    done = subprocess.run(["bash", "-ec", script], cwd=folder, capture_output=True, text=True, check=True)
    found = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if entry.startswith("DASK_"))
    return {name: str(folder / value) if value.endswith(".pem") else value for name, value in found.items()}


def answered(address: str) -> bytes:
    """Return what somebody without a certificate hears there."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, port = address.removeprefix("tls://").split(":")
    with (
        socket.create_connection((host, int(port)), timeout=PATIENCE) as plain,
        context.wrap_socket(plain) as secured,
    ):
        return secured.recv(100)


def test_games_are_analysed_by_workers_with_certificates_and_nobody_else_is_let_in(
    tmp_path: Path, stockfish: Path
) -> None:
    assert shlex.split(recipe()[-1])[:2] == ["skilloscope", "analyse"]
    exported = variables(tmp_path)
    assert len(exported) == 8
    with Cluster(tmp_path / "cluster", exported, protocol="tls") as cluster:
        assert cluster.address.startswith("tls://")
        cluster.start_workers(2)
        wait_until(lambda: (cluster.folder / "log").read_text().count("Registered to:") == 2)
        command = [sys.executable, "-m", "skilloscope", "analyse", str(GAME), "--scheduler", cluster.address]
        options = ["--engine", str(stockfish), "--depth", "3", "--multipv", "2", "--store", str(tmp_path / "store")]
        done = subprocess.run(
            [*command, *options], env=os.environ | exported, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Stockfish" in done.stdout
        with pytest.raises((ssl.SSLError, ConnectionError)):
            answered(cluster.address)
