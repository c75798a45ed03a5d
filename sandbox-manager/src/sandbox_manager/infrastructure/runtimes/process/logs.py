"""Output of a sandbox, kept on the host.

The sandbox holds the end of a pipe and never a file of the host's, which it could fill, lock or write anew through any
descriptor of it. A reader of its own writes the file, keeps the one before it, and so outlives the manager as the
sandbox does. It counts among the sandbox's processes, so that the sandbox pays for its output.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, reap, reference
from sandbox_manager.infrastructure.runtimes.process.spawn import DeadlineError, Pipe, spawn
from sandbox_manager.infrastructure.runtimes.sandbox_profile import READY_LINE

LOG_BYTES = 5 * 1024 * 1024
_BLOCK = 512
_PIECE_BYTES = 64 * 1024
_LONGEST_LINE = 1024
_LAST_BYTES = 2000
_FLUSHED_S = 0.5
_LOOK_S = 0.01
# The kernel ends `cat` where the file would grow beyond its limit; where nothing can be written it is thrown away.
_READER = f"""
ulimit -f {LOG_BYTES // _BLOCK}
until cat >"$1"; do mv -f "$1" "$1.1" || exec cat >/dev/null; done
"""


@dataclass(slots=True)
class Log:
    """The log of one start: its file, the process that writes it, and how far it was looked through."""

    path: Path
    reader: ProcessRef
    _offset: int = 0
    _rest: bytes = field(default=b"")

    def ready_line(self) -> str | None:
        """The line that reports readiness, once it is among the lines since the last look; looks at a bounded piece."""
        with contextlib.suppress(OSError), self.path.open("rb") as file:
            file.seek(self._offset)
            piece = file.read(_PIECE_BYTES)
            self._offset += len(piece)
            *lines, rest = (self._rest + piece).split(b"\n")
            self._rest = rest[:_LONGEST_LINE]
            texts = (line[:_LONGEST_LINE].decode(errors="replace") for line in lines)
            return next((line for line in texts if line.startswith(READY_LINE)), None)
        return None

    def log_tail(self) -> str:
        """The end of an ended sandbox's output."""
        until = time.monotonic() + _FLUSHED_S
        while self.reader.is_alive and time.monotonic() < until:
            time.sleep(_LOOK_S)
        with contextlib.suppress(OSError), self.path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
            return file.read(_LAST_BYTES).decode(errors="replace")
        return ""


@contextlib.contextmanager
def logging_to(path: Path, prefix: list[str], environment: dict[str, str]) -> Generator[tuple[Log, int]]:
    """A reader that lives as long as the pipe is open, and the pipe's end to write to; ended again if the block fails.

    `prefix` is the start of the reader's command. Raises `DeadlineError`, `OSError`.
    """
    with Pipe() as pipe:
        pid = spawn([*prefix, "sh", "-c", _READER, "log", str(path)], environment, files={0: pipe.reader})
        pipe.close_reader()
        reader = reference(pid)
        if reader is None:
            raise DeadlineError("the reader of its log ended at once")
        try:
            yield Log(path, reader), pipe.writer
        except BaseException:
            reader.kill()
            reap(pid)
            raise
