"""Holding a tree of processes still where there is no cgroup for it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process.freezer import Freezer
from sandbox_manager.infrastructure.runtimes.process.processes import reference

# A chain in which each process starts the next and ends: no two looks find the same ones. Beside it one that counts.
_RESTLESS = """
import os, sys, time
log = open(sys.argv[1], "a", buffering=1)
if os.fork() == 0:
    while True:
        log.write("x\\n"); time.sleep(0.001)
while True:
    pid = os.fork()
    if pid == 0:
        log.write("y\\n")
        if os.fork() == 0:
            log.write("z\\n"); time.sleep(0.005)
        os._exit(0)
    os.waitpid(pid, 0)
"""

# PR_SET_NAME takes any bytes.
_RENAMED = r"""
import ctypes, sys
ctypes.CDLL(None).prctl(15, b"\xff) S", 0, 0, 0)
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def freezer(log: Path) -> Generator[Freezer]:
    # Its own pid namespace, as a sandbox has: orphans stay inside, and all end with the first.
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--fork",
        "--pid",
        "--kill-child",
        sys.executable,
        "-c",
        _RESTLESS,
        str(log),
    ]
    process = subprocess.Popen(command)
    until(lambda: log.exists() and log.stat().st_size > 100)
    root = reference(process.pid)
    assert root is not None
    yield Freezer([], root)
    process.kill()
    process.wait(10)


def until(condition: Callable[[], bool], within_s: float = 15) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.01)


def test_no_process_of_a_restless_tree_does_anything_while_it_is_held(freezer: Freezer, log: Path) -> None:
    for _ in range(5):
        freezer.freeze()
        written = log.stat().st_size
        time.sleep(0.1)
        assert freezer.frozen
        assert log.stat().st_size == written

        freezer.thaw()
        assert not freezer.frozen
        until(lambda before=written: log.stat().st_size > before + 100)


def test_a_process_whose_name_is_no_text_is_held_let_go_and_ended_as_any_other() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _RENAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert Path(f"/proc/{process.pid}/comm").read_bytes() == b"\xff) S\n"
        try:
            root = reference(process.pid)
            assert root is not None
            freezer = Freezer([], root)
            freezer.freeze()
            assert freezer.frozen
            freezer.thaw()
            assert not freezer.frozen
            root.kill()
            process.wait(5)
            assert not root.is_alive
        finally:
            process.kill()
