"""Kinds of sub-agents of users in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from backend_api.agent.subagent_kinds import MAX_KINDS, SubagentKind
from backend_api.agents.domain import TooManyKindsError
from backend_api.kit.ids import UserId
from backend_api.settings.domain.entity import StoredSettings
from support.memory.store import MemoryStore


class MemorySubagentKinds:
    """`UserKinds` on a `MemoryStore`, whose ledger tells runs of a user who has settings."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._kinds: defaultdict[UserId, dict[str, SubagentKind]] = defaultdict(dict)

    async def of(self, user_id: UserId) -> Sequence[SubagentKind]:
        return sorted(self._kinds[user_id].values(), key=lambda kind: kind.name)

    async def put(self, user_id: UserId, kind: SubagentKind) -> None:
        self._store.settings.setdefault(user_id, StoredSettings(user_id=user_id, version=1))
        kinds = self._kinds[user_id]
        if kind.name not in kinds and len(kinds) >= MAX_KINDS:
            raise TooManyKindsError
        kinds[kind.name] = kind

    async def delete(self, user_id: UserId, name: str) -> bool:
        return self._kinds[user_id].pop(name, None) is not None
