"""Claims queued and lapsed runs and drives many of them at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import TypeVar

from backend_api.application.runs.histories import History
from backend_api.application.runs.run_driver import RunDriver
from backend_api.domain.conversation.entity import Accepted, Lease, RunId, SessionId, Taker
from backend_api.domain.notifier import Topic

T = TypeVar("T")
logger = logging.getLogger(__name__)

CLAIMS_AT_ONCE = 4
"""Of runs it was notified of: what a worker can't claim at once is left to the others."""


class Worker:
    """One worker of a process, and its `Desk` for runs that begin in this process. `name` is unique among all workers.

    `run` works until it is cancelled, when every run it holds is handed over at once, or until it has left.
    """

    def __init__(self, *, name: str, driver: RunDriver, max_concurrent_runs: int = 50, poll_s: float = 1.0) -> None:
        self.name = name
        self.driver = driver
        self._poll_s = poll_s
        self._places = self._free = max_concurrent_runs
        self._claims = asyncio.Semaphore(CLAIMS_AT_ONCE)
        self._freed = asyncio.Event()
        self._leaving = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Claim each run it is notified of, and look for any other one on a poll, as notifications may be lost."""
        async with self.driver.notifier.subscribe(Topic.RUN_QUEUED) as queued, asyncio.TaskGroup() as group:
            self._group = group
            named, look_at = None, 0.0
            try:
                while not self._leaving.is_set():
                    if self._free == 0:
                        await self._unless_leaving(self._until_freed())
                        look_at = 0.0
                        continue
                    if named is not None:
                        self._occupy()
                        await self._claims.acquire()
                        group.create_task(self._take(RunId(named)))
                    if named is None or time.monotonic() >= look_at:
                        await self._look()
                        look_at = time.monotonic() + self._poll_s
                    named = await self._unless_leaving(queued.next(self._poll_s)) if self._free else None
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

    async def _unless_leaving(self, waiting: Coroutine[None, None, T]) -> T | None:
        wanted, leaving = asyncio.ensure_future(waiting), asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait({wanted, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return wanted.result() if wanted.done() else None
        finally:
            wanted.cancel()
            leaving.cancel()
            await asyncio.wait({wanted, leaving})

    async def _look(self) -> None:
        """Claim whatever waits, as long as there are places."""
        while self._free and not self._leaving.is_set():
            self._occupy()
            lease = await self._claim()
            if lease is None:
                self.release()
                return
            self.start(lease, self.drive(lease, None))

    async def _take(self, named: RunId) -> None:
        """Claim one run, unless another worker was faster."""
        try:
            lease = await self._claim(named)
        finally:
            self._claims.release()
        if lease is None:
            self.release()
        else:
            await self._drive(self.drive(lease, None))

    async def _claim(self, run_id: RunId | None = None) -> Lease | None:
        taker = self.taker
        try:
            return await self.driver.ledger.claim(taker.worker, lease_s=taker.lease_s, model=taker.model, run_id=run_id)
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
