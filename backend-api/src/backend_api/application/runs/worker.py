"""Claims queued and lapsed runs and drives many of them at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence

from backend_api.application.runs.run_driver import RunDriver
from backend_api.application.runs.run_journal import read_on
from backend_api.domain.agent.events import Event
from backend_api.domain.conversation.entity import Accepted, Lease, SessionId, Taker

logger = logging.getLogger(__name__)


class Worker:
    """One worker of a process, and its `Desk` for runs that begin in this process. `name` is unique among all workers.

    `run` works until it is cancelled; then it claims nothing more and every run it holds is handed over.
    """

    def __init__(self, *, name: str, driver: RunDriver, max_concurrent_runs: int = 50, poll_s: float = 1.0) -> None:
        self.name = name
        self.driver = driver
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
                    lease = await self._claim()
                    if lease is not None:
                        self.start(self.driver.drive(lease))
                    else:
                        self.release()
                        await self._wait()
            finally:
                self._group = None

    def reserve(self, session_id: SessionId) -> ReservedPlace | None:
        """See `Desk`. None also while the worker is not at work."""
        if self._group is None or self._free == 0:
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
        self._has_room.set()

    def start(self, driving: Coroutine[None, None, None]) -> None:
        """Drive a run in an occupied place. A worker that stopped meanwhile leaves the run to others, once its lease
        lapses."""
        if self._group is None:
            driving.close()
            self.release()
        else:
            self._group.create_task(self._drive(driving))

    def _occupy(self) -> None:
        self._free -= 1
        if self._free == 0:
            self._has_room.clear()

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
        self._worker.start(self._drive(accepted))

    async def _read(self) -> list[Event] | None:
        known: list[Event] = []
        try:
            await read_on(self._worker.driver.log, self._session_id, known)
        except Exception:
            # The run reads again and says what is wrong.
            logger.exception("reading ahead failed", extra={"session_id": self._session_id})
            return None
        return known

    async def _drive(self, accepted: Accepted) -> None:
        assert accepted.lease is not None
        history = _joined(await self._reading, accepted)
        await self._worker.driver.drive(accepted.lease, history)


def _joined(before: list[Event] | None, accepted: Accepted) -> Sequence[Event] | None:
    """The whole log, when what was read ahead ends where the accepted message begins."""
    if before is None:
        return None
    known = [event for event in before if event.seq is not None and event.seq < accepted.seq]
    return [*known, *accepted.events] if len(known) == accepted.seq - 1 else None
