"""Reads of `/proc` that block nobody else: the kernel may block the reader of a process for as long as that process
holds the lock of its memory, which it can do for minutes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, stat_fields

_T = TypeVar("_T")


@dataclass(slots=True)
class _Job(Generic[_T]):
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
        one = _Job(work)
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


@dataclass(slots=True)
class BackgroundLook(Generic[_T]):
    """One look at a time, in a thread of its own; its result is collected once it is there."""

    blocked_s: float = 0.0
    """For how long the kernel has blocked the look that is under way, as far as was seen."""
    _look: _Job[_T] | None = None
    _thread: threading.Thread | None = None
    _seen_at: float = 0.0

    @property
    def is_under_way(self) -> bool:
        """Whether a look was begun whose result was not collected yet."""
        return self._thread is not None

    def begin(self, work: Callable[[], _T]) -> None:
        """Begin one; none may be under way."""
        self._look = _Job(work)
        self._thread = threading.Thread(target=self._look, name="look-at-processes", daemon=True)
        self.blocked_s, self._seen_at = 0.0, time.monotonic()
        self._thread.start()

    def collect(self, timeout_s: float) -> _T | None:
        """What the work returned; None when it did not within `timeout_s`. Raises what the work raises."""
        if self._thread is None or self._look is None:
            return None
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            now = time.monotonic()
            self.blocked_s += now - self._seen_at if _is_blocked(self._thread) else 0.0
            self._seen_at = now
            return None
        look, self._look, self._thread, self.blocked_s = self._look, None, None, 0.0
        if look.error is not None:
            raise look.error
        return look.result


def _is_blocked(thread: threading.Thread) -> bool:
    """Whether it waits for a lock of the kernel's: one that waits for a processor or for a program does not count."""
    try:
        return thread.native_id is not None and stat_fields(thread.native_id)[0] == b"D"
    except (OSError, IndexError):
        return False
