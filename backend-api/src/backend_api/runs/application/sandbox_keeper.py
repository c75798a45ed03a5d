"""A task that keeps a run's sandbox while the run is at work: between two calls a model may think for longer than the
idle time after which a sandbox makes room for another of the user's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId

logger = logging.getLogger(__name__)

KeepSandbox = Callable[[SessionId], Awaitable[None]]
"""Reports to the manager that a session's sandbox is in use, where it has one. Raises `UnavailableError`."""
EVERY_S = 20.0


async def no_sandbox(session_id: SessionId) -> None:
    """Do nothing, as there is no sandbox to keep."""
    del session_id


async def keep_sandbox_until_cancelled(
    keep: KeepSandbox, session_id: SessionId, uses_sandbox: asyncio.Event, every_s: float = EVERY_S
) -> None:
    """Report use from the first call that uses the sandbox; the call itself counts as use. An error of the manager does
    not stop the run: its next call reports it."""
    await uses_sandbox.wait()
    while True:
        await asyncio.sleep(every_s)
        try:
            await keep(session_id)
        except DomainError as error:
            fields = {"session_id": session_id, "code": error.code}
            logger.warning("a sandbox's use could not be reported to the manager", extra=fields)
