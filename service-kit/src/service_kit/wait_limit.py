"""A timeout for each of many waits, at a tenth of what `asyncio.timeout` costs."""

from __future__ import annotations

import asyncio
from typing import Self


class WaitLimit:
    """`with limit: await ...` raises `TimeoutError` after `seconds`, as `asyncio.timeout` does.

    It is made for successive waits that are nearly always short, such as one for each piece of a model's text: a timer
    for each would cost more than most of the waits, so one timer serves all of them. Elsewhere `asyncio.timeout` is
    right. Close it after the last wait: else its timer stays until its time is over, two minutes for a call of a model.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None
        """The task that waits now."""
        self._since = 0.0
        """Start of its wait, by the loop's clock."""
        self._cancelled_before = 0
        """Cancellations of the task before the wait. Read when the time is over, a cancellation of that moment would be
        lost."""
        self._is_over = False
        """Whether the wait has taken too long, for which this cancelled the task."""

    def close(self) -> None:
        """Drop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        if self._task is not None:
            self._cancelled_before = self._task.cancelling()
        self._since = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._look)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        task, self._task = self._task, None
        if task is None or not self._is_over:
            return
        self._is_over = False
        if task.uncancel() <= self._cancelled_before and isinstance(error, asyncio.CancelledError):
            raise TimeoutError from error

    def _look(self) -> None:
        self._timer = None
        if self._task is None:
            # The next wait sets it.
            return
        rest = self._since + self._seconds - self._loop.time()
        if rest > 0:
            self._timer = self._loop.call_later(rest, self._look)
        else:
            self._is_over = True
            self._task.cancel()
