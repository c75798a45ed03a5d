"""Processes of the host, named so that a recycled pid is never taken for the one meant."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process.uids import is_sandbox_uid

_PROC = Path("/proc")
_KILL_PAUSE_S = 0.01
_STAT_BYTES, _STATUS_BYTES, _ENVIRON_BYTES = 4096, 4096, 64 * 1024


@dataclass(frozen=True, slots=True)
class ProcessRef:
    """A process: its pid and its start time in clock ticks since boot."""

    pid: int
    started: int

    @property
    def is_alive(self) -> bool:
        return reference(self.pid) == self

    def kill(self) -> None:
        """SIGKILL this very process; does nothing if it is gone, or its number is another process's thread by now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            try:
                handle = os.pidfd_open(self.pid)
            except OSError as error:
                # The kernel's error for a thread, which depends on its version.
                if error.errno in (errno.EINVAL, errno.ENOENT):
                    return
                raise
            try:
                if self.is_alive:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)


def reference(pid: int) -> ProcessRef | None:
    """The process with this pid now; None if there is none, or only its zombie. A process whose first thread has ended
    lives as long as any other thread does."""
    try:
        fields = stat_fields(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    is_gone = fields[0] == b"X" or (fields[0] == b"Z" and int(fields[17]) <= 1)
    return None if is_gone else ProcessRef(pid, int(fields[19]))


def stat_fields(task: int) -> list[bytes]:
    """The fields of `/proc/<pid>/stat` of a process or thread, from its state on. Raises `OSError`.

    Its name, which may be any bytes, is left out.
    """
    file = os.open(f"/proc/{task}/stat", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _STAT_BYTES).rpartition(b")")[2].split()
    finally:
        os.close(file)


def marked(name: str) -> dict[str, list[ProcessRef]]:
    """Living processes of ours that were started with the environment variable `name`, by its value.

    Code in a sandbox may set any variable for processes of its own, so only processes count that it can neither have
    started nor changed: those of our own pid namespace alone, by a user that we start such processes as.
    """
    prefix = f"{name}=".encode()
    found: dict[str, list[ProcessRef]] = {}
    for entry in os.listdir(_PROC):
        if not entry.isdigit() or not _is_ours(_PROC / entry):
            continue
        process = reference(int(entry))
        try:
            with (_PROC / entry / "environ").open("rb", 0) as file:
                environment = file.read(_ENVIRON_BYTES).split(b"\0")
        except OSError:
            continue
        value = next((one[len(prefix) :] for one in environment if one.startswith(prefix)), None)
        if value is not None and process is not None and process.is_alive:
            found.setdefault(value.decode(errors="replace"), []).append(process)
    return found


def _is_ours(folder: Path) -> bool:
    try:
        with (folder / "status").open("rb", 0) as file:
            lines = file.read(_STATUS_BYTES).splitlines()
    except OSError:
        return False
    status = {key: rest.split() for key, _, rest in (line.partition(b":") for line in lines)}
    uid, pids = int(status[b"Uid"][0]), status.get(b"NSpid", [b"0"])
    return len(pids) == 1 and (uid == os.geteuid() or is_sandbox_uid(uid))


def kill_marked(name: str, start: str, deadline_s: float) -> bool:
    """Kill processes until none of ours carries a mark with this prefix; False if some are left at the deadline."""
    until = time.monotonic() + deadline_s
    while left := [process for value, found in marked(name).items() if value.startswith(start) for process in found]:
        for process in left:
            process.kill()
        while any(process.is_alive for process in left):
            if time.monotonic() > until:
                return False
            time.sleep(_KILL_PAUSE_S)
        for process in left:
            reap(process.pid)
        if time.monotonic() > until:
            return False
    return True


def reap(pid: int) -> None:
    """Collect a dead child; nothing when it is alive or not ours."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
