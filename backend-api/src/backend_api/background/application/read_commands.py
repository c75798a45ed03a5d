"""Read the background commands of a session's sandbox, running and ended."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.background.application.look_at_command import PollCommand
from backend_api.background.domain import BackgroundCommand, BackgroundCommands
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import SessionId, UserId

LISTED = 50


@dataclass(frozen=True, slots=True)
class ReadCommands:
    """The commands for the session's owner. Raises `SessionNotFoundError`."""

    sessions: SessionRepository
    commands: BackgroundCommands
    look: PollCommand

    async def all(self, session_id: SessionId, user_id: UserId) -> list[BackgroundCommand]:
        """The running ones first, then the last ones that ended."""
        await self.sessions.get(session_id, user_id)
        return await self.commands.of_session(session_id, ended=LISTED)

    async def one(self, session_id: SessionId, user_id: UserId, background_id: str) -> tuple[BackgroundCommand, str]:
        """The command with its output so far. Raises `BackgroundNotFoundError`."""
        await self.sessions.get(session_id, user_id)
        command = await self.commands.get(session_id, background_id)
        if command.state is not None or not command.is_begun:
            return command, command.preview
        try:
            outcome = await self.look(command)
        except (UnavailableError, TimeoutError):
            return command, ""
        return await self.commands.get(session_id, background_id), outcome.output if outcome is not None else ""
