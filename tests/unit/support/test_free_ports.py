"""Ports that tests draw for servers of theirs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import servers

PROGRAM = """
import sys
from support import servers
draw, offsets = servers.secrets.randbelow, iter([int(sys.argv[1]) - 15_000])
servers.secrets.randbelow = lambda count: next(offsets, None) or draw(count)
print(servers.free_port())
"""


def test_a_port_is_drawn_once_also_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = servers.free_port()
    draw, offsets = servers.secrets.randbelow, iter([drawn - 15_000])
    monkeypatch.setattr(servers.secrets, "randbelow", lambda count: next(offsets, None) or draw(count))
    assert servers.free_port() != drawn
    assert next(offsets, None) is None

    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(drawn)],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(told.stdout) != drawn
