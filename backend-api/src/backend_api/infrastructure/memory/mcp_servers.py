"""MCP servers of users in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from backend_api.domain.identity.entity import UserId
from backend_api.domain.mcp.own import MAX_OWN_SERVERS, OwnMcpServer, TooManyMcpServersError
from backend_api.domain.settings.entity import StoredSettings
from backend_api.infrastructure.memory.store import MemoryStore


class MemoryMcpServers:
    """`OwnMcpServers` on a `MemoryStore`, whose ledger tells runs of a user who has settings."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._servers: defaultdict[UserId, dict[str, OwnMcpServer]] = defaultdict(dict)

    async def of(self, user_id: UserId) -> Sequence[OwnMcpServer]:
        return sorted(self._servers[user_id].values(), key=lambda own: own.server.name)

    async def put(self, user_id: UserId, own: OwnMcpServer) -> None:
        self._store.settings.setdefault(user_id, StoredSettings(user_id=user_id, version=1))
        servers = self._servers[user_id]
        if own.server.name not in servers and len(servers) >= MAX_OWN_SERVERS:
            raise TooManyMcpServersError
        servers[own.server.name] = own

    async def delete(self, user_id: UserId, name: str) -> bool:
        return self._servers[user_id].pop(name, None) is not None
