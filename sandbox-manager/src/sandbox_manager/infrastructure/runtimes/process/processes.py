"""Processes of the host, named so that a recycled pid is never taken for the one meant."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_KILL_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class ProcessRef:
    """A process: its pid and its start time in clock ticks since boot."""

    pid: int
    started: int

    @property
    def lives(self) -> bool:
        return reference(self.pid) == self

    def kill(self) -> None:
        """SIGKILL this very process; nothing when it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            handle = os.pidfd_open(self.pid)
            try:
                if self.lives:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)


def reference(pid: int) -> ProcessRef | None:
    """The process with this pid now; None when there is none, or only its zombie."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in ("Z", "X") else ProcessRef(pid, int(fields[18]))


def marked(name: str) -> dict[str, list[ProcessRef]]:
    """Living processes that were started with the environment variable `name`, by its value."""
    prefix = f"{name}=".encode()
    found: dict[str, list[ProcessRef]] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        value = next((one[len(prefix) :] for one in environment if one.startswith(prefix)), None)
        process = reference(int(entry.name)) if value is not None else None
        if value is not None and process is not None:
            found.setdefault(value.decode(errors="replace"), []).append(process)
    return found


def kill_marked(name: str, start: str, deadline_s: float) -> bool:
    """Kill until no process carries a mark that starts so; False when some are left at the deadline."""
    until = time.monotonic() + deadline_s
    while True:
        left = [process for value, found in marked(name).items() if value.startswith(start) for process in found]
        if not left:
            return True
        for process in left:
            process.kill()
            reap(process.pid)
        if time.monotonic() > until:
            return False
        time.sleep(_KILL_PAUSE_S)


def reap(pid: int) -> None:
    """Collect a dead child; nothing when it is alive or not ours."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
