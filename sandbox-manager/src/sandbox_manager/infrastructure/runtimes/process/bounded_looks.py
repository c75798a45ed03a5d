"""Looks at processes that are given up on after a while: the kernel may keep whoever reads of a process waiting for as
long as that process holds the lock of its memory, which it can do for minutes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

_T = TypeVar("_T")


@dataclass(slots=True)
class _Look(Generic[_T]):
    """The work of one thread, and its outcome."""

    work: Callable[[], _T]
    result: _T | None = None
    error: Exception | None = None

    def __call__(self) -> None:
        try:
            self.result = self.work()
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            self.error = error


@dataclass(slots=True)
class BoundedLooks:
    """At most one look at a sandbox is under way: while one that was given up on is stuck, no other is begun."""

    _stuck: dict[ProcessRef, threading.Thread] = field(default_factory=dict[ProcessRef, threading.Thread])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self, root: ProcessRef, work: Callable[[], _T], timeout_s: float) -> _T | None:
        """What `work` returns; None when it did not within `timeout_s`, or the last one at this sandbox still has not.

        Raises what `work` raises.
        """
        one = _Look(work)
        thread = threading.Thread(target=one, name="look-at-processes", daemon=True)
        with self._lock:
            self._stuck = {known: stuck for known, stuck in self._stuck.items() if stuck.is_alive()}
            if root in self._stuck:
                return None
            thread.start()
            self._stuck[root] = thread
        thread.join(timeout_s)
        if thread.is_alive():
            return None
        if one.error is not None:
            raise one.error
        return one.result
