"""Who was started since a list of processes was made: what those that ended since had may have moved on to them."""

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
    """A time in ticks since boot, and the newest task there was (0: the kernel does not tell)."""

    tick: int
    newest: int

    @property
    def is_last(self) -> bool:
        """Whether no task of the machine was started since."""
        return self.newest > 0 and _newest() == self.newest

    def precedes(self, member: Member) -> bool:
        """Whether this process, or a thread of it, was started since."""
        if member.process.started >= self.tick:
            return True
        if member.tasks > 1:
            for task in tasks(member.process.pid):
                with contextlib.suppress(OSError, IndexError, ValueError):
                    if int(stat_fields(task)[19]) >= self.tick:
                        return True
        return False


def this_moment() -> Moment:
    """To be asked for before the list is made."""
    return Moment(int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS_PER_S) - _SLACK_TICKS, _newest())


def _newest() -> int:
    with contextlib.suppress(OSError, IndexError, ValueError), open("/proc/loadavg", "rb", 0) as file:
        return int(file.read(256).split()[4])
    return 0
