"""Follow background commands of sandboxes until they have ended, whichever process started them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass

from backend_api.background.application.look_at_command import PollCommand
from backend_api.background.domain import BackgroundCommand, BackgroundCommands
from backend_api.kit.errors import DomainError

logger = logging.getLogger(__name__)

AT_ONCE = 64
"""The most commands that one process polls at a time; each holds a connection to its sandbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchCommands:
    """A loop in each process with a worker. One process polls a command at a time, for `wait_s` seconds. If it is
    killed, another one takes over when the lease is over; if it is ended in order, at once."""

    commands: BackgroundCommands
    look: PollCommand
    poll_s: float = 1.0
    wait_s: float = 4.0
    lease_s: float = 9.0
    """The lease is longer than a poll and no longer than a run's: it bounds how late an end is recorded if its watcher
    died."""
    retry_s: float = 5.0

    async def watch_until_cancelled(self) -> None:
        """Poll until cancelled. A command that can't be polled is tried again, and holds up no other."""
        looking: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            while True:
                for command in await self._claim(AT_ONCE - len(looking)):
                    task = group.create_task(self._check(command))
                    looking.add(task)
                    task.add_done_callback(looking.discard)
                await asyncio.sleep(self.poll_s)

    async def _claim(self, limit: int) -> list[BackgroundCommand]:
        try:
            return await self.commands.claim(lease_s=self.lease_s, limit=limit) if limit > 0 else []
        except Exception:
            logger.exception("background commands could not be listed")
            return []

    async def _check(self, command: BackgroundCommand) -> None:
        fields = {"session_id": command.session_id, "background_id": command.id}
        try:
            outcome = await self.look(command, wait_s=self.wait_s)
            await self.commands.release(command.id, for_s=0 if outcome is not None else self.retry_s)
        except (DomainError, TimeoutError) as error:
            # The lease is left to lapse, as the database may be away.
            logger.warning("a background command could not be checked", extra={"reason": str(error), **fields})
        except asyncio.CancelledError:
            with suppress(DomainError):
                await asyncio.shield(self.commands.release(command.id))
            raise
        except Exception:
            logger.exception("a background command could not be checked", extra=fields)
