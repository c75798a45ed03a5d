"""Wake-ups within one process."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.kit.notifier import Subscription, Topic

MAX_PENDING = 1_000


class InProcessNotifier:
    """`Notifier`."""

    def __init__(self) -> None:
        self._subscriptions: dict[tuple[Topic, str | None], set[_Subscription]] = {}

    async def notify(self, topic: Topic, about: str | None = None) -> None:
        """Notifies the subscribers of this process."""
        self.notify_here(topic, about)

    def notify_here(self, topic: Topic, about: str | None) -> None:
        """Notifies subscribers of the id and those of the whole topic; without an id only the latter."""
        keys = {(topic, None), (topic, about)}
        for subscription in [one for key in keys for one in self._subscriptions.get(key, ())]:
            subscription.put(about)

    def notify_all(self) -> None:
        """Wakes all subscribers, since notifications may have been lost."""
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.put(None)

    @asynccontextmanager
    async def subscribe(self, topic: Topic, about: str | None = None) -> AsyncGenerator[Subscription]:
        """Subscribes for the length of the block."""
        subscription, key = _Subscription(), (topic, about)
        beside = self._subscriptions.setdefault(key, set())
        beside.add(subscription)
        try:
            yield subscription
        finally:
            beside.discard(subscription)
            if not beside and self._subscriptions.get(key) is beside:
                del self._subscriptions[key]


class _Subscription:
    """`Subscription`; bounded: with too many notifications pending, it just reports that there are some."""

    def __init__(self) -> None:
        self._pending: list[str | None] = []
        self._has_some = asyncio.Event()

    def put(self, about: str | None) -> None:
        if len(self._pending) >= MAX_PENDING:
            self._pending.clear()
            about = None
        if about not in self._pending:
            self._pending.append(about)
        self._has_some.set()

    async def next(self, timeout_s: float) -> str | None:
        if not self._pending:
            self._has_some.clear()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._has_some.wait()
            except TimeoutError:
                return None
        # Random, so that workers with the same notifications don't all try the same run first.
        about = random.choice(self._pending)
        self._pending.remove(about)
        return about
