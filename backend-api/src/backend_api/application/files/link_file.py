"""A link to one file that opens without logging in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.ports import SessionRepository
from backend_api.domain.identity.entity import UserId
from backend_api.domain.sandbox.tickets import FileLink, FileLinks


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLink:
    """The secret part of the address."""

    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LinkFile:
    """Raises `SessionNotFoundError`."""

    sessions: SessionRepository
    links: FileLinks

    async def __call__(self, session_id: SessionId, user_id: UserId, path: str, expires_s: int) -> SignedLink:
        await self.sessions.get(session_id, user_id)
        token = self.links.sign(FileLink(user_id=user_id, session_id=session_id, path=path), expires_s=expires_s)
        return SignedLink(token=token, expires_at=datetime.now(UTC) + timedelta(seconds=expires_s))
