"""The sandbox of a session, for its owner."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.ports import SessionRepository
from backend_api.domain.identity.entity import UserId
from backend_api.domain.sandbox.entity import Sandbox
from backend_api.domain.sandbox.ports import Sandboxes


@dataclass(frozen=True, slots=True)
class OwnSandbox:
    """Started if need be. Raises `SessionNotFoundError`, `SandboxUnavailableError`."""

    sessions: SessionRepository
    sandboxes: Sandboxes

    async def __call__(self, session_id: SessionId, user_id: UserId) -> Sandbox:
        await self.sessions.get(session_id, user_id)
        sandbox = await self.sandboxes.ensure(session_id, user_id)
        await self.sandboxes.keep_alive(session_id)
        return sandbox
