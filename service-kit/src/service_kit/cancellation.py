"""Cancellation that is not lost, also in the waits of libraries on Python 3.11."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def wait_for(fut: Awaitable[T], timeout: float | None) -> T:
    """Wait as `asyncio.wait_for`. Raises `TimeoutError`, and `CancelledError` also if that comes with the result."""
    if timeout is None:
        return await fut
    async with asyncio.timeout(timeout):
        return await fut


def let_cancellation_through() -> None:
    """Have every module wait as Python 3.12 does.

    Until then `asyncio.wait_for` answers a cancellation that comes together with its result by returning the result
    (https://github.com/python/cpython/issues/86296): the database driver, which waits that way for each message it
    sends, would let a cancelled stream or run go on. Call it before the first event loop runs.
    """
    broken = asyncio.wait_for
    if sys.version_info >= (3, 12) or broken is wait_for:
        return
    for module in list(sys.modules.values()):
        if getattr(module, "wait_for", None) is broken:
            module.__dict__["wait_for"] = wait_for
