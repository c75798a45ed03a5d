"""Memory counts wherever a process holds it: behind a first thread that has ended, in a thread's own descriptors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from sandbox_manager.infrastructure.runtimes.process.descriptors import bytes_held, memory_files
from sandbox_manager.infrastructure.runtimes.process.limits import Limits
from sandbox_manager.infrastructure.runtimes.process.memory import (
    all_processes,
    file_bytes,
    own_bytes,
    trees,
)
from sandbox_manager.infrastructure.runtimes.process.memory_watch import MemoryWatch
from sandbox_manager.infrastructure.runtimes.process.processes import reference
from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile

MIB = 1 << 20

HOLDER = """
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
def hold():
    if sys.argv[1] == "table":
        assert libc.unshare(0x400) == 0
        os.write(os.memfd_create("held"), bytes(32 << 20))
    held = b"x" * (64 << 20)
    child = os.fork()
    print(child or "", flush=True) if child else time.sleep(60)
    time.sleep(60)
threading.Thread(target=hold).start()
if sys.argv[1] == "ended":
    libc.pthread_exit(None)
"""


@contextmanager
def holder(how: str) -> Generator[tuple[int, int]]:
    """A process that holds 64 MiB, and its child."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, how], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            yield process.pid, child
        finally:
            process.kill()
            os.kill(child, 9)


def test_a_process_whose_first_thread_has_ended_counts_and_can_be_ended() -> None:
    with holder("ended") as (pid, child):
        found = reference(pid)
        assert found is not None
        itself = reference(os.getpid())
        assert itself is not None
        members = {one.process.pid: one for one in trees(all_processes(), [itself])[itself]}
        assert {pid, child} <= members.keys()
        assert members[pid].resident_bytes >= 64 * MIB
        assert (own_bytes(pid) or 0) >= 32 * MIB, "half of it is the child's"
        found.kill()
        os.waitpid(pid, 0)
        assert not found.is_alive


def test_memory_of_a_threads_own_descriptors_counts() -> None:
    with holder("table") as (pid, _):
        assert sum(bytes_held([pid], memory_files()).by_process[pid].values()) == 32 * MIB


FILL = "head -c 8388608 /dev/zero >/tmp/held; echo ready; read -r _"


def test_only_file_systems_of_its_own_count_as_a_sandboxs() -> None:
    """`/var/tmp` is this machine's here, as all are in the first moment of a start."""
    command = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp", "--", "sh", "-c", FILL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        assert running.stdout.readline() == b"ready\n"
        (child,) = psutil.Process(running.pid).children()
        held = file_bytes(child.pid)
        running.stdin.close()
    assert 8 * MIB <= held < 9 * MIB


def test_a_sandbox_that_still_sees_the_file_systems_of_the_machine_is_not_ended_for_what_they_hold() -> None:
    limit = 256 * MIB
    seen = os.statvfs("/var/tmp")
    assert (seen.f_blocks - seen.f_bfree) * seen.f_frsize > limit
    ended: list[str] = []
    with subprocess.Popen(["sleep", "60"]) as first:
        root = reference(first.pid)
        running = {"starting": root} if root is not None else {}
        MemoryWatch(limit, 100, lambda: running, lambda one, _: ended.append(one))()
        is_alive = first.poll() is None
        first.kill()
    assert running
    assert is_alive
    assert ended == []


@pytest.mark.skipif(
    not Path("/sys/fs/cgroup/memory/memory.kmem.tcp.limit_in_bytes").exists() or os.geteuid() != 0,
    reason="needs root and cgroup v1",
)
def test_buffers_of_tcp_are_limited_where_no_other_limit_counts_them() -> None:
    inside = SandboxProfile(
        desktop=False,
        bash_timeout=10,
        allowed_commands="",
        max_upload_bytes=MIB,
        memory_bytes=256 * MIB,
        cpus=1,
        pids=100,
    )
    limits = Limits("cgroup v1", inside)
    name = f"test-{os.getpid()}"
    try:
        folders = {folder.parent.parent.name: folder for folder in limits.group(name)}
        assert int((folders["memory"] / "memory.kmem.tcp.limit_in_bytes").read_text()) == 64 * MIB
    finally:
        limits.remove_group(name)
