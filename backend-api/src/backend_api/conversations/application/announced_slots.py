"""The announced slots of workers in other processes."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from zlib import crc32

from backend_api.conversations.domain.assignments import ANNOUNCED_S, ASSIGNED_S, Assignment, FreeSlots
from backend_api.conversations.domain.entity import Accepted, Claimant, RunId
from backend_api.conversations.ports import RunLedger
from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId
from backend_api.kit.notifier import Notifier, Topic

logger = logging.getLogger(__name__)

LOOK_S = 0.1
"""Seconds between looks: an unconfirmed run is noticed at most this late."""


@dataclass(slots=True)
class _Announced:
    free: int
    at: float


class RemoteSlots:
    """`Slots`. An announcement is a hint: a worker without room returns the run, and a dead one loses it when its first
    lease lapses, of which the others are notified at once. A session goes to the worker it used before, which knows its
    history, unless that has less than half as much room as another one."""

    def __init__(
        self, notifier: Notifier, ledger: RunLedger, *, model: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._notifier = notifier
        self._ledger = ledger
        self._model = model
        self._clock = clock
        self._workers: dict[str, _Announced] = {}
        self._assigned: deque[tuple[float, RunId]] = deque()

    async def listen(self) -> None:
        """Listens to announcements until cancelled."""
        async with self._notifier.subscribe(Topic.SLOTS_FREE) as announced:
            while True:
                announcement = await announced.next(LOOK_S)
                if announcement is not None and (slots := FreeSlots.parse(announcement)) is not None:
                    self._workers[slots.worker] = _Announced(slots.room, self._clock())
                oldest = self._clock() - ANNOUNCED_S
                self._workers = {name: one for name, one in self._workers.items() if one.at >= oldest}
                await self._notify_lapsed()

    async def _notify_lapsed(self) -> None:
        """Notifies all workers of the runs that were not confirmed in time."""
        due: list[RunId] = []
        while self._assigned and self._assigned[0][0] <= self._clock():
            due.append(self._assigned.popleft()[1])
        if not due:
            return
        try:
            lapsed = await self._ledger.lapsed(due)
            for run_id in lapsed:
                await self._notifier.notify(Topic.RUN_QUEUED, run_id)
        except DomainError as error:
            # Workers look for lapsed runs themselves.
            logger.info("assigned runs were not checked", extra={"reason": error.detail})

    def reserve(self, session_id: SessionId) -> AnnouncedSlot | None:
        """Implements `Slots.reserve`."""
        oldest = self._clock() - ANNOUNCED_S
        free = {name: one.free for name, one in self._workers.items() if one.free > 0 and one.at >= oldest}
        roomy = [name for name, count in free.items() if 2 * count >= max(free.values())]
        if not roomy:
            return None
        worker = max(roomy, key=lambda name: crc32(f"{session_id} {name}".encode()))
        self._workers[worker].free -= 1
        claimant = Claimant(worker=worker, lease_s=ASSIGNED_S, model=self._model, is_elsewhere=True)
        return AnnouncedSlot(claimant, self._assign, self._workers[worker])

    async def _assign(self, assignment: Assignment) -> None:
        self._assigned.append((self._clock() + ASSIGNED_S, assignment.run_id))
        await self._notifier.notify(Topic.RUN_ASSIGNED, str(assignment))


@dataclass(frozen=True, slots=True)
class AnnouncedSlot:
    """A `Slot` of an announced worker."""

    claimant: Claimant
    _assign: Callable[[Assignment], Awaitable[None]]
    _announced: _Announced

    def release(self) -> None:
        self._announced.free += 1

    async def begin_run(self, accepted: Accepted) -> None:
        assert accepted.lease is not None
        run = accepted.lease.run
        await self._assign(Assignment(run.session_id, run.id, self.claimant.worker))
