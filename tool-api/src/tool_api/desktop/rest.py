"""Stop programs by signal, with all they started, and let them go on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from tool_api.programs.processes import descendants

_LOOK_S = 0.005
_QUIET_LOOKS = 2
_LONGEST_S = 5.0
_STOPPED = (b"T", b"t")
_DEAD = (b"Z", b"X")


async def stop_processes(programs: Callable[[], Iterable[int]], *, longest_s: float = _LONGEST_S) -> bool:
    """Stop the programs; False if some can't be stopped, or new ones keep starting.

    A stopped process can start no other, so once two looks in a row find none running all are stopped.
    """
    loop = asyncio.get_running_loop()
    until, quiet = loop.time() + longest_s, 0
    while quiet < _QUIET_LOOKS:
        if loop.time() > until:
            return False
        working = _running_pids(programs())
        _send(working, signal.SIGSTOP)
        quiet = 0 if working else quiet + 1
        await asyncio.sleep(_LOOK_S)
    return True


def are_stopped(programs: Iterable[int]) -> bool:
    """Whether all programs exist, and they and all they started are stopped."""
    known = list(programs)
    return all(_state(pid) in _STOPPED for pid in known) and not _running_pids(known)


def resume_processes(programs: Iterable[int]) -> None:
    """Let the programs and all they started go on."""
    _send(_families(programs), signal.SIGCONT)


def _families(programs: Iterable[int]) -> list[int]:
    return [pid for program in programs for pid in (program, *(below for below, _ in descendants(program)))]


def _running_pids(programs: Iterable[int]) -> list[int]:
    return [pid for pid in _families(programs) if _state(pid) not in (*_STOPPED, *_DEAD)]


def _state(pid: int) -> bytes:
    try:
        return Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return b"X"


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
