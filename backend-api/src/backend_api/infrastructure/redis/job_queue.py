"""The queue that wakes worker processes, on SAQ. What is to be done stands in the ledger (docs/decisions/0009)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from saq import Job
from saq.queue.redis import RedisQueue

from backend_api.domain.conversation.entity import RunId

logger = logging.getLogger(__name__)

_NAME = "runs"
_FUNCTION = "run"
_COMMAND_S = 1.0
_READ_S = 5.0
_SWEEP_EVERY_S = 30
_KEEP_NOTHING = -1
_ERRORS = (RedisError, OSError, TimeoutError)


class _Wakes(RedisQueue):
    """A queue whose jobs are over when they are taken: no look at what they say, and nobody waits for their end."""

    async def take(self, timeout_s: float) -> RunId | None:
        """The run of the job that waited longest; two round trips. A process that dies between them leaves the job to
        the sweep."""
        client: Any = self.redis
        job_id: bytes | None = await client.blmove(self._queued, self._active, timeout_s, "LEFT", "RIGHT")
        if job_id is None:
            return None
        pipeline: Any = client.pipeline(transaction=True)
        pipeline.lrem(self._active, 1, job_id)
        pipeline.zrem(self._incomplete, job_id)
        pipeline.delete(job_id)
        await pipeline.execute()
        return RunId(self.job_key_from_id(job_id.decode()))


class SaqWorkQueue:
    """`WorkQueue`; an async context manager. One announcement wakes one worker.

    A job is named after its run, so that announcing one twice is one job. Whoever takes a job ends it before it looks
    into the ledger: a queue that lost jobs, repeats them or is away costs time, never a run.
    """

    def __init__(self, url: str) -> None:
        client: Any = redis.asyncio.Redis.from_url(  # pyright: ignore[reportUnknownMemberType] -- its keywords are untyped
            url, socket_timeout=_READ_S, socket_connect_timeout=_COMMAND_S, retry=Retry(NoBackoff(), 1)
        )
        self._queue = _Wakes(client, name=_NAME)
        self._sweeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> SaqWorkQueue:
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
        with contextlib.suppress(*_ERRORS):
            await self._queue.disconnect()

    async def announce(self, run_id: RunId) -> None:
        """One round trip."""
        try:
            async with asyncio.timeout(_COMMAND_S):
                await self._queue.enqueue(Job(function=_FUNCTION, key=run_id, ttl=_KEEP_NOTHING))
        except _ERRORS:
            logger.warning("run not announced; the ledger is polled", extra={"run_id": run_id})

    async def wait(self, timeout_s: float) -> RunId | None:
        """Take a job, or return after the time."""
        if self._sweeping is None:
            self._sweeping = asyncio.create_task(self._sweep(), name="queue-sweep")
        try:
            async with asyncio.timeout(timeout_s + _READ_S):
                return await self._queue.take(timeout_s)
        except _ERRORS:
            logger.warning("queue does not answer; the ledger is polled")
            await asyncio.sleep(timeout_s)
            return None

    async def waiting(self) -> int:
        """Jobs nobody took yet. Raises what the driver raises."""
        return await self._queue.count("queued")

    async def _sweep(self) -> None:
        """Give back what a worker took and did not end."""
        while True:
            await asyncio.sleep(_SWEEP_EVERY_S)
            try:
                await self._queue.sweep(lock=_SWEEP_EVERY_S, abort=1.0)
            except _ERRORS:
                logger.warning("queue can't be swept now")
