"""Writing to a pipe whose reader takes its time."""

from __future__ import annotations

import asyncio
import os


class PipeWriter:
    """Writes in order and never waits: text that the pipe has no room for follows as soon as there is some. Text
    without a reader is dropped."""

    def __init__(self, fd: int) -> None:
        """Takes over the descriptor."""
        self._fd = fd
        self._waiting = bytearray()
        self._loop = asyncio.get_running_loop()
        os.set_blocking(fd, False)

    def write(self, text: str) -> None:
        """Write text as files and the environment hold it: bytes that are not UTF-8 come back unchanged."""
        is_waiting = bool(self._waiting)
        self._waiting += os.fsencode(text)
        if not is_waiting:
            self._write_on()
            if self._waiting:
                self._loop.add_writer(self._fd, self._write_waiting)

    def close(self) -> None:
        self._loop.remove_writer(self._fd)
        self._waiting.clear()
        os.close(self._fd)

    def _write_waiting(self) -> None:
        self._write_on()
        if not self._waiting:
            self._loop.remove_writer(self._fd)

    def _write_on(self) -> None:
        try:
            while self._waiting:
                del self._waiting[: os.write(self._fd, self._waiting)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._waiting.clear()
