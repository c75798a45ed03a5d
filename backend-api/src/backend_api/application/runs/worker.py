"""Claims queued and lapsed runs and drives many of them at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

from backend_api.application.runs.histories import History
from backend_api.application.runs.run_driver import RunDriver
from backend_api.domain.conversation.entity import Accepted, Lease, SessionId, Taker

logger = logging.getLogger(__name__)


class Worker:
    """One worker of a process, and its `Desk` for runs that begin in this process. `name` is unique among all workers.

    `run` works until it is cancelled, when every run it holds is handed over at once, or until it has left.
    """

    def __init__(self, *, name: str, driver: RunDriver, max_concurrent_runs: int = 50, poll_s: float = 1.0) -> None:
        self.name = name
        self.driver = driver
        self._poll_s = poll_s
        self._places = self._free = max_concurrent_runs
        self._freed = asyncio.Event()
        self._leaving = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Claim on wake-ups, and on a poll as wake-ups may be lost."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                while not self._leaving.is_set():
                    if self._free == 0:
                        await self._unless_leaving(self._until_freed())
                        continue
                    self._occupy()
                    lease = await self._claim()
                    if lease is not None:
                        self.start(lease, self.drive(lease, None))
                    else:
                        self.release()
                        await self._unless_leaving(self._wait())
                while self._free < self._places:
                    await self._until_freed()
            finally:
                self._group = None

    def leave(self) -> None:
        """Claim nothing more, hand each run over after its present step; `run` returns when all are gone."""
        self._leaving.set()

    def reserve(self, session_id: SessionId) -> ReservedPlace | None:
        """See `Desk`. None also while the worker is not at work."""
        if self._group is None or self._free == 0 or self._leaving.is_set():
            return None
        self._occupy()
        return ReservedPlace(self, session_id)

    @property
    def taker(self) -> Taker:
        """This worker, as it is recorded with the runs it takes."""
        options = self.driver.options
        return Taker(worker=self.name, lease_s=options.lease_s, model=self.driver.catalogue.default().id)

    def release(self) -> None:
        """Give an occupied place back."""
        self._free += 1
        self._freed.set()

    def start(self, lease: Lease, driving: Coroutine[None, None, None]) -> None:
        """Drive a run in an occupied place. A worker that stopped meanwhile leaves the run to others, once its lease
        lapses."""
        if self._group is None:
            driving.close()
            self.release()
            logger.warning("run left to others; its lease lapses", extra={"run_id": lease.run.id})
        else:
            self._group.create_task(self._drive(driving))

    def drive(self, lease: Lease, history: History | None) -> Coroutine[None, None, None]:
        """The work on a run of this worker."""
        return self.driver.drive(lease, history, leaving=self._leaving)

    def _occupy(self) -> None:
        self._free -= 1

    async def _until_freed(self) -> None:
        self._freed.clear()
        await self._freed.wait()

    async def _unless_leaving(self, waiting: Coroutine[None, None, None]) -> None:
        tasks = {asyncio.ensure_future(waiting), asyncio.ensure_future(self._leaving.wait())}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _claim(self) -> Lease | None:
        taker = self.taker
        try:
            return await self.driver.ledger.claim(taker.worker, lease_s=taker.lease_s, model=taker.model)
        except Exception:
            logger.exception("claiming failed", extra={"worker": self.name})
            await asyncio.sleep(self._poll_s)
            return None

    async def _drive(self, driving: Coroutine[None, None, None]) -> None:
        try:
            await driving
        except Exception:
            # The lease lapses and the run is taken over; this worker goes on.
            logger.exception("run left without an end", extra={"worker": self.name})
        finally:
            self.release()

    async def _wait(self) -> None:
        try:
            await self.driver.queue.wait(self._poll_s)
        except Exception:
            logger.exception("wake-ups can't be listened to", extra={"worker": self.name})
            await asyncio.sleep(self._poll_s)


class ReservedPlace:
    """See `Place`. The history is read while the message is being accepted, so that the model is asked at once."""

    def __init__(self, worker: Worker, session_id: SessionId) -> None:
        self._worker = worker
        self._session_id = session_id
        self._reading = asyncio.ensure_future(self._read())

    @property
    def taker(self) -> Taker:
        return self._worker.taker

    def release(self) -> None:
        self._reading.cancel()
        self._worker.release()

    def take(self, accepted: Accepted) -> None:
        assert accepted.lease is not None
        self._worker.start(accepted.lease, self._drive(accepted, accepted.lease))

    async def _read(self) -> History | None:
        driver = self._worker.driver
        history = driver.histories.take(self._session_id)
        try:
            await history.read_on(driver.log)
        except Exception:
            # The run reads again and says what is wrong.
            logger.exception("reading ahead failed", extra={"session_id": self._session_id})
            return None
        return history

    async def _drive(self, accepted: Accepted, lease: Lease) -> None:
        history = await self._reading
        if history is not None:
            history.join(accepted)
        await self._worker.drive(lease, history)
