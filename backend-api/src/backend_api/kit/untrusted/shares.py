"""So many of what there is for everybody are one owner's at once: the rest of theirs wait, and nobody else does."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class Shares:
    """Of each owner `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, owner: str) -> asyncio.Semaphore:
        """To be held as long as one is used. It is remembered as long as anybody has it."""
        free = self._free.get(owner) or asyncio.Semaphore(self._most)
        self._free[owner] = free
        return free
