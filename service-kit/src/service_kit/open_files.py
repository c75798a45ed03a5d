"""Deleted files that processes still hold: by descriptors, of which each thread may have a table of its own, and by
mappings."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator

from service_kit.tree_size import TreeSize

_BLOCK = 512
_LOOK_AT_CLOCK = 256
_DELETED = b" (deleted)\n"
_KCMP = {"x86_64": 312, "aarch64": 272}.get(os.uname().machine)
_KCMP_FILES = 2
_LESS, _GREATER = 1, 2
_libc = ctypes.CDLL(None)


def tasks(pid: int) -> list[int]:
    """The threads of a process, also if its first has ended; empty if the process is gone."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def descriptor_folders(pid: int) -> Iterator[str]:
    """The folders of a process's open descriptors: each table once if tables can be compared, else each thread's."""
    known: list[int] = []
    for task in tasks(pid):
        if not _is_known(task, known):
            yield f"/proc/{task}/fd"


def _is_known(task: int, known: list[int]) -> bool:
    """Whether one of the known tasks has the same table. They are in the kernel's order, and the task joins them."""
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) // 2
        order = _libc.syscall(_KCMP, known[middle], task, _KCMP_FILES, 0, 0) if _KCMP else -1
        if order == 0:
            return True
        if order == _LESS:
            low = middle + 1
        elif order == _GREATER:
            high = middle
        else:
            break
    known.insert(low, task)
    return False


def unlinked_size(
    pids: Iterable[int],
    device: int,
    under: str = "",
    *,
    deadline_s: float = float("inf"),
    clock: Callable[[], float] = time.monotonic,
) -> TreeSize:
    """The total size of the files found by `unlinked_files`."""
    sizes, complete = unlinked_files(pids, device, under, deadline_s=deadline_s, clock=clock)
    return TreeSize(sum(sizes.values()), len(sizes), complete=complete)


def unlinked_files(
    pids: Iterable[int],
    device: int,
    under: str = "",
    *,
    descriptors: bool = True,
    mappings: bool = True,
    deadline_s: float = float("inf"),
    clock: Callable[[], float] = time.monotonic,
) -> tuple[dict[int, int], bool]:
    """The sizes of a device's deleted files that these processes hold, by inode, and whether all were looked at; only
    files that were below the folder `under` as the processes see it, if one is given. Looking ends at the deadline by
    the clock, and leaves out descriptors or mappings if told to.

    Only root learns the size of a file that is held by a mapping alone; for others it counts as one of no bytes.
    """
    until = clock() + deadline_s
    found = _Unlinked(device, under, lambda: clock() > until)
    held = list(pids)
    looks = [found.look_at_descriptors] if descriptors else []
    looks += [found.look_at_mappings] if mappings else []
    for look in looks:
        for pid in held:
            look(pid)
    return found.sizes, found.complete


class _Unlinked:
    def __init__(self, device: int, under: str, is_late: Callable[[], bool]) -> None:
        self._device, self._under, self._is_late = device, under, is_late
        self._mapped = set[tuple[bytes, bytes]]()
        self.sizes: dict[int, int] = {}
        self.complete = True

    def look_at_descriptors(self, pid: int) -> None:
        for folder in descriptor_folders(pid):
            with contextlib.suppress(OSError), os.scandir(folder) as held:
                for seen, one in enumerate(held):
                    if seen % _LOOK_AT_CLOCK == 0 and self._is_over():
                        return
                    with contextlib.suppress(OSError):
                        found = one.stat()
                        if self._is_deleted_file(found) and self._is_below(os.readlink(one.path)):
                            self.sizes[found.st_ino] = found.st_blocks * _BLOCK

    def look_at_mappings(self, pid: int) -> None:
        for task in tasks(pid):
            is_readable = False
            with contextlib.suppress(OSError), open(f"/proc/{task}/maps", "rb") as lines:
                for seen, line in enumerate(lines):
                    if seen % _LOOK_AT_CLOCK == 0 and self._is_over():
                        return
                    is_readable = True
                    if line.endswith(_DELETED):
                        self._look_at_mapping(task, line)
            if is_readable:
                return  # all threads of a process that live share its memory

    def _is_over(self) -> bool:
        if self._is_late():
            self.complete = False
        return not self.complete

    def _look_at_mapping(self, task: int, line: bytes) -> None:
        place, _, _, device, inode, path = line.split(None, 5)
        if (device, inode) in self._mapped or not self._is_below(os.fsdecode(path)):
            return
        self._mapped.add((device, inode))
        first, last = (int(one, 16) for one in place.split(b"-"))
        try:
            found = os.stat(f"/proc/{task}/map_files/{first:x}-{last:x}")
        except PermissionError:
            major, minor = (int(one, 16) for one in device.split(b":"))
            if os.makedev(major, minor) == self._device:
                self.sizes.setdefault(int(inode), 0)
        except OSError:
            self._mapped.discard((device, inode))
        else:
            if self._is_deleted_file(found):
                self.sizes[found.st_ino] = found.st_blocks * _BLOCK

    def _is_deleted_file(self, found: os.stat_result) -> bool:
        return not found.st_nlink and found.st_dev == self._device and stat.S_ISREG(found.st_mode)

    def _is_below(self, path: str) -> bool:
        return not self._under or path.startswith(f"{self._under}/")
