"""Fair shares of a common resource: an owner over the limit waits, and nobody else does."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class Shares:
    """Gives each owner `most` places."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, owner: str) -> asyncio.Semaphore:
        """The owner's semaphore, to be held during each use. It exists as long as anybody holds a reference."""
        free = self._free.get(owner) or asyncio.Semaphore(self._most)
        self._free[owner] = free
        return free
