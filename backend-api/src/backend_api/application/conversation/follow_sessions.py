"""Live titles and states of all own sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from backend_api.domain.conversation.entity import Session, SessionId
from backend_api.domain.conversation.ports import SessionRepository
from backend_api.domain.identity.entity import UserId

WATCHED = 100


@dataclass(frozen=True, slots=True)
class FollowSessions:
    """Yields a session whenever its title or status changed; None when nothing did for a poll."""

    sessions: SessionRepository
    poll_s: float = 1.0

    async def __call__(self, user_id: UserId) -> AsyncGenerator[Session | None]:
        known: dict[SessionId, tuple[str, str]] = {}
        is_first = True
        while True:
            page = await self.sessions.page(user_id, limit=WATCHED, cursor=None, query=None)
            has_changed = False
            for session in page.items:
                now = (session.title, session.status.value)
                if known.get(session.id) != now:
                    known[session.id] = now
                    if not is_first:
                        has_changed = True
                        yield session
            is_first = False
            if not has_changed:
                yield None
            await asyncio.sleep(self.poll_s)
