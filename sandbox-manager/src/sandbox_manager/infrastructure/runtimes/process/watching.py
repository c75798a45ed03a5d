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
_TOLD_AGAIN_S = 60.0


@dataclass(slots=True)
class FaultBoundary:
    """Keeps what goes wrong with one sandbox from ending a round over all; it is logged once a minute for each."""

    _told_at: dict[str, float] = field(default_factory=dict[str, float])

    @contextlib.contextmanager
    def around(self, sandbox_id: str) -> Generator[None]:
        """Log whatever the block raises instead of raising it."""
        try:
            yield
        except Exception:  # noqa: BLE001 - one of many; the others go on
            now = time.monotonic()
            self._told_at = {one: at for one, at in self._told_at.items() if now - at < _TOLD_AGAIN_S}
            if sandbox_id not in self._told_at:
                self._told_at[sandbox_id] = now
                fields = {"sandbox_id": sandbox_id, "watch": threading.current_thread().name}
                _log.exception("a watch failed with one sandbox", extra=fields)


@contextlib.contextmanager
def watching(name: str, lock: Path, work: Callable[[], None], pause_s: float) -> Generator[None]:
    """Do it for the length of the block; the lock is held by whichever manager does it and ends with that."""
    stopping = threading.Event()
    thread = threading.Thread(target=_repeat, args=(lock, work, pause_s, stopping), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(_JOIN_S)


def _repeat(lock: Path, work: Callable[[], None], pause_s: float, stopping: threading.Event) -> None:
    held = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    failed = ""
    try:
        while not _taken(held):
            if stopping.wait(_TRY_AGAIN_S):
                return
        while not stopping.wait(pause_s):
            try:
                work()
                failed = ""
            except Exception as error:  # noqa: BLE001 - edge of an owned thread
                told = repr(error)
                if told != failed:
                    failed = told
                    _log.exception("a watch over sandboxes failed", extra={"watch": threading.current_thread().name})
    finally:
        os.close(held)


def _taken(held: int) -> bool:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
