"""Tell sessions what happens to their computers, also while nothing runs."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from backend_api.domain.conversation.ports import LiveTail
from backend_api.domain.errors import UnavailableError
from backend_api.domain.sandbox.news import NewsLog, NewsSource

logger = logging.getLogger(__name__)

AGAIN_S = 2.0


@dataclass(frozen=True, slots=True)
class TellNews:
    """Every gateway follows; whichever is first stores, so that each is told once and none depends on one process."""

    source: NewsSource
    log: NewsLog
    tail: LiveTail
    again_s: float = AGAIN_S

    async def run(self) -> None:
        """For ever, over faults of manager and stores."""
        while True:
            try:
                await self.follow()
            except UnavailableError as error:
                logger.info("news of computers are not heard", extra={"reason": error.detail})
            except Exception:
                logger.exception("telling news of computers crashed")
            await asyncio.sleep(self.again_s)

    async def follow(self) -> None:
        """Until the source ends. What could not be stored is heard again."""
        async with self.source.follow() as news:
            async for one in news:
                events = await self.log.append_once(one)
                if events:
                    await self.tail.publish(one.session_id, events)
