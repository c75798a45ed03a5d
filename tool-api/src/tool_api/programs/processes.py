"""Finds and ends the processes that a command started, by /proc.

A command's processes are the descendants of its bash (which reaps its orphans, so daemons stay descendants) that carry
the command's mark in their environment, or carry none and began after it. Another command's background processes carry
another mark and are left alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MARK = "SANDBOX_CALL"
_TERM_GRACE_S = 0.08
_ROUND_S = 0.005
_ROUNDS = 30


def clock_ticks() -> int:
    """The current time in clock ticks, as start times stand in `/proc/<pid>/stat`."""
    uptime = float(Path("/proc/uptime").read_bytes().split()[0])
    return int(uptime * os.sysconf("SC_CLK_TCK"))


class _Stat(NamedTuple):
    is_dead: bool
    parent: int
    start_ticks: int


def _stat(pid: str) -> _Stat:
    """Read `/proc/<pid>/stat`. Raises `OSError`."""
    fields = Path("/proc", pid, "stat").read_bytes().rpartition(b")")[2].split()
    return _Stat(fields[0] in (b"Z", b"X"), int(fields[1]), int(fields[19]))


def descendants(root: int) -> list[tuple[int, int]]:
    """Pid and start ticks of all living descendants of a process, nearest first."""
    children: dict[int, list[tuple[int, int]]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            state = _stat(entry)
        except OSError:
            continue
        if not state.is_dead:
            children.setdefault(state.parent, []).append((int(entry), state.start_ticks))
    found: list[tuple[int, int]] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += [pid for pid, _ in below]
    return found


def _mark_of(pid: int) -> bytes | None:
    prefix = MARK.encode() + b"="
    try:
        variables = Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((variable[len(prefix) :] for variable in variables if variable.startswith(prefix)), None)


def with_variable(variable: bytes, since_ticks: int = 0) -> list[int]:
    """Pids of all processes that were started with this variable, `NAME=value` or `NAME=` for any value, and began no
    earlier than that."""
    is_whole = not variable.endswith(b"=")
    found: list[int] = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError):
            if since_ticks and _stat(entry).start_ticks < since_ticks:
                continue
            variables = Path("/proc", entry, "environ").read_bytes().split(b"\0")
            if any(one == variable if is_whole else one.startswith(variable) for one in variables):
                found.append(int(entry))
    return found


def processes_of_call(bash: int, mark: str | None, since_ticks: int) -> list[int]:
    """Pids of what one command of a bash started and still runs; every descendant when `mark` is None."""
    if mark is None:
        return [pid for pid, _ in descendants(bash)]
    marks = [(pid, started, _mark_of(pid)) for pid, started in descendants(bash)]
    own = mark.encode()
    return [pid for pid, started, found in marks if found == own or (found is None and started >= since_ticks)]


def bound_files(pid: int, file_bytes: int | None, *, for_good: bool = False) -> None:
    """Let a process, and what it starts from now on, make no file larger than this (None: of any size). A limit that is
    set for good can't be lifted again; the kernel refuses to write to any file if it is zero."""
    with contextlib.suppress(OSError, ValueError):
        hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
        wanted = hard if file_bytes is None else file_bytes
        soft = wanted if hard == resource.RLIM_INFINITY or wanted < 0 else min(wanted, hard)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, soft if for_good else hard))


def ignores(pid: int, number: signal.Signals) -> bool:
    """Whether a process ignores a signal."""
    try:
        # As bytes: its name, which stands there too, may be any.
        status = Path("/proc", str(pid), "status").read_bytes()
    except OSError:
        return False
    ignored = next(line.split()[1] for line in status.splitlines() if line.startswith(b"SigIgn:"))
    return bool(int(ignored, 16) >> (number - 1) & 1)


def send(pids: list[int], number: signal.Signals) -> None:
    """Signal each process that still exists."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def descendant_pids(root: int) -> list[int]:
    return [pid for pid, _ in descendants(root)]


async def end_processes(bash: int, mark: str | None, since_ticks: int) -> bool:
    """End what one command of a bash started; every descendant when `mark` is None."""
    return await end_found(lambda: processes_of_call(bash, mark, since_ticks))


async def end_found(find: Callable[[], list[int]]) -> bool:
    """SIGTERM, a short grace, SIGKILL until nothing is found; False when something survives that."""
    pids = await _find_twice(find)
    send(pids, signal.SIGTERM)
    send(pids, signal.SIGCONT)
    loop = asyncio.get_running_loop()
    grace_until = loop.time() + _TERM_GRACE_S
    while pids and loop.time() < grace_until:
        await asyncio.sleep(_ROUND_S)
        pids = await _find_twice(find)
    for _ in range(_ROUNDS):
        if not pids:
            return True
        send(pids, signal.SIGKILL)
        await asyncio.sleep(_ROUND_S)
        pids = await _find_twice(find)
    return not pids


async def _find_twice(find: Callable[[], list[int]]) -> list[int]:
    """Look twice before reporting none: a process that forks and ends while /proc is read hides its child from that
    look."""
    if pids := find():
        return pids
    await asyncio.sleep(_ROUND_S)
    return find()
