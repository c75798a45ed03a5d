"""Tells of each process it is asked for which deleted files and memory without a name it has open, as JSON lines of
`[device, inode, bytes]`, and `null` when it begins and when it is through with each process.

Of a process that made itself undumpable only root may look into `/proc/<pid>/fd`. Who made its user namespace has the
right to trace it, though, and so to have a copy of what it has open. To let go of a copy may take as long as the other
side likes (a socket that lingers): so this is a program of its own, which can be ended, and leaves out what can't be a
file as far as that can be known before.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import stat
import sys
from collections.abc import Iterator

from service_kit.open_files import descriptor_folders

_PIDFD_OPEN, _PIDFD_GETFD, _PIDFD_THREAD = 434, 438, os.O_EXCL
_BLOCK = 512
_INFO_BYTES = 512
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    no_files = _mounts_without_files()
    sys.stdout.write("null\n")
    sys.stdout.flush()
    for pid in map(int, sys.argv[1:]):
        for folder in descriptor_folders(pid):
            with contextlib.suppress(OSError):
                task = int(folder.split("/")[2])
                for found in _held_files(task, f"/proc/{task}/fdinfo", no_files):
                    sys.stdout.write(f"{json.dumps(found)}\n")
        sys.stdout.write("null\n")
        sys.stdout.flush()


def _held_files(task: int, folder: str, no_files: set[bytes]) -> Iterator[tuple[int, int, int]]:
    handle = _pidfd(task)
    try:
        for name in os.listdir(folder):
            if mount_of(f"{folder}/{name}") in no_files:
                continue
            with contextlib.suppress(OSError):
                copy = _syscall(_PIDFD_GETFD, handle, int(name), 0)
                try:
                    about = os.fstat(copy)
                finally:
                    os.close(copy)
                if stat.S_ISREG(about.st_mode) and not about.st_nlink:
                    yield about.st_dev, about.st_ino, about.st_blocks * _BLOCK
    finally:
        os.close(handle)


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
    """The kernel's own, of sockets and pipes and of what has no inode of its own."""
    with socket.socket(socket.AF_UNIX) as one, contextlib.ExitStack() as stack:
        reader, writer = os.pipe()
        event = os.eventfd(0)
        for file in {reader, writer, event}:
            stack.callback(os.close, file)
        return {mount_of(f"/proc/self/fdinfo/{file}") for file in (one.fileno(), reader, event)} - {b""}


def mount_of(info: str) -> bytes:
    """The mount of an open file by what `/proc` tells of it; empty when that can't be read."""
    with contextlib.suppress(OSError, IndexError), open(info, "rb", 0) as file:
        return file.read(_INFO_BYTES).partition(b"mnt_id:")[2].split(None, 1)[0]
    return b""


if __name__ == "__main__":
    main()
