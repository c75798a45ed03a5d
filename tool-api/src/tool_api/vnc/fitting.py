"""Lets the screen take the size of the panel it is watched in, and keeps it while the agent uses it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from tool_api.desktop_turn import DesktopTurn
from tool_api.vnc.resize import ResizeError, resize_screen
from tool_api.vnc.sizes import ScreenSize, nearest_size

logger = logging.getLogger(__name__)

UNWATCHED_S = 60.0
"""Seconds between two connections of one viewer, or while a panel shows something else, in which nothing changes."""


class ScreenFitting:
    """Fits the screen to viewers. The last requested size wins; some time after the last viewer left the screen has its
    usual size again."""

    def __init__(
        self, turn: DesktopTurn, usual: ScreenSize, *, unwatched_s: float = UNWATCHED_S, soonest_s: float = 0.1
    ) -> None:
        self._turn, self._usual = turn, usual
        self._unwatched_s, self._soonest_s = unwatched_s, soonest_s
        self._wanted: dict[object, ScreenSize] = {}
        self._watchers = 0
        self._has: ScreenSize | None = None
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def viewer(self, socket_path: str) -> AsyncGenerator[Callable[[int, int], None]]:
        """A viewer for the duration of the block, which gets a function to call with the width and height of its
        panel."""
        me = object()

        def want(width: int, height: int) -> None:
            if me not in self._wanted:
                # The X server may be another one than for the viewer before.
                self._has = None
            self._wanted.pop(me, None)
            self._wanted[me] = nearest_size(width, height)
            self._changed.set()
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._fit(socket_path), name="screen size")

        self._watchers += 1
        try:
            yield want
        finally:
            self._watchers -= 1
            self._wanted.pop(me, None)
            self._changed.set()

    async def close(self) -> None:
        """Leave the screen as it is."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _fit(self, socket_path: str) -> None:
        """Fit the screen until nobody watches and the size is the usual one again."""
        while self._watchers or self._has != self._usual:
            self._changed.clear()
            wanted = next(reversed(self._wanted.values()), None)
            if not self._watchers:
                if await self._changes_within(self._unwatched_s):
                    continue
                wanted = self._usual
            if wanted is None or wanted == self._has:
                await self._changed.wait()
                await asyncio.sleep(self._soonest_s)
            elif (held_s := self._turn.held_s) > 0:
                await self._changes_within(min(held_s, 1.0))
            else:
                await self._resize(socket_path, wanted)

    async def _changes_within(self, timeout_s: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await self._changed.wait()
        return False

    async def _resize(self, socket_path: str, size: ScreenSize) -> None:
        self._has = size
        try:
            await resize_screen(socket_path, size)
        except ResizeError as error:
            logger.warning("screen keeps its size", extra={"reason": str(error), "width": size.width})
