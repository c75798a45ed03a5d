"""A look that a thread of its own repeats, by one manager of a folder at a time."""

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
_LASTING_S = 60.0
_LOG_INTERVAL_S = 60.0


@dataclass(slots=True)
class Watch:
    """Repeats a look, whatever goes wrong with any."""

    _worked_at: float = field(default_factory=time.monotonic)
    _logged_at: float = float("-inf")

    def trouble(self) -> str | None:
        """The reason why it has not worked for a while, whether it fails, hangs or has ended."""
        if time.monotonic() - self._worked_at < _LASTING_S:
            return None
        return "The size of workspaces is no longer measured; the manager's log says why."

    def repeat(self, lock: int, look: Callable[[], None], pause_s: float, stopping: threading.Event) -> None:
        """Repeat the look until `stopping` is set; do nothing while another manager has the lock."""
        while not stopping.wait(pause_s):
            try:
                if _try_lock(lock):
                    look()
                self._worked_at = time.monotonic()
            except Exception:  # noqa: BLE001 - edge of an owned thread
                if time.monotonic() - self._logged_at >= _LOG_INTERVAL_S:
                    self._logged_at = time.monotonic()
                    _log.exception("workspaces could not be counted")


@contextlib.contextmanager
def watching(lock: Path, look: Callable[[], None], pause_s: float) -> Generator[Watch]:
    """Repeat the look for the length of the block; the lock ends with the manager that holds it. Raises `OSError`."""
    stopping, watch = threading.Event(), Watch()
    held = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    arguments = (held, look, pause_s, stopping)
    thread = threading.Thread(target=watch.repeat, args=arguments, name="workspaces", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        stopping.set()
        thread.join(_JOIN_S)
        if not thread.is_alive():
            os.close(held)


def _try_lock(held: int) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
