"""End waits whose deadline has passed."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from backend_api.application.conversation.answer_wait import tell
from backend_api.domain.conversation.ports import SessionStream, Waits
from backend_api.domain.errors import DomainError
from backend_api.domain.notifier import Notifier

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireWaits:
    """Looks every `look_s` seconds, in each process with a worker; whoever finds one first ends it."""

    waits: Waits
    stream: SessionStream
    notifier: Notifier
    look_s: float = 5.0

    async def expire_until_cancelled(self) -> None:
        """Until cancelled."""
        while True:
            try:
                while (resolved := await self.waits.expire()) is not None:
                    await tell(resolved, self.stream, self.notifier)
            except DomainError as error:
                logger.warning("waits could not be looked at", extra={"code": error.code})
            await asyncio.sleep(self.look_s)
