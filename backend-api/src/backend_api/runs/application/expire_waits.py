"""End waits whose deadline has passed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from backend_api.conversations.application.answer_wait import publish_resolution
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.ports import SessionStream, Waits
from backend_api.kit.errors import DomainError
from backend_api.kit.notifier import Notifier

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireWaits:
    """Looks every `poll_s` seconds, in each process with a worker; the first to find an expired wait ends it."""

    waits: Waits
    stream: SessionStream
    notifier: Notifier
    poll_s: float = 5.0

    async def expire_until_cancelled(self) -> None:
        """Run until cancelled. A wait that can't be ended now is tried again at the next look, and delays no other."""
        while True:
            due: Sequence[RunId] = ()
            with _logged("waits could not be checked"):
                due = await self.waits.due()
            for run_id in due:
                with _logged("a wait could not be ended", run_id=run_id):
                    if (resolved := await self.waits.expire(run_id)) is not None:
                        await publish_resolution(resolved, self.stream, self.notifier)
            await asyncio.sleep(self.poll_s)


@contextmanager
def _logged(what: str, **fields: str) -> Generator[None]:
    """Log errors inside the block and swallow them."""
    try:
        yield
    except DomainError as error:
        logger.warning(what, extra={"code": error.code, **fields})
    except Exception:
        logger.exception(what, extra=fields)
