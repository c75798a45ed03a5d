"""The one way blocking engine calls are made."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


class Threads:
    """A bounded pool. A cancelled caller still waits for its call to end, so that nothing is made after it left."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    async def run(self, call: Callable[[], _T]) -> _T:
        future = asyncio.get_running_loop().run_in_executor(self._pool, call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait({future})
            if not future.cancelled():
                future.exception()
            raise


@contextlib.asynccontextmanager
async def threads(name: str, size: int) -> AsyncGenerator[Threads]:
    """A pool that ends with the block."""
    pool = ThreadPoolExecutor(max_workers=size, thread_name_prefix=name)
    try:
        yield Threads(pool)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
