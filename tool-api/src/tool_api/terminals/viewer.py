"""The position of one viewer in a terminal's output."""

from __future__ import annotations

import asyncio
from collections import deque

from pydantic import BaseModel

WINDOW_BYTES = 256 * 1024
_MOST_FRAMES = 32


class Viewer:
    """A viewer's position: `offset` is that of the next byte to send. A viewer that acknowledges is sent at most a
    window beyond that."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self._acknowledged: int | None = None
        self._frames: deque[BaseModel] = deque(maxlen=_MOST_FRAMES)
        self._wake = asyncio.Event()

    @property
    def room(self) -> int:
        """Bytes that may be sent."""
        if self._acknowledged is None:
            return WINDOW_BYTES
        return max(0, WINDOW_BYTES - (self.offset - self._acknowledged))

    def acknowledge(self, offset: int) -> None:
        """Take an acknowledgement; offsets only grow, and none is beyond what was sent."""
        self._acknowledged = min(max(offset, self._acknowledged or 0), self.offset)
        self._wake.set()

    def move_to(self, offset: int) -> None:
        """Continue at another offset, with an empty window."""
        self.offset = offset
        if self._acknowledged is not None:
            self._acknowledged = offset

    def send(self, frame: BaseModel) -> None:
        """Have a text message sent before the next bytes."""
        self._frames.append(frame)
        self._wake.set()

    def next_frame(self) -> BaseModel | None:
        return self._frames.popleft() if self._frames else None

    def wake(self) -> None:
        self._wake.set()

    async def wait(self) -> None:
        """Wait until there is something to look at."""
        await self._wake.wait()
        self._wake.clear()
