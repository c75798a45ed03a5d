"""Control of the desktop by a person: a viewer that may use mouse and keyboard is connected."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class ViewerControl:
    """Counts the viewers that have control."""

    def __init__(self) -> None:
        self._viewers = 0
        self._taken = asyncio.Event()

    @property
    def is_taken(self) -> bool:
        """Whether some viewer has control."""
        return self._viewers > 0

    async def wait_until_taken(self) -> None:
        """Wait until a viewer has control."""
        await self._taken.wait()

    @contextmanager
    def hold(self) -> Generator[None]:
        """Give a viewer control for as long as the block lasts."""
        self._viewers += 1
        self._taken.set()
        try:
            yield
        finally:
            self._viewers -= 1
            if not self._viewers:
                self._taken.clear()
