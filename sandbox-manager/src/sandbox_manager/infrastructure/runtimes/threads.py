"""The one way blocking engine calls are made."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_WAITING, _PACKING = 16, 4


class Threads:
    """A bounded pool. A cancelled caller still waits for its call to end, so that nothing is made after it left."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    async def run_call(self, call: Callable[[], _T]) -> _T:
        return await self._run(call, None)

    async def run_program(self, call: Callable[[], _T], stop: Callable[[], None]) -> _T:
        """Run a blocking program. If the caller is cancelled, the call is withdrawn or, once begun, ended by `stop` in
        another thread, which may be called at any time from then on."""
        return await self._run(call, stop)

    async def _run(self, call: Callable[[], _T], stop: Callable[[], None] | None) -> _T:
        begun = self._pool.submit(call)
        future = asyncio.wrap_future(begun)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if stop is not None:
                await _end(begun, stop)
            await asyncio.wait({future})
            if not future.cancelled():
                future.exception()
            raise


async def _end(begun: Future[_T], stop: Callable[[], None]) -> None:
    if begun.cancel():
        return
    try:
        await asyncio.get_running_loop().run_in_executor(None, stop)
    except Exception:  # noqa: BLE001 - its end is waited for all the same
        _log.exception("a program that is waited for can't be stopped")


class Pools(NamedTuple):
    """Thread pools; calls whose duration a sandbox decides have pools of their own, so that no start or sweep waits for
    one."""

    calls: Threads
    waiting: Threads
    """Calls that wait for a sandbox's answer or end, or remove its files: seconds."""
    packing: Threads
    """Packing of a sandbox's files: minutes."""


@contextlib.asynccontextmanager
async def threads(name: str, size: int) -> AsyncGenerator[Threads]:
    """A pool that ends with the block."""
    pool = ThreadPoolExecutor(max_workers=size, thread_name_prefix=name)
    try:
        yield Threads(pool)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextlib.asynccontextmanager
async def pools(name: str, calls: int) -> AsyncGenerator[Pools]:
    """Pools of a runtime, `calls` threads in the first, which end with the block."""
    async with (
        threads(name, calls) as plain,
        threads(f"{name}-waiting", _WAITING) as waiting,
        threads(f"{name}-packing", _PACKING) as packing,
    ):
        yield Pools(plain, waiting, packing)
