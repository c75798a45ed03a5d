"""Keeps a run's computer while the run is at work: between two calls a model may think for longer than a computer may
be unused before another of its user's is given its place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.errors import DomainError

logger = logging.getLogger(__name__)

KeepComputer = Callable[[SessionId], Awaitable[None]]
"""Tells that a session's computer is in use, where it has one. Raises `UnavailableError`."""
EVERY_S = 20.0


async def no_computer(session_id: SessionId) -> None:
    """There is none to keep."""
    del session_id


async def keep_computer_until_cancelled(
    keep: KeepComputer, session_id: SessionId, uses_computer: asyncio.Event, every_s: float = EVERY_S
) -> None:
    """From its first call in the run on; the call itself is use. A fault of the manager leaves the run alone: the next
    call tells of it."""
    await uses_computer.wait()
    while True:
        await asyncio.sleep(every_s)
        try:
            await keep(session_id)
        except DomainError as error:
            fields = {"session_id": session_id, "code": error.code}
            logger.warning("a computer's use could not be told to the manager", extra=fields)
