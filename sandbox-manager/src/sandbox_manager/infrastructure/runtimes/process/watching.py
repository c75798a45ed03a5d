"""Work that is done again and again in a thread of its own, by one manager of a folder at a time."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

_log = logging.getLogger(__name__)

_JOIN_S = 5.0
_TRY_AGAIN_S = 1.0
_LOG_INTERVAL_S = 60.0
_LASTING_S = 15.0
_HANGING_S = 120.0


@dataclass(slots=True)
class FaultBoundary:
    """Keeps what goes wrong with one sandbox from ending a round over all; it is logged once a minute for each."""

    _logged_at: dict[str, float] = field(default_factory=dict[str, float])

    @contextlib.contextmanager
    def around(self, sandbox_id: str) -> Generator[None]:
        """Log whatever the block raises instead of raising it."""
        try:
            yield
        except Exception:  # noqa: BLE001 - one of many; the others go on
            now = time.monotonic()
            self._logged_at = {one: at for one, at in self._logged_at.items() if now - at < _LOG_INTERVAL_S}
            if sandbox_id not in self._logged_at:
                self._logged_at[sandbox_id] = now
                fields = {"sandbox_id": sandbox_id, "watch": threading.current_thread().name}
                _log.exception("a watch failed with one sandbox", extra=fields)


@dataclass(slots=True)
class Watch:
    """Work that is done again and again, whatever goes wrong with it."""

    name: str
    _thread: threading.Thread | None = None
    _failing_since: float | None = None
    _looking_since: float | None = None
    _logged_at: float = float("-inf")

    def trouble(self) -> str | None:
        """What keeps it from being done for a while now, or for good."""
        since, looking_since = self._failing_since, self._looking_since
        if self._thread is not None and not self._thread.is_alive():
            return f"The watch over sandboxes' {self.name} has ended."
        if since is not None and time.monotonic() - since > _LASTING_S:
            return f"The watch over sandboxes' {self.name} keeps failing."
        if looking_since is not None and time.monotonic() - looking_since > _HANGING_S:
            return f"The watch over sandboxes' {self.name} hangs."
        return None

    def start_thread(self, lock: Path, work: Callable[[], None], pause_s: float, stopping: threading.Event) -> None:
        """In a thread of its own, until it is to stop."""
        arguments = (lock, work, pause_s, stopping)
        self._thread = threading.Thread(target=self._repeat, args=arguments, name=self.name, daemon=True)
        self._thread.start()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(_JOIN_S)

    def _repeat(self, lock: Path, work: Callable[[], None], pause_s: float, stopping: threading.Event) -> None:
        while True:
            with self._faults_logged():
                self._repeat_locked(lock, work, pause_s, stopping)
            if stopping.wait(_TRY_AGAIN_S):
                return

    def _repeat_locked(self, lock: Path, work: Callable[[], None], pause_s: float, stopping: threading.Event) -> None:
        held = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _try_lock(held):
                self._failing_since = None  # another manager sees to it
                if stopping.wait(_TRY_AGAIN_S):
                    return
            while not stopping.wait(pause_s):
                with self._faults_logged():
                    self._looking_since = time.monotonic()
                    try:
                        work()
                    finally:
                        self._looking_since = None
                    self._failing_since = None
        finally:
            os.close(held)

    @contextlib.contextmanager
    def _faults_logged(self) -> Generator[None]:
        """Log what the block raises instead of raising it, at most once a minute."""
        try:
            yield
        except Exception:  # noqa: BLE001 - edge of an owned thread
            now = time.monotonic()
            if self._failing_since is None:
                self._failing_since = now
            if now - self._logged_at >= _LOG_INTERVAL_S:
                self._logged_at = now
                _log.exception("a watch over sandboxes failed", extra={"watch": self.name})


@contextlib.contextmanager
def watching(name: str, lock: Path, work: Callable[[], None], pause_s: float) -> Generator[Watch]:
    """Do it for the length of the block; the lock is held by whichever manager does it and ends with that."""
    stopping, watch = threading.Event(), Watch(name)
    watch.start_thread(lock, work, pause_s, stopping)
    try:
        yield watch
    finally:
        stopping.set()
        watch.join()


def _try_lock(held: int) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
