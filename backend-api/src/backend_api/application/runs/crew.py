"""The tasks of one run, ended together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
logger = logging.getLogger(__name__)


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
        self.cancel()
        if self._tasks:
            _, slow = await asyncio.wait(self._tasks, timeout=within_s)
            if slow:
                logger.warning("run winds down slowly", extra={"tasks": [str(task.get_coro()) for task in slow]})
