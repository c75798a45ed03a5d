"""Follows all own sessions from a number on: their changes, exactly once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

from backend_api.conversations.domain.feed import FeedItem, FeedMark, SessionChange, SessionFeed, SessionShown
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.ids import UserId

PAGE = 200


@dataclass(frozen=True, slots=True)
class FollowSessions:
    """Yields changes, and None after a poll without any, so that the connection can be kept alive.

    A reader that missed more than is kept gets every session as it is, between two marks. Raises `SlowReaderError` for
    a reader that does not keep up, `FeedLostError` if it has to reconnect.
    """

    sessions: SessionRepository
    feed: SessionFeed
    poll_s: float = 1.0

    async def __call__(self, user_id: UserId, after: int | None) -> AsyncGenerator[FeedItem | None]:
        async with self.feed.follow(user_id, after) as place:
            if after is None:
                yield FeedMark(type="feed.started", seq=place.position, at=datetime.now(UTC))
            elif place.has_gap:
                async for item in self._all_sessions(user_id, place.position):
                    yield item
            changes = aiter(place)
            while True:
                yield await self._next(changes)

    async def _all_sessions(self, user_id: UserId, position: int) -> AsyncIterator[FeedItem]:
        yield FeedMark(type="feed.reset", seq=None, at=datetime.now(UTC))
        cursor: str | None = None
        while True:
            page = await self.sessions.page(user_id, limit=PAGE, cursor=cursor, query=None)
            for session in page.items:
                yield SessionShown(session=session)
            if (cursor := page.next_cursor) is None:
                break
        yield FeedMark(type="feed.ready", seq=position, at=datetime.now(UTC))

    async def _next(self, changes: AsyncIterator[SessionChange]) -> SessionChange | None:
        try:
            async with asyncio.timeout(self.poll_s):
                return await anext(changes)
        except TimeoutError:
            return None
