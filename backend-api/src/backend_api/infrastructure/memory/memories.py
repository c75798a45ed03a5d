"""Memories of users in this process alone: for tests."""

from __future__ import annotations

from dataclasses import replace

from backend_api.domain.identity.entity import UserId
from backend_api.domain.memories.entity import Memories


class MemoryMemories:
    """`MemoryStore`."""

    def __init__(self) -> None:
        self._kept: dict[UserId, Memories] = {}

    async def get(self, user_id: UserId) -> Memories:
        return self._kept.get(user_id) or Memories(user_id=user_id)

    async def replace(self, fresh: Memories) -> bool:
        if (await self.get(fresh.user_id)).version != fresh.version:
            return False
        self._kept[fresh.user_id] = replace(fresh, version=fresh.version + 1)
        return True
