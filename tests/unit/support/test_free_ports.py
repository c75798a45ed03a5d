"""Ports that tests draw for servers of theirs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import servers


def test_a_port_is_drawn_once_also_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = servers.free_port()
    offsets = iter([drawn - 15_000, drawn - 15_000, 7_001])
    monkeypatch.setattr(servers.secrets, "randbelow", lambda _: next(offsets))
    assert servers.free_port() == 22_001
    monkeypatch.undo()

    program = (
        "from support import servers\n"
        f"offsets = iter([{drawn - 15_000}, 7_002])\n"
        "servers.secrets.randbelow = lambda _: next(offsets)\n"
        "print(servers.free_port())\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["22002"]
