"""Processes started after a listing: open files of processes that ended meanwhile may have been passed on to them."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass

from sandbox_manager.infrastructure.runtimes.process.memory import Member
from sandbox_manager.infrastructure.runtimes.process.processes import stat_fields
from service_kit.open_files import tasks

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SLACK_TICKS = 2


@dataclass(frozen=True, slots=True)
class Moment:
    """Clock ticks since boot, and the id of the newest task then (0 where the kernel does not report it)."""

    tick: int
    newest: int

    @property
    def is_latest(self) -> bool:
        """Whether no task of the machine was started since."""
        return self.newest > 0 and _newest() == self.newest


def started_after(moment: Moment, member: Member) -> bool:
    """Whether this process, or a thread of it, was started at or after that moment."""
    if member.process.started >= moment.tick:
        return True
    if member.tasks > 1:
        for task in tasks(member.process.pid):
            with contextlib.suppress(OSError, IndexError, ValueError):
                if int(stat_fields(task)[19]) >= moment.tick:
                    return True
    return False


def this_moment() -> Moment:
    """The present; taken before the processes are listed."""
    return Moment(int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS_PER_S) - _SLACK_TICKS, _newest())


def _newest() -> int:
    with contextlib.suppress(OSError, IndexError, ValueError), open("/proc/loadavg", "rb", 0) as file:
        return int(file.read(256).split()[4])
    return 0
