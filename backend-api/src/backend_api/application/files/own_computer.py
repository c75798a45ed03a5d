"""The computer of a session, for its owner."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.ports import SessionRepository
from backend_api.domain.identity.entity import UserId
from backend_api.domain.sandbox.entity import Computer
from backend_api.domain.sandbox.ports import Computers


@dataclass(frozen=True, slots=True)
class OwnComputer:
    """Started if need be. Raises `SessionNotFoundError`, `ComputerUnavailableError`."""

    sessions: SessionRepository
    computers: Computers

    async def __call__(self, session_id: SessionId, user_id: UserId) -> Computer:
        await self.sessions.get(session_id, user_id)
        computer = await self.computers.ensure(session_id, user_id)
        await self.computers.keep_alive(session_id)
        return computer
