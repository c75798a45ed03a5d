"""Measures one workspace: its files, and deleted files that are still held open in its sandbox.

    python -S -P -m ... FOLDER FIRST_PROCESS SECONDS

A program of its own, because the kernel may block a look at a process for minutes, and because a large workspace would
hold up the manager. It writes a line for each of three looks (the tree, open descriptors, mappings), each with the sum
so far: bytes, files, whether all was seen, bytes of deleted files. If it is ended early, the lines so far still count.

The seconds are of processor time, once for the tree and once for open files: their reach depends on the workspace, not
on the machine's load.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypedDict

from service_kit.open_files import descriptor_folders, tasks, unlinked_files
from service_kit.tree_size import TreeSize, tree_size

_QUIET_ROUNDS = 3
_ROUNDS_CPU_S = 1.0
"""Seconds of processor time for new processes: one may pass a file on to a child and end before it is looked at, so new
ones are searched until some rounds find none."""
_YIELDS = 5
"""The niceness of a measure, which no person waits for: twenty hostile workspaces take half a processor to measure. It
still comes before the sandboxes, or a busy one would never be measured."""
_PIDFD_OPEN, _PIDFD_GETFD, _PIDFD_THREAD = 434, 438, os.O_EXCL
_BLOCK = 512
_INFO_BYTES = 512
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Measure the workspace that the arguments name."""
    folder, first, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    os.nice(_YIELDS)
    try:
        size = tree_size(folder, deadline_s=seconds, clock=time.process_time)
        held = _HeldFiles(os.stat(folder).st_dev, time.process_time() + seconds)
    except FileNotFoundError:
        _write(TreeSize(0, 0), _HeldFiles(0, 0.0))
        return
    _write(size, held)
    quiet, until = 0, time.process_time() + _ROUNDS_CPU_S
    while quiet < _QUIET_ROUNDS:
        found = [held.look_at_descriptors(pid) for pid in descendants(first)]
        quiet = 0 if any(found) and time.process_time() < until else quiet + 1
    _write(size, held)
    held.look_at_mappings()
    _write(size, held)


class _Bounds(TypedDict):
    deadline_s: float
    clock: Callable[[], float]


@dataclass(slots=True)
class _HeldFiles:
    """Deleted files of one device that processes hold open, their bytes by inode; `until` is of processor time."""

    device: int
    until: float
    sizes: dict[int, int] = field(default_factory=dict[int, int])
    complete: bool = True
    _seen: dict[int, None] = field(default_factory=dict[int, None])
    _without_files: set[bytes] = field(default_factory=lambda: _mounts_without_files())

    def look_at_descriptors(self, pid: int) -> bool:
        """Look at the open files of a process; returns whether it is looked at for the first time."""
        if pid in self._seen or not self._has_time():
            return False
        self._seen[pid] = None
        self._add(*unlinked_files([pid], self.device, mappings=False, **self._bounds()))
        for folder in descriptor_folders(pid):
            if _is_closed(folder):
                with contextlib.suppress(OSError):
                    self._look_at_copies(int(folder.split("/")[2]))
        return True

    def look_at_mappings(self) -> None:
        """Look at the mappings of all processes that were looked at."""
        self._add(*unlinked_files(self._seen, self.device, descriptors=False, **self._bounds()))

    def _look_at_copies(self, task: int) -> None:
        """Look at copies of an undumpable process's open files, which only root may list. The maker of its user
        namespace may trace it, though, and so copy its descriptors: all that can be files."""
        handle = _pidfd(task)
        try:
            for name in os.listdir(f"/proc/{task}/fdinfo"):
                if not self._has_time():
                    return
                if _mount_of(f"/proc/{task}/fdinfo/{name}") in self._without_files:
                    continue
                with contextlib.suppress(OSError):
                    copy = _syscall(_PIDFD_GETFD, handle, int(name), 0)
                    try:
                        about = os.fstat(copy)
                    finally:
                        os.close(copy)
                    if stat.S_ISREG(about.st_mode) and not about.st_nlink and about.st_dev == self.device:
                        self._add({about.st_ino: about.st_blocks * _BLOCK}, complete=True)
        finally:
            os.close(handle)

    def _add(self, sizes: dict[int, int], complete: bool) -> None:
        for inode, size in sizes.items():
            self.sizes[inode] = max(size, self.sizes.get(inode, 0))
        self.complete &= complete

    def _bounds(self) -> _Bounds:
        return {"deadline_s": self.until - time.process_time(), "clock": time.process_time}

    def _has_time(self) -> bool:
        if time.process_time() > self.until:
            self.complete = False
        return self.complete


def _write(size: TreeSize, held: _HeldFiles) -> None:
    deleted = sum(held.sizes.values())
    complete = int(size.complete and held.complete)
    sys.stdout.write(f"{size.bytes + deleted} {size.files + len(held.sizes)} {complete} {deleted}\n")
    sys.stdout.flush()


def descendants(pid: int) -> Iterator[int]:
    """A process and all that descend from it, each as soon as it is found: it may end a moment later."""
    waiting = [pid]
    while waiting:
        pid = waiting.pop()
        yield pid
        for task in tasks(pid):
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/task/{task}/children", "rb") as children:
                waiting += map(int, children.read().split())


def _is_closed(folder: str) -> bool:
    """Whether this folder of descriptors is closed to this user."""
    try:
        os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _pidfd(task: int) -> int:
    try:
        return _syscall(_PIDFD_OPEN, task, _PIDFD_THREAD)
    except OSError:  # before Linux 6.9 only the first thread of a process
        return _syscall(_PIDFD_OPEN, task, 0)


def _syscall(number: int, *arguments: int) -> int:
    answered = int(_libc.syscall(number, *arguments))
    if answered < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return answered


def _mounts_without_files() -> set[bytes]:
    """The kernel's own mounts, of sockets and pipes and of files without an inode of their own: closing the copy of a
    socket may take as long as the other side likes."""
    with socket.socket(socket.AF_UNIX) as one, contextlib.ExitStack() as stack:
        reader, writer = os.pipe()
        event = os.eventfd(0)
        for file in {reader, writer, event}:
            stack.callback(os.close, file)
        return {_mount_of(f"/proc/self/fdinfo/{file}") for file in (one.fileno(), reader, event)} - {b""}


def _mount_of(info: str) -> bytes:
    """The mount of an open file by its `/proc` entry; empty if that can't be read."""
    with contextlib.suppress(OSError, IndexError), open(info, "rb", 0) as file:
        return file.read(_INFO_BYTES).partition(b"mnt_id:")[2].split(None, 1)[0]
    return b""


if __name__ == "__main__":
    main()
