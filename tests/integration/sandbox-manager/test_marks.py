"""Marks on real processes: of this pid namespace, and of one below it, as those of a sandbox are."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sandbox_manager.infrastructure.runtimes.process.launch import MARK
from sandbox_manager.infrastructure.runtimes.process.processes import kill_marked, marked

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is not installed")

SHUT_IN = ["bwrap", "--unshare-all", "--die-with-parent", "--dev-bind", "/", "/", "--proc", "/proc", "--"]
SEVERAL = 'n=0; while [ $n -lt 40 ]; do env "$0=$1" sleep 60 & n=$((n + 1)); done; echo ready; wait'


@contextmanager
def inside(own: str, worn: str) -> Iterator[subprocess.Popen[str]]:
    """Forty processes shut in that wear a mark of their own choosing; the one outside has the true one."""
    command = [*SHUT_IN, "sh", "-c", SEVERAL, MARK, worn]
    running = subprocess.Popen(command, env={**os.environ, MARK: own}, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        yield running
    finally:
        running.kill()
        running.wait(10)
        if running.stdout is not None:
            running.stdout.close()


def test_a_mark_counts_only_on_what_nobody_inside_can_have_started() -> None:
    own, worn = secrets.token_hex(8), secrets.token_hex(8)
    with inside(own, worn) as running:
        found = marked(MARK)

        assert worn not in found
        assert running.pid in [one.pid for one in found[own]]


def test_the_first_process_of_a_namespace_is_not_believed_either() -> None:
    """It runs what somebody inside may have changed, its environment among it."""
    own, worn = secrets.token_hex(8), secrets.token_hex(8)
    command = [*SHUT_IN[:-1], "--as-pid-1", "--setenv", MARK, worn, "--", "sh", "-c", "echo ready; exec sleep 60"]
    running = subprocess.Popen(command, env={**os.environ, MARK: own}, stdout=subprocess.PIPE, text=True)
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        found = marked(MARK)
        running.kill()

    assert worn not in found
    assert [one.pid for one in found[own]] == [running.pid]


def test_what_is_ended_by_its_mark_is_neither_who_wears_it_inside_nor_kept_alive_by_them() -> None:
    victim, hostile = secrets.token_hex(8), secrets.token_hex(8)
    with inside(hostile, victim) as running, inside(victim, "none") as ended:
        began = time.monotonic()

        assert kill_marked(MARK, victim, 5.0)

        assert time.monotonic() - began < 4
        ended.wait(5)
        assert running.poll() is None
        assert victim not in marked(MARK)
