"""What a sandbox has open, in all its processes together: bounded, so that looking through it is."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterable

from contracts.open_files import descriptor_folders
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

MOST = 16_384
"""How many descriptors all processes of a sandbox may have together: a desktop with a browser at work has some
thousands, and a look through so many takes a tenth of a second."""
_BLOCK = 512
_STATUS_BYTES = 4096


def memory_device() -> int:
    """The device of memory that is held by descriptors and has no name."""
    probe = os.memfd_create("probe", os.MFD_CLOEXEC)
    try:
        return os.fstat(probe).st_dev
    finally:
        os.close(probe)


def bytes_held(pids: Iterable[int], device: int) -> dict[int, dict[int, int]]:
    """Memory that each process holds by descriptors, by inode; it looks at `MOST` of them."""
    found: dict[int, dict[int, int]] = {}
    left = MOST
    for pid in pids:
        held = found[pid] = {}
        for folder in descriptor_folders(pid):
            with contextlib.suppress(OSError):
                left -= _look_through(folder, device, held, left)
            if left < 0:
                return found
    return found


def are_too_many(pids: Iterable[int]) -> bool:
    """Whether these processes have more than `MOST` open."""
    left = MOST
    for pid in pids:
        for folder in descriptor_folders(pid):
            with contextlib.suppress(OSError):
                left -= len(os.listdir(folder))
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


def _table_size(folder: str) -> int:
    with (
        contextlib.suppress(OSError, IndexError, ValueError),
        open(f"{os.path.dirname(folder)}/status", "rb", 0) as file,
    ):
        return int(file.read(_STATUS_BYTES).partition(b"\nFDSize:")[2].split(None, 1)[0])
    return 0
