"""Starting processes that outlive the manager, with pipes to speak to them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import time
from types import TracebackType
from typing import Self

_HIGH_FD = 64


class DeadlineError(Exception):
    """A process did not do its part in time, or died over it."""


class Pipe:
    """A pipe both of whose ends are closed with the block."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe2(os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close_reader()
        self.close_writer()

    def close_reader(self) -> None:
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1

    def close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def read(self, deadline_s: float, size: int = 4096) -> bytes:
        """The next bytes; empty if the other end is closed or the deadline is over."""
        readable, _, _ = select.select([self.reader], [], [], max(deadline_s, 0))
        return os.read(self.reader, size) if readable else b""

    def read_until(self, end: bytes, deadline_s: float) -> bytes:
        """The bytes up to `end`. Raises `DeadlineError`."""
        until = time.monotonic() + deadline_s
        got = b""
        while end not in got:
            piece = self.read(until - time.monotonic())
            if not piece:
                raise DeadlineError("a process of the sandbox ended before it was set up")
            got += piece
        return got

    def write(self, content: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self.writer, content)


def spawn(
    command: list[str],
    environment: dict[str, str],
    *,
    files: dict[int, int],
) -> int:
    """Start a command in a session of its own; `files` maps its file descriptors to ours. Returns the pid.

    It has no other descriptors; standard ones that are not given are /dev/null.
    """
    program = shutil.which(command[0])
    if program is None:
        raise DeadlineError(f"{command[0]} is not installed")
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    # Ours are moved out of the way first, or one could be overwritten before it was handed over.
    high = {number: fcntl.fcntl(ours, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) for number, ours in files.items()}
    try:
        actions += [(os.POSIX_SPAWN_DUP2, ours, number) for number, ours in high.items()]
        return os.posix_spawn(program, command, environment, file_actions=actions, setsid=True)
    finally:
        for ours in high.values():
            os.close(ours)
