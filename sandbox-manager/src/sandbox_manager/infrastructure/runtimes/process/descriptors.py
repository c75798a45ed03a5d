"""What a sandbox has open, in all its processes together: bounded, so that looking through it is."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Collection, Iterable, Sequence
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
    """Bytes of memory files that each process holds open, by pid and inode; the processes that hide their descriptors
    and were not probed in time; how many seconds the probe took; and the fault that kept it from running."""

    by_process: dict[int, dict[int, int]]
    unanswered: list[int]
    probe_s: float
    fault: str | None = None


def bytes_held(pids: Iterable[int], memory: MemoryFiles) -> DescriptorMemory:
    """Looks at no more than `MOST` descriptors."""
    found: dict[int, dict[int, int]] = {}
    hiding: list[int] = []
    left = MOST
    for pid in pids:
        held = found[pid] = {}
        for folder in descriptor_folders(pid):
            with contextlib.suppress(OSError):
                if not hides(folder):
                    left -= _look_through(folder, memory.device, held, left)
                else:
                    seen, is_one = _hides_memory(info_folder(folder), memory.mount, left)
                    left -= seen
                    hiding += [pid] if is_one and pid not in hiding else []
            if left < 0:
                return _with_hidden(found, hiding, memory)
    return _with_hidden(found, hiding, memory)


def _with_hidden(found: dict[int, dict[int, int]], hiding: Sequence[int], memory: MemoryFiles) -> DescriptorMemory:
    began = time.monotonic()
    try:
        hidden, unanswered = hidden_files(hiding, _TIMEOUT_S)
    except ProbeError as error:
        return DescriptorMemory(found, [], time.monotonic() - began, str(error))
    for one in hidden:
        if one.device == memory.device:
            found[one.pid][one.inode] = one.bytes
    return DescriptorMemory(found, unanswered, time.monotonic() - began)


def _hides_memory(folder: str, mount: bytes, most: int) -> tuple[int, bool]:
    """How many descriptors there are, and whether memory is among them."""
    names = os.listdir(folder)
    return len(names), len(names) <= most and any(mount_of(f"{folder}/{name}") == mount for name in names)


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


def greediest(processes: Iterable[ProcessRef], kept: Collection[ProcessRef]) -> list[ProcessRef]:
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


def _look_through(folder: str, device: int, held: dict[int, int], most: int) -> int:
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        names = os.listdir(at)
        for name in names if len(names) <= most else ():
            with contextlib.suppress(OSError):
                about = os.stat(name, dir_fd=at)
                if about.st_dev == device and stat.S_ISREG(about.st_mode):
                    held[about.st_ino] = about.st_blocks * _BLOCK
    finally:
        os.close(at)
    return len(names)


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
