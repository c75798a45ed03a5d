"""A bash on a pseudo-terminal, with its last output and its viewers."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import signal
import struct
import sys
import termios
import time
from asyncio.subprocess import DEVNULL
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.terminals import AttachedFrame, SizeFrame
from service_kit.programs import Program, ProgramStart, start_program
from tool_api.programs import processes
from tool_api.terminals import launcher
from tool_api.terminals.backlog import Backlog
from tool_api.terminals.viewer import Viewer

MARK = "SANDBOX_TERMINAL"
"""An environment variable of each terminal's programs; those that outlive their shell are found by it."""
MAX_PENDING_BYTES = 4 * 1024 * 1024
"""Typed bytes that the programs have not read."""
_READ_BYTES = 64 * 1024
_READ_PAUSE_S = 0.008
"""Between two reads: a program that writes without end is read at 8 MB a second at most."""
_AHEAD_BYTES = 128 * 1024
"""Bytes the fastest viewer may be behind; reading stops beyond that."""
_RESIZE_PAUSE_S = 0.05
_LAST_READ_BYTES = 1024 * 1024
_INTERRUPT = b"\x03"


@dataclass(frozen=True, slots=True)
class TerminalSize:
    """The size in characters."""

    cols: int = 80
    rows: int = 24


class Terminal:
    """A running terminal; `start_terminal` makes one. `exit_code` is None until its shell has ended."""

    def __init__(self, name: str, program: Program, fds: tuple[int, int], size: TerminalSize, mark: str) -> None:
        """Takes over both ends of the terminal; ours is the first."""
        self.name = name
        self.exit_code: int | None = None
        self.size = self._wanted_size = size
        self.backlog = Backlog()
        self.viewers: set[Viewer] = set()
        self._program = program
        self._fd, self._shells_fd = fds
        self._mark = f"{MARK}={mark}".encode()
        self._began = int(time.time() * 1000)
        self._pending = bytearray()
        self._loop = asyncio.get_running_loop()
        self._is_held = False
        self._read_timer: asyncio.TimerHandle | None = None
        self._resize_timer: asyncio.TimerHandle | None = None
        os.set_blocking(self._fd, False)
        self._loop.add_reader(self._fd, self._on_readable)
        self._ending = self._loop.create_task(self._wait_for_exit(), name=f"end of terminal {name}")

    @property
    def is_busy(self) -> bool:
        """Whether a program runs in the foreground of its shell."""
        if self.exit_code is not None:
            return False
        try:
            return os.tcgetpgrp(self._fd) != self._program.pid
        except OSError:
            return False

    @contextmanager
    def view(self, *, after: int | None = None, began: int | None = None) -> Generator[Viewer]:
        """A viewer that has shown all bytes before `after` of the terminal that began then; a new viewer is shown what
        is kept."""
        backlog = self.backlog
        is_known = began == self._began and after is not None and backlog.start <= after <= backlog.end
        viewer = Viewer(after if is_known and after is not None else backlog.start)
        viewer.send(self._attached(viewer))
        self.viewers.add(viewer)
        try:
            yield viewer
        finally:
            self.viewers.discard(viewer)
            self._read_on()

    def next_piece(self, viewer: Viewer, most: int) -> bytes:
        """The next bytes for the viewer: none while it is up to date or has no room. One so far behind that its bytes
        are gone continues with what is kept."""
        if viewer.offset < self.backlog.start:
            viewer.move_to(self.backlog.start)
            viewer.send(self._attached(viewer))
            return b""
        piece = self.backlog.read(viewer.offset, min(most, viewer.room))
        viewer.offset += len(piece)
        if piece:
            self._read_on()
        return piece

    def resize(self, size: TerminalSize) -> None:
        """Change the size: at once, and after that a limited number of times a second."""
        self._wanted_size = size
        if self._resize_timer is None:
            self._apply_size()

    def type_bytes(self, data: bytes) -> bool:
        """Type; False if all of it was dropped, as the programs do not read. An interrupt overtakes input that they
        have not read yet."""
        if self.exit_code is not None:
            return False
        if data == _INTERRUPT and self._pending:
            self._pending.clear()
            # Drop the terminal's buffer, too: it handles no further byte before a program reads that.
            termios.tcflush(self._shells_fd, termios.TCIFLUSH)
        if len(self._pending) + len(data) > MAX_PENDING_BYTES:
            return False
        is_waiting = bool(self._pending)
        self._pending += data
        if not is_waiting:
            self._write_on()
            if self._pending:
                self._loop.add_writer(self._fd, self._write_on)
        return True

    async def end_commands(self) -> None:
        """End the programs in it; its shell stays."""
        await processes.end_found(lambda: processes.descendant_pids(self._program.pid))

    async def close(self) -> None:
        """End it with all that it ever started."""
        if self._program.exit_code is None:
            # While stopped, it still adopts processes that lose their parent.
            self._program.send_signal(signal.SIGSTOP)
            await processes.end_found(lambda: processes.descendant_pids(self._program.pid))
        await self._program.end()
        await self._ending

    def _attached(self, viewer: Viewer) -> AttachedFrame:
        return AttachedFrame(
            offset=viewer.offset,
            cols=self.size.cols,
            rows=self.size.rows,
            began=self._began,
            modes=self.backlog.modes() if viewer.offset == self.backlog.start else "",
        )

    def _on_readable(self) -> None:
        self._loop.remove_reader(self._fd)
        self._read_some(_READ_BYTES)
        self._read_timer = self._loop.call_later(_READ_PAUSE_S, self._read_again)

    def _read_some(self, most: int) -> None:
        count = 0
        while count < most:
            try:
                data = os.read(self._fd, most - count)
            except BlockingIOError:
                break
            self.backlog.append(data)
            count += len(data)
        if count:
            self._wake_viewers()

    def _read_again(self) -> None:
        self._read_timer = None
        self._is_held = True
        self._read_on()

    def _read_on(self) -> None:
        """Resume reading, unless all viewers are far behind."""
        if not self._is_held or self.exit_code is not None:
            return
        fastest = max((viewer.offset for viewer in self.viewers), default=self.backlog.end)
        if self.backlog.end - fastest <= _AHEAD_BYTES:
            self._is_held = False
            self._loop.add_reader(self._fd, self._on_readable)

    def _write_on(self) -> None:
        try:
            while self._pending:
                del self._pending[: os.write(self._fd, self._pending[:_READ_BYTES])]
        except BlockingIOError:
            return
        except OSError:
            self._pending.clear()
        self._loop.remove_writer(self._fd)

    def _apply_size(self) -> None:
        self._resize_timer = None
        if self._wanted_size == self.size or self.exit_code is not None:
            return
        self.size = self._wanted_size
        set_size(self._fd, self.size)
        for viewer in self.viewers:
            viewer.send(SizeFrame(cols=self.size.cols, rows=self.size.rows))
        self._resize_timer = self._loop.call_later(_RESIZE_PAUSE_S, self._apply_size)

    def _wake_viewers(self) -> None:
        for viewer in self.viewers:
            viewer.wake()

    async def _wait_for_exit(self) -> None:
        code = await self._program.wait()
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        for timer in (self._read_timer, self._resize_timer):
            if timer is not None:
                timer.cancel()
        self._read_some(_LAST_READ_BYTES)
        self.exit_code = code
        os.close(self._fd)
        os.close(self._shells_fd)
        self._wake_viewers()
        await processes.end_found(lambda: processes.with_variable(self._mark))


def set_size(fd: int, size: TerminalSize) -> None:
    """Set the size of a terminal; programs in its foreground are notified."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.cols, 0, 0))


async def start_terminal(name: str, folder: Path, environment: Mapping[str, str], size: TerminalSize) -> Terminal:
    """Start a shell in a folder, on a terminal of this size. Raises `OSError`."""
    mark = secrets.token_hex(8)
    with contextlib.ExitStack() as opened:
        fds = ours, shells = os.openpty()
        opened.callback(os.close, ours)
        opened.callback(os.close, shells)
        set_size(shells, size)
        program = await start_program(
            ProgramStart(
                command=(sys.executable, "-I", "-S", str(Path(launcher.__file__)), str(shells)),
                environment={**environment, MARK: mark},
                folder=folder if folder.is_dir() else "/",
                stdout=DEVNULL,
                pass_fds=(shells,),
            )
        )
        opened.pop_all()
    return Terminal(name, program, fds, size, mark)
