"""Claims queued and lapsed runs into its slots, and drives many of them at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TypeVar

from backend_api.conversations.domain.assignments import ANNOUNCE_S, Assignment, FreeSlots
from backend_api.conversations.domain.entity import Accepted, Claimant, Lease, RunId, RunStatus
from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId
from backend_api.kit.notifier import Subscription, Topic
from backend_api.runs.application.histories import History
from backend_api.runs.application.run_actor import RunActor
from backend_api.runs.application.run_services import RunServices

T = TypeVar("T")
Known = Callable[[], Awaitable[History]]
"""Reads the session's known log, soon."""
logger = logging.getLogger(__name__)

CLAIMS_AT_ONCE = 8
"""How many runs a worker claims at once of those it was notified of; the rest is left to other workers."""


class Worker:
    """One worker of a process, and its `Slots` for runs that begin in this process. `name` is unique among all workers.

    `work` goes on until it is cancelled, when every run it holds is given back at once, or until it is drained. A
    worker that `announces` its slots is assigned runs by the processes that accept them.
    """

    def __init__(
        self,
        *,
        name: str,
        services: RunServices,
        max_concurrent_runs: int = 50,
        poll_s: float = 1.0,
        announces: bool = False,
    ) -> None:
        self.name = name
        self.services = services
        self._poll_s = poll_s
        self._announces = announces
        self._slots = self._free = max_concurrent_runs
        self._claims = asyncio.Semaphore(CLAIMS_AT_ONCE)
        self._freed = asyncio.Event()
        self._draining = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    async def work(self) -> None:
        """Claim each run it is notified of, and poll for others, as notifications may be lost."""
        async with self.services.notifier.subscribe(Topic.RUN_QUEUED) as queued, asyncio.TaskGroup() as group:
            self._group = group
            assigned = group.create_task(self._take_assigned(group)) if self._announces else None
            named, look_at = None, 0.0
            try:
                while not self._draining.is_set():
                    if self._free == 0:
                        await self._unless_draining(self._wait_for_slot())
                        look_at = 0.0
                        continue
                    if named is not None:
                        self._free -= 1
                        has_waited = self._claims.locked()
                        await self._claims.acquire()
                        group.create_task(self._claim_and_drive(RunId(named), has_waited=has_waited))
                    if named is None or time.monotonic() >= look_at:
                        await self._claim_waiting()
                        look_at = time.monotonic() + self._poll_s
                    named = await self._unless_draining(queued.next(self._poll_s)) if self._free else None
                if assigned is not None:
                    await self._announce()
                while self._free < self._slots:
                    await self._wait_for_slot()
            finally:
                self._group = None
                if assigned is not None:
                    assigned.cancel()

    def drain(self) -> None:
        """Accept nothing more, give each run back after its present step; `work` returns when all are gone."""
        self._draining.set()

    @property
    def claimant(self) -> Claimant:
        """This worker, as it is recorded with the runs it claims."""
        services = self.services
        return Claimant(worker=self.name, lease_s=services.options.lease_s, model=services.catalogue.default().id)

    def reserve(self, session_id: SessionId, *, is_stored: bool = False) -> ReservedSlot | None:
        """See `Slots`. None also if the worker is not at work. `is_stored`: the run's events are in the log."""
        if self._group is None or self._free == 0 or self._draining.is_set():
            return None
        self._free -= 1
        return ReservedSlot(self, session_id, is_stored=is_stored)

    def release(self) -> None:
        """Give an occupied slot back."""
        self._free += 1
        self._freed.set()

    def begin_run(self, lease: Lease, history: Known | None = None) -> None:
        """Drive a run in an occupied slot. A worker that stopped meanwhile leaves the run to others, once its lease
        lapses."""
        if self._group is None:
            self.release()
            logger.warning("run left to others; its lease lapses", extra={"run_id": lease.run.id})
        else:
            self._group.create_task(self._drive(lease, history))

    def _wait_for_slot(self) -> Coroutine[None, None, object]:
        """Wait for a slot; slots freed after the call count, even before it is awaited."""
        self._freed.clear()
        return self._freed.wait()

    async def _unless_draining(self, waiting: Coroutine[None, None, T]) -> T | None:
        wanted, draining = asyncio.ensure_future(waiting), asyncio.ensure_future(self._draining.wait())
        try:
            await asyncio.wait({wanted, draining}, return_when=asyncio.FIRST_COMPLETED)
            return wanted.result() if wanted.done() else None
        finally:
            wanted.cancel()
            draining.cancel()
            await asyncio.wait({wanted, draining})

    async def _claim_waiting(self) -> None:
        """Claim waiting runs as long as there are slots."""
        while self._free and not self._draining.is_set():
            self._free -= 1
            lease = await self._claim()
            if lease is None:
                self.release()
                return
            self.begin_run(lease)

    async def _take_assigned(self, group: asyncio.TaskGroup) -> None:
        """Announce how many slots are free, each second and as soon as none is left; take up the runs that are
        assigned."""
        announce_at = 0.0
        async with self.services.notifier.subscribe(Topic.RUN_ASSIGNED) as assigned:
            while True:
                if (now := time.monotonic()) >= announce_at:
                    await self._announce()
                    announce_at = now + ANNOUNCE_S
                announcement = await assigned.next(announce_at - now)
                run = Assignment.parse(announcement) if announcement is not None else None
                if run is not None and run.worker == self.name:
                    group.create_task(self._confirm(run, self.reserve(run.session_id, is_stored=True)))

    async def _announce(self) -> None:
        free = 0 if self._draining.is_set() else self._free
        await self.services.notifier.notify(Topic.SLOTS_FREE, str(FreeSlots(free, self.name)))

    async def _confirm(self, assigned: Assignment, slot: ReservedSlot | None) -> None:
        services = self.services
        async with services.notifier.subscribe(Topic.RUN_INBOX, assigned.run_id) as inbox:
            try:
                lease = await services.ledger.confirm(assigned.run_id, self.name, lease_s=services.options.lease_s)
            except Exception:
                # Its short lease lapses, and any worker claims it.
                logger.exception("confirming failed", extra={"worker": self.name, "run_id": assigned.run_id})
                lease = None
            if lease is not None and slot is not None:
                await self._drive(lease, slot.history, inbox)
                return
        if slot is not None:
            slot.release()
        if lease is not None:
            await RunActor(services, lease, History(lease.run.session_id)).give_back()

    async def _claim_and_drive(self, named: RunId, *, has_waited: bool) -> None:
        """Claim a run and drive it, unless another worker was faster. A run that was waiting is read first, as a read
        costs less than a claim in vain."""
        async with self.services.notifier.subscribe(Topic.RUN_INBOX, named) as inbox:
            try:
                lease = None if has_waited and await self._is_gone(named) else await self._claim(named)
            finally:
                self._claims.release()
            if lease is None:
                self.release()
            else:
                await self._drive(lease, inbox=inbox)

    async def _is_gone(self, run_id: RunId) -> bool:
        try:
            run = await self.services.ledger.get(run_id)
        except DomainError:
            return False
        return run is None or run.status is not RunStatus.QUEUED

    async def _claim(self, run_id: RunId | None = None) -> Lease | None:
        claimant = self.claimant
        try:
            return await self.services.ledger.claim(
                claimant.worker, lease_s=claimant.lease_s, model=claimant.model, run_id=run_id
            )
        except Exception:
            logger.exception("claiming failed", extra={"worker": self.name})
            await asyncio.sleep(self._poll_s)
            return None

    async def _drive(self, lease: Lease, history: Known | None = None, inbox: Subscription | None = None) -> None:
        try:
            known = await history() if history is not None else None
            await RunActor(self.services, lease, known, inbox).drive(self._draining)
        except Exception:
            # The lease lapses and the run is taken over; this worker goes on.
            logger.exception("run left without an end", extra={"worker": self.name})
        finally:
            self.release()


