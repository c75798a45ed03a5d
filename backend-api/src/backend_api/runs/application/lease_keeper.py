"""The task that keeps the lease on a run alive and delivers the messages in the run's inbox."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from backend_api.conversations.domain.entity import InboxMessage, Lease
from backend_api.conversations.domain.errors import LeaseLostError
from backend_api.conversations.ports import RunLedger
from backend_api.kit.notifier import Notifier, Subscription, Topic

logger = logging.getLogger(__name__)

FIRST_BEAT_S = 0.5
"""Delay of the first heartbeat, in seconds, if the subscription began after the lease: a message may have arrived in
between."""


class LeaseKeeper:
    """The inbox is read from the store: a notification triggers a read at once, and each heartbeat reads it too."""

    def __init__(
        self, lease: Lease, ledger: RunLedger, notifier: Notifier, *, lease_s: float, heartbeat_s: float
    ) -> None:
        self._lease = lease
        self._ledger = ledger
        self._notifier = notifier
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._heard = 0
        self._inbox = asyncio.Queue[Sequence[InboxMessage]]()
        self._held_until = lease.asked_at + lease_s
        self._hear(lease.messages)

    @property
    def holds(self) -> bool:
        """Whether the lease is certainly held: a process that was paused finds it lapsed before it shows anything."""
        return time.monotonic() < self._held_until

    def give_up(self) -> None:
        """Give the lease back."""
        self._held_until = 0.0

    async def next_messages(self) -> Sequence[InboxMessage]:
        """Wait for messages and return all that came since the last call, each once. Their effects are recorded with
        their number, which marks them as handled."""
        messages = [*await self._inbox.get()]
        while not self._inbox.empty():
            messages += self._inbox.get_nowait()
        return messages

    async def keep(self, inbox: Subscription | None = None) -> None:
        """Heartbeat; returns when the lease is lost. `inbox` was subscribed to before the run was leased."""
        if inbox is not None:
            await self._renew_until_lost(inbox, self._heartbeat_s)
            return
        async with self._notifier.subscribe(Topic.RUN_INBOX, self._lease.run.id) as inbox:
            await self._renew_until_lost(inbox, min(FIRST_BEAT_S, self._heartbeat_s))

    async def _renew_until_lost(self, inbox: Subscription, first_s: float) -> None:
        every_s = first_s
        while True:
            await inbox.next(until_next_beat(asyncio.get_running_loop().time(), every_s))
            if not await self._renew():
                return
            every_s = self._heartbeat_s

    async def _renew(self) -> bool:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._heartbeat_s):
                messages = await self._ledger.renew(self._lease, lease_s=self._lease_s)
        except LeaseLostError:
            self._held_until = 0.0
            return False
        except Exception:
            logger.exception("heartbeat failed", extra={"run_id": self._lease.run.id})
            return self.holds
        if not self.holds:
            # The heartbeat was late, but nobody had taken over: the lease is held again.
            logger.warning("lease was renewed late", extra={"run_id": self._lease.run.id})
        self._held_until = began + self._lease_s
        self._hear(messages)
        return True

    def _hear(self, messages: Sequence[InboxMessage]) -> None:
        fresh = [message for message in messages if message.number > self._heard]
        if fresh:
            self._heard = fresh[-1].number
            self._inbox.put_nowait(fresh)


def until_next_beat(now: float, every_s: float) -> float:
    """The time until the next heartbeat. Runs of one process beat together, which costs the store one write for all; a
    beat is at most half an interval late."""
    return 1.5 * every_s - (now + every_s / 2) % every_s
