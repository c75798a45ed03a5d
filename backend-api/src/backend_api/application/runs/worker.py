"""Claims queued and lapsed runs and drives many of them at once."""

from __future__ import annotations

import asyncio
import logging

from backend_api.application.runs.run_driver import RunDriver
from backend_api.domain.conversation.entity import Lease, Taker

logger = logging.getLogger(__name__)


class Worker:
    """One worker of a process, and its `Desk` for runs that begin in this process. `name` is unique among all workers.

    `run` works until it is cancelled; then it claims nothing more and every run it holds is handed over.
    """

    def __init__(self, *, name: str, driver: RunDriver, max_concurrent_runs: int = 50, poll_s: float = 1.0) -> None:
        self.name = name
        self._driver = driver
        self._poll_s = poll_s
        self._free = max_concurrent_runs
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._group: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Claim on wake-ups, and on a poll as wake-ups may be lost."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                while True:
                    await self._has_room.wait()
                    self._occupy()
                    if not await self._claim():
                        self.release()
                        await self._wait()
            finally:
                self._group = None

    def reserve(self) -> Taker | None:
        """See `Desk`. None also while the worker is not at work."""
        if self._group is None or self._free == 0:
            return None
        self._occupy()
        driver = self._driver
        return Taker(worker=self.name, lease_s=driver.options.lease_s, model=driver.catalogue.default().id)

    def release(self) -> None:
        """See `Desk`."""
        self._free += 1
        self._has_room.set()

    def take(self, lease: Lease) -> None:
        """See `Desk`. A worker that stopped meanwhile leaves the run to others, once its lease lapses."""
        if self._group is None:
            self.release()
        else:
            self._group.create_task(self._drive(lease))

    def _occupy(self) -> None:
        self._free -= 1
        if self._free == 0:
            self._has_room.clear()

    async def _claim(self) -> bool:
        driver = self._driver
        try:
            lease = await driver.ledger.claim(
                self.name, lease_s=driver.options.lease_s, model=driver.catalogue.default().id
            )
        except Exception:
            logger.exception("claiming failed", extra={"worker": self.name})
            await asyncio.sleep(self._poll_s)
            return False
        if lease is None:
            return False
        self.take(lease)
        return True

    async def _drive(self, lease: Lease) -> None:
        try:
            await self._driver.drive(lease)
        except Exception:
            # The lease lapses and the run is taken over; this worker goes on.
            logger.exception("run left without an end", extra={"run_id": lease.run.id})
        finally:
            self.release()

    async def _wait(self) -> None:
        try:
            await self._driver.signals.wait_for_work(self._poll_s)
        except Exception:
            logger.exception("wake-ups can't be listened to", extra={"worker": self.name})
            await asyncio.sleep(self._poll_s)
