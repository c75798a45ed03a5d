"""What a sandbox has open, in all its processes together: bounded, so that looking through it is."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sandbox_manager.infrastructure.runtimes.process.hidden_files import (
    ProbeError,
    hidden_files,
    hides,
    info_folder,
)
from sandbox_manager.infrastructure.runtimes.process.hidden_program import mount_of
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef
from service_kit.open_files import descriptor_folders

MOST = 16_384
"""How many descriptors all processes of a sandbox may have together: a desktop with a browser at work has some
thousands, and a look through so many takes a tenth of a second."""
_TIMEOUT_S = 2.0
_CPU_S = 1.0
"""Of a look. What the kernel tells of one descriptor may take it milliseconds: all that an epoll instance watches."""
_BLOCK = 512
_STATUS_BYTES = 4096


@dataclass(frozen=True, slots=True)
class MemoryFiles:
    """The device and the mount by which unnamed memory files (`memfd_create`) are recognised."""

    device: int
    mount: bytes


def memory_files() -> MemoryFiles:
    """Those of this machine."""
    probe = os.memfd_create("probe", os.MFD_CLOEXEC)
    try:
        return MemoryFiles(os.fstat(probe).st_dev, mount_of(f"/proc/self/fdinfo/{probe}"))
    finally:
        os.close(probe)


@dataclass(frozen=True, slots=True)
class DescriptorMemory:
    """Bytes of memory files that each process holds open, by pid and inode; the processes that were not looked through
    in time; how many seconds it took, of this thread's processor and of the probe; and the fault that kept it from
    running."""

    by_process: dict[int, dict[int, int]]
    unanswered: list[int]
    took_s: float
    fault: str | None = None


def bytes_held(pids: Sequence[int], memory: MemoryFiles) -> DescriptorMemory:
    """Looks at no more than `MOST` descriptors, and for no more than a second of processor time."""
    found: dict[int, dict[int, int]] = {}
    hiding: list[int] = []
    budget = _Budget(MOST, time.thread_time() + _CPU_S)
    for place, pid in enumerate(pids):
        held = found[pid] = {}
        for folder in descriptor_folders(pid):
            with contextlib.suppress(OSError):
                if not hides(folder):
                    _look_through(folder, memory.device, held, budget)
                elif _has_memory(info_folder(folder), memory.mount, budget) and pid not in hiding:
                    hiding.append(pid)
            if budget.is_late:
                return DescriptorMemory(found, [*pids[place:]], budget.took_s)
            if budget.descriptors < 0:
                return _with_hidden(found, hiding, memory, budget)
    return _with_hidden(found, hiding, memory, budget)


@dataclass(slots=True)
class _Budget:
    """How many descriptors may still be looked at, and until when by the processor time of this thread."""

    descriptors: int
    until: float

    @property
    def is_late(self) -> bool:
        return time.thread_time() > self.until

    @property
    def took_s(self) -> float:
        return time.thread_time() - self.until + _CPU_S

    def spend(self, names: list[str]) -> Iterator[str]:
        """Those of the names that may be looked at: none when there are too many, and no more once it is late."""
        is_enough = len(names) <= self.descriptors
        self.descriptors -= len(names)
        return itertools.takewhile(lambda _: not self.is_late, names if is_enough else ())


def _with_hidden(
    found: dict[int, dict[int, int]], hiding: Sequence[int], memory: MemoryFiles, budget: _Budget
) -> DescriptorMemory:
    began = time.monotonic() - budget.took_s
    try:
        hidden, unanswered = hidden_files(hiding, _TIMEOUT_S)
    except ProbeError as error:
        return DescriptorMemory(found, [], time.monotonic() - began, str(error))
    for one in hidden:
        if one.device == memory.device:
            found[one.pid][one.inode] = one.bytes
    return DescriptorMemory(found, unanswered, time.monotonic() - began)


def _has_memory(folder: str, mount: bytes, budget: _Budget) -> bool:
    """Whether memory is among the descriptors."""
    return any(mount_of(f"{folder}/{name}") == mount for name in budget.spend(os.listdir(folder)))


def are_too_many(pids: Iterable[int]) -> bool:
    """Whether these processes have more than `MOST` open."""
    left = MOST
    for pid in pids:
        for folder in descriptor_folders(pid):
            with contextlib.suppress(OSError):
                left -= len(_names(folder))
            if left < 0:
                return True
    return False


def most_open(processes: Iterable[ProcessRef], kept: Collection[ProcessRef]) -> list[ProcessRef]:
    """Those that have to go, most first, so that the others certainly have no more than `MOST` open; none of the kept.

    By the size of their tables, which is read at once, and stays when what was open is closed for the moment of a look.
    """
    sizes = {process: sum(map(_table_size, descriptor_folders(process.pid))) for process in processes}
    over = sum(sizes.values()) - MOST
    chosen: list[ProcessRef] = []
    for process in sorted(sizes.keys() - set(kept), key=lambda one: (sizes[one], one.started), reverse=True):
        if over <= 0:
            break
        chosen.append(process)
        over -= sizes[process]
    return chosen


def _look_through(folder: str, device: int, held: dict[int, int], budget: _Budget) -> None:
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in budget.spend(os.listdir(at)):
            with contextlib.suppress(OSError):
                about = os.stat(name, dir_fd=at)
                if about.st_dev == device and stat.S_ISREG(about.st_mode):
                    held[about.st_ino] = about.st_blocks * _BLOCK
    finally:
        os.close(at)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except PermissionError:
        return os.listdir(info_folder(folder))


def _table_size(folder: str) -> int:
    with (
        contextlib.suppress(OSError, IndexError, ValueError),
        open(f"{os.path.dirname(folder)}/status", "rb", 0) as file,
    ):
        return int(file.read(_STATUS_BYTES).partition(b"\nFDSize:")[2].split(None, 1)[0])
    return 0
