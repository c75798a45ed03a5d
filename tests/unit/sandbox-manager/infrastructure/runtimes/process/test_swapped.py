"""What the kernel tells of a process's memory, swapped out or not, and how it counts."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from sandbox_manager.infrastructure.runtimes.process import memory, memory_watch
from sandbox_manager.infrastructure.runtimes.process.memory import (
    Member,
    TablesAndSwap,
    parse_own_bytes,
    parse_tables_and_swap,
)
from sandbox_manager.infrastructure.runtimes.process.memory_watch import MemoryWatch
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

MIB = 1 << 20
ROLLUP = b"""55d000000000-7fff00000000 ---p 00000000 00:00 0 [rollup]
Rss:                3000 kB
Pss:                2000 kB
Pss_Anon:           1000 kB
Pss_File:            900 kB
Pss_Shmem:           100 kB
Swap:               9000 kB
SwapPss:            7000 kB
Locked:                0 kB
"""
STATUS = b"Name:\tpython3\nVmRSS:\t    3000 kB\nVmPTE:\t      64 kB\nVmSwap:\t    9000 kB\nThreads:\t1\n"


def test_what_is_swapped_out_is_a_processs_own_by_its_share() -> None:
    assert parse_own_bytes(ROLLUP.splitlines(keepends=True)) == (1000 + 100 + 7000) * 1024
    assert parse_own_bytes([]) is None


def test_tables_and_swap_are_told_beside_what_is_in_memory() -> None:
    assert parse_tables_and_swap(STATUS) == TablesAndSwap(64 * 1024, 9000 * 1024)
    assert parse_tables_and_swap(b"Name:\tx\nVmPTE:\t 8 kB\nThreads:\t1\n") == TablesAndSwap(8 * 1024, 0)


@pytest.mark.parametrize("can_be_told", [True, False])
def test_a_sandbox_whose_memory_is_swapped_out_is_over_it_all_the_same(
    can_be_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the machine came to swap, a sandbox could go on and on."""
    root, tool_api, hog = (ProcessRef(1 << 30 | number, number) for number in range(3))
    members = [Member(one, root.pid, MIB, 1) for one in (root, tool_api, hog)]
    ended: list[str] = []
    killed: list[ProcessRef] = []
    monkeypatch.setattr(memory_watch, "all_processes", dict)
    monkeypatch.setattr(memory_watch, "trees", lambda *_: {root: members})
    monkeypatch.setattr(memory_watch, "file_bytes", lambda _: 0)
    monkeypatch.setattr(
        memory_watch, "tables_and_swap", lambda pid: TablesAndSwap(0, 500 * MIB if pid == hog.pid else 0)
    )
    monkeypatch.setattr(memory, "own_bytes", lambda pid: (501 if pid == hog.pid else 1) * MIB if can_be_told else None)
    monkeypatch.setattr(ProcessRef, "kill", lambda process: killed.append(process))

    running = MappingProxyType({"one": root})
    MemoryWatch(memory_bytes=100 * MIB, tasks=9, running=lambda: running, end=lambda one, _: ended.append(one))()

    assert killed == [hog]
    assert ended == []
