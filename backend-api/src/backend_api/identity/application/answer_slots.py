"""Slots for long answers that are made as a whole: each user has few at once, until the client has received them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from backend_api.identity.domain.errors import TooManyAnswersError
from backend_api.kit.ids import UserId

AT_ONCE = 6
WAITING = 100
WAIT_S = 10.0
RETRY_AFTER_S = 5


@dataclass(slots=True)
class _Slots:
    users: int = 0
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))


class AnswerSlots:
    """Slots are counted for this gateway, as memory belongs to one process. Requests beyond wait their turn for a
    while."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._of: dict[UserId, _Slots] = {}

    @asynccontextmanager
    async def claim_slot(self, user_id: UserId) -> AsyncGenerator[None]:
        """Hold a slot; read and send the answer inside. Raises `TooManyAnswersError` on entering."""
        slots = self._of.setdefault(user_id, _Slots())
        if slots.users >= AT_ONCE + WAITING:
            raise self._too_many()
        slots.users += 1
        try:
            try:
                async with asyncio.timeout(self._wait_s):
                    await slots.free.acquire()
            except TimeoutError:
                raise self._too_many() from None
            try:
                yield
            finally:
                slots.free.release()
        finally:
            slots.users -= 1
            if not slots.users:
                del self._of[user_id]

    @staticmethod
    def _too_many() -> TooManyAnswersError:
        return TooManyAnswersError(
            "Too many large responses are being sent to you at once. Read those first, then try again.",
            retry_after_s=RETRY_AFTER_S,
        )
