"""Claims queued and lapsed runs and drives many of them at once."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from backend_api.application.runs.run_driver import RunDriver

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One worker of a process. `name` is unique among all workers.

    `run` works until it is cancelled; then it claims nothing more and every run it holds is handed over.
    """

    name: str
    driver: RunDriver
    max_concurrent_runs: int = 50
    poll_s: float = 1.0

    async def run(self) -> None:
        """Claim on wake-ups, and on a poll as wake-ups may be lost."""
        slots = asyncio.Semaphore(self.max_concurrent_runs)
        async with asyncio.TaskGroup() as group:
            while True:
                await slots.acquire()
                if not await self._claim(group, slots):
                    slots.release()
                    await self._wait()

    async def _claim(self, group: asyncio.TaskGroup, slots: asyncio.Semaphore) -> bool:
        driver = self.driver
        try:
            lease = await driver.ledger.claim(
                self.name, lease_s=driver.options.lease_s, model=driver.catalogue.default().id
            )
        except Exception:
            logger.exception("claiming failed", extra={"worker": self.name})
            await asyncio.sleep(self.poll_s)
            return False
        if lease is None:
            return False

        async def drive() -> None:
            try:
                await driver.drive(lease)
            except Exception:
                # The lease lapses and the run is taken over; this worker goes on.
                logger.exception("run left without an end", extra={"run_id": lease.run.id})
            finally:
                slots.release()

        group.create_task(drive())
        return True

    async def _wait(self) -> None:
        try:
            await self.driver.signals.wait_for_work(self.poll_s)
        except Exception:
            logger.exception("wake-ups can't be listened to", extra={"worker": self.name})
            await asyncio.sleep(self.poll_s)