class ReservedSlot:
    """See `Slot`. An unknown history is read while the message is being accepted, so that the model is called at once;
    a history that ends with the last run of this process is trusted, unless the message's number shows a gap."""

    def __init__(self, worker: Worker, session_id: SessionId, *, is_stored: bool) -> None:
        """Reserve a slot. `is_stored`: the run's events are in the log already."""
        self._worker = worker
        self._history = worker.services.histories.borrow(session_id)
        is_known = self._history.is_committed and not is_stored
        self._reading = None if is_known else asyncio.ensure_future(self._read())

    @property
    def claimant(self) -> Claimant:
        return self._worker.claimant

    def release(self) -> None:
        if self._reading is None:
            self._worker.services.histories.keep(self._history)
        else:
            self._reading.cancel()
            self._reading.add_done_callback(lambda _: self._worker.services.histories.keep(self._history))
        self._worker.release()

    async def begin_run(self, accepted: Accepted) -> None:
        assert accepted.lease is not None
        self._worker.begin_run(accepted.lease, partial(self._history_with, accepted))

    async def history(self) -> History:
        """The history of an assigned run, whose events were in the log before it was read."""
        self._history.ends_with_message = await self._is_read()
        return self._history

    async def _is_read(self) -> bool:
        """Whether all of the log is known. The wait is short, as nobody renews the run's lease meanwhile: the run reads
        on from there."""
        reading = self._reading
        if reading is None:
            return True
        try:
            await asyncio.wait({reading}, timeout=self._worker.services.options.heartbeat_s)
        finally:
            reading.cancel()
        await asyncio.wait({reading})
        return not reading.cancelled() and reading.result()

    async def _read(self) -> bool:
        try:
            await self._history.read_on(self._worker.services.log)
        except Exception:
            # The run reads again and reports the error.
            logger.exception("reading ahead failed", extra={"session_id": self._history.session_id})
            self._history = History(self._history.session_id)
            return False
        return True

    async def _history_with(self, accepted: Accepted) -> History:
        if await self._is_read():
            self._history.join(accepted)
        return self._history
