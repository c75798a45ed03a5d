"""The tasks of one run, ended together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
logger = logging.getLogger(__name__)


async def cut(tasks: Collection[asyncio.Task[Any]], within_s: float) -> None:
    """Cancel, and wait so long for the end."""
    left = {task for task in tasks if not task.done()}
    for task in left:
        task.cancel()
    if left:
        _, left = await asyncio.wait(left, timeout=within_s)
    if left:
        logger.warning("run winds down slowly", extra={"tasks": [str(task.get_coro()) for task in left]})


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
