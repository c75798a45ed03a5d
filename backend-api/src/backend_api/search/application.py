"""Searching messages and titles."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import UserId
from backend_api.search.domain import Found, Query, query_of
from backend_api.search.ports import MessageIndex

logger = logging.getLogger(__name__)

AT_ONCE = 100
"""How many messages are indexed while the search waits; the rest is indexed in the background."""
BATCH = 500
MOST_TITLES = 10
_PAUSE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """`is_complete` is false while older messages are still being indexed: a later search finds more."""

    items: Sequence[Found]
    older_than: datetime | None
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMessages:
    """A message is indexed at the first search after it was stored: nothing is indexed for users who never search."""

    index: MessageIndex
    _waiting: dict[UserId, None] = field(default_factory=dict[UserId, None])
    _is_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, user_id: UserId, text: str, *, limit: int, before: datetime | None) -> SearchResult:
        """Search. The first page has titles before messages. Raises `StoreUnavailableError`."""
        query = query_of(text)
        if query.is_empty:
            return SearchResult(items=(), older_than=None, is_complete=True)
        is_complete = await self._is_caught_up(user_id)
        titles, page = await asyncio.gather(
            self._titles(user_id, query, before), self.index.messages(user_id, query, limit=limit, before=before)
        )
        return SearchResult(items=[*titles, *page.items], older_than=page.older_than, is_complete=is_complete)

    async def index_until_cancelled(self) -> None:
        """Index the remaining messages, one user after the other."""
        while True:
            await self._is_asked.wait()
            while self._waiting:
                user_id = next(iter(self._waiting))
                try:
                    if await self.index.catch_up(user_id, most=BATCH):
                        del self._waiting[user_id]
                    else:
                        # Other users have their turn.
                        self._waiting[user_id] = self._waiting.pop(user_id)
                except UnavailableError:
                    logger.warning("messages can't be indexed; tried again")
                    await asyncio.sleep(_PAUSE_S)
            self._is_asked.clear()

    async def _is_caught_up(self, user_id: UserId) -> bool:
        if user_id in self._waiting:
            return False
        if await self.index.catch_up(user_id, most=AT_ONCE):
            return True
        self._waiting[user_id] = None
        self._is_asked.set()
        return False

    async def _titles(self, user_id: UserId, query: Query, before: datetime | None) -> Sequence[Found]:
        return () if before is not None else await self.index.titles(user_id, query, limit=MOST_TITLES)
