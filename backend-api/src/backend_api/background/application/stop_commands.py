"""Stop background commands of a session's sandbox."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from backend_api.background.application.look_at_command import PollCommand
from backend_api.background.domain import BackgroundCommand, BackgroundCommands
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId, UserId

logger = logging.getLogger(__name__)

WITHIN_S = 5.0


@dataclass(frozen=True, slots=True)
class StopCommands:
    """The request is stored first: a command that can't be reached now, or just begins, is ended by the watcher. Raises
    `SessionNotFoundError`, and `BackgroundNotFoundError` for an unknown command."""

    sessions: SessionRepository
    commands: BackgroundCommands
    look: PollCommand
    within_s: float = WITHIN_S

    async def one(self, session_id: SessionId, user_id: UserId, background_id: str) -> BackgroundCommand:
        """Stop it, and return its state then; one that has ended is not changed."""
        await self.sessions.get(session_id, user_id)
        await self.commands.get(session_id, background_id)
        await self._stop(await self.commands.request_end(session_id, background_id))
        return await self.commands.get(session_id, background_id)

    async def all(self, session_id: SessionId, user_id: UserId) -> None:
        """Stop all commands of the session."""
        await self.sessions.get(session_id, user_id)
        await self._stop(await self.commands.request_end(session_id))

    async def _stop(self, commands: list[BackgroundCommand]) -> None:
        await asyncio.gather(*(self._stop_one(command) for command in commands if command.is_begun))

    async def _stop_one(self, command: BackgroundCommand) -> None:
        try:
            async with asyncio.timeout(self.within_s):
                await self.look(command)
        except (DomainError, TimeoutError) as error:
            fields = {"session_id": command.session_id, "background_id": command.id, "reason": str(error)}
            logger.warning("a background command could not be reached to stop it", extra=fields)
