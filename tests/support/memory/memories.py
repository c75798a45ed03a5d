"""Memories of users in memory."""

from __future__ import annotations

from dataclasses import replace

from backend_api.kit.ids import UserId
from backend_api.memories.domain import Memories
from backend_api.settings.domain.entity import StoredSettings
from support.memory.store import MemoryStore


class MemoryMemories:
    """`MemoriesStore` on a `MemoryStore`, whose ledger tells runs of a user who has settings."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self._store = store or MemoryStore()
        self._kept: dict[UserId, Memories] = {}

    async def get(self, user_id: UserId) -> Memories:
        return self._kept.get(user_id) or Memories(user_id=user_id)

    async def replace(self, fresh: Memories) -> bool:
        if (await self.get(fresh.user_id)).version != fresh.version:
            return False
        self._store.settings.setdefault(fresh.user_id, StoredSettings(user_id=fresh.user_id, version=1))
        self._kept[fresh.user_id] = replace(fresh, version=fresh.version + 1)
        return True
