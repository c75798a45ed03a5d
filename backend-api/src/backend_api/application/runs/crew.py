"""The tasks of one run, ended together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
logger = logging.getLogger(__name__)

CUT_AGAIN_S = 1.0
"""Long enough for what was cut to end what it began elsewhere, such as a command in a sandbox."""


async def cut(tasks: Collection[asyncio.Task[Any]], within_s: float) -> None:
    """Cancel, and wait so long for the end. What goes on is cancelled again: a wait deep in a driver may take a
    cancellation that comes together with its result for done."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + within_s
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        rest = ends_at - loop.time()
        if rest <= 0:
            logger.warning("run winds down slowly", extra={"tasks": [str(task.get_coro()) for task in left]})
            return
        _, left = await asyncio.wait(left, timeout=min(rest, CUT_AGAIN_S))


class Crew:
    """The tasks of one run."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def end(self, within_s: float) -> None:
        """Cut all of it, and wait so long for it to wind down."""
        await cut(self._tasks, within_s)
