"""Long answers that are made as a whole: each user has few of them at once, until the client has taken them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from backend_api.domain.conversation.errors import TooManyAnswersError
from backend_api.domain.identity.entity import UserId

AT_ONCE = 6
WAITING = 100
WAIT_S = 10.0
RETRY_AFTER_S = 5


@dataclass(slots=True)
class _Places:
    users: int = 0
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))


class AnswerPlaces:
    """Counted for this gateway: memory belongs to one process. What is asked beyond waits its turn for a while."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._of: dict[UserId, _Places] = {}

    @asynccontextmanager
    async def take(self, user_id: UserId) -> AsyncGenerator[None]:
        """Read and answer inside. Raises `TooManyAnswersError` on entering."""
        places = self._of.setdefault(user_id, _Places())
        if places.users >= AT_ONCE + WAITING:
            raise self._too_many()
        places.users += 1
        try:
            try:
                async with asyncio.timeout(self._wait_s):
                    await places.free.acquire()
            except TimeoutError:
                raise self._too_many() from None
            try:
                yield
            finally:
                places.free.release()
        finally:
            places.users -= 1
            if not places.users:
                del self._of[user_id]

    @staticmethod
    def _too_many() -> TooManyAnswersError:
        return TooManyAnswersError(
            "Too many long answers are on their way to you. Take them first.", retry_after_s=RETRY_AFTER_S
        )
