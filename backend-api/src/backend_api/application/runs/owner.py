"""The owner of a run: it keeps the lease alive and hears what people want of the run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from backend_api.domain.conversation.entity import Lease, OwnerMessage
from backend_api.domain.conversation.errors import LeaseLostError
from backend_api.domain.conversation.ports import RunLedger
from backend_api.domain.notifier import Notifier, Topic

logger = logging.getLogger(__name__)

FIRST_BEAT_S = 0.15


class Owner:
    """Messages are stored first; a notification makes the owner look at once, the heartbeat looks too."""

    def __init__(
        self, lease: Lease, ledger: RunLedger, notifier: Notifier, *, lease_s: float, heartbeat_s: float
    ) -> None:
        self._lease = lease
        self._ledger = ledger
        self._notifier = notifier
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._heard = 0
        self._news = asyncio.Event()
        self._messages: list[OwnerMessage] = []
        self._held_until = asyncio.get_running_loop().time() + lease_s
        self._take_in(lease.messages)

    @property
    def holds(self) -> bool:
        """Whether the lease is surely ours: a process that was paused finds it lapsed before it shows anything."""
        return asyncio.get_running_loop().time() < self._held_until

    async def hear(self) -> list[OwnerMessage]:
        """The next messages, each once. What they lead to is recorded with their number as taken."""
        await self._news.wait()
        self._news.clear()
        messages, self._messages = self._messages, []
        return messages

    async def keep(self, has_begun: asyncio.Event) -> None:
        """Heartbeat; returns when the lease is lost. The first one lets the first words of the answer go before."""
        async with self._notifier.subscribe(Topic.RUN_INBOX, self._lease.run.id) as inbox:
            await _within(FIRST_BEAT_S, has_begun)
            while await self._beat():
                now = asyncio.get_running_loop().time()
                await inbox.next(until_next_beat(now, self._heartbeat_s))

    async def _beat(self) -> bool:
        loop = asyncio.get_running_loop()
        began = loop.time()
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
            # It was late, and nobody had taken over: the lease is ours again.
            logger.warning("lease was renewed late", extra={"run_id": self._lease.run.id})
        self._held_until = began + self._lease_s
        self._take_in(messages)
        return True

    def _take_in(self, messages: Sequence[OwnerMessage]) -> None:
        fresh = [message for message in messages if message.number > self._heard]
        if fresh:
            self._heard = fresh[-1].number
            self._messages += fresh
            self._news.set()


def until_next_beat(now: float, every_s: float) -> float:
    """Runs of one process beat together, so that it costs the store one write for all; at most half a beat late."""
    return 1.5 * every_s - (now + every_s / 2) % every_s


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
