"""How much memory processes take up, where no cgroup counts it: one cheap look for all, and an exact one for a few."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, stat_fields
from service_kit.open_files import tasks

_PAGE = os.sysconf("SC_PAGE_SIZE")
_KIB = 1024
_IN_MEMORY = ("/tmp", "/var/tmp", "/home/agent", "/skills", "/dev/shm", "/run")
_INODE_BYTES = 1024
_LOOKS = 5
_EXACT_CPU_S = 0.5
_OWN = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
_STATUS_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Member:
    """One process: what it has in memory, shared pages included, and how many tasks it is."""

    process: ProcessRef
    parent: int
    resident_bytes: int
    tasks: int


def all_processes() -> dict[int, Member]:
    """Every living process of the machine, by pid."""
    found: dict[int, Member] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                member = _member(int(name))
                if member is not None:
                    found[member.process.pid] = member
    return found


def _member(pid: int) -> Member | None:
    fields = stat_fields(pid)
    state, threads, resident = fields[0], int(fields[17]), int(fields[21])
    if state == b"X" or (state == b"Z" and threads <= 1):
        return None
    if state == b"Z":
        # Its first thread has ended and tells of no memory. Where all others vanish too, its children still count.
        resident = next((int(found[21]) for found in _threads(pid)), 0)
    return Member(ProcessRef(pid, int(fields[19])), int(fields[1]), resident * _PAGE, threads)


def _threads(pid: int) -> Iterator[list[bytes]]:
    """What each living thread but the first tells of its process; some more looks for threads that come and go."""
    for _ in range(_LOOKS):
        for task in tasks(pid):
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = stat_fields(task)
                if task != pid and fields[0] not in (b"Z", b"X"):
                    yield fields


def trees(processes: dict[int, Member], roots: Iterable[ProcessRef]) -> dict[ProcessRef, list[Member]]:
    """Each root with all that descends from it; nothing for one that is gone."""
    children: dict[int, list[Member]] = {}
    for member in processes.values():
        children.setdefault(member.parent, []).append(member)
    found: dict[ProcessRef, list[Member]] = {}
    for root in roots:
        first = processes.get(root.pid)
        members = [first] if first is not None and first.process == root else []
        for member in members:
            members += children.get(member.process.pid, [])
        found[root] = members
    return found


def spared(root: ProcessRef, members: list[Member]) -> set[ProcessRef]:
    """The outermost process, and its first child, which is the tool API; orphans that come to it later are younger."""
    children = [one.process for one in members if one.parent == root.pid]
    return {root, min(children, key=lambda one: one.started, default=root)}


def own_bytes(pid: int) -> int | None:
    """Memory and swap of a process that is no file's, pages it shares counted by its share.

    None when the kernel does not report it.
    """
    for task in (pid, *tasks(pid)):
        found = _own_bytes(task)
        if found is not None:
            return found
    return None


@dataclass(frozen=True, slots=True)
class ExactSizes:
    """Bytes that each process has for itself, and the seconds of processor time it took to find out."""

    sizes: dict[ProcessRef, int]
    took_s: float


def exact_sizes(in_full: Mapping[ProcessRef, int]) -> ExactSizes:
    """Of processes with what each has in memory and in swap, which counts where there is no time left to look. The
    kernel may block it."""
    began = time.thread_time()
    found: dict[ProcessRef, int] = {}
    for process in sorted(in_full, key=lambda one: in_full[one], reverse=True):
        own = own_bytes(process.pid) if time.thread_time() - began <= _EXACT_CPU_S else None
        found[process] = in_full[process] if own is None else own
    return ExactSizes(found, time.thread_time() - began)


def _own_bytes(task: int) -> int | None:
    try:
        with open(f"/proc/{task}/smaps_rollup", "rb") as lines:
            return parse_own_bytes(lines)
    except (OSError, ValueError):
        return None


def parse_own_bytes(lines: Iterable[bytes]) -> int | None:
    """From the lines of `smaps_rollup`: in memory and swapped out. Raises `ValueError`."""
    found = [int(line.split()[1]) * _KIB for line in lines if line.startswith(_OWN)]
    return sum(found) if found else None


class TablesAndSwap(NamedTuple):
    """Bytes of page tables and of swap of a process; shared swap counts for each process that shares it."""

    tables: int
    swapped: int


def tables_and_swap(pid: int) -> TablesAndSwap:
    """The page tables and the swap of a process; zeros when it is gone."""
    for task in (pid, *tasks(pid)):
        with contextlib.suppress(OSError, IndexError, ValueError):
            file = os.open(f"/proc/{task}/status", os.O_RDONLY | os.O_CLOEXEC)
            try:
                status = os.read(file, _STATUS_BYTES)
            finally:
                os.close(file)
            if b"\nVmPTE:" in status:
                return parse_tables_and_swap(status)
    return TablesAndSwap(0, 0)


def parse_tables_and_swap(status: bytes) -> TablesAndSwap:
    """From the text of `/proc/<pid>/status`. Raises `IndexError`, `ValueError`."""
    tables, swapped = (
        int(status.partition(name)[2].split(None, 1)[0]) * _KIB if name in status else 0
        for name in (b"\nVmPTE:", b"\nVmSwap:")
    )
    return TablesAndSwap(tables, swapped)


def file_bytes(pid: int) -> int:
    """What the file systems in memory that a process sees hold, as bytes and as entries.

    Those of this machine don't count: for a moment of its start, longer on a busy machine, the first process of a
    sandbox still sees them, with all that is on the disk.
    """
    total, of_machine = 0, {device for path in _IN_MEMORY if (device := _device(path)) is not None}
    for path in _IN_MEMORY:
        with contextlib.suppress(OSError):
            folder = os.open(f"/proc/{pid}/root{path}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                if os.fstat(folder).st_dev in of_machine:
                    continue
                found = os.fstatvfs(folder)
            finally:
                os.close(folder)
            total += (found.f_blocks - found.f_bfree) * found.f_frsize
            total += (found.f_files - found.f_ffree) * _INODE_BYTES
    return total


def _device(path: str) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(path).st_dev
    return None
