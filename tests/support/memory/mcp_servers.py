"""MCP servers of users in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from backend_api.kit.ids import UserId
from backend_api.mcp.domain.user_servers import MAX_USER_SERVERS, McpTrial, TooManyMcpServersError, UserMcpServer
from backend_api.settings.domain.entity import Sealed, StoredSettings
from support.memory.store import MemoryStore


class MemoryMcpServers:
    """`UserMcpServers` and `SealedMcpServers` on a `MemoryStore`; its ledger tells runs of a user who has settings."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._servers: defaultdict[UserId, dict[str, UserMcpServer]] = defaultdict(dict)

    async def of(self, user_id: UserId) -> Sequence[UserMcpServer]:
        return sorted(self._servers[user_id].values(), key=lambda own: own.server.name)

    async def put(self, user_id: UserId, own: UserMcpServer) -> None:
        self._store.settings.setdefault(user_id, StoredSettings(user_id=user_id, version=1))
        servers = self._servers[user_id]
        if own.server.name not in servers and len(servers) >= MAX_USER_SERVERS:
            raise TooManyMcpServersError
        servers[own.server.name] = own

    async def store_trial(self, user_id: UserId, tried: UserMcpServer, trial: McpTrial) -> bool:
        known = self._servers[user_id].get(tried.server.name)
        if known is None or (known.server, known.sealed) != (tried.server, tried.sealed):
            return False
        self._servers[user_id][tried.server.name] = replace(known, trial=trial)
        return True

    async def sealed_under_other_key(self, key_id: str) -> AsyncIterator[tuple[UserId, UserMcpServer]]:
        for user_id, servers in list(self._servers.items()):
            for own in list(servers.values()):
                if own.sealed is not None and own.sealed.key_id != key_id:
                    yield user_id, own

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        known = self._servers[user_id].get(name)
        if known is None or known.sealed != former:
            return False
        self._servers[user_id][name] = replace(known, sealed=fresh)
        return True

    async def delete(self, user_id: UserId, name: str) -> bool:
        return self._servers[user_id].pop(name, None) is not None
