"""How users stand with MCP servers at which one signs in, in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from backend_api.kit.ids import UserId
from backend_api.mcp.domain.sign_in import SignIn
from backend_api.settings.domain.entity import Sealed, StoredSettings
from support.memory.store import MemoryStore


class MemorySignIns:
    """`SignIns` and `SealedSignIns` on a `MemoryStore`, whose ledger tells runs of a user who has settings."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._kept: defaultdict[UserId, dict[str, SignIn]] = defaultdict(dict)
        self._claims: dict[tuple[UserId, str], datetime] = {}

    async def of(self, user_id: UserId) -> Mapping[str, SignIn]:
        return {**self._kept[user_id]}

    async def put(self, sign_in: SignIn) -> None:
        self._store.settings.setdefault(sign_in.user_id, StoredSettings(user_id=sign_in.user_id, version=1))
        self._save(sign_in)

    async def replace(self, former: SignIn | None, fresh: SignIn) -> bool:
        if not self._is_current(fresh.user_id, fresh.server, former):
            return False
        self._save(fresh)
        return True

    async def lack(self, sign_in: SignIn, scopes: str) -> bool:
        known = self._kept[sign_in.user_id].get(sign_in.server)
        if known is None or known.version != sign_in.version:
            return False
        self._kept[sign_in.user_id][sign_in.server] = replace(known, scopes=scopes, lacks_scopes=True)
        return True

    async def claim(self, sign_in: SignIn, for_s: float) -> bool:
        key, now = (sign_in.user_id, sign_in.server), self._store.clock()
        if not self._is_current(*key, sign_in) or self._claims.get(key, now) > now:
            return False
        self._claims[key] = now + timedelta(seconds=for_s)
        return True

    async def delete(self, user_id: UserId, server: str) -> SignIn | None:
        self._claims.pop((user_id, server), None)
        return self._kept[user_id].pop(server, None)

    async def sealed_under_other_key(self, key_id: str) -> AsyncIterator[SignIn]:
        kept = [one for of_user in self._kept.values() for one in of_user.values()]
        for one in kept:
            if one.sealed is not None and one.sealed.key_id != key_id:
                yield one

    async def reseal(self, sign_in: SignIn, fresh: Sealed) -> bool:
        known = self._kept[sign_in.user_id].get(sign_in.server)
        if known is None or known.sealed != sign_in.sealed:
            return False
        self._kept[sign_in.user_id][sign_in.server] = replace(known, sealed=fresh)
        return True

    def _is_current(self, user_id: UserId, server: str, former: SignIn | None) -> bool:
        known = self._kept[user_id].get(server)
        return (known.version if known else None) == (former.version if former else None)

    def _save(self, sign_in: SignIn) -> None:
        self._claims.pop((sign_in.user_id, sign_in.server), None)
        self._kept[sign_in.user_id][sign_in.server] = sign_in
