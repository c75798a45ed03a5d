"""The Python environments are set up side by side, and an interrupted set-up leaves nothing at work."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

SETUP = Path(__file__).parents[3] / "scripts" / "setup.sh"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_interrupted_ends_with_all_that_it_installs(tmp_path: Path, number: signal.Signals) -> None:
    install = f'ensure_environment() {{ sleep 300 & echo $! >"{tmp_path}/$1.pid"; wait; }}'
    command = f'trap - INT; ROOT={tmp_path}; . "{SETUP}"; {install}; ensure_environments dev; echo went on'
    running = subprocess.Popen(
        ["bash", "-euc", command],
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    installing = [psutil.Process(pid) for pid in wait_for_pids(tmp_path)]
    os.killpg(running.pid, number)
    said, _ = running.communicate(timeout=30)
    assert running.returncode != 0
    assert said == ""
    assert psutil.wait_procs(installing, timeout=30)[1] == []


def wait_for_pids(folder: Path) -> list[int]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [path.read_text() for path in folder.glob(".venv*.pid")]
        if len(found) == 3 and all(text.endswith("\n") for text in found):
            return [int(text) for text in found]
        time.sleep(0.02)
    raise AssertionError("not all of them began")


def test_one_that_fails_fails_the_set_up_and_is_said(tmp_path: Path) -> None:
    install = 'ensure_environment() { [ "$1" != .venv-kernels ]; }'
    done = subprocess.run(
        ["bash", "-euc", f'ROOT={tmp_path}; . "{SETUP}"; {install}; ensure_environments dev'],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert "The Python environments could not be set up." in done.stderr
